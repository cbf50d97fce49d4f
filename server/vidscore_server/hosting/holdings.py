"""What a team may hold in a benchmark: open submissions, and bytes of detections.

Quotas count what is scored; these bounds count what is there, whatever becomes of it, so that one
team cannot fill the store. What a cancelled submission held is freed in the background.
"""

from __future__ import annotations

from vidscore_server.errors import QuotaError
from vidscore_server.hosting.names import benchmark_name
from vidscore_server.hosting.quotas import Quota
from vidscore_server.settings import Settings
from vidscore_server.store import Reader
from vidscore_server.store.records import SubmissionRecord

MEBIBYTE = 1 << 20

OPEN_SUBMISSIONS = "maximum_team_open_submissions"
MEBIBYTES = "maximum_team_mebibytes"


def holdings_of(reader: Reader, benchmark: str, team: str, settings: Settings) -> list[Quota]:
    """The bounds, and how far a team has come; they are named as the settings are."""
    held = reader.holdings(benchmark, team)
    mebibytes = -(-held.byte_count // MEBIBYTE)
    return [
        Quota(OPEN_SUBMISSIONS, settings.maximum_team_open_submissions, held.open_count, None),
        Quota(MEBIBYTES, settings.maximum_team_mebibytes, mebibytes, None),
    ]


def refuse_further_open(reader: Reader, benchmark: str, team: str, settings: Settings) -> None:
    """Refuse a further submission where a team has as many open ones as it may.

    Raises:
        QuotaError: If it has.
    """
    most = settings.maximum_team_open_submissions
    held = reader.holdings(benchmark, team)
    if held.open_count >= most:
        raise QuotaError(
            f"the team has {held.open_count} open submissions to {benchmark_name(benchmark)}, "
            f"drafts too, of {most} that it may have at a time: seal or cancel one; a draft that "
            "nobody continues is deleted by itself",
            quota=OPEN_SUBMISSIONS,
            maximum=str(most),
        )


def refuse_more_bytes(
    reader: Reader, before: SubmissionRecord, after: SubmissionRecord, most: int
) -> None:
    """Refuse bytes where a team holds more than it may; looked at with each mebibyte that begins.

    Args:
        reader: A state that has them already.
        before: The submission without them.
        after: The submission with them.
        most: Mebibytes that a team may hold in the benchmark.

    Raises:
        QuotaError: If it holds more.
    """
    if before.byte_count and before.byte_count // MEBIBYTE == after.byte_count // MEBIBYTE:
        return
    mebibytes = -(-reader.holdings(after.benchmark, after.team).byte_count // MEBIBYTE)
    if mebibytes > most:
        raise QuotaError(
            f"the team's submissions to {benchmark_name(after.benchmark)} would hold {mebibytes} "
            f"MiB of {most} MiB that they may: cancel one that is not scored, "
            "or ask an organiser for a higher maximum_team_mebibytes of the server",
            quota=MEBIBYTES,
            maximum=str(most),
        )
