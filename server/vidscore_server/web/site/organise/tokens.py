"""Tokens and invitations of teams: create, show the secret once, revoke, accept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from vidscore_server.domain.policy import DAY_S
from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

TOKEN_FIELDS: Mapping[str, str] = {name: name for name in ("role", "team", "comment", "lifetime")}
INVITATION_FIELDS: Mapping[str, str] = {
    name: name for name in ("teams", "comment", "lifetime", "token_lifetime")
}

ROLES = ("participant", "organiser", "viewer")
MOST_DAYS = 36_525


async def show(visit: Visit) -> Response:
    """The tokens."""
    return await _tokens(visit, 200, Form({"role": "participant"}))


async def create(visit: Visit) -> Response:
    """Create a token, and show its secret once."""
    values = typed(await visit.form())
    lifetime_s, fault = read_days(values.get("lifetime", ""))
    role = values.get("role", "")
    if fault or role not in ROLES:
        faults = {"lifetime": (fault,)} if fault else {"role": ("Choose a role.",)}
        form = Form(values, faults, message="Nothing was changed.")
        return await _tokens(visit, 400, form)
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
        return await _tokens(visit, 400, refused_by_service(values, error, TOKEN_FIELDS))
    return await _tokens(visit, 200, Form({"role": "participant"}), made)


async def revoke(visit: Visit) -> Response:
    """Revoke a token."""
    name = str((await visit.form()).get("name", ""))
    await visit.call("AccessService/RevokeToken", name=name)
    return visit.go("/organise/tokens")


def read_days(text: str) -> tuple[float | None, str]:
    """Seconds of a typed number of days, None for no end; and its fault, if any.

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


async def _tokens(
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


# --- Invitations


async def show_invitations(visit: Visit) -> Response:
    """The invitations."""
    return await _invitations(visit, 200, Form({"lifetime": "30"}))


async def invite(visit: Visit) -> Response:
    """Invite teams, and show the links once."""
    values = typed(await visit.form())
    lifetimes = {name: read_days(values.get(name, "")) for name in ("lifetime", "token_lifetime")}
    faults = {name: (fault,) for name, (_, fault) in lifetimes.items() if fault}
    if faults:
        return await _invitations(visit, 400, Form(values, faults, message="Nothing was changed."))
    try:
        answer = await visit.call(
            "AccessService/CreateInvitations",
            teams=teams_of(values.get("teams", "")),
            comment=values.get("comment", "").strip(),
            **{name: seconds for name, (seconds, _) in lifetimes.items()},
        )
    except ServiceError as error:
        if error.code != "INVALID_ARGUMENT":
            raise
        return await _invitations(visit, 400, refused_by_service(values, error, INVITATION_FIELDS))
    base = visit.site.address.origin(visit.request)
    made = [
        (entry["invitation"]["team"], f"{base}/invitations/{entry['secret']}")
        for entry in answer["invitations"]
    ]
    return await _invitations(visit, 200, Form({"lifetime": "30"}), made)


async def revoke_invitation(visit: Visit) -> Response:
    """Revoke an invitation."""
    name = str((await visit.form()).get("name", ""))
    await visit.call("AccessService/RevokeInvitation", name=name)
    return visit.go("/organise/invitations")


async def show_invitation(visit: Visit) -> Response:
    """The page of a link: a button that creates the team's token; opening it changes nothing."""
    secret = visit.request.path_params["secret"]
    try:
        found = await visit.call(
            "AccessService/AcceptInvitation", secret=secret, validate_only=True
        )
    except ServiceError as error:
        if error.code != "NOT_FOUND":
            raise
        # No form to sign in, as for other names: who is invited has no token yet.
        return await visit.render("error.html", error.http_status, error=error)
    return await visit.render_open(
        "organise/invitation.html", invitation=found["invitation"], secret=secret, made=None
    )


async def accept(visit: Visit) -> Response:
    """Create the token, and show its secret once."""
    await visit.form()
    secret = visit.request.path_params["secret"]
    made = await visit.call("AccessService/AcceptInvitation", secret=secret)
    return await visit.render(
        "organise/invitation.html", invitation=made["invitation"], secret=secret, made=made
    )


def teams_of(text: str) -> list[str]:
    """Pasted names of teams, separated by line ends, commas or semicolons."""
    return [name for part in re.split(r"[\n,;]", text) if (name := part.strip())]


async def _invitations(
    visit: Visit, status: int, form: Form, made: Sequence[tuple[str, str]] = ()
) -> Response:
    page = await visit.call(
        "AccessService/ListInvitations",
        page_size=100,
        page_token=visit.request.query_params.get("after", ""),
    )
    return await visit.render(
        "organise/invitations.html",
        status,
        form=form,
        made=made,
        invitations=page["invitations"],
        after=page["next_page_token"],
    )


ROUTES = (
    ("/organise/tokens", show, "GET"),
    ("/organise/tokens", create, "POST"),
    ("/organise/tokens/revoke", revoke, "POST"),
    ("/organise/invitations", show_invitations, "GET"),
    ("/organise/invitations", invite, "POST"),
    ("/organise/invitations/revoke", revoke_invitation, "POST"),
    ("/invitations/{secret}", show_invitation, "GET"),
    ("/invitations/{secret}", accept, "POST"),
)
