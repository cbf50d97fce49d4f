"""The statements of an append."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from sqlalchemy import Connection, Executable, Table, bindparam, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from vidscore_server.store import tables as t
from vidscore_server.store.errors import AlreadyExistsError, NotFoundError
from vidscore_server.store.lookups import find_submission, find_submission_id
from vidscore_server.store.prepared import Prepared, PreparedBlocks, numbered, sent_together
from vidscore_server.store.records import BatchRecord, FrameNumbers, StreamRecord, SubmissionRecord
from vidscore_server.store.tables import RecordReader, from_values, to_microseconds, to_row

_SUBMISSION_COLUMNS = tuple(
    name for name in SubmissionRecord.__struct_fields__ if name != "benchmark"
)


_BATCH_NAMES = ("stream_id", "first_offset", "frame_count", "digest", "payload", "arrival_time")


def _build_streams(count: int) -> Executable:
    c = t.streams.c
    return select(c.id, *(c[name] for name in StreamRecord.__struct_fields__)).where(
        c.submission_id == bindparam("submission"), c.stream.in_(numbered("name", count))
    )


def _build_batches(count: int) -> Executable:
    return _insertion(t.detection_batches, _BATCH_NAMES, count)


def _build_offsets(count: int) -> Executable:
    """Build the statement that sets the next offset to the end of the last batch."""
    c = t.detection_batches.c
    behind = (c.stream_id == t.streams.c.id) & (c.first_offset >= t.streams.c.next_offset)
    last = select(func.max(c.first_offset + c.frame_count)).where(behind).scalar_subquery()
    return (
        update(t.streams)
        .where(t.streams.c.id.in_(numbered("stream_id", count)))
        .values(next_offset=last)
    )


def _build_position(_: str) -> Executable:
    return (
        update(t.streams)
        .where(t.streams.c.id == bindparam("stream_id"))
        .values(source_position=bindparam("position"))
    )


def _build_sequence(dialect: str) -> Executable:
    values: dict[str, Any] = {
        name: bindparam(name) for name in ("submission_id", "domain", "sequence")
    }
    if dialect == "postgresql":
        return postgresql.insert(t.sequences).values(values).on_conflict_do_nothing()
    return sqlite.insert(t.sequences).values(values).on_conflict_do_nothing()


def _build_sequence_ids(count: int) -> Executable:
    c = t.sequences.c
    return select(c.sequence, c.id).where(
        c.submission_id == bindparam("submission"),
        c.domain == bindparam("domain_name"),
        c.sequence.in_(numbered("name", count)),
    )


def _build_frames(count: int) -> Executable:
    return _insertion(t.frames, ("sequence_id", "frame"), count)


def _build_submission(_: str) -> Executable:
    values: dict[str, Any] = {name: bindparam(f"new_{name}") for name in _SUBMISSION_COLUMNS}
    return (
        update(t.submissions).where(t.submissions.c.id == bindparam("submission_id")).values(values)
    )


def _insertion(table: Table, names: Sequence[str], count: int) -> Executable:
    rows: list[dict[str, Any]] = [
        {name: bindparam(f"{name}_{row}") for name in names} for row in range(count)
    ]
    return insert(table).values(rows)


_STREAMS = PreparedBlocks(_build_streams, ["name"])
_BATCHES = PreparedBlocks(_build_batches, _BATCH_NAMES)
_OFFSETS = PreparedBlocks(_build_offsets, ["stream_id"])
_POSITION = Prepared(_build_position)
_SEQUENCE = Prepared(_build_sequence)
_SEQUENCE_IDS = PreparedBlocks(_build_sequence_ids, ["name"])
_FRAMES = PreparedBlocks(_build_frames, ["sequence_id", "frame"])
_SUBMISSION = Prepared(_build_submission)


class Points(Struct, frozen=True):
    """A submission and some of its streams, with their row numbers.

    Attributes:
        submission: The submission.
        submission_id: Its row number.
        streams: Streams by name.
        stream_ids: Row numbers of the streams, by name.
    """

    submission: SubmissionRecord
    submission_id: int
    streams: dict[str, StreamRecord]
    stream_ids: dict[str, int]


def select_points(
    connection: Connection, benchmark: str, submission: str, streams: Iterable[str]
) -> Points | None:
    """A submission with those of `streams` that exist; None for no such submission."""
    target = find_submission(connection, benchmark, submission)
    if target is None:
        return None
    record, submission_id = target
    rows = [(name,) for name in streams]
    found = _STREAMS.all(connection, rows, {"submission": submission_id})
    records = {int(number): from_values(StreamRecord, stream) for number, *stream in found}
    return Points(
        record,
        submission_id,
        {record.stream: record for record in records.values()},
        {record.stream: number for number, record in records.items()},
    )


def insert_batches(connection: Connection, batches: Sequence[tuple[int, BatchRecord]]) -> None:
    """Add batches, each with the row number of its stream, and advance the streams' offsets.

    Raises:
        IntegrityError: If there is a batch at one of the offsets.
    """
    rows = [
        (
            stream_id,
            batch.first_offset,
            batch.frame_count,
            batch.digest,
            batch.payload,
            None if batch.arrival_time is None else to_microseconds(batch.arrival_time),
        )
        for stream_id, batch in batches
    ]
    _BATCHES.run(connection, rows)
    _OFFSETS.run(connection, [(stream_id,) for stream_id in dict.fromkeys(row[0] for row in rows)])


def frame_rows(
    connection: Connection, submission_id: int, batches: Sequence[FrameNumbers]
) -> list[tuple[int, int]]:
    """Rows of the frames of batches; new sequences are added."""
    names = dict.fromkeys(name for frames in batches for name in frames)
    ids = _sequence_ids(connection, submission_id, names)
    rows: list[tuple[int, int]] = []
    for frames in batches:
        for name, numbers in frames.items():
            rows.extend(zip(repeat(ids[name]), numbers))
    return rows


def _sequence_ids(
    connection: Connection, submission_id: int, names: Collection[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Row numbers of sequences; missing ones are added."""
    ids = _found_sequences(connection, submission_id, names)
    missing = [name for name in names if name not in ids]
    for domain, sequence in missing:
        row = {"submission_id": submission_id, "domain": domain, "sequence": sequence}
        _SEQUENCE.run(connection, row)
    return ids | _found_sequences(connection, submission_id, missing)


def _found_sequences(
    connection: Connection, submission_id: int, names: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], int]:
    """Row numbers of the existing sequences."""
    by_domain: defaultdict[str, list[tuple[str]]] = defaultdict(list)
    for domain, sequence in names:
        by_domain[domain].append((sequence,))
    return {
        (domain, sequence): int(number)
        for domain, rows in by_domain.items()
        for sequence, number in _SEQUENCE_IDS.all(
            connection, rows, {"submission": submission_id, "domain_name": domain}
        )
    }


# --- The part of a transaction


class Appends(RecordReader):
    """The part of a transaction that appends; mutators raise `NotFoundError` for missing rows.

    It lives for one command, as do the row numbers that it caches.
    """

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection)
        self._ids: dict[tuple[str, str], int] = {}
        self._stream_ids: dict[tuple[str, str, str], int] = {}

    def append_points(
        self, benchmark: str, submission: str, streams: Iterable[str]
    ) -> tuple[SubmissionRecord, dict[str, StreamRecord]] | None:
        """As in `Reader`; row numbers are cached for the following writes."""
        points = select_points(self._connection, benchmark, submission, streams)
        if points is None:
            return None
        self._ids[benchmark, submission] = points.submission_id
        for stream, number in points.stream_ids.items():
            self._stream_ids[benchmark, submission, stream] = number
        return points.submission, points.streams

    def append_batches(
        self,
        benchmark: str,
        submission: str,
        batches: Sequence[tuple[BatchRecord, FrameNumbers]],
        positions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Append batches with their frames to their streams, and advance the streams' offsets.

        The caller must update the submission's `frame_count` and `activity_time`.

        Args:
            benchmark: The benchmark.
            submission: The submission.
            batches: The batches, each with its frames.
            positions: New positions of the sources of streams, by the names of these.

        Raises:
            AlreadyExistsError: If one of the frames is stored in any stream of the submission.
        """
        streams = dict.fromkeys(batch.stream for batch, _ in batches)
        ids = self._known_stream_ids(benchmark, submission, streams)
        number = self._submission_id(benchmark, submission)
        frames = frame_rows(self._connection, number, [frames for _, frames in batches])
        try:
            with sent_together(self._connection):
                insert_batches(
                    self._connection, [(ids[batch.stream], batch) for batch, _ in batches]
                )
                _FRAMES.run(self._connection, frames)
                for stream, position in positions.items():
                    row = {"stream_id": ids[stream], "position": position}
                    _POSITION.run(self._connection, row)
        except IntegrityError as error:
            raise AlreadyExistsError("a frame of the batches") from error

    def update_submission(self, record: SubmissionRecord) -> None:
        """Replace the record of a submission."""
        row = {f"new_{name}": value for name, value in to_row(record).items()}
        number = self._submission_id(record.benchmark, record.submission)
        _SUBMISSION.run(self._connection, row | {"submission_id": number})

    def _known_stream_ids(
        self, benchmark: str, submission: str, streams: Collection[str]
    ) -> dict[str, int]:
        unknown = [
            name for name in streams if (benchmark, submission, name) not in self._stream_ids
        ]
        if unknown:
            self.append_points(benchmark, submission, unknown)
        ids = {name: self._stream_ids.get((benchmark, submission, name)) for name in streams}
        known = {name: number for name, number in ids.items() if number is not None}
        for name in ids.keys() - known.keys():
            raise NotFoundError(f"stream {name}")
        return known

    def _submission_id(self, benchmark: str, submission: str) -> int:
        known = self._ids.get((benchmark, submission))
        if known is not None:
            return known
        found = find_submission_id(self._connection, benchmark, submission)
        if found is None:
            raise NotFoundError(f"submission {submission} of benchmark {benchmark}")
        return found
