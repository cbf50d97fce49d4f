"""The offset protocol: where a batch may be appended, and what a repeated batch means.

Offsets count the frames of a stream. A batch that begins at the stream's end is appended; a repeat
of a stored batch is acknowledged again; everything else is refused without effect.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

import numpy as np
import orjson
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError, LimitError, VidscoreError
from vidscore_server.domain.append_rules import MAXIMUM_WARNINGS, AppendRules, check_batch
from vidscore_server.domain.batches import (
    BatchCodec,
    BatchRules,
    NotAlikeError,
    frame_numbers,
    pack,
)
from vidscore_server.domain.byte_budget import Reservation
from vidscore_server.domain.context import Context
from vidscore_server.domain.names import StreamName, SubmissionName
from vidscore_server.domain.plug_ins import refuse_by_own_rules
from vidscore_server.domain.quotas import refuse_ended, refuse_more_bytes
from vidscore_server.domain.states import Event, is_draft, move
from vidscore_server.errors import (
    ContentDiffersError,
    EpochStaleError,
    NotFoundError,
    OffsetGapError,
    OffsetStraddlesError,
)
from vidscore_server.settings import MEBIBYTE, Settings
from vidscore_server.store import Transaction
from vidscore_server.store.records import BatchRecord, FrameNumbers, StreamRecord, SubmissionRecord
from vidscore_server.workers import WorkerPool

FIELD = "detections"

MAXIMUM_POSITION_BYTES = 16_384
"""Maximum length of a source position, in bytes."""

Outcome = int | Exception
"""A stream's next offset after a batch, or why the batch was refused."""


@dataclass(eq=False, slots=True)
class AppendTarget:
    """The stream that a call appends to.

    Attributes:
        text: The stream, as the call's requests name it.
        stream: The stream.
        epoch: Epoch of its writer.
        team: Team of the caller; None if it sees all teams.
        rules: Rules of the benchmark; the call keeps them up to date.
        refused: Whether a batch of the call was refused: later ones are dropped.
        submission: The stream's submission.
    """

    text: str
    stream: StreamName
    epoch: int
    team: str | None
    rules: AppendRules
    refused: bool = False
    submission: SubmissionName = field(init=False)

    def __post_init__(self) -> None:
        self.submission = self.stream.of_submission


@dataclass(eq=False, slots=True)
class PendingAppend:
    """A batch that is to be appended to a stream.

    Attributes:
        target: The stream.
        offset: Offset of its first frame.
        message: The batch as it was received; the `BatchCodec` reads it.
        size: Approximate cost of checking it, in numbers.
        reservation: Memory that it takes until it is stored or refused.
        stored: The stream's next offset, once its frames are durable.
        source_position: Source position after the batch; None if its writer keeps none.
        arrival_time: When it was received; a repeated batch keeps its first arrival.
        record: The batch as it is stored; set once it is checked.
        frames: Its frames; set once it is checked.
        warnings: Doubts about it; set once it is checked.
    """

    target: AppendTarget
    offset: int
    message: Any
    size: int
    reservation: Reservation
    stored: asyncio.Future[int]
    arrival_time: datetime
    source_position: str | None = None
    record: BatchRecord = field(init=False)
    frames: FrameNumbers = field(init=False)
    warnings: tuple[str, ...] = ()

    def resolve(self, outcome: Outcome) -> None:
        """Resolve `stored`; a refusal also drops the call's later batches."""
        if isinstance(outcome, Exception):
            self.target.refused = True
            if not self.stored.done():
                self.stored.set_exception(outcome)
        elif not self.stored.done():
            self.stored.set_result(outcome)


def check_appends(
    appends: Sequence[PendingAppend], settings: Settings, codec: BatchCodec
) -> list[Exception | None]:
    """Check batches against the benchmark's definition and public names, never its truth.

    Live systems send small batches that are mostly valid. So batches are checked as one, and if
    that finds a fault, they are bisected: an invalid batch costs the others little.

    Args:
        appends: Batches under the same rules; valid ones get their record.
        settings: The server's limits.
        codec: The encoding of batches.

    Returns:
        For each batch None, or a `LimitError` if it is larger than allowed, or an `InputError`
        with every fault.
    """
    try:
        if len(appends) == 1:
            _check_alone(appends[0], settings, codec)
        else:
            _check_together(appends, settings, codec)
        return [None] * len(appends)
    except Exception as error:  # noqa: BLE001 - rules of plug-ins may fail in any way
        if len(appends) == 1:
            return [error]
        half = len(appends) // 2
        return [
            *check_appends(appends[:half], settings, codec),
            *check_appends(appends[half:], settings, codec),
        ]


async def refuse_detections(
    workers: WorkerPool, rules: AppendRules, message: Any, size: int, context: Context
) -> None:
    """Refuse a batch of detections that breaks a rule of a plug-in.

    Args:
        workers: The worker processes.
        rules: Rules of the benchmark.
        message: The batch, as it was received.
        size: Number of its frames and coordinates.
        context: The hosting context.

    Raises:
        InputError: With every fault; the other errors are those of `refuse_by_own_rules`.
    """
    limits = BatchRules(rules.arity, context.settings)
    read = partial(context.codec.read_batch, message, FIELD, limits)
    evaluators = rules.definition.evaluators
    await refuse_by_own_rules(workers, evaluators, Side.DETECTIONS, read, size, FIELD)


def accepted_warnings(
    batch: Annotations, rules: AppendRules, known_faults: Sequence[Fault] = ()
) -> tuple[str, ...]:
    """Doubts about a batch of detections that a benchmark accepts.

    The check uses only what participants may know.

    Args:
        batch: The batch.
        rules: Rules of the benchmark.
        known_faults: Faults that were found before.

    Raises:
        InputError: With every fault.
    """
    checked = check_batch(rules, batch, FIELD)
    faults = [
        *([] if batch.frame_count else [Fault("no frame", "at least one", source=FIELD)]),
        *known_faults,
        *checked.faults,
    ]
    if faults:
        raise InputError(faults)
    return checked.warnings


def _check_alone(append: PendingAppend, settings: Settings, codec: BatchCodec) -> None:
    rules = append.target.rules
    batch = codec.read_batch(append.message, FIELD, BatchRules(rules.arity, settings))
    append.warnings = accepted_warnings(batch, rules, _own_faults(append))
    [append.frames] = frame_numbers(batch, [batch.frame_count])
    append.record = _record(append, codec.data_of(append.message), batch.frame_count)


def _check_together(
    appends: Sequence[PendingAppend], settings: Settings, codec: BatchCodec
) -> None:
    rules = appends[0].target.rules
    messages = [append.message for append in appends]
    data = list(map(codec.data_of, messages))
    joined, counts = codec.read_alike_batches(
        messages, data, FIELD, BatchRules(rules.arity, settings)
    )
    if not all(counts) or any(map(_own_faults, appends)):
        raise NotAlikeError
    checked = check_batch(rules, joined, FIELD)
    if checked.faults:
        raise NotAlikeError
    warnings = [checked.warnings] * len(appends)
    if any(text != rules.names.withheld for text in checked.warnings):  # find out whose they are
        ends = np.cumsum(counts)
        warnings = [
            check_batch(rules, joined.take_frames(np.arange(end - count, end)), FIELD).warnings
            for count, end in zip(counts, ends.tolist(), strict=True)
        ]
    frames = frame_numbers(joined, counts)
    for row, append in enumerate(appends):
        append.record = _record(append, data[row], counts[row])
        append.frames, append.warnings = next(frames), warnings[row]


def _record(append: PendingAppend, data: bytes, frame_count: int) -> BatchRecord:
    payload, digest = pack(data)
    stream, arrival_time = append.target.stream.stream, append.arrival_time
    return BatchRecord(stream, append.offset, frame_count, digest, payload, arrival_time)


def _own_faults(append: PendingAppend) -> list[Fault]:
    """Faults of an append outside its batch."""
    faults = []
    if append.offset < 0:
        faults.append(Fault(str(append.offset), "0 or more", field="append.offset"))
    size = len((append.source_position or "").encode())
    if size > MAXIMUM_POSITION_BYTES:
        expected = f"at most {MAXIMUM_POSITION_BYTES}"
        faults.append(Fault(f"{size} bytes", expected, field="append.source_position"))
    return faults


class FirstFramesError(Exception):
    """A command would append the first frames of a submission, but may not admit it."""


Admit = Callable[[Transaction, SubmissionRecord], None]
"""Admits a submission with its first frames, or raises an error."""


def append_command(
    appends: Sequence[PendingAppend],
    settings: Settings,
    now: datetime,
    admit: Admit | None = None,
) -> Callable[[Transaction], list[Outcome]]:
    """The command that appends batches of one submission, each by the offset protocol.

    It raises `AlreadyExistsError`, and appends none of them, if a frame is already stored. It
    touches nothing beyond the submission, except through `admit`.

    Args:
        appends: The batches, checked and in order.
        settings: The server's limits.
        now: The time.
        admit: Called if these are the submission's first frames; without it the command then raises
            `FirstFramesError`, and appends none of them.
    """

    def command(transaction: Transaction) -> list[Outcome]:
        streams = dict.fromkeys(append.record.stream for append in appends)
        writer = AppendWriter(transaction, streams, settings, now, admit)
        outcomes = [writer.append(append) for append in appends]
        writer.close()
        return outcomes

    return command


class AppendWriter:
    """Collects batches of one submission, and writes them together.

    Args:
        transaction: The transaction.
        streams: Names of the streams that the batches are for.
        settings: The server's limits.
        now: The time.
        admit: Admits the submission with its first frames; None if that is not allowed.
    """

    def __init__(
        self,
        transaction: Transaction,
        streams: Collection[str],
        settings: Settings,
        now: datetime,
        admit: Admit | None,
    ) -> None:
        self._transaction = transaction
        self._streams = streams
        self._settings = settings
        self._now = now
        self._admit = admit
        self._points: tuple[SubmissionRecord, dict[str, StreamRecord]] | None = None
        self._ends: dict[StreamName, int] = {}
        self._taken: list[PendingAppend] = []
        self._taken_count = 0

    def append(self, append: PendingAppend) -> Outcome:
        """Add a batch; return the stream's next offset, or the error that refuses the batch."""
        try:
            name = append.target.stream
            submission, stream = self._point(append.target)
            if append.target.team not in {None, submission.team}:
                raise _not_there(name)
            refuse_stale(append.target.epoch, submission, stream)
            end = self._ends.get(name, stream.next_offset)
            if append.offset < end:
                self.close()  # the stored batch may be one that was added just before
                _acknowledge_again(self._transaction, append, end)
                return end
            return self._take(append, submission, end)
        except VidscoreError as error:
            return error

    def close(self) -> None:
        """Write the batches that were added.

        Raises:
            AlreadyExistsError: If a frame of them is already stored.
            FirstFramesError: If these are the first frames, and the writer may not admit the
                submission.
            VidscoreError: If the submission is not admitted, or its team holds too much.
        """
        if not self._taken:
            return
        target = self._taken[0].target
        submission, _ = self._point(target)
        if is_draft(submission) and self._admit is None:
            raise FirstFramesError
        batches = [(append.record, append.frames) for append in self._taken]
        positions = {
            append.record.stream: append.source_position
            for append in self._taken
            if append.source_position is not None
        }
        self._transaction.append_batches(*target.submission, batches, positions)
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
        if _begins_mebibyte(submission, received):
            refuse_more_bytes(self._transaction, received, most)
        if is_draft(submission) and self._admit is not None:
            self._admit(self._transaction, received)
        self._points = None  # the store now has newer ones
        self._ends.clear()
        self._taken.clear()
        self._taken_count = 0

    def _take(self, append: PendingAppend, submission: SubmissionRecord, end: int) -> int:
        if append.offset > end:
            raise OffsetGapError(
                f"the batch begins at offset {append.offset}, the stream ends at {end}",
                next_offset=str(end),
            )
        taken = self._taken_count + append.record.frame_count
        total = submission.frame_count + taken
        if total > self._settings.maximum_frames:
            found = f"a submission of {total} frames"
            raise LimitError(found, "maximum_frames", self._settings.maximum_frames)
        self._taken.append(append)
        self._taken_count = taken
        end += append.record.frame_count
        self._ends[append.target.stream] = end
        return end

    def _point(self, target: AppendTarget) -> tuple[SubmissionRecord, StreamRecord]:
        """The submission and one of its streams, as stored."""
        name = target.stream
        if self._points is None:
            self._points = self._transaction.append_points(*target.submission, self._streams)
        if self._points is None or name.stream not in self._points[1]:
            raise _not_there(name)
        return self._points[0], self._points[1][name.stream]


def _begins_mebibyte(before: SubmissionRecord, after: SubmissionRecord) -> bool:
    """Whether a submission has stored its first byte, or the first byte of another mebibyte."""
    return not before.byte_count or before.byte_count // MEBIBYTE < after.byte_count // MEBIBYTE


def _not_there(name: StreamName) -> NotFoundError:
    return NotFoundError(f"{name} does not exist; OpenStream makes it")


def refuse_stale(epoch: int, submission: SubmissionRecord, stream: StreamRecord) -> None:
    """Refuse a writer that may not go on.

    Raises:
        SubmissionEndedError: If the submission takes no more frames.
        EpochStaleError: If a newer writer has opened the stream.
    """
    refuse_ended(submission)
    if epoch != stream.epoch:
        raise EpochStaleError(
            f"the stream was opened again with epoch {stream.epoch}; "
            f"the writer with epoch {epoch} must stop",
            epoch=str(stream.epoch),
        )


def _acknowledge_again(transaction: Transaction, append: PendingAppend, end: int) -> None:
    """Do nothing if the batch is stored as it is; refuse it otherwise."""
    batch = append.record
    facts = {"next_offset": str(end)}
    if batch.first_offset + batch.frame_count > end:
        raise OffsetStraddlesError(
            f"the batch begins before the stream's end, {end}, and ends after it", **facts
        )
    stored = transaction.batch_at(*append.target.stream, batch.first_offset)
    same = (batch.first_offset, batch.frame_count, batch.digest)
    if stored is None or (stored.first_offset, stored.frame_count, stored.digest) != same:
        raise ContentDiffersError(
            f"at offset {batch.first_offset} other frames are stored, or the same frames in other "
            "batches",
            **facts,
        )


# --- Warnings of a submission, as the store keeps them

MORE = "there are further doubts of the same kind; they are not listed"


def read_warnings(kept: str) -> list[str]:
    """The warnings in a submission's record."""
    texts: list[str] = orjson.loads(kept) if kept else []
    return texts


def with_warnings(kept: str, new: Iterable[str]) -> str:
    """A record's warnings with further ones added: each once, up to a maximum."""
    known = read_warnings(kept)
    texts = list(dict.fromkeys([*known, *new]))
    if texts == known:
        return kept
    if len(texts) > MAXIMUM_WARNINGS:
        texts = [*texts[: MAXIMUM_WARNINGS - 1], MORE]
    return orjson.dumps(texts).decode()
