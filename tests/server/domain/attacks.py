"""Attacks on hidden truth by a team that sees only what a policy shows it of its scores.

The truth is one stationary object in each sequence, in every frame. The attacker knows that, the
frames and the size of the image, and no position. It submits, sees what is shown, and submits
again.

A `Ring` is a board without a server: it scores with the library and releases with the server's own
functions. Its protections can be switched off one by one, to show that an attack works without
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.outcome_table import Outcome
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing.examples import Thing, make_annotations
from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.domain.ladder import Scale
from vidscore_server.domain.policy import SubmittedNames, TruthSize
from vidscore_server.domain.release import (
    Released,
    released_outcomes,
    released_report,
    released_values,
    values_of,
)
from vidscore_server.store.records import Role

WIDTH, HEIGHT = 640, 480
FRAMES = 5
CELL_PX = 14.0
"""A point in the middle of a cell is less than 10 px from everything in it."""

COLUMNS, ROWS = int(WIDTH // CELL_PX) + 1, int(HEIGHT // CELL_PX) + 1
CELLS = COLUMNS * ROWS
MOST = 30
"""Maximum number of detections in a frame that spotGEO allows."""

Places = Mapping[int, Sequence[tuple[float, float]]]
"""For each sequence, the detections in each of its frames."""

ATTACKER = Caller("tokens/mallory", Role.PARTICIPANT, "mallory")


def centre(cell: int) -> tuple[float, float]:
    """The centre of a cell, inside the image."""
    x, y = (cell % COLUMNS + 0.5) * CELL_PX, (cell // COLUMNS + 0.5) * CELL_PX
    return min(x, WIDTH - 1.0), min(y, HEIGHT - 1.0)


def scene(places: Places, sequences: int) -> Annotations:
    """Annotations of every frame: the same places in each frame of a sequence, one track each."""
    things = [
        [Thing(place, track_id=track) for track, place in enumerate(places.get(row, ()))]
        for row in range(sequences)
    ]
    return make_annotations(
        {
            ("", f"{row + 1}"): dict.fromkeys(range(1, FRAMES + 1), objects)
            for row, objects in enumerate(things)
        },
        arity=2,
    )


@dataclass
class Ring:
    """A benchmark, its truth, and what one team was shown.

    Attributes:
        definition: The benchmark.
        truth: What the attacker wants to find.
        clipping: Whether the Ladder clips.
        rounding: Whether the policy `final` rounds what it shows.
        deaf: Whether the attacker is shown nothing; its gain is then chance.
        submissions: Number of submissions so far.
        best: The best first ranking measure of all submissions, which is shown to nobody.
    """

    definition: Definition
    truth: Annotations
    clipping: bool = True
    rounding: bool = True
    deaf: bool = False
    submissions: int = 0
    best: float = 0.0
    _released: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def sequences(self) -> int:
        return len(self.truth.sequences)

    @property
    def budget(self) -> int:
        return self.definition.submission_budget

    def score(self, places: Places) -> Report:
        """The complete report, which only organisers see."""
        [evaluator] = self.definition.evaluators
        return evaluator.report(evaluator.tally(self.truth, scene(places, self.sequences)))

    def submit(self, places: Places) -> dict[tuple[str | None, str], float]:
        """Submit; returns what the team is shown: values by sequence (None for all) and measure."""
        assert not self.budget or self.submissions < self.budget, "the team's budget is spent"
        self.submissions += 1
        report = self.score(places)
        [evaluator] = self.definition.evaluators
        scales = self.definition.scales(evaluator)
        if not self.clipping:
            scales = {name: Scale(scale.direction, -1e9, 1e9) for name, scale in scales.items()}
        values = values_of(report, list(scales))
        self.best = max(self.best, next(iter(values.values())) or 0.0)
        policy = self.definition.policy
        step = self.definition.step(evaluator)
        self._released = released_values(policy, self._released, values, scales, step)
        released = Released(self._released, step if self.rounding else 0.0)
        shown = released_report(
            ATTACKER, self.definition, report, released, SubmittedNames(), lambda digest: digest
        )
        if self.deaf:
            return {}
        return {
            (row.sequence, row.measure): float(row.value)
            for row in shown.rows()
            if row.value is not None and row.domain is None and row.label is None
        }

    def look(self, places: Places) -> list[list[bool]]:
        """Submit and read the outcomes, which counts as one more submission.

        Returns:
            For each sequence, whether each place is right in its first frame.
        """
        self.submit(places)
        assert not self.budget or self.submissions < self.budget, "the team's budget is spent"
        self.submissions += 1
        [evaluator] = self.definition.evaluators
        outcomes = evaluator.outcomes(align(self.truth, scene(places, self.sequences)))
        shown = released_outcomes(ATTACKER, outcomes)
        hits = shown.are(Outcome.TRUE_POSITIVE)
        return [
            hits[
                (shown.frames == 1)
                & (np.array(shown.sequence_keys)[shown.sequences, 1] == f"{row + 1}")
            ].tolist()
            for row in range(self.sequences)
        ]


def make_ring(evaluator: Mapping[str, object], sequences: int, seed: int, **policy: object) -> Ring:
    """A ring whose truth follows from a seed; `policy` has the values that are not defaults."""
    definition = definition_from_dict({"evaluators": [evaluator], "policy": policy})
    chance = np.random.default_rng(seed)
    spots = chance.uniform((0, 0), (WIDTH, HEIGHT), (sequences, 2)).tolist()
    truth = scene({row: [tuple(spot)] for row, spot in enumerate(spots)}, sequences)
    size = TruthSize(truth.object_count, sequences)
    return Ring(replace(definition, truth_size=size), truth)


# --- attacks --------------------------------------------------------------------------------------


class Hunt:
    """The search for the object of one sequence: blocks of cells until one is hit, then halves.

    Args:
        row: The sequence.
        seed: Determines the order in which cells are tried.
        candidates: Cells to which the search is limited; by default all.
    """

    def __init__(self, row: int, seed: int, candidates: Sequence[int] = ()) -> None:
        order = np.random.default_rng([seed, row]).permutation(candidates or CELLS)
        self.row = row
        self.candidates: list[int] = order.tolist() if candidates else []
        self.probes = 0
        self._untried: list[int] = [] if candidates else order.tolist()

    @property
    def located(self) -> bool:
        return len(self.candidates) == 1

    @property
    def over(self) -> bool:
        return self.located or not (self.candidates or self._untried)

    def probe(self, most: int) -> list[int]:
        """The cells of the next probe."""
        if self.candidates:
            return self.candidates[: min(most, len(self.candidates) // 2)]
        return self._untried[:most]

    def learn(self, probe: Sequence[int], *, hit: bool) -> None:
        """Record whether a probe was a hit."""
        self.probes += 1
        if self.candidates:
            rest = self.candidates[len(probe) :]
            self.candidates = list(probe) if hit else rest
            return
        self._untried = self._untried[len(probe) :]
        if hit:
            self.candidates = list(probe)

    def spots(self, most: int) -> list[tuple[float, float]]:
        """The remaining cells, if they are few."""
        return [centre(cell) for cell in self.candidates] if len(self.candidates) <= most else []


def exploit(ring: Ring, hunts: Sequence[Hunt], most: int) -> float:
    """Submit what an attack has found.

    Args:
        ring: The attacked board.
        hunts: What is known of each sequence.
        most: Maximum number of candidate cells of a sequence for which all are submitted.

    Returns:
        The first measure of the best submission of all.
    """
    ring.submit({hunt.row: hunt.spots(most) for hunt in hunts})
    return ring.best


def probe_in_turn(ring: Ring, seed: int, limit: int) -> float:
    """One sequence after the other: F1 over everything shows whether a block of cells is hit.

    Under the Ladder, only a new best score is shown, so blocks are as large as F1 stays high
    enough.

    Args:
        ring: The attacked board.
        seed: Seed of all random choices.
        limit: Maximum number of submissions.
    """
    hunts = [Hunt(row, seed) for row in range(ring.sequences)]
    objects, last = FRAMES * ring.sequences, 0.0
    ladder = ring.definition.policy.visibility == "ladder"
    for known, hunt in enumerate(hunts):
        while not hunt.over and ring.submissions < limit - 1:
            taken = 2.0 * FRAMES * (known + 1)
            room = taken / (last + 0.016) - objects - FRAMES * known
            most = max(1, min(MOST, int(room / FRAMES))) if ladder else MOST
            probe = hunt.probe(most)
            places = {entry.row: entry.spots(1) for entry in hunts[:known]}
            places[hunt.row] = [centre(cell) for cell in probe]
            shown = ring.submit(places).get((None, "f1"), last if ladder else 0.0)
            # Twice the hits over objects and detections, with or without this sequence.
            if_hit = taken / (objects + FRAMES * (known + len(probe)))
            if_not = if_hit * known / (known + 1)
            nearer = abs(shown - if_hit) < abs(shown - if_not)
            hunt.learn(probe, hit=shown > last if ladder else nearer)
            last = max(last, shown)
    return exploit(ring, hunts, MOST)


def probe_at_once(ring: Ring, seed: int, limit: int, measure: str, most: int, start: int) -> float:
    """All sequences at once, if a report shows the hits of each one.

    Args:
        ring: The attacked board.
        seed: Seed of all random choices.
        limit: Maximum number of submissions.
        measure: The measure that counts hits.
        most: Maximum number of detections in a frame.
        start: Number of cells to which the search is limited; 0 for no limit.
    """
    hunts = [Hunt(row, seed, range(start)) for row in range(ring.sequences)]
    while ring.submissions < limit - 1 and not all(hunt.over for hunt in hunts):
        probes = {hunt.row: hunt.probe(most) for hunt in hunts if not hunt.over}
        places = {hunt.row: hunt.spots(1) for hunt in hunts}
        places |= {row: [centre(cell) for cell in cells] for row, cells in probes.items()}
        shown = ring.submit(places)
        for row, probe in probes.items():
            hunts[row].learn(probe, hit=shown.get((f"{row + 1}", measure), 0.0) > 0.0)
    return exploit(ring, hunts, MOST if start == 0 else 1)


def subtract(ring: Ring, seed: int, limit: int) -> float:
    """Begin with a MOTA far below 0, and remove some false tracks each time.

    Every submission is then an improvement, so every score is shown and gives the exact number of
    objects hit; halving the image repeatedly leads to a cell.

    Args:
        ring: The attacked board, ranked by MOTA.
        seed: Seed of all random choices.
        limit: Maximum number of submissions.
    """
    hunts = [Hunt(row, seed, range(CELLS)) for row in range(ring.sequences)]
    objects, false_tracks = FRAMES * ring.sequences, CELLS // 2 + 3 * limit
    while ring.submissions < limit - 1 and not all(hunt.over for hunt in hunts):
        hunt = min((entry for entry in hunts if not entry.over), key=lambda entry: entry.probes)
        false_tracks -= 3
        probe = hunt.probe(CELLS)
        fill = [(-1e4 - 50.0 * row, 0.0) for row in range(false_tracks - len(probe))]
        spots = [centre(cell) for cell in probe]
        shown = ring.submit({hunt.row: [*spots, *fill]}).get((None, "mota"), 0.0)
        # MOTA = 1 - (objects + detections - 2 hits) / objects
        hits = (shown * objects + FRAMES * false_tracks) / 2.0
        hunt.learn(probe, hit=abs(hits - FRAMES) < abs(hits))
    return exploit(ring, hunts, 1)


def spot(ring: Ring, looks: int) -> list[tuple[float, float]]:
    """Find the object of each sequence by outcomes: first a coarse grid, then finer ones.

    A grid with more points than a server accepts per frame is spread over several frames.

    Args:
        ring: The attacked board.
        looks: Number of grids.

    Returns:
        The position of each object, as accurately as the attacker knows it.
    """
    width, height = float(WIDTH), float(HEIGHT)
    corners = [(0.0, 0.0)] * ring.sequences
    for _ in range(looks):
        grids = [_grid(corner, width, height) for corner in corners]
        found = ring.look(dict(enumerate(grids)))
        width, height = width / COLUMNS, height / ROWS
        corners = [
            (grid[hits.index(True)][0] - width / 2, grid[hits.index(True)][1] - height / 2)
            for grid, hits in zip(grids, found, strict=True)
        ]
    return [(x + width / 2, y + height / 2) for x, y in corners]


def _grid(corner: tuple[float, float], width: float, height: float) -> list[tuple[float, float]]:
    """The centres of the cells of a part of the image."""
    return [
        (corner[0] + (column + 0.5) * width / COLUMNS, corner[1] + (row + 0.5) * height / ROWS)
        for row in range(ROWS)
        for column in range(COLUMNS)
    ]


def pinpoint(ring: Ring, cell: int) -> float:
    """The position of an object in a known cell from three MSEs; returns the error in px."""
    x, y = centre(cell)

    def squared(dx: float, dy: float) -> float | None:
        shown = ring.submit({0: [(x + dx, y + dy)]})
        return shown[None, "mse"] if shown[None, "f1"] == 1.0 else None

    def along(here: float, dx: float, dy: float) -> float:
        """The distance along an axis: (d^2 - e^2 + s^2) / 2s, with e from a place s px further."""
        further = squared(dx, dy)
        if further is not None:
            return (here - further + 4.0) / 4.0
        nearer = squared(-dx, -dy)
        assert nearer is not None
        return (nearer - here - 4.0) / 4.0

    here = squared(0.0, 0.0)
    assert here is not None
    found = (x + along(here, 2.0, 0.0), y + along(here, 0.0, 2.0))
    return float(np.hypot(*(ring.truth.coordinates[0] - found)))
