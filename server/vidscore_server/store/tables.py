"""Tables in the newest schema, as the migrations create it, and records as their rows.

Benchmarks, submissions and streams have numbers as keys, so that the large tables stay narrow.
Times are integers, microseconds since 1970 in UTC, which compare the same in every database.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import fields
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    String,
    Table,
    Text,
    UniqueConstraint,
    false,
    true,
)

from vidscore_server.store.records import HIDDEN, Role, SubmissionState

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows only if the key is exactly INTEGER.
_Key = BigInteger().with_variant(Integer, "sqlite")
_Time = BigInteger
# Names are ordered by code points, whatever the database's locale.
_Name = String().with_variant(String(collation="C"), "postgresql")


def _belongs_to(column: str) -> ForeignKey:
    return ForeignKey(column, ondelete="CASCADE")


site = Table(
    "site",
    metadata,
    Column("name", _Name, primary_key=True),
    Column("value", LargeBinary, nullable=False),
)

SECRET, SERVING = "secret", "serving"
"""Names of the site's rows: 32 random bytes, and the heartbeat, as two times in JSON."""

benchmarks = Table(
    "benchmarks",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("benchmark", _Name, nullable=False, unique=True),
    Column("definition", Text, nullable=False),
    Column("open_time", _Time),
    Column("close_time", _Time),
    Column("create_time", _Time, nullable=False),
    Column("update_time", _Time, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("truth_revision", BigInteger, nullable=False),
    Column("board", Text, nullable=False, server_default=""),
)

IS_HIDDEN = benchmarks.c.benchmark >= HIDDEN
"""Whether a benchmark is hidden: its name sorts after all valid names."""

truth_revisions = Table(
    "truth_revisions",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("benchmark_id", _Key, _belongs_to("benchmarks.id"), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("digest", _Name, nullable=False),
    Column("create_time", _Time, nullable=False),
    Column("frame_count", BigInteger, nullable=False),
    Column("complete", Boolean, nullable=False),
    Column("comment", Text, nullable=False),
    Column("object_count", BigInteger),
    Column("sequence_count", BigInteger),
    Column("label_count", BigInteger),
    UniqueConstraint("benchmark_id", "revision"),
)

truth_batches = Table(
    "truth_batches",
    metadata,
    Column("truth_revision_id", _Key, _belongs_to("truth_revisions.id"), primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("payload", LargeBinary, nullable=False),
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("benchmark_id", _Key, _belongs_to("benchmarks.id"), nullable=False),
    Column("submission", _Name, nullable=False),
    Column("team", _Name, nullable=False),
    Column("title", Text, nullable=False),
    Column("state", _Name, nullable=False, index=True),
    Column("state_reason", _Name, nullable=False),
    Column("state_message", Text, nullable=False),
    Column("state_time", _Time, nullable=False),
    Column("create_time", _Time, nullable=False),
    Column("activity_time", _Time, nullable=False),
    Column("seal_time", _Time),
    Column("frame_count", BigInteger, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("warnings", Text, nullable=False, server_default=""),
    Column("score_shown", Boolean, nullable=False, server_default=false()),
    Column("byte_count", BigInteger, nullable=False, server_default="0"),
    Column("chosen", Boolean, nullable=False, server_default=false()),
    Column("disqualification", Text, nullable=False, server_default=""),
    UniqueConstraint("benchmark_id", "submission"),
    Index(None, "benchmark_id", "create_time"),
)

streams = Table(
    "streams",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("submission_id", _Key, _belongs_to("submissions.id"), nullable=False),
    Column("stream", _Name, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("next_offset", BigInteger, nullable=False),
    Column("source_position", Text, nullable=False, server_default=""),
    UniqueConstraint("submission_id", "stream"),
)

detection_batches = Table(
    "detection_batches",
    metadata,
    Column("stream_id", _Key, _belongs_to("streams.id"), primary_key=True),
    Column("first_offset", BigInteger, primary_key=True, autoincrement=False),
    Column("frame_count", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    Column("payload", LargeBinary, nullable=False),
    Column("arrival_time", _Time),
)

sequences = Table(
    "sequences",
    metadata,
    Column("id", _Key, primary_key=True),
    Column("submission_id", _Key, _belongs_to("submissions.id"), nullable=False),
    Column("domain", _Name, nullable=False),
    Column("sequence", _Name, nullable=False),
    UniqueConstraint("submission_id", "domain", "sequence"),
)

frames = Table(
    "frames",
    metadata,
    Column("sequence_id", _Key, _belongs_to("sequences.id"), primary_key=True),
    Column("frame", BigInteger, primary_key=True, autoincrement=False),
    sqlite_with_rowid=False,
)

scores = Table(
    "scores",
    metadata,
    Column("submission_id", _Key, _belongs_to("submissions.id"), primary_key=True),
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("evaluator", _Name, nullable=False),
    Column("truth_revision", BigInteger, nullable=False),
    Column("partial", Boolean, nullable=False),
    Column("create_time", _Time, nullable=False),
    Column("configuration", _Name, nullable=False),
    Column("values", Text, nullable=False),
    Column("released", Text, nullable=False),
    Column("report", LargeBinary, nullable=False),
    Column("published", Boolean, nullable=False, server_default=true()),
    Column("outcomes_shown", Boolean, nullable=False, server_default=false()),
    Column("public_values", Text, nullable=False, server_default=""),
    Column("public_report", LargeBinary),
    Column("private_values", Text, nullable=False, server_default=""),
    Column("private_report", LargeBinary),
    Column("estimate", Text, nullable=False, server_default=""),
    Column("released_step", Double, nullable=False, server_default="0"),
    # Finds which submissions have a score, and the newest one, without reading reports.
    Index(
        "ix_scores_basis",
        "submission_id",
        "evaluator",
        "truth_revision",
        "configuration",
        "number",
    ),
)

failed_rescorings = Table(
    "failed_rescorings",
    metadata,
    Column("submission_id", _Key, _belongs_to("submissions.id"), primary_key=True),
    Column("basis", Text, nullable=False),
)

live_clocks = Table(
    "live_clocks",
    metadata,
    Column("submission_id", _Key, _belongs_to("submissions.id"), primary_key=True),
    Column("schedule", Text, nullable=False),
    Column("start_time", _Time, nullable=False),
    Column("event_count", BigInteger, nullable=False),
    Column("last_position", BigInteger, nullable=False),
    Column("end_event", BigInteger),
)

live_frames = Table(
    "live_frames",
    metadata,
    Column("submission_id", _Key, _belongs_to("submissions.id"), primary_key=True),
    Column("position", BigInteger, primary_key=True, autoincrement=False),
    Column("given_event", BigInteger, nullable=False),
    Column("given_time", _Time, nullable=False),
    Column("answer_event", BigInteger),
    Column("answer_time", _Time),
    Column("answer_offset", BigInteger),
)

releases = Table(
    "releases",
    metadata,
    Column("benchmark_id", _Key, _belongs_to("benchmarks.id"), primary_key=True),
    Column("evaluator", _Name, primary_key=True),
    Column("team", _Name, primary_key=True),
    Column("submission", _Name, nullable=False),
    Column("values", Text, nullable=False),
    Column("release_time", _Time, nullable=False),
)

score_draws = Table(
    "score_draws",
    metadata,
    Column("submission_id", _Key, _belongs_to("submissions.id"), primary_key=True),
    Column("evaluator", _Name, primary_key=True),
    Column("truth_revision", BigInteger, nullable=False),
    Column("configuration", _Name, nullable=False),
    Column("payload", LargeBinary, nullable=False),
)

tiers = Table(
    "tiers",
    metadata,
    Column("benchmark_id", _Key, _belongs_to("benchmarks.id"), primary_key=True),
    Column("evaluator", _Name, primary_key=True),
    Column("truth_revision", BigInteger, primary_key=True, autoincrement=False),
    Column("exact", Boolean, primary_key=True),
    Column("document", Text, nullable=False),
)

tokens = Table(
    "tokens",
    metadata,
    Column("token", _Name, primary_key=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("role", _Name, nullable=False),
    Column("team", _Name, nullable=False),
    Column("comment", Text, nullable=False),
    Column("create_time", _Time, nullable=False),
    Column("expire_time", _Time),
    Column("revoke_time", _Time),
)

invitations = Table(
    "invitations",
    metadata,
    Column("invitation", _Name, primary_key=True),
    Column("secret_hash", LargeBinary, nullable=False),
    Column("team", _Name, nullable=False),
    Column("comment", Text, nullable=False),
    Column("create_time", _Time, nullable=False),
    Column("expire_time", _Time, nullable=False),
    Column("token_lifetime_s", BigInteger),
    Column("accept_time", _Time),
    Column("revoke_time", _Time),
    Column("token", _Name, nullable=False, server_default=""),
)

operations = Table(
    "operations",
    metadata,
    Column("operation", _Name, primary_key=True),
    Column("kind", _Name, nullable=False),
    Column("request", Text, nullable=False),
    Column("create_time", _Time, nullable=False),
    Column("progress", Text, nullable=False),
    Column("done", Boolean, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("result", Text),
    Column("error", Text),
)

audit = Table(
    "audit",
    metadata,
    Column("number", _Key, primary_key=True),
    Column("time", _Time, nullable=False),
    Column("actor", _Name, nullable=False),
    Column("action", _Name, nullable=False),
    Column("resource", _Name, nullable=False),
    Column("detail", Text, nullable=False),
    Index(None, "resource", "number"),
    sqlite_autoincrement=True,
)

responses = Table(
    "responses",
    metadata,
    Column("caller", _Name, primary_key=True),
    Column("request_id", _Name, primary_key=True),
    Column("digest", _Name, nullable=False),
    Column("response", LargeBinary, nullable=False),
    Column("time", _Time, nullable=False, index=True),
)

leases = Table(
    "leases",
    metadata,
    Column("work", _Name, primary_key=True),
    Column("owner", _Name, nullable=False),
    Column("end_time", _Time, nullable=False),
)


RecordType = TypeVar("RecordType", bound=Struct)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_ENUMERATIONS = {"state": SubmissionState, "role": Role}


def to_row(record: Struct) -> dict[str, Any]:
    """Column values of a record; times become integers."""
    return {name: _to_column(getattr(record, name)) for name in record.__struct_fields__}


def from_row(record: type[RecordType], row: Mapping[Any, Any], **given: Any) -> RecordType:
    """Build a record from a row.

    Args:
        record: Class of the record.
        row: Columns by name; others are ignored.
        given: Fields that are not columns.
    """
    values = {name: row[name] for name in record.__struct_fields__ if name not in given}
    for name, convert in _converted(record):
        if values.get(name) is not None:
            values[name] = convert(values[name])
    return record(**values, **given)


def from_values(record: type[RecordType], values: Sequence[Any]) -> RecordType:
    """Build a record from the values of its fields' columns, in order."""
    return from_row(record, dict(zip(record.__struct_fields__, values, strict=True)))


def from_microseconds(microseconds: int) -> datetime:
    """A time in UTC."""
    return _EPOCH + microseconds * _MICROSECOND


def to_microseconds(time: datetime) -> int:
    """Microseconds since 1970 in UTC, an integer."""
    return (time - _EPOCH) // _MICROSECOND


def _to_column(value: Any) -> Any:
    return to_microseconds(value) if isinstance(value, datetime) else value


@cache
def _converted(record: type[Struct]) -> tuple[tuple[str, Callable[[Any], Any]], ...]:
    """Columns that a record has in another type, with their converters."""
    names = record.__struct_fields__
    times = [name for name in names if name == "time" or name.endswith("_time")]
    named = [(name, kind) for name, kind in _ENUMERATIONS.items() if name in names]
    truths = [field.name for field in fields(record) if field.type is bool]  # SQLite has integers
    return (*((name, from_microseconds) for name in times), *named, *((n, bool) for n in truths))


# --- Queries

PAYLOADS_AT_ONCE = 4
"""Payloads per fetch; each may be as large as a message."""


class RecordReader:
    """Reads records from one consistent state of the store.

    Args:
        connection: Connection whose transaction defines the state.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def _one(self, query: Select[Any], record: type[RecordType], **given: Any) -> RecordType | None:
        row = self._connection.execute(query).mappings().one_or_none()
        return None if row is None else from_row(record, row, **given)

    def _all(self, query: Select[Any], record: type[RecordType]) -> list[RecordType]:
        rows = self._connection.execute(query).mappings().all()  # at once: one by one takes longer
        return [from_row(record, row) for row in rows]

    def _streamed(self, query: Select[Any]) -> Iterator[Any]:
        """Rows, streamed as they are fetched, because a submission may have gigabytes."""
        options = query.execution_options(yield_per=PAYLOADS_AT_ONCE)
        return iter(self._connection.execute(options))
