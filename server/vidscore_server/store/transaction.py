"""Writing statements; a transaction reads its own writes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Table, and_, case, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from vidscore_server.store import tables as t
from vidscore_server.store.dump import load_rows
from vidscore_server.store.errors import AlreadyExistsError, NotFoundError
from vidscore_server.store.live import LiveWriter
from vidscore_server.store.prepared import Prepared, put_row
from vidscore_server.store.reader import Reader
from vidscore_server.store.records import (
    HIDDEN,
    AuditRecord,
    BenchmarkRecord,
    InvitationRecord,
    OperationRecord,
    ReleaseRecord,
    Row,
    RowNumbers,
    ScoreDrawsRecord,
    ScoreRecord,
    ServingRecord,
    StreamRecord,
    SubmissionRecord,
    TiersRecord,
    TokenRecord,
    TruthRevisionRecord,
)
from vidscore_server.store.removal import delete_frames, delete_remains, delete_team
from vidscore_server.store.tables import from_row, to_microseconds, to_row

_PUT_SITE = Prepared(put_row(t.site, ("name", "value")))


class Transaction(LiveWriter, Reader):
    """A writable state; mutators raise `NotFoundError` for missing rows."""

    def put_serving(self, record: ServingRecord) -> None:
        """Store the site's heartbeat; servers may do so at the same moment, even the first time."""
        times = (record.quiet_from, record.beat_time)
        value = json.dumps([to_microseconds(time) for time in times]).encode()
        _PUT_SITE.run(self._connection, {"name": t.SERVING, "value": value})

    def insert_benchmark(self, record: BenchmarkRecord) -> None:
        """Add a benchmark."""
        self._insert(t.benchmarks, to_row(record), f"benchmark {record.benchmark}")

    def update_benchmark(self, record: BenchmarkRecord) -> None:
        """Replace the record of a benchmark."""
        key = t.benchmarks.c.benchmark == record.benchmark
        self._update(t.benchmarks, key, to_row(record), f"benchmark {record.benchmark}")

    def delete_benchmark(self, benchmark: str) -> None:
        """Delete a benchmark with all that belongs to it; the audit record stays.

        Nobody sees it from now on, and `free_remains` frees its rows. Its definition stays: a
        server of 0.2.0 over the same database reads those of all rows, and fails if it cannot.
        """
        number = self._benchmark_id(benchmark)
        row = {"benchmark": f"{HIDDEN}{number}", "board": ""}
        self._update(t.benchmarks, t.benchmarks.c.id == number, row, f"benchmark {benchmark}")

    def show_benchmark(self, hidden: str, benchmark: str) -> None:
        """Show a benchmark that was loaded under a hidden name, under its own name.

        Its revisions become larger than all earlier ones under the same names, because cached
        boards and watchers detect changes by them. The idle time of its submissions starts now.

        Raises:
            NotFoundError: If nothing was loaded under the hidden name.
        """
        number, now = self._benchmark_id(hidden), to_microseconds(self.time())
        revision = now // 1000
        named = {"benchmark": benchmark, "revision": _at_least(t.benchmarks.c.revision, revision)}
        self._update(t.benchmarks, t.benchmarks.c.id == number, named, f"benchmark {hidden}")
        c = t.submissions.c
        later = {
            "revision": _at_least(c.revision, revision),
            "activity_time": _at_least(c.activity_time, now),
        }
        own = c.benchmark_id == number
        self._connection.execute(update(t.submissions).where(own).values(later))

    def free_remains(self, batches: int) -> bool:
        """Free up to `batches` batches of usual size of the rows of hidden benchmarks.

        These are deleted ones, and those whose loading ended before they were shown: nobody
        holds the lease of their name.

        Returns:
            Whether anything may be left.
        """
        return delete_remains(self._connection, to_microseconds(self.time()), batches)

    def insert_truth_revision(self, record: TruthRevisionRecord) -> None:
        """Add a revision without any batch."""
        row = to_row(record)
        row["benchmark_id"] = self._benchmark_id(row.pop("benchmark"))
        self._insert(t.truth_revisions, row, f"truth revision {record.revision}")

    def add_truth_batches(
        self, benchmark: str, revision: int, first: int, payloads: Sequence[bytes]
    ) -> None:
        """Add batches to an invisible revision, which already has `first` batches."""
        number = self._truth_id(benchmark, revision)
        rows = [
            {"truth_revision_id": number, "position": position, "payload": payload}
            for position, payload in enumerate(payloads, first)
        ]
        self._connection.execute(insert(t.truth_batches), rows)

    def show_truth_revision(self, hidden: str, record: TruthRevisionRecord) -> None:
        """Move a revision, loaded as the first one of a hidden benchmark, to its own benchmark.

        This deletes the hidden benchmark.
        """
        row = to_row(record)
        row["benchmark_id"] = self._benchmark_id(row.pop("benchmark"))
        own = t.truth_revisions.c.id == self._truth_id(hidden, 1)
        self._update(t.truth_revisions, own, row, f"truth of {hidden}")
        self._delete(t.benchmarks, t.benchmarks.c.benchmark == hidden, f"benchmark {hidden}")

    def insert_submission(self, record: SubmissionRecord) -> None:
        """Add a submission."""
        row = to_row(record)
        row["benchmark_id"] = self._benchmark_id(row.pop("benchmark"))
        self._insert(t.submissions, row, f"submission {record.submission}")

    def delete_submission(self, benchmark: str, submission: str) -> None:
        """Delete a submission with all that belongs to it; its name is free again."""
        number = self._submission_id(benchmark, submission)
        what = f"submission {submission}"
        self._delete(t.submissions, t.submissions.c.id == number, what)
        self._ids.pop((benchmark, submission), None)

    def free_frames(self, benchmark: str, submission: str, batches: int) -> bool:
        """Delete up to `batches` batches of usual size of a submission, then some of its frames.

        Its record and streams stay; `byte_count` is 0 once nothing is left.

        Returns:
            Whether anything may be left.
        """
        number = self._submission_id(benchmark, submission)
        if delete_frames(self._connection, number, batches):
            return True
        freed = update(t.submissions).where(t.submissions.c.id == number).values(byte_count=0)
        self._connection.execute(freed)
        return False

    def raise_epoch(self, benchmark: str, submission: str, stream: str) -> StreamRecord:
        """Open a stream under its next epoch (the first is 1), and create it if it is new."""
        submission_id = self._submission_id(benchmark, submission)
        key = (t.streams.c.submission_id == submission_id) & (t.streams.c.stream == stream)
        raised = update(t.streams).where(key).values(epoch=t.streams.c.epoch + 1)
        if self._connection.execute(raised).rowcount == 0:
            first = {"submission_id": submission_id, "stream": stream, "epoch": 1, "next_offset": 0}
            self._insert(t.streams, first, f"stream {stream}")
        row = self._connection.execute(select(t.streams).where(key)).mappings().one()
        return from_row(StreamRecord, row)

    def insert_score(self, record: ScoreRecord) -> ScoreRecord:
        """Add a score under the submission's next number, and return the numbered record."""
        row = to_row(record)
        submission_id = self._submission_id(row.pop("benchmark"), row.pop("submission"))
        newest = select(func.max(t.scores.c.number)).where(
            t.scores.c.submission_id == submission_id
        )
        number = (self._connection.execute(newest).scalar() or 0) + 1
        row |= {"submission_id": submission_id, "number": number}
        self._insert(t.scores, row, f"score {number}")
        return replace(record, number=number)

    def publish_score(self, record: ScoreRecord) -> None:
        """Mark a score as published, with its released values."""
        submission_id = self._submission_id(record.benchmark, record.submission)
        key = (t.scores.c.submission_id == submission_id) & (t.scores.c.number == record.number)
        row = {
            "released": record.released,
            "released_step": record.released_step,
            "published": True,
        }
        self._update(t.scores, key, row, f"score {record.number}")

    def note_shown_outcomes(self, record: ScoreRecord) -> None:
        """Record that the team is shown outcomes of a score."""
        submission_id = self._submission_id(record.benchmark, record.submission)
        key = (t.scores.c.submission_id == submission_id) & (t.scores.c.number == record.number)
        self._update(t.scores, key, {"outcomes_shown": True}, f"score {record.number}")

    def put_failed_rescoring(self, benchmark: str, submission: str, basis: str) -> None:
        """Store the basis under which re-scoring a submission failed."""
        row = {"submission_id": self._submission_id(benchmark, submission), "basis": basis}
        self._replace(t.failed_rescorings, row, "failed re-scoring")

    def delete_releases(self, benchmark: str, evaluator: str) -> None:
        """Delete the releases of an evaluator to all teams."""
        benchmark_id = self._benchmark_id(benchmark)
        old = (t.releases.c.benchmark_id == benchmark_id) & (t.releases.c.evaluator == evaluator)
        self._connection.execute(delete(t.releases).where(old))

    def put_release(self, record: ReleaseRecord) -> None:
        """Replace the last release to a team."""
        row = to_row(record)
        row["benchmark_id"] = self._benchmark_id(row.pop("benchmark"))
        self._replace(t.releases, row, "release")

    def put_score_draws(self, record: ScoreDrawsRecord) -> None:
        """Replace the scores of a submission on draws of sequences by an evaluator."""
        row = to_row(record)
        row["submission_id"] = self._submission_id(row.pop("benchmark"), row.pop("submission"))
        self._replace(t.score_draws, row, "scores on draws")

    def put_tiers(self, record: TiersRecord) -> None:
        """Replace the tiers of a board under a revision of the truth."""
        row = to_row(record)
        row["benchmark_id"] = self._benchmark_id(row.pop("benchmark"))
        self._replace(t.tiers, row, "tiers")

    def insert_token(self, record: TokenRecord) -> None:
        """Add a token."""
        self._insert(t.tokens, to_row(record), f"token {record.token}")

    def update_token(self, record: TokenRecord) -> None:
        """Replace the record of a token."""
        key = t.tokens.c.token == record.token
        self._update(t.tokens, key, to_row(record), f"token {record.token}")

    def insert_invitation(self, record: InvitationRecord) -> None:
        """Add an invitation."""
        self._insert(t.invitations, to_row(record), f"invitation {record.invitation}")

    def update_invitation(self, record: InvitationRecord) -> None:
        """Replace the record of an invitation."""
        key = t.invitations.c.invitation == record.invitation
        self._update(t.invitations, key, to_row(record), f"invitation {record.invitation}")

    def insert_operation(self, record: OperationRecord) -> None:
        """Add an operation."""
        self._insert(t.operations, to_row(record), f"operation {record.operation}")

    def update_operation(self, record: OperationRecord) -> None:
        """Replace the record of an operation."""
        key = t.operations.c.operation == record.operation
        self._update(t.operations, key, to_row(record), f"operation {record.operation}")

    def delete_operation(self, operation: str) -> None:
        """Delete an operation's record."""
        key = t.operations.c.operation == operation
        self._delete(t.operations, key, f"operation {operation}")

    def delete_team(self, team: str) -> dict[str, int]:
        """Delete all that belongs to a team; see `removal.delete_team`."""
        self._ids.clear()
        return delete_team(self._connection, team)

    def append_audit(self, record: AuditRecord) -> None:
        """Add to the audit record, which is never changed or deleted."""
        row = to_row(record)
        del row["number"]
        self._connection.execute(insert(t.audit).values(row))

    def put_response(
        self, caller: str, request_id: str, digest: str, response: bytes, time: datetime
    ) -> None:
        """Store the response to a request, so that a retry gets the same one."""
        row = {
            "caller": caller,
            "request_id": request_id,
            "digest": digest,
            "response": response,
            "time": to_microseconds(time),
        }
        self._insert(t.responses, row, f"request {request_id}")

    def load(self, rows: Iterable[Row], numbers: RowNumbers) -> None:
        """Add rows from `dump`; their secret replaces the site's secret.

        Args:
            rows: All rows, or the next part of them.
            numbers: The new numbers of earlier rows; numbers of these rows are added.

        Raises:
            InputError: If a row does not fit its table, or precedes its parent.
            AlreadyExistsError: If a row already exists.
        """
        load_rows(self._connection, rows, numbers)

    def take_lease(self, work: str, owner: str, duration: timedelta) -> bool:
        """Take or renew a lease; return False if another owner has it."""
        now, c = self.time(), t.leases.c
        held_by_another = (
            (c.work == work) & (c.owner != owner) & (c.end_time > to_microseconds(now))
        )
        if self._connection.execute(select(c.owner).where(held_by_another)).first() is not None:
            return False
        row = {"work": work, "owner": owner, "end_time": to_microseconds(now + duration)}
        self._replace(t.leases, row, f"lease of {work}")
        return True

    def end_lease(self, work: str, owner: str) -> bool:
        """End a lease; return False if the owner no longer had it."""
        now, c = to_microseconds(self.time()), t.leases.c
        held = (c.work == work) & (c.owner == owner) & (c.end_time > now)
        return self._connection.execute(delete(t.leases).where(held)).rowcount > 0

    def purge(self, before: datetime) -> None:
        """Delete responses from before a time, and ended leases."""
        ended = t.leases.c.end_time <= to_microseconds(self.time())
        self._connection.execute(delete(t.leases).where(ended))
        given = t.responses.c.time < to_microseconds(before)
        self._connection.execute(delete(t.responses).where(given))

    def _benchmark_id(self, benchmark: str) -> int:
        query = select(t.benchmarks.c.id).where(t.benchmarks.c.benchmark == benchmark)
        found = self._connection.execute(query).scalar()
        if found is None:
            raise NotFoundError(f"benchmark {benchmark}")
        return int(found)

    def _truth_id(self, benchmark: str, revision: int) -> int:
        c = t.truth_revisions.c
        of_benchmark = c.benchmark_id == self._benchmark_id(benchmark)
        query = select(c.id).where(of_benchmark, c.revision == revision)
        found = self._connection.execute(query).scalar()
        if found is None:
            raise NotFoundError(f"truth revision {revision} of {benchmark}")
        return int(found)

    def _insert(self, table: Table, row: dict[str, Any], what: str) -> int:
        try:
            key = self._connection.execute(insert(table).values(row)).inserted_primary_key
        except IntegrityError as error:
            raise AlreadyExistsError(what) from error
        return int(key[0]) if key is not None and isinstance(key[0], int) else 0

    def _replace(self, table: Table, row: dict[str, Any], what: str) -> None:
        """Insert a row, or replace the row with the same key."""
        key = and_(*(column == row[column.name] for column in table.primary_key.columns))
        self._connection.execute(delete(table).where(key))
        self._insert(table, row, what)

    def _update(self, table: Table, key: Any, row: dict[str, Any], what: str) -> None:
        if self._connection.execute(update(table).where(key).values(row)).rowcount == 0:
            raise NotFoundError(what)

    def _delete(self, table: Table, key: Any, what: str) -> None:
        if self._connection.execute(delete(table).where(key)).rowcount == 0:
            raise NotFoundError(what)


def _at_least(column: ColumnElement[int], least: int) -> ColumnElement[int]:
    """The maximum of a column and the least value."""
    return case((column < least, least), else_=column)
