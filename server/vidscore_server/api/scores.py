"""Scores of submissions as messages: only what the allow-list releases."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from contextvars import ContextVar
from functools import partial

from vidscore_evaluators.report import Report
from vidscore_protos.dictionaries import FRAME_SOURCES
from vidscore_protos.v1 import report_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.api.convert import write_report, write_time
from vidscore_server.domain.access import Caller
from vidscore_server.domain.basis import shown_basis, wanted_basis
from vidscore_server.domain.benchmarks import required_benchmark
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.leaderboard import Board, counted_scores
from vidscore_server.domain.live import LiveScore
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.online import OnlineRecord, online_of
from vidscore_server.domain.policy import SubmittedNames
from vidscore_server.domain.private_part import Portion
from vidscore_server.domain.release import (
    Released,
    released_report,
    released_streaming,
    values_from_json,
    values_of,
)
from vidscore_server.domain.scores import (
    MAXIMUM_SCORES,
    ReportParts,
    released_step,
    unpack_score,
    unpack_streaming,
)
from vidscore_server.store import Reader
from vidscore_server.store.records import ScoreRecord

REPORT_PARTS: ContextVar[ReportParts] = ContextVar("REPORT_PARTS", default=ReportParts.ALL)
"""The parts of reports that a call of this process needs."""


def _shown_portion(definition: Definition, caller: Caller) -> Portion:
    """The part that a caller's report is over: private only for organisers."""
    hides = definition.policy.keeps_private and not caller.is_organiser
    return Portion.PUBLIC if hides else Portion.WHOLE


class ScoreWriter:
    """Writes the parts of scores that their reader may see.

    Args:
        hosting: The server's hosted benchmarks.
    """

    def __init__(self, hosting: Hosting) -> None:
        self._hosting = hosting

    def write(
        self, reader: Reader, name: SubmissionName, records: Sequence[ScoreRecord], caller: Caller
    ) -> list[pb.SubmissionScore]:
        """Scores of a submission as messages.

        Args:
            reader: A state of the store.
            name: The submission.
            records: Its scores.
            caller: The caller.
        """
        definition = self._hosting.benchmarks.definition(required_benchmark(reader, name.benchmark))
        newest = self.newest(reader, name, caller)
        final = self._final_scores(reader, name, definition, records, caller)
        messages = []
        for record in records:
            message = self._write(
                record, definition, caller, current=newest[record.evaluator] == record
            )
            if record.number in final:
                self._write_parts(message, record, definition, caller)
            messages.append(message)
        self._add_online(messages, records, reader, name, caller)
        return messages

    def _add_online(
        self,
        messages: Sequence[pb.SubmissionScore],
        records: Sequence[ScoreRecord],
        reader: Reader,
        name: SubmissionName,
        caller: Caller,
    ) -> None:
        """Add the fields that only submissions to live benchmarks have."""
        submission = reader.submission(*name) if messages else None
        if submission is None:
            return
        definition = self._hosting.benchmarks.definition(required_benchmark(reader, name.benchmark))
        online = write_online(online_of(reader, name, definition, submission.frame_count))
        if online is None:
            return
        for message, record in zip(messages, records, strict=True):
            message.online.CopyFrom(online)
            if REPORT_PARTS.get() is ReportParts.NONE:
                continue
            streaming = self._streaming(record, definition, caller)
            if streaming is not None:
                message.streaming_report.CopyFrom(streaming)

    def _final_scores(
        self,
        reader: Reader,
        name: SubmissionName,
        definition: Definition,
        records: Sequence[ScoreRecord],
        caller: Caller,
    ) -> set[int]:
        """Numbers of the scores whose private part the caller may see."""
        if not definition.policy.keeps_private:
            return set()
        if caller.is_organiser:
            return {record.number for record in records}
        if definition.board_portion(self._hosting.context.clock()) is not Portion.PRIVATE:
            return set()
        shown = shown_basis(required_benchmark(reader, name.benchmark))
        found: set[int] = set()
        for evaluator in definition.evaluators:
            key = None if shown is None else shown.key(evaluator.name)
            if key is not None:
                scores = reader.scores_under(name.benchmark, evaluator.name, *key)
                board = Board(name.benchmark, evaluator)
                final = counted_scores(reader, definition, board, scores)
                found |= {score.number for score in final if score.submission == name.submission}
        return found

    def write_live(
        self, benchmark: str, live: LiveScore, caller: Caller
    ) -> list[pb.SubmissionScore]:
        """A live score as messages; they have no name, because they are not stored."""
        keyed = partial(self._hosting.context.keyed, benchmark)
        none = SubmittedNames()  # live scores are shown completely
        nothing = Released({}, 0.0)
        return [
            pb.SubmissionScore(
                truth_revision=live.revision if caller.is_organiser else 0,
                report=_write_report(
                    released_report(caller, live.definition, report, nothing, none, keyed)
                ),
                partial=live.partial,
            )
            for report in live.reports
        ]

    def newest(
        self, reader: Reader, name: SubmissionName, caller: Caller
    ) -> dict[str, ScoreRecord]:
        """The newest visible score of each evaluator of a submission.

        One under the rules and the truth of the board comes before all others, which may have been
        stored later: by a re-scoring that began before the truth changed, or by a server of an
        older version. To organisers, one of the board that is to be shown comes first.
        """
        benchmark = required_benchmark(reader, name.benchmark)
        bases = [shown_basis(benchmark)]
        if caller.is_organiser:
            definition = self._hosting.benchmarks.definition(benchmark)
            bases.insert(0, wanted_basis(reader, definition, benchmark))

        def place(record: ScoreRecord) -> list[bool]:
            key = (record.truth_revision, record.configuration)
            return [basis is not None and basis.key(record.evaluator) == key for basis in bases]

        newest: dict[str, ScoreRecord] = {}
        published_only = not caller.is_organiser
        for record in reader.scores(*name, None, MAXIMUM_SCORES, published_only=published_only):
            found = newest.get(record.evaluator)
            if found is None or place(record) > place(found):
                newest[record.evaluator] = record
        return newest

    def _write(
        self, record: ScoreRecord, definition: Definition, caller: Caller, *, current: bool
    ) -> pb.SubmissionScore:
        """A score without its private part; for non-organisers, only its public part."""
        portion = _shown_portion(definition, caller)
        return pb.SubmissionScore(
            name=f"{SubmissionName(record.benchmark, record.submission)}/scores/{record.number}",
            create_time=write_time(record.create_time),
            truth_revision=record.truth_revision if caller.is_organiser else 0,
            report=self._report(record, definition, caller, portion),
            partial=record.partial,
            current=current,
        )

    def _write_parts(
        self,
        message: pb.SubmissionScore,
        record: ScoreRecord,
        definition: Definition,
        caller: Caller,
    ) -> None:
        """Add the visible parts of a score over public and private sequences."""
        if caller.is_organiser and record.public_report is not None:
            message.public_report.CopyFrom(self._report(record, definition, caller, Portion.PUBLIC))
        if record.private_report is not None:
            message.private_report.CopyFrom(
                self._report(record, definition, caller, Portion.PRIVATE)
            )

    def _streaming(
        self, record: ScoreRecord, definition: Definition, caller: Caller
    ) -> report_pb2.Report | None:
        """The visible report of a score by streaming accuracy."""
        portion = _shown_portion(definition, caller)
        report = unpack_streaming(record, portion)
        if report is None:
            return None
        step = self._step(record, definition)
        _, submitted = unpack_score(record, portion)
        keyed = partial(self._hosting.context.keyed, record.benchmark)
        shown = released_streaming(caller, definition, report, step, submitted, keyed)
        return None if shown is None else _write_report(shown)

    @staticmethod
    def _step(record: ScoreRecord, definition: Definition) -> float:
        """The step that a score was released to."""
        evaluators = {entry.name: entry for entry in definition.evaluators}
        evaluator = evaluators.get(record.evaluator)  # None if the benchmark no longer has it
        known = record.released_step
        return known if evaluator is None else released_step(definition, evaluator, record)

    def _report(
        self, record: ScoreRecord, definition: Definition, caller: Caller, portion: Portion
    ) -> report_pb2.Report:
        """The visible report over a part; a private part is exact."""
        if REPORT_PARTS.get() is ReportParts.NONE:
            return report_pb2.Report(evaluator=record.evaluator)
        keyed = partial(self._hosting.context.keyed, record.benchmark)
        report, submitted = unpack_score(record, portion)
        released = Released(values_from_json(record.released), self._step(record, definition))
        if portion is Portion.PRIVATE:
            evaluators = {entry.name: entry for entry in definition.evaluators}
            evaluator = evaluators.get(record.evaluator)
            names = () if evaluator is None else tuple(definition.ranking(evaluator))
            released = Released(values_of(report, names), 0.0)
        shown = released_report(caller, definition, report, released, submitted, keyed)
        return _write_report(shown)


def _write_report(report: Report) -> report_pb2.Report:
    """A report as a message, with the curves that are wanted."""
    if REPORT_PARTS.get() is ReportParts.WITHOUT_CURVES_OF_PARTS:
        whole = (curve for curve in report.curves if curve.domain is None and curve.label is None)
        scores = dataclasses.replace(report.scores, curves=tuple(whole))
        report = dataclasses.replace(report, scores=scores)
    return write_report(report)


def write_online(record: OnlineRecord | None) -> pb.OnlineRecord | None:
    """An online record as a message; None if there is none."""
    if record is None:
        return None
    half, most, nearly_all, worst = record.latencies_s or (None, None, None, None)
    return pb.OnlineRecord(
        certified=record.certified,
        message=record.message,
        frames=FRAME_SOURCES[record.frames],
        frame_count=record.frame_count,
        in_time_count=record.in_time_count,
        late_count=record.late_count,
        missing_count=record.missing_count,
        passed_count=record.passed_count,
        outside_count=record.outside_count,
        latency_50_s=half,
        latency_90_s=most,
        latency_99_s=nearly_all,
        latency_worst_s=worst,
        delay_worst_s=record.delay_worst_s,
    )
