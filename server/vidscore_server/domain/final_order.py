"""Choices of teams for the final order of a benchmark with private sequences.

A team chooses some of its submissions while the benchmark is open, without knowing anything about
the private sequences; `vidscore_server.domain.leaderboard` decides which ones count.
"""

from __future__ import annotations

from msgspec.structs import replace

from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.quotas import refuse_closed
from vidscore_server.domain.states import is_draft
from vidscore_server.domain.submissions import Submissions, SubmissionView, visible
from vidscore_server.errors import NothingToChooseError, QuotaError
from vidscore_server.store import Reader, Transaction
from vidscore_server.store.records import SubmissionRecord, SubmissionState

FINAL_SUBMISSIONS = "final_submissions"

_LOST = frozenset({SubmissionState.FAILED, SubmissionState.CANCELLED})
"""States in which a chosen submission does not count against the limit."""


class FinalChoices:
    """Teams' choices for the final order of a site's benchmarks."""

    def __init__(self, context: Context, benchmarks: Benchmarks, submissions: Submissions) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._submissions = submissions

    async def choose(
        self, request: Request, name: SubmissionName, *, undo: bool = False
    ) -> SubmissionView:
        """Choose a submission for the final order, or undo the choice; a repeat changes nothing.

        Args:
            request: The request.
            name: The submission.
            undo: Whether to undo the choice.

        Raises:
            NotFoundError: If the caller knows no such submission.
            NotOpenError: If the benchmark has closed, or is not open yet.
            NothingToChooseError: If it cannot count for a final order.
            QuotaError: If the team has chosen the maximum number.
        """

        def command(transaction: Transaction) -> SubmissionView:
            record = visible(transaction, name, request.caller)
            benchmark = required_benchmark(transaction, name.benchmark)
            refuse_closed(benchmark, request.time)
            if record.chosen is undo:
                if not undo:
                    self._refuse(transaction, self._benchmarks.definition(benchmark), record)
                changed = replace(record, chosen=not undo, revision=record.revision + 1)
                transaction.update_submission(changed)
                request.audit(transaction, str(name), "undone" if undo else "")
            return self._submissions.view(transaction, name, request.caller)

        found = await self._context.write(command)
        self._context.changes.tell(name)
        return found

    def _refuse(self, reader: Reader, definition: Definition, record: SubmissionRecord) -> None:
        """Refuse a choice that cannot be made."""
        name = SubmissionName(record.benchmark, record.submission)
        if not definition.policy.keeps_private:
            raise NothingToChooseError(
                f"the benchmark of {name} has no private sequences: its board is the final order"
            )
        if is_draft(record) or record.state in _LOST:
            state = "a draft" if is_draft(record) else str(record.state)
            raise NothingToChooseError(
                f"{name} is {state} and cannot count for the final order; choose one with frames "
                "that was neither cancelled nor failed"
            )
        most = definition.policy.final_submissions
        chosen = sorted(
            other.submission
            for other in reader.chosen_submissions(record.benchmark, record.team)
            if other.state not in _LOST
        )
        if len(chosen) >= most:
            raise QuotaError(
                f"the team has chosen {', '.join(chosen)}, and may choose {most}: undo a choice "
                "first (vidscore submission choose NAME --undo)",
                quota=FINAL_SUBMISSIONS,
                maximum=str(most),
            )
