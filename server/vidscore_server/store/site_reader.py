"""Queries for what belongs to the whole site: tokens, operations, the audit record, leases."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, and_, func, or_, select

from vidscore_server.runtime import utc_now
from vidscore_server.store import dump
from vidscore_server.store import tables as t
from vidscore_server.store.migrations import schema_of
from vidscore_server.store.records import (
    AuditFilter,
    AuditRecord,
    InvitationRecord,
    LeaseRecord,
    OperationRecord,
    Row,
    ServingRecord,
    TokenRecord,
)
from vidscore_server.store.tables import RecordReader, from_microseconds, to_microseconds


class SiteReader(RecordReader):
    """One consistent state of the store: the part that belongs to no benchmark."""

    def secret(self) -> bytes:
        """The site's secret, 32 random bytes made with the store: the key of published digests."""
        query = select(t.site.c.value).where(t.site.c.name == t.SECRET)
        return bytes(self._connection.execute(query).scalar_one())

    def serving(self) -> ServingRecord | None:
        """Since when the site has served without a break; None if it never has."""
        query = select(t.site.c.value).where(t.site.c.name == t.SERVING)
        found = self._connection.execute(query).scalar()
        return None if found is None else ServingRecord(*map(from_microseconds, json.loads(found)))

    def time(self) -> datetime:
        """The time by the store's clock, the same for all servers."""
        if self._connection.dialect.name != "postgresql":
            return utc_now()  # one process owns the file, so its clock is the store's
        now: datetime = self._connection.execute(select(func.clock_timestamp())).scalar_one()
        return now.astimezone(UTC)

    def leases(self) -> list[LeaseRecord]:
        """Present leases, by their work."""
        c = t.leases.c
        query = select(t.leases).where(c.end_time > to_microseconds(self.time())).order_by(c.work)
        return self._all(query, LeaseRecord)

    def token(self, token: str) -> TokenRecord | None:
        """One token."""
        return self._one(select(t.tokens).where(t.tokens.c.token == token), TokenRecord)

    def tokens(self, before: tuple[datetime, str] | None, limit: int) -> list[TokenRecord]:
        """Tokens, newest first, then by name; `before` as in `submissions`."""
        time, name = t.tokens.c.create_time, t.tokens.c.token
        query = select(t.tokens)
        if before is not None:
            last = to_microseconds(before[0])
            query = query.where(or_(time < last, and_(time == last, name > before[1])))
        return self._all(query.order_by(time.desc(), name).limit(limit), TokenRecord)

    def invitation(self, invitation: str) -> InvitationRecord | None:
        """One invitation."""
        query = select(t.invitations).where(t.invitations.c.invitation == invitation)
        return self._one(query, InvitationRecord)

    def invitations(
        self, before: tuple[datetime, str] | None, limit: int
    ) -> list[InvitationRecord]:
        """Invitations, newest first, then by name; `before` as in `submissions`."""
        time, name = t.invitations.c.create_time, t.invitations.c.invitation
        query = select(t.invitations)
        if before is not None:
            last = to_microseconds(before[0])
            query = query.where(or_(time < last, and_(time == last, name > before[1])))
        return self._all(query.order_by(time.desc(), name).limit(limit), InvitationRecord)

    def operation(self, operation: str) -> OperationRecord | None:
        """One operation."""
        query = select(t.operations).where(t.operations.c.operation == operation)
        return self._one(query, OperationRecord)

    def operations(self, after: str, limit: int) -> list[OperationRecord]:
        """Operations with names after `after`, by name."""
        name = t.operations.c.operation
        query = select(t.operations).where(name > after).order_by(name).limit(limit)
        return self._all(query, OperationRecord)

    def unfinished_operations(self) -> list[OperationRecord]:
        """Operations that are not done, oldest first."""
        query = select(t.operations).where(t.operations.c.done.is_(False))
        ordered = query.order_by(t.operations.c.create_time, t.operations.c.operation)
        return self._all(ordered, OperationRecord)

    def audit_records(
        self, before: int | None, limit: int, wanted: AuditFilter = AuditFilter()
    ) -> list[AuditRecord]:
        """Matching audit records with numbers below `before` (None: all), newest first."""
        query = select(t.audit).order_by(t.audit.c.number.desc()).limit(limit)
        return self._all(query.where(*_audit_conditions(before, wanted)), AuditRecord)

    def audit_of(self, resource: str, since: datetime, limit: int) -> list[AuditRecord]:
        """The newest audit records of a resource and of what is below it, from a time on."""
        c = t.audit.c
        below = (c.resource >= f"{resource}/") & (c.resource < f"{resource}0")  # "0" follows "/"
        found = [
            record
            for among in (c.resource == resource, below)  # each by the index
            for record in self._all(
                select(t.audit)
                .where(among, c.time >= to_microseconds(since))
                .order_by(c.number.desc())
                .limit(limit),
                AuditRecord,
            )
        ]
        return sorted(found, key=lambda record: record.number, reverse=True)[:limit]

    def response(self, caller: str, request_id: str) -> tuple[str, bytes] | None:
        """Digest of a request, and the response to it."""
        query = select(t.responses.c.digest, t.responses.c.response).where(
            t.responses.c.caller == caller, t.responses.c.request_id == request_id
        )
        row = self._connection.execute(query).one_or_none()
        return None if row is None else (row[0], bytes(row[1]))

    def size_bytes(self) -> int:
        """Size of the database."""
        return dump.size_bytes(self._connection)

    def schema(self) -> str:
        """Revision of the tables; rows fit a store of the same revision."""
        return schema_of(self._connection) or ""

    def is_empty(self) -> bool:
        """Whether the store has nothing but the site's secret."""
        return dump.is_empty(self._connection)

    def dump(self, benchmark: str | None) -> Iterator[Row]:
        """Every row, or those of one benchmark, parents first.

        Leases are left out: they are valid only here.
        """
        return dump.dump_rows(self._connection, benchmark)


def _audit_conditions(before: int | None, wanted: AuditFilter) -> Iterator[ColumnElement[bool]]:
    c = t.audit.c
    if before is not None:
        yield c.number < before
    if wanted.resource:
        below = c.resource.startswith(f"{wanted.resource}/", autoescape=True)
        yield (c.resource == wanted.resource) | below
    if wanted.actor:
        yield c.actor == wanted.actor
    if wanted.action:
        yield c.action == wanted.action
    if wanted.since is not None:
        yield c.time >= to_microseconds(wanted.since)
    if wanted.until is not None:
        yield c.time < to_microseconds(wanted.until)
