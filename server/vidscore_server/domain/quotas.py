"""Quotas: how many submissions a team may have scored, and what it may hold in the store.

A submission counts from its first frame on, until it ends without a score. If a score of it was
shown before, it keeps counting. A draft costs nothing, nor does a submission that fails or is
cancelled before a score was shown. If outcomes of a score were shown, that counts as one more
submission in all: it is another answer from the truth.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from msgspec import Struct

from vidscore_evaluators.names import counted
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import SubmissionName, benchmark_name
from vidscore_server.domain.states import TAKES_FRAMES, is_draft
from vidscore_server.errors import NoFramesError, NotOpenError, QuotaError, SubmissionEndedError
from vidscore_server.settings import MEBIBYTE, Settings
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import BenchmarkRecord, SubmissionRecord

IN_ALL = "submissions_in_all"


class Quota(Struct, frozen=True):
    """A limit on a team's submissions, and how much of it is used.

    Attributes:
        name: Name of the policy's field.
        maximum: Maximum number of submissions.
        used: Number of submissions that count.
        renew_time: When it is renewed; None for never.
    """

    name: str
    maximum: int
    used: int
    renew_time: datetime | None

    @property
    def left(self) -> int:
        """Submissions that the team may still have."""
        return max(0, self.maximum - self.used)


def quotas_of(
    reader: Reader, benchmark: str, team: str, definition: Definition, now: datetime
) -> list[Quota]:
    """The quotas of a benchmark, with a team's usage."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    limits = (
        (
            "submissions_per_day",
            definition.policy.submissions_per_day,
            midnight,
            midnight + timedelta(days=1),
        ),
        (IN_ALL, definition.submission_budget, None, None),
    )
    shown = reader.shown_outcomes_count(benchmark, team)
    return [
        Quota(
            name,
            maximum,
            reader.scored_count(benchmark, team, since) + (shown if name == IN_ALL else 0),
            renewal,
        )
        for name, maximum, since, renewal in limits
        if maximum
    ]


def refuse_over_quota(
    reader: Reader,
    benchmark: str,
    team: str,
    definition: Definition,
    now: datetime,
    *,
    more: int = 0,
) -> None:
    """Refuse if a team exceeds a quota.

    Args:
        reader: A state of the store.
        benchmark: The benchmark.
        team: The team.
        definition: Its definition.
        now: The time.
        more: Additional submissions that do not count yet.

    Raises:
        QuotaError: If a quota is exceeded.
    """
    for quota in quotas_of(reader, benchmark, team, definition, now):
        if quota.used + more > quota.maximum:
            raise QuotaError(
                f"the team's quota {quota.name} of {quota.maximum} is used up; "
                "running submissions count",
                quota=quota.name,
                maximum=str(quota.maximum),
            )


# --- Usage of a team: open submissions, and bytes of detections
#
# Quotas count scored submissions; these bounds count what is stored, whatever becomes of it, so
# that one team cannot fill the store. What a cancelled submission held is freed in the background.

OPEN_SUBMISSIONS = "maximum_team_open_submissions"
MEBIBYTES = "maximum_team_mebibytes"


def team_usage(reader: Reader, benchmark: str, team: str, settings: Settings) -> list[Quota]:
    """The bounds, named after their settings, with a team's usage."""
    held = reader.holdings(benchmark, team)
    mebibytes = -(-held.byte_count // MEBIBYTE)
    return [
        Quota(OPEN_SUBMISSIONS, settings.maximum_team_open_submissions, held.open_count, None),
        Quota(MEBIBYTES, settings.maximum_team_mebibytes, mebibytes, None),
    ]


def refuse_further_open(reader: Reader, benchmark: str, team: str, settings: Settings) -> None:
    """Refuse another submission if a team has the maximum number of open ones.

    Raises:
        QuotaError: If it has.
    """
    most = settings.maximum_team_open_submissions
    held = reader.holdings(benchmark, team)
    if held.open_count >= most:
        raise QuotaError(
            f"the team has {counted(held.open_count, 'open submission')} to "
            f"{benchmark_name(benchmark)}, "
            f"including drafts, and may have {most} at a time: seal or cancel one; a draft that "
            "nobody continues is deleted automatically",
            quota=OPEN_SUBMISSIONS,
            maximum=str(most),
        )


def refuse_more_bytes(reader: Reader, submission: SubmissionRecord, most: int) -> None:
    """Refuse bytes if a team holds more than allowed; checked for each begun mebibyte.

    Args:
        reader: A state that includes the bytes.
        submission: The submission that they belong to.
        most: Maximum mebibytes that a team may hold in the benchmark.

    Raises:
        QuotaError: If it holds more.
    """
    benchmark = submission.benchmark
    mebibytes = -(-reader.holdings(benchmark, submission.team).byte_count // MEBIBYTE)
    if mebibytes > most:
        raise QuotaError(
            f"the team's submissions to {benchmark_name(benchmark)} would hold {mebibytes} "
            f"MiB of {most} MiB that they may hold: cancel one that is not scored, "
            "or ask an organiser for a higher maximum_team_mebibytes of the server",
            quota=MEBIBYTES,
            maximum=str(most),
        )


# --- Drafts: submissions to which no frame was appended yet
#
# A draft has a row, because its streams need epochs and offsets, but only its own team sees it: it
# is not listed, takes no place in a quota, cannot be sealed, and is deleted when a submission would
# be sealed or cancelled by time. Its first frames make it a submission.

DELETED = "draft_deleted"
"""Action of the server on an idle draft, in the audit record."""


def admit(
    transaction: Transaction, benchmarks: Benchmarks, record: SubmissionRecord, now: datetime
) -> None:
    """Turn a draft into a submission, which takes a place in its team's quota.

    Args:
        transaction: The transaction, which has its frames; no other submission may be written
            meanwhile.
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
    """Refuse if a benchmark takes no submissions now.

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


def refuse_ended(record: SubmissionRecord) -> None:
    """Raise a `SubmissionEndedError` for a submission that takes no more frames."""
    if record.state not in TAKES_FRAMES:
        raise SubmissionEndedError(
            f"the submission is {record.state} and takes no more frames", state=record.state.value
        )


def refuse_draft(record: SubmissionRecord) -> None:
    """Refuse to seal a draft.

    Raises:
        NoFramesError: If it has no frames.
    """
    if is_draft(record):
        name = SubmissionName(record.benchmark, record.submission)
        raise NoFramesError(
            f"{name} has no frames, so there is nothing to score; append frames first "
            "(one without detections is a frame), or cancel it"
        )
