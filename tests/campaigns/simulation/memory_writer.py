"""The part of the store in memory that writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from itertools import islice
from types import MappingProxyType
from typing import TypeVar

from msgspec import structs
from tests.campaigns.simulation.memory import SERVING, MemoryReader

from vidscore_server.store.errors import AlreadyExistsError, NotFoundError
from vidscore_server.store.records import (
    HIDDEN,
    AuditRecord,
    BatchRecord,
    BenchmarkRecord,
    FrameNumbers,
    LeaseRecord,
    OperationRecord,
    ReleaseRecord,
    ScoreRecord,
    ServingRecord,
    StreamRecord,
    SubmissionRecord,
    TruthRevisionRecord,
)
from vidscore_server.store.removal import FRAMES_PER_BATCH

Key = TypeVar("Key")
Value = TypeVar("Value")


class MemoryTransaction(MemoryReader):
    """A state that can be written to; discarded if its command raises."""

    # --- the site --------------------------------------------------------------------------

    def put_serving(self, record: ServingRecord) -> None:
        """Store the site's heartbeat."""
        self._state.serving = {SERVING: record}

    def append_audit(self, record: AuditRecord) -> None:
        """Add to the audit record."""
        before = self._state.audit
        self._state.audit = (*before, structs.replace(record, number=len(before) + 1))

    def put_response(
        self, caller: str, request_id: str, digest: str, response: bytes, time: datetime
    ) -> None:
        """Keep the response to a request."""
        self._state.responses = _inserted(
            self._state.responses, (caller, request_id), (digest, response, time)
        )

    def insert_operation(self, record: OperationRecord) -> None:
        """Add an operation."""
        self._state.operations = _inserted(self._state.operations, record.operation, record)

    def update_operation(self, record: OperationRecord) -> None:
        """Replace the record of an operation."""
        self._state.operations = _updated(self._state.operations, record.operation, record)

    def take_lease(self, work: str, owner: str, duration: timedelta) -> bool:
        """Take or prolong a lease; returns False if another owner has it."""
        now, held = self.time(), self._state.leases.get(work)
        if held is not None and held.owner != owner and held.end_time > now:
            return False
        lease = LeaseRecord(work, owner, now + duration)
        self._state.leases = {**self._state.leases, work: lease}
        return True

    def end_lease(self, work: str, owner: str) -> bool:
        """End a lease; returns False if the owner no longer had it."""
        held = self._state.leases.get(work)
        if held is None or held.owner != owner or held.end_time <= self.time():
            return False
        left = self._state.leases.items()
        self._state.leases = {key: lease for key, lease in left if key != work}
        return True

    def purge(self, before: datetime) -> None:
        """Delete responses from before a time, and leases that have ended."""
        now, state = self.time(), self._state
        state.leases = {work: held for work, held in state.leases.items() if held.end_time > now}
        kept = state.responses.items()
        state.responses = {key: entry for key, entry in kept if entry[2] >= before}

    # --- benchmarks ------------------------------------------------------------------------

    def insert_benchmark(self, record: BenchmarkRecord) -> None:
        """Add a benchmark."""
        self._state.benchmarks = _inserted(self._state.benchmarks, record.benchmark, record)

    def update_benchmark(self, record: BenchmarkRecord) -> None:
        """Replace the record of a benchmark."""
        self._state.benchmarks = _updated(self._state.benchmarks, record.benchmark, record)

    def insert_truth_revision(self, record: TruthRevisionRecord) -> None:
        """Add a revision without any batch."""
        self._state.truth = _inserted(
            self._state.truth, (record.benchmark, record.revision), record
        )

    def add_truth_batches(
        self, benchmark: str, revision: int, first: int, payloads: Sequence[bytes]
    ) -> None:
        """Add batches to a revision, which has `first` of them already."""
        if (benchmark, revision) not in self._state.truth:
            raise NotFoundError(f"truth revision {revision} of {benchmark}")
        for position, payload in enumerate(payloads, first):
            self._state.truth_batches = _inserted(
                self._state.truth_batches, (benchmark, revision, position), payload
            )

    def show_truth_revision(self, hidden: str, record: TruthRevisionRecord) -> None:
        """Give the first revision of a hidden benchmark, which is gone then, to its own."""
        state, key = self._state, (record.benchmark, record.revision)
        if (hidden, 1) not in state.truth:
            raise NotFoundError(f"truth revision 1 of {hidden}")
        moved = {
            (*key, at[2]): payload for at, payload in state.truth_batches.items() if at[0] == hidden
        }
        self._delete_benchmark(hidden)
        state.truth = _inserted(state.truth, key, record)
        state.truth_batches = {**state.truth_batches, **moved}

    def free_remains(self, batches: int) -> bool:
        """Delete hidden benchmarks whose leases have ended, as far as `batches` go."""
        now, state = self.time(), self._state
        ended = [
            work for work, held in state.leases.items() if work >= HIDDEN and held.end_time <= now
        ]
        state.leases = {work: held for work, held in state.leases.items() if work not in ended}
        for hidden in [name for name in state.benchmarks if name >= HIDDEN]:
            if batches <= 0:
                return True
            if hidden not in state.leases:
                own = [key for key in state.truth_batches if key[0] == hidden]
                batches -= len(own) + 2  # Its revision and the benchmark itself.
                self._delete_benchmark(hidden)
        return batches <= 0

    def _delete_benchmark(self, hidden: str) -> None:
        state = self._state
        state.benchmarks = {name: one for name, one in state.benchmarks.items() if name != hidden}
        state.truth = {key: one for key, one in state.truth.items() if key[0] != hidden}
        state.truth_batches = {
            key: one for key, one in state.truth_batches.items() if key[0] != hidden
        }

    # --- submissions -----------------------------------------------------------------------

    def insert_submission(self, record: SubmissionRecord) -> None:
        """Add a submission."""
        self._state.submissions = _inserted(
            self._state.submissions, (record.benchmark, record.submission), record
        )

    def update_submission(self, record: SubmissionRecord) -> None:
        """Replace the record of a submission."""
        self._state.submissions = _updated(
            self._state.submissions, (record.benchmark, record.submission), record
        )

    def delete_submission(self, benchmark: str, submission: str) -> None:
        """Delete a submission with all that belongs to it."""
        key, state = (benchmark, submission), self._state
        if key not in state.submissions:
            raise NotFoundError(f"submission {submission}")
        state.submissions = _without(state.submissions, key)
        state.failed = _without(state.failed, key)
        state.streams = _without(state.streams, key)
        state.batches = _without(state.batches, key)
        state.frames = _without(state.frames, key)
        state.scores = _without(state.scores, key)

    def free_frames(self, benchmark: str, submission: str, batches: int) -> bool:
        """Delete a submission's batches, then its frames, as far as `batches` go."""
        key, state = (benchmark, submission), self._state
        gone = _first(state.batches, key, batches)
        left = batches - len(gone)
        gone_frames = _first(state.frames, key, left * FRAMES_PER_BATCH)
        state.batches = {one: row for one, row in state.batches.items() if one not in gone}
        state.frames = {one: row for one, row in state.frames.items() if one not in gone_frames}
        if len(gone_frames) > (left - 1) * FRAMES_PER_BATCH:
            return True
        freed = structs.replace(state.submissions[key], byte_count=0)
        state.submissions = {**state.submissions, key: freed}
        return False

    def delete_live_clock(self, benchmark: str, submission: str) -> None:
        """Do nothing: there is no live clock."""

    def raise_epoch(self, benchmark: str, submission: str, stream: str) -> StreamRecord:
        """Open a stream under its next epoch, and create it if it is new."""
        key = (benchmark, submission, stream)
        before = self._state.streams.get(key, StreamRecord(stream, 0, 0))
        opened = structs.replace(before, epoch=before.epoch + 1)
        self._state.streams = {**self._state.streams, key: opened}
        return opened

    def append_batches(
        self,
        benchmark: str,
        submission: str,
        batches: Sequence[tuple[BatchRecord, FrameNumbers]],
        positions: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        """Append batches with their frames to their streams, and advance the streams' offsets."""
        state, key = self._state, (benchmark, submission)
        streams = dict(state.streams)
        for batch, frames in batches:
            state.batches = _inserted(
                state.batches, (*key, batch.stream, batch.first_offset), batch
            )
            new = [(*key, *sequence, number) for sequence, of in frames.items() for number in of]
            if len({*new}) < len(new) or any(frame in state.frames for frame in new):
                raise AlreadyExistsError(str(new))
            state.frames = {**state.frames, **dict.fromkeys(new)}
            stream = streams[*key, batch.stream]
            end = stream.next_offset + batch.frame_count
            streams[*key, batch.stream] = structs.replace(stream, next_offset=end)
        for name, position in positions.items():
            streams[*key, name] = structs.replace(streams[*key, name], source_position=position)
        state.streams = streams

    # --- scores ----------------------------------------------------------------------------

    def insert_score(self, record: ScoreRecord) -> ScoreRecord:
        """Add a score under the submission's next number."""
        key = (record.benchmark, record.submission)
        number = 1 + sum(entry[:2] == key for entry in self._state.scores)
        numbered = structs.replace(record, number=number)
        self._state.scores = {**self._state.scores, (*key, number): numbered}
        return numbered

    def publish_score(self, record: ScoreRecord) -> None:
        """Mark a score as published, with what it releases."""
        key = (record.benchmark, record.submission, record.number)
        published = structs.replace(
            self._state.scores[key],
            released=record.released,
            released_step=record.released_step,
            published=True,
        )
        self._state.scores = {**self._state.scores, key: published}

    def put_failed_rescoring(self, benchmark: str, submission: str, basis: str) -> None:
        """Store the basis under which re-scoring a submission failed."""
        self._state.failed = {**self._state.failed, (benchmark, submission): basis}

    def delete_releases(self, benchmark: str, evaluator: str) -> None:
        """Delete the releases of an evaluator to all teams."""
        self._state.releases = _without(self._state.releases, (benchmark, evaluator))

    def put_release(self, record: ReleaseRecord) -> None:
        """Replace the last release to a team."""
        key = (record.benchmark, record.evaluator, record.team)
        self._state.releases = {**self._state.releases, key: record}


def _inserted(table: dict[Key, Value], key: Key, value: Value) -> dict[Key, Value]:
    if key in table:
        raise AlreadyExistsError(str(key))
    return {**table, key: value}


def _updated(table: dict[Key, Value], key: Key, value: Value) -> dict[Key, Value]:
    if key not in table:
        raise NotFoundError(str(key))
    return {**table, key: value}


Parts = TypeVar("Parts", bound=tuple[object, ...])


def _without(table: dict[Parts, Value], parent: tuple[str, str]) -> dict[Parts, Value]:
    return {key: value for key, value in table.items() if key[:2] != parent}


def _first(table: Mapping[Parts, object], parent: tuple[str, str], count: int) -> set[Parts]:
    return set(islice((key for key in table if key[:2] == parent), count))
