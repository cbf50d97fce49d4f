"""Long work on a benchmark: scoring again, and publishing the result."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from starlette.responses import Response

from vidscore_server.web.site.organise.benchmark import MOST_DIFFERENCES
from vidscore_server.web.site.organise.trust import examines_ranking, trust_view
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

TEMPLATES: Mapping[str, str] = {
    "RescoreMetadata": "organise/rescoring.html",
    "TrustMetadata": "organise/trust_result.html",
}
"""Pages of operations, by the type of their progress."""


async def rescore(visit: Visit) -> Response:
    """Start to score a benchmark again."""
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
    """The progress of an operation, and finally its result."""
    operation = await _own_operation(visit)
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
    name = (await _own_operation(visit))["name"]
    await visit.call("google.longrunning.Operations/CancelOperation", name=name)
    return visit.go(f"/organise/{visit.benchmark}/{name}")


async def _own_operation(visit: Visit) -> dict[str, Any]:
    """The operation in the address.

    Raises:
        ServiceError: If there is none, it has no page, or it belongs to another benchmark.
    """
    name = f"operations/{visit.request.path_params['operation']}"
    operation = await visit.call("google.longrunning.Operations/GetOperation", name=name)
    if operation["metadata"]["type"] == "TrustMetadata" and not examines_ranking(operation):
        text = f"{name} tests a criterion and has no page; programs can read its result."
        raise ServiceError("NOT_FOUND", "PAGE", text)
    if not await _is_own(visit, operation):
        raise ServiceError("NOT_FOUND", "PAGE", f"{name} does not belong to {visit.benchmark}.")
    return operation


async def _is_own(visit: Visit, operation: Mapping[str, Any]) -> bool:
    metadata = operation["metadata"]
    if metadata["type"] == "TrustMetadata":
        return bool(metadata["benchmark"] == visit.benchmark)
    # Its progress does not name the benchmark that is scored; the audit record of its start does.
    begun = await visit.call(
        "AccessService/ListAuditRecords",
        benchmark=visit.benchmark,
        action="RescoreSubmissions",
        since=metadata["start_time"],
        until=metadata["start_time"] + timedelta(microseconds=1),
        page_size=1000,
    )
    name = operation["name"].rpartition("/")[2]
    return any(record["detail"].partition(" ")[0] == name for record in begun["records"])


def _trust(operation: Mapping[str, Any]) -> dict[str, Any]:
    """Additional contents of the page of a trust analysis."""
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
