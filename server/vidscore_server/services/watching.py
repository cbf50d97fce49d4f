"""Follow a submission: what it is now, then whatever it becomes, until it has ended."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.access.caller import Caller
from vidscore_server.codec.submission_codec import write_submission
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.live import LiveScore
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.states import ENDED
from vidscore_server.services.exchange import Responses
from vidscore_server.services.score_writing import ScoreWriter
from vidscore_server.store import Reader

LOOK_AGAIN_S = 5.0
"""Longest time between two looks, for what nobody told about."""


class Watcher:
    """Follows a submission for one call.

    Args:
        hosting: The server's hosted benchmarks.
        scores: Writes scores as far as the caller may see them.
        caller: Who calls.
    """

    def __init__(self, hosting: Hosting, scores: ScoreWriter, caller: Caller) -> None:
        """Follow nothing yet."""
        self._hosting = hosting
        self._scores = scores
        self._caller = caller

    async def run(
        self,
        name: SubmissionName,
        from_revision: int,
        responses: Responses[pb.WatchSubmissionResponse],
    ) -> None:
        """Send what is newer than a revision, and go on until the submission has ended."""
        site = self._hosting.site
        seen = from_revision
        sent: LiveScore | None = None
        shortest_s = site.settings.minimum_live_interval_ms / 1000
        while True:
            change = site.changes.waiter(name)
            try:
                message, ended = await site.read(lambda reader: self._look(reader, name))
                live = None if ended else await self._hosting.live.newest(name)
                if live is not None:
                    if live.reports and not self._caller.is_organiser:
                        await self._hosting.live.charge(name)
                    message.scores.extend(
                        self._scores.write_live(name.benchmark, live, self._caller)
                    )
                if message.submission.revision > seen or live is not sent:
                    seen, sent = max(seen, message.submission.revision), live
                    await responses.send(message)
                if ended:
                    return
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_AGAIN_S):
                        await change
            finally:
                site.changes.forget(name, change)
            await asyncio.sleep(shortest_s)

    def _look(
        self, reader: Reader, name: SubmissionName
    ) -> tuple[pb.WatchSubmissionResponse, bool]:
        found = self._hosting.submissions.view(reader, name, self._caller)
        newest = self._scores.newest(reader, name, self._caller).values()
        message = pb.WatchSubmissionResponse(
            submission=write_submission(found),
            scores=self._scores.write(reader, name, list(newest), self._caller),
        )
        return message, found.record.state in ENDED
