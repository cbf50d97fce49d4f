"""Send a checked file into a submission, with the offsets that every client uses.

The name of the stream depends on the detections, as with `vidscore submit`: sending the same file
again, by page or by command, continues at the end of the stream.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from typing import Any

from msgspec import Struct

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.errors import InputError
from vidscore_server.errors import EpochStaleError
from vidscore_server.web.site.checking import Call, pieces
from vidscore_server.web.site.phrases import last_part
from vidscore_server.web.site.service import ServiceError, incident
from vidscore_server.web.site.spool import UploadLimits

MOST_LOOKED_AT = 200
"""Number of a team's newest submissions that are searched for one that receives the file."""


class Destination(Struct, frozen=True):
    """The target of a file.

    Attributes:
        submission: Resource name of the submission.
        stream: Last part of the stream's name.
        epoch: Epoch of this writer.
        offset: Where the stream ends.
    """

    submission: str
    stream: str
    epoch: int
    offset: int


async def begun_before(
    submissions: AsyncIterator[Mapping[str, Any]], stream: str, name: str
) -> Mapping[str, Any] | None:
    """A team's submission that receives, or has received, this very file.

    Args:
        submissions: Submissions of the team, newest first.
        stream: Name of the file's stream.
        name: Last part of the requested name; empty for any.
    """
    seen = 0
    async for found in submissions:
        seen += 1
        named = not name or last_part(found["name"]) == name
        if named and found["state"] != "cancelled" and stream_of(found, stream) is not None:
            return found
        if seen == MOST_LOOKED_AT:
            break
    return None


def stream_of(submission: Mapping[str, Any], stream: str) -> Mapping[str, Any] | None:
    """A stream of a submission by its name."""
    return next((one for one in submission["streams"] if one["stream"] == stream), None)


async def open_destination(call: Call, submission: str, stream: str) -> Destination:
    """Open the stream of a file, which excludes earlier senders."""
    answer = await call("SubmissionService/OpenStream", submission=submission, stream=stream)
    found = answer["stream"]
    return Destination(submission, stream, found["epoch"], found["next_offset"])


async def send_frames(
    call: Call,
    destination: Destination,
    frames: Annotations,
    limits: UploadLimits,
    stored: Callable[[], None],
) -> None:
    """Append the frames that a stream does not have yet.

    Args:
        call: Makes a call as the visitor.
        destination: The target.
        frames: The frames of the file.
        limits: How much goes into one call.
        stored: Called whenever frames become durable.

    Raises:
        ServiceError: If a batch is refused.
    """
    name = f"{destination.submission}/streams/{destination.stream}"
    parts = pieces(frames, limits, destination.offset)
    while (part := await asyncio.to_thread(next, parts, None)) is not None:
        start, piece = part
        await call(
            "SubmissionService/AppendBatch",
            stream=name,
            epoch=destination.epoch,
            offset=start,
            detections=piece,
        )
        stored()
    stored()  # also if there was nothing left to send


async def seal(call: Call, destination: Destination, frame_count: int) -> None:
    """Seal a submission that has the whole file.

    Raises:
        ServiceError: If it is refused, for example because it has other frames, too.
    """
    await call(
        "SubmissionService/SealSubmission",
        name=destination.submission,
        expected_frame_count=frame_count,
    )


async def discard_draft(call: Call, submission: str, error: ServiceError) -> None:
    """Cancel a submission that was refused before its first frames: it would count as an open one.

    Args:
        call: Makes a call as the visitor.
        submission: The submission.
        error: Why it was refused.
    """
    if error.reason == EpochStaleError.reason:
        return  # somebody else sends to it
    with suppress(ServiceError):
        found = await call("SubmissionService/GetSubmission", name=submission)
        if not found["submission"]["frame_count"]:
            await call("SubmissionService/CancelSubmission", name=submission)


def what_stopped(error: Exception) -> ServiceError:
    """The reason why sending stopped, for a page."""
    if isinstance(error, ServiceError):
        return error
    if isinstance(error, InputError):
        return ServiceError("INVALID_ARGUMENT", error.reason, str(error))
    return incident(error)
