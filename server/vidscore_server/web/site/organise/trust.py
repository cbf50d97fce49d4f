"""Trust: start an examination of a benchmark's ranking; `work` shows its result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_server.domain.trust_plans import RANKING
from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

DEFAULTS: Mapping[str, str] = {"draws": "1000", "noise_px": "", "trials": "20", "seed": "1"}

FIELDS: Mapping[str, str] = {
    name: name.rpartition(".")[2] for name in (f"questions.{key}" for key in DEFAULTS)
} | {"comment": "comment"}

MOST_LISTED = 100
LISTED = ("name", "metadata", "done", "error")


async def show(visit: Visit) -> Response:
    """The questions, and the existing examinations."""
    return await _page(visit, 200, Form(DEFAULTS))


async def examine(visit: Visit) -> Response:
    """Start an examination."""
    values = typed(await visit.form())
    questions, faults = read_questions(values)
    if faults:
        return await _page(visit, 400, Form(values, faults, message="Nothing was begun."))
    try:
        operation = await visit.call(
            "TrustService/ExamineRanking",
            benchmark=visit.benchmark,
            questions=questions,
            comment=values.get("comment", ""),
        )
    except ServiceError as error:
        if error.code not in {"INVALID_ARGUMENT", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"}:
            raise
        return await _page(visit, error.http_status, refused_by_service(values, error, FIELDS))
    return visit.go(f"/organise/{visit.benchmark}/{operation['name']}")


def read_questions(
    values: Mapping[str, str],
) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The typed questions, and faults by field.

    Args:
        values: The typed values.
    """
    questions: dict[str, float] = {}
    faults: dict[str, tuple[str, ...]] = {}
    for name in DEFAULTS:
        text = values.get(name, "").strip()
        if not text:
            continue
        try:
            questions[name] = float(text) if name == "noise_px" else _integer(text)
        except ValueError:
            expected = "a number" if name == "noise_px" else "an integer of 31 bits"
            faults[name] = (f"Found {text[:80]}, expected {expected}.",)
    return questions, faults


def _integer(text: str) -> int:
    number = int(text)
    if abs(number) >= 1 << 31:
        raise ValueError(text)
    return number


async def _page(visit: Visit, status: int, form: Form) -> Response:
    name = visit.benchmark
    benchmark = await visit.hosted()
    found = [
        {field: entry[field] for field in LISTED}  # its result may be large
        async for entry in visit.pages(
            "google.longrunning.Operations/ListOperations", "operations", name="operations"
        )
        if examines_ranking(entry) and entry["metadata"]["benchmark"] == name
    ]
    found.sort(key=lambda entry: entry["metadata"]["start_time"], reverse=True)
    newest = found[:MOST_LISTED]
    return await visit.render(
        "organise/trust.html", status, benchmark=benchmark, form=form, operations=newest
    )


def examines_ranking(operation: Mapping[str, Any]) -> bool:
    """Whether an operation examines a ranking; tests of criteria have no pages.

    Args:
        operation: The operation.
    """
    return str(operation["name"]).startswith(f"operations/{RANKING}-")


ROUTES = (
    ("/organise/benchmarks/{benchmark}/trust", show, "GET"),
    ("/organise/benchmarks/{benchmark}/trust", examine, "POST"),
)
