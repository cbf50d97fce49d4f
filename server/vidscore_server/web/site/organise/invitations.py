"""Invitations of teams: made in bulk, each with its link, revoked, and accepted by that link."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from starlette.responses import Response

from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.organise.tokens import read_days
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FIELDS: Mapping[str, str] = {
    name: name for name in ("teams", "comment", "lifetime", "token_lifetime")
}


async def show(visit: Visit) -> Response:
    """The invitations."""
    return await _page(visit, 200, Form({"lifetime": "30"}))


async def create(visit: Visit) -> Response:
    """Invite teams, and show the links this once."""
    values = typed(await visit.form())
    lifetimes = {name: read_days(values.get(name, "")) for name in ("lifetime", "token_lifetime")}
    faults = {name: (fault,) for name, (_, fault) in lifetimes.items() if fault}
    if faults:
        return await _page(visit, 400, Form(values, faults, message="Nothing was changed."))
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
        return await _page(visit, 400, refused_by_service(values, error, FIELDS))
    base = visit.site.address.origin(visit.request)
    made = [
        (entry["invitation"]["team"], f"{base}/invitations/{entry['secret']}")
        for entry in answer["invitations"]
    ]
    return await _page(visit, 200, Form({"lifetime": "30"}), made)


async def revoke(visit: Visit) -> Response:
    """Revoke an invitation."""
    name = str((await visit.form()).get("name", ""))
    await visit.call("AccessService/RevokeInvitation", name=name)
    return visit.go("/organise/invitations")


async def show_one(visit: Visit) -> Response:
    """The page behind a link: a button that makes the team's token; looking changes nothing."""
    secret = visit.request.path_params["secret"]
    found = await visit.call("AccessService/AcceptInvitation", secret=secret, validate_only=True)
    return await visit.render_open(
        "organise/invitation.html", invitation=found["invitation"], secret=secret, made=None
    )


async def accept(visit: Visit) -> Response:
    """Make the token, and show its secret this once."""
    await visit.form()
    secret = visit.request.path_params["secret"]
    made = await visit.call("AccessService/AcceptInvitation", secret=secret)
    return await visit.render(
        "organise/invitation.html", invitation=made["invitation"], secret=secret, made=made
    )


def teams_of(text: str) -> list[str]:
    """Names of teams that were pasted, separated by ends of lines, commas or semicolons.

    Args:
        text: What was pasted.
    """
    return [name for part in re.split(r"[\n,;]", text) if (name := part.strip())]


async def _page(
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
    ("/organise/invitations", show, "GET"),
    ("/organise/invitations", create, "POST"),
    ("/organise/invitations/revoke", revoke, "POST"),
    ("/invitations/{secret}", show_one, "GET"),
    ("/invitations/{secret}", accept, "POST"),
)
