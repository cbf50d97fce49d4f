"""ScoringService: a stream, or one message, through the same scoring session."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib import metadata
from typing import Any

from msgspec import structs

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import (
    Fault,
    GeometryError,
    InputError,
    LimitError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
    VidscoreError,
)
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.presets import evaluators_of, repeated_evaluators
from vidscore_evaluators.registry import is_built_in
from vidscore_evaluators.report import Report
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_protos.v1 import annotations_pb2, scoring_service_pb2, scoring_service_pb2_grpc
from vidscore_server.api.batches import ARITY_OF_GEOMETRY, batch_size, geometry_name, read_batch
from vidscore_server.api.convert import read_specification, write_coverage, write_reports
from vidscore_server.api.requests import message_kind
from vidscore_server.api.stream import Requests, Responses
from vidscore_server.domain.scoring_session import (
    GEOMETRY_FIELDS,
    PATH,
    SPECIFICATION_PATH,
    LatestValue,
    Live,
    LiveReporting,
    RunConfiguration,
    ScoringSession,
    rows_of_names,
)
from vidscore_server.domain.sessions import Sessions, Use
from vidscore_server.errors import message_order
from vidscore_server.runtime import Kept
from vidscore_server.settings import Settings, limits_of
from vidscore_server.workers import WorkerPool


def read_configuration(
    message: scoring_service_pb2.ScoreConfiguration, settings: Settings
) -> RunConfiguration:
    """Check a configuration.

    Raises:
        ExceptionGroup: With every error, each with every fault.
    """
    collector = _Collector(settings)
    specification = collector.specification(message)
    evaluators = collector.evaluators(specification)
    arities = collector.arities(message, evaluators)
    live = collector.live(message)
    if collector.errors:
        raise ExceptionGroup("the configuration cannot be used", collector.errors)
    return RunConfiguration(specification, evaluators, arities, live)


class _Collector:
    """Reads parts and collects all errors."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.errors: list[VidscoreError] = []

    def specification(self, message: scoring_service_pb2.ScoreConfiguration) -> BenchmarkSpec:
        try:
            specification = read_specification(message.specification, SPECIFICATION_PATH)
        except SpecificationError as error:
            self.errors.append(error)
            return BenchmarkSpec()
        if not specification.evaluators:
            self._fault("no evaluator", "at least one", "specification.evaluators")
        self._limit(len(specification.evaluators), "evaluators", "maximum_evaluators")
        frames = specification.evaluated_frame_count
        self._limit(frames, "evaluated frames", "maximum_frames")
        return specification

    def evaluators(self, specification: BenchmarkSpec) -> tuple[Evaluator[Any], ...]:
        created: list[Evaluator[Any]] = []
        for index, entry in enumerate(specification.evaluators):
            path = f"specification.evaluators[{index}]"
            try:
                created.extend(evaluators_of(entry, specification))
            except UnknownEvaluatorError as error:
                self.errors.append(error)
                expected = "an evaluator or preset of this server"
                self._fault(entry.name[:80], expected, f"{path}.name")
            except ParameterError as error:
                self.errors.append(_moved(error, f"{PATH}.{path}.parameters"))
        repeated = repeated_evaluators(created)
        if repeated:
            self.errors.append(_moved(SpecificationError(repeated), SPECIFICATION_PATH))
        if len(specification.evaluators) <= self._settings.maximum_evaluators:
            self._limit(len(created), "evaluators", "maximum_evaluators")
        return tuple(created)

    def arities(
        self,
        message: scoring_service_pb2.ScoreConfiguration,
        evaluators: tuple[Evaluator[Any], ...],
    ) -> dict[Side, int]:
        arities: dict[Side, int] = {}
        for side, field in GEOMETRY_FIELDS.items():
            geometry = getattr(message, field)
            if geometry not in ARITY_OF_GEOMETRY:
                self._fault(geometry_name(geometry), "a geometry", field)
                continue
            arities[side] = ARITY_OF_GEOMETRY[geometry]
            for evaluator in evaluators:
                try:
                    evaluator.check_arity(side, arities[side])
                except GeometryError as error:
                    self.errors.append(_moved(error, PATH, field))
        return arities

    def live(self, message: scoring_service_pb2.ScoreConfiguration) -> LiveReporting | None:
        if not message.HasField("live_reporting"):
            return None
        wish = message.live_reporting
        by_time = wish.HasField("time_interval")
        seconds = wish.time_interval.seconds + wish.time_interval.nanos / 1e9 if by_time else None
        if wish.frame_interval < 0:
            self._fault(
                str(wish.frame_interval), "0 or more frames", "live_reporting.frame_interval"
            )
        if seconds is not None and seconds < 0:
            self._fault(f"{seconds} s", "0 s or more", "live_reporting.time_interval")
        if wish.frame_interval == 0 and not by_time:
            self._fault("no interval", "a frame or a time interval", "live_reporting")
        return LiveReporting(wish.frame_interval, seconds, wish.summary_only)

    def _fault(self, found: str, expected: str, field: str) -> None:
        self.errors.append(InputError([Fault(found, expected, source=PATH, field=field)]))

    def _limit(self, found: int, things: str, limit: str) -> None:
        maximum = getattr(self._settings, limit)
        if found > maximum:
            self.errors.append(LimitError(f"{found} {things}", limit, maximum))


def _moved(error: InputError, source: str, field: str | None = None) -> InputError:
    """The error with its place in the request."""
    return type(error)(
        [
            structs.replace(fault, source=source, field=field or fault.field)
            for fault in error.faults
        ]
    )


MOST_KEPT = 64
"""Maximum number of cached configurations, each of a small request."""


class KeptConfigurations:
    """Caches configurations of small requests, which frequent callers repeat unchanged."""

    def __init__(self) -> None:
        self._kept: Kept[RunConfiguration] = Kept(MOST_KEPT)

    def of(
        self, message: scoring_service_pb2.ScoreConfiguration, read: Callable[[], RunConfiguration]
    ) -> RunConfiguration:
        """The configuration that a message holds.

        Args:
            message: The message.
            read: Reads it, or raises its errors.
        """
        data = message.SerializeToString(deterministic=True)
        found = self._kept.get(data)
        if found is None:
            found = read()
            # A plug-in may keep state between calls, so its evaluators are not cached.
            if all(is_built_in(evaluator.name) for evaluator in found.evaluators):
                self._kept.put(data, found, 1)
        return found


# --- The service

SMALL_BYTES = 8 << 10
"""Maximum size of a request that is read in the event loop."""

SMALL_CONFIGURATION_BYTES = 1 << 10
"""Maximum size of its configuration: there is a curve for each threshold in it."""

ScoreResponses = Responses[scoring_service_pb2.ScoreResponse]


class ScoringService(scoring_service_pb2_grpc.ScoringServiceServicer):
    """Stateless scoring.

    Args:
        settings: The server's limits.
        workers: The worker processes.
        sessions: The runs that are open.
    """

    def __init__(self, settings: Settings, workers: WorkerPool, sessions: Sessions) -> None:
        self._settings = settings
        self._workers = workers
        self._sessions = sessions
        self._turn = asyncio.Lock()
        self._used: set[str] = set()  # names of evaluators and presets that are already imported
        self._kept = KeptConfigurations()

    async def Score(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's requests
        self, requests: Requests[scoring_service_pb2.ScoreRequest], responses: ScoreResponses
    ) -> None:
        """Score a live stream."""
        with self._sessions.open(Use.SCORING):
            reports = await self._score(requests, responses)
        final = scoring_service_pb2.FinalReport(reports=await _written(reports))
        await responses.send(scoring_service_pb2.ScoreResponse(final=final))

    async def _score(
        self, requests: Requests[scoring_service_pb2.ScoreRequest], responses: ScoreResponses
    ) -> list[Report]:
        session = self._session(with_live=True)
        async with self._running() as tasks:
            await session.configure(await _configuration_of(requests, self._settings))
            await responses.send(self._started())
            tasks.create_task(session.keep_tallying())
            tasks.create_task(_send_live(session.live, session.configuration, responses))
            await _receive_all(session, requests, self._settings)
            return await session.finish()

    async def ScoreBatch(  # type: ignore[override]  # noqa: N802 - gRPC's name; the guard's responses
        self, request: scoring_service_pb2.ScoreBatchRequest, _: Responses[Any]
    ) -> scoring_service_pb2.ScoreBatchResponse:
        """Score one message."""
        async with self._sessions.open_soon(Use.SCORING):
            reports, is_small = await self._score_batch(request)
        written = write_reports(reports) if is_small else await _written(reports)
        return scoring_service_pb2.ScoreBatchResponse(reports=written)

    async def _score_batch(
        self, request: scoring_service_pb2.ScoreBatchRequest
    ) -> tuple[list[Report], bool]:
        """The reports of a request, and whether it is small."""
        rows = self._rows_of_small(request)
        session = self._session(with_live=False, rows=rows)
        read = partial(read_configuration, request.configuration, self._settings)
        if rows is not None:
            await session.configure(partial(self._kept.of, request.configuration, read))
        if session.is_small:
            # It never waits, so no task has to run beside it.
            return await _score_all(session, request), True
        async with self._running() as tasks:
            if rows is None:
                await session.configure(read)
            tasks.create_task(session.keep_tallying())
            reports = await _score_all(session, request)
        self._used.update(_names_of(request.configuration))
        return reports, False

    def _rows_of_small(self, request: scoring_service_pb2.ScoreBatchRequest) -> int | None:
        """Rows of a small request whose evaluators have been used before, and of its names."""
        if request.ByteSize() > SMALL_BYTES:
            return None
        if request.configuration.ByteSize() > SMALL_CONFIGURATION_BYTES:
            return None
        if not self._used.issuperset(_names_of(request.configuration)):
            return None
        batches = (*request.truth, *request.detections)
        labels = {label for batch in batches for label in batch.labels}
        domains = {key.domain for batch in batches for key in batch.sequences}
        return sum(map(batch_size, batches)) + rows_of_names(labels) + rows_of_names(domains)

    def _session(self, *, with_live: bool, rows: int | None = None) -> ScoringSession:
        """A session; the caller must hold a place for it."""
        return ScoringSession(
            self._settings, self._workers, with_live=with_live, turn=self._turn, rows=rows
        )

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[asyncio.TaskGroup]:
        """The tasks that run beside a session and end with it."""
        async with asyncio.TaskGroup() as tasks:
            expiry = tasks.create_task(self._sessions.until_expired())
            yield tasks
            expiry.cancel()

    def _started(self) -> scoring_service_pb2.ScoreResponse:
        started = scoring_service_pb2.ScoreStarted(
            server_version=metadata.version("vidscore"), limits=limits_of(self._settings)
        )
        return scoring_service_pb2.ScoreResponse(started=started)


def _names_of(configuration: scoring_service_pb2.ScoreConfiguration) -> list[str]:
    return [entry.name for entry in configuration.specification.evaluators]


async def _score_all(
    session: ScoringSession, request: scoring_service_pb2.ScoreBatchRequest
) -> list[Report]:
    """Receive a whole request, and score it."""
    for side, batches in ((Side.TRUTH, request.truth), (Side.DETECTIONS, request.detections)):
        for index, batch in enumerate(batches):
            await _receive(session, side, batch, f"{side.value}[{index}]")
    return await session.finish()


async def _configuration_of(
    requests: Requests[Any], settings: Settings
) -> Callable[[], RunConfiguration]:
    request: scoring_service_pb2.ScoreRequest | None = await anext(requests, None)
    if request is None:
        raise message_order("the end of the stream", "a configuration")
    kind = message_kind(request)
    if kind != PATH:
        raise message_order(kind, "a configuration")
    return partial(read_configuration, request.configuration, settings)


async def _receive(
    session: ScoringSession, side: Side, batch: annotations_pb2.AnnotationBatch, source: str
) -> None:
    await session.receive(side, partial(read_batch, batch, source), batch_size(batch), source)


async def _receive_all(
    session: ScoringSession, requests: Requests[Any], settings: Settings
) -> None:
    async for request in requests:
        kind = message_kind(request)
        if kind == PATH:
            await session.configure(partial(read_configuration, request.configuration, settings))
        else:
            await _receive(session, Side(kind), getattr(request, kind), kind)


async def _send_live(
    live: LatestValue[Live], configuration: RunConfiguration, responses: ScoreResponses
) -> None:
    summary_only = configuration.live is not None and configuration.live.summary_only
    async for entry in live:
        message = scoring_service_pb2.LiveReport(
            reports=await _written(entry.reports, summary_only=summary_only),
            coverage=write_coverage(entry.coverage),
        )
        await responses.send(scoring_service_pb2.ScoreResponse(live=message))


async def _written(reports: Sequence[Report], *, summary_only: bool = False) -> list[Any]:
    return await asyncio.to_thread(write_reports, reports, summary_only=summary_only)
