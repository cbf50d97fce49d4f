"""Ground truth: uploaded from any readable file, and a revision looked at."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from starlette.datastructures import UploadFile
from starlette.responses import Response

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import AUTO, FORMATS, read_source
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_server.web.site.forms import Form, refused_by_service, refused_input, typed
from vidscore_server.web.site.organise.truth_preview import Preview
from vidscore_server.web.site.organise.uploads import MOST_FILE_BYTES, kept
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

LIMITS = ReadLimits(MOST_FILE_BYTES, maximum_files=20_000, maximum_unpacked_bytes=MOST_FILE_BYTES)

FRAMES_AT_ONCE = 1000
OBJECTS_AT_ONCE = 100_000

FIELDS: Mapping[str, str] = {"header.comment": "comment", "file": "file", "format": "format"}


async def show(visit: Visit) -> Response:
    """The form to upload a revision."""
    return await _page(visit, 200, Form({"complete": "yes"}))


async def upload(visit: Visit) -> Response:
    """Make a revision out of a file."""
    fields = await visit.form(MOST_FILE_BYTES)
    values = typed(fields)
    name = f"benchmarks/{visit.request.path_params['benchmark']}"
    file = fields.get("file")
    try:
        if not isinstance(file, UploadFile) or not file.filename:
            expected = "a file of ground truth, or a zip archive of a folder"
            raise InputError([Fault("no file", expected, field="file")])
        if values.get("format", AUTO) not in {AUTO, *FORMATS}:
            raise InputError([Fault("no such format", "one of the list", field="format")])
        async with kept(file) as path:
            source = await asyncio.to_thread(_read, path, values.get("format", AUTO))
    except InputError as error:
        return await _page(visit, 400, refused_input(values, error.faults, FIELDS))
    try:
        requests = _requests(name, values, source.annotations)
        [answer] = [one async for one in visit.stream("BenchmarkService/UploadTruth", requests)]
    except ServiceError as error:
        if error.code not in {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}:
            raise
        return await _page(visit, error.http_status, refused_by_service(values, error, FIELDS))
    return visit.go(f"/organise/{name}/truth/{answer['revision']['revision']}")


def _read(path: Path, format_name: str) -> Source:
    try:
        return read_source(path, Side.TRUTH, format_name=format_name, limits=LIMITS)
    except InputError as error:
        # The folder on the server is nobody's business.
        folder = f"{path.parent}/"
        raise InputError([_without(fault, folder) for fault in error.faults]) from None


def _without(fault: Fault, folder: str) -> Fault:
    texts = {
        name: text.replace(folder, "")
        for name in ("found", "expected", "source", "advice")
        if isinstance(text := getattr(fault, name), str)
    }
    return Fault(**{**texts, "line": fault.line, "entry": fault.entry, "field": fault.field})  # type: ignore[arg-type]


async def _requests(
    name: str, values: Mapping[str, str], truth: Annotations
) -> AsyncIterator[Mapping[str, Any]]:
    yield {
        "header": {
            "benchmark": name,
            "merge": bool(values.get("merge")),
            "complete": bool(values.get("complete")),
            "comment": values.get("comment", ""),
        }
    }
    for chosen in batches_of(truth):
        yield {"truth": await asyncio.to_thread(truth.take_frames, chosen)}
    yield {"end": {"frame_count": truth.frame_count}}


def batches_of(truth: Annotations) -> list[np.typing.NDArray[np.bool_]]:
    """Masks of frames that go together, so that no batch is large.

    Args:
        truth: The annotations.
    """
    masks: list[np.typing.NDArray[np.bool_]] = []
    start, objects = 0, 0
    for row, count in enumerate(truth.object_counts.tolist()):
        if row > start and (row - start >= FRAMES_AT_ONCE or objects + count > OBJECTS_AT_ONCE):
            masks.append(_between(truth.frame_count, start, row))
            start, objects = row, 0
        objects += count
    if truth.frame_count:
        masks.append(_between(truth.frame_count, start, truth.frame_count))
    return masks


def _between(size: int, start: int, end: int) -> np.typing.NDArray[np.bool_]:
    mask = np.zeros(size, dtype=np.bool_)
    mask[start:end] = True
    return mask


async def preview(visit: Visit) -> Response:
    """What a revision has, and its first frames."""
    name = f"benchmarks/{visit.request.path_params['benchmark']}"
    number = visit.request.path_params["revision"]
    benchmark = (await visit.call("BenchmarkService/GetBenchmark", name=name))["benchmark"]

    async def request() -> AsyncIterator[Mapping[str, Any]]:
        yield {"benchmark": name, "revision": number}

    made = Preview(benchmark["specification"]["sequences"])
    async for response in visit.stream("BenchmarkService/ReadTruth", request()):
        if response["truth"] is not None:
            await asyncio.to_thread(made.add, response["truth"])
        if made.is_full:
            break
    return await visit.render(
        "organise/truth_preview.html", benchmark=benchmark, number=number, preview=made
    )


async def _page(visit: Visit, status: int, form: Form) -> Response:
    name = f"benchmarks/{visit.request.path_params['benchmark']}"
    newest = await visit.call("BenchmarkService/ListTruthRevisions", benchmark=name, page_size=1)
    benchmark = (await visit.call("BenchmarkService/GetBenchmark", name=name))["benchmark"]
    return await visit.render(
        "organise/truth.html",
        status,
        benchmark=benchmark,
        form=form,
        formats=[AUTO, *FORMATS],
        newest=next(iter(newest["revisions"]), None),
    )


ROUTES = (
    ("/organise/benchmarks/{benchmark}/truth", show, "GET"),
    ("/organise/benchmarks/{benchmark}/truth", upload, "POST"),
    ("/organise/benchmarks/{benchmark}/truth/{revision:int}", preview, "GET"),
)
