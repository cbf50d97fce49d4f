"""Drafts: submissions to which no frame was appended yet.

A draft has a row, because its streams need epochs and offsets, and is nothing to anybody but its
own team: it is not listed, takes no place in a quota, cannot be sealed, and is deleted where a
submission would be sealed or cancelled by time. Its first frames make it a submission.
"""

from __future__ import annotations

from datetime import datetime

from vidscore_server.errors import NoFramesError, NotOpenError
from vidscore_server.hosting.benchmarks import Benchmarks, required_benchmark
from vidscore_server.hosting.names import SubmissionName, benchmark_name
from vidscore_server.hosting.quotas import refuse_over_quota
from vidscore_server.store import Transaction
from vidscore_server.store.records import BenchmarkRecord, SubmissionRecord

DELETED = "draft_deleted"
"""What the server does on its own to a draft that nobody continues, in the audit record."""


def is_draft(record: SubmissionRecord) -> bool:
    """Whether a submission has no frame."""
    return record.frame_count == 0


def admit(
    transaction: Transaction, benchmarks: Benchmarks, record: SubmissionRecord, now: datetime
) -> None:
    """Let a draft become a submission, and take a place in its team's quota.

    Args:
        transaction: Where it is one already; no other submission may be written to meanwhile.
        benchmarks: The benchmarks of the site.
        record: The submission.
        now: The time.

    Raises:
        NotOpenError: If the benchmark takes no submissions now.
        QuotaError: If the team has no place left.
    """
    benchmark = required_benchmark(transaction, record.benchmark)
    refuse_closed(benchmark, now)
    definition = benchmarks.definition(benchmark)
    refuse_over_quota(transaction, record.benchmark, record.team, definition, now)


def refuse_closed(benchmark: BenchmarkRecord, now: datetime) -> None:
    """Refuse where a benchmark takes no submissions.

    Raises:
        NotOpenError: If it has not opened yet, or has closed.
    """
    name = benchmark_name(benchmark.benchmark)
    if benchmark.open_time is not None and now < benchmark.open_time:
        opening = benchmark.open_time.isoformat()
        raise NotOpenError(f"{name} opens at {opening}", open_time=opening)
    if benchmark.close_time is not None and now >= benchmark.close_time:
        closing = benchmark.close_time.isoformat()
        raise NotOpenError(f"{name} closed at {closing}", close_time=closing)


def refuse_draft(record: SubmissionRecord) -> None:
    """Refuse to seal what has no frame.

    Raises:
        NoFramesError: If it has none.
    """
    if is_draft(record):
        name = SubmissionName(record.benchmark, record.submission)
        raise NoFramesError(
            f"{name} has no frames, so there is nothing to score; append frames first "
            "(one without detections is a frame), or cancel it"
        )
