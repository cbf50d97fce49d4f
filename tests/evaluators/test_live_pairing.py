"""Frames of two sides are paired once in any interleaving, and refused ones change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from vidscore_evaluators.annotations import Annotations, Side, frame_keys
from vidscore_evaluators.errors import InputError, LimitError
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.fingerprint import Fingerprint, fingerprint
from vidscore_evaluators.live import Coverage, FrameKey, Pairing
from vidscore_evaluators.testing import Case, cases, make_annotations, seeds
from vidscore_evaluators.testing.examples import example_count
from vidscore_evaluators.testing.strategies import interleaving, sides


def _frames(*numbers: int, sequence: str = "s") -> Annotations:
    return make_annotations(
        {("", sequence): {number: [(number, 0)] for number in numbers}}, arity=2
    )


@given(cases(Needs((2,), (4,), confidences=True)), seeds())
@settings(max_examples=example_count(60))
def test_exactly_the_frames_sent_by_both_sides_are_returned_once(scene: Case, seed: int) -> None:
    pairing = Pairing(1000)
    sent: dict[Side, set[FrameKey]] = {side: set() for side in Side}
    handed: dict[Side, list[FrameKey]] = {side: [] for side in Side}
    marks = dict.fromkeys(Side, Fingerprint())
    for side, rows in interleaving(scene, np.random.default_rng(seed)):
        batch = sides(scene)[side].take_frames(rows)
        sent[side].update(frame_keys(batch))
        complete = pairing.add(side, batch)
        for which, part in zip(Side, complete or (), strict=False):
            handed[which].extend(frame_keys(part))
            marks[which] += fingerprint(part)
        both = sent[Side.TRUTH] & sent[Side.DETECTIONS]
        for which in Side:
            assert sorted(handed[which]) == sorted(both)
            assert pairing.seen(which) == sent[which]
        assert pairing.coverage == Coverage(
            len(both), len(sent[Side.TRUTH] - both), len(sent[Side.DETECTIONS] - both)
        )
    for which in Side:
        rest = pairing.drain(which)
        if rest is not None:
            marks[which] += fingerprint(rest)
            handed[which].extend(frame_keys(rest))
        assert sorted(handed[which]) == sorted(sent[which])
        assert marks[which] == fingerprint(sides(scene)[which])
        assert pairing.drain(which) is None


def _state(pairing: Pairing) -> tuple[object, ...]:
    return pairing.coverage, pairing.held_bytes, *(set(pairing.seen(side)) for side in Side)


def test_every_repeated_frame_is_named_and_nothing_is_accepted() -> None:
    pairing = Pairing(10)
    pairing.add(Side.TRUTH, _frames(0, 1, 2))
    pairing.add(Side.DETECTIONS, _frames(1))
    before = _state(pairing)
    with pytest.raises(InputError) as caught:
        pairing.add(Side.TRUTH, _frames(3, 1, 2))
    assert [str(fault) for fault in caught.value.faults] == [
        "truth, entry 1: found frame 1 of sequence s again, expected each frame once",
        "truth, entry 2: found frame 2 of sequence s again, expected each frame once",
    ]
    assert _state(pairing) == before
    assert pairing.add(Side.TRUTH, _frames(3)) is None


def test_a_frame_that_is_twice_in_a_batch_is_named() -> None:
    batch = _frames(0, 1).take_frames(np.array([0, 1, 0]))
    with pytest.raises(InputError, match=r"detections, entry 2: found frame 0"):
        Pairing(10).add(Side.DETECTIONS, batch)


def test_one_number_in_two_sequences_is_two_frames() -> None:
    pairing = Pairing(10)
    pairing.add(Side.TRUTH, _frames(0))
    assert pairing.add(Side.TRUTH, _frames(0, sequence="t")) is None
    assert pairing.coverage.waiting_for_detections == 2


def test_more_waiting_frames_than_allowed_are_refused_and_nothing_is_accepted() -> None:
    pairing = Pairing(3)
    pairing.add(Side.TRUTH, _frames(0, 1))
    before = _state(pairing)
    with pytest.raises(LimitError, match=r"4 frames would wait.*maximum_waiting_frames is 3"):
        pairing.add(Side.DETECTIONS, _frames(7, 8))
    assert _state(pairing) == before
    pairing.add(Side.DETECTIONS, _frames(7))


def test_frames_that_complete_a_pair_do_not_count_as_waiting() -> None:
    """Three arrive and two of them complete pairs: of four waiting frames, two are left."""
    pairing = Pairing(2)
    pairing.add(Side.TRUTH, _frames(0, 1))
    complete = pairing.add(Side.DETECTIONS, _frames(0, 1, 2))
    assert complete is not None
    assert pairing.coverage == Coverage(2, 0, 1)


def test_a_full_pairing_still_accepts_frames_that_make_room() -> None:
    pairing = Pairing(1)
    pairing.add(Side.TRUTH, _frames(0))
    assert pairing.add(Side.DETECTIONS, _frames(0)) is not None
    assert pairing.coverage == Coverage(1, 0, 0)


def test_a_batch_without_frames_changes_nothing() -> None:
    pairing = Pairing(0)
    before = _state(pairing)
    assert pairing.add(Side.TRUTH, _frames()) is None
    assert _state(pairing) == before
