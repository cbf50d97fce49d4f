"""Which parts of truth and detections are scored together."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import cast

import pytest
from tests.server.scene import HERE, points

from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate
from vidscore_evaluators.specification import BenchmarkSpec, SequenceSpec
from vidscore_server.api.batches import read_stored_batch
from vidscore_server.domain.batches import BatchCodec, frame_names
from vidscore_server.domain.parts import (
    Part,
    PartPlan,
    ScoringInput,
    plan_parts,
    sides_to_score,
    without_truth,
)


def _columns(*frames: int, sequence: str = "1") -> Annotations:
    message = points(dict.fromkeys(frames, HERE), sequence)
    return read_stored_batch(message.SerializeToString(), 2)


SPECIFICATION = BenchmarkSpec(sequences=(SequenceSpec("1", frame_count=3),))


def test_complete_truth_gets_the_frames_that_it_does_not_list() -> None:
    truth, detections = sides_to_score(SPECIFICATION, _columns(0), _columns(0, 2), complete=True)
    assert [name[2] for name in frame_names(truth)] == [0, 1, 2]
    assert [name[2] for name in frame_names(detections)] == [0, 2]


def test_detections_of_an_unknown_sequence_are_left_out() -> None:
    _, detections = sides_to_score(
        SPECIFICATION, _columns(0), _columns(0, sequence="9"), complete=True
    )
    assert frame_names(detections) == []


def test_with_incomplete_truth_frames_without_truth_are_left_out_on_both_sides() -> None:
    truth, detections = sides_to_score(SPECIFICATION, _columns(0), _columns(0, 2), complete=False)
    assert [name[2] for name in frame_names(truth)] == [0]
    assert [name[2] for name in frame_names(detections)] == [0]


def test_frames_without_truth_are_found_whatever_their_order() -> None:
    assert without_truth(_columns(3, 1), _columns(1, 2, 3)).tolist() == [False, True, False]


# --- which truth is scored with each part


def _names(side: Annotations) -> list[tuple[str, int]]:
    return [(name[1], name[2]) for name in frame_names(side)]


def _part(sequence: str, *, whole: bool) -> Part:
    return Part(array("q", [0]), frozenset([SequenceKey("", sequence)]), whole)


def test_every_frame_of_the_truth_is_scored_with_one_part_or_is_left_over() -> None:
    """For a whole sequence all of its frames; otherwise those that the part has."""
    truth = concatenate([_columns(*range(4)), *(_columns(0, 1, sequence=one) for one in "23")])
    meeting = ScoringInput(BenchmarkSpec(), truth, complete=True)
    met = [
        tuple(map(_names, meeting.meet(_part(sequence, whole=whole), detections)))
        for sequence, whole, detections in (
            ("1", False, _columns(0, 3)),
            ("1", False, _columns(1)),
            ("2", True, _columns(1, sequence="2")),
        )
    ]
    assert met == [
        ([("1", 0), ("1", 3)], [("1", 0), ("1", 3)]),
        ([("1", 1)], [("1", 1)]),
        ([("2", 0), ("2", 1)], [("2", 1)]),
    ]
    rest = meeting.rest(2)
    assert rest is not None
    assert tuple(map(_names, rest)) == ([("1", 2), ("3", 0), ("3", 1)], [])


def test_truth_scored_as_a_whole_leaves_no_rest() -> None:
    meeting = ScoringInput(BenchmarkSpec(), _columns(0, 1), complete=True)
    meeting.meet(_part("1", whole=True), _columns(0))
    assert meeting.rest(2) is None
    sides = ScoringInput(BenchmarkSpec(), _columns(0, 1), complete=True).all_at_once(_columns(0))
    assert tuple(map(_names, sides)) == ([("1", 0), ("1", 1)], [("1", 0)])


# --- how a submission is divided

SIZES = {
    b"0": {"a": 10},
    b"1": {"a": 10, "b": 5},
    b"2": {"b": 5, "c": 20},
    b"3": {"c": 20},
    b"4": {"c": 5},
}
"""Bytes of each sequence in each batch: 20 of a, 10 of b and 45 of c."""


class _Sizes:
    """A replacement for the codec: returns given sizes, and reads batches as sequences 0, 1..."""

    def __init__(self, sizes: Mapping[bytes, Mapping[str, int]]) -> None:
        self._sizes = sizes

    def stored_sizes(self, data: bytes, _: int) -> tuple[int, list[tuple[SequenceKey, int]]]:
        sizes = self._sizes[data]
        return len(sizes), [(SequenceKey("", key), size) for key, size in sizes.items()]

    def read_stored_batches(self, batches: list[bytes], _: int) -> Annotations:
        return concatenate([_columns(0, sequence=data.decode()) for data in batches])


def _cut(
    maximum_bytes: int, *, by_frame: bool, sizes: Mapping[bytes, Mapping[str, int]] = SIZES
) -> PartPlan:
    codec = cast(BatchCodec, _Sizes(sizes))
    return plan_parts(codec, sizes, 2, maximum_bytes, by_frame=by_frame)


@pytest.mark.parametrize(
    ("maximum_bytes", "by_frame", "expected"),
    [
        (74, False, [("ab", [0, 1, 2], True), ("c", [2, 3, 4], True)]),
        (30, False, [("ab", [0, 1, 2], True), ("c", [2, 3, 4], True)]),
        (29, False, [("a", [0, 1], True), ("b", [1, 2], True), ("c", [2, 3, 4], True)]),
        (1, False, [("a", [0, 1], True), ("b", [1, 2], True), ("c", [2, 3, 4], True)]),
        (45, True, [("ab", [0, 1, 2], True), ("c", [2, 3, 4], True)]),
        (40, True, [("ab", [0, 1, 2], True), ("c", [2, 3], False), ("c", [4], False)]),
        (
            25,
            True,
            [("a", [0, 1], True), ("b", [1, 2], True), ("c", [2], False), ("c", [3, 4], False)],
        ),
        (
            4,
            True,
            [
                (key, [row], False)
                for key, row in zip("aabbccc", (0, 1, 1, 2, 2, 3, 4), strict=True)
            ],
        ),
    ],
)
def test_sequences_are_combined_within_the_bound_and_split_where_frames_allow(
    maximum_bytes: int, by_frame: bool, expected: list[tuple[str, list[int], bool]]
) -> None:
    plan = _cut(maximum_bytes, by_frame=by_frame)
    found = [
        ("".join(sorted(key.sequence for key in part.sequences)), part.rows.tolist(), part.whole)
        for part in plan.parts
    ]
    assert found == expected
    assert (plan.everything, plan.frame_count, plan.size_bytes) == (None, 7, 75)


def test_the_bound_holds_for_each_part_separately() -> None:
    """50 bytes, and then 10 and 45 together."""
    plan = _cut(55, by_frame=False, sizes={b"0": {"a": 50}, b"1": {"b": 10}, b"2": {"c": 45}})
    assert [{key.sequence for key in part.sequences} for part in plan.parts] == [{"a"}, {"b", "c"}]


def test_a_submission_within_the_bound_is_read_at_once() -> None:
    plan = _cut(75, by_frame=True)
    assert plan.everything is not None
    assert [key.sequence for key in plan.everything.sequences] == ["0", "1", "2", "3", "4"]
    assert (plan.parts, plan.frame_count, plan.size_bytes) == ((), 7, 75)
