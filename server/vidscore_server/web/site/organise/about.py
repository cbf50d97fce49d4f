"""Changes of a benchmark's title, description and evaluators."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_evaluators.errors import Fault, InputError, SpecificationError
from vidscore_evaluators.formats.manifest import parse_document, write_document
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.web.site.benchmark_document import document_of
from vidscore_server.web.site.forms import Form, refused_input, typed
from vidscore_server.web.site.organise.updates import (
    is_overtaken,
    organised_benchmark,
    refused_update,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FIELDS: Mapping[str, str] = {
    f"{start}{field}": field
    for field in ("title", "description", "evaluators")
    for start in ("", "benchmark.", "benchmark.specification.")
}
"""Fields of the form by fields of a benchmark's file, and by paths of a request."""


async def show(visit: Visit) -> Response:
    """The form."""
    benchmark = await organised_benchmark(visit)
    return await _page(visit, 200, benchmark, Form(_texts(benchmark)), benchmark["etag"])


async def change(visit: Visit) -> Response:
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
        return await _page(visit, 400, benchmark, form, etag)
    changed = {
        "name": benchmark["name"],
        "etag": etag,
        "specification": definition.specification,
        "description": definition.description,
    }
    try:
        await visit.call(
            "BenchmarkService/UpdateBenchmark",
            benchmark=changed,
            update_mask=["specification", "description"],
        )
    except ServiceError as error:
        form = refused_update(values, error, FIELDS, _others(values, benchmark))
        etag = benchmark["etag"] if is_overtaken(error) else etag
        return await _page(visit, error.http_status, benchmark, form, etag)
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
    return definition_from_dict({**document_of(benchmark), **texts, **entries})


def _texts(benchmark: Mapping[str, Any]) -> dict[str, str]:
    """The fields of the form for a benchmark."""
    document = document_of(benchmark)
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
    visit: Visit, status: int, benchmark: Mapping[str, Any], form: Form, etag: str
) -> Response:
    return await visit.render(
        "organise/about.html", status, benchmark=benchmark, form=form, etag=etag
    )


ROUTES = (
    ("/organise/benchmarks/{benchmark}/about", show, "GET"),
    ("/organise/benchmarks/{benchmark}/about", change, "POST"),
)
