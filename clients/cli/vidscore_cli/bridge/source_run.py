"""One source of a bridge: from its messages to frames that are durable, and back to the source."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vidscore_cli.bridge.sources import Message, Offset, Source
from vidscore_cli.output import say
from vidscore_cli.remote import to_frames
from vidscore_cli.session import ExitCode
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds import FeedFrame, Schema
from vidscore_evaluators.feeds.delivered import DeliveredFrames
from vidscore_evaluators.feeds.doubts import FeedWatch, refused
from vidscore_evaluators.feeds.mapping import FrameMap
from vidscore_evaluators.formats._line_columns import columns_of_lines
from vidscore_evaluators.formats._line_rules import SHAPE_NAMES, line_problems

if TYPE_CHECKING:
    from vidscore_client import SubmissionStream

WATCHED_FRAMES = 100
"""Frames that wait until it is judged whether they may be scored; or those until a pause."""

BATCH_FRAMES = 128
BATCH_OBJECTS = 8192
"""Frames and objects of a batch. It goes into one message, and so into one commit, in which the
position of the source is stored with it."""

PAUSE_S = 0.5
"""How long a source is waited for before the bridge looks whether it has to stop."""


class DoubtfulFeedError(click.ClickException):
    """The feed leaves out what scoring needs, and nobody has accepted it."""

    exit_code = ExitCode.INPUT


class _Taken(NamedTuple):
    """A frame on its way, and the message that it came with where it is the last one of it."""

    line: dict[str, Any] | None
    message: Message | None


@dataclass
class SourceRun:
    """Reads a source until it ends or the bridge stops.

    Attributes:
        name: Name of the source.
        source: The source.
        schema: How its messages are read.
        frames: How its frames are named.
        accept: Doubts that are accepted.
        skip: Whether messages that cannot be read are left out; else the first ends the run.
        arity: Coordinates of the benchmark's detections.
    """

    name: str
    source: Source
    schema: Schema
    frames: FrameMap
    accept: Sequence[str]
    skip: bool
    arity: int
    skipped: int = 0
    repeated: int = 0
    sent_offset: int = 0
    acknowledged: int = 0
    _held: list[_Taken] = field(default_factory=list)
    _judged: bool = False
    _told: set[str] = field(default_factory=set)
    _offset: Offset | None = None
    _stored_behind: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _unacknowledged: deque[tuple[int, Message]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        """Begin to watch the feed."""
        self._shape = SHAPE_NAMES[self.arity]
        self._watch = FeedWatch(self.frames.rate_hz is not None, self.frames.size_px)
        self._taken = DeliveredFrames()
        self._sent = DeliveredFrames()

    # --- from the source ---------------------------------------------------------------------

    def run(self, stream: SubmissionStream, stopping: Callable[[], bool]) -> bool:
        """Send frames until the source ends.

        Args:
            stream: Where the frames go.
            stopping: Whether the bridge has to stop.

        Returns:
            Whether the source has ended, so that nothing more will come.

        Raises:
            InputError: If a message cannot be read; what came before it is sent.
            DoubtfulFeedError: If the feed leaves out what scoring needs.
        """
        self._restore(stream)
        self.source.open(self._offset)
        try:
            ended = self._read(stream, stopping)
            self._end(stream)
        finally:
            self.source.close()
        return ended

    def _restore(self, stream: SubmissionStream) -> None:
        self.sent_offset = self.acknowledged = stream.next_offset
        counted = 0
        if stream.source_position:
            position = json.loads(stream.source_position)
            self._offset, counted = position["offset"], position["count"]
            self._taken = DeliveredFrames(position["frames"])
            self._sent = DeliveredFrames(position["frames"])
        # Frames of a message that was too large for one commit, and was not stored to its end.
        self._stored_behind = stream.next_offset - counted

    def _read(self, stream: SubmissionStream, stopping: Callable[[], bool]) -> bool:
        while not stopping():
            messages = self.source.read(PAUSE_S)
            if messages is None:
                return True
            try:
                for message in messages:
                    self._held.extend(self._frames_of(message))
            except InputError:
                self._end(stream)
                raise
            if self._judged:
                self._release(stream)
            elif not messages or len(self._held) >= WATCHED_FRAMES:
                self._judge()
                self._release(stream)
        return False

    def _end(self, stream: SubmissionStream) -> None:
        """Make everything durable that was read, and say what is doubtful about all of it."""
        if not self._judged:
            self._judge()
        self._release(stream)
        stream.flush()
        self._judge()

    def _frames_of(self, message: Message) -> list[_Taken]:
        """The frames of a message that are new; the last one carries the message."""
        try:
            pairs = [
                (frame, self._checked(frame, message)) for frame in self.schema.read(message.data)
            ]
        except InputError as error:
            if not self.skip:
                raise InputError([self._placed(fault, message) for fault in error.faults]) from None
            self.skipped += 1
            pairs = []
        taken: list[_Taken] = []
        for frame, line in pairs:
            if not self._taken.add(*_key(line)):
                self.repeated += 1
                continue
            self._watch.add(frame, line)
            if self._stored_behind:
                self._stored_behind -= 1
                self._sent.add(*_key(line))
            else:
                taken.append(_Taken(line, None))
        return [*taken, _Taken(None, message)]

    def _checked(self, frame: FeedFrame, message: Message) -> dict[str, Any]:
        line = self.frames.line(frame, message.topic)
        objects = line["objects"]
        # What the schema has checked is not checked again, but for the shape of the benchmark.
        is_checked = self.schema.checks_objects and all(self._shape in one for one in objects)
        faults = [
            Fault(problem.found, problem.expected, field=problem.field, advice=problem.advice)
            for problem in line_problems(line | {"objects": []} if is_checked else line, self.arity)
        ]
        if faults:
            raise InputError(faults)
        return line

    def _placed(self, fault: Fault, message: Message) -> Fault:
        parts = (self.name, message.topic, message.place)
        return Fault(
            fault.found,
            fault.expected,
            source=", ".join(filter(None, parts)),
            line=fault.line,
            field=fault.field,
            advice=fault.advice,
        )

    # --- to the server -----------------------------------------------------------------------

    def _judge(self) -> None:
        """Say what is doubtful about the feed so far.

        Raises:
            DoubtfulFeedError: If a score may be wrong with it, and it was not accepted.
        """
        findings = self._watch.findings()
        wrong = refused(findings, self.accept)
        for doubt, text in findings:
            if doubt.value not in self._told and (doubt, text) not in wrong:
                self._told.add(doubt.value)
                say(f"Warning: {self.name}: {doubt.value}: {text}", err=True)
        if wrong:
            lines = [f"{self.name}: {doubt.value}: {text}" for doubt, text in wrong]
            options = " ".join(f"--accept {doubt.value}" for doubt, _ in wrong)
            lines.append(f"a score of this feed may be wrong; {options} takes it as it is")
            raise DoubtfulFeedError("\n".join(lines))
        self._judged = bool(self._watch.frames)

    def _release(self, stream: SubmissionStream) -> None:
        """Send what was held, in batches that end with a message, so that each has a position."""
        taken, self._held = self._held, []
        lines: list[dict[str, Any]] = []
        messages: list[Message] = []
        objects = start = 0
        for row, (_, message) in enumerate(taken):
            if message is None:
                continue
            fresh = [entry.line for entry in taken[start:row] if entry.line is not None]
            more = sum(len(line["objects"]) for line in fresh)
            is_full = len(lines) + len(fresh) > BATCH_FRAMES or objects + more > BATCH_OBJECTS
            if lines and is_full:
                self._send_batch(stream, lines, messages)
                lines, messages, objects = [], [], 0
            lines += fresh
            messages.append(message)
            objects += more
            start = row + 1
        self._send_batch(stream, lines, messages)

    def _send_batch(
        self, stream: SubmissionStream, lines: Sequence[dict[str, Any]], messages: Sequence[Message]
    ) -> None:
        if messages and messages[-1].offset is not None:
            self._offset = messages[-1].offset
        with self._lock:
            self.sent_offset += len(lines)
            self._unacknowledged.extend((self.sent_offset, message) for message in messages)
        for line in lines:
            self._sent.add(*_key(line))
        if lines:
            frames = to_frames(columns_of_lines(lines, self.arity))
            stream.send_batch(frames, source_position=self._position())
        self.on_acknowledged(self.acknowledged)

    def _position(self) -> str:
        """What is stored with the frames that were sent last.

        Where to go on, and the numbers of those that are stored: a broker without offsets sends
        frames again, and a program may have written them twice to one that has offsets.
        """
        runs = self._sent.runs
        position = {"offset": self._offset, "count": self.sent_offset, "frames": runs}
        return json.dumps(position, separators=(",", ":"))

    def on_acknowledged(self, count: int) -> None:
        """Tell the source which messages are durable, all frames before an offset being so."""
        with self._lock:
            self.acknowledged = max(self.acknowledged, count)
            durable: list[Message] = []
            while self._unacknowledged and self._unacknowledged[0][0] <= self.acknowledged:
                durable.append(self._unacknowledged.popleft()[1])
            if durable:
                self.source.acknowledge(durable)


def _key(line: dict[str, Any]) -> tuple[str, str, int]:
    return line.get("domain", ""), line["sequence"], line["frame"]
