"""The objects of one frame: the outcome of each in every system, as rows and as marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, defined
from vidscore_evaluators.explanation.answer import figure
from vidscore_evaluators.explanation.judgement import Judged, Judgement
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.figures.overlay import Mark, Region
from vidscore_evaluators.geometry import bounding_boxes, overlap_ratios
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.outcome_table import NO_PARTNER, OUTCOMES, Outcome, Outcomes

KINDS = ("fn", "fp", "sw", "ig", "tp")
"""Kinds of marks, mistakes first."""

_KIND_OF = {Outcome.TRUE_POSITIVE: "tp", Outcome.FALSE_NEGATIVE: "fn", Outcome.IGNORED: "ig"}

TAIL_FRAMES = 30
"""Number of earlier frames that the path of a track shows."""

SAME_OVERLAP = 0.5
"""IoU from which the false alarms of two systems share a row."""


class Cell(Struct, frozen=True):
    """The outcome of an object, or of a detection, in one system.

    Attributes:
        kind: One of `KINDS`.
        outcome: Its outcome.
        confidence: Confidence of the detection; None without one.
        similarity: Similarity to the partner; None without one, or if distances are used.
        distance_px: Distance to the partner in pixels; None without one, or for similarities.
        share: What it adds to the measure.
        track: Track id of the detection; None without one.
        coordinates: Where it is drawn: at the detection, if there is one.
        mask: Its mask there; None without one.
    """

    kind: str
    outcome: Outcome
    confidence: float | None
    similarity: float | None
    distance_px: float | None
    share: float
    track: int | None
    coordinates: tuple[float, ...]
    mask: Masks | None = None


class ObjectRow(Struct, frozen=True):
    """An object of the truth, or a detection without a match.

    Attributes:
        number: Its number on the picture and in the table, from 1.
        side: The side it belongs to.
        label: Its label.
        track: Track id of the object; None without one.
        cells: Its outcome in each system; None for a detection of the other system.
        note: Further information.
    """

    number: int
    side: Side
    label: str
    track: int | None
    cells: tuple[Cell | None, ...]
    note: str = ""

    @property
    def same(self) -> bool:
        """Whether its outcome is the same in every system."""
        return len({None if cell is None else cell.kind for cell in self.cells}) == 1

    @property
    def rank(self) -> int:
        """Sort key, mistakes first: index of the worst of its kinds in `KINDS`."""
        return min(KINDS.index(cell.kind) for cell in self.cells if cell is not None)


class FrameObjects(Struct, frozen=True, eq=False):
    """The objects of a frame.

    Attributes:
        rows: One row per object, in the order of their numbers.
        regions: Areas where nothing is scored.
        tails: For each system, paths of tracks up to this frame.
    """

    rows: tuple[ObjectRow, ...]
    regions: tuple[Region, ...]
    tails: tuple[FloatArray, ...]

    @property
    def sorted_rows(self) -> list[ObjectRow]:
        """Rows with mistakes first."""
        return sorted(self.rows, key=lambda row: (row.rank, row.number))

    def marks(self, system: int, prefix: str = "o") -> list[Mark]:
        """The marks of a system, mistakes on top.

        Args:
            system: Index of the system.
            prefix: Prefix of the ids of rows in the table.
        """
        found = []
        for row in self.sorted_rows:
            cell = row.cells[system]
            if cell is None:
                continue
            confidence = "" if cell.confidence is None else figure(cell.confidence, 2)
            same = len(row.cells) > 1 and row.same
            id_ = f"{prefix}{row.number}"
            found.append(
                Mark(
                    cell.kind,
                    cell.coordinates,
                    row.number,
                    row.label,
                    confidence,
                    row=id_,
                    same=same,
                    mask=cell.mask,
                )
            )
        return found

    def count(self, system: int, kind: str) -> int:
        """Number of rows of a system with a kind."""
        return sum(cell is not None and cell.kind == kind for cell in self._cells(system))

    def _cells(self, system: int) -> Iterator[Cell | None]:
        return (row.cells[system] for row in self.rows)


def objects_of_frame(material: Material, judgement: Judgement, row: int) -> FrameObjects:
    """Outcomes of every object and detection of a frame.

    Args:
        material: Truth and systems.
        judgement: Their outcomes.
        row: Row of the frame.
    """
    sides = [_Frame.of(material, judged, row) for judged in judgement.systems]
    rows = list(_truth_rows(sides))
    numbered = [*rows, *_unmatched_rows(sides, first=len(rows) + 1)]
    truth = sides[0].truth
    regions = [
        Region(tuple(truth.coordinates[at].tolist()), truth.mask_of(at))
        for at in np.flatnonzero(truth.flags & ObjectFlag.REGION).tolist()
    ]
    return FrameObjects(tuple(numbered), tuple(regions), tuple(_tails(material, truth, row)))


class _Frame(Struct, frozen=True, eq=False):
    """A frame in one system: its T objects and D detections, and their outcomes."""

    truth: Annotations
    detections: Annotations
    of_truth: Outcomes
    of_detections: Outcomes

    @classmethod
    def of(cls, material: Material, judged: Judged, row: int) -> _Frame:
        outcomes = judged.of_frame(row)
        is_truth = outcomes.of_side(Side.TRUTH)
        return cls(
            truth=material.side(None).gather_objects(material.objects_of(None, row)),
            detections=material.side(judged.name).gather_objects(
                material.objects_of(judged.name, row)
            ),
            of_truth=outcomes.take(is_truth),
            of_detections=outcomes.take(~is_truth),
        )

    def detection_cell(self, index: int) -> Cell:
        """The cell of a detection, by its row among `of_detections`."""
        own = self.of_detections
        at = int(own.rows[index])
        outcome = OUTCOMES[own.outcomes[index]]
        return Cell(
            kind=_kind(outcome, switched=bool(own.id_switches[index])),
            outcome=outcome,
            confidence=defined(own.confidences[index]),
            similarity=defined(own.similarities[index]) or None,
            distance_px=defined(own.distances_px[index]),
            share=float(own.shares[index]),
            track=_track(own.tracks[index]),
            coordinates=tuple(self.detections.coordinates[at].tolist()),
            mask=self.detections.mask_of(at),
        )

    def truth_cell(self, index: int) -> Cell:
        """The cell of an object, by its row among `of_truth`."""
        own = self.of_truth
        at = int(own.rows[index])
        outcome = OUTCOMES[own.outcomes[index]]
        cell = Cell(
            kind=_kind(outcome, switched=bool(own.id_switches[index])),
            outcome=outcome,
            confidence=None,
            similarity=defined(own.similarities[index]) or None,
            distance_px=defined(own.distances_px[index]),
            share=float(own.shares[index]),
            track=None,
            coordinates=tuple(self.truth.coordinates[at].tolist()),
            mask=self.truth.mask_of(at),
        )
        partner = int(own.partners[index])
        places = np.flatnonzero(self.of_detections.rows == partner)
        if outcome is not Outcome.TRUE_POSITIVE or partner == NO_PARTNER or not len(places):
            return cell
        of_partner = self.detection_cell(int(places[0]))
        return replace(
            cell,
            confidence=of_partner.confidence,
            track=of_partner.track,
            coordinates=of_partner.coordinates,
            mask=of_partner.mask,
        )


def _truth_rows(sides: Sequence[_Frame]) -> Iterator[ObjectRow]:
    """A row for each object of the truth, without regions."""
    first = sides[0].of_truth
    number = 0
    for index in range(len(first)):
        at = int(first.rows[index])
        if sides[0].truth.flags[at] & ObjectFlag.REGION:
            continue
        number += 1
        cells = tuple(
            side.truth_cell(int(np.flatnonzero(side.of_truth.rows == at)[0])) for side in sides
        )
        label = first.label_names[first.labels[index]]
        yield ObjectRow(number, Side.TRUTH, label, _track(first.tracks[index]), cells)


def _unmatched_rows(sides: Sequence[_Frame], first: int) -> Iterator[ObjectRow]:
    """A row for each detection without a match; two systems share one if theirs overlap."""
    unmatched = [np.flatnonzero(~side.of_detections.are(Outcome.TRUE_POSITIVE)) for side in sides]
    pairs = _same_place(sides, unmatched) if len(sides) == 2 else {}
    number = first
    taken = set(pairs.values())
    for system, side in enumerate(sides):
        for index in unmatched[system].tolist():
            if system == 1 and index in taken:
                continue
            cells: list[Cell | None] = [None] * len(sides)
            cells[system] = side.detection_cell(index)
            if system == 0 and index in pairs:
                cells[1] = sides[1].detection_cell(pairs[index])
            label = side.of_detections.label_names[side.of_detections.labels[index]]
            note = _note(side, index)
            yield ObjectRow(number, Side.DETECTIONS, label, None, tuple(cells), note)
            number += 1


def _same_place(sides: Sequence[_Frame], unmatched: Sequence[IntArray]) -> dict[int, int]:
    """Detections of the second system to those of the first that are equivalent, each once."""
    shapes = [
        side.detections.coordinates[side.of_detections.rows[rows]]
        for side, rows in zip(sides, unmatched, strict=True)
    ]
    labels = [
        np.array(
            [side.of_detections.label_names[label] for label in side.of_detections.labels[rows]]
        )
        for side, rows in zip(sides, unmatched, strict=True)
    ]
    if not len(shapes[0]) or not len(shapes[1]):
        return {}
    overlaps = _overlaps(*shapes) * (labels[0][:, np.newaxis] == labels[1])
    found: dict[int, int] = {}
    for place in np.argsort(-overlaps, axis=None, kind="stable").tolist():
        one, other = divmod(place, overlaps.shape[1])
        if overlaps[one, other] < SAME_OVERLAP:
            break
        mine, theirs = int(unmatched[0][one]), int(unmatched[1][other])
        if mine not in found and theirs not in found.values():
            found[mine] = theirs
    return found


def _note(side: _Frame, index: int) -> str:
    """The object that a false detection refers to, if its outcome names one."""
    outcome = OUTCOMES[side.of_detections.outcomes[index]]
    partner = int(side.of_detections.partners[index])
    words = {
        Outcome.DUPLICATE: "the object was found already",
        Outcome.MISLOCALISED: "overlaps too little",
        Outcome.MISCLASSIFIED: "wrong label",
        Outcome.MISLOCALISED_AND_MISCLASSIFIED: "overlaps too little, and wrong label",
        Outcome.BACKGROUND: "nothing is there",
    }.get(outcome, "")
    if partner == NO_PARTNER:
        return words
    is_region = (side.truth.flags[: partner + 1] & ObjectFlag.REGION) != 0
    if is_region[partner]:
        return "in a don't-care region"
    return f"{words}: on {partner + 1 - int(is_region.sum())}" if words else ""


def _tails(material: Material, truth: Annotations, row: int) -> Iterator[FloatArray]:
    """Positions of the tracks of a frame in earlier frames."""
    sequence = material.frames.sequence_of(row)
    start = max(material.frames.span(sequence).start, row - TAIL_FRAMES)
    wanted = [track for track in truth.track_ids.tolist() if track != NO_TRACK]
    if not wanted or start == row:
        return
    annotations = material.side(None)
    spans = [material.objects_of(None, before) for before in range(start, row + 1)]
    objects = np.concatenate([np.arange(span.start, span.stop) for span in spans])
    tracks = annotations.track_ids[objects]
    middles = _middles(annotations.coordinates[objects])
    for track in wanted:
        points = middles[tracks == track]
        if len(points) > 1:
            yield points


def _kind(outcome: Outcome, *, switched: bool) -> str:
    if outcome is Outcome.TRUE_POSITIVE and switched:
        return "sw"
    return _KIND_OF.get(outcome, "fp")


def _track(value: AnyArray | int) -> int | None:
    return None if value == NO_TRACK else int(value)


def _middles(coordinates: FloatArray) -> FloatArray:
    middles: FloatArray = coordinates.reshape(len(coordinates), -1, 2).mean(axis=1)
    return middles


def _overlaps(first: FloatArray, second: FloatArray) -> FloatArray:
    """(A, B) intersection over union of the bounding boxes of objects."""
    boxes = bounding_boxes(first), bounding_boxes(second)
    rows, others = np.indices((len(first), len(second))).reshape(2, -1)
    ratios = overlap_ratios(boxes[0][rows], boxes[1][others])
    return ratios.reshape(len(first), len(second))
