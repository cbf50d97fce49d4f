"""The page behind the link of an invitation: it makes a team's token, at the push of a button."""

from __future__ import annotations

from starlette.responses import Response

from vidscore_server.web.site.protection import FORM_COOKIE, form_text, new_form_text, set_cookie
from vidscore_server.web.site.visit import Visit


async def show(visit: Visit) -> Response:
    """The button; nothing is changed by looking."""
    found = await visit.call(
        "AccessService/AcceptInvitation",
        secret=visit.request.path_params["secret"],
        validate_only=True,
    )
    text = form_text(visit.request) or new_form_text()
    response = await visit.render(
        "organise/invitation.html",
        key=visit.form_key(text),
        invitation=found["invitation"],
        secret=visit.request.path_params["secret"],
        made=None,
    )
    if text not in {visit.request.cookies.get(FORM_COOKIE, ""), visit.visitor.session}:
        set_cookie(response, FORM_COOKIE, text, secure=visit.site.address.is_secure)
    return response


async def accept(visit: Visit) -> Response:
    """Make the token, and show its secret this once."""
    await visit.form()
    secret = visit.request.path_params["secret"]
    made = await visit.call("AccessService/AcceptInvitation", secret=secret)
    return await visit.render(
        "organise/invitation.html", invitation=made["invitation"], secret=secret, made=made
    )


ROUTES = (
    ("/invitations/{secret}", show, "GET"),
    ("/invitations/{secret}", accept, "POST"),
)
