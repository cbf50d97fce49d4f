"""One listening server: its services, address, start and draining."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc

from vidscore_evaluators.errors import UnknownEvaluatorError
from vidscore_evaluators.registry import evaluator_class, evaluator_names
from vidscore_protos.v1 import (
    evaluator_service_pb2,
    evaluator_service_pb2_grpc,
    ranking_service_pb2,
    ranking_service_pb2_grpc,
    scoring_service_pb2,
    scoring_service_pb2_grpc,
    server_service_pb2,
    server_service_pb2_grpc,
)
from vidscore_server.addresses import ListenAddress
from vidscore_server.api.guard import GUARDED_PREFIXES, SPARE_BYTES, Guard, OpenCalls
from vidscore_server.api.reflection import SERVICES as REFLECTION_SERVICES
from vidscore_server.api.reflection import Reflection
from vidscore_server.api.scoring import ScoringService
from vidscore_server.api.server import EvaluatorService, ServerService
from vidscore_server.api.trust import RankingService
from vidscore_server.certificates import open_certificates
from vidscore_server.domain.access import Gate, Transport
from vidscore_server.domain.byte_budget import ByteBudget
from vidscore_server.domain.sessions import PlainCalls, Sessions
from vidscore_server.errors import ListenError
from vidscore_server.executors import JobRunner
from vidscore_server.logs import log, places_of
from vidscore_server.metrics import Metrics, MetricsEndpoint
from vidscore_server.runtime import utc_now
from vidscore_server.settings import Settings
from vidscore_server.store import SqlStore
from vidscore_server.temporary import find_folder
from vidscore_server.workers import WorkerPool

if TYPE_CHECKING:
    from vidscore_server.domain.context import Clock
    from vidscore_server.domain.hosting import Hosting
    from vidscore_server.hosted_site import HostedSite

SERVICES = (
    evaluator_service_pb2.DESCRIPTOR.services_by_name["EvaluatorService"].full_name,
    scoring_service_pb2.DESCRIPTOR.services_by_name["ScoringService"].full_name,
    ranking_service_pb2.DESCRIPTOR.services_by_name["RankingService"].full_name,
    server_service_pb2.DESCRIPTOR.services_by_name["ServerService"].full_name,
)

SHORTEST_PING_INTERVAL_MS = 5_000
"""Shortest interval between a client's pings over an idle connection."""

HANDSHAKE_TIMEOUT_S = 20
"""Time for a new connection to complete its handshake."""

CLOSE_GRACE_S = 2.0
"""Time for statuses to reach their clients; health watches never end, so they use all of it."""


class ScoringServer:
    """One listening server.

    Args:
        settings: Settings.
        workers: Worker processes; they outlive the server.
        store: The store of hosted benchmarks; it outlives the server.
        clock: The time by which scheduled work is due; by default, that of the store.
        executor: Runs large scorings; it outlives the server. By default, the workers.

    Attributes:
        sessions: The open runs.
        hosting: The hosted benchmarks; None without a store.
        requests_budget: Bounds the memory of large requests in progress.
    """

    def __init__(
        self,
        settings: Settings,
        workers: WorkerPool,
        store: SqlStore | None = None,
        clock: Clock | None = None,
        executor: JobRunner | None = None,
    ) -> None:
        """Assemble the services; the event loop must be running."""
        self.sessions = Sessions(settings.maximum_streams, shared=store is not None)
        self._plain_calls = PlainCalls(settings.maximum_calls)
        self.requests_budget = ByteBudget(settings)
        self._settings = settings
        self._workers = workers
        self._clock = clock
        self._metrics = Metrics()
        if store is not None:
            self._metrics.observe(store)
        self._open_hosting(store, workers, executor or workers)
        self._metrics.watch(self.sessions, workers, self.hosting)
        self._shown_metrics: MetricsEndpoint | None = None
        self._health = health.aio.HealthServicer()
        self._server = grpc.aio.server(
            interceptors=[
                self._guard(Transport(_is_open(settings, settings.address))),
                OpenCalls(settings, GUARDED_PREFIXES),
            ],
            options=_options(settings),
        )
        self._site = self._open_site()
        self._add_services(self._server if self._site is None else self._site.beside(self._server))
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._server)
        if settings.reflection:
            names = (*self.services, health.SERVICE_NAME, *REFLECTION_SERVICES)
            self._server.add_generic_rpc_handlers(Reflection(names).handlers())

    @property
    def services(self) -> tuple[str, ...]:
        """Full names of the services."""
        return (*SERVICES, *self._hosted_services)

    def _open_hosting(
        self, store: SqlStore | None, workers: WorkerPool, executor: JobRunner
    ) -> None:
        settings = self._settings
        clock = self._clock or utc_now
        self.hosting: Hosting | None = None
        if store is not None:
            # Imported here: without these modules, a server without a store starts in half the
            # time.
            from vidscore_server.api import batches  # noqa: PLC0415 - see above
            from vidscore_server.domain.context import open_context  # noqa: PLC0415 - see above
            from vidscore_server.domain.hosting import Hosting  # noqa: PLC0415 - see above

            find_folder()
            context = open_context(store, settings, batches, self._clock)
            clock = context.clock
            self.hosting = Hosting(context, workers, executor)
        self._gate = Gate(store, clock)

    def _guard(self, transport: Transport) -> Guard:
        return Guard(
            self._settings,
            self.sessions,
            self._gate,
            self._metrics.calls,
            self._plain_calls,
            transport,
            self.requests_budget,
        )

    def _add_services(self, server: grpc.aio.Server) -> None:
        settings, workers = self._settings, self._workers
        evaluator_service_pb2_grpc.add_EvaluatorServiceServicer_to_server(
            EvaluatorService(), server
        )
        scoring_service_pb2_grpc.add_ScoringServiceServicer_to_server(
            ScoringService(settings, workers, self.sessions), server
        )
        ranking_service_pb2_grpc.add_RankingServiceServicer_to_server(
            RankingService(settings, workers, self.sessions), server
        )
        server_service_pb2_grpc.add_ServerServiceServicer_to_server(
            ServerService(settings, self.sessions, self._gate, self.hosting), server
        )
        self._hosted_services: tuple[str, ...] = ()
        if self.hosting is not None:
            from vidscore_server import hosted_services  # noqa: PLC0415 - see `_open_hosting`

            self._hosted_services = hosted_services.HOSTED_SERVICES
            hosted_services.add_hosted_services(server, self.hosting, self.sessions, self._gate)

    def _open_site(self) -> HostedSite | None:
        """Open the site, which listens now and answers once the server has started."""
        address = self._settings.web_address
        if self.hosting is None or address is None:
            return None
        from vidscore_server.hosted_site import HostedSite  # noqa: PLC0415 - see `_open_hosting`

        # A proxy calls from this machine, whoever calls it.
        proxied = bool(self._settings.web_base_url)
        open_to_anyone = _is_open(self._settings, address, proxied=proxied)
        return HostedSite(self._settings, self.hosting, self._guard, open_to_anyone)

    async def start(self) -> ListenAddress:
        """Listen, and return the address.

        Raises:
            ListenError: If the server cannot listen at the address.
            SettingsError: If the TLS files cannot be read or used.
        """
        address = self._settings.address
        certificates = open_certificates(self._settings)
        try:
            if certificates is None:
                port = self._server.add_insecure_port(str(address))
            else:
                credentials = certificates.grpc_credentials()
                port = self._server.add_secure_port(str(address), credentials)
        except RuntimeError:
            causes = "the port is in use, or this machine does not have the address"
            raise ListenError(f"cannot listen at {address}: {causes}") from None
        self._show_metrics()
        await self._server.start()
        await self._set_health(True)
        self._own_work = [
            asyncio.create_task(_load_evaluators()),
            asyncio.create_task(self._gate.running.keep_looking()),
        ]
        if certificates is not None:
            self._own_work.append(asyncio.create_task(certificates.keep_looking()))
        if self.hosting is not None:
            await self.hosting.start(self._set_health)
        started = address._replace(port=port)
        if self._site is not None:
            self._site.start(started, certificates)
        return started

    @property
    def site_url(self) -> str:
        """Address of the site for browsers; empty without a site."""
        return "" if self._site is None else self._site.url

    async def _set_health(self, serving: bool) -> None:
        """Set the status for health checks; has no effect once the services drain."""
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
        """Refuse new work, wait for open streams, end the remaining ones, and stop listening."""
        await self._health.enter_graceful_shutdown()
        await self.sessions.drain(drain_timeout_s)
        if self._site is not None:
            await self._site.stop()
        await self._server.stop(CLOSE_GRACE_S)
        for task in self._own_work:
            task.cancel()
        if self.hosting is not None:
            await self.hosting.stop()
        if self._shown_metrics is not None:
            await asyncio.to_thread(self._shown_metrics.close)


def _is_open(settings: Settings, address: ListenAddress, *, proxied: bool = False) -> bool:
    """Whether callers without a token may use RPCs without a role at an address."""
    return (address.is_loopback and not proxied) or settings.insecure_listen


async def _load_evaluators() -> None:
    """Import every evaluator during the first calls; a broken one is logged."""
    for name in evaluator_names():
        try:
            await asyncio.to_thread(evaluator_class, name)
        except UnknownEvaluatorError as error:
            places, reason = places_of(error), str(error)
            log(
                logging.ERROR,
                "evaluator cannot be loaded",
                evaluator=name,
                reason=reason,
                places=places,
            )


def _options(settings: Settings) -> list[tuple[str, int]]:
    return [
        ("grpc.max_receive_message_length", settings.maximum_message_bytes + SPARE_BYTES),
        # Two servers on one port would silently share its calls.
        ("grpc.so_reuseport", 0),
        ("grpc.server_handshake_timeout_ms", HANDSHAKE_TIMEOUT_S * 1000),
        ("grpc.max_connection_idle_ms", settings.idle_timeout_s * 1000),
        # Clients ping over idle connections; by default gRPC would shut them out.
        ("grpc.http2.min_ping_interval_without_data_ms", SHORTEST_PING_INTERVAL_MS),
        ("grpc.keepalive_permit_without_calls", 1),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.keepalive_time_ms", settings.keepalive_interval_s * 1000),
        ("grpc.keepalive_timeout_ms", settings.keepalive_timeout_s * 1000),
        # The timeout that gRPC applies to pings; its default is a minute.
        ("grpc.http2.ping_timeout_ms", settings.keepalive_timeout_s * 1000),
    ]
