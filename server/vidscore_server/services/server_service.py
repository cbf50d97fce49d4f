"""ServerService: what the server is, and backups of what it keeps."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO

from vidscore.v1 import backup_pb2, server_service_pb2_grpc
from vidscore.v1 import server_service_pb2 as pb
from vidscore_evaluators.errors import LimitError
from vidscore_server.access.caller import current_caller
from vidscore_server.access.gate import Gate
from vidscore_server.codec.server_codec import write_server
from vidscore_server.errors import UnauthenticatedError
from vidscore_server.hosting.backup_file import BackupHeader, check_backup
from vidscore_server.hosting.backups import export_backup, load_backup
from vidscore_server.hosting.hosting import Hosting
from vidscore_server.hosting.names import read_benchmark
from vidscore_server.hosting.site import Site
from vidscore_server.runs.sessions import Sessions
from vidscore_server.services.exchange import Requests, Responses
from vidscore_server.services.hosted import request_of
from vidscore_server.settings import Settings
from vidscore_server.store.contract import Reader, StoreError, Transaction
from vidscore_server.store.failpoints import utc_now
from vidscore_server.store.locations import is_address


class ServerService(server_service_pb2_grpc.ServerServiceServicer):
    """Tells what the server is.

    Args:
        settings: The server's settings.
        sessions: The streams that are open.
        gate: Who lets callers in.
        hosting: The hosted benchmarks; None where there are none.
    """

    def __init__(
        self, settings: Settings, sessions: Sessions, gate: Gate, hosting: Hosting | None
    ) -> None:
        """Serve nothing yet."""
        self._settings = settings
        self._sessions = sessions
        self._gate = gate
        self._hosting = hosting

    async def GetServer(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetServerRequest, responses: Responses[Any]
    ) -> pb.GetServerResponse:
        """The server."""
        del request, responses
        caller = current_caller()
        keeps = await self._keeps() if caller.is_organiser else pb.StoreInfo()
        server = write_server(
            utc_now(),
            hosting=self._hosting is not None,
            draining=self._sessions.draining,
            token=await self._gate.token_of(caller),
            keeps=keeps,
        )
        return pb.GetServerResponse(server=server)

    async def ExportBackup(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: backup_pb2.ExportBackupRequest,
        responses: Responses[backup_pb2.ExportBackupResponse],
    ) -> None:
        """Send a backup."""
        site = self._hosted().site
        benchmark = read_benchmark(request.benchmark, "benchmark") if request.benchmark else None
        made = request_of(request, "ExportBackup", site)
        await site.write(lambda transaction: made.audit(transaction, request.benchmark or "site"))
        async with self._sessions.resumable():
            # One thread for all pieces: what it reads from belongs to it.
            with ThreadPoolExecutor(1, "backup") as thread:
                await _send_all(export_backup(site.store, benchmark), responses, thread)

    async def ImportBackup(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self, requests: Requests[backup_pb2.ImportBackupRequest], responses: Responses[Any]
    ) -> backup_pb2.ImportBackupResponse:
        """Add a benchmark out of its backup."""
        del responses
        site = self._hosted().site
        async with self._sessions.resumable():
            with tempfile.TemporaryFile() as file:
                await self._receive(requests, file)
                header = await asyncio.to_thread(check_backup, file)
                return await self._load(site, header, file)

    async def _receive(
        self, requests: Requests[backup_pb2.ImportBackupRequest], file: BinaryIO
    ) -> None:
        maximum, size = self._settings.maximum_backup_bytes, 0
        async for request in requests:
            size += len(request.chunk)
            if size > maximum:
                raise LimitError(f"{size} bytes of a backup", "maximum_backup_bytes", maximum)
            await asyncio.to_thread(file.write, request.chunk)

    async def _load(
        self, site: Site, header: BackupHeader, file: BinaryIO
    ) -> backup_pb2.ImportBackupResponse:
        name = f"benchmarks/{header.benchmark}" if header.benchmark else "site"
        made = request_of(backup_pb2.ImportBackupRequest(), "ImportBackup", site)

        def command(transaction: Transaction) -> None:
            load_backup(transaction, file)
            made.audit(transaction, name)

        await site.write(command)
        count = await site.read(lambda reader: _submission_count(reader, header.benchmark))
        return backup_pb2.ImportBackupResponse(benchmark=name, submission_count=count)

    async def _keeps(self) -> pb.StoreInfo:
        location = self._settings.store
        shared = is_address(location)
        keeps = pb.StoreInfo(kind="postgresql" if shared else "sqlite")
        try:
            keeps.size_bytes = await self._hosted().site.read(lambda reader: reader.size_bytes())
            keeps.up = self._hosted().heartbeat.writable
        except StoreError:
            keeps.up = False
        if not shared and Path(location).parent.is_dir():
            keeps.free_disk_bytes = shutil.disk_usage(Path(location).parent).free
        return keeps

    def _hosted(self) -> Hosting:
        if self._hosting is None:
            raise UnauthenticatedError("the server hosts no benchmarks, and knows no organisers")
        return self._hosting


async def _send_all(
    chunks: Generator[bytes, None, None],
    responses: Responses[backup_pb2.ExportBackupResponse],
    thread: ThreadPoolExecutor,
) -> None:
    loop = asyncio.get_running_loop()
    try:
        while (chunk := await loop.run_in_executor(thread, next, chunks, None)) is not None:
            await responses.send(backup_pb2.ExportBackupResponse(chunk=chunk))
    finally:
        await loop.run_in_executor(thread, chunks.close)  # lets go of what it reads from


def _submission_count(reader: Reader, benchmark: str) -> int:
    count, after = 0, None
    while page := reader.submissions(benchmark, None, after, 1000):
        count += len(page)
        after = (page[-1].create_time, page[-1].submission)
    return count
