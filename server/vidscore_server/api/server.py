"""ServerService and EvaluatorService: the server, its backups, its evaluators and presets."""

from __future__ import annotations

import asyncio
import re
import shutil
import tempfile
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from google.protobuf import struct_pb2

from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import Fault, InputError, LimitError, UnknownEvaluatorError
from vidscore_evaluators.evaluator import Direction, Measure
from vidscore_evaluators.parameters import json_schema
from vidscore_evaluators.presets import Preset, find_preset, preset_names
from vidscore_evaluators.registry import EvaluatorClass, evaluator_class, evaluator_names
from vidscore_protos.v1 import (
    annotations_pb2,
    backup_pb2,
    evaluator_service_pb2,
    evaluator_service_pb2_grpc,
    server_service_pb2_grpc,
)
from vidscore_protos.v1 import server_service_pb2 as pb
from vidscore_protos.v1.specification_pb2 import ClassList
from vidscore_server.api.access import write_token
from vidscore_server.api.batches import GEOMETRY_OF_ARITY
from vidscore_server.api.convert import write_specification, write_time
from vidscore_server.api.kept_answers import ReadyAnswer
from vidscore_server.api.requests import (
    Time,
    cut_page,
    page_size_of,
    read_page_token,
    request_of,
    write_page_token,
)
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.api.submissions import STATE_OF_NUMBER, STATES, write_submission
from vidscore_server.domain.access import Gate, current_caller
from vidscore_server.domain.backups import export_backup, import_benchmark
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.names import benchmark_name, read_benchmark
from vidscore_server.domain.sessions import Sessions
from vidscore_server.domain.states import UNFINISHED
from vidscore_server.domain.submissions import SubmissionView
from vidscore_server.errors import UnauthenticatedError
from vidscore_server.runtime import Kept, utc_now
from vidscore_server.settings import Settings, limits_of
from vidscore_server.store import Reader, is_address
from vidscore_server.store.errors import StoreError
from vidscore_server.store.records import SubmissionState, TokenRecord
from vidscore_server.version import server_version, supported_versions


def write_server(
    now: datetime,
    settings: Settings,
    *,
    hosting: bool,
    draining: bool,
    token: TokenRecord | None,
    keeps: pb.StoreInfo,
) -> pb.Server:
    """A server as a message.

    Args:
        now: Its time.
        settings: Its limits.
        hosting: Whether it hosts benchmarks.
        draining: Whether it is about to stop.
        token: The caller's token; its comment is left out.
        keeps: The part of its store that the caller may know.
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
        limits=limits_of(settings),
    )
    if token is not None:
        server.token.CopyFrom(write_token(token))
        server.token.ClearField("comment")
    if keeps.kind:
        server.store.CopyFrom(keeps)
    return server


# --- ServerService


class ServerService(server_service_pb2_grpc.ServerServiceServicer):
    """Describes the server.

    Args:
        settings: The server's settings.
        sessions: The streams that are open.
        gate: Admits callers.
        hosting: The hosted benchmarks; None if there are none.
    """

    def __init__(
        self, settings: Settings, sessions: Sessions, gate: Gate, hosting: Hosting | None
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._gate = gate
        self._hosting = hosting

    async def GetServer(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, _request: pb.GetServerRequest, _: Responses[Any]
    ) -> pb.GetServerResponse:
        """The server."""
        caller = current_caller()
        keeps = await self._keeps() if caller.is_organiser else pb.StoreInfo()
        # Doctors compare the time with theirs: it is the one by which benchmarks open and close.
        clock = utc_now if self._hosting is None else self._hosting.context.clock
        server = write_server(
            clock(),
            self._settings,
            hosting=self._hosting is not None,
            draining=self._sessions.draining,
            token=await self._gate.token_of(caller),
            keeps=keeps,
        )
        return pb.GetServerResponse(server=server)

    async def GetQueue(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self, request: pb.GetQueueRequest, _: Responses[Any]
    ) -> pb.GetQueueResponse:
        """A page of the queue."""
        return await self._hosted().context.read(lambda reader: queue_page(request, reader))

    async def ExportBackup(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: backup_pb2.ExportBackupRequest,
        responses: Responses[backup_pb2.ExportBackupResponse],
    ) -> None:
        """Send a backup."""
        context = self._hosted().context
        benchmark = read_benchmark(request.benchmark, "benchmark") if request.benchmark else None
        made = request_of(request, "ExportBackup", context)
        await context.write(
            lambda transaction: made.audit(transaction, request.benchmark or "site")
        )
        async with self._sessions.resumable():
            # One thread for all pieces, because the reader belongs to its thread.
            with ThreadPoolExecutor(1, "backup") as thread:
                await _send_all(export_backup(context.store, benchmark), responses, thread)

    async def ImportBackup(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self, requests: Requests[backup_pb2.ImportBackupRequest], _: Responses[Any]
    ) -> backup_pb2.ImportBackupResponse:
        """Add a benchmark from its backup."""
        hosted = self._hosted()
        context = hosted.context
        async with self._sessions.resumable():
            with tempfile.TemporaryFile() as file:
                await self._receive(requests, file)
                made = request_of(backup_pb2.ImportBackupRequest(), "ImportBackup", context)
                name = await import_benchmark(context, hosted.leases, made, file)
            count = await context.read(lambda reader: _submission_count(reader, name))
        return backup_pb2.ImportBackupResponse(
            benchmark=benchmark_name(name), submission_count=count
        )

    async def _receive(
        self, requests: Requests[backup_pb2.ImportBackupRequest], file: BinaryIO
    ) -> None:
        maximum, size = self._settings.maximum_backup_bytes, 0
        async for request in requests:
            size += len(request.chunk)
            if size > maximum:
                raise LimitError(f"{size} bytes of a backup", "maximum_backup_bytes", maximum)
            await asyncio.to_thread(file.write, request.chunk)

    async def _keeps(self) -> pb.StoreInfo:
        location = self._settings.store
        shared = is_address(location)
        keeps = pb.StoreInfo(kind="postgresql" if shared else "sqlite")
        try:
            keeps.size_bytes = await self._hosted().context.read(lambda reader: reader.size_bytes())
            keeps.up = self._hosted().heartbeat.writable
        except StoreError:
            keeps.up = False
        if not shared and (folder := _folder_of(Path(location))).is_dir():
            keeps.free_disk_bytes = shutil.disk_usage(folder).free
        return keeps

    def _hosted(self) -> Hosting:
        if self._hosting is None:
            raise UnauthenticatedError("the server hosts no benchmarks, and knows no organisers")
        return self._hosting


def _folder_of(path: Path) -> Path:
    """The folder of a file, with links resolved."""
    return path.resolve().parent


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
        await loop.run_in_executor(thread, chunks.close)  # releases the reader


def _submission_count(reader: Reader, benchmark: str) -> int:
    count, after = 0, None
    while page := reader.submissions(benchmark, None, after, 1000):
        count += len(page)
        after = (page[-1].create_time, page[-1].submission)
    return count


# --- Evaluators

RESOURCE_PREFIX = "evaluators/"
"""Resource names are ``evaluators/{evaluator}``."""

_DIRECTIONS = {
    Direction.HIGHER: evaluator_service_pb2.DIRECTION_HIGHER,
    Direction.LOWER: evaluator_service_pb2.DIRECTION_LOWER,
    Direction.NONE: evaluator_service_pb2.DIRECTION_NONE,
}


@cache
def write_evaluator(evaluator: EvaluatorClass) -> evaluator_service_pb2.Evaluator:
    """An evaluator's description as a message, which must not change because all calls share it."""
    schema = struct_pb2.Struct()
    schema.update(json_schema(evaluator.Parameters))
    return evaluator_service_pb2.Evaluator(
        name=RESOURCE_PREFIX + evaluator.name,
        version=evaluator.version,
        title=evaluator.title,
        task=evaluator.task.value,
        parameters_schema=schema,
        measures=[_write_measure(measure) for measure in evaluator.measures],
        ranking=evaluator.ranking,
        truth_geometries=_geometries(evaluator.needs.truth_arities),
        detection_geometries=_geometries(evaluator.needs.detection_arities),
        uses_confidences=evaluator.needs.confidences,
        needs_tracks=evaluator.needs.tracks,
    )


def _write_measure(measure: Measure) -> evaluator_service_pb2.Measure:
    return evaluator_service_pb2.Measure(
        name=measure.name,
        description=measure.description,
        unit=measure.unit,
        minimum=measure.minimum,
        maximum=measure.maximum,
        direction=_DIRECTIONS[measure.direction],
        averaging=measure.averaging.value,
    )


def _geometries(arities: tuple[int, ...]) -> list[annotations_pb2.Geometry]:
    return [GEOMETRY_OF_ARITY[arity] for arity in arities]


def write_preset(preset: Preset) -> evaluator_service_pb2.Preset:
    """A preset as a message."""
    entries = write_specification({"evaluators": [to_dict(entry) for entry in preset.evaluators]})
    return evaluator_service_pb2.Preset(
        name=f"presets/{preset.name}",
        version=preset.version,
        title=preset.title,
        benchmark=preset.benchmark,
        scorer=preset.scorer,
        format=preset.format,
        labels=None if preset.labels is None else ClassList(names=preset.labels),
        evaluators=entries.evaluators,
    )


KEPT_PAGES = 16
"""Maximum number of cached pages of evaluators; a page of all of them takes 75 kB."""

_NAME = re.compile(re.escape(RESOURCE_PREFIX) + r"([^/]+)")


class EvaluatorService(evaluator_service_pb2_grpc.EvaluatorServiceServicer):
    """Describes every evaluator, in a thread: the first call may wait for imports.

    The evaluators of a process do not change, so that each page is made once.
    """

    def __init__(self) -> None:
        self._pages: Kept[ReadyAnswer] = Kept(KEPT_PAGES)

    async def ListEvaluators(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: evaluator_service_pb2.ListEvaluatorsRequest,
        _: Responses[Any],
    ) -> ReadyAnswer:
        """A page of evaluators."""
        [start] = read_page_token(request, int) or (0,)
        size = page_size_of(request)
        page = self._pages.get((start, size))
        if page is None:
            page = ReadyAnswer.of(await asyncio.to_thread(_evaluator_page, start, size))
            self._pages.put((start, size), page, 1)
        return page

    async def GetEvaluator(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: evaluator_service_pb2.GetEvaluatorRequest,
        _: Responses[Any],
    ) -> evaluator_service_pb2.GetEvaluatorResponse:
        """One evaluator."""
        match = _NAME.fullmatch(request.name)
        if match is None:
            found = repr(request.name)[:80]
            raise InputError([Fault(found, f"{RESOURCE_PREFIX}{{evaluator}}", field="name")])
        found_class = await asyncio.to_thread(evaluator_class, match[1])
        return evaluator_service_pb2.GetEvaluatorResponse(evaluator=write_evaluator(found_class))

    async def ListPresets(  # type: ignore[override]  # noqa: N802 - gRPC's name
        self,
        request: evaluator_service_pb2.ListPresetsRequest,
        _: Responses[Any],
    ) -> evaluator_service_pb2.ListPresetsResponse:
        """A page of presets."""
        [start] = read_page_token(request, int) or (0,)
        size = page_size_of(request)
        names = await asyncio.to_thread(preset_names)
        more = start + size < len(names)
        return evaluator_service_pb2.ListPresetsResponse(
            presets=await asyncio.to_thread(_written_presets, names[start : start + size]),
            next_page_token=write_page_token(start + size) if more else "",
        )


def _written_presets(names: Sequence[str]) -> list[evaluator_service_pb2.Preset]:
    """Presets as messages, without those of plug-ins that cannot be used."""
    written = []
    for name in names:
        with suppress(UnknownEvaluatorError):
            written.append(write_preset(find_preset(name)))
    return written


def _evaluator_page(start: int, size: int) -> evaluator_service_pb2.ListEvaluatorsResponse:
    names = evaluator_names()
    more = start + size < len(names)
    written = []
    for name in names[start : start + size]:
        with suppress(UnknownEvaluatorError):  # of a plug-in that cannot be used; the log names it
            written.append(write_evaluator(evaluator_class(name)))
    return evaluator_service_pb2.ListEvaluatorsResponse(
        evaluators=written,
        next_page_token=write_page_token(start + size) if more else "",
    )


def queue_page(request: pb.GetQueueRequest, reader: Reader) -> pb.GetQueueResponse:
    """Answer a call of GetQueue.

    Args:
        request: The request.
        reader: A state of the store.

    Raises:
        InputError: If it names an unknown state.
    """
    states = read_states(request)
    size = page_size_of(request)
    after = read_page_token(request, Time, str, str)
    records = reader.queue(states, after, size + 1)
    shown, token = cut_page(
        records, size, lambda last: (last.state_time, last.benchmark, last.submission)
    )
    counts = reader.state_counts()
    return pb.GetQueueResponse(
        submissions=[write_submission(SubmissionView(record, (), None)) for record in shown],
        next_page_token=token,
        counts=[
            pb.StateCount(state=number, count=counts[state])
            for state, number in STATES.items()
            if state in counts
        ],
    )


def read_states(request: pb.GetQueueRequest) -> frozenset[SubmissionState]:
    """Read the requested states.

    Raises:
        InputError: If one is unknown.
    """
    faults = [
        Fault(f"the number {number}", "a state of submissions", field=f"states[{row}]")
        for row, number in enumerate(request.states)
        if number not in STATE_OF_NUMBER
    ]
    if faults:
        raise InputError(faults)
    wanted = frozenset(STATE_OF_NUMBER[number] for number in request.states)
    return wanted or UNFINISHED | {SubmissionState.FAILED}
