"""A server itself: its state, its evaluators, its backups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from google.protobuf.wrappers_pb2 import Int32Value, StringValue

from vidscore_client._convert import to_dataclass
from vidscore_client._decoding import EVALUATOR_PREFIX, decode_evaluator, decode_preset
from vidscore_client._encoding import benchmark_name
from vidscore_client._transport import Transport, list_pages, read_only, requests_of
from vidscore_client.evaluators import EvaluatorDescription, PresetDescription
from vidscore_client.frames import parse_string
from vidscore_client.hosting import Token
from vidscore_protos.v1 import backup_pb2, evaluator_service_pb2
from vidscore_protos.v1 import server_service_pb2 as wire


class Health(StrEnum):
    """Whether a server accepts calls, by the standard health protocol."""

    UNKNOWN = "unknown"
    SERVING = "serving"
    NOT_SERVING = "not_serving"
    SERVICE_UNKNOWN = "service_unknown"


@dataclass(frozen=True)
class StoreInfo:
    """State of a server's store.

    Attributes:
        up: Whether it answers.
        kind: Kind of the database: ``sqlite`` or ``postgresql``.
        size_bytes: Size in bytes; None if unknown.
        free_disk_bytes: Free bytes on its disk; None if it is on another machine.
    """

    up: bool
    kind: str
    size_bytes: int | None
    free_disk_bytes: int | None


@dataclass(frozen=True)
class ServerInfo:
    """A server.

    Attributes:
        version: Its version.
        oldest_client_version: Oldest compatible version of clients.
        newest_client_version: Newest compatible version of clients.
        time: Its time.
        hosting: Whether it hosts benchmarks.
        draining: Whether it is about to stop.
        token: The caller's token, without its secret; None without one.
        store: Its store, for organisers; otherwise None.
    """

    version: str
    oldest_client_version: str
    newest_client_version: str
    time: datetime | None
    hosting: bool
    draining: bool
    token: Token | None
    store: StoreInfo | None


EVALUATORS = "/vidscore.v1.EvaluatorService/"
SERVER = "/vidscore.v1.ServerService/"

BACKUP_CHUNK_BYTES = 1 << 20

_HEALTH = tuple(Health)
"""States by the numbers of ``grpc.health.v1.HealthCheckResponse.ServingStatus``."""


async def list_evaluators(transport: Transport) -> list[EvaluatorDescription]:
    """Every evaluator."""
    pages = await list_pages(
        transport,
        EVALUATORS + "ListEvaluators",
        evaluator_service_pb2.ListEvaluatorsRequest(),
        evaluator_service_pb2.ListEvaluatorsResponse,
    )
    return [decode_evaluator(evaluator) for page in pages for evaluator in page.evaluators]


async def get_evaluator(transport: Transport, name: str) -> EvaluatorDescription:
    """One evaluator by name."""
    response = await transport.unary(
        EVALUATORS + "GetEvaluator",
        evaluator_service_pb2.GetEvaluatorRequest(
            name=EVALUATOR_PREFIX + parse_string("name", name)
        ),
        evaluator_service_pb2.GetEvaluatorResponse,
    )
    return decode_evaluator(response.evaluator)


async def list_presets(transport: Transport) -> list[PresetDescription]:
    """Every preset."""
    pages = await list_pages(
        transport,
        EVALUATORS + "ListPresets",
        evaluator_service_pb2.ListPresetsRequest(),
        evaluator_service_pb2.ListPresetsResponse,
    )
    return [decode_preset(preset) for page in pages for preset in page.presets]


async def check_health(transport: Transport, service: str) -> Health:
    """The state of a service.

    The messages of ``grpc.health.v1`` have one field each, a string and an enumeration, and so
    the same bytes as the wrappers of these types: no generated code is needed for them.
    """
    request = StringValue(value=parse_string("service", service))
    response = await transport.unary("/grpc.health.v1.Health/Check", request, Int32Value)
    known = 0 <= response.value < len(_HEALTH)
    return _HEALTH[response.value] if known else Health.UNKNOWN


async def get_server(transport: Transport) -> ServerInfo:
    """The server."""
    response = await transport.unary(
        SERVER + "GetServer", wire.GetServerRequest(), wire.GetServerResponse
    )
    return to_dataclass(ServerInfo, response.server)


async def export_backup(
    transport: Transport, write: Callable[[bytes], object], benchmark: str | None
) -> None:
    """Write a backup in pieces."""
    request = backup_pb2.ExportBackupRequest(
        benchmark="" if benchmark is None else benchmark_name(benchmark)
    )
    call = transport.stream(
        SERVER + "ExportBackup", requests_of([request]), backup_pb2.ExportBackupResponse
    )
    try:
        while (response := await call.read()) is not None:
            write(response.chunk)
    finally:
        call.cancel()


async def import_backup(transport: Transport, chunks: Iterable[bytes]) -> str:
    """Send a backup, and return the full name of its benchmark."""
    call = transport.stream(
        SERVER + "ImportBackup",
        requests_of(_import_requests(chunks)),
        backup_pb2.ImportBackupResponse,
    )
    benchmark: str = (await read_only(call)).benchmark
    return benchmark


def _import_requests(chunks: Iterable[bytes]) -> Iterator[backup_pb2.ImportBackupRequest]:
    """The requests of a backup, in pieces that every server accepts."""
    for chunk in chunks:
        for start in range(0, len(chunk), BACKUP_CHUNK_BYTES):
            yield backup_pb2.ImportBackupRequest(chunk=chunk[start : start + BACKUP_CHUNK_BYTES])
