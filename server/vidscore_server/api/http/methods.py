"""How the messages of each method travel over HTTP."""

from __future__ import annotations

from typing import NamedTuple

from google.protobuf.descriptor import MethodDescriptor

JSON = "application/json"
PROTO = "application/proto"
LINES = "application/x-ndjson"
EVENTS = "text/event-stream"


class Resumed(NamedTuple):
    """How a broken stream resumes.

    Attributes:
        field: Field of the request that says what the client has.
        told: Field of a response with this position.
    """

    field: str
    told: str


RESUMED = {
    "/vidscore.v1.SubmissionService/WatchSubmission": Resumed(
        "from_revision", "submission.revision"
    ),
    "/vidscore.v1.SubmissionService/ReadOutcomes": Resumed("offset", "next_offset"),
}
"""The streams that can resume: their events have an `id`, which clients return as Last-Event-ID."""

READ_BY_GET = frozenset({"/vidscore.v1.SubmissionService/WatchSubmission"})
"""Methods that change nothing and whose requests fit in a query."""


def request_types(method: MethodDescriptor) -> tuple[str, ...]:
    """Types of bodies that a method accepts."""
    if method.client_streaming:
        return (LINES, JSON)
    return (JSON,) if method.server_streaming else (JSON, PROTO)


def response_types(method: MethodDescriptor) -> tuple[str, ...]:
    """Types of answers that a method can return."""
    if method.server_streaming:
        return (LINES, EVENTS)
    return (JSON,) if method.client_streaming else (JSON, PROTO)
