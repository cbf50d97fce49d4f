"""The parts of a hosting server, and its background work."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection
from contextlib import suppress

from vidscore_server.domain.append_queue import AppendQueue
from vidscore_server.domain.append_rules import RuleCache
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.board_rows import KeptBoards
from vidscore_server.domain.board_updates import BoardUpdater
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.context import ChangePoller, Context
from vidscore_server.domain.disqualification import Disqualifications
from vidscore_server.domain.expirer import Expirer
from vidscore_server.domain.final_order import FinalChoices
from vidscore_server.domain.invitations import Invitations
from vidscore_server.domain.leases import Leases
from vidscore_server.domain.live import LiveScores
from vidscore_server.domain.live_answers import LiveAnswers
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.outcomes import SubmissionOutcomes
from vidscore_server.domain.rescoring import Rescoring
from vidscore_server.domain.schedule import Heartbeat, Told
from vidscore_server.domain.scorer import Scorer
from vidscore_server.domain.scoring import Scheduler
from vidscore_server.domain.stored_detections import StoredDetections
from vidscore_server.domain.submissions import Submissions
from vidscore_server.domain.tier_updates import TierUpdater
from vidscore_server.domain.trust import TrustAnalyses
from vidscore_server.domain.truth import TruthStore
from vidscore_server.domain.windows import Windows
from vidscore_server.executors import JobRunner
from vidscore_server.logs import log, log_lasting, places_of
from vidscore_server.workers import WorkerPool


class Hosting:
    """The hosted benchmarks of a server.

    Attributes:
        context: The hosting context.
        workers: The worker processes.
        leases: Leases of this server.
        benchmarks: Benchmarks.
        truth: Their truth.
        rules: Rules of appends to them.
        submissions: Their submissions.
        disqualifications: Removes submissions from rankings.
        invitations: Invitations of teams.
        budget: Bounds the bytes that are received and not stored.
        appends: Queue of batches to append.
        live_answers: Clocks of the submissions to live benchmarks.
        scorer: The scorer.
        scheduler: Scores sealed submissions.
        live: Scores of submissions that still receive.
        boards: Moves boards to the newest truth and rules.
        windows: Scores over the last frames of submissions.
        tiers: Updates the tiers of boards.
        rescoring: Re-scores on request.
        trust: Trust analyses.
        outcomes: Outcomes of scored submissions.
        choices: Teams' choices for final orders.
        detections: Reads the frames of submissions.
        heartbeat: Records that the site serves.
        expirer: Expires idle submissions.
    """

    def __init__(self, context: Context, workers: WorkerPool, executor: JobRunner) -> None:
        self.context = context
        self.workers = workers
        self.leases = Leases(context)
        self.benchmarks = Benchmarks(context)
        self.truth = TruthStore(context, self.leases)
        self.heartbeat = Heartbeat(context)
        self.rules = RuleCache(context, self.benchmarks, self.truth)
        self.submissions = Submissions(context, self.benchmarks, self.heartbeat)
        self.choices = FinalChoices(context, self.benchmarks, self.submissions)
        self.disqualifications = Disqualifications(context, self.benchmarks)
        self.invitations = Invitations(context)
        self.budget = ByteBudget(context.settings)
        self.appends = AppendQueue(context, self.benchmarks, self.budget, workers)
        self.live_answers = LiveAnswers(
            context, self.benchmarks, self.rules, self.submissions, self.budget, workers
        )
        self.scorer = Scorer(context, self.benchmarks, self.truth, workers, executor)
        self.scheduler = Scheduler(context, self.benchmarks, self.scorer, self.leases)
        self.live = LiveScores(context, self.benchmarks, self.scorer)
        self.windows = Windows(context, self.scorer)
        self.boards = BoardUpdater(context, self.benchmarks, self.scorer, self.leases)
        self.kept_boards = KeptBoards()
        self.tiers = TierUpdater(
            context, self.benchmarks, self.scorer, self.leases, self.kept_boards
        )
        self.rescoring = Rescoring(context, self.benchmarks, self.scorer, self.leases)
        self.trust = TrustAnalyses(context, self.benchmarks, self.scorer, self.leases)
        self.outcomes = SubmissionOutcomes(context, self.benchmarks, self.scorer, workers)
        self.detections = StoredDetections(context, self.benchmarks)
        self.expirer = Expirer(context, self.benchmarks, self.submissions, self.heartbeat)
        self._due = asyncio.Event()
        self._own_work: list[asyncio.Task[None]] = []

    async def start(self, told: Told) -> None:
        """Start background work; the first heartbeat is written on return.

        Args:
            told: Called with whether the store can be written to, whenever that changes.
        """
        if not await self.context.read(lambda reader: reader.tokens(None, 1)):
            log(logging.WARNING, "store without tokens")
        await self.heartbeat.beat()
        self._own_work.append(asyncio.create_task(self.heartbeat.beat_on(told)))
        self._own_work.append(asyncio.create_task(self._keep_up()))
        if self.context.store.shared:
            poller = ChangePoller(self.context.changes, self._revisions)
            self._own_work.append(asyncio.create_task(poller.follow()))

    async def stop(self) -> None:
        """Stop background work; a restart continues it."""
        for task in self._own_work:
            task.cancel()
        await asyncio.gather(*self._own_work, return_exceptions=True)
        await self.scheduler.stop()
        for work in (self.boards, self.tiers, self.rescoring, self.trust):
            await work.operations.stop()

    def wake(self) -> None:
        """Look for work now, because something has changed."""
        self._due.set()

    async def work(self) -> None:
        """Do or start all work that is due."""
        await self.context.adjust_clock()
        await self.expirer.expire()
        await self.scheduler.advance()
        await self.rescoring.advance()
        await self.boards.advance()
        await self.trust.advance()
        await self.tiers.advance()

    async def _revisions(self, names: Collection[SubmissionName]) -> dict[SubmissionName, int]:
        found = await self.context.read(lambda reader: reader.submission_revisions(names))
        return {SubmissionName(*name): revision for name, revision in found.items()}

    async def _keep_up(self) -> None:
        interval_s = self.context.settings.upkeep_interval_ms / 1000
        while True:
            try:
                await self.work()
            except Exception as error:  # noqa: BLE001 - it must go on, whatever it is
                log_lasting(logging.ERROR, "upkeep failed", places=places_of(error))
            with suppress(TimeoutError):
                async with asyncio.timeout(interval_s):
                    await self._due.wait()
            self._due.clear()
