"""Frames of a live clock for a program, and the program's answers: the state between them."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.lines import FrameInput
from vidscore_cli.live import LiveDisplay
from vidscore_cli.program import Program
from vidscore_cli.remote import to_frames
from vidscore_cli.session import ExitCode
from vidscore_evaluators.annotations import SequenceKey, frame_name
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from rich.console import RenderableType

    from vidscore_client import LiveFrame, LiveOutcome, StoredAnswer
    from vidscore_evaluators.formats.json_lines import LineBlock


class ProgramError(click.ClickException):
    """The program does not answer the clock any more."""

    exit_code = ExitCode.INPUT


class OutputClosedError(Exception):
    """The program has closed its output, or has ended, while the clock runs."""


class Exchange:
    """Frames that go to a program, and its answers.

    Args:
        lines: Reads the answers.
        frame_count: Number of frames of the clock.
        in_flight: Maximum number of frames that the program has not answered.
        silence_timeout_s: Maximum time without an answer, or without the first line.
        progress: Whether to show progress.

    Attributes:
        lines: Reads the answers.
    """

    def __init__(
        self,
        lines: FrameInput,
        frame_count: int,
        *,
        in_flight: int,
        silence_timeout_s: float,
        progress: bool,
    ) -> None:
        self.lines = lines
        self._display = LiveDisplay(sys.stderr, self._draw, self._progress) if progress else None
        self._frame_count, self._in_flight = frame_count, in_flight
        self._silence_timeout_s = silence_timeout_s
        self._owed: dict[tuple[SequenceKey, int], LiveFrame] = {}
        self._last_told: LiveFrame | None = None
        self._in_time = self._late = 0

    def begin(self, program: Program) -> None:
        """Talk to this program from now on; call it once, in the event loop."""
        self._program = program
        self._ready, self._answered = asyncio.Event(), asyncio.Event()

    @property
    def has_begun(self) -> bool:
        """Whether the program was told of a frame."""
        return self._last_told is not None

    def shown(self) -> AbstractContextManager[object]:
        """Show progress within the block."""
        return self._display or nullcontext()

    async def until_ready(self, reading: asyncio.Task[None]) -> None:
        """Wait for the first line of the program, which may be empty.

        Args:
            reading: The task that reads the answers.

        Raises:
            ProgramError: If none comes in time.
        """
        await self._while_reading(reading, self._ready_in_time())

    async def while_answered(
        self, reading: asyncio.Task[None], answering: Coroutine[Any, Any, LiveOutcome]
    ) -> LiveOutcome:
        """Wait for the end of the clock.

        Args:
            reading: The task that reads the answers.
            answering: Passes frames to `on_frame` until the clock ends.

        Raises:
            BadLineError: If an answer breaks a rule.
            OutputClosedError: If the program ends before it has answered the last frame.
            ProgramError: If it is silent.
        """
        outcome: LiveOutcome = await self._while_reading(reading, answering)
        return outcome

    async def on_frame(self, frame: LiveFrame) -> None:
        """Tell the program the current frame; return when it may get the next one.

        Raises:
            ProgramError: If it is silent.
        """
        key = SequenceKey(frame.domain, frame.sequence), frame.frame
        known, self._owed[key] = key in self._owed, frame
        if not known:
            self._program.tell(_frame_line(frame))
            self._last_told = frame
            self._changed()
        left = 0 if frame.position == self._frame_count - 1 else self._in_flight - 1
        if await self._down_to(left, frame.remaining_s):
            return
        self._program.tell({"time_s": frame.due_s + frame.remaining_s})
        if not await self._down_to(left, self._silence_timeout_s):
            raise self._silent("has not answered")

    def on_stored(self, stored: StoredAnswer) -> None:
        """Note that an answer is durable."""
        self._in_time += stored.in_time
        self._late += not stored.in_time
        self._changed()

    async def read_answers(self) -> None:
        """Pass on the program's answers until it closes its output.

        Raises:
            BadLineError: If a line breaks a rule, and ends the run.
        """
        while True:
            data = await self._program.read()
            if b"\n" in data:
                self._ready.set()
            for block in self.lines.feed(data):
                for row in range(block.frames.frame_count):
                    self._answer(block, row)
            if not data:
                return

    def _answer(self, block: LineBlock, row: int) -> None:
        frames = block.frames
        key = frames.sequences[frames.frame_sequences[row]]
        number = int(frames.frame_numbers[row])
        asked = self._owed.get((key, number))
        if asked is None:
            found = f"an answer to {frame_name(key, number)}"
            expected = "one to a frame that the clock has told, and no second one"
            self.lines.refuse([Fault(found, expected, line=int(block.lines[row]), field="frame")])
            return
        answer = frames.frame_run(row, row + 1)
        del self._owed[key, number]
        asked.answer(
            answer.coordinates,
            labels=[answer.labels[label] for label in answer.label_indices.tolist()],
            confidences=answer.confidences,
            track_ids=answer.track_ids,
            masks=to_frames(answer).masks,
            columns=answer.columns,
        )
        self._answered.set()

    async def _down_to(self, left: int, timeout_s: float) -> bool:
        """Wait until at most `left` answers are missing; return whether that happened in time."""
        try:
            async with asyncio.timeout(timeout_s):
                while len(self._owed) > left:
                    self._answered.clear()
                    await self._answered.wait()
        except TimeoutError:
            return len(self._owed) <= left
        return True

    async def _ready_in_time(self) -> None:
        try:
            async with asyncio.timeout(self._silence_timeout_s):
                await self._ready.wait()
        except TimeoutError:
            raise self._silent("has not said it is ready") from None

    async def _while_reading(
        self, reading: asyncio.Task[None], work: Coroutine[Any, Any, Any]
    ) -> Any:
        """The result of some work, unless the answers end first."""
        working = asyncio.ensure_future(work)
        try:
            await asyncio.wait({reading, working}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                reading.result()
                if not self._is_complete:
                    raise OutputClosedError
            return await working
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)

    @property
    def _is_complete(self) -> bool:
        """Whether the program has got the last frame of the clock, and has answered every frame."""
        last = self._last_told
        return last is not None and last.position == self._frame_count - 1 and not self._owed

    def _silent(self, what: str) -> ProgramError:
        limit = f"{self._silence_timeout_s:g} s (--silence-timeout)"
        owed = [frame_name(*key) for key in list(self._owed)[:1]]
        return ProgramError(" ".join(["the program", what, *owed, "for", limit]))

    def _changed(self) -> None:
        if self._display is not None:
            self._display.changed()

    def _progress(self) -> str:
        frame = self._last_told
        if frame is None:
            return f"0 of {counted(self._frame_count, 'frame')}"
        name = frame_name(SequenceKey(frame.domain, frame.sequence), frame.frame)
        counts = f"{counted(self._in_time, 'answer')} in time, {self._late} late"
        return f"frame {frame.position + 1} of {self._frame_count} ({name}): {counts}"

    def _draw(self) -> RenderableType:
        from rich.text import Text

        return Text(self._progress())


def _frame_line(frame: LiveFrame) -> dict[str, object]:
    line: dict[str, object] = {"domain": frame.domain} if frame.domain else {}
    return {**line, "sequence": frame.sequence, "frame": frame.frame, "time_s": frame.due_s}
