"""The history of a submission, from the audit record: the part that its team may know.

It omits who did it, and what the server did with scores later.
"""

from __future__ import annotations

from datetime import datetime

from msgspec import Struct

from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.states import Event
from vidscore_server.store import Reader
from vidscore_server.store.records import AuditRecord, SubmissionRecord

MOST_EVENTS = 100
"""Maximum number of events that are shown, newest first."""

CREATED = "created"
STREAM_OPENED = "stream_opened"

_KNOWN = frozenset(event.value for event in Event)


class PastEvent(Struct, frozen=True):
    """Something that happened to a submission.

    Attributes:
        time: When.
        reason: The reason code of the state that followed; `CREATED` or `STREAM_OPENED`.
        stream: The stream that was opened; otherwise empty.
        epoch: Its epoch since then; otherwise 0.
    """

    time: datetime
    reason: str
    stream: str = ""
    epoch: int = 0


def history_of(reader: Reader, record: SubmissionRecord) -> list[PastEvent]:
    """What happened to a submission, newest first.

    Args:
        reader: A state of the store.
        record: The submission, which its reader may see.
    """
    name = str(SubmissionName(record.benchmark, record.submission))
    found = reader.audit_of(name, record.create_time, MOST_EVENTS)
    return [event for entry in found if (event := _event(entry, name)) is not None]


def _event(entry: AuditRecord, name: str) -> PastEvent | None:
    """The event of an audit record; None if teams do not see it."""
    if entry.resource != name:
        stream = entry.resource.removeprefix(f"{name}/streams/")
        epoch = entry.detail.removeprefix("epoch ")
        if entry.action != "OpenStream" or not epoch.isdecimal():
            return None
        return PastEvent(entry.time, STREAM_OPENED, stream, int(epoch))
    if entry.action == "CreateSubmission":
        return PastEvent(entry.time, CREATED)
    code = next((code for code in (entry.action, entry.detail) if code in _KNOWN), None)
    return None if code is None else PastEvent(entry.time, code)
