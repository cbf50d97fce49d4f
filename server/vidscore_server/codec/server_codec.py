"""The server itself, as a message."""

from __future__ import annotations

from datetime import datetime

from vidscore_protos.v1 import server_service_pb2 as pb
from vidscore_server.codec.access_codec import write_token
from vidscore_server.codec.times import write_time
from vidscore_server.store.records import TokenRecord
from vidscore_server.version import server_version, supported_versions


def write_server(
    now: datetime, *, hosting: bool, draining: bool, token: TokenRecord | None, keeps: pb.StoreInfo
) -> pb.Server:
    """A server as a message.

    Args:
        now: Its time.
        hosting: Whether it hosts benchmarks.
        draining: Whether it is about to stop.
        token: The caller's token; what it is for is not said.
        keeps: What it keeps, as far as the caller may know.
    """
    version = server_version()
    oldest, newest = supported_versions(version)
    server = pb.Server(
        version=version,
        oldest_client_version=str(oldest),
        newest_client_version=str(newest),
        time=write_time(now),
        hosting=hosting,
        draining=draining,
    )
    if token is not None:
        server.token.CopyFrom(write_token(token))
        server.token.ClearField("comment")
    if keeps.kind:
        server.store.CopyFrom(keeps)
    return server
