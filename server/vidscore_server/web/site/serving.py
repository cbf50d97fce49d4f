"""The site's own server: HTTP/1.1 on one address, with TLS where the gRPC server has it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from vidscore_server.addresses import ListenAddress
from vidscore_server.certificates import tls_context
from vidscore_server.errors import ListenError
from vidscore_server.settings import Settings
from vidscore_server.web.serving import SERVER_OPTIONS, listening_socket
from vidscore_server.web.site.protection import SiteAddress

MOST_CONNECTIONS = 500
"""Connections that are open at once.

A further one takes the place of the one that has waited longest for a request. Only where none
waits, because each has a request at work, it gets 503.
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
        """Where browsers find it."""
        scheme = "https" if self._settings.tls_certificate_file else "http"
        return self._settings.web_base_url.rstrip("/") or f"{scheme}://{self.address}"

    @property
    def site_address(self) -> SiteAddress:
        """How browsers reach it."""
        secure = bool(self._settings.tls_certificate_file)
        base = self._settings.web_base_url.rstrip("/")
        return SiteAddress(base, _hosts(self.address, base), secure)

    def start(self, app: ASGIApp) -> None:
        """Serve an application until `stop`.

        Raises:
            SettingsError: If the TLS files cannot be read.
        """
        config = uvicorn.Config(
            app,
            proxy_headers=bool(self._settings.web_base_url),
            http=SiteConnection,
            limit_concurrency=MOST_CONNECTIONS + 1,
            timeout_keep_alive=int(HEAD_TIMEOUT_S),
            **SERVER_OPTIONS,
        )
        config.load()
        config.ssl = tls_context(self._settings)
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))

    async def stop(self) -> None:
        """Let answers that are under way end, briefly, and stop listening."""
        self._server.should_exit = True
        await self._serving


class SiteConnection(H11Protocol):
    """A connection that is closed where it asks nothing for long, or others need its place.

    uvicorn itself gives any time to a first request, and to the rest of one that has begun; and it
    counts connections that ask nothing like those whose requests are at work. So whoever opened
    enough of them shut everybody out.
    """

    waits_since_s: float | None = None
    """When it began to wait for a request; None while one is at work."""

    _timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            self._make_room()
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes in; once they are a whole head, nothing is waited for."""
        super().data_received(data)
        if self._is_at_work:
            self._stop_waiting()
        elif self.conn.their_state.__name__ == "SEND_BODY":
            self._begin_timer()  # browsers read no refusal before they have sent all of a body

    def on_response_complete(self) -> None:
        """Begin to wait for the next request, unless it is there already."""
        super().on_response_complete()
        if not self._is_at_work and not self.transport.is_closing():
            self._wait()

    @property
    def _is_at_work(self) -> bool:
        """Whether a request has come that is not answered yet."""
        cycle: Any = self.cycle  # None before the first one, whatever its type says
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
        self.connections.discard(self)  # it counts no more, though it ends a little later
        self.transport.close()

    def _make_room(self) -> None:
        """Close the connection that has waited longest, if any waits."""
        waiting = [
            (other.waits_since_s, id(other), other)
            for other in self.connections
            if isinstance(other, SiteConnection) and other.waits_since_s is not None
        ]
        if waiting:
            min(waiting)[-1].give_up()


class _Server(uvicorn.Server):
    """A server that leaves the process's signals to their owner."""

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
    """Let the system end connections to clients that are gone, or take nothing of what was sent.

    Connections have this from their listener. Without it each keeps one of the places until its
    client comes back, whatever the application has done with it. Where the system cannot do it, its
    own times hold.
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
    """What the Host header may be; empty for anything, where the names are not known."""
    if base_url:
        return frozenset({base_url.rpartition("/")[2].lower()})
    if not address.is_loopback:
        return frozenset()
    names = {str(address), *(f"{name}:{address.port}" for name in ("localhost", "127.0.0.1"))}
    return frozenset(names)
