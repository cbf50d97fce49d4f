"""The server as a whole: from settings to a process that listens, drains and ends."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import sys
from collections.abc import Callable

import grpc
from google.longrunning import operations_pb2, operations_pb2_grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from vidscore.v1 import (
    access_service_pb2,
    access_service_pb2_grpc,
    benchmark_service_pb2,
    benchmark_service_pb2_grpc,
    evaluator_service_pb2,
    evaluator_service_pb2_grpc,
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    scoring_service_pb2,
    scoring_service_pb2_grpc,
    server_service_pb2,
    server_service_pb2_grpc,
    submission_service_pb2,
    submission_service_pb2_grpc,
    trust_service_pb2,
    trust_service_pb2_grpc,
)
from vidscore_evaluators.registry import evaluator_class, evaluator_names
from vidscore_server.api import batches
from vidscore_server.api.access import AccessService
from vidscore_server.api.benchmarks import BenchmarkService
from vidscore_server.api.guard import GUARDED_PREFIXES, HARD_LIMIT_FACTOR, Guard, OpenCalls
from vidscore_server.api.operations import OperationsService
from vidscore_server.api.scoring import ScoringService
from vidscore_server.api.server import EvaluatorService, ServerService
from vidscore_server.api.submissions import SubmissionService
from vidscore_server.api.trust import RankingService, TrustService
from vidscore_server.domain.access import Gate
from vidscore_server.domain.context import Clock, open_context
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.sessions import Sessions
from vidscore_server.errors import ListenError
from vidscore_server.logs import configure_logging, log, places_of
from vidscore_server.memory import give_memory_back
from vidscore_server.metrics.endpoint import MetricsEndpoint
from vidscore_server.metrics.metrics import Metrics
from vidscore_server.settings import ListenAddress, Settings
from vidscore_server.store.contract import Store
from vidscore_server.store.failpoints import utc_now
from vidscore_server.store.opening import open_store
from vidscore_server.tls import server_credentials
from vidscore_server.workers import WorkerPool

SERVICES = (
    evaluator_service_pb2.DESCRIPTOR.services_by_name["EvaluatorService"].full_name,
    scoring_service_pb2.DESCRIPTOR.services_by_name["ScoringService"].full_name,
    ranking_service_pb2.DESCRIPTOR.services_by_name["RankingService"].full_name,
    server_service_pb2.DESCRIPTOR.services_by_name["ServerService"].full_name,
)

HOSTED_SERVICES = (
    benchmark_service_pb2.DESCRIPTOR.services_by_name["BenchmarkService"].full_name,
    submission_service_pb2.DESCRIPTOR.services_by_name["SubmissionService"].full_name,
    access_service_pb2.DESCRIPTOR.services_by_name["AccessService"].full_name,
    trust_service_pb2.DESCRIPTOR.services_by_name["TrustService"].full_name,
    operations_pb2.DESCRIPTOR.services_by_name["Operations"].full_name,
)

SHORTEST_PING_INTERVAL_MS = 5_000
"""How often a client may ask over a quiet connection whether it is still there."""

HANDSHAKE_TIMEOUT_S = 20
"""Time that a new connection has to say what it is."""

GARBAGE_THRESHOLD = 20_000
"""Objects after which cyclic garbage is looked for: a thousand batches that wait are more than
Python's own 700, and would be gone through again and again."""

SWITCH_INTERVAL_S = 0.001
"""Time after which a thread lets the event loop go on; Python's own 5 ms a thread add up."""

CLOSE_GRACE_S = 2.0
"""Time that statuses have to reach their clients; health watches, which never end, use it up."""

Ready = Callable[[ListenAddress], None]


class ScoringServer:
    """One listening server.

    Args:
        settings: Settings.
        workers: Who tallies; they outlive the server.
        store: What must not be lost, where benchmarks are hosted; it outlives the server.
        clock: The time, for what is due some day; that of the store where none is given.

    Attributes:
        sessions: The runs that are open.
        hosting: The hosted benchmarks; None where there is no store.
    """

    def __init__(
        self,
        settings: Settings,
        workers: WorkerPool,
        store: Store | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Put the services together; call it where the event loop runs."""
        self.sessions = Sessions(settings.maximum_streams, shared=store is not None)
        self._settings = settings
        self._clock = clock
        self._metrics = Metrics()
        self._open_hosting(None if store is None else self._metrics.metered(store), workers)
        self._metrics.watch(self.sessions, workers, self.hosting)
        self._shown_metrics: MetricsEndpoint | None = None
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            interceptors=[
                Guard(settings, self.sessions, self._gate, self._metrics.calls),
                OpenCalls(settings, GUARDED_PREFIXES),
            ],
            options=_options(settings),
        )
        evaluator_service_pb2_grpc.add_EvaluatorServiceServicer_to_server(
            EvaluatorService(), self._server
        )
        scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server(
            ScoringService(settings, workers, self.sessions), self._server
        )
        ranking_service_pb2_grpc.add_RankingServiceServicer_to_server(
            RankingService(settings, self.sessions), self._server
        )
        server_service_pb2_grpc.add_ServerServiceServicer_to_server(
            ServerService(settings, self.sessions, self._gate, self.hosting), self._server
        )
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        self._add_hosted_services()
        if settings.reflection:
            names = (*self.services, health.SERVICE_NAME, reflection.SERVICE_NAME)
            reflection.enable_server_reflection(names, self._server)

    @property
    def services(self) -> tuple[str, ...]:
        """Full names of the services."""
        return SERVICES if self.hosting is None else (*SERVICES, *HOSTED_SERVICES)

    def _open_hosting(self, store: Store | None, workers: WorkerPool) -> None:
        settings = self._settings
        site = None if store is None else open_context(store, settings, batches, self._clock)
        self.hosting = None if site is None else Hosting(site, workers)
        open_to_anyone = settings.address.is_loopback or settings.insecure_listen
        clock = (self._clock or utc_now) if site is None else site.clock
        self._gate = Gate(store, open_to_anyone=open_to_anyone, clock=clock)

    def _add_hosted_services(self) -> None:
        hosting = self.hosting
        if hosting is None:
            return
        benchmark_service_pb2_grpc.add_BenchmarkServiceServicer_to_server(
            BenchmarkService(hosting, self.sessions), self._server
        )
        submission_service_pb2_grpc.add_SubmissionServiceServicer_to_server(
            SubmissionService(hosting, self.sessions), self._server
        )
        trust_service_pb2_grpc.add_TrustServiceServicer_to_server(
            TrustService(hosting), self._server
        )
        operations_pb2_grpc.add_OperationsServicer_to_server(
            OperationsService(hosting), self._server
        )
        access_service_pb2_grpc.add_AccessServiceServicer_to_server(
            AccessService(hosting.context, self._gate), self._server
        )

    async def start(self) -> ListenAddress:
        """Listen, and say where.

        Raises:
            ListenError: If that address cannot be listened at.
            SettingsError: If the TLS files cannot be read.
        """
        address = self._settings.address
        credentials = server_credentials(self._settings)
        try:
            if credentials is None:
                port = self._server.add_insecure_port(str(address))
            else:
                port = self._server.add_secure_port(str(address), credentials)
        except RuntimeError:
            raise ListenError(f"{address} cannot be listened at: is the port in use?") from None
        self._show_metrics()
        await self._server.start()
        await self._tell_health(True)
        self._own_work = [
            asyncio.create_task(_load_evaluators()),
            asyncio.create_task(self._gate.running.keep_looking()),
        ]
        if self.hosting is not None:
            await self.hosting.start(self._tell_health)
        return address._replace(port=port)

    async def _tell_health(self, serving: bool) -> None:
        """Tell health checks how the services are; those that drain stay as they are."""
        response = health_pb2.HealthCheckResponse
        status = response.SERVING if serving else response.NOT_SERVING
        for name in ("", *self.services):
            await self._health.set(name, status)

    def _show_metrics(self) -> None:
        address = self._settings.metrics_address
        if address is not None:
            self._shown_metrics = self._metrics.listen(address)
            log(logging.INFO, "metrics", address=str(self._shown_metrics.address))

    async def stop(self, drain_timeout_s: float) -> None:
        """Begin nothing new, let what runs end for some time, then end it, and stop listening."""
        await self._health.enter_graceful_shutdown()
        await self.sessions.drain(drain_timeout_s)
        await self._server.stop(CLOSE_GRACE_S)
        for task in self._own_work:
            task.cancel()
        if self.hosting is not None:
            await self.hosting.stop()
        if self._shown_metrics is not None:
            await asyncio.to_thread(self._shown_metrics.close)


async def serve(
    settings: Settings, workers: WorkerPool, ready: Ready, store: Store | None = None
) -> None:
    """Serve until a signal comes, or the store is lost.

    SIGTERM and SIGINT let what runs end in time; a second one ends it at once.

    Args:
        settings: Settings.
        workers: Who tallies.
        store: What must not be lost, where benchmarks are hosted.
        ready: Called with the address once the server listens.

    Raises:
        ListenError: If the address cannot be listened at.
        SettingsError: If the TLS files cannot be read.
        StoreLostError: If nothing can be written to the store any more.
    """
    server = ScoringServer(settings, workers, store)
    stopping = asyncio.Event()

    def stop() -> None:
        if stopping.is_set():
            server.sessions.expire()
        stopping.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    address = await server.start()
    tls = bool(settings.tls_certificate_file)
    log(logging.INFO, "listening", address=str(address), tls=tls)
    ready(address)
    lost = None if store is None else store.lost
    if lost is not None:
        lost.add_done_callback(lambda _: loop.call_soon_threadsafe(stopping.set))
    await stopping.wait()
    log(logging.INFO, "draining", open_streams=server.sessions.open_count)
    gone = lost is not None and lost.done()
    await server.stop(0 if gone else settings.drain_timeout_s)
    log(logging.INFO, "stopped")
    if lost is not None and gone:
        raise lost.result()


def run(settings: Settings, ready: Ready = lambda _: None) -> None:
    """Serve in this process until a signal ends it.

    Args:
        settings: Settings.
        ready: Called with the address once the server listens.

    Raises:
        ListenError: If the address cannot be listened at.
        SettingsError: If the TLS files cannot be read.
        StoreError: If the store cannot be opened, or is lost on the way.
    """
    give_memory_back()
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    gc.freeze()  # what has been imported stays
    gc.set_threshold(GARBAGE_THRESHOLD)
    configure_logging(settings.log_level, settings.log_format)
    store = (
        open_store(settings.store, settings.store_connections, must_exist=True)
        if settings.store
        else None
    )
    workers = WorkerPool(settings.workers)
    try:
        asyncio.run(serve(settings, workers, ready, store))
    finally:
        workers.close()
        if store is not None:
            store.close()


async def _load_evaluators() -> None:
    """Import every evaluator beside the first calls; one that is broken shows in the log."""
    for name in evaluator_names():
        try:
            await asyncio.to_thread(evaluator_class, name)
        except Exception as error:  # noqa: BLE001 - plug-ins may fail in any way
            places = places_of(error)
            log(logging.ERROR, "evaluator cannot be loaded", evaluator=name, places=places)


def _options(settings: Settings) -> list[tuple[str, int]]:
    largest = min(HARD_LIMIT_FACTOR * settings.maximum_message_bytes, (1 << 31) - 1)
    return [
        ("grpc.max_receive_message_length", largest),
        # Two servers on one port would share its calls without anybody noticing.
        ("grpc.so_reuseport", 0),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_TIMEOUT_S * 1000),
        ("grpc.max_connection_idle_ms", settings.idle_timeout_s * 1000),
        # Clients ask over a quiet connection whether it is still there; gRPC would shut them out.
        ("grpc.http2.min_ping_interval_without_data_ms", SHORTEST_PING_INTERVAL_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.keepalive_time_ms", settings.keepalive_interval_s * 1000),
        ("grpc.keepalive_timeout_ms", settings.keepalive_timeout_s * 1000),
        # gRPC counts the answer to a ping by this one, whose own default is a minute.
        ("grpc.http2.ping_timeout_ms", settings.keepalive_timeout_s * 1000),
    ]
