"""A new benchmark, from a form or from a TOML file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from starlette.datastructures import UploadFile
from starlette.responses import Response

from vidscore_evaluators.errors import InputError, UnknownEvaluatorError
from vidscore_evaluators.formats.manifest import parse_document
from vidscore_evaluators.presets import preset_names
from vidscore_evaluators.registry import evaluator_names
from vidscore_server.domain.benchmark_file import template
from vidscore_server.domain.definition import TIMES, Definition, definition_from_dict
from vidscore_server.web.site.forms import Form, read_utc, refused_by_service, refused_input, typed
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

FORM_FIELDS: Mapping[str, str] = {
    name: name
    for name in (
        "benchmark_id",
        "title",
        "evaluators",
        "truth_geometry",
        "detection_geometry",
        "open_time",
        "close_time",
    )
} | {"policy.visibility": "visibility", "policy": "visibility"}
"""Fields of the form by fields of a benchmark's file."""

TOML_FIELDS: Mapping[str, str] = {"benchmark_id": "benchmark_id"}


async def show(visit: Visit) -> Response:
    """Both ways to create one."""
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers only
    chosen = visit.request.query_params.get("evaluator", "")
    toml = Form()
    if chosen in _names():
        try:
            toml = Form({"toml": await asyncio.to_thread(template, chosen, "New benchmark")})
        except UnknownEvaluatorError as error:  # that of a plug-in which cannot be used
            toml = Form(message=str(error))
    return await _page(visit, 200, Form({"visibility": "ladder"}), toml, chosen)


async def create_from_form(visit: Visit) -> Response:
    """Create a benchmark from the fields of the form."""
    values = typed(await visit.form())
    try:
        definition = await asyncio.to_thread(definition_from_dict, document_of(values))
    except InputError as error:
        form = refused_input(values, error.faults, FORM_FIELDS)
        return await _page(visit, 400, form, Form())
    return await _create(visit, values, definition, FORM_FIELDS)


async def create_from_toml(visit: Visit) -> Response:
    """Create a benchmark from a TOML file, uploaded or typed."""
    fields = await visit.form()
    values = typed(fields)
    file = fields.get("file")
    if isinstance(file, UploadFile) and file.filename:
        data = await file.read()
        values["toml"] = data.decode("utf-8", "replace")
    else:
        data = values.get("toml", "").encode()
    try:
        document = parse_document(data, "benchmark")
        definition = await asyncio.to_thread(definition_from_dict, document)
    except InputError as error:
        form = refused_input(values, error.faults, {})
        return await _page(visit, 400, Form({"visibility": "ladder"}), form)
    return await _create(visit, values, definition, TOML_FIELDS)


async def _create(
    visit: Visit, values: dict[str, str], definition: Definition, names: Mapping[str, str]
) -> Response:
    try:
        answer = await visit.call(
            "BenchmarkService/CreateBenchmark",
            benchmark_id=values.get("benchmark_id", ""),
            benchmark=definition,
        )
    except ServiceError as error:
        if error.code not in {"INVALID_ARGUMENT", "ALREADY_EXISTS"}:
            raise
        refused = refused_by_service(values, error, names)
        if error.code == "ALREADY_EXISTS":
            refused = Form(values, {"benchmark_id": (f"{error.message}; choose another.",)})
        forms = (
            (refused, Form()) if names is FORM_FIELDS else (Form({"visibility": "ladder"}), refused)
        )
        return await _page(visit, error.http_status, *forms)
    return visit.go(f"/organise/{answer['benchmark']['name']}")


def document_of(values: Mapping[str, str]) -> dict[str, Any]:
    """The benchmark's file for the fields of the form."""
    names = [name.strip() for name in values.get("evaluators", "").split(",")]
    document: dict[str, Any] = {
        "title": values.get("title", ""),
        "evaluators": [{"name": name} for name in names if name],
        "policy": {"visibility": values.get("visibility", "ladder")},
    }
    for name in ("truth_geometry", "detection_geometry"):
        if values.get(name):
            document[name] = values[name]
    times, unread = read_utc(values, TIMES)
    document |= {name: time for name, time in times.items() if time is not None}
    return document | {name: values[name] for name in unread}  # the check of the file refuses them


def _names() -> list[str]:
    return sorted({*preset_names(), *evaluator_names()})


async def _page(visit: Visit, status: int, form: Form, toml: Form, chosen: str = "") -> Response:
    return await visit.render(
        "organise/create.html", status, form=form, toml=toml, names=_names(), chosen=chosen
    )


ROUTES = (
    ("/organise/new", show, "GET"),
    ("/organise/new", create_from_form, "POST"),
    ("/organise/new/toml", create_from_toml, "POST"),
)
