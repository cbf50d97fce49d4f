"""A server's stated limits, and messages that keep them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vidscore_client._transport import Transport
from vidscore_client.errors import UnsupportedError, VidscoreError
from vidscore_client.settings import DEFAULT_BATCHING, Batching
from vidscore_protos.v1 import server_service_pb2 as wire

GET_SERVER = "/vidscore.v1.ServerService/GetServer"


MESSAGE_LIMITS = frozenset(
    {
        "maximum_batch_labels",
        "maximum_batch_objects",
        "maximum_batch_sequences",
        "maximum_message_bytes",
        "maximum_unstored_bytes",
        "maximum_unstored_call_bytes",
        "maximum_unstored_team_bytes",
    }
)
"""Limits that fewer frames in a message may keep, although nobody knows how many."""


def limited(batching: Batching, limits: Mapping[str, int]) -> Batching:
    """Settings under which no message exceeds a server's limits.

    Args:
        batching: The chosen settings.
        limits: The server's stated limits, by name.
    """
    frames, size = batching.batch_frames, batching.batch_bytes
    # The other half is for the tables of names, which the outbox does not count.
    allowed = limits.get("maximum_message_bytes", 2 * size) // 2
    return replace(
        batching,
        batch_frames=max(1, min(frames, limits.get("maximum_batch_frames", frames))),
        batch_bytes=max(1, min(size, allowed)),
    )


def cut_smaller(batching: Batching, error: VidscoreError, frames: int) -> Batching:
    """Settings for smaller batches than a refused one; the same settings if these do not help.

    Args:
        batching: The settings of the refused batch.
        error: The refusal.
        frames: Maximum number of frames that the refused batch has.
    """
    name, maximum = error.metadata.get("limit", ""), error.metadata.get("maximum", "")
    kept = limited(batching, {name: int(maximum)} if maximum.isdecimal() else {})
    if kept == batching and name in MESSAGE_LIMITS and frames > 1:
        return replace(batching, batch_frames=frames // 2)
    return kept


async def batching_of_server(transport: Transport) -> Batching:
    """How to cut whole batches for a server; the default if it is too old to state its limits.

    Raises:
        VidscoreError: If the server cannot be asked.
    """
    try:
        answer = await transport.unary(GET_SERVER, wire.GetServerRequest(), wire.GetServerResponse)
    except UnsupportedError:
        return DEFAULT_BATCHING
    return limited(DEFAULT_BATCHING, answer.server.limits)
