"""The statements that an append needs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Executable, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from vidscore_server.store.contract import AlreadyExistsError, FrameNumbers
from vidscore_server.store.records import BatchRecord, StreamRecord, SubmissionRecord
from vidscore_server.store.sql import tables as t
from vidscore_server.store.sql.prepared import Prepared
from vidscore_server.store.sql.rows import from_row, to_row

_SUBMISSION_COLUMNS = tuple(
    field.name for field in fields(SubmissionRecord) if field.name != "benchmark"
)


_BATCH_COLUMNS = ("first_offset", "frame_count", "digest", "payload")

_SEQUENCE_KEY = ("submission_id", "domain", "sequence")

_POINT_NAMES = (
    *_SUBMISSION_COLUMNS,
    "submission_id",
    "stream_id",
    "stream",
    "epoch",
    "next_offset",
)


def _build_point(_: str) -> Executable:
    return (
        select(
            *(t.submissions.c[name] for name in _SUBMISSION_COLUMNS),
            t.submissions.c.id.label("submission_id"),
            t.streams.c.id.label("stream_id"),
            t.streams.c.stream,
            t.streams.c.epoch,
            t.streams.c.next_offset,
        )
        .join(t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id)
        .join(t.streams, t.streams.c.submission_id == t.submissions.c.id)
        .where(
            t.benchmarks.c.benchmark == bindparam("benchmark_name"),
            t.submissions.c.submission == bindparam("submission_name"),
            t.streams.c.stream == bindparam("stream_name"),
        )
    )


def _build_batch(_: str) -> Executable:
    return insert(t.detection_batches).values(
        {column.name: bindparam(column.name) for column in t.detection_batches.c}
    )


def _build_offset(_: str) -> Executable:
    return (
        update(t.streams)
        .where(t.streams.c.id == bindparam("stream_id"))
        .values(next_offset=bindparam("end"))
    )


def _build_sequence(dialect: str) -> Executable:
    values: dict[str, Any] = {
        name: bindparam(name) for name in ("submission_id", "domain", "sequence")
    }
    if dialect == "postgresql":
        return postgresql.insert(t.sequences).values(values).on_conflict_do_nothing()
    return sqlite.insert(t.sequences).values(values).on_conflict_do_nothing()


def _build_sequence_id(_: str) -> Executable:
    c = t.sequences.c
    return select(c.id).where(*(c[name] == bindparam(name) for name in _SEQUENCE_KEY))


def _build_frames(_: str) -> Executable:
    return insert(t.frames).values(
        sequence_id=bindparam("sequence_id"), frame=bindparam("frame_number")
    )


def _build_submission(_: str) -> Executable:
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _SUBMISSION_COLUMNS}
    return (
        update(t.submissions).where(t.submissions.c.id == bindparam("submission_id")).values(values)
    )


_POINT = Prepared(_build_point)
_BATCH = Prepared(_build_batch)
_OFFSET = Prepared(_build_offset)
_SEQUENCE = Prepared(_build_sequence)
_SEQUENCE_ID = Prepared(_build_sequence_id)
_FRAMES = Prepared(_build_frames)
_SUBMISSION = Prepared(_build_submission)


def select_point(
    connection: Connection, benchmark: str, submission: str, stream: str
) -> tuple[SubmissionRecord, StreamRecord, int, int] | None:
    """A submission and a stream of it, with the numbers of both."""
    names = {
        "benchmark_name": benchmark,
        "submission_name": submission,
        "stream_name": stream,
    }
    values = _POINT.first(connection, names)
    if values is None:
        return None
    row = dict(zip(_POINT_NAMES, values, strict=True))
    return (
        from_row(SubmissionRecord, row, benchmark=benchmark),
        from_row(StreamRecord, row),
        int(row["submission_id"]),
        int(row["stream_id"]),
    )


def insert_batches(connection: Connection, batches: Sequence[tuple[int, BatchRecord]]) -> None:
    """Add batches, each with the number of its stream, and move their streams' offsets.

    Raises:
        AlreadyExistsError: If there is a batch at one of the offsets.
    """
    ends = {stream_id: batch.first_offset + batch.frame_count for stream_id, batch in batches}
    columns = {name: [getattr(batch, name) for _, batch in batches] for name in _BATCH_COLUMNS}
    columns["stream_id"] = [stream_id for stream_id, _ in batches]
    try:
        _BATCH.run_columns(connection, columns)
    except IntegrityError as error:
        raise AlreadyExistsError("a batch at an offset") from error
    _OFFSET.run_columns(connection, {"stream_id": list(ends), "end": list(ends.values())})


def insert_frames(
    connection: Connection, submission_id: int, batches: Sequence[FrameNumbers]
) -> None:
    """Note that the frames of batches are stored.

    Raises:
        AlreadyExistsError: If one is already.
    """
    names = dict.fromkeys(name for frames in batches for name in frames)
    ids = _sequence_ids(connection, submission_id, names)
    columns: dict[str, list[int]] = {"sequence_id": [], "frame_number": []}
    for frames in batches:
        for name, numbers in frames.items():
            columns["sequence_id"].extend([ids[name]] * len(numbers))
            columns["frame_number"].extend(numbers)
    try:
        _FRAMES.run_columns(connection, columns)
    except IntegrityError as error:
        raise AlreadyExistsError("a frame of the batch") from error


def update_submission(connection: Connection, submission_id: int, record: SubmissionRecord) -> None:
    """Put a submission's record in the place of the one that is there."""
    row = {f"new_{name}": value for name, value in to_row(record).items()}
    _SUBMISSION.run(connection, [row | {"submission_id": submission_id}])


def _sequence_ids(
    connection: Connection, submission_id: int, names: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    ids: dict[tuple[str, str], int] = {}
    for domain, sequence in names:
        key = {"submission_id": submission_id, "domain": domain, "sequence": sequence}
        found = _SEQUENCE_ID.first(connection, key)
        if found is None:
            _SEQUENCE.run(connection, [key])
            found = _SEQUENCE_ID.first(connection, key)
        if found is not None:
            ids[domain, sequence] = int(found[0])
    return ids
