"""Scores to messages: only what the allow-list lets out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.access.caller import Caller
from vidscore_server.codec.report_codec import write_report
from vidscore_server.codec.times import write_time
from vidscore_server.hosting.benchmarks import required_benchmark
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.live import LiveScore
from vidscore_server.hosting.names import SubmissionName
from vidscore_server.hosting.public_names import SubmittedNames
from vidscore_server.hosting.release import released_report, values_from_json
from vidscore_server.hosting.scores import MAXIMUM_SCORES, unpack_score
from vidscore_server.store import Reader
from vidscore_server.store.records import ScoreRecord


class ScoreWriter:
    """Writes scores as far as their reader may see them.

    Args:
        hosting: The server's hosted benchmarks.
    """

    def __init__(self, hosting: Hosting) -> None:
        """Write nothing yet."""
        self._hosting = hosting

    def write(
        self, reader: Reader, name: SubmissionName, records: Sequence[ScoreRecord], caller: Caller
    ) -> list[pb.SubmissionScore]:
        """Scores of a submission as messages.

        Args:
            reader: A state of the store.
            name: The submission.
            records: Its scores.
            caller: Who asks.
        """
        definition = self._hosting.benchmarks.definition(required_benchmark(reader, name.benchmark))
        newest = self.newest(reader, name, caller)
        return [
            self._write(record, definition, caller, current=newest[record.evaluator] == record)
            for record in records
        ]

    def write_live(
        self, benchmark: str, live: LiveScore, caller: Caller
    ) -> list[pb.SubmissionScore]:
        """A live score as messages; they have no name, because nothing keeps them."""
        keyed = partial(self._hosting.site.keyed, benchmark)
        none = SubmittedNames()  # live scores are shown whole
        return [
            pb.SubmissionScore(
                truth_revision=live.revision if caller.is_organiser else 0,
                report=write_report(
                    released_report(caller, live.definition, report, {}, none, keyed)
                ),
                partial=live.partial,
            )
            for report in live.reports
        ]

    def newest(
        self, reader: Reader, name: SubmissionName, caller: Caller
    ) -> dict[str, ScoreRecord]:
        """The newest score of each evaluator of a submission, of those that the caller may see."""
        newest: dict[str, ScoreRecord] = {}
        published_only = not caller.is_organiser
        for record in reader.scores(*name, None, MAXIMUM_SCORES, published_only=published_only):
            newest.setdefault(record.evaluator, record)
        return newest

    def _write(
        self, record: ScoreRecord, definition: Definition, caller: Caller, *, current: bool
    ) -> pb.SubmissionScore:
        keyed = partial(self._hosting.site.keyed, record.benchmark)
        released = values_from_json(record.released)
        whole, submitted = unpack_score(record)
        report = released_report(caller, definition, whole, released, submitted, keyed)
        return pb.SubmissionScore(
            name=f"{SubmissionName(record.benchmark, record.submission)}/scores/{record.number}",
            create_time=write_time(record.create_time),
            truth_revision=record.truth_revision if caller.is_organiser else 0,
            report=write_report(report),
            partial=record.partial,
            current=current,
        )
