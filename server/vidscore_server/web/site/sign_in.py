"""Signing in with a token, and out."""

from __future__ import annotations

from urllib.parse import SplitResult, quote, urlsplit

from starlette.responses import PlainTextResponse, RedirectResponse, Response

from vidscore_server.web.site.protection import (
    FORM_COOKIE,
    KEY_FIELD,
    SESSION_COOKIE,
    form_text,
    has_key,
    is_foreign,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit


def redirect(visit: Visit) -> Response:
    """Redirect a visitor to the form, and back to the page afterwards."""
    page = _page_of(visit)
    wanted = f"{page.path}?{page.query}" if page.query else page.path
    ended = "&ended=1" if visit.visitor.session else ""
    form = f"/sign-in?next={quote(wanted, safe='')}{ended}"
    if visit.is_part:
        return PlainTextResponse("You are signed out.", 401, {"HX-Redirect": form})
    return RedirectResponse(form, 303)


def _page_of(visit: Visit) -> SplitResult:
    """Address of the page that a browser shows; the page of a part for requests of parts."""
    own = urlsplit(str(visit.request.url))
    if not visit.is_part:
        return own
    try:
        return urlsplit(visit.request.headers.get("hx-current-url", ""))
    except ValueError:
        return own


async def show(visit: Visit) -> Response:
    """The form."""
    visit.forget_account()
    query = visit.request.query_params
    return await _form(visit, 200, query.get("next", ""), ended=query.get("ended") == "1")


async def sign_in(visit: Visit) -> Response:
    """Begin a session."""
    request = visit.request
    if is_foreign(request, visit.site.address):
        raise ServiceError(
            "PERMISSION_DENIED", "FOREIGN_FORM", "This form was sent by another site."
        )
    fields = await visit.unchecked_form()
    text = form_text(request)
    if request.headers.get("origin") is None and not (
        text and has_key(fields.get(KEY_FIELD), visit.form_key())
    ):
        raise ServiceError(
            "PERMISSION_DENIED", "FORM_KEY", "The form has no key. Open the page again and repeat."
        )
    wanted = str(fields.get("next", ""))
    tries = visit.site.tries
    pause_s = tries.pause_s(visit.host)
    if pause_s > 0:
        return await _form(visit, 429, wanted, pause_s=pause_s)
    token = str(fields.get("token", "")).strip()
    try:
        session = await visit.site.service.sign_in(token, visit.visitor.peer)
    except ServiceError as error:
        if error.code != "UNAUTHENTICATED":
            raise
        tries.failed(visit.host)
        visit.forget_account()
        return await _form(visit, 401, wanted, tries_left=tries.left(visit.host))
    response = visit.go(_within(wanted))
    visit.set_cookie(response, SESSION_COOKIE, session)
    response.delete_cookie(FORM_COOKIE, path="/")
    return response


async def sign_out(visit: Visit) -> Response:
    """End the session of this browser."""
    await visit.form()
    response = visit.go("/sign-in")
    response.delete_cookie(SESSION_COOKIE, path="/")
    return response


def _within(path: str) -> str:
    """The requested path if it is on this site; otherwise its first page."""
    parts = urlsplit(path)
    own = path.startswith("/") and not path.startswith(("//", "/\\"))
    return path if own and not parts.netloc and path.isprintable() else "/benchmarks"


async def _form(
    visit: Visit,
    status: int,
    wanted: str,
    *,
    ended: bool = False,
    tries_left: int | None = None,
    pause_s: float = 0.0,
) -> Response:
    return await visit.render_open(
        "sign_in.html",
        status,
        ended=ended,
        tries_left=tries_left,
        pause_s=pause_s,
        next=_within(wanted),
    )


ROUTES = (
    ("/sign-in", show, "GET"),
    ("/sign-in", sign_in, "POST"),
    ("/sign-out", sign_out, "POST"),
)
