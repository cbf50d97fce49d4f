"""Lookups that nearly every call makes.

Their statements are compiled once: building and running one through SQLAlchemy takes 60 to 150 us
instead of 6 to 10.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from msgspec import Struct
from sqlalchemy import Column, Connection, Executable, Table, bindparam, literal_column, select

from vidscore_server.store import tables as t
from vidscore_server.store.prepared import Prepared, PreparedBlocks, numbered
from vidscore_server.store.records import (
    BenchmarkRecord,
    ScoreRecord,
    StreamRecord,
    SubmissionRecord,
)
from vidscore_server.store.tables import from_values

_OF_BENCHMARK = t.benchmarks.c.benchmark == bindparam("benchmark_name")
_OF_SUBMISSION = _OF_BENCHMARK & (t.submissions.c.submission == bindparam("submission_name"))


def _columns(record: type[Struct], *sources: Table) -> list[Column[Any]]:
    """Columns for the fields of a record, in order, each from the first table that has it."""
    names = record.__struct_fields__
    return [next(table.c[name] for table in sources if name in table.c) for name in names]


def _of_submission(columns: Iterable[Column[Any]]) -> Executable:
    of_benchmark = t.benchmarks.c.id == t.submissions.c.benchmark_id
    return select(*columns).join(t.benchmarks, of_benchmark).where(_OF_SUBMISSION)


def _scores(*, published_only: bool) -> Callable[[str], Executable]:
    """Scores of a submission below a number, newest first."""

    def build(_: str) -> Executable:
        number = t.scores.c.number
        query = (
            select(*_columns(ScoreRecord, t.scores, t.submissions, t.benchmarks))
            .join(t.submissions, t.submissions.c.id == t.scores.c.submission_id)
            .join(t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id)
            .where(_OF_SUBMISSION, number < bindparam("before"))
            .order_by(number.desc())
            .limit(bindparam("most"))
            .offset(literal_column("0"))  # SQLite would make it a parameter
        )
        return query.where(t.scores.c.published) if published_only else query

    return build


def _build_streams(count: int) -> Executable:
    """Streams of submissions, by name, each followed by the name of its submission."""
    return (
        select(*_columns(StreamRecord, t.streams), t.submissions.c.submission)
        .join(t.submissions, t.submissions.c.id == t.streams.c.submission_id)
        .join(t.benchmarks, t.benchmarks.c.id == t.submissions.c.benchmark_id)
        .where(_OF_BENCHMARK, t.submissions.c.submission.in_(numbered("submission", count)))
        .order_by(t.streams.c.stream)
    )


_BENCHMARK = Prepared(
    lambda _: select(*_columns(BenchmarkRecord, t.benchmarks)).where(_OF_BENCHMARK)
)
_SUBMISSION = Prepared(
    lambda _: _of_submission(
        [*_columns(SubmissionRecord, t.submissions, t.benchmarks), t.submissions.c.id]
    )
)
_SUBMISSION_ID = Prepared(lambda _: _of_submission([t.submissions.c.id]))
_SCORES = Prepared(_scores(published_only=False))
_PUBLISHED_SCORES = Prepared(_scores(published_only=True))
_STREAMS = PreparedBlocks(_build_streams, ["submission"])

_BEHIND_ALL = (1 << 63) - 1
"""A number of a score above all others."""


def find_benchmark(connection: Connection, benchmark: str) -> BenchmarkRecord | None:
    """One benchmark; None for no such benchmark."""
    values = _BENCHMARK.first(connection, {"benchmark_name": benchmark})
    return None if values is None else from_values(BenchmarkRecord, values)


def find_submission(
    connection: Connection, benchmark: str, submission: str
) -> tuple[SubmissionRecord, int] | None:
    """One submission, with its row number; None for no such submission."""
    row = {"benchmark_name": benchmark, "submission_name": submission}
    found = _SUBMISSION.first(connection, row)
    if found is None:
        return None
    *values, number = found
    return from_values(SubmissionRecord, values), int(number)


def find_submission_id(connection: Connection, benchmark: str, submission: str) -> int | None:
    """Row number of a submission; None for no such submission."""
    row = {"benchmark_name": benchmark, "submission_name": submission}
    found = _SUBMISSION_ID.first(connection, row)
    return None if found is None else int(found[0])


def find_streams(
    connection: Connection, benchmark: str, submissions: Iterable[str]
) -> dict[str, list[StreamRecord]]:
    """Append streams, by name, of those submissions of a benchmark that have any."""
    names = [(name,) for name in dict.fromkeys(submissions)]
    found: dict[str, list[StreamRecord]] = {}
    for *values, submission in _STREAMS.all(connection, names, {"benchmark_name": benchmark}):
        found.setdefault(submission, []).append(from_values(StreamRecord, values))
    return found


def find_scores(
    connection: Connection,
    benchmark: str,
    submission: str,
    before: int | None,
    limit: int,
    *,
    published_only: bool,
) -> list[ScoreRecord]:
    """Scores of a submission with numbers below `before` (None: all), newest first."""
    row = {
        "benchmark_name": benchmark,
        "submission_name": submission,
        "before": _BEHIND_ALL if before is None else before,
        "most": limit,
    }
    statement = _PUBLISHED_SCORES if published_only else _SCORES
    return [from_values(ScoreRecord, values) for values in statement.all(connection, row)]
