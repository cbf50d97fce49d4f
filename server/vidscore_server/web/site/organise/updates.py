"""Forms that change a benchmark's title, description and evaluators, or its times.

The form of its policy shares with them who may open it, and what a refusal shows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_evaluators.errors import Fault, InputError, SpecificationError
from vidscore_evaluators.formats.manifest import parse_document, write_document
from vidscore_server.domain.definition import TIMES, Definition, definition_from_dict
from vidscore_server.web.site.forms import (
    Form,
    read_utc,
    refused_by_service,
    refused_input,
    typed,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FIELDS: Mapping[str, str] = {
    f"{start}{field}": field
    for field in ("title", "description", "evaluators")
    for start in ("", "benchmark.", "benchmark.specification.")
}
"""Fields of the form by fields of a benchmark's file, and by paths of a request."""

_REFUSALS = frozenset({"INVALID_ARGUMENT", "ABORTED", "FAILED_PRECONDITION"})
"""Codes of refusals that are about what was typed."""

_OVERTAKEN = (
    "Somebody else has changed the benchmark since you opened this page. The form shows what you "
    "typed, the page also what the benchmark now has; save it again to replace that."
)


async def organised_benchmark(visit: Visit) -> dict[str, Any]:
    """The benchmark of a form, for organisers only: others are refused before they see it.

    Raises:
        ServiceError: If the visitor is not an organiser, or there is no such benchmark.
    """
    rpc = "BenchmarkService/ListTruthRevisions"
    await visit.call(rpc, benchmark=visit.benchmark, page_size=1)
    return await visit.hosted()


def is_overtaken(error: ServiceError) -> bool:
    """Whether a change was refused because somebody else has made one."""
    return error.reason == "ETAG_DIFFERS"


def refused_update(
    values: Mapping[str, str],
    error: ServiceError,
    names: Mapping[str, str],
    others: Mapping[str, str],
) -> Form:
    """A form whose change of a benchmark was refused.

    Args:
        values: The typed values.
        error: The refusal.
        names: Fields of the form by paths of the request.
        others: What the benchmark now has in fields for which something else was typed, in words.

    Raises:
        ServiceError: The refusal, if it is not about what was typed.
    """
    if error.code not in _REFUSALS:
        raise error
    if not is_overtaken(error):
        return refused_by_service(values, error, names)
    faults = {name: (f"The benchmark now has {words}",) for name, words in others.items()}
    return Form(values, faults, message=_OVERTAKEN)


async def show_about(visit: Visit) -> Response:
    """The form of title, description and evaluators."""
    benchmark = await organised_benchmark(visit)
    return await _page(visit, "about", 200, benchmark, Form(_texts(benchmark)), benchmark["etag"])


async def change_about(visit: Visit) -> Response:
    """Save them."""
    fields = typed(await visit.form()).items()
    # Browsers end the lines of a text with two characters.
    values = {name: text.replace("\r\n", "\n") for name, text in fields}
    etag = values.pop("etag", "")
    benchmark = await organised_benchmark(visit)
    try:
        definition = await asyncio.to_thread(_read, values, benchmark)
    except InputError as error:
        form = refused_input(values, error.faults, FIELDS)
        return await _page(visit, "about", 400, benchmark, form, etag)
    changes = {
        "specification": definition.specification,
        "description": definition.description,
    }
    try:
        return await _save(visit, benchmark, changes, etag)
    except ServiceError as error:
        form = refused_update(values, error, FIELDS, _others(values, benchmark))
        etag = benchmark["etag"] if is_overtaken(error) else etag
        return await _page(visit, "about", error.http_status, benchmark, form, etag)


async def show_times(visit: Visit) -> Response:
    """The form of the times at which a benchmark opens and closes."""
    benchmark = await organised_benchmark(visit)
    times = {name: benchmark[name] for name in TIMES}
    # A browser's field of a date and a time has no offset.
    texts = {name: time.isoformat()[:19] for name, time in times.items() if time is not None}
    return await _page(visit, "times", 200, benchmark, Form(texts), benchmark["etag"])


async def change_times(visit: Visit) -> Response:
    """Save the times."""
    values = typed(await visit.form())
    etag = values.pop("etag", "")
    benchmark = await organised_benchmark(visit)
    times, faults = read_utc(values, TIMES)
    if faults:
        return await _page(visit, "times", 400, benchmark, Form(values, faults), etag)
    try:
        return await _save(visit, benchmark, times, etag)
    except ServiceError as error:
        names = {f"benchmark.{name}": name for name in TIMES}
        form = refused_update(values, error, names, {})  # the page has both times above the form
        etag = benchmark["etag"] if is_overtaken(error) else etag
        return await _page(visit, "times", error.http_status, benchmark, form, etag)


async def _save(
    visit: Visit, benchmark: Mapping[str, Any], changes: Mapping[str, Any], etag: str
) -> Response:
    changed = {"name": benchmark["name"], "etag": etag, **changes}
    await visit.call(
        "BenchmarkService/UpdateBenchmark", benchmark=changed, update_mask=list(changes)
    )
    return visit.go(f"/organise/{benchmark['name']}")


def _read(values: Mapping[str, str], benchmark: Mapping[str, Any]) -> Definition:
    """The benchmark with what was typed.

    Raises:
        SpecificationError: With every fault.
    """
    evaluators = parse_document(values.get("evaluators", "").encode(), "evaluators")
    if unknown := [key for key in evaluators if key != "evaluators"]:
        raise SpecificationError(
            [
                Fault(f"the key {key}", "tables [[evaluators]] alone", field="evaluators")
                for key in unknown
            ]
        )
    texts = {name: values.get(name, "").strip() for name in ("title", "description")}
    entries = {"evaluators": evaluators.get("evaluators", [])}
    return definition_from_dict({**benchmark["document"], **texts, **entries})


def _texts(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form for a benchmark."""
    document = benchmark["document"]
    return {
        "title": document.get("title", ""),
        "description": document.get("description", ""),
        "evaluators": write_document({"evaluators": document["evaluators"]}).strip(),
    }


def _others(values: Mapping[str, str], benchmark: Mapping[str, Any]) -> dict[str, str]:
    """What the benchmark has in fields for which something else was typed, in words."""
    return {
        name: text or "none"
        for name, text in _texts(benchmark).items()
        if text != values.get(name, "").strip()
    }


async def _page(
    visit: Visit, form_name: str, status: int, benchmark: Mapping[str, Any], form: Form, etag: str
) -> Response:
    return await visit.render(
        f"organise/{form_name}.html", status, benchmark=benchmark, form=form, etag=etag
    )


ROUTES = (
    ("/organise/benchmarks/{benchmark}/about", show_about, "GET"),
    ("/organise/benchmarks/{benchmark}/about", change_about, "POST"),
    ("/organise/benchmarks/{benchmark}/times", show_times, "GET"),
    ("/organise/benchmarks/{benchmark}/times", change_times, "POST"),
)
