"""The site's own server: HTTP/1.1 on one address, with TLS where the gRPC server has it."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from vidscore_evaluators.errors import Fault
from vidscore_server.errors import ListenError
from vidscore_server.settings import ListenAddress, Settings, SettingsError
from vidscore_server.web.serving import SERVER_OPTIONS, listening_socket
from vidscore_server.web.site.protection import SiteAddress

MOST_CONNECTIONS = 500
"""Connections and answers that are open at once; further ones get 503."""

KEEP_ALIVE_S = 20
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
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=KEEP_ALIVE_S,
            **SERVER_OPTIONS,
        )
        config.load()
        config.ssl = _tls(self._settings)
        self._server = _Server(config)
        self._serving = asyncio.create_task(self._server.serve(sockets=[self._listener]))

    async def stop(self) -> None:
        """Let answers that are under way end, briefly, and stop listening."""
        self._server.should_exit = True
        await self._serving


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


def _tls(settings: Settings) -> ssl.SSLContext | None:
    """TLS as the gRPC server has it; None without."""
    if not settings.tls_certificate_file:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.tls_certificate_file, settings.tls_key_file)
        if settings.tls_client_authorities_file:
            context.load_verify_locations(settings.tls_client_authorities_file)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as error:
        found = f"{settings.tls_certificate_file}: {error.strerror or error}"
        expected = "a PEM file of a certificate, and one of its key"
        raise SettingsError([Fault(found, expected, field="tls_certificate_file")]) from None
    return context
