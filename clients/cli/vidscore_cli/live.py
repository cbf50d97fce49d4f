"""Replay files at a frame rate, and show scores while they change."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Self, TextIO

from msgspec import Struct

from vidscore_cli.output import drawing_console

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.live import Live

    from vidscore_evaluators.annotations import Annotations
    from vidscore_evaluators.arrays import IntArray
    from vidscore_evaluators.report import Report


FULL_SPEED_FRAMES = 512
"""Frames per step if no rate is given."""

STEPS_PER_SECOND = 100.0
"""Maximum steps per second; at a higher frame rate a step has several frames."""


class Step(Struct, frozen=True):
    """Some frames of both sides, and the number of frames sent so far."""

    truth: Annotations
    detections: Annotations
    frames_sent: int


LINE_INTERVAL_S = 1.0
"""Minimum time between two lines if there is no terminal."""


def steps_at(
    rate_fps: float | None,
    truth: Annotations,
    detections: Annotations,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[Step]:
    """Every frame of both sides, video after video in order of time, each when it is due.

    A frame that only one side has counts, too. A replay that falls behind catches up.

    Args:
        rate_fps: Frames per second; None for as fast as possible.
        truth: Truth.
        detections: Detections.
        clock: Monotonic clock, in seconds.
        sleep: Waits for some seconds.
    """
    truth_rows, detection_rows = _in_order(truth, detections)
    size = FULL_SPEED_FRAMES if rate_fps is None else max(1, round(rate_fps / STEPS_PER_SECOND))
    began_s = clock()
    for start in range(0, len(truth_rows), size):
        if rate_fps is not None:
            wait_s = began_s + start / rate_fps - clock()
            if wait_s > 0:
                sleep(wait_s)
        end = min(start + size, len(truth_rows))
        yield Step(
            truth=_part(truth, truth_rows[start:end]),
            detections=_part(detections, detection_rows[start:end]),
            frames_sent=end,
        )


def frame_total(truth: Annotations, detections: Annotations) -> int:
    """Number of frames that one side or both have."""
    from vidscore_evaluators.annotations import frame_keys

    return len({*frame_keys(truth), *frame_keys(detections)})


def _in_order(truth: Annotations, detections: Annotations) -> tuple[IntArray, IntArray]:
    """Row of each frame on both sides; -1 if a side lacks it."""
    import numpy as np

    from vidscore_evaluators.annotations import frame_keys

    truth_keys, detection_keys = frame_keys(truth), frame_keys(detections)
    sequences = dict.fromkeys([*truth.sequences, *detections.sequences])
    rank = {sequence: index for index, sequence in enumerate(sequences)}
    keys = sorted({*truth_keys, *detection_keys}, key=lambda key: (rank[key[0]], key[1]))
    sides = []
    for side_keys in (truth_keys, detection_keys):
        row = {key: index for index, key in enumerate(side_keys)}
        sides.append(np.array([row.get(key, -1) for key in keys], dtype=np.int64))
    return sides[0], sides[1]


def _part(side: Annotations, rows: IntArray) -> Annotations:
    return side.take_frames(rows[rows >= 0])


def ranking_scores(reports: Sequence[Report], ranking: Mapping[str, Sequence[str]]) -> list[str]:
    """The scores over everything by which systems are ranked, as far as they are shown.

    Args:
        reports: The reports.
        ranking: For each evaluator, the measures by which systems are ranked.
    """
    from vidscore_evaluators.report import overall_scores
    from vidscore_evaluators.report_grids import format_number

    return [
        f"{report.evaluator} {measure} {format_number(value)}"
        for report in reports
        for measure, value in overall_scores(report).items()
        if measure in ranking.get(report.evaluator, ())
    ]


class RunningScores:
    """Scores so far as a picture and as a line; written by one thread and read by another.

    Args:
        ranking: For each evaluator, the measures by which systems are ranked.
        frames: Number of frames so far, in words.
    """

    def __init__(self, ranking: Mapping[str, Sequence[str]], frames: str) -> None:
        self._ranking = ranking
        self._frames = frames
        self._reports: Sequence[Report] = ()

    def show(self, frames: str, reports: Sequence[Report]) -> None:
        """Store the newest reports, and the frames that they cover."""
        self._frames, self._reports = frames, reports

    def draw(self) -> RenderableType:
        """Frames, and the scores over everything so far."""
        from rich.console import Group
        from rich.text import Text

        from vidscore_cli.report_table import GridView
        from vidscore_evaluators.report_grids import overall_grid

        if not self._reports:
            return Text(self._frames)
        return Group(Text(self._frames), GridView(overall_grid(self._reports)))

    def line(self) -> str:
        """The same in one line: frames, and the scores by which systems are ranked."""
        return ", ".join([self._frames, *ranking_scores(self._reports, self._ranking)])


class LiveDisplay:
    """Shows what a function draws, as often as something changes.

    Args:
        stream: The stream for the output.
        draw: Draws the present state on a terminal.
        line: Returns the same as one line, for other outputs.
        keep: Whether the last picture stays on the terminal.
        clock: Monotonic clock, in seconds.
    """

    def __init__(
        self,
        stream: TextIO,
        draw: Callable[[], RenderableType],
        line: Callable[[], str],
        *,
        keep: bool = False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich.live import Live

        self._stream = stream
        self._line = line
        self._clock = clock
        self._lock = threading.Lock()
        self._next_line_s = 0.0
        self._live: Live | None = None
        console = drawing_console(stream)
        if console is not None:
            self._live = Live(
                get_renderable=draw,
                console=console,
                refresh_per_second=8,
                transient=not keep,
                redirect_stdout=False,
                redirect_stderr=False,
            )

    def changed(self) -> None:
        """Report a change; may be called from any thread."""
        if self._live is not None:
            return  # it draws itself, some times a second
        with self._lock:
            now_s = self._clock()
            if now_s >= self._next_line_s:
                self._next_line_s = now_s + LINE_INTERVAL_S
                self._stream.write(self._line() + "\n")
                self._stream.flush()

    def __enter__(self) -> Self:
        """Begin to draw."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop drawing."""
        if self._live is not None:
            self._live.stop()
