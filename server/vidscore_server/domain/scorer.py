"""Turn a stored submission of any size into results, in worker processes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator, Unit
from vidscore_evaluators.hours import run_hours_job
from vidscore_evaluators.jobs import PARTS_PER_WORKER, Job, make_job, split, unit_of
from vidscore_evaluators.names import counted
from vidscore_evaluators.report import Curve, Report
from vidscore_evaluators.streaming_accuracy import StreamingAnswers, online_reports
from vidscore_evaluators.tally import Tally, merge_tallies
from vidscore_evaluators.tally_bytes import tally_from_bytes
from vidscore_evaluators.trust.tiers import DrawsJob
from vidscore_server.domain.append_rules import NameCheck, check_names, known_names, late_warnings
from vidscore_server.domain.batches import unpacked
from vidscore_server.domain.benchmarks import Benchmarks
from vidscore_server.domain.context import Context
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.online import AnswerTimes, answer_times
from vidscore_server.domain.parts import (
    Part,
    PartPlan,
    ScoringInput,
    plan_parts,
    sides_to_score,
    without_truth,
)
from vidscore_server.domain.plug_ins import report_of
from vidscore_server.domain.policy import SubmittedNames
from vidscore_server.domain.portions import PartTallies, Place, estimate, places, public_side
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.report_size import refuse_large_report, refuse_many_names
from vidscore_server.domain.scores import PackedReport, Result, pack_report, submitted_names
from vidscore_server.domain.truth import TruthStore
from vidscore_server.errors import WorkFailedError
from vidscore_server.executors import JobRunner
from vidscore_server.logs import places_of
from vidscore_server.store import Reader
from vidscore_server.workers import WorkerPool

StreamingReports = Mapping[Portion, Sequence[Report]]
"""Reports of streaming accuracy by part of the data, in the order of the evaluators."""

NO_STREAMING = "there is no streaming accuracy of this submission: {why}"


class Sides(Struct, frozen=True):
    """A submission and the truth that it is scored against, as received.

    Attributes:
        definition: The benchmark.
        truth: Truth.
        detections: Detections.
        revision: Revision of the truth.
        partial: Whether the truth is not complete.
    """

    definition: Definition
    truth: Annotations
    detections: Annotations
    revision: int
    partial: bool

    def to_score(self, *, complete: bool) -> tuple[Annotations, Annotations]:
        """Truth and detections as evaluators get them; see `sides_to_score`."""
        specification = self.definition.specification
        return sides_to_score(specification, self.truth, self.detections, complete=complete)


class _Plan(Struct, frozen=True):
    """How a submission is scored: as `Sides`, with the plan of its parts and its times."""

    definition: Definition
    truth: Annotations
    stock: PartPlan
    revision: int
    partial: bool
    times: AnswerTimes | None


class Scorer:
    """Turns stored submissions into results, in worker processes.

    Args:
        context: The hosting context.
        benchmarks: Its benchmarks.
        truth: Their truth.
        workers: The worker processes.
        executor: Scores large submissions, and scores for boards that move.
    """

    def __init__(
        self,
        context: Context,
        benchmarks: Benchmarks,
        truth: TruthStore,
        workers: WorkerPool,
        executor: JobRunner,
    ) -> None:
        self._context = context
        self._benchmarks = benchmarks
        self._truth = truth
        self._workers = workers
        self._executor = executor

    async def results(
        self, name: SubmissionName, revision: int, *, again: bool = False
    ) -> list[Result]:
        """Score a submission once under a revision of the truth, by every evaluator.

        Args:
            name: The submission.
            revision: Revision of the truth.
            again: Whether to score for a board that moves.

        Raises:
            TimeoutError: If it takes longer than the settings allow.
            VidscoreError: Raised by the work.
            LookupError: If the submission or the revision is gone.
        """
        async with asyncio.timeout(self._context.settings.scoring_timeout_s):
            plan = await self._context.read(lambda reader: self._plan(reader, name, revision))
            large = again or plan.stock.size_bytes >= self._context.settings.executor_bytes
            runner = self._executor if large else self._workers
            names = known_names(plan.definition, None if plan.partial else plan.truth)
            tallies = PartTallies(plan.definition)
            checks: list[NameCheck] = []
            submitted = SubmittedNames()
            async for both, came in self._parts(name, plan):
                checks.append(await asyncio.to_thread(check_names, names, came, ""))
                submitted |= submitted_names(came)
                refuse_many_names(self._context.settings, plan.definition, submitted)
                found = await self._place_tallies(plan.definition, both, runner)
                await asyncio.to_thread(tallies.add, found)
                del both, came
            key = self._context.keyed(name.benchmark, f"estimate/{name.submission}/{revision}")
            streaming, doubts = await self._streaming(plan, runner)
            reports = {
                portion: await self.reports(plan.definition.evaluators, own)
                for portion, own in (await asyncio.to_thread(tallies.parts)).items()
            }
            jobs = await asyncio.to_thread(tallies.estimate_jobs, key)
            estimates = [None if job is None else await estimate(self.draws, job) for job in jobs]
            results = await asyncio.to_thread(
                _results, plan, reports, estimates, submitted, streaming
            )
            warnings = (*late_warnings(checks), *doubts)
            return [replace(result, warnings=warnings) for result in results]

    async def _streaming(
        self, plan: _Plan, runner: JobRunner
    ) -> tuple[StreamingReports, tuple[str, ...]]:
        """Reports of streaming accuracy, and warnings about them for the team.

        There are none if the submission did not answer by a clock, or the truth is incomplete.
        """
        if plan.times is None or plan.partial:
            return {}, ()
        if plan.stock.everything is None:
            return {}, (NO_STREAMING.format(why="it has too many detections"),)
        try:
            found = await asyncio.to_thread(_answers, plan)
            return {
                portion: await self._online_reports(plan.definition.evaluators, answers, runner)
                for portion, answers in found.items()
            }, ()
        except InputError:  # its faults may name frames of the truth
            why = "the times of its answers do not fit the benchmark as it is now"
            return {}, (NO_STREAMING.format(why=why),)

    async def _online_reports(
        self,
        evaluators: Sequence[Evaluator[Any]],
        answers: StreamingAnswers,
        runner: JobRunner,
    ) -> list[Report]:
        by_budget: list[list[Report]] = []
        for budget_s in answers.budgets_s:
            held = await asyncio.to_thread(answers.held, budget_s)
            tallies = await self.tallies(evaluators, answers.truth, held, runner=runner)
            by_budget.append(await self.reports(evaluators, tallies))
        return online_reports(evaluators, answers, by_budget)

    async def _place_tallies(
        self,
        definition: Definition,
        both: tuple[Annotations, Annotations],
        runner: JobRunner,
    ) -> dict[Place, list[Tally]]:
        """Tallies of each evaluator for every place that is tallied separately."""
        found = await asyncio.to_thread(places, definition, both)
        async with asyncio.TaskGroup() as tasks:
            running = {
                place: tasks.create_task(self.tallies(definition.evaluators, *sides, runner=runner))
                for place, sides in found.items()
            }
        return {place: task.result() for place, task in running.items()}

    async def sides_in_parts(
        self, name: SubmissionName, revision: int, evaluator: Evaluator[Any], configuration: str
    ) -> AsyncIterator[tuple[Annotations, Annotations]]:
        """Both sides of a submission as an evaluator gets them, in pieces that fit in memory.

        Args:
            name: The submission.
            revision: Revision of the truth.
            evaluator: The evaluator.
            configuration: Its configuration, which must be that of the benchmark.

        Yields:
            Frames of both sides; whole sequences if the evaluator needs them.

        Raises:
            LookupError: If the submission or the revision is gone, or the rules have changed.
        """
        plan = await self._context.read(
            lambda reader: self._plan(reader, name, revision, [evaluator])
        )
        if plan.definition.configurations.get(evaluator.name) != configuration:
            raise LookupError(f"{configuration} of {name}")
        async for both, _ in self._parts(name, plan):
            yield both

    async def _parts(
        self, name: SubmissionName, plan: _Plan
    ) -> AsyncIterator[tuple[tuple[Annotations, Annotations], Annotations]]:
        """Both sides of each part as evaluators get them, and its detections as received."""
        arity = plan.definition.arity(Side.DETECTIONS)
        specification = plan.definition.specification
        meeting = await asyncio.to_thread(
            ScoringInput, specification, plan.truth, complete=not plan.partial
        )
        if plan.stock.everything is not None:
            everything = plan.stock.everything
            yield await asyncio.to_thread(meeting.all_at_once, everything), everything
            return
        left = plan.stock.frame_count
        for part in plan.stock.parts:
            came = await self._context.read(partial(self._read_part, name, part, arity))
            left -= came.frame_count
            yield await asyncio.to_thread(meeting.meet, part, came), came
            del came  # otherwise two parts would be in memory
        if left:
            # it was deleted and created anew meanwhile
            raise LookupError(f"{counted(left, 'frame')} of {name}")
        if (rest := await asyncio.to_thread(meeting.rest, arity)) is not None:
            yield rest, rest[1]

    def _read_part(
        self, name: SubmissionName, part: Part, arity: int, reader: Reader
    ) -> Annotations:
        """The detections of a part, from the batches that hold it."""
        start, wanted = part.rows[0], frozenset(part.rows)
        payloads = reader.detection_payloads(*name, start, part.rows[-1] + 1 - start)
        chosen = (payload for row, payload in enumerate(payloads, start) if row in wanted)
        return part.read(self._context.codec, unpacked(chosen), arity)

    async def tallies(
        self,
        evaluators: Sequence[Evaluator[Any]],
        truth: Annotations,
        detections: Annotations,
        *,
        runner: JobRunner | None = None,
    ) -> list[Tally]:
        """Tallies of evaluators over both sides, equal to those of one process.

        Args:
            evaluators: The evaluators.
            truth: Truth.
            detections: Detections.
            runner: What runs the jobs; by default, the worker processes.

        Raises:
            ExceptionGroup: With the errors of the work; no text of them quotes the truth.
        """
        runner = runner or self._workers
        part_count = PARTS_PER_WORKER * await runner.capacity()
        unit = unit_of(evaluators)
        parts = await asyncio.to_thread(list, split(truth, detections, part_count, unit))
        parts = parts or [(truth, detections)]
        async with asyncio.TaskGroup() as tasks:
            running = [
                [tasks.create_task(_tallied(runner, make_job(entry, *part))) for part in parts]
                for entry in evaluators
            ]
        return [
            await asyncio.to_thread(_merged, [task.result() for task in done]) for done in running
        ]

    async def reports(
        self, evaluators: Sequence[Evaluator[Any]], tallies: Sequence[Tally | None]
    ) -> list[Report]:
        """The reports of evaluators over hidden truth.

        Args:
            evaluators: The evaluators.
            tallies: The tally of each; None for that of no frames.

        Raises:
            WorkFailedError: As for `quoting_nothing`, or if a plug-in fails.
        """
        with quoting_nothing():
            return [
                await report_of(self._workers, evaluator, tally)
                for evaluator, tally in zip(evaluators, tallies, strict=True)
            ]

    async def bounded_reports(
        self, evaluators: Sequence[Evaluator[Any]], tallies: Sequence[Tally | None]
    ) -> list[Report]:
        """The same, for a caller who sees all of them, while a submission receives.

        Raises:
            LimitError: If one would be too large.
            WorkFailedError: As `reports` does.
        """
        for evaluator, tally in zip(evaluators, tallies, strict=True):
            await asyncio.to_thread(refuse_large_report, self._context.settings, evaluator, tally)
        return await self.reports(evaluators, tallies)

    async def hourly_curves(
        self, evaluators: Sequence[Evaluator[Any]], truth: Annotations, detections: Annotations
    ) -> list[list[Curve]]:
        """Curves of each evaluator by the hours of the frames' times; raises as `reports` does."""
        with quoting_nothing():
            return [
                await self._workers.work(make_job(evaluator, truth, detections), run_hours_job)
                for evaluator in evaluators
            ]

    async def draws(self, job: DrawsJob) -> FloatArray:
        """Scores of a system on draws of sequences, in a worker; raises as `reports` does."""
        with quoting_nothing():
            return await self._workers.draws(job)

    def frames_lack_truth(self, reader: Reader, name: SubmissionName, revision: int) -> bool:
        """Whether a frame of a submission is not in a revision of the truth."""
        definition, truth, _ = self._truth_of(reader, name, revision)
        batches = unpacked(reader.detection_payloads(*name))
        runs = self._context.codec.read_stored_runs(batches, definition.arity(Side.DETECTIONS))
        return any(bool(without_truth(truth, run).any()) for run in runs)

    def sides_from(
        self, reader: Reader, name: SubmissionName, revision: int, read_to: Mapping[str, int]
    ) -> tuple[Sides, dict[str, int]]:
        """Both sides as received; only detections that were not read before.

        Args:
            reader: A state of the store.
            name: The submission.
            revision: Revision of the truth.
            read_to: For each stream the offset up to which it was read.

        Returns:
            The sides, and for each stream the new offset up to which it was read.

        Raises:
            LookupError: If the benchmark or the revision is gone.
        """
        definition, truth, partial = self._truth_of(reader, name, revision)
        ends = {entry.stream: entry.next_offset for entry in reader.streams(*name)}
        payloads = chain.from_iterable(
            reader.payloads_from(*name, stream, read_to.get(stream, 0))
            for stream, end in ends.items()
            if end > read_to.get(stream, 0)
        )
        arity = definition.arity(Side.DETECTIONS)
        detections = self._context.codec.read_stored_batches(unpacked(payloads), arity)
        return Sides(definition, truth, detections, revision, partial), ends

    def columns(self, reader: Reader, name: SubmissionName, revision: int) -> Sides:
        """Both sides as received.

        Raises:
            LookupError: If the benchmark or the revision is gone.
        """
        definition, truth, partial = self._truth_of(reader, name, revision)
        batches = unpacked(reader.detection_payloads(*name))
        detections = self._context.codec.read_stored_batches(
            batches, definition.arity(Side.DETECTIONS)
        )
        return Sides(definition, truth, detections, revision, partial)

    def _plan(
        self,
        reader: Reader,
        name: SubmissionName,
        revision: int,
        evaluators: Sequence[Evaluator[Any]] | None = None,
    ) -> _Plan:
        definition, truth, partial = self._truth_of(reader, name, revision)
        if evaluators is None:
            evaluators = definition.evaluators
        stock = plan_parts(
            self._context.codec,
            unpacked(reader.detection_payloads(*name)),
            definition.arity(Side.DETECTIONS),
            self._context.settings.maximum_scoring_bytes,
            by_frame=unit_of(evaluators) is Unit.FRAME,
        )
        times = answer_times(reader, name)
        return _Plan(definition, truth, stock, revision, partial, times)

    def _truth_of(
        self, reader: Reader, name: SubmissionName, revision: int
    ) -> tuple[Definition, Annotations, bool]:
        """A submission's benchmark, its truth, and whether that is incomplete."""
        benchmark = reader.benchmark(name.benchmark)
        record = reader.truth_revision(name.benchmark, revision)
        if benchmark is None or record is None:
            raise LookupError(f"truth revision {revision} of {name}")
        definition = self._benchmarks.definition(benchmark)
        truth = self._truth.load(reader, name.benchmark, revision, definition.arity(Side.TRUTH))
        return definition, truth, not record.complete


@contextmanager
def quoting_nothing() -> Iterator[None]:
    """Run an evaluator over hidden truth.

    Both sides were checked when they came. So if it refuses them, it is wrong, and may quote the
    truth.

    Raises:
        WorkFailedError: In place of such an error; it has its place alone.
    """
    try:
        yield
    except InputError as error:
        raise WorkFailedError(places_of(error)) from None


async def _tallied(runner: JobRunner, job: Job) -> bytes:
    with quoting_nothing():
        return await runner.run(job)


def _merged(data: list[bytes]) -> Tally:
    return merge_tallies([*map(tally_from_bytes, data)])


def _answers(plan: _Plan) -> dict[Portion, StreamingAnswers]:
    """The answers, by each part of the data that has a report by streaming accuracy.

    Raises:
        InputError: If the truth has frames that are not on the clock, or times do not fit.
    """
    if plan.times is None or plan.stock.everything is None:
        return {}
    specification = plan.definition.specification
    both = sides_to_score(specification, plan.truth, plan.stock.everything, complete=True)
    timed = plan.times.on(*both)
    found = {Portion.WHOLE: StreamingAnswers.of(*timed)}
    if plan.definition.policy.keeps_private:
        public = (public_side(plan.definition, side) for side in timed)
        found[Portion.PUBLIC] = StreamingAnswers.of(*public)
    return found


def _results(
    plan: _Plan,
    reports: Mapping[Portion, Sequence[Report]],
    estimates: Sequence[dict[str, float | None] | None],
    submitted: SubmittedNames,
    streaming: StreamingReports,
) -> list[Result]:
    definition = plan.definition

    def packed(row: int, portion: Portion, report: Report) -> PackedReport:
        evaluator = definition.evaluators[row]
        online = streaming[portion][row] if portion in streaming else None
        return pack_report(definition, evaluator, report, submitted, online)

    return [
        Result(
            evaluator,
            plan.revision,
            definition.configurations[evaluator.name],
            plan.partial,
            {portion: packed(row, portion, own[row]) for portion, own in reports.items()},
            estimates[row],
        )
        for row, evaluator in enumerate(definition.evaluators)
    ]
