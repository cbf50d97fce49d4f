"""The offset protocol: where a batch may be appended, and what a batch that comes again means.

Offsets count the frames of a stream. A batch that begins at the stream's end is appended; one
that is stored as it is is acknowledged again; everything else is refused and leaves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from vidscore.v1 import annotations_pb2
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.errors import Fault, InputError, LimitError
from vidscore_evaluators.evaluator import Side
from vidscore_server.codec.annotations_codec import BatchRules, read_batch
from vidscore_server.errors import (
    ContentDiffersError,
    EpochStaleError,
    NotFoundError,
    OffsetGapError,
    OffsetStraddlesError,
    SubmissionEndedError,
)
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.names import StreamName
from vidscore_server.hosting.payloads import frame_names, pack
from vidscore_server.hosting.states import TAKES_FRAMES, Event, move
from vidscore_server.settings import Settings
from vidscore_server.store.contract import FrameName, Transaction
from vidscore_server.store.records import BatchRecord, StreamRecord, SubmissionRecord

FIELD = "append.detections"


@dataclass(frozen=True, slots=True)
class Append:
    """A checked batch on its way into a stream.

    Attributes:
        stream: The stream.
        epoch: Epoch of its writer.
        batch: The batch as it is kept.
        frames: Its frames.
    """

    stream: StreamName
    epoch: int
    batch: BatchRecord
    frames: list[FrameName]


def read_append(
    stream: StreamName,
    epoch: int,
    offset: int,
    message: annotations_pb2.AnnotationBatch,
    rules: tuple[Definition, Settings],
) -> Append:
    """Check a batch by what the benchmark says, never by its truth.

    Args:
        stream: The stream.
        epoch: Epoch of its writer.
        offset: Offset of its first frame.
        message: The frames.
        rules: The benchmark's definition and the server's limits.

    Raises:
        LimitError: If it is larger than allowed.
        InputError: With every fault.
    """
    definition, settings = rules
    batch = read_batch(message, FIELD, BatchRules(definition.detection_arity, settings))
    faults = [
        *([] if batch.frame_count else [Fault("no frame", "at least one", source=FIELD)]),
        *([] if offset >= 0 else [Fault(str(offset), "0 or more", field="append.offset")]),
        *_unlisted_sequences(definition, batch),
        *dict.fromkeys(
            replace(fault, source=FIELD, field=fault.field or "frame_numbers")
            for evaluator in definition.evaluators
            for fault in evaluator.faults(Side.DETECTIONS, batch)
        ),
    ]
    if faults:
        raise InputError(faults)
    payload, digest = pack(message)
    record = BatchRecord(stream.stream, offset, batch.frame_count, digest, payload)
    return Append(stream, epoch, record, frame_names(batch))


def append_command(
    append: Append, team: str | None, maximum_frames: int, now: datetime
) -> Callable[[Transaction], int]:
    """The command that appends a batch and gives the stream's next offset.

    Args:
        append: The batch.
        team: Team of the caller; None for one that sees all.
        maximum_frames: Most frames of a submission.
        now: The time.
    """

    def command(transaction: Transaction) -> int:
        point = transaction.append_point(*append.stream)
        if point is None or team not in {None, point[0].team}:
            raise NotFoundError(f"{append.stream} is not there; OpenStream makes it")
        submission, stream = point
        _refuse_stale(append, submission, stream)
        if append.batch.first_offset < stream.next_offset:
            _acknowledge_again(transaction, append, stream)
            return stream.next_offset
        if append.batch.first_offset > stream.next_offset:
            raise OffsetGapError(
                f"the batch begins at offset {append.batch.first_offset}, "
                f"the stream ends at {stream.next_offset}",
                next_offset=str(stream.next_offset),
            )
        total = submission.frame_count + append.batch.frame_count
        if total > maximum_frames:
            raise LimitError(f"a submission of {total} frames", "maximum_frames", maximum_frames)
        transaction.append_batch(*append.stream.of_submission, append.batch, append.frames)
        received = move(submission, Event.FRAMES_RECEIVED, now)
        transaction.update_submission(replace(received, frame_count=total, activity_time=now))
        return stream.next_offset + append.batch.frame_count

    return command


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


def _acknowledge_again(transaction: Transaction, append: Append, stream: StreamRecord) -> None:
    """Do nothing where the batch is stored as it is; refuse it otherwise."""
    batch = append.batch
    facts = {"next_offset": str(stream.next_offset)}
    if batch.first_offset + batch.frame_count > stream.next_offset:
        raise OffsetStraddlesError(
            f"the batch begins before the stream's end, {stream.next_offset}, and ends after it",
            **facts,
        )
    stored = transaction.batch_at(*append.stream, batch.first_offset)
    same = (batch.first_offset, batch.frame_count, batch.digest)
    if stored is None or (stored.first_offset, stored.frame_count, stored.digest) != same:
        raise ContentDiffersError(
            f"at offset {batch.first_offset} other frames are stored, or the same cut otherwise",
            **facts,
        )


def _unlisted_sequences(definition: Definition, batch: Annotations) -> list[Fault]:
    """Sequences that the specification, where it lists any, does not list."""
    listed = {sequence.key for sequence in definition.specification.sequences}
    if not listed:
        return []
    return [
        Fault(_shown(key), "a sequence of the specification", FIELD, field=f"sequences[{row}]")
        for row, key in enumerate(batch.sequences)
        if key not in listed
    ]


def _shown(key: SequenceKey) -> str:
    return f"sequence {'/'.join(filter(None, key))[:80]}"
