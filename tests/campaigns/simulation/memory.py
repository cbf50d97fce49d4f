"""A store in memory that answers as the real one does; a world takes milliseconds with it.

Records and tables are immutable: a write makes new ones. So a snapshot is free, and a table that is
the same object as before is unchanged. It implements only what the simulated parts of a server
use. A world may be checked against the real store: see
`tests.campaigns.simulation.mirror`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from msgspec.structs import replace

from vidscore_server.store.reader import OPEN_STATES
from vidscore_server.store.records import (
    HIDDEN,
    AuditRecord,
    BatchRecord,
    BenchmarkRecord,
    FrameName,
    Holdings,
    LeaseRecord,
    OperationRecord,
    ReleaseRecord,
    ScoreRecord,
    ServingRecord,
    StreamRecord,
    SubmissionKey,
    SubmissionRecord,
    SubmissionState,
    TruthRevisionRecord,
)
from vidscore_server.store.site_reader import COUNTED_STATES

StoredFrame = tuple[str, str, str, str, int]
"""Benchmark, submission, domain, sequence and number."""


@dataclass
class State:
    """The content of a store; a command replaces tables in a copy."""

    benchmarks: dict[str, BenchmarkRecord] = field(default_factory=dict)
    truth: dict[tuple[str, int], TruthRevisionRecord] = field(default_factory=dict)
    truth_batches: dict[tuple[str, int, int], bytes] = field(default_factory=dict)
    submissions: dict[SubmissionKey, SubmissionRecord] = field(default_factory=dict)
    streams: dict[tuple[str, str, str], StreamRecord] = field(default_factory=dict)
    batches: dict[tuple[str, str, str, int], BatchRecord] = field(default_factory=dict)
    frames: dict[StoredFrame, None] = field(default_factory=dict)
    scores: dict[tuple[str, str, int], ScoreRecord] = field(default_factory=dict)
    failed: dict[SubmissionKey, str] = field(default_factory=dict)
    releases: dict[tuple[str, str, str], ReleaseRecord] = field(default_factory=dict)
    operations: dict[str, OperationRecord] = field(default_factory=dict)
    leases: dict[str, LeaseRecord] = field(default_factory=dict)
    responses: dict[tuple[str, str], tuple[str, bytes, datetime]] = field(default_factory=dict)
    audit: tuple[AuditRecord, ...] = ()
    serving: dict[str, ServingRecord] = field(default_factory=dict)

    def copy(self) -> State:
        """A shallow copy, whose tables can be replaced separately."""
        return State(**vars(self))


SERVING = "serving"


class MemoryReader:
    """One consistent state, which later commits do not change.

    Args:
        state: The state.
        clock: The store's clock.
    """

    def __init__(self, state: State, clock: Callable[[], datetime]) -> None:
        self._state = state
        self._clock = clock

    # --- the site --------------------------------------------------------------------------

    def time(self) -> datetime:
        """The time by the store's clock."""
        return self._clock()

    def serving(self) -> ServingRecord | None:
        """The site's heartbeat."""
        return self._state.serving.get(SERVING)

    def leases(self) -> list[LeaseRecord]:
        """Present leases, by their work."""
        now = self.time()
        found = (lease for lease in self._state.leases.values() if lease.end_time > now)
        return sorted(found, key=lambda lease: lease.work)

    def operation(self, operation: str) -> OperationRecord | None:
        """One operation."""
        return self._state.operations.get(operation)

    def unfinished_operations(self) -> list[OperationRecord]:
        """Operations that are not done, oldest first."""
        found = (record for record in self._state.operations.values() if not record.done)
        return sorted(found, key=lambda record: (record.create_time, record.operation))

    def response(self, caller: str, request_id: str) -> tuple[str, bytes] | None:
        """Digest of a request, and the response to it."""
        found = self._state.responses.get((caller, request_id))
        return None if found is None else found[:2]

    # --- benchmarks ------------------------------------------------------------------------

    def benchmark(self, benchmark: str) -> BenchmarkRecord | None:
        """One benchmark."""
        return self._state.benchmarks.get(benchmark)

    def benchmark_revisions(self) -> dict[str, tuple[datetime, int]]:
        """Creation time and record revision of each benchmark, by name."""
        return {
            name: (record.create_time, record.revision)
            for name, record in self._state.benchmarks.items()
            if name < HIDDEN
        }

    def has_hidden(self) -> bool:
        """Whether anything is stored under a hidden name."""
        return any(name >= HIDDEN for name in self._state.benchmarks)

    def truth_revision(self, benchmark: str, revision: int) -> TruthRevisionRecord | None:
        """One revision of a benchmark's truth."""
        return self._state.truth.get((benchmark, revision))

    def truth_revisions(
        self, benchmark: str, before: int | None, limit: int
    ) -> list[TruthRevisionRecord]:
        """Revisions with numbers below `before`, newest first."""
        numbers = sorted((number for name, number in self._state.truth if name == benchmark))
        wanted = [number for number in reversed(numbers) if before is None or number < before]
        return [self._state.truth[benchmark, number] for number in wanted[:limit]]

    # --- submissions -----------------------------------------------------------------------

    def submission(self, benchmark: str, submission: str) -> SubmissionRecord | None:
        """One submission."""
        return self._state.submissions.get((benchmark, submission))

    def submissions(
        self, benchmark: str, team: str | None, _: None, limit: int
    ) -> list[SubmissionRecord]:
        """Submissions with frames, newest first, then by name."""
        found = [
            record
            for record in self._of(benchmark)
            if record.frame_count and team in {None, record.team}
        ]
        found.sort(key=lambda record: record.submission)
        found.sort(key=lambda record: record.create_time, reverse=True)
        return found[:limit]

    def submissions_in(self, states: Iterable[SubmissionState]) -> list[SubmissionRecord]:
        """Submissions in one of these states, oldest state first, then in order of insertion."""
        wanted = frozenset(states)
        found = [entry for entry in self._state.submissions.values() if entry.state in wanted]
        return sorted(found, key=lambda record: record.state_time)

    def holdings(self, benchmark: str, team: str) -> Holdings:
        """Open submissions and stored bytes of a team."""
        own = [record for record in self._of(benchmark) if record.team == team]
        open_count = sum(record.state.value in OPEN_STATES for record in own)
        return Holdings(open_count, sum(record.byte_count for record in own))

    def cancelled_with_bytes(self, limit: int) -> list[SubmissionKey]:
        """Cancelled submissions whose frames are still stored."""
        found = [
            key
            for key, record in self._state.submissions.items()
            if record.state is SubmissionState.CANCELLED and record.byte_count > 0
        ]
        return found[:limit]

    def streams(self, benchmark: str, submission: str) -> list[StreamRecord]:
        """Append streams of a submission, by name."""
        return self.streams_of(benchmark, [submission]).get(submission, [])

    def streams_of(
        self, benchmark: str, submissions: Iterable[str]
    ) -> dict[str, list[StreamRecord]]:
        """Append streams, by name, of those submissions that have any."""
        wanted = frozenset(submissions)
        found: dict[str, list[StreamRecord]] = {}
        for (parent, submission, _), record in sorted(
            self._state.streams.items(), key=lambda item: item[0]
        ):
            if parent == benchmark and submission in wanted:
                found.setdefault(submission, []).append(record)
        return found

    def append_points(
        self, benchmark: str, submission: str, streams: Iterable[str]
    ) -> tuple[SubmissionRecord, dict[str, StreamRecord]] | None:
        """A submission with those of `streams` that exist, by name."""
        record = self.submission(benchmark, submission)
        if record is None:
            return None
        found = {name: self._state.streams.get((benchmark, submission, name)) for name in streams}
        return record, {name: entry for name, entry in found.items() if entry is not None}

    def batch_at(
        self, benchmark: str, submission: str, stream: str, offset: int
    ) -> BatchRecord | None:
        """The batch of a stream that holds the frame at `offset`, with an empty payload."""
        for key, batch in self._state.batches.items():
            end = batch.first_offset + batch.frame_count
            if key[:3] == (benchmark, submission, stream) and batch.first_offset <= offset < end:
                return replace(batch, payload=b"")
        return None

    def detection_payloads(
        self, benchmark: str, submission: str, start: int = 0, count: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Payloads and digests of batches, in the order of streams and offsets."""
        keys = sorted(key for key in self._state.batches if key[:2] == (benchmark, submission))
        end = None if count is None else start + count
        found = [self._state.batches[key] for key in keys[start:end]]
        return ((batch.payload, batch.digest) for batch in found)

    def stored_frames(
        self, benchmark: str, submission: str, frames: Sequence[FrameName]
    ) -> list[FrameName]:
        """The `frames` that are stored in any stream of the submission, in their order."""
        stored = self._state.frames
        return [frame for frame in frames if (benchmark, submission, *frame) in stored]

    # --- scores ----------------------------------------------------------------------------

    def scored_count(self, benchmark: str, team: str, since: datetime | None) -> int:
        """Submissions of a team that count as scored, since a time or ever."""
        return sum(
            record.team == team
            and record.frame_count > 0
            and (record.state.value in COUNTED_STATES or record.score_shown)
            and (since is None or (record.seal_time or record.state_time) >= since)
            for record in self._of(benchmark)
        )

    def shown_outcomes_count(self, benchmark: str, team: str) -> int:
        """Scores of a team's submissions of which it was shown outcomes."""
        return sum(
            score.outcomes_shown and self._state.submissions[key[:2]].team == team
            for key, score in self._state.scores.items()
            if key[0] == benchmark
        )

    def scored_names(self, benchmark: str) -> tuple[str, ...]:
        """Names of the submissions with frames that are scored, in the order of their sealing."""
        found = sorted(
            self.scored_submissions(benchmark).values(),
            key=lambda record: (record.seal_time or record.create_time, record.submission),
        )
        return tuple(record.submission for record in found)

    def scored_submissions(self, benchmark: str) -> dict[str, SubmissionRecord]:
        """The submissions with frames that are scored, by name."""
        return {
            record.submission: record
            for record in self._of(benchmark)
            if record.state is SubmissionState.SCORED and record.frame_count
        }

    def waiting_names(
        self, benchmark: str, bases: Mapping[str, tuple[int, str]], failed: str
    ) -> tuple[str, ...]:
        """Those that lack a score under these bases, but for those that cannot have one."""
        there = {
            (score.submission, score.evaluator, score.truth_revision, score.configuration)
            for score in self._state.scores.values()
            if score.benchmark == benchmark
        }
        return tuple(
            name
            for name in self.scored_names(benchmark)
            if self._state.failed.get((benchmark, name)) != failed
            and any((name, evaluator, *basis) not in there for evaluator, basis in bases.items())
        )

    def newest_scored_truth(self, benchmark: str) -> int:
        """The newest revision of the truth that anything was scored under; 0 for none."""
        scores = self._state.scores.values()
        return max((one.truth_revision for one in scores if one.benchmark == benchmark), default=0)

    def scores(
        self,
        benchmark: str,
        submission: str,
        before: int | None,
        limit: int,
        *,
        published_only: bool = False,
    ) -> list[ScoreRecord]:
        """Scores of a submission with numbers below `before`, newest first."""
        found = [
            score
            for key, score in self._state.scores.items()
            if key[:2] == (benchmark, submission)
            and (before is None or score.number < before)
            and (score.published or not published_only)
        ]
        return sorted(found, key=lambda score: -score.number)[:limit]

    def score(self, benchmark: str, submission: str, number: int) -> ScoreRecord | None:
        """One score of a submission."""
        return self._state.scores.get((benchmark, submission, number))

    def scores_under(
        self,
        benchmark: str,
        evaluator: str,
        truth_revision: int,
        configuration: str,
        *,
        reports: bool = True,
    ) -> list[ScoreRecord]:
        """The newest score of each submission under this basis, by submission."""
        basis = (truth_revision, configuration)
        return self._newest(
            benchmark,
            evaluator,
            lambda score: (score.truth_revision, score.configuration) == basis,
            reports=reports,
        )

    def published_scores(self, benchmark: str, evaluator: str) -> list[ScoreRecord]:
        """The newest published score of each submission under an evaluator, by submission."""
        return self._newest(benchmark, evaluator, lambda score: score.published)

    def published_elsewhere(
        self, benchmark: str, evaluator: str, truth_revision: int, configuration: str
    ) -> list[ScoreRecord]:
        """The same of the submissions without a score under this basis; reports are empty."""
        here = {
            score.submission
            for score in self.scores_under(benchmark, evaluator, truth_revision, configuration)
        }
        return self._newest(
            benchmark,
            evaluator,
            lambda score: score.published and score.submission not in here,
            reports=False,
        )

    def releases(self, benchmark: str, evaluator: str) -> list[ReleaseRecord]:
        """The last release to each team, by team."""
        found = sorted(self._state.releases.items(), key=lambda item: item[0])
        return [record for key, record in found if key[:2] == (benchmark, evaluator)]

    def _newest(
        self,
        benchmark: str,
        evaluator: str,
        wanted: Callable[[ScoreRecord], bool],
        *,
        reports: bool = True,
    ) -> list[ScoreRecord]:
        newest: dict[str, ScoreRecord] = {}
        for (parent, submission, number), score in self._state.scores.items():
            if parent != benchmark or score.evaluator != evaluator or not wanted(score):
                continue
            if self._state.submissions[parent, submission].frame_count and (
                submission not in newest or newest[submission].number < number
            ):
                newest[submission] = score
        found = [newest[name] for name in sorted(newest)]
        if reports:
            return found
        return [
            replace(score, report=b"", public_report=None, private_report=None) for score in found
        ]

    def _of(self, benchmark: str) -> list[SubmissionRecord]:
        submissions = self._state.submissions.values()
        return [record for record in submissions if record.benchmark == benchmark]
