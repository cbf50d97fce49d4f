"""Disqualify submissions: they leave the ranking, for a reason that everybody may read.

Scores, frames and the place in the team's quota stay, so that it can be undone. Under ``ladder``,
releases are recomputed as if the submission did not exist.
"""

from __future__ import annotations

from msgspec.structs import replace

from vidscore_evaluators.errors import Fault, InputError
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.names import SubmissionName, parse_string
from vidscore_server.domain.publishing import publish_anew
from vidscore_server.domain.submissions import visible
from vidscore_server.store import Transaction


class Disqualifications:
    """Removes submissions from rankings, and reinstates them."""

    def __init__(self, context: Context, benchmarks: Benchmarks) -> None:
        self._context = context
        self._benchmarks = benchmarks

    async def disqualify(self, request: Request, name: SubmissionName, reason: str) -> None:
        """Disqualify a submission; an already disqualified one gets the new reason.

        Args:
            request: The request.
            name: The submission.
            reason: Why, for everybody who sees the board.

        Raises:
            InputError: If there is no reason, or its text is invalid.
            NotFoundError: If there is no such submission.
        """
        kept = parse_string(reason.strip(), "reason")
        if not kept:
            expected = "why it is disqualified, which everybody who sees the leaderboard may read"
            raise InputError([Fault("nothing", expected, field="reason")])
        await self._set(request, name, kept)

    async def reinstate(self, request: Request, name: SubmissionName) -> None:
        """Undo a disqualification; without one, nothing changes.

        Raises:
            NotFoundError: If there is no such submission.
        """
        await self._set(request, name, "")

    async def _set(self, request: Request, name: SubmissionName, reason: str) -> None:
        def command(transaction: Transaction) -> None:
            record = visible(transaction, name, request.caller)
            if record.disqualification == reason:
                return
            changed = replace(record, disqualification=reason, revision=record.revision + 1)
            transaction.update_submission(changed)
            parent = required_benchmark(transaction, name.benchmark)
            definition = self._benchmarks.definition(parent)
            if definition.policy.shown.is_ladder:
                publish_anew(transaction, definition, parent, request.time)
            request.audit(transaction, str(name), reason)

        await self._context.write(command)
        self._context.changes.tell(name)
