"""The viewer over HTTP: the page, its parts, tables as CSV and pictures; all by GET.

To open a page, a browser must know a secret, which is part of every address, and must use this
machine's name as the host: a page of another site in the same browser can do neither.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from vidscore_server.web.document import OUTCOMES, TABLES, outcomes_text, table_text
from vidscore_server.web.rendering import HEADERS, STATIC
from vidscore_server.web.view import NoSuchViewError
from vidscore_server.web.viewer import Viewer


def viewer_app(viewer: Viewer, secret: str, hosts: Sequence[str]) -> ASGIApp:
    """The application.

    Args:
        viewer: The pages.
        secret: Prefix of every path, without slashes.
        hosts: Allowed values of the Host header.
    """

    def page(request: Request) -> Response:
        view = viewer.find(request.query_params)
        part = request.headers.get("HX-Target", "")
        if part == "frame-part":
            return HTMLResponse(viewer.frame(view))
        if part == "figures-part":
            return HTMLResponse(viewer.figures(view))
        return HTMLResponse(viewer.page(view))

    def picture(request: Request) -> Response:
        row = request.path_params["row"]
        pictures, frames = viewer.pictures, viewer.material.frames
        found = None
        if pictures is not None and row < len(frames):
            found = pictures.jpeg(*viewer.place(row))
        if found is None:
            return PlainTextResponse("There is no picture of this frame.", 404)
        return Response(found, media_type="image/jpeg")

    def table(request: Request) -> Response:
        name = request.path_params["name"]
        view = viewer.find(request.query_params)
        text: str | bytes | None = None
        if name in TABLES:
            text = table_text(viewer, name, view)
        elif name in OUTCOMES:
            text = outcomes_text(viewer, name, view)
        if text is None:
            return PlainTextResponse("There is no such table.", 404)
        return Response(text, media_type="text/csv; charset=utf-8")

    def not_there(_: Request, error: Exception) -> Response:
        return PlainTextResponse(str(error), 404)

    routes = [
        Route("/", page),
        Route("/picture/{row:int}.jpg", picture),
        Route("/csv/{name}.csv", table),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    inner = Starlette(routes=routes, exception_handlers={NoSuchViewError: not_there})
    return _Guard(inner, secret, frozenset(host.lower() for host in hosts))


class _Guard:
    """Refuses foreign Host headers and paths without the secret; adds headers to all answers."""

    def __init__(self, inner: ASGIApp, secret: str, hosts: frozenset[str]) -> None:
        self._inner = inner
        self._secret = secret
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        if Headers(scope=scope).get("host", "").lower() not in self._hosts:
            refusal = PlainTextResponse(
                "This page is served to its own machine only.", HTTPStatus.MISDIRECTED_REQUEST
            )
            await refusal(scope, receive, send_guarded)
            return
        _, _, rest = str(scope["path"]).partition("/")
        given, slash, _ = rest.partition("/")
        if not slash or not secrets.compare_digest(given.encode(), self._secret.encode()):
            await PlainTextResponse("Not found.", 404)(scope, receive, send_guarded)
            return
        inner = {**scope, "root_path": f"/{self._secret}"}
        await self._inner(inner, receive, send_guarded)
