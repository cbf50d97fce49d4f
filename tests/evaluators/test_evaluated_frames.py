"""A specification adds, drops and marks frames of the truth, in batches or all at once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings

from vidscore_evaluators.alignment import resolve, restrict, unlisted_frames
from vidscore_evaluators.annotations import SequenceKey, concatenate, frame_keys
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.specification import BenchmarkSpec, FrameRanges, SequenceSpec
from vidscore_evaluators.testing import Case, cases, make_annotations, seeds
from vidscore_evaluators.testing.examples import example_count

SPEC = BenchmarkSpec(
    sequences=(
        SequenceSpec("s1", "left", frame_count=7, dont_care_frames=FrameRanges(((1, 2),))),
        SequenceSpec("s2", "left", frames=FrameRanges(((0, 0), (3, 4)))),
        SequenceSpec("s1", "right", dont_care_frames=FrameRanges(((0, 5),))),
        SequenceSpec("other", "right", frame_count=2),
    )
)
LISTS = {
    ("left", "s1"): set(range(7)),
    ("left", "s2"): {0, 3, 4},
    ("right", "other"): {0, 1},
}
MARKED = {("left", "s1"): {1, 2}, ("right", "s1"): set(range(6))}


@given(cases(Needs((2,), (2,))))
@settings(max_examples=example_count(40))
def test_resolved_truth_has_exactly_the_frames_of_the_specification(scene: Case) -> None:
    """Sequences without a list keep their own frames; all others have those of the list."""
    own = {key for key in frame_keys(scene.truth) if tuple(key[0]) not in LISTS}
    listed = {(SequenceKey(*key), number) for key, numbers in LISTS.items() for number in numbers}
    resolved = resolve(SPEC, scene.truth)
    assert sorted(frame_keys(resolved)) == sorted(own | listed)


@given(cases(Needs((2,), (2,))))
@settings(max_examples=example_count(40))
def test_marked_frames_are_dont_care_whichever_side_lists_them(scene: Case) -> None:
    before = dict(zip(frame_keys(scene.truth), scene.truth.frame_flags.tolist(), strict=True))
    resolved = resolve(SPEC, scene.truth)
    for key, flags in zip(frame_keys(resolved), resolved.frame_flags.tolist(), strict=True):
        marked = key[1] in MARKED.get(key[0], set())
        assert flags == (before.get(key, 0) | marked)


@given(cases(Needs((2,), (2,))), seeds())
@settings(max_examples=example_count(40))
def test_batches_give_the_same_as_all_at_once(scene: Case, seed: int) -> None:
    rows = np.random.default_rng(seed).permutation(scene.truth.frame_count)
    batches = [restrict(SPEC, scene.truth.take_frames(part)) for part in np.array_split(rows, 3)]
    seen = [key for batch in batches for key in frame_keys(batch)]
    batches.append(restrict(SPEC, unlisted_frames(SPEC, seen, scene.truth.arity)))
    assert fingerprint(concatenate(batches)) == fingerprint(resolve(SPEC, scene.truth))


def test_a_sequence_that_the_specification_does_not_mention_is_unchanged() -> None:
    truth = make_annotations({("", "s"): {5: [(1, 2)]}})
    assert restrict(BenchmarkSpec(), truth) is truth
    assert frame_keys(resolve(SPEC, truth))[0] == (("", "s"), 5)


def test_frames_may_be_numbered_from_one() -> None:
    """Frame 1 of 5 is inside, although the list has no frame 0."""
    spec = BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=5, first_frame=1),))
    truth = make_annotations({("", "s"): {1: [(1, 2)], 5: []}})
    assert sorted(number for _, number in frame_keys(resolve(spec, truth))) == [1, 2, 3, 4, 5]


def test_every_frame_outside_the_video_is_a_fault() -> None:
    spec = BenchmarkSpec(sequences=(SequenceSpec("s", "d", frame_count=3, first_frame=2),))
    truth = make_annotations({("d", "s"): {0: [], 1: [], 2: [], 4: [], 5: [], 90: []}}, arity=2)
    with pytest.raises(SpecificationError) as caught:
        restrict(spec, truth)
    assert [str(fault) for fault in caught.value.faults] == [
        f"truth of d/s: found frame {number}, expected frames 2 to 4, as the specification says"
        for number in (0, 1, 5, 90)
    ]


def test_no_frame_is_inside_a_video_without_frames() -> None:
    spec = BenchmarkSpec(sequences=(SequenceSpec("s", frame_count=0),))
    truth = make_annotations({("", "s"): {0: []}}, arity=2)
    with pytest.raises(SpecificationError, match="expected no frame"):
        restrict(spec, truth)


def test_unlisted_frames_have_the_requested_arity_and_no_objects() -> None:
    missing = unlisted_frames(SPEC, [(SequenceKey("left", "s2"), 3)], 8)
    assert missing.arity == 8
    assert missing.object_count == 0
    assert (SequenceKey("left", "s2"), 3) not in frame_keys(missing)
    assert (SequenceKey("left", "s2"), 4) in frame_keys(missing)


def test_frames_that_only_a_specification_lists_cost_little_more_than_their_columns() -> None:
    """A few bytes of a specification can stand for a million frames."""
    specification = BenchmarkSpec(sequences=(SequenceSpec("1", frame_count=1_000_000),))
    tracemalloc.start()
    found = unlisted_frames(specification, [(SequenceKey("", "1"), 7)], 2)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert found.frame_count == 999_999
    assert 7 not in found.frame_numbers
    assert peak_bytes < 4 * found.held_bytes
