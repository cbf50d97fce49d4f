"""One benchmark for its organisers: truth, scores that wait, policy, submissions, trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from starlette.responses import Response

from vidscore_evaluators.parameters import describe_parameters
from vidscore_server.domain.policy import Policy
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
    """What would change on a board that waits to be published.

    Args:
        visit: The request.
        name: The benchmark.
        board: Its board.
    """
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
    """How a benchmark stands, in a sentence or two.

    Args:
        benchmark: The benchmark.
        board: Its board.
    """
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


ROUTES = (("/organise/benchmarks/{benchmark}", show, "GET"),)
