"""Submissions: disqualified with a reason, reinstated, and tried again after a failure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FIELDS: Mapping[str, str] = {"reason": "reason"}

PATH = "/organise/benchmarks/{benchmark}/submissions/{submission}/disqualify"


async def show(visit: Visit) -> Response:
    """The form for a reason."""
    submission = await _submission(visit)
    return await _page(visit, 200, submission, Form({"reason": submission["disqualification"]}))


async def disqualify(visit: Visit) -> Response:
    """Disqualify a submission."""
    values = typed(await visit.form())
    submission = await _submission(visit)
    try:
        await visit.call(
            "SubmissionService/DisqualifySubmission",
            name=submission["name"],
            reason=values.get("reason", ""),
        )
    except ServiceError as error:
        if error.code != "INVALID_ARGUMENT":
            raise
        form = refused_by_service(values, error, FIELDS)
        return await _page(visit, 400, submission, form)
    return visit.go(_back(submission["name"]))


async def reinstate(visit: Visit) -> Response:
    """Undo a disqualification."""
    name = str((await visit.form()).get("name", ""))
    await visit.call("SubmissionService/ReinstateSubmission", name=name)
    return visit.go(_back(name))


async def retry(visit: Visit) -> Response:
    """Have a failed submission scored again."""
    fields = await visit.form()
    name = str(fields.get("name", ""))
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers alone
    await visit.call("SubmissionService/RetrySubmission", name=name)
    return visit.go("/organise" if fields.get("next") == "/organise" else _back(name))


def _back(name: str) -> str:
    """The page of a submission's benchmark."""
    return f"/organise/{name.partition('/submissions/')[0]}#submissions"


async def _submission(visit: Visit) -> dict[str, Any]:
    name = visit.submission
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers alone
    found: dict[str, Any] = (await visit.call("SubmissionService/GetSubmission", name=name))[
        "submission"
    ]
    return found


async def _page(visit: Visit, status: int, submission: Mapping[str, Any], form: Form) -> Response:
    return await visit.render("organise/disqualify.html", status, submission=submission, form=form)


ROUTES = (
    (PATH, show, "GET"),
    (PATH, disqualify, "POST"),
    ("/organise/reinstate", reinstate, "POST"),
    ("/organise/retry", retry, "POST"),
)
