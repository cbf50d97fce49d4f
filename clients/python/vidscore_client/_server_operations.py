"""Calls about the server itself, each written once for both clients."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vidscore.v1 import backup_pb2
from vidscore.v1 import server_service_pb2 as wire
from vidscore_client._hosting_decoding import decode_time, decode_token
from vidscore_client._names import benchmark_name
from vidscore_client._operations import Operation, UnaryRequest
from vidscore_client.servers import ServerInfo, StoreInfo

BACKUP_CHUNK_BYTES = 1 << 20


def get_server() -> Operation[ServerInfo]:
    """The server."""
    response = yield UnaryRequest(
        "/vidscore.v1.ServerService/GetServer", wire.GetServerRequest(), wire.GetServerResponse
    )
    return _decode_server(response.server)


def export_request(benchmark: str | None) -> backup_pb2.ExportBackupRequest:
    """What asks for a backup."""
    name = "" if benchmark is None else benchmark_name(benchmark)
    return backup_pb2.ExportBackupRequest(benchmark=name)


def import_requests(chunks: Iterable[bytes]) -> Iterator[backup_pb2.ImportBackupRequest]:
    """What carries a backup, in pieces that every server takes."""
    for chunk in chunks:
        for start in range(0, len(chunk), BACKUP_CHUNK_BYTES):
            yield backup_pb2.ImportBackupRequest(chunk=chunk[start : start + BACKUP_CHUNK_BYTES])


def _decode_server(message: wire.Server) -> ServerInfo:
    return ServerInfo(
        version=message.version,
        oldest_client_version=message.oldest_client_version,
        newest_client_version=message.newest_client_version,
        time=decode_time(message, "time"),
        hosting=message.hosting,
        draining=message.draining,
        token=decode_token(message.token) if message.HasField("token") else None,
        store=_decode_store(message.store) if message.HasField("store") else None,
    )


def _decode_store(message: wire.StoreInfo) -> StoreInfo:
    return StoreInfo(
        up=message.up,
        kind=message.kind,
        size_bytes=message.size_bytes if message.HasField("size_bytes") else None,
        free_disk_bytes=message.free_disk_bytes if message.HasField("free_disk_bytes") else None,
    )
