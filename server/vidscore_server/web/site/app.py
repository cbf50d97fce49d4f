"""The site as an application: routes of all pages, their guard, and error pages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vidscore_server.web.rendering import HEADERS, STATIC
from vidscore_server.web.site import (
    benchmark,
    board,
    organise,
    sign_in,
    submission_files,
    submission_frames,
    submissions,
    submit,
)
from vidscore_server.web.site.protection import SESSION_COOKIE, SiteAddress
from vidscore_server.web.site.service import ServiceError, incident
from vidscore_server.web.site.visit import Site, Visit

Page = Callable[[Visit], Awaitable[Response]]

PAGES = (
    sign_in,
    benchmark,
    board,
    submissions,
    submission_files,
    submission_frames,
    submit,
    *organise.PAGES,
)
"""Modules of pages, each with its routes."""

BAD_REQUEST = 400

NO_PAGE = "PAGE"
"""Reason of a refusal that does not come from an RPC."""

STATIC_AGE_S = 3600
"""Time in seconds for which browsers cache scripts and style."""


def site_app(site: Site, api: Iterable[BaseRoute]) -> ASGIApp:
    """The application.

    Args:
        site: The state shared by its pages.
        api: Routes of the HTTP API, which guard themselves.
    """

    def route(path: str, page: Page, *methods: str) -> Route:
        async def answer(request: Request) -> Response:
            visit = Visit(site, request)
            try:
                return await page(visit)
            except (ServiceError, HTTPException):
                raise
            except ClientDisconnect:
                return Response(status_code=BAD_REQUEST)  # the client is gone
            except Exception as error:  # noqa: BLE001 - a page may hold a mistake of ours
                raise incident(error) from None
            finally:
                await visit.close()

        return Route(path, answer, methods=[*methods])

    async def refused(request: Request, error: Exception) -> Response:
        return await _refused(Visit(site, request), error)

    async def start(_: Request) -> Response:
        return RedirectResponse("/benchmarks")

    pages = [route(*entry) for module in PAGES for entry in module.ROUTES]
    routes = [
        Route("/", start),
        *pages,
        *api,
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    handlers = {ServiceError: refused, HTTPException: refused}
    return _Guard(Starlette(routes=routes, exception_handlers=handlers), site.address)


async def _refused(visit: Visit, error: Exception) -> Response:
    """An error as a page, or as a line for a script."""
    routing = error if isinstance(error, HTTPException) else None
    if routing is not None:
        error = _of_http(routing, visit.request.method)
    if not isinstance(error, ServiceError):
        raise error
    status = error.http_status if routing is None else routing.status_code
    # A visitor without a session might see more after signing in, which the page does not reveal.
    absent = error.code == "NOT_FOUND" and error.reason != NO_PAGE
    signed_out = error.code == "UNAUTHENTICATED" or (absent and not visit.visitor.session)
    if signed_out and visit.request.method == "GET":
        response: Response = sign_in.redirect(visit)
    else:
        if signed_out:
            visit.forget_account()
        response = await visit.render("error.html", status, error=error)
    if routing is not None:
        response.headers.update(routing.headers or {})
    if signed_out and visit.visitor.session:
        response.delete_cookie(SESSION_COOKIE, path="/")
    return response


def _of_http(error: HTTPException, method: str) -> ServiceError:
    """A routing error as a service error."""
    if error.status_code == 404:
        return ServiceError("NOT_FOUND", NO_PAGE, "There is no such page.")
    message = error.detail
    if error.status_code == 405 and method == "GET":
        message = "There is no page at this address: it only accepts forms."
    return ServiceError("INVALID_ARGUMENT", NO_PAGE, message)


class _Guard:
    """Refuses foreign Host headers, and adds headers to all answers."""

    def __init__(self, inner: ASGIApp, address: SiteAddress) -> None:
        self._inner = inner
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add_headers(scope, message)
            await send(message)

        if not self._address.takes_host(Headers(scope=scope).get("host", "")):
            text = "The site is not served under this name (see --web-base-url)."
            await PlainTextResponse(text, HTTPStatus.MISDIRECTED_REQUEST)(
                scope, receive, send_guarded
            )
            return
        await self._inner(scope, receive, send_guarded)

    def _add_headers(self, scope: Scope, message: Message) -> None:
        headers = MutableHeaders(scope=message)
        for name, value in {**HEADERS, "Referrer-Policy": "same-origin"}.items():
            headers.setdefault(name, value)
        if scope["path"].startswith("/static/") and message["status"] < BAD_REQUEST:
            headers["Cache-Control"] = f"public, max-age={STATIC_AGE_S}"
        if self._address.is_secure:
            headers["Strict-Transport-Security"] = "max-age=31536000"
