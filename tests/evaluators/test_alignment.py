"""Alignment puts both sides over the union of their frames, in one order, without loss."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from msgspec import structs

from vidscore_evaluators.alignment import Cache, align, frames_in
from vidscore_evaluators.annotations import Annotations, frame_keys
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.live import FrameKey
from vidscore_evaluators.testing import Case, cases, make_annotations, seeds, shuffled
from vidscore_evaluators.testing.examples import Frames, example_count

NEEDS = Needs((4,), (8,), confidences=True, tracks=True)


def _objects(annotations: Annotations) -> dict[FrameKey, list[tuple[object, ...]]]:
    """Objects of each frame, gathered object by object."""
    frames: dict[FrameKey, list[tuple[object, ...]]] = {key: [] for key in frame_keys(annotations)}
    keys = frame_keys(annotations)
    for index, row in enumerate(annotations.object_frames.tolist()):
        frames[keys[row]].append(
            (
                annotations.labels[annotations.label_indices[index]],
                *annotations.coordinates[index].tolist(),
                annotations.confidences[index],
                annotations.track_ids[index],
                annotations.flags[index],
            )
        )
    return {key: sorted(objects, key=str) for key, objects in frames.items()}


def _times(annotations: Annotations) -> dict[FrameKey, float | None]:
    """The time of each frame."""
    keys, column = frame_keys(annotations), annotations.frame_times_s
    times_s = [np.nan] * len(keys) if column is None else column.tolist()
    return {
        key: None if np.isnan(time_s) else time_s for key, time_s in zip(keys, times_s, strict=True)
    }


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_both_sides_have_the_union_of_frames_in_order(scene: Case, seed: int) -> None:
    aligned = align(shuffled(scene.truth, seed), shuffled(scene.detections, seed))
    expected = sorted({*frame_keys(scene.truth), *frame_keys(scene.detections)})
    assert frame_keys(aligned.truth) == frame_keys(aligned.detections) == expected
    assert list(aligned.truth.sequences) == sorted(aligned.truth.sequences)
    assert list(aligned.truth.labels) == sorted(aligned.truth.labels)
    assert aligned.truth.labels == aligned.detections.labels
    assert aligned.truth.sequences == aligned.detections.sequences


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_each_frame_keeps_its_objects_and_its_listing_sides(scene: Case, seed: int) -> None:
    aligned = align(shuffled(scene.truth, seed), shuffled(scene.detections, seed + 1))
    keys = frame_keys(aligned.truth)
    for before, after, listed in (
        (scene.truth, aligned.truth, aligned.listed),
        (scene.detections, aligned.detections, aligned.detected),
    ):
        expected, times_s = _objects(before), _times(before)
        assert _objects(after) == {key: expected.get(key, []) for key in keys}
        assert _times(after) == {key: times_s.get(key) for key in keys}
        assert listed.tolist() == [key in expected for key in keys]


@settings(max_examples=example_count(40))
@given(cases(NEEDS))
def test_flags_of_a_frame_are_those_of_the_truth(scene: Case) -> None:
    marked = scene.detections.frame_flags | 1
    detections = structs.replace(scene.detections, frame_flags=marked)
    aligned = align(scene.truth, detections)
    flags = dict(zip(frame_keys(scene.truth), scene.truth.frame_flags.tolist(), strict=True))
    expected = [flags.get(key, 0) for key in frame_keys(aligned.truth)]
    assert aligned.truth.frame_flags.tolist() == expected
    assert aligned.detections.frame_flags.tolist() == expected


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_taking_frames_takes_them_on_both_sides(scene: Case, seed: int) -> None:
    aligned = align(*scene)
    mask = np.random.default_rng(seed).random(aligned.truth.frame_count) < 0.5
    for rows in (mask, np.flatnonzero(mask)):
        taken = aligned.take_frames(rows)
        keys = [key for key, kept in zip(frame_keys(aligned.truth), mask, strict=True) if kept]
        assert frame_keys(taken.truth) == frame_keys(taken.detections) == keys
        assert taken.listed.tolist() == aligned.listed[mask].tolist()
        assert taken.detected.tolist() == aligned.detected[mask].tolist()


def test_disjoint_frames_stay_separate() -> None:
    """The same number on both sides, with different sequences and numbers throughout."""
    truth = make_annotations({("", "a"): {0: [(1, 1)]}})
    aligned = align(truth, make_annotations({("", "b"): {1: [(2, 2)]}}))
    assert frame_keys(aligned.truth) == [(("", "a"), 0), (("", "b"), 1)]
    assert [aligned.truth.object_counts.tolist(), aligned.detections.object_counts.tolist()] == [
        [1, 0],
        [0, 1],
    ]


def test_order_is_by_domain_then_sequence_then_number() -> None:
    frames: Frames = {("b", "a"): {1: []}, ("a", "c"): {10: [], 9: []}, ("a", "b"): {0: []}}
    truth = make_annotations(frames, arity=2)
    assert frame_keys(align(truth, truth).truth) == [
        (("a", "b"), 0),
        (("a", "c"), 9),
        (("a", "c"), 10),
        (("b", "a"), 1),
    ]


@settings(max_examples=example_count(40))
@given(cases(NEEDS), seeds())
def test_frames_that_the_other_side_has_too_are_found_by_name(scene: Case, seed: int) -> None:
    truth, detections = shuffled(scene.truth, seed), shuffled(scene.detections, seed + 1)
    for side, other in ((truth, detections), (detections, truth)):
        names = set(frame_keys(other))
        assert frames_in(side, other).tolist() == [key in names for key in frame_keys(side)]


def test_a_cache_computes_each_key_once_even_if_the_result_is_none() -> None:
    cache, made = Cache(), []

    def make(value: object) -> object:
        made.append(value)
        return value

    for _ in range(2):
        assert cache.get_or_compute("nothing", lambda: make(None)) is None
        assert cache.get_or_compute(("pair", 1), lambda: make("one")) == "one"
    assert cache.get_or_compute(("pair", 2), lambda: make("two")) == "two"
    assert made == [None, "one", "two"]


def test_caches_are_independent() -> None:
    assert Cache().get_or_compute("key", lambda: 1) == 1
    assert Cache().get_or_compute("key", lambda: 2) == 2
