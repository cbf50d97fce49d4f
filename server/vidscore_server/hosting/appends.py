"""The offset protocol: where a batch may be appended, and what a batch that comes again means.

Offsets count the frames of a stream. A batch that begins at the stream's end is appended; one
that is stored as it is is acknowledged again; everything else is refused and leaves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from vidscore.v1 import annotations_pb2
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_evaluators.evaluator import Side
from vidscore_server.codec.annotations_codec import BatchRules, read_alike_batches, read_batch
from vidscore_server.codec.joined_batches import Lengths, NotAlikeError
from vidscore_server.errors import (
    ContentDiffersError,
    EpochStaleError,
    NotFoundError,
    OffsetGapError,
    OffsetStraddlesError,
    SubmissionEndedError,
)
from vidscore_server.hosting.append_rules import AppendRules
from vidscore_server.hosting.drafts import is_draft
from vidscore_server.hosting.holdings import refuse_more_bytes
from vidscore_server.hosting.known_names import NameCheck, check_names
from vidscore_server.hosting.names import StreamName
from vidscore_server.hosting.payloads import data_of, frame_numbers, pack_data
from vidscore_server.hosting.states import TAKES_FRAMES, Event, move
from vidscore_server.hosting.submission_warnings import with_warnings
from vidscore_server.hosting.texts import name_faults
from vidscore_server.settings import Settings
from vidscore_server.store.contract import FrameNumbers, Transaction
from vidscore_server.store.records import BatchRecord, StreamRecord, SubmissionRecord

FIELD = "detections"


@dataclass(frozen=True, slots=True)
class Append:
    """A checked batch on its way into a stream.

    Attributes:
        stream: The stream.
        epoch: Epoch of its writer.
        batch: The batch as it is kept.
        frames: Its frames.
        warnings: What is doubtful about it.
    """

    stream: StreamName
    epoch: int
    batch: BatchRecord
    frames: FrameNumbers
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Arrival:
    """A batch as it came.

    Attributes:
        stream: The stream.
        epoch: Epoch of its writer.
        offset: Offset of its first frame.
        message: The frames.
    """

    stream: StreamName
    epoch: int
    offset: int
    message: annotations_pb2.AnnotationBatch


Checked = Append | Exception
"""A batch that keeps the rules, or what is wrong with it."""


def read_appends(
    arrivals: Sequence[Arrival], rules: AppendRules, settings: Settings
) -> Sequence[Checked]:
    """Check batches by what the benchmark says and by its public names, never by its truth.

    What a live system sends is small, and mostly right: batches are checked as one, and where
    that finds something, half of them and half of those, so that one that is wrong costs the
    others little.

    Args:
        arrivals: The batches.
        rules: What the benchmark holds them to.
        settings: The server's limits.

    Returns:
        For each batch, itself or a `LimitError`, if it is larger than allowed, or an `InputError`
        with every fault.
    """
    try:
        if len(arrivals) == 1:
            return [_read_append(arrivals[0], rules, settings)]
        return _read_together(arrivals, rules, settings)
    except Exception as error:  # noqa: BLE001 - rules of plug-ins may fail in any way
        if len(arrivals) == 1:
            return [error]
        half = len(arrivals) // 2
        return [
            *read_appends(arrivals[:half], rules, settings),
            *read_appends(arrivals[half:], rules, settings),
        ]


def checked_batch(
    message: annotations_pb2.AnnotationBatch,
    rules: AppendRules,
    settings: Settings,
    known_faults: Sequence[Fault] = (),
) -> tuple[Annotations, tuple[str, ...]]:
    """A batch of detections that a benchmark takes, judged by all that participants may know.

    Args:
        message: The batch.
        rules: What the benchmark holds it to.
        settings: The server's limits.
        known_faults: What is wrong with it otherwise.

    Returns:
        The batch, and what is doubtful about it.

    Raises:
        LimitError: If it is larger than allowed.
        InputError: With every fault.
    """
    batch = read_batch(message, FIELD, BatchRules(rules.arity, settings))
    checked = check_batch(rules, batch, FIELD)
    faults = [
        *([] if batch.frame_count else [Fault("no frame", "at least one", source=FIELD)]),
        *known_faults,
        *checked.faults,
    ]
    if faults:
        raise InputError(faults)
    return batch, checked.warnings


def _read_append(arrival: Arrival, rules: AppendRules, settings: Settings) -> Append:
    batch, warnings = checked_batch(arrival.message, rules, settings, _offset_faults(arrival))
    [frames] = frame_numbers(batch, [batch.frame_count])
    return _append(arrival, data_of(arrival.message), frames, warnings)


def _read_together(
    arrivals: Sequence[Arrival], rules: AppendRules, settings: Settings
) -> list[Append]:
    data = [data_of(arrival.message) for arrival in arrivals]
    lengths = Lengths(arrival.message for arrival in arrivals)
    joined = read_alike_batches(data, lengths, FIELD, BatchRules(rules.arity, settings))
    if not lengths.frames.all() or any(_offset_faults(arrival) for arrival in arrivals):
        raise NotAlikeError
    checked = check_batch(rules, joined, FIELD)
    if checked.faults:
        raise NotAlikeError
    counts = lengths.frames.tolist()
    frames = frame_numbers(joined, counts)
    warnings = [checked.warnings] * len(arrivals)
    if any(text != rules.names.withheld for text in checked.warnings):  # whose is it?
        ends = np.cumsum(counts)
        warnings = [
            check_batch(rules, joined.take_frames(np.arange(end - count, end)), FIELD).warnings
            for count, end in zip(counts, ends.tolist(), strict=True)
        ]
    return list(map(_append, arrivals, data, frames, warnings))


def _append(
    arrival: Arrival, data: bytes, frames: FrameNumbers, warnings: tuple[str, ...]
) -> Append:
    payload, digest = pack_data(data)
    stream, offset = arrival.stream, arrival.offset
    record = BatchRecord(stream.stream, offset, sum(map(len, frames.values())), digest, payload)
    return Append(stream, arrival.epoch, record, frames, warnings)


def _offset_faults(arrival: Arrival) -> list[Fault]:
    if arrival.offset >= 0:
        return []
    return [Fault(str(arrival.offset), "0 or more", field="append.offset")]


def check_batch(rules: AppendRules, batch: Annotations, source: str) -> NameCheck:
    """Hold detections to everything that a participant may know of their benchmark.

    Args:
        rules: What the benchmark holds them to.
        batch: Whole frames.
        source: Where they stand, for messages.
    """
    names = check_names(rules.names, batch, source)
    faults = dict.fromkeys(
        replace(fault, source=source, field=fault.field or "frame_numbers")
        for evaluator in rules.definition.evaluators
        for fault in evaluator.input_faults(Side.DETECTIONS, batch)
    )
    controls = name_faults(batch, source)
    return NameCheck((*controls, *names.faults, *faults), names.warnings)


Outcome = int | Exception
"""A stream's next offset after a batch, or why the batch was refused."""


class FirstFramesError(Exception):
    """The first frames of a submission are to be appended, by a command that may not admit it."""


Admit = Callable[[Transaction, SubmissionRecord], None]
"""Lets a submission in with its first frames, or raises why not."""


def append_command(
    appends: Sequence[tuple[Append, str | None]],
    settings: Settings,
    now: datetime,
    admit: Admit | None = None,
) -> Callable[[Transaction], list[Outcome]]:
    """The command that appends batches of one submission, each by the offset protocol.

    It raises `AlreadyExistsError`, and appends none of them, where a frame is stored already.
    Only with `admit` does it touch anything beyond the submission.

    Args:
        appends: The batches, in order, each with the team of its caller; None for one that sees
            all.
        settings: The server's limits.
        now: The time.
        admit: Asked where these are the submission's first frames; without it the command raises
            `FirstFramesError` there, and appends none of them.
    """

    def command(transaction: Transaction) -> list[Outcome]:
        streams = dict.fromkeys(append.stream.stream for append, _ in appends)
        desk = _Desk(transaction, streams, settings, now, admit)
        outcomes = [desk.append(append, team) for append, team in appends]
        desk.close()
        return outcomes

    return command


class _Desk:
    """Takes in batches of one submission one by one, and writes them together.

    Args:
        transaction: Where.
        streams: Names of the streams that the batches are for.
        settings: The server's limits.
        now: The time.
        admit: Lets the submission in with its first frames; None where that is not allowed.
    """

    def __init__(
        self,
        transaction: Transaction,
        streams: Collection[str],
        settings: Settings,
        now: datetime,
        admit: Admit | None,
    ) -> None:
        """Take in nothing yet."""
        self._transaction = transaction
        self._streams = streams
        self._settings = settings
        self._now = now
        self._admit = admit
        self._points: tuple[SubmissionRecord, dict[str, StreamRecord]] | None = None
        self._ends: dict[StreamName, int] = {}
        self._taken: list[Append] = []
        self._taken_count = 0

    def append(self, append: Append, team: str | None) -> Outcome:
        """Take in a batch, and give the stream's next offset, or say why not."""
        try:
            submission, stream = self._point(append.stream)
            if team not in {None, submission.team}:
                raise _not_there(append.stream)
            _refuse_stale(append, submission, stream)
            end = self._ends.get(append.stream, stream.next_offset)
            if append.batch.first_offset < end:
                self.close()  # so that the store knows what came just before
                _acknowledge_again(self._transaction, append, end)
                return end
            return self._take(append, submission, end)
        except VidscoreError as error:
            return error

    def close(self) -> None:
        """Write what was taken in.

        Raises:
            AlreadyExistsError: If a frame of it is stored already.
            FirstFramesError: If these are the first frames, and nobody may admit them.
            VidscoreError: If the submission is not admitted, or its team holds too much.
        """
        if not self._taken:
            return
        name = self._taken[0].stream.of_submission
        submission, _ = self._point(self._taken[0].stream)
        if is_draft(submission) and self._admit is None:
            raise FirstFramesError
        batches = [(append.batch, append.frames) for append in self._taken]
        self._transaction.append_batches(*name, batches)
        received = move(submission, Event.FRAMES_RECEIVED, self._now)
        total = received.frame_count + self._taken_count
        doubts = dict.fromkeys(text for append in self._taken for text in append.warnings)
        received = replace(
            received,
            frame_count=total,
            byte_count=received.byte_count + sum(len(batch.payload) for batch, _ in batches),
            activity_time=self._now,
            warnings=with_warnings(received.warnings, doubts),
        )
        self._transaction.update_submission(received)
        most = self._settings.maximum_team_mebibytes
        refuse_more_bytes(self._transaction, submission, received, most)
        if is_draft(submission) and self._admit is not None:
            self._admit(self._transaction, received)
        self._points = None  # the store knows them better now
        self._ends.clear()
        self._taken.clear()
        self._taken_count = 0

    def _take(self, append: Append, submission: SubmissionRecord, end: int) -> int:
        if append.batch.first_offset > end:
            raise OffsetGapError(
                f"the batch begins at offset {append.batch.first_offset}, the stream ends at {end}",
                next_offset=str(end),
            )
        taken = self._taken_count + append.batch.frame_count
        total = submission.frame_count + taken
        if total > self._settings.maximum_frames:
            found = f"a submission of {total} frames"
            raise LimitError(found, "maximum_frames", self._settings.maximum_frames)
        self._taken.append(append)
        self._taken_count = taken
        end += append.batch.frame_count
        self._ends[append.stream] = end
        return end

    def _point(self, name: StreamName) -> tuple[SubmissionRecord, StreamRecord]:
        """The submission and a stream of it, as the store has them."""
        if self._points is None:
            self._points = self._transaction.append_points(*name.of_submission, self._streams)
        if self._points is None or name.stream not in self._points[1]:
            raise _not_there(name)
        return self._points[0], self._points[1][name.stream]


def _not_there(name: StreamName) -> NotFoundError:
    return NotFoundError(f"{name} does not exist; OpenStream makes it")


def _refuse_stale(append: Append, submission: SubmissionRecord, stream: StreamRecord) -> None:
    if submission.state not in TAKES_FRAMES:
        raise SubmissionEndedError(
            f"the submission is {submission.state} and takes no more frames",
            state=submission.state.value,
        )
    if append.epoch != stream.epoch:
        raise EpochStaleError(
            f"the stream was opened again, under epoch {stream.epoch}; "
            f"a writer of epoch {append.epoch} may not go on",
            epoch=str(stream.epoch),
        )


def _acknowledge_again(transaction: Transaction, append: Append, end: int) -> None:
    """Do nothing where the batch is stored as it is; refuse it otherwise."""
    batch = append.batch
    facts = {"next_offset": str(end)}
    if batch.first_offset + batch.frame_count > end:
        raise OffsetStraddlesError(
            f"the batch begins before the stream's end, {end}, and ends after it", **facts
        )
    stored = transaction.batch_at(*append.stream, batch.first_offset)
    same = (batch.first_offset, batch.frame_count, batch.digest)
    if stored is None or (stored.first_offset, stored.frame_count, stored.digest) != same:
        raise ContentDiffersError(
            f"at offset {batch.first_offset} other frames are stored, or the same cut otherwise",
            **facts,
        )
