"""Work is divided by sequences or frames into parts of similar size, and is done anywhere."""

from __future__ import annotations

import weakref
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.toy import toy

from vidscore_evaluators import jobs
from vidscore_evaluators.annotations import Annotations, empty_annotations, frame_keys
from vidscore_evaluators.arrays import FlagArray
from vidscore_evaluators.errors import EvaluatorVersionError, GeometryError, ParameterError
from vidscore_evaluators.evaluator import Needs, Unit, tally_many
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_evaluators.jobs import (
    Job,
    make_job,
    outcomes_in_parts,
    run_job,
    split,
    sweep,
    tally_in_parts,
)
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.tally import Tally
from vidscore_evaluators.tally_bytes import tally_to_bytes
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations, seeds, shuffled
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.testing.strategies import sequence_count


@given(cases(Needs((2,), (2,))), st.integers(1, 5), seeds())
@settings(max_examples=example_count(60))
def test_parts_have_each_sequence_once_on_both_sides(
    scene: Case, part_count: int, seed: int
) -> None:
    parts = list(split(shuffled(scene.truth, seed), shuffled(scene.detections, seed), part_count))
    assert len(parts) <= min(part_count, sequence_count(scene))
    owners = [{key for side in part for key, _ in frame_keys(side)} for part in parts]
    assert all(owners)
    assert sum(map(len, owners)) == len(set().union(*owners)) == sequence_count(scene)
    for index, side in enumerate(scene):
        total = sum((fingerprint(part[index]) for part in parts), Fingerprint())
        assert total == fingerprint(side)


def test_parts_are_of_similar_size() -> None:
    """One long sequence and nine short ones: the long one is a part of its own."""
    frames = {("", "a"): dict.fromkeys(range(900), ())}
    frames |= {("", f"b{index}"): dict.fromkeys(range(100), ()) for index in range(9)}
    truth = make_annotations(frames, arity=2)
    parts = split(truth, empty_annotations(2), 2)
    assert [part.frame_count for part, _ in parts] == [900, 900]


@given(cases(Needs((2,), (2,))), st.integers(1, 5), seeds())
@settings(max_examples=example_count(60))
def test_parts_have_each_frame_once_on_both_sides_if_frames_are_the_unit(
    scene: Case, part_count: int, seed: int
) -> None:
    sides = shuffled(scene.truth, seed), shuffled(scene.detections, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "OBJECTS_PER_CUT", 0)
        parts = list(split(*sides, part_count, Unit.FRAME))
    assert len(parts) <= part_count
    owners = [{key for side in part for key in frame_keys(side)} for part in parts]
    assert all(owners)
    frames = {key for side in scene for key in frame_keys(side)}
    assert sum(map(len, owners)) == len(set().union(*owners)) == len(frames)
    for index, side in enumerate(scene):
        total = sum((fingerprint(part[index]) for part in parts), Fingerprint())
        assert total == fingerprint(side)


def test_a_long_sequence_is_divided_at_half_its_weight() -> None:
    """Objects of either side weigh as much as frames; a short sequence beside it stays whole."""
    one = [(1.0, 1.0)]
    truth = make_annotations({("", "a"): dict.fromkeys(range(0, 400, 2), one), ("", "b"): {1: one}})
    detections = make_annotations({("", "a"): dict.fromkeys(range(0, 400, 4), one)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "OBJECTS_PER_CUT", 100)
        halves = list(split(truth, detections, 2, Unit.FRAME))
        whole = list(split(truth, detections, 2, Unit.SEQUENCE))
        # Each is too small to be worth a division.
        few = list(split(truth, detections, 8, Unit.FRAME))
    assert [part.frame_count for part, _ in halves] == [101, 100]
    assert [part.frame_numbers.max() for part, _ in halves] == [200, 398]
    assert [part.frame_count for part, _ in whole] == [200, 1]
    assert [part.frame_count for part, _ in few] == [200, 1]


@given(cases(Needs((4,), (4,))), st.integers(1, 3))
@settings(max_examples=example_count(30))
def test_frames_that_are_tallied_separately_add_up_to_the_whole(scene: Case, threads: int) -> None:
    evaluators = [create_evaluator(name) for name in ("coco", "map", "f1", "errors")]
    evaluators.append(create_evaluator("coco", {"ties": "row", "classes": "ignore"}))
    whole = [tally_to_bytes(evaluator.tally(*scene)) for evaluator in evaluators]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "OBJECTS_PER_CUT", 0)
        patch.setattr(jobs, "OBJECTS_PER_PART", 3)
        patch.setattr("os.cpu_count", lambda: threads)
        tallies = tally_in_parts(evaluators, *scene)
    assert list(map(tally_to_bytes, tallies)) == whole


def test_large_data_is_tallied_in_all_available_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each thread gets frames of one sequence; for an evaluator of sequences there is one part."""
    boxes = make_annotations({("", "a"): {frame: [(0, 0, 9, 9)] for frame in range(40)}})
    parts: list[int] = []
    monkeypatch.setattr(jobs, "OBJECTS_PER_THREAD", 10)
    monkeypatch.setattr(jobs, "OBJECTS_PER_CUT", 0)
    monkeypatch.setattr("os.cpu_count", lambda: 3)

    def counted(evaluators: Any, truth: Annotations, *rest: Any, **named: Any) -> list[Tally]:
        parts.append(truth.frame_count)
        return tally_many(evaluators, truth, *rest, **named)

    monkeypatch.setattr(jobs, "tally_many", counted)
    for name, expected in (("coco", [14, 13, 13]), ("clear", [40])):
        del parts[:]
        evaluator = create_evaluator(name)
        tracked = replace(boxes, track_ids=np.zeros(40, dtype=np.int64))
        [tally] = tally_in_parts([evaluator], tracked, tracked)
        assert sorted(parts, reverse=True) == expected
        assert tally_to_bytes(tally) == tally_to_bytes(evaluator.tally(tracked, tracked))


def test_empty_data_has_no_parts() -> None:
    assert list(split(empty_annotations(2), empty_annotations(2), 4)) == []


@given(cases(Needs((2,), (4,))))
@settings(max_examples=example_count(30))
def test_parts_in_one_process_add_up_to_the_whole(scene: Case) -> None:
    told: list[tuple[int, int]] = []
    evaluator = toy(whole=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "OBJECTS_TO_WAIT_FOR", 1)
        [tally] = tally_in_parts(
            [evaluator], *scene, progress=lambda done, total: told.append((done, total))
        )
    assert tally_to_bytes(tally) == tally_to_bytes(evaluator.tally(*scene))
    assert told[-1] == (scene.truth.frame_count, scene.truth.frame_count)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


@given(cases(Needs((2,), (4,))))
@settings(max_examples=example_count(30))
def test_large_data_is_tallied_in_parts_that_add_up_to_the_whole(scene: Case) -> None:
    evaluator = toy(whole=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "OBJECTS_PER_PART", 2)
        [tally] = tally_in_parts([evaluator], *scene)
    assert tally_to_bytes(tally) == tally_to_bytes(evaluator.tally(*scene))


def test_outcomes_of_a_part_are_released_before_those_of_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(jobs, "OUTCOMES_PER_PART", 1)
    one = [Thing((1, 1))]
    truth = make_annotations({("", name): {1: one} for name in "abc"})
    parts = outcomes_in_parts(create_evaluator("spotgeo"), truth, truth)
    seen: list[weakref.ref[FlagArray]] = []
    for rows in parts:
        assert [part() for part in seen] == [None] * len(seen)
        assert len(rows) == 2
        seen.append(weakref.ref(rows.outcomes))
        del rows
    assert len(seen) == 3


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_evaluators_tallied_together_get_the_same_as_alone(workers: int) -> None:
    """They share only what they compute alike: scenes and pairs."""
    truth, detections = _tracked_scene()
    evaluators = [
        create_evaluator(name, {"base": base})
        for name in ("clear", "identity", "hota", "ospa", "f1")
        for base in ("iou", "giou")
    ]
    tallies = tally_in_parts(evaluators, truth, detections, workers=workers)
    for evaluator, tally in zip(evaluators, tallies, strict=True):
        assert tally_to_bytes(tally) == tally_to_bytes(evaluator.tally(truth, detections))


def test_parts_tallied_in_parallel_add_up_to_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """For any number of threads; every evaluator may be used by several."""
    truth, detections = _tracked_scene()
    monkeypatch.setattr(jobs, "OBJECTS_PER_PART", 20)
    evaluators = [create_evaluator(name) for name in ("clear", "identity", "hota", "map", "f1")]
    whole = [tally_to_bytes(evaluator.tally(truth, detections)) for evaluator in evaluators]
    for count in (1, 2, 3):
        monkeypatch.setattr("os.cpu_count", lambda count=count: count)
        tallies = tally_in_parts(evaluators, truth, detections)
        assert list(map(tally_to_bytes, tallies)) == whole


def test_an_error_of_a_part_ends_tallying_with_its_faults(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "OBJECTS_PER_PART", 1)
    boxes = make_annotations({("", name): {1: [(0, 0, 1, 1)]} for name in "abcdef"})
    with pytest.raises(GeometryError) as caught:
        tally_in_parts([create_evaluator("spotgeo")], boxes, boxes)
    assert caught.value.faults[0].source == "truth"


def _tracked_scene() -> tuple[Annotations, Annotations]:
    """Three sequences of boxes and detections that drift apart."""
    sides = [
        {
            ("", name): {
                frame: [
                    Thing((x + shift * frame, 0.0, x + 10.0 + shift * frame, 10.0), track_id=track)
                    for track, x in enumerate((0.0, 6.0, 30.0))
                ]
                for frame in range(8)
            }
            for name in "abc"
        }
        for shift in (0.0, 1.0)
    ]
    return make_annotations(sides[0]), make_annotations(sides[1])


def test_empty_data_can_be_tallied_with_any_number_of_workers() -> None:
    evaluator = create_evaluator("spotgeo")
    nothing = (empty_annotations(2), empty_annotations(2))
    identity = tally_to_bytes(evaluator.identity_tally)
    for workers in (1, 2):
        [tally] = tally_in_parts([evaluator], *nothing, workers=workers)
        assert tally_to_bytes(tally) == identity


@pytest.mark.parametrize("workers", [0, -1])
def test_a_number_of_workers_below_one_is_refused(workers: int) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        tally_in_parts([toy()], empty_annotations(2), empty_annotations(2), workers=workers)


def test_a_job_names_its_evaluator_and_all_that_rebuilds_it() -> None:
    evaluator = create_evaluator("spotgeo", {"tau": 5})
    job = make_job(evaluator, empty_annotations(2), empty_annotations(2))
    assert (job.evaluator, job.version) == ("spotgeo", evaluator.version)
    assert job.parameters["tau"] == 5.0
    assert run_job(job) == tally_to_bytes(evaluator.identity_tally)


def test_a_job_for_another_version_is_refused() -> None:
    job = Job(
        "spotgeo", "0.0", {}, create_evaluator("spotgeo").specification, *[empty_annotations(2)] * 2
    )
    with pytest.raises(EvaluatorVersionError, match=r"spotgeo 0\.0, but"):
        run_job(job)


def test_an_error_in_a_worker_is_raised_with_its_faults() -> None:
    """Sequences of both sides, of a shape that spotGEO cannot use."""
    boxes = make_annotations({("", "s"): {1: [(0, 0, 1, 1)]}})
    with pytest.raises(GeometryError) as caught:
        tally_in_parts([create_evaluator("spotgeo")], boxes, boxes, workers=2)
    assert caught.value.faults[0].source == "truth"
    assert np.array_equal(boxes.object_counts, [1])


# --- Sweeps of a parameter; the contract checks that a grid equals one run per value


def test_values_without_a_common_tally_are_run_one_by_one() -> None:
    """A sweep may mix grid values, other values, and parameters without a stored grid."""
    box = Thing((0, 0, 10, 10))
    truth = make_annotations({("", "v"): {0: [box]}})
    detections = make_annotations({("", "v"): {0: [Thing((0, 0, 6.3, 10))]}})
    for name in ("f1", "errors"):
        scores = sweep(create_evaluator(name), "threshold", truth, detections, [0.6, 0.63, 0.64])
        first = [
            entry.blocks[0].measures["f1" if name == "f1" else "ap"][0] for entry in scores.values()
        ]
        assert (list(scores), first) == ([0.6, 0.63, 0.64], [1.0, 1.0, 0.0])


def test_the_grid_is_that_of_the_base() -> None:
    """The grid of GIoU starts at -1; a parameter without a grid has none."""
    assert create_evaluator("f1", {"base": "giou"}).grid("threshold")[0] == -1.0
    assert len(create_evaluator("map").grid("thresholds")) == 21
    assert create_evaluator("errors").grid("interpolation") == ()


def test_values_out_of_bounds_are_refused() -> None:
    """A threshold above 1 is an error of the parameter."""
    nothing = make_annotations({}, arity=4)
    with pytest.raises(ParameterError, match="threshold"):
        sweep(create_evaluator("f1"), "threshold", nothing, nothing, [1.5])
