"""Frames as JSON lines from a program: read as they arrive, refused or skipped line by line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO

import click
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_cli.output import say
from vidscore_cli.session import ExitCode
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_evaluators.formats.json_lines import LineBlock, LineReader

CHUNK_BYTES = 1 << 18
"""Maximum bytes per read; a pipe gives what is available."""

LINES_LISTED = 10
"""Maximum number of skipped lines that are listed."""


class BadLineError(click.ClickException):
    """A line, or data that follows from it, breaks a rule and ends the run."""

    exit_code = ExitCode.INPUT

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(map(line_text, faults)))


def line_text(fault: Fault) -> str:
    """``line 2: objects[0].box: found ...``; a fault of no line without it."""
    parts = ["" if fault.line is None else f"line {fault.line}", fault.field or ""]
    return ": ".join([*filter(None, parts), fault.description])


class FrameInput(Struct, eq=False):
    """Frames that come as bytes.

    Attributes:
        skip: Whether lines that break a rule are left out; otherwise the first one ends the run.
        reader: Reads the lines.
        clock: Seconds since 1970, for the arrival of each line; None if nobody needs it.
        skipped: Lines that were left out.
        listed: Faults of the first of them.
    """

    skip: bool
    reader: LineReader
    clock: Callable[[], float] | None = None
    skipped: int = 0
    listed: list[Fault] = field(default_factory=list)

    def blocks(self, stream: BinaryIO) -> Iterator[LineBlock]:
        """The frames of the lines as they come, until the stream ends.

        Args:
            stream: The stream; a read returns what is available, and waits if nothing is.

        Raises:
            BadLineError: If a line breaks a rule, and ends the run; frames before it were yielded.
        """
        while data := _read_some(stream):
            yield from self.feed(data)
        yield from self.feed(b"")

    def feed(self, data: bytes) -> Iterator[LineBlock]:
        """The frames of the lines that end in these bytes; empty bytes end the input.

        Raises:
            BadLineError: As `blocks`.
        """
        yield from self._judged(self.reader.feed(data) if data else self.reader.finish())

    def say_skipped(self) -> None:
        """Say on standard error which lines were left out, if any."""
        if self.skipped:
            say(f"Warning: {counted(self.skipped, 'line')} left out:", err=True)
            for fault in self.listed:
                say(f"  {line_text(fault)}", err=True)
            told = len({fault.line for fault in self.listed})
            if told < self.skipped:
                say(f"  ... and {counted(self.skipped - told, 'more line')}", err=True)

    def refuse(self, faults: Sequence[Fault]) -> None:
        """Skip lines with faults, or end the run.

        Raises:
            BadLineError: With the faults of the first line, if the run ends.
        """
        if not self.skip:
            line = faults[0].line
            raise BadLineError([fault for fault in faults if fault.line == line])
        self.skipped += len({fault.line for fault in faults})
        told = dict.fromkeys(fault.line for fault in (*self.listed, *faults))
        kept = set(list(told)[:LINES_LISTED])
        self.listed.extend(fault for fault in faults if fault.line in kept)

    def _judged(self, block: LineBlock) -> Iterator[LineBlock]:
        block = self._stamped(block)
        if not block.faults:
            if block.frames.frame_count:
                yield block
            return
        if not self.skip:
            line = block.faults[0].line or 0
            before = block.lines < line
            yield replace(block, frames=block.before(line), lines=block.lines[before], faults=())
        self.refuse(block.faults)
        yield replace(block, faults=())

    def _stamped(self, block: LineBlock) -> LineBlock:
        """The frames with the arrival times of their lines, if there is a clock."""
        if self.clock is None:
            return block
        import numpy as np

        own = block.frames.frame_arrivals_s
        said = np.zeros(len(block.lines), dtype=np.bool_) if own is None else ~np.isnan(own)
        faults = [
            Fault("a time", "no arrival_s, which the clock of this program tells", None, line,
                  field="arrival_s")
            for line in block.lines[said].tolist()
        ]  # fmt: skip
        stamped = replace(
            block.frames.take_frames(~said),
            frame_arrivals_s=np.full(int((~said).sum()), self.clock()),
        )
        every = sorted([*block.faults, *faults], key=lambda fault: fault.line or 0)
        return replace(block, frames=stamped, lines=block.lines[~said], faults=every)


def _read_some(stream: BinaryIO) -> bytes:
    read = getattr(stream, "read1", stream.read)
    data: bytes = read(CHUNK_BYTES)
    return data
