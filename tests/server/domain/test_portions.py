"""Tallies by part of the data, and the estimate that ``bootstrap`` releases."""

from __future__ import annotations

import asyncio
import dataclasses
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec import structs
from tests.server.domain.attacks import Places, centre, scene
from tests.support.varieties import mostly_nightly

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.report import report_to_dict
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.trust.tiers import DrawsJob, run_draws_job
from vidscore_server.domain import portions
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.domain.portions import (
    PartTallies,
    bootstrap_times,
    estimate,
    places,
    public_side,
)
from vidscore_server.domain.private_part import Portion

SEQUENCES = 4
PRIVATE = ("2", "4")


def defined(**policy: Any) -> Definition:
    evaluators = [{"name": name} for name in ("f1", "map", "hota")]
    return definition_from_dict({"evaluators": evaluators, "policy": policy})


def boxes(places: Places, sequences: int = SEQUENCES) -> Annotations:
    """Frames with a box of 20 px at each place."""
    points = scene(places, sequences)
    corners = np.hstack([points.coordinates, points.coordinates + 20.0])
    return structs.replace(points, coordinates=corners)


def tallied(definition: Definition, truth: Annotations, detections: Annotations) -> PartTallies:
    found = PartTallies(definition)
    for place, sides in places(definition, (truth, detections)).items():
        found.add({place: [entry.tally(*sides) for entry in definition.evaluators]})
    return found


def estimates(tallies: PartTallies, key: str) -> list[dict[str, float | None] | None]:
    async def run(job: DrawsJob) -> FloatArray:
        return run_draws_job(job)

    jobs = tallies.estimate_jobs(key)
    return [None if job is None else asyncio.run(estimate(run, job)) for job in jobs]


cells = st.integers(0, 30).map(lambda cell: centre(7 * cell))
scenes = st.dictionaries(
    st.integers(0, SEQUENCES - 1), st.lists(cells, min_size=1, max_size=3, unique=True)
)


def reports(definition: Definition, tallies: PartTallies, portion: Portion) -> list[Any]:
    own = tallies.parts()[portion]
    return [
        report_to_dict(entry.report(tally or entry.identity_tally))
        for entry, tally in zip(definition.evaluators, own, strict=True)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("visibility", mostly_nightly(["ladder", "bootstrap"]))
@settings(max_examples=example_count(15), deadline=None)
@given(truth=scenes, detections=scenes)
def test_the_parts_add_up_to_the_whole_to_the_last_bit(
    visibility: str, truth: Places, detections: Places
) -> None:
    definition = defined(private_sequences=PRIVATE, visibility=visibility)
    sides = boxes(truth), boxes(detections)
    expected = [
        report_to_dict(entry.report(entry.tally(*sides))) for entry in definition.evaluators
    ]
    tallies = tallied(definition, *sides)
    assert reports(definition, tallies, Portion.WHOLE) == expected
    plain = defined(visibility=visibility)
    assert reports(plain, tallied(plain, *sides), Portion.WHOLE) == expected


@pytest.mark.slow
@settings(max_examples=example_count(15), deadline=None)
@given(truth=scenes, detections=scenes, other=scenes)
def test_private_data_does_not_change_the_public_part(
    truth: Places, detections: Places, other: Places
) -> None:
    """The truth of the private sequences differs; reports, digests and estimates do not."""
    definition = defined(private_sequences=PRIVATE, visibility="bootstrap")
    changed = {row: kept for row, kept in truth.items() if f"{row + 1}" not in PRIVATE}
    changed |= {row: kept for row, kept in other.items() if f"{row + 1}" in PRIVATE}
    found = [tallied(definition, boxes(places), boxes(detections)) for places in (truth, changed)]
    one, another = (reports(definition, tallies, Portion.PUBLIC) for tallies in found)
    assert one == another
    assert estimates(found[0], "key") == estimates(found[1], "key")


def test_a_part_is_scored_as_if_there_were_no_other() -> None:
    """One of two objects of the public sequences is found, and both of the private ones."""
    definition = defined(private_sequences=PRIVATE)
    truth = boxes({row: [centre(0)] for row in range(SEQUENCES)})
    hits = boxes({row: [centre(0)] for row in (0, 1, 3)})
    tallies = tallied(definition, truth, hits)
    f1 = {
        portion: next(
            row["value"]
            for row in reports(definition, tallies, portion)[0]["scores"]
            if row["measure"] == "f1" and row["sequence"] is None
        )
        for portion in Portion
    }
    assert f1 == {Portion.WHOLE: 6 / 7, Portion.PUBLIC: 2 / 3, Portion.PRIVATE: 1.0}


@pytest.mark.parametrize("visibility", ["final", "bootstrap"])
def test_a_sequence_on_one_side_only_is_all_misses_or_all_false_positives(visibility: str) -> None:
    """Truth of sequences 1, 2 and 3, and detections of 2, 4 and 5; 2 and 4 are private.

    Each sequence has an object in each of its five frames.
    """
    definition = defined(private_sequences=PRIVATE, visibility=visibility)
    truth, detections = (
        side.take_frames(np.isin(side.frame_sequences, rows))
        for side, rows in (
            (boxes({row: [centre(0)] for row in (0, 1, 2)}, 3), (0, 1, 2)),
            (boxes({row: [centre(0)] for row in (1, 3, 4)}, 5), (1, 3, 4)),
        )
    )
    counts = {
        (portion, None if key is None else key.sequence): tuple(side.object_count for side in sides)
        for (portion, key), sides in places(definition, (truth, detections)).items()
    }
    private = {(Portion.PRIVATE, None): (5, 10)}
    if visibility == "final":
        assert counts == {(Portion.PUBLIC, None): (10, 5)} | private
    else:
        by_sequence = {"1": (5, 0), "3": (5, 0), "5": (0, 5)}
        assert counts == private | {(Portion.PUBLIC, key): n for key, n in by_sequence.items()}


def test_the_public_side_leaves_out_private_sequences() -> None:
    side = boxes({row: [centre(0)] for row in range(SEQUENCES)})
    public = public_side(defined(private_sequences=PRIVATE), side)
    assert [key.sequence for key in public.used_sequences] == ["1", "3"]
    assert public_side(defined(), side) is side


def test_an_estimate_does_not_depend_on_private_sequences() -> None:
    """All public objects are found, and none of the private ones, whatever the weights."""
    definition = defined(private_sequences=PRIVATE, visibility="bootstrap")
    truth = boxes({row: [centre(0)] for row in range(SEQUENCES)})
    tallies = tallied(definition, truth, boxes({row: [centre(0)] for row in (0, 2)}))
    one, *_ = estimates(tallies, "key")
    assert one is not None
    assert one["f1"] == 1.0


# --- the estimate --------------------------------------------------------------------------------


def numbered(count: int) -> list[SequenceKey]:
    return [SequenceKey("", f"{row}") for row in range(count)]


def test_sequence_weights_are_exponential_numbers_rounded_to_eighths(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """24 eighths as 1:2:1 are exact; as sevenths of 1, 1 and 5 the largest remainders round up."""
    numbers = {"0": 1.0, "1": 2.0, "2": 1.0}
    monkeypatch.setattr(portions, "_exponential", lambda _, key: numbers[key.sequence])
    assert bootstrap_times("key", numbered(3)) == [6, 12, 6]
    numbers.update({"1": 1.0, "2": 5.0})  # 24 / 7 = 3.43 twice, and 17.14.
    assert bootstrap_times("key", numbered(3)) == [4, 3, 17]
    numbers.update({"1": 2.0, "2": 4.0})  # 3.43, 6.86 and 13.71: the last two are rounded up.
    assert bootstrap_times("key", numbered(3)) == [3, 7, 14]
    assert bootstrap_times("key", []) == []


@given(st.text(max_size=8), st.integers(1, 400))
@example("key", 3000)
def test_the_weights_add_up_to_the_number_of_sequences_times_the_copies(
    key: str, count: int
) -> None:
    times = bootstrap_times(key, numbered(count))
    assert sum(times) == count * max(1, min(8, 2000 // count))
    assert times == bootstrap_times(key, numbered(count))


def test_the_weights_are_those_of_the_bayesian_bootstrap() -> None:
    """Dirichlet weights of 5 have mean 1/5 and variance (1/5)(4/5)/6 = 0.0267."""
    drawn = [bootstrap_times(f"{number}", numbered(5)) for number in range(2000)]
    first = [times[0] / 40 for times in drawn]
    mean = sum(first) / len(first)
    variance = sum((weight - mean) ** 2 for weight in first) / len(first)
    assert mean == pytest.approx(0.2, abs=0.02)
    assert variance == pytest.approx(0.0267, abs=0.004)


def test_an_estimate_is_the_score_with_weighted_sequences(monkeypatch: pytest.MonkeyPatch) -> None:
    """12 times a sequence with 5 hits, 4 times one with 5 misses: F1 = 120 / (120 + 20)."""
    monkeypatch.setattr(portions, "bootstrap_times", lambda *_: [12, 4])
    definition = defined(visibility="bootstrap")
    truth = boxes({0: [centre(0)], 1: [centre(0)]}, 2)
    tallies = tallied(definition, truth, boxes({0: [centre(0)]}, 2))
    assert estimates(tallies, "key")[0] == {"f1": 120 / 140}


def test_an_estimate_over_nothing_is_undefined() -> None:
    assert estimates(PartTallies(defined(visibility="bootstrap")), "key")[0] == {"f1": None}


def test_an_estimate_is_stored_beside_the_score_if_the_policy_asks_for_it() -> None:
    definition = defined(visibility="bootstrap")
    truth = boxes({row: [centre(0)] for row in range(SEQUENCES)})
    hits = boxes({row: [centre(0)] for row in (0, 1)})
    tallies = tallied(definition, truth, hits)
    one, *_ = estimates(tallies, "key")
    other, *_ = estimates(tallies, "another")
    assert one is not None
    assert other is not None
    assert one["f1"] != other["f1"]
    assert one == estimates(tallies, "key")[0]
    ladder = structs.replace(
        definition, policy=dataclasses.replace(definition.policy, visibility="ladder")
    )
    assert estimates(tallied(ladder, truth, hits), "key") == [None] * 3
