"""The limits that a server states, and messages that keep to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vidscore_client._transport import Transport
from vidscore_client.errors import UnsupportedError, VidscoreError
from vidscore_client.settings import DEFAULT_BATCHING, Batching
from vidscore_protos.v1 import server_service_pb2 as wire

GET_SERVER = "/vidscore.v1.ServerService/GetServer"


def limited(batching: Batching, limits: Mapping[str, int]) -> Batching:
    """Settings under which no message is larger than a server takes.

    Args:
        batching: The settings as they were chosen.
        limits: The server's limits by name, as far as it states them.
    """
    frames, size = batching.batch_frames, batching.batch_bytes
    # The other half is for the tables of names, which the outbox does not count.
    allowed = limits.get("maximum_message_bytes", 2 * size) // 2
    return replace(
        batching,
        batch_frames=max(1, min(frames, limits.get("maximum_batch_frames", frames))),
        batch_bytes=max(1, min(size, allowed)),
    )


def exceeded_limit(error: VidscoreError) -> dict[str, int]:
    """The limit that a server names in an error, by its name; empty if it names none."""
    name, maximum = error.metadata.get("limit", ""), error.metadata.get("maximum", "")
    return {name: int(maximum)} if maximum.isdecimal() else {}


async def batching_of_server(transport: Transport) -> Batching:
    """How whole batches are cut for a server; as usual where it is too old to state its limits.

    Raises:
        VidscoreError: If it cannot be asked.
    """
    try:
        answer = await transport.unary(GET_SERVER, wire.GetServerRequest(), wire.GetServerResponse)
    except UnsupportedError:
        return DEFAULT_BATCHING
    return limited(DEFAULT_BATCHING, answer.server.limits)
