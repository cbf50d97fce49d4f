"""One benchmark for its organisers: truth, waiting scores, policy, submissions, trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from vidscore_evaluators.parameters import describe_parameters
from vidscore_server.domain.policy import Policy
from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.organise.policy import policy_texts
from vidscore_server.web.site.phrases import counted
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

MOST_SUBMISSIONS = 50
MOST_DIFFERENCES = 200


async def show(visit: Visit) -> Response:
    """The benchmark."""
    name = visit.benchmark
    revisions = [
        entry
        async for entry in visit.pages(
            "BenchmarkService/ListTruthRevisions", "revisions", benchmark=name, page_size=100
        )
    ]
    benchmark = await visit.hosted()
    submissions = await visit.call(
        "SubmissionService/ListSubmissions",
        benchmark=name,
        page_size=MOST_SUBMISSIONS,
        page_token=visit.request.query_params.get("after", ""),
    )
    board = await visit.call("BenchmarkService/GetLeaderboard", benchmark=name, page_size=1)
    policy = policy_texts(benchmark["policy"])
    return await visit.render(
        "organise/benchmark.html",
        benchmark=benchmark,
        revisions=revisions,
        submissions=submissions,
        board=board,
        waiting=await differences(visit, name, board),
        lede=lede_of(benchmark, board),
        policy=[(entry, policy[entry.name]) for entry in describe_parameters(Policy)],
        most_differences=MOST_DIFFERENCES,
    )


async def differences(
    visit: Visit, name: str, board: Mapping[str, Any]
) -> Sequence[Mapping[str, Any]]:
    """The changes of a board that waits to be published."""
    if not board["publishable"]:
        return ()
    try:
        answer = await visit.call(
            "BenchmarkService/PublishLeaderboard", benchmark=name, validate_only=True
        )
    except ServiceError as error:
        if error.reason != "RESCORING_RUNS":
            raise
        return ()
    found: Sequence[Mapping[str, Any]] = answer["differences"]
    return found


def lede_of(benchmark: Mapping[str, Any], board: Mapping[str, Any]) -> str:
    """The state of a benchmark, in a sentence or two."""
    if not benchmark["truth_revision"]:
        return "It has no ground truth yet: nothing can be scored."
    complete = "is complete" if benchmark["truth_complete"] else "is not complete"
    parts = [f"Revision {benchmark['truth_revision']} of the ground truth {complete}."]
    if benchmark["submissions_to_rescore"]:
        waiting = benchmark["submissions_to_rescore"]
        verb = "is" if waiting == 1 else "are"
        parts.append(
            f"{counted(waiting, 'submission').capitalize()} {verb} still to be scored again."
        )
    if board["publishable"]:
        parts.append("New scores wait for you to publish them.")
    elif not board["truth_revision"]:
        parts.append("No submission is scored yet.")
    return " ".join(parts)


# --- Its submissions: disqualify with a reason, reinstate, and retry after a failure


async def show_disqualification(visit: Visit) -> Response:
    """The form for a reason."""
    submission = await _submission(visit)
    return await _disqualification(
        visit, 200, submission, Form({"reason": submission["disqualification"]})
    )


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
        form = refused_by_service(values, error, {"reason": "reason"})
        return await _disqualification(visit, 400, submission, form)
    return visit.go(_back(submission["name"]))


async def reinstate(visit: Visit) -> Response:
    """Undo a disqualification."""
    name = str((await visit.form()).get("name", ""))
    await visit.call("SubmissionService/ReinstateSubmission", name=name)
    return visit.go(_back(name))


async def retry(visit: Visit) -> Response:
    """Score a failed submission again."""
    fields = await visit.form()
    name = str(fields.get("name", ""))
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers only
    await visit.call("SubmissionService/RetrySubmission", name=name)
    return visit.go("/organise" if fields.get("next") == "/organise" else _back(name))


def _back(name: str) -> str:
    """The page of a submission's benchmark."""
    return f"/organise/{name.partition('/submissions/')[0]}#submissions"


async def _submission(visit: Visit) -> dict[str, Any]:
    name = visit.submission
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers only
    found: dict[str, Any] = (await visit.call("SubmissionService/GetSubmission", name=name))[
        "submission"
    ]
    return found


async def _disqualification(
    visit: Visit, status: int, submission: Mapping[str, Any], form: Form
) -> Response:
    return await visit.render("organise/disqualify.html", status, submission=submission, form=form)


_DISQUALIFY = "/organise/benchmarks/{benchmark}/submissions/{submission}/disqualify"

ROUTES = (
    ("/organise/benchmarks/{benchmark}", show, "GET"),
    (_DISQUALIFY, show_disqualification, "GET"),
    (_DISQUALIFY, disqualify, "POST"),
    ("/organise/reinstate", reinstate, "POST"),
    ("/organise/retry", retry, "POST"),
)
