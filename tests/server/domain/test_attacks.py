"""Attacks gain nothing within the default budget, and much without the protections.

Chance is the gain of the same attack if it is shown nothing. A gain is beyond chance if it exceeds
half over the square root of the number of objects: that is the greatest standard deviation of a
score between draws of so many objects.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pytest
from tests.server.domain.attacks import (
    CELL_PX,
    CELLS,
    COLUMNS,
    FRAMES,
    MOST,
    Ring,
    make_ring,
    pinpoint,
    probe_at_once,
    probe_in_turn,
    spot,
    subtract,
)
from tests.support.varieties import mostly_nightly

SPOTGEO: Mapping[str, object] = {"name": "spotgeo"}
CLEAR: Mapping[str, object] = {
    "name": "clear",
    # Within 10 px, the tolerance of spotGEO.
    "parameters": {"base": "euclidean", "cutoff_px": 20.0},
}
SEEDS = range(8)
FEW_SEEDS = range(2)
POLICIES = ("ladder", "final", "live")
LIMIT = 150
"""Maximum number of submissions of an attack without a budget."""

FINE_STEP = 0.01
"""Far below 0.2, the default for so small a truth, which is a protection in itself."""

Attack = Callable[[Ring, int], float]


def _limit(ring: Ring) -> int:
    return ring.budget or LIMIT


def by_f1(ring: Ring, seed: int) -> float:
    """The adaptive attack on positions, in the variant that learns most under the policy."""
    if ring.definition.policy.visibility == "live":
        return probe_at_once(ring, seed, _limit(ring), "true_positives", MOST, 0)
    return probe_in_turn(ring, seed, _limit(ring))


def by_mota(ring: Ring, seed: int) -> float:
    """The attack by differences of MOTA; if hits are shown, they need not be derived."""
    if ring.definition.policy.visibility == "live":
        return probe_at_once(ring, seed, _limit(ring), "matches", CELLS, CELLS)
    return subtract(ring, seed, _limit(ring))


ATTACKS: dict[str, tuple[Mapping[str, object], Attack]] = {
    "f1": (SPOTGEO, by_f1),
    "mota": (CLEAR, by_mota),
}


def _mean(
    attack: str, sequences: int, policy: Mapping[str, object], **ring: bool
) -> tuple[float, int]:
    """Mean result of an attack, and the number of objects of the truth."""
    evaluator, run = ATTACKS[attack]
    found, objects = [], 0
    for seed in FEW_SEEDS if policy.get("submissions_in_all") == 0 else SEEDS:
        played = make_ring(evaluator, sequences, seed, **policy)
        for name, value in ring.items():
            setattr(played, name, value)
        found.append(run(played, seed))
        objects = played.truth.object_count
    return float(np.mean(found)), objects


@pytest.mark.slow
@pytest.mark.parametrize("visibility", mostly_nightly(POLICIES))
@pytest.mark.parametrize(
    ("attack", "sequences"),
    mostly_nightly(
        [("f1", 5), ("mota", 1), ("f1", 1), ("f1", 20), ("mota", 5)], gate=2, unpacked=True
    ),
)
def test_within_the_default_budget_nothing_is_gained_beyond_chance(
    attack: str, visibility: str, sequences: int
) -> None:
    policy = {"visibility": visibility}
    gained, objects = _mean(attack, sequences, policy)
    chance, _ = _mean(attack, sequences, policy, deaf=True)
    assert gained - chance <= 0.5 / math.sqrt(objects)


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("attack", "visibility", "least"),
    [("f1", "ladder", 0.3), ("f1", "final", 0.5), ("f1", "live", 0.9), ("mota", "live", 0.9)],
)
def test_without_a_budget_and_with_a_fine_step_the_truth_is_read(
    attack: str, visibility: str, least: float
) -> None:
    policy = {"visibility": visibility, "submissions_in_all": 0, "ladder_step": FINE_STEP}
    gained, _ = _mean(attack, 5, policy)
    assert gained >= least


@pytest.mark.nightly
def test_without_a_budget_and_clipping_mota_shows_where_everything_is() -> None:
    policy = {"visibility": "ladder", "submissions_in_all": 0}
    gained, _ = _mean("mota", 5, policy, clipping=False)
    assert gained >= 0.9
    clipped, _ = _mean("mota", 5, policy)
    assert clipped == 0.0


def _in_its_cell(**policy: object) -> tuple[Ring, int]:
    """An object in five frames, and its cell, which an attacker knows."""
    exact = {"name": "spotgeo", "parameters": {"epsilon": 0.0}}
    ring = make_ring(exact, 1, 1, visibility="final", **policy)
    x, y = ring.truth.coordinates[0]
    return ring, int(y // CELL_PX) * COLUMNS + int(x // CELL_PX)


def test_exact_errors_of_final_scores_reveal_positions_to_the_last_digit() -> None:
    ring, cell = _in_its_cell(submissions_in_all=0)
    ring.rounding = False
    assert pinpoint(ring, cell) < 1e-9


def test_rounded_errors_of_final_scores_do_not_reveal_positions() -> None:
    """Not even to an attacker who knows the cell and has no budget."""
    ring, cell = _in_its_cell(submissions_in_all=0)
    assert pinpoint(ring, cell) > 1e-3


# --- outcomes ----------------------------------------------------------------------------------


def test_own_outcomes_show_where_everything_is_within_the_default_budget() -> None:
    """Two looks at 1610 places each, and one more submission: so the default shows no outcomes."""
    ring = make_ring(CLEAR, 5, 0, visibility="final", outcomes="own")
    assert ring.budget == 5
    found = spot(ring, looks=2)
    errors_px = ring.truth.coordinates[::FRAMES] - found
    assert np.hypot(*errors_px.T).max() < 0.25
    ring.submit({row: [place] for row, place in enumerate(found)})
    assert ring.best == 1.0
