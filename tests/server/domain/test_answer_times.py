"""Times of capture and answer of each frame of a live submission, by its clock."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import numpy as np

from vidscore_evaluators.annotations import Annotations, SequenceKey, frame_keys
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.specification import SequenceSpec
from vidscore_evaluators.testing import make_annotations
from vidscore_server.domain.live_clock import LiveClock, timeline_of, timeline_to_json
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.online import AnswerTimes, answer_times
from vidscore_server.store import Reader
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
NAME = SubmissionName("dots", "one")
CLOCK = LiveClock(frame_rate=4.0)
SEQUENCES = (
    SequenceSpec("b", frame_count=2, first_frame=10),
    SequenceSpec("a", frame_count=3, first_frame=1),
)
"""Frames 10 and 11 of b are due at 0 and 0.25 s, frames 1 to 3 of a at 0.5, 0.75 and 1 s."""

A, B, OTHER = (SequenceKey("", name) for name in ("a", "b", "other"))


def test_frames_have_the_times_of_their_positions_on_the_clock() -> None:
    arrivals_s = np.array([0.1, math.nan, 0.6, math.nan, 1.5])
    times = AnswerTimes(timeline_of(CLOCK, SEQUENCES), arrivals_s)
    truth = make_annotations(
        {B: {9: [], 10: [], 11: [], 12: []}, A: {0: [], 1: [], 3: [], 4: []}, OTHER: {1: []}},
        arity=2,
    )
    answers = make_annotations(
        {A: {1: [(1, 2)], 2: [(3, 4)], 3: [(5, 6)]}, B: {10: [], 11: []}}, arity=2
    )
    truth, answers = times.on(truth, answers)
    captures_s = by_frame(truth, truth.frame_times_s)
    assert captures_s == {
        ("b", 9): None, ("b", 10): 0.0, ("b", 11): 0.25, ("b", 12): None,
        ("a", 0): None, ("a", 1): 0.5, ("a", 3): 1.0, ("a", 4): None, ("other", 1): None,
    }  # fmt: skip
    assert truth.frame_arrivals_s is None
    # Frames 11 of b and 2 of a were not sent as answers.
    expected = {("a", 1): 0.5, ("a", 3): 1.0, ("b", 10): 0.0}
    assert by_frame(answers, answers.frame_times_s) == expected
    expected = {("a", 1): 0.6, ("a", 3): 1.5, ("b", 10): 0.1}
    assert by_frame(answers, answers.frame_arrivals_s) == expected
    assert answers.coordinates.tolist() == [[1, 2], [5, 6]]


def by_frame(side: Annotations, times_s: FloatArray | None) -> dict[tuple[str, int], float | None]:
    """Times by sequence and frame; None for no time."""
    assert times_s is not None
    return {
        (key.sequence, number): None if math.isnan(time_s) else time_s
        for (key, number), time_s in zip(frame_keys(side), times_s.tolist(), strict=True)
    }


def reader_of(clock: LiveClockRecord | None, *frames: LiveFrameRecord) -> Reader:
    found = SimpleNamespace(live_clock=lambda *_: clock, live_frames=lambda *_: frames)
    return cast(Reader, found)


def test_the_arrival_of_an_answer_is_the_time_at_which_it_was_stored() -> None:
    """In seconds from the start; a frame that was given out but not answered has no arrival."""
    clock = LiveClockRecord(timeline_to_json(CLOCK, SEQUENCES), NOON)
    answered = LiveFrameRecord(3, 1, NOON, 2, NOON + timedelta(seconds=0.8125), 0)
    found = answer_times(reader_of(clock, LiveFrameRecord(1, 3, NOON), answered), NAME)
    assert found is not None
    np.testing.assert_array_equal(found.arrivals_s, [math.nan] * 3 + [0.8125, math.nan])
    assert found.timeline.due_us.tolist() == [0, 250_000, 500_000, 750_000, 1_000_000]


def test_a_submission_without_a_clock_has_no_answer_times() -> None:
    assert answer_times(reader_of(None), NAME) is None
