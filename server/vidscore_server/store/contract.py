"""The store: everything that a hosting server must not lose, behind one contract.

The contract, which `tests/server/store/contract.py` holds every store to:

- **Commands.** All writing is done by *commands*: functions that are given a `Transaction` and
  return something. `Store.submit` queues a command and gives a future. One writer runs them in
  the order in which they were queued, each in a savepoint of its own, many in one transaction.
- **One after the other.** What a command reads stays as it is until what it writes is durable,
  however many servers write to the store: commands are as if each ran alone. One that says which
  submissions it is about, and touches nothing beyond them, may run beside those about others.
- **Durability.** A future is resolved only when what its command wrote is on the disk: it then
  survives the death of the process and of the machine.
- **All or nothing.** A command that raises leaves nothing behind; its future carries the error;
  the commands that were queued with it are not touched. A command that has met
  `AlreadyExistsError` must raise, too. Where the commit itself fails, every future of it carries
  `StoreError`: all of them are kept, where the store was lost at that very moment, or none.
- **Snapshots.** `Store.read` gives a `Reader` over one consistent state; it never waits for the
  writer, nor the writer for it.
- **Keys.** What is keyed stands once: inserting it again raises `AlreadyExistsError`. What is not
  there is None in a getter and `NotFoundError` in a mutator.
- **Loss.** Whatever goes wrong in a command or a commit, the writer goes on with the next one.
  Where it cannot (the file was deleted under it), `Store.lost` is resolved, every command that
  waits carries `StoreLostError`, and none is taken any more. Nothing is acknowledged into a file
  that is not there.
- **Leases.** Work that one server does at a time is leased to it by the store's clock, which all
  servers share: a server that dies, or whose clock is wrong, holds nothing for longer.
- **Order.** Every list has a stated order, so that pages join without gaps or repeats.

A store knows no rules: whether a submission may be sealed is not its business.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any, ClassVar, TypeVar

from vidscore_evaluators.errors import VidscoreError
from vidscore_server.store.records import (
    AuditFilter,
    AuditRecord,
    BatchRecord,
    BenchmarkRecord,
    Holdings,
    LeaseRecord,
    OperationRecord,
    ReleaseRecord,
    ScoreBasis,
    ScoreRecord,
    ServingRecord,
    StreamRecord,
    SubmissionRecord,
    SubmissionState,
    TokenRecord,
    TruthRevisionRecord,
)

Result = TypeVar("Result")

Row = tuple[str, dict[str, Any]]
"""Name of a table, and values by their columns: text, numbers, bytes, or None."""

FrameName = tuple[str, str, int]
"""Domain, sequence and number of a frame."""

FrameNumbers = Mapping[tuple[str, str], Sequence[int]]
"""Numbers of frames by the domain and name of their sequence."""

SubmissionKey = tuple[str, str]
"""Benchmark and submission."""


class StoreError(VidscoreError):
    """The store could not do what it was asked; trying again later may help."""

    reason: ClassVar[str] = "STORE_UNAVAILABLE"
    retry_delay_s: ClassVar[float] = 1.0


class AlreadyExistsError(Exception):
    """What was to be inserted is there."""


class NotFoundError(Exception):
    """What was to be changed is not there."""


class StoreFullError(StoreError):
    """The disk is full; nothing of the command was kept, and what was acknowledged is safe."""

    reason: ClassVar[str] = "STORE_FULL"


class StoreDamagedError(VidscoreError):
    """What the store gives back is not what was put into it; trying again does not help."""

    reason: ClassVar[str] = "STORE_DAMAGED"


class StoreInUseError(StoreError):
    """Another process owns the store."""

    reason: ClassVar[str] = "STORE_IN_USE"


class StoreLostError(StoreError):
    """Nothing can be written any more until the server is started again; the text says why."""

    reason: ClassVar[str] = "STORE_LOST"


class Reader(ABC):
    """One consistent state of the store."""

    @abstractmethod
    def secret(self) -> bytes:
        """The site's secret, 32 random bytes made with the store; keys digests that leave."""

    @abstractmethod
    def serving(self) -> ServingRecord | None:
        """How long the site has served without a break; None where it never did."""

    @abstractmethod
    def time(self) -> datetime:
        """The time by the store's clock, the same for all servers."""

    @abstractmethod
    def leases(self) -> list[LeaseRecord]:
        """Leases that hold now, by their work."""

    @abstractmethod
    def benchmark(self, benchmark: str) -> BenchmarkRecord | None:
        """One benchmark."""

    @abstractmethod
    def benchmarks(self, after: str, limit: int) -> list[BenchmarkRecord]:
        """Benchmarks whose names come after `after`, by name."""

    @abstractmethod
    def benchmark_revisions(self) -> dict[str, tuple[datetime, int]]:
        """When each benchmark was created, and its record's revision, by its name."""

    @abstractmethod
    def truth_revision(self, benchmark: str, revision: int) -> TruthRevisionRecord | None:
        """One revision of a benchmark's truth."""

    @abstractmethod
    def truth_revisions(
        self, benchmark: str, before: int | None, limit: int
    ) -> list[TruthRevisionRecord]:
        """Revisions with numbers below `before` (None: all), newest first."""

    @abstractmethod
    def truth_payloads(self, benchmark: str, revision: int) -> Iterator[bytes]:
        """Batches of a revision, in the order in which they were given."""

    @abstractmethod
    def submission(self, benchmark: str, submission: str) -> SubmissionRecord | None:
        """One submission."""

    @abstractmethod
    def submissions(
        self, benchmark: str, team: str | None, after: tuple[datetime, str] | None, limit: int
    ) -> list[SubmissionRecord]:
        """Submissions of a benchmark, of one team or all, newest first, then by name.

        Those without frames are none.

        Args:
            benchmark: The benchmark.
            team: The team; None for all.
            after: (create_time, submission) of the last one on the page before.
            limit: Most records wanted.
        """

    @abstractmethod
    def submissions_in(self, states: Iterable[SubmissionState]) -> list[SubmissionRecord]:
        """Submissions of all benchmarks that stand in one of these states, oldest state first."""

    @abstractmethod
    def submission_revisions(self, names: Iterable[SubmissionKey]) -> dict[SubmissionKey, int]:
        """Revisions of submissions; of those that are there."""

    @abstractmethod
    def scored_count(self, benchmark: str, team: str, since: datetime | None) -> int:
        """Submissions of a team with frames that are scored or on their way, since then or ever.

        And those of which a score was shown before they ended, whatever became of them. One that
        is sealed counts from its sealing on, one that is not since it receives or was ended.
        """

    @abstractmethod
    def holdings(self, benchmark: str, team: str) -> Holdings:
        """What a team has in a benchmark."""

    @abstractmethod
    def cancelled_with_bytes(self, limit: int) -> list[SubmissionKey]:
        """Submissions that are cancelled and whose frames are stored."""

    @abstractmethod
    def streams(self, benchmark: str, submission: str) -> list[StreamRecord]:
        """Append streams of a submission, by name."""

    @abstractmethod
    def append_points(
        self, benchmark: str, submission: str, streams: Iterable[str]
    ) -> tuple[SubmissionRecord, dict[str, StreamRecord]] | None:
        """A submission and those of `streams` that it has, by name; None if there is none such."""

    @abstractmethod
    def batch_at(
        self, benchmark: str, submission: str, stream: str, offset: int
    ) -> BatchRecord | None:
        """The batch of a stream that holds the frame at `offset`, with an empty payload."""

    @abstractmethod
    def detection_payloads(
        self, benchmark: str, submission: str, start: int = 0, count: int | None = None
    ) -> Iterator[tuple[bytes, bytes]]:
        """Payload and digest of `count` batches, or all, from the one at `start` on.

        Their order is that of streams and offsets.
        """

    @abstractmethod
    def stored_frames(
        self, benchmark: str, submission: str, frames: Sequence[FrameName]
    ) -> list[FrameName]:
        """Those of `frames` that are stored in any stream of the submission, in their order."""

    @abstractmethod
    def frame_counts(self, benchmark: str, submission: str) -> dict[tuple[str, str], int]:
        """Stored frames of each sequence, by domain and name, of which there are any."""

    @abstractmethod
    def scores(
        self,
        benchmark: str,
        submission: str,
        before: int | None,
        limit: int,
        *,
        published_only: bool = False,
    ) -> list[ScoreRecord]:
        """Scores of a submission with numbers below `before` (None: all), newest first."""

    @abstractmethod
    def score_bases(self, benchmark: str) -> list[ScoreBasis]:
        """What the scores of a benchmark's submissions are under, each once."""

    @abstractmethod
    def scores_under(
        self, benchmark: str, evaluator: str, truth_revision: int, configuration: str
    ) -> list[ScoreRecord]:
        """The newest score of each submission that has one under all this, by submission."""

    @abstractmethod
    def published_scores(self, benchmark: str, evaluator: str) -> list[ScoreRecord]:
        """The newest published score of each submission under an evaluator, by submission."""

    @abstractmethod
    def failed_rescorings(self, benchmark: str) -> dict[str, str]:
        """By submission what it could not be scored again under, in the caller's form."""

    @abstractmethod
    def releases(self, benchmark: str, evaluator: str) -> list[ReleaseRecord]:
        """What was last released to each team, by team."""

    @abstractmethod
    def token(self, token: str) -> TokenRecord | None:
        """One token."""

    @abstractmethod
    def tokens(self, before: tuple[datetime, str] | None, limit: int) -> list[TokenRecord]:
        """Tokens, newest first, then by name; `before` as in `submissions`."""

    @abstractmethod
    def operation(self, operation: str) -> OperationRecord | None:
        """One operation."""

    @abstractmethod
    def operations(self, after: str, limit: int) -> list[OperationRecord]:
        """Operations whose names come after `after`, by name."""

    @abstractmethod
    def unfinished_operations(self) -> list[OperationRecord]:
        """Operations that are not done, oldest first."""

    @abstractmethod
    def audit_records(
        self, before: int | None, limit: int, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """Audit records with numbers below `before` (None: all), newest first, as far as wanted."""

    @abstractmethod
    def response(self, caller: str, request_id: str) -> tuple[str, bytes] | None:
        """Digest of a request and the response that it was given."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Bytes that the store takes."""

    @abstractmethod
    def schema(self) -> str:
        """Revision of the tables; rows fit a store of the same one."""

    @abstractmethod
    def is_empty(self) -> bool:
        """Whether nothing was ever kept but the site's secret."""

    @abstractmethod
    def dump(self, benchmark: str | None) -> Iterator[Row]:
        """Every row, or those of one benchmark, in an order in which they can be loaded.

        Leases are none of them: they hold only here.
        """


class Transaction(Reader):
    """A state that can be written to; what is written is seen by its own reads."""

    @abstractmethod
    def put_serving(self, record: ServingRecord) -> None:
        """Note that the site serves, in the place of what was noted before."""

    @abstractmethod
    def insert_benchmark(self, record: BenchmarkRecord) -> None:
        """Add a benchmark."""

    @abstractmethod
    def update_benchmark(self, record: BenchmarkRecord) -> None:
        """Put a benchmark's record in the place of the one of the same name."""

    @abstractmethod
    def delete_benchmark(self, benchmark: str) -> None:
        """Delete a benchmark with all that belongs to it; the audit record stays."""

    @abstractmethod
    def insert_truth_revision(self, record: TruthRevisionRecord, payloads: Iterable[bytes]) -> None:
        """Add a revision with its batches."""

    @abstractmethod
    def insert_submission(self, record: SubmissionRecord) -> None:
        """Add a submission."""

    @abstractmethod
    def update_submission(self, record: SubmissionRecord) -> None:
        """Put a submission's record in the place of the one of the same name."""

    @abstractmethod
    def delete_submission(self, benchmark: str, submission: str) -> None:
        """Delete a submission with all that belongs to it; its name is free again."""

    @abstractmethod
    def free_frames(self, benchmark: str, submission: str, batches: int) -> bool:
        """Delete so many of a submission's batches, then its frames, some at a time.

        Its record and streams stay; `byte_count` is 0 once nothing is left.

        Returns:
            Whether something is left.
        """

    @abstractmethod
    def raise_epoch(self, benchmark: str, submission: str, stream: str) -> StreamRecord:
        """Open a stream, made where it is not there, under the next epoch (the first is 1)."""

    @abstractmethod
    def append_batches(
        self,
        benchmark: str,
        submission: str,
        batches: Sequence[tuple[BatchRecord, FrameNumbers]],
    ) -> None:
        """Add batches with their frames at the ends of their streams and move the streams' offsets.

        The submission's `frame_count` and `activity_time` are the caller's to update.

        Raises:
            AlreadyExistsError: If one of the frames is stored in any stream of the submission.
        """

    @abstractmethod
    def insert_score(self, record: ScoreRecord) -> ScoreRecord:
        """Add a score under the submission's next number, which the returned record has."""

    @abstractmethod
    def publish_score(self, record: ScoreRecord) -> None:
        """Note what a score releases, and that it is published; all else of it stays."""

    @abstractmethod
    def put_failed_rescoring(self, benchmark: str, submission: str, basis: str) -> None:
        """Note what a submission could not be scored again under, in the place of what was."""

    @abstractmethod
    def put_release(self, record: ReleaseRecord) -> None:
        """Note what was released to a team, in the place of what was before."""

    @abstractmethod
    def delete_releases(self, benchmark: str, evaluator: str) -> None:
        """Forget what was released of an evaluator to any team."""

    @abstractmethod
    def insert_token(self, record: TokenRecord) -> None:
        """Add a token."""

    @abstractmethod
    def update_token(self, record: TokenRecord) -> None:
        """Put a token's record in the place of the one of the same name."""

    @abstractmethod
    def insert_operation(self, record: OperationRecord) -> None:
        """Add an operation."""

    @abstractmethod
    def update_operation(self, record: OperationRecord) -> None:
        """Put an operation's record in the place of the one of the same name."""

    @abstractmethod
    def delete_operation(self, operation: str) -> None:
        """Delete an operation's record."""

    @abstractmethod
    def append_audit(self, record: AuditRecord) -> None:
        """Add to the audit record; nothing there is ever changed or deleted."""

    @abstractmethod
    def put_response(
        self, caller: str, request_id: str, digest: str, response: bytes, time: datetime
    ) -> None:
        """Keep the response to a request, so that the same request gets the same answer."""

    @abstractmethod
    def load(self, rows: Iterable[Row]) -> None:
        """Add rows as `dump` gives them; the site's secret takes the place of the one here.

        Raises:
            InputError: If a row does not fit its table, or belongs to none that came before it.
            AlreadyExistsError: If a row is there already.
        """

    @abstractmethod
    def take_lease(self, work: str, owner: str, duration: timedelta) -> bool:
        """Lease work from now on for some time, or prolong a lease; False where another has it."""

    @abstractmethod
    def end_lease(self, work: str, owner: str) -> bool:
        """End a lease; False where the owner did not have it any more."""

    @abstractmethod
    def purge(self, before: datetime) -> None:
        """Delete responses that were given before some time, and leases that have ended."""


class Store(ABC):
    """A store; see the module's docstring for what it promises."""

    @property
    @abstractmethod
    def shared(self) -> bool:
        """Whether other servers may write to it, too."""

    @property
    @abstractmethod
    def lost(self) -> Future[StoreLostError]:
        """Resolved with the reason once nothing can be written any more; never by `close`."""

    @abstractmethod
    def submit(
        self,
        command: Callable[[Transaction], Result],
        about: Collection[SubmissionKey] | None = None,
    ) -> Future[Result]:
        """Queue a command; the future is resolved when what it wrote is durable.

        Args:
            command: The command.
            about: Submissions beyond which it touches nothing; None where it may touch anything.

        Raises:
            StoreError: If the store is closed or lost, or too many commands wait.
        """

    @abstractmethod
    def read(self) -> AbstractContextManager[Reader]:
        """Open a consistent state for reading.

        Raises:
            StoreError: If the store is closed.
        """

    @abstractmethod
    def close(self) -> None:
        """Run what is queued, let readers end, let go of the store; closing again does nothing."""
