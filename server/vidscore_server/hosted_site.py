"""The site of a server with a store; `ScoringServer` imports this module only for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from msgspec.structs import replace

from vidscore_evaluators.errors import MissingExtraError
from vidscore_server.api.local_calls import LocalCalls
from vidscore_server.api.pages import PageCalls
from vidscore_server.domain.access import Transport
from vidscore_server.domain.browser_sessions import BrowserSessions

try:
    from vidscore_server.api.http.app import api_routes
    from vidscore_server.web.site.app import site_app
    from vidscore_server.web.site.serving import SiteServer
    from vidscore_server.web.site.spool import Spool, UploadLimits
    from vidscore_server.web.site.visit import Site
except ImportError:
    raise MissingExtraError("pages of the site", "Starlette, Jinja2 and uvicorn", "web") from None

if TYPE_CHECKING:
    import grpc

    from vidscore_server.addresses import ListenAddress
    from vidscore_server.api.guard import Guard
    from vidscore_server.certificates import Certificates
    from vidscore_server.domain.hosting import Hosting
from vidscore_server.settings import Settings


class HostedSite:
    """The site and its HTTP API.

    Args:
        settings: The server's settings.
        hosting: The hosted benchmarks.
        guard: Makes the guard between a transport and the services.
        open_to_anyone: Whether callers without a token may use RPCs without a role.

    Attributes:
        calls: Makes the calls of its pages.

    Raises:
        ListenError: If it cannot listen at its address.
    """

    def __init__(
        self,
        settings: Settings,
        hosting: Hosting,
        guard: Callable[[Transport], Guard],
        open_to_anyone: bool,
    ) -> None:
        context = hosting.context
        self._clock = context.clock
        self._sessions = BrowserSessions(context.secret, context.clock)
        self._settings = settings
        of_pages = Transport(open_to_anyone, self._sessions.token_of)
        # Without sessions: without form keys, a page of another site could use a visitor's session.
        of_http = Transport(open_to_anyone)
        self.calls, self._http_calls = (
            LocalCalls(guard(transport), settings) for transport in (of_pages, of_http)
        )
        self._server = SiteServer(settings)
        self._spool, self._truths = Spool(_upload_limits(settings)), Spool()

    @property
    def url(self) -> str:
        """Address of the site for browsers."""
        return self._server.url

    @property
    def port(self) -> int:
        """Port at which it listens."""
        return self._server.address.port

    def beside(self, server: grpc.aio.Server) -> grpc.aio.Server:
        """A registry that adds services to the site, its HTTP API and a gRPC server at once."""
        return cast("grpc.aio.Server", _All(server, self.calls, self._http_calls))

    def start(self, grpc_address: ListenAddress, certificates: Certificates | None) -> None:
        """Begin to answer.

        Args:
            grpc_address: Listening address of the gRPC server.
            certificates: Its certificates; None without TLS.
        """
        service = PageCalls(self.calls, self._sessions)
        self._spool.start()
        site = Site(
            service,
            self._server.site_address,
            str(grpc_address),
            clock=self._clock,
            spool=self._spool,
            truths=self._truths,
        )
        app = site_app(site, api_routes(self._http_calls, self._settings))
        self._server.start(app, None if certificates is None else certificates.context)

    async def stop(self) -> None:
        """Stop answering and listening."""
        await self._server.stop()
        await self._spool.stop()
        await self._truths.stop()


def _upload_limits(settings: Settings) -> UploadLimits:
    """How much pages receive and send at once, within the limits of every client."""
    usual = UploadLimits(settings.maximum_web_upload_bytes)
    return replace(
        usual,
        batch_frames=min(usual.batch_frames, settings.maximum_batch_frames),
        batch_objects=min(usual.batch_objects, settings.maximum_batch_objects),
        maximum_frames=settings.maximum_frames,
        reading_bytes=settings.maximum_reading_bytes,
    )


class _All:
    """Adds services to several transports, which share them and their state."""

    def __init__(self, *servers: grpc.aio.Server | LocalCalls) -> None:
        self._servers = servers

    def add_generic_rpc_handlers(self, handlers: tuple[Any, ...]) -> None:
        """Add a service."""
        for server in self._servers:
            server.add_generic_rpc_handlers(handlers)

    def add_registered_method_handlers(self, service: str, handlers: dict[str, Any]) -> None:
        """Add the methods of a service."""
        for server in self._servers:
            server.add_registered_method_handlers(service, handlers)
