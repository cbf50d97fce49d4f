"""One source of a bridge: its messages become durable frames, and are then acknowledged."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import NoneType
from typing import TYPE_CHECKING, NamedTuple

import click
import numpy as np
from msgspec.structs import replace

from vidscore_cli.bridge.sources import Message, Offset, Source
from vidscore_cli.output import say
from vidscore_cli.remote import to_frames
from vidscore_cli.session import ExitCode
from vidscore_evaluators.annotations import Annotations, concatenate, empty_annotations
from vidscore_evaluators.arrays import IntArray, starts_from_counts
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.feeds import Schema
from vidscore_evaluators.feeds.blocks import FeedBlock, numbers_by_sequence, read_block
from vidscore_evaluators.feeds.delivered import DeliveredFrames
from vidscore_evaluators.feeds.doubts import FeedWatch, refused
from vidscore_evaluators.feeds.mapping import FrameMap

if TYPE_CHECKING:
    from vidscore_client import SubmissionStream

WATCHED_FRAMES = 100
"""Number of frames, or fewer at a pause, after which a feed is first judged and sent."""

BATCH_FRAMES = 256
BATCH_OBJECTS = 8192
"""Maximum frames and objects of a batch. A batch is one message, hence one commit, which also
stores the position of the source."""

PAUSE_S = 0.5
"""Maximum wait for a source between two checks whether to stop."""


class DoubtfulFeedError(click.ClickException):
    """The feed lacks something that scoring needs, and nobody has accepted this."""

    exit_code = ExitCode.INPUT


class _Taken(NamedTuple):
    """Messages that were read.

    Attributes:
        messages: The messages.
        frames: Their frames that are new.
        ends: (M + 1,) number of frames before each message, then of all.
    """

    messages: Sequence[Message]
    frames: Annotations
    ends: IntArray


@dataclass
class SourceRun:
    """Reads a source until it ends or the bridge stops.

    Attributes:
        name: Name of the source.
        source: The source.
        schema: Reads its messages.
        frames: Gives sequences and numbers of its frames.
        accept: Doubts that are accepted.
        skip: Whether unreadable messages are left out; otherwise the first one ends the run.
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
        self._watch = FeedWatch(self.frames.rate_hz is not None, self.frames.size_px)
        self._taken = DeliveredFrames()
        self._sent = DeliveredFrames()

    # --- from the source ---------------------------------------------------------------------

    def run(self, stream: SubmissionStream, stopping: Callable[[], bool]) -> bool:
        """Send frames until the source ends.

        Args:
            stream: Receives the frames.
            stopping: Whether the bridge has to stop.

        Returns:
            Whether the source has ended.

        Raises:
            InputError: If a message cannot be read; the frames before it are sent.
            DoubtfulFeedError: If the feed lacks something that scoring needs.
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
        """Continue at the end of the durable frames.

        Raises:
            InputError: If the stream was not written by a bridge from such a source.
        """
        self.sent_offset = self.acknowledged = stream.next_offset
        counted = 0
        if stream.source_position:
            try:
                position = json.loads(stream.source_position)
                self._offset, counted = position["offset"], int(position["count"])
                self._taken = DeliveredFrames(position["frames"])
                self._sent = DeliveredFrames(position["frames"])
            except (ValueError, TypeError, KeyError):
                raise self._written_by_another(stream) from None
            if not isinstance(self._offset, (self.source.offset_type, NoneType)):
                raise self._written_by_another(stream)
        # A message that was too large for one commit may be stored only in part.
        self._stored_behind = stream.next_offset - counted

    def _written_by_another(self, stream: SubmissionStream) -> InputError:
        found = f"frames with the source position {stream.source_position[:80]}"
        expected = "frames that a bridge has read from such a source"
        advice = "give the source another name, or use another submission"
        return InputError([Fault(found, expected, source=self.name, advice=advice)])

    def _read(self, stream: SubmissionStream, stopping: Callable[[], bool]) -> bool:
        while not stopping():
            try:
                messages = self.source.read(PAUSE_S)
                if messages is None:
                    return True
                for part, block in self._blocks(messages):
                    self._take(part, block)
            except InputError:
                self._end(stream)
                raise
            if self._judged:
                self._release(stream)
            elif not messages or self._held_count >= WATCHED_FRAMES:
                self._judge()
                self._release(stream)
        return False

    def _end(self, stream: SubmissionStream) -> None:
        """Make all read frames durable, and report doubts about all of them."""
        if not self._judged:
            self._judge()
        self._release(stream)
        stream.flush()
        self._judge()

    def _blocks(self, messages: Sequence[Message]) -> Iterator[tuple[Sequence[Message], FeedBlock]]:
        """The frames of messages, all at once; one by one if any has a fault.

        Raises:
            InputError: If one cannot be read, and is not left out; those before it were yielded.
        """
        try:
            whole = [(messages, self._read_block(messages))] if messages else []
        except InputError:
            yield from self._one_by_one(messages)
        else:
            yield from whole

    def _one_by_one(
        self, messages: Sequence[Message]
    ) -> Iterator[tuple[Sequence[Message], FeedBlock]]:
        for message in messages:
            try:
                block = self._read_block([message])
            except InputError as error:
                faults = [self._placed(one, message) for one in error.faults]
                if not self.skip:
                    raise InputError(faults) from None
                self.skipped += 1
                if message.fault is not None:
                    self._say_fault(faults[0])
                block = FeedBlock(empty_annotations(self.arity), np.zeros(0, dtype=np.int64))
            yield [message], block

    def _say_fault(self, fault: Fault) -> None:
        """Report the first time that a stream is left out from a fault on; there may be many."""
        if "stream" not in self._told:
            self._told.add("stream")
            say(f"Warning: {fault}; the rest of this stream is left out", err=True)

    def _read_block(self, messages: Sequence[Message]) -> FeedBlock:
        for message in messages:
            if message.fault is not None:
                raise message.fault
        pairs = [(message.data, message.topic) for message in messages]
        return read_block(self.schema, self.frames, pairs, self.arity)

    def _take(self, messages: Sequence[Message], block: FeedBlock) -> None:
        """Hold the new frames of messages."""
        new = np.ones(block.frames.frame_count, dtype=np.bool_)
        for key, rows, numbers in numbers_by_sequence(block.frames):
            new[rows] = self._taken.add_all(*key, numbers)
        self.repeated += len(new) - int(new.sum())
        block = block.take(new)
        self._watch.add(block)
        if self._stored_behind:
            stored = np.arange(block.frames.frame_count) < self._stored_behind
            self._stored_behind -= int(stored.sum())
            self._note_sent(block.take(stored).frames)
            block = block.take(~stored)
        ends = np.searchsorted(block.messages, np.arange(len(messages) + 1))
        self._held.append(_Taken(messages, block.frames, ends))

    @property
    def _held_count(self) -> int:
        """Number of waiting frames, or of messages if there are more: some have no new frame."""
        return sum(max(len(taken.messages), taken.frames.frame_count) for taken in self._held)

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
        """Report doubts about the feed so far.

        Raises:
            DoubtfulFeedError: If a doubt may make scores wrong, and was not accepted.
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
            lines.append(f"a score of this feed may be wrong; {options} accepts it as it is")
            raise DoubtfulFeedError("\n".join(lines))
        self._judged = bool(self._watch.frames)

    def _release(self, stream: SubmissionStream) -> None:
        """Send held frames, in batches that end with a message, so that each has a position."""
        held, self._held = self._held, []
        if not held:
            return
        messages = list(chain.from_iterable(taken.messages for taken in held))
        frames = concatenate([taken.frames for taken in held])
        counts = np.concatenate([np.diff(taken.ends) for taken in held])
        ends = starts_from_counts(counts)
        objects = frames.frame_starts[ends]
        first = 0
        while first < len(messages):
            # As many messages as fit into a batch, and at least one.
            last = min(
                int(np.searchsorted(ends, ends[first] + BATCH_FRAMES, side="right")),
                int(np.searchsorted(objects, objects[first] + BATCH_OBJECTS, side="right")),
            )
            last = max(last - 1, first + 1)
            rows = np.arange(ends[first], ends[last])
            part = frames if len(rows) == frames.frame_count else frames.take_frames(rows)
            self._send_batch(stream, part, messages[first:last])
            first = last

    def _send_batch(
        self, stream: SubmissionStream, frames: Annotations, messages: Sequence[Message]
    ) -> None:
        if messages[-1].offset is not None:
            self._offset = messages[-1].offset
        with self._lock:
            self.sent_offset += frames.frame_count
            self._unacknowledged.extend((self.sent_offset, message) for message in messages)
        self._note_sent(frames)
        if frames.frame_count:
            known = np.where(np.isnan(frames.confidences), 1.0, frames.confidences)
            batch = to_frames(replace(frames, confidences=known))
            stream.send_batch(batch, source_position=self._position())
        self.on_acknowledged(self.acknowledged)

    def _note_sent(self, frames: Annotations) -> None:
        for key, _, numbers in numbers_by_sequence(frames):
            self._sent.add_all(*key, numbers)

    def _position(self) -> str:
        """The position that is stored with the last sent frames.

        It has the offset and the numbers of the stored frames: a broker without offsets sends
        frames again, and one with offsets may have them twice.
        """
        runs = self._sent.runs
        position = {"offset": self._offset, "count": self.sent_offset, "frames": runs}
        return json.dumps(position, separators=(",", ":"))

    def on_acknowledged(self, count: int) -> None:
        """Acknowledge the messages whose frames are all before this offset, and so durable."""
        with self._lock:
            self.acknowledged = max(self.acknowledged, count)
            durable: list[Message] = []
            while self._unacknowledged and self._unacknowledged[0][0] <= self.acknowledged:
                durable.append(self._unacknowledged.popleft()[1])
            if durable:
                self.source.acknowledge(durable)
