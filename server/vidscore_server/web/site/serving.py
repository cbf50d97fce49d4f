"""The site's own server: HTTP/1.1 on one address, with TLS if the gRPC server has it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from vidscore_server.addresses import ListenAddress
from vidscore_server.errors import ListenError
from vidscore_server.settings import Settings
from vidscore_server.web.serving import SERVER_OPTIONS, listening_socket
from vidscore_server.web.site.protection import SiteAddress

MOST_CONNECTIONS = 500
"""Maximum number of open connections.

A further one replaces the connection that has been idle longest. If none is idle, because each has
a request in progress, it gets 503.
"""

HEAD_TIMEOUT_S = 20.0
"""Time for a connection to send a whole request head: the first, or the next one."""

BACKLOG = 128


class SiteServer:
    """Serves an application on the running event loop.

    Args:
        settings: The server's settings, with an address of the site.
    """

    def __init__(self, settings: Settings) -> None:
        wanted = settings.web_address
        if wanted is None:
            raise ValueError("the settings have no address of the site")
        self._settings = settings
        self._listener = _listen(wanted, settings)
        self.address = wanted._replace(port=self._listener.getsockname()[1])

    @property
    def url(self) -> str:
        """Address for browsers."""
        scheme = "https" if self._settings.tls_certificate_file else "http"
        return self._settings.web_base_url.rstrip("/") or f"{scheme}://{self.address}"

    @property
    def site_address(self) -> SiteAddress:
        """How browsers reach it."""
        secure = bool(self._settings.tls_certificate_file)
        base = self._settings.web_base_url.rstrip("/")
        return SiteAddress(base, _hosts(self.address, base), secure)

    def start(self, app: ASGIApp, tls: ssl.SSLContext | None) -> None:
        """Serve an application until `stop`, with TLS if there is a context for it."""
        config = uvicorn.Config(
            app,
            proxy_headers=bool(self._settings.web_base_url),
            http=SiteConnection,
            limit_concurrency=MOST_CONNECTIONS + 1,
            backlog=BACKLOG,
            timeout_keep_alive=int(HEAD_TIMEOUT_S),
            **SERVER_OPTIONS,
        )
        config.load()
        config.ssl = tls
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))

    async def stop(self) -> None:
        """Wait briefly for answers in progress, and stop listening."""
        self._server.should_exit = True
        await self._serving


class SiteConnection(H11Protocol):
    """A connection that is closed if it is idle for long, or if others need its place.

    uvicorn itself never times out a first request, or the rest of a begun one, and it counts idle
    connections like busy ones. So anybody could open enough idle connections to exclude everybody
    else.
    """

    waits_since_s: float | None = None
    """When it became idle; None while a request is in progress."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Receive bytes; a complete head ends the wait."""
        super().data_received(data)
        if self._is_at_work:
            self._stop_waiting()
        elif self.conn.their_state.__name__ == "SEND_BODY":
            self._begin_timer()  # browsers read a refusal only after they have sent the whole body

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it has arrived already."""
        super().on_response_complete()
        if not self._is_at_work and not self.transport.is_closing():
            self._wait()

    @property
    def _is_at_work(self) -> bool:
        """Whether a received request is not answered yet."""
        cycle: Any = self.cycle  # None before the first request, despite its type
        return cycle is not None and not cycle.response_complete

    def _wait(self) -> None:
        self.waits_since_s = self.loop.time()
        self._begin_timer()

    def _begin_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self.loop.call_later(HEAD_TIMEOUT_S, self.give_up)

    def _stop_waiting(self) -> None:
        self.waits_since_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def give_up(self) -> None:
        """Close the connection."""
        self._stop_waiting()
        self.connections.discard(self)  # it no longer counts, though it ends a little later
        self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that has been idle longest, if any."""
        waiting = [
            (other.waits_since_s, id(other), other)
            for other in self.connections
            if isinstance(other, SiteConnection) and other.waits_since_s is not None
        ]
        if waiting:
            min(waiting)[-1].give_up()


class _Server(uvicorn.Server):
    """A server that does not handle the process's signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


def _listen(address: ListenAddress, settings: Settings) -> socket.socket:
    listener = listening_socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
    try:
        _let_go_of_the_dead(listener, settings)
        listener.bind((address.host, address.port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ListenError(f"cannot listen at {address}: {error.strerror or error}") from None
    return listener


def _let_go_of_the_dead(listener: socket.socket, settings: Settings) -> None:
    """Let the system end connections to clients that are gone, or that read nothing.

    Connections inherit this from their listener. Without it, each would keep its place until its
    client returns, whatever the application does. If the system cannot do it, its own timeouts
    apply.
    """
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (
        ("TCP_KEEPIDLE", settings.keepalive_interval_s),
        ("TCP_KEEPINTVL", settings.keepalive_timeout_s),
        ("TCP_USER_TIMEOUT", settings.idle_timeout_s * 1000),
    ):
        if hasattr(socket, name):
            listener.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _hosts(address: ListenAddress, base_url: str) -> frozenset[str]:
    """Allowed values of the Host header; empty for any, if the names are unknown."""
    if base_url:
        return frozenset({base_url.rpartition("/")[2].lower()})
    if not address.is_loopback:
        return frozenset()
    names = {str(address), *(f"{name}:{address.port}" for name in ("localhost", "127.0.0.1"))}
    return frozenset(names)
