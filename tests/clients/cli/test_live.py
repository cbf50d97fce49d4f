"""Live scores: the steps in which both sides are sent, and how changing scores are shown."""

from __future__ import annotations

import io
import os
import pty

import pytest
from rich.text import Text
from tests.clients.cli.terminal import read_until

from vidscore_cli.live import FULL_SPEED_FRAMES, LiveDisplay, Step, frame_total, steps_at
from vidscore_evaluators.annotations import Annotations, concatenate, frame_keys
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.testing.examples import make_annotations

# --- Two sides are divided into steps, which are sent when they are due


TRUTH = make_annotations(
    {("", "b"): {1: [(1, 1)], 0: [(2, 2), (3, 3)]}, ("", "a"): {5: [], 2: [(4, 4)]}}
)
DETECTIONS = make_annotations({("", "a"): {2: [(1, 1)], 3: [(9, 9)]}, ("", "c"): {0: [(5, 5)]}})


class FakeTime:
    """A clock that advances by sleeping, and by `work_s` at each reading."""

    def __init__(self, work_s: float = 0.0) -> None:
        self.now_s = 100.0
        self.work_s = work_s
        self.slept: list[float] = []

    def clock(self) -> float:
        self.now_s += self.work_s
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now_s += seconds


def steps(rate_fps: float | None, time: FakeTime | None = None) -> list[Step]:
    chosen = time or FakeTime()
    return list(steps_at(rate_fps, TRUTH, DETECTIONS, clock=chosen.clock, sleep=chosen.sleep))


def numbers(side: Annotations) -> list[tuple[str, int]]:
    return [(key.sequence, number) for key, number in frame_keys(side)]


def test_frames_are_sent_video_by_video_in_order_of_time() -> None:
    assert [numbers(step.truth) for step in steps(10)] == [
        [("b", 0)], [("b", 1)], [("a", 2)], [], [("a", 5)], [],
    ]  # fmt: skip
    assert [numbers(step.detections) for step in steps(10)] == [
        [], [], [("a", 2)], [("a", 3)], [], [("c", 0)],
    ]  # fmt: skip


def test_all_steps_together_are_all_data() -> None:
    for rate_fps in (None, 10.0, 250.0):
        parts = steps(rate_fps)
        truth = concatenate([step.truth for step in parts])
        detections = concatenate([step.detections for step in parts])
        assert fingerprint(truth) == fingerprint(TRUTH)
        assert fingerprint(detections) == fingerprint(DETECTIONS)
        assert parts[-1].frames_sent == frame_total(TRUTH, DETECTIONS) == 6


def test_each_frame_waits_until_it_is_due() -> None:
    time = FakeTime()
    steps(10, time)
    assert time.slept == [0.1] * 5


def test_a_late_sender_catches_up_without_waiting() -> None:
    time = FakeTime(work_s=0.5)
    steps(10, time)
    assert time.slept == []


def test_at_full_speed_nothing_waits_and_steps_are_large() -> None:
    time = FakeTime()
    assert [step.frames_sent for step in steps(None, time)] == [6]
    assert time.slept == []
    assert FULL_SPEED_FRAMES > 100


def test_at_a_high_rate_a_step_has_several_frames() -> None:
    assert [step.frames_sent for step in steps(400)] == [4, 6]


# --- Changing scores: redrawn on a terminal, occasional lines elsewhere


def test_without_a_terminal_there_is_a_line_at_once_and_the_next_only_after_the_interval() -> None:
    stream = io.StringIO()
    times_s = iter([50.0, 50.2, 50.9, 51.1, 51.2])
    display = LiveDisplay(
        stream, lambda: Text("picture"), lambda: "line", clock=lambda: next(times_s)
    )
    with display:
        for _ in range(5):
            display.changed()
    assert stream.getvalue() == "line\nline\n"


def test_on_a_terminal_the_picture_is_drawn_and_stays_if_it_is_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        display = LiveDisplay(terminal, lambda: Text("picture"), lambda: "line", keep=True)
        with display:
            display.changed()
        assert "picture" in read_until(master, "picture")
    os.close(master)


def test_on_a_terminal_that_cannot_draw_there_are_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        with LiveDisplay(terminal, lambda: Text("picture"), lambda: "line") as display:
            display.changed()
        terminal.write("end")
        terminal.flush()
        assert read_until(master, "end") == "line\r\nend"
    os.close(master)
