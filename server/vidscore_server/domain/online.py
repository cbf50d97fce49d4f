"""Whether a submission answered a live benchmark online, how fast, and at which times.

The proof is an order, not a time: frames given out, answers stored and the end of the clock are
numbered in the order of their commits. An answer is in time if its number is less than that of the
clock's next event: then it was durable before the next frame was given out.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.names import counted
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.live_clock import (
    MICROSECONDS,
    FrameSource,
    Timeline,
    timeline_from_json,
    timeline_of,
)
from vidscore_server.domain.names import SubmissionName
from vidscore_server.store import Reader
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord

PERCENTS = (50, 90, 99, 100)


class OnlineRecord(Struct, frozen=True):
    """How a submission answered by the clock.

    Attributes:
        frames: Where the frames came from.
        frame_count: Frames of the clock.
        in_time_count: Frames whose answer was durable before the next one was given out.
        late_count: Frames that were answered late.
        missing_count: Frames without an answer.
        passed_count: Missing frames that were never given out, because no call was open or the
            server was behind.
        outside_count: Frames of the submission that are not answers.
        latencies_s: Percentiles 50, 90, 99 and 100 of the latencies, in seconds; empty without an
            answer.
        delay_worst_s: Maximum delay of giving out a frame, in seconds; None without frames.
    """

    frames: FrameSource
    frame_count: int
    in_time_count: int
    late_count: int
    missing_count: int
    passed_count: int
    outside_count: int
    latencies_s: tuple[float, ...]
    delay_worst_s: float | None

    @property
    def certified(self) -> bool:
        """Whether every frame was answered in time, and nothing else was sent."""
        return self.in_time_count == self.frame_count and not self.outside_count

    @property
    def message(self) -> str:
        """Why it is not certified, for people; empty if it is."""
        of_all = f"of {counted(self.frame_count, 'frame')}"
        why = "no call was open, or the server was behind"
        passed = f", {self.passed_count} of them never given out ({why})"
        parts = [
            f"{self.late_count} {of_all} answered after the next one was given out",
            f"{self.missing_count} {of_all} without an answer"
            + (passed if self.passed_count else ""),
            f"{counted(self.outside_count, 'frame')} of the submission sent outside the clock",
        ]
        counts = (self.late_count, self.missing_count, self.outside_count)
        return "; ".join(part for part, count in zip(parts, counts, strict=True) if count)


def online_of(
    reader: Reader, name: SubmissionName, definition: Definition, stored_count: int
) -> OnlineRecord | None:
    """The record of a submission; None if its benchmark has no clock.

    Args:
        reader: A state of the store.
        name: The submission.
        definition: Its benchmark.
        stored_count: Frames that the submission has.
    """
    clock = reader.live_clock(*name)
    if clock is not None:
        return online_record(
            timeline_from_json(clock.schedule), clock, reader.live_frames(*name), stored_count
        )
    if definition.live is None:
        return None
    timeline = timeline_of(definition.live, definition.specification.sequences)
    return online_record(timeline, None, (), stored_count)


def online_record(
    timeline: Timeline,
    clock: LiveClockRecord | None,
    frames: Sequence[LiveFrameRecord],
    stored_count: int,
) -> OnlineRecord:
    """How a submission answered by the clock.

    Args:
        timeline: The frames of the clock and their times.
        clock: The clock; None if it has not started.
        frames: The frames given out, in order.
        stored_count: Frames that the submission has.

    Raises:
        StoreDamagedError: If a frame is not on the clock.
    """
    if frames and not 0 <= frames[0].position <= frames[-1].position < len(timeline):
        raise StoreDamagedError(
            "a frame was given out that the clock of its submission does not have"
        )
    end_event = None if clock is None else clock.end_event
    following = [*(frame.given_event for frame in frames[1:]), end_event]
    in_time = late = 0
    latencies_s: list[float] = []
    for frame, next_event in zip(frames, following, strict=True) if frames else ():
        if frame.answer_event is None or frame.answer_time is None:
            continue
        latencies_s.append((frame.answer_time - frame.given_time).total_seconds())
        if next_event is None or frame.answer_event < next_event:
            in_time += 1
        else:
            late += 1
    delays_s = [] if clock is None else [_delay_s(timeline, clock, frame) for frame in frames]
    return OnlineRecord(
        frames=timeline.source,
        frame_count=len(timeline),
        in_time_count=in_time,
        late_count=late,
        missing_count=len(timeline) - in_time - late,
        passed_count=len(timeline) - len(frames),
        outside_count=stored_count - in_time - late,
        latencies_s=percentiles(latencies_s),
        delay_worst_s=max(delays_s, default=None),
    )


def percentiles(values: Sequence[float]) -> tuple[float, ...]:
    """The least value that each of `PERCENTS` per cent do not exceed; empty without values."""
    ordered = sorted(values)
    return tuple(ordered[-(-len(ordered) * percent // 100) - 1] for percent in PERCENTS if ordered)


def _delay_s(timeline: Timeline, clock: LiveClockRecord, frame: LiveFrameRecord) -> float:
    due = clock.start_time + timedelta(microseconds=timeline.due_at(frame.position))
    return (frame.given_time - due).total_seconds()


# --- Times of the frames and answers of a live submission
#
# Streaming accuracy needs both on one clock: the submission's own, in seconds from its start. A
# frame is captured when it is due by the clock, and an answer arrives when it is stored. Frames
# that are not answers never arrived, and are left out.


class AnswerTimes(Struct, frozen=True, eq=False):
    """The times of a submission's clock.

    Attributes:
        timeline: The frames of the clock and their times.
        arrivals_s: (F,) by position, time in seconds at which a frame's answer was stored; NaN
            without one.
    """

    timeline: Timeline
    arrivals_s: FloatArray

    def on(self, truth: Annotations, detections: Annotations) -> tuple[Annotations, Annotations]:
        """Both sides with these times; detections that are not answers are left out.

        A frame of the truth that is not on the clock gets no time.

        Args:
            truth: Truth.
            detections: Detections of the submission.
        """
        captures_s = np.append(self.timeline.due_us / MICROSECONDS, np.nan)
        arrivals_s = np.append(self.arrivals_s, np.nan)
        of_truth, of_detections = self._positions(truth), self._positions(detections)
        answered = np.flatnonzero(~np.isnan(arrivals_s[of_detections]))
        positions = of_detections[answered]
        return (
            replace(truth, frame_times_s=captures_s[of_truth], frame_arrivals_s=None),
            replace(
                detections.take_frames(answered),
                frame_times_s=captures_s[positions],
                frame_arrivals_s=arrivals_s[positions],
            ),
        )

    def _positions(self, side: Annotations) -> IntArray:
        """(F,) position of each frame of a side on the clock; -1, the last entry, for none."""
        line = self.timeline
        rows = {key: row for row, key in enumerate(line.keys)}
        row = np.array([rows.get(key, -1) for key in side.sequences], dtype=np.int64)
        row = row[side.frame_sequences]
        within = side.frame_numbers - np.array(line.first_frames, dtype=np.int64)[row]
        counts = np.diff(np.append(line.starts, len(line)))
        known = (row >= 0) & (within >= 0) & (within < counts[row])
        return np.where(known, line.starts[row] + within, -1)


def answer_times(reader: Reader, name: SubmissionName) -> AnswerTimes | None:
    """The times of a submission's clock; None if it has none.

    Args:
        reader: A state of the store.
        name: The submission.
    """
    clock = reader.live_clock(*name)
    if clock is None:
        return None
    timeline = timeline_from_json(clock.schedule)
    arrivals_s = np.full(len(timeline), np.nan)
    for frame in reader.live_frames(*name):
        if frame.answer_time is not None:
            arrivals_s[frame.position] = (frame.answer_time - clock.start_time).total_seconds()
    return AnswerTimes(timeline, arrivals_s)
