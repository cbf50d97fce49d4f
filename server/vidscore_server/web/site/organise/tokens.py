"""Tokens: made, shown once, revoked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FIELDS: Mapping[str, str] = {name: name for name in ("role", "team", "comment", "lifetime")}

ROLES = ("participant", "organiser", "viewer")
DAY_S = 86_400
MOST_DAYS = 36_525


async def show(visit: Visit) -> Response:
    """The tokens."""
    return await _page(visit, 200, Form({"role": "participant"}))


async def create(visit: Visit) -> Response:
    """Make a token, and show its secret this once."""
    values = typed(await visit.form())
    lifetime_s, fault = read_days(values.get("lifetime", ""))
    role = values.get("role", "")
    if fault or role not in ROLES:
        faults = {"lifetime": (fault,)} if fault else {"role": ("Choose a role.",)}
        form = Form(values, faults, message="Nothing was changed.")
        return await _page(visit, 400, form)
    try:
        made = await visit.call(
            "AccessService/CreateToken",
            role=role,
            team=values.get("team", "").strip(),
            comment=values.get("comment", "").strip(),
            lifetime=lifetime_s,
        )
    except ServiceError as error:
        if error.code != "INVALID_ARGUMENT":
            raise
        return await _page(visit, 400, refused_by_service(values, error, FIELDS))
    return await _page(visit, 200, Form({"role": "participant"}), made)


async def revoke(visit: Visit) -> Response:
    """Revoke a token."""
    name = str((await visit.form()).get("name", ""))
    await visit.call("AccessService/RevokeToken", name=name)
    return visit.go("/organise/tokens")


def read_days(text: str) -> tuple[float | None, str]:
    """Seconds of a number of days that was typed, None for ever; and what is wrong with it.

    Args:
        text: What was typed.
    """
    text = text.strip()
    if not text:
        return None, ""
    try:
        days = float(text)
    except ValueError:
        days = 0.0
    if not 0 < days <= MOST_DAYS:
        expected = f"a number of days above 0 and up to {MOST_DAYS:,}, or nothing"
        return None, f"Found {text[:80]}, expected {expected}."
    return days * DAY_S, ""


async def _page(
    visit: Visit, status: int, form: Form, made: Mapping[str, Any] | None = None
) -> Response:
    page = await visit.call(
        "AccessService/ListTokens",
        page_size=100,
        page_token=visit.request.query_params.get("after", ""),
    )
    server = await visit.server()
    return await visit.render(
        "organise/tokens.html",
        status,
        form=form,
        made=made,
        tokens=page["tokens"],
        after=page["next_page_token"],
        own=(server["token"] or {}).get("name", ""),
        now=server["time"],
        roles=ROLES,
    )


ROUTES = (
    ("/organise/tokens", show, "GET"),
    ("/organise/tokens", create, "POST"),
    ("/organise/tokens/revoke", revoke, "POST"),
)
