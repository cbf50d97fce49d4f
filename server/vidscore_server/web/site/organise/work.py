"""Long work on a benchmark: scoring again, and publishing what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_server.web.site.organise.benchmark import MOST_DIFFERENCES
from vidscore_server.web.site.organise.trust import examines_ranking
from vidscore_server.web.site.organise.trust_tables import trust_view
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

TEMPLATES: Mapping[str, str] = {
    "RescoreMetadata": "organise/rescoring.html",
    "TrustMetadata": "organise/trust_result.html",
}
"""Pages of operations, by the type of their progress."""


async def rescore(visit: Visit) -> Response:
    """Begin to score a benchmark again."""
    fields = await visit.form()
    answer = await visit.call(
        "BenchmarkService/RescoreSubmissions",
        benchmark=visit.benchmark,
        comment=str(fields.get("comment", "")),
    )
    return visit.go(f"/organise/{visit.benchmark}/{answer['operation']}")


async def publish(visit: Visit) -> Response:
    """Move a board to its new scores."""
    await visit.form()
    await visit.call("BenchmarkService/PublishLeaderboard", benchmark=visit.benchmark)
    return visit.go(f"/organise/{visit.benchmark}#scores")


async def show_operation(visit: Visit) -> Response:
    """The progress of an operation, and in the end what came of it."""
    name = f"operations/{visit.request.path_params['operation']}"
    operation = await visit.call("google.longrunning.Operations/GetOperation", name=name)
    if operation["metadata"]["type"] == "TrustMetadata" and not examines_ranking(operation):
        text = f"{name} tests a criterion and has no page; programs read what came of it."
        raise ServiceError("NOT_FOUND", "PAGE", text)
    return await visit.render(
        TEMPLATES[operation["metadata"]["type"]],
        operation=operation,
        benchmark=visit.benchmark,
        most_differences=MOST_DIFFERENCES,
        **_trust(operation),
    )


async def cancel(visit: Visit) -> Response:
    """Cancel an operation."""
    await visit.form()
    name = f"operations/{visit.request.path_params['operation']}"
    await visit.call("google.longrunning.Operations/CancelOperation", name=name)
    return visit.go(f"/organise/{visit.benchmark}/{name}")


def _trust(operation: Mapping[str, Any]) -> dict[str, Any]:
    """What a page of a trust analysis shows besides."""
    response = operation.get("response")
    if not response or response["type"] != "TrustResponse":
        return {}
    return {"view": trust_view(response["document_json"])}


ROUTES = (
    ("/organise/benchmarks/{benchmark}/rescore", rescore, "POST"),
    ("/organise/benchmarks/{benchmark}/publish", publish, "POST"),
    ("/organise/benchmarks/{benchmark}/operations/{operation}", show_operation, "GET"),
    ("/organise/benchmarks/{benchmark}/operations/{operation}/cancel", cancel, "POST"),
)
