"""When the frames of a live submission were now, and when their answers were there.

Streaming accuracy needs both on one clock: the submission's own, in seconds from its start. A frame
is captured when it is due by the clock, and an answer has arrived when it was stored. Frames that
came in another way than as answers have never arrived, and are left out.
"""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_server.domain.live_clock import MICROSECONDS, Timeline, timeline_from_json
from vidscore_server.domain.names import SubmissionName
from vidscore_server.store import Reader


class AnswerTimes(Struct, frozen=True, eq=False):
    """The times of a submission's clock.

    Attributes:
        timeline: What the clock has gone by.
        arrivals_s: (F,) by position, when the answer to a frame was stored; NaN without one.
    """

    timeline: Timeline
    arrivals_s: FloatArray

    def on(self, truth: Annotations, detections: Annotations) -> tuple[Annotations, Annotations]:
        """Both sides with these times; what is no answer is left out.

        A frame of the truth that the clock does not have gets no time.

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
        """(F,) position of each frame of a side on the clock; -1, the last place, for none."""
        line = self.timeline
        rows = {key: row for row, key in enumerate(line.keys)}
        row = np.array([rows.get(key, -1) for key in side.sequences], dtype=np.int64)
        row = row[side.frame_sequences]
        within = side.frame_numbers - np.array(line.first_frames, dtype=np.int64)[row]
        counts = np.diff(np.append(line.starts, len(line)))
        known = (row >= 0) & (within >= 0) & (within < counts[row])
        return np.where(known, line.starts[row] + within, -1)


def answer_times(reader: Reader, name: SubmissionName) -> AnswerTimes | None:
    """The times of a submission's clock; None where it has none.

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
