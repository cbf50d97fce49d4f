"""Ground truth: upload any readable file, preview it before it takes effect, and view revisions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from starlette.datastructures import UploadFile
from starlette.responses import Response

from vidscore_evaluators.annotations import Annotations, Side, concatenate
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import AUTO, FORMATS, read_source
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_evaluators.plausibility.inputs import warnings_of_side
from vidscore_server.domain.access import ORGANISERS_TEAM
from vidscore_server.web.site.checking import cuts, doubts_and_notes, on_page
from vidscore_server.web.site.forms import Form, refused_by_service, refused_input, typed
from vidscore_server.web.site.organise.truth_preview import (
    MOST_ROWS,
    Preview,
    SequenceChange,
    change_sentence,
    changes_of,
    label_changes,
    merged,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.spool import FileFacts, Typed, Upload, UploadLimits, chunks_of
from vidscore_server.web.site.visit import Visit

MOST_FILE_BYTES = 2 << 30
LIMITS = ReadLimits(MOST_FILE_BYTES, maximum_files=20_000, maximum_unpacked_bytes=MOST_FILE_BYTES)

MOST_REVISIONS = (1 << 31) - 1
"""Maximum number of revisions that a call can request; there are never so many."""

AT_ONCE = UploadLimits(batch_frames=1000, batch_objects=100_000)
"""Limits of one call."""

CHOICES = ("complete", "merge", "comment")
"""Fields about an upload that its page passes on."""

FIELDS: Mapping[str, str] = {"header.comment": "comment", "file": "file", "format": "format"}


class WaitingTruth(Struct, frozen=True):
    """The preview of a waiting upload, for its page.

    Attributes:
        preview: The contents of its file.
        changes: The change of each sequence.
        sentence: The changes of all sequences, in words.
        labels: Added labels, and removed labels.
        doubts: Doubts about it.
        notes: Remarks of the reader.
    """

    preview: Preview
    changes: Sequence[SequenceChange]
    sentence: str
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    doubts: tuple[str, ...]
    notes: tuple[str, ...]


async def show(visit: Visit) -> Response:
    """The form to upload a revision."""
    return await _page(visit, 200, Form({"complete": "yes"}))


async def upload(visit: Visit) -> Response:
    """Receive a file; it takes effect once the organiser has confirmed its changes."""
    name = visit.benchmark
    await _newest(visit)  # for organisers only
    spool = visit.site.truths
    with spool.coming(ORGANISERS_TEAM, visit.stated_bytes):
        fields = await visit.form(MOST_FILE_BYTES)
    values = typed(fields)
    file = fields.get("file")
    try:
        if not isinstance(file, UploadFile) or not file.filename:
            expected = "a file of ground truth, or a zip archive of a folder"
            raise InputError([Fault("no file", expected, field="file")])
        if values.get("format", AUTO) not in {AUTO, *FORMATS}:
            raise InputError([Fault("no such format", "one of the list", field="format")])
        facts, chosen = FileFacts(file.filename, file.size or 0), Typed(values.get("format", AUTO))
        waiting = spool.begin(visit.visitor.session, ORGANISERS_TEAM, name, facts, chosen)
        try:
            await spool.append(waiting, 0, chunks_of(file))
            await _source(visit, waiting)
        except (InputError, ServiceError):
            spool.discard(waiting)
            raise
    except InputError as error:
        return await _page(visit, 400, refused_input(values, error.faults, FIELDS))
    except ServiceError as error:
        if error.code not in {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}:
            raise
        return await _page(visit, error.http_status, refused_by_service(values, error, FIELDS))
    kept = {field: values[field] for field in CHOICES if values.get(field)}
    return visit.go(f"{_url(waiting)}?{urlencode(kept)}")


async def look(visit: Visit) -> Response:
    """The contents of a waiting upload, and its changes."""
    try:
        waiting = _find(visit)
    except ServiceError as error:
        return await _page(visit, error.http_status, refused_by_service({}, error, FIELDS))
    chosen = {field: visit.request.query_params.get(field, "") for field in CHOICES}
    return await _waiting_page(visit, waiting, 200, Form(chosen))


async def confirm(visit: Visit) -> Response:
    """Make a revision of a waiting upload."""
    values = typed(await visit.form())
    try:
        waiting = _find(visit)
    except ServiceError as error:
        return await _page(visit, error.http_status, refused_by_service(values, error, FIELDS))
    async with waiting.lock:  # the button may be pressed twice
        if waiting.submission:
            return visit.go(f"/organise/{waiting.submission}")
        return await _make_revision(visit, waiting, values)


async def _make_revision(visit: Visit, waiting: Upload, values: Mapping[str, str]) -> Response:
    name = visit.benchmark
    newest = await _newest(visit)
    if values.get("after") != str(newest["revision"] if newest else 0):
        form = Form(values, message="Another revision was made meanwhile: check the changes again.")
        return await _waiting_page(visit, waiting, 409, form)
    source = await _source(visit, waiting)
    try:
        requests = _requests(name, values, source.annotations)
        [answer] = [one async for one in visit.stream("BenchmarkService/UploadTruth", requests)]
    except ServiceError as error:
        if error.code not in {"INVALID_ARGUMENT", "RESOURCE_EXHAUSTED"}:
            raise
        form = refused_by_service(values, error, FIELDS)
        return await _waiting_page(visit, waiting, error.http_status, form)
    waiting.submission = f"{name}/truth/{answer['revision']['revision']}"
    visit.site.truths.discard(waiting)
    return visit.go(f"/organise/{waiting.submission}")


async def drop(visit: Visit) -> Response:
    """Discard a waiting upload."""
    await visit.form()
    visit.site.truths.discard(_find(visit))
    return visit.go(f"/organise/{visit.benchmark}/truth")


def _find(visit: Visit) -> Upload:
    upload = visit.request.path_params["upload"]
    return visit.site.truths.find(upload, visit.visitor.session, visit.benchmark)


def _url(waiting: Upload) -> str:
    """Path of an upload's page."""
    return f"/organise/{waiting.benchmark}/truth/uploads/{waiting.upload}"


async def _newest(visit: Visit) -> dict[str, Any] | None:
    """The newest revision; None for none.

    Raises:
        ServiceError: If the visitor is not an organiser.
    """
    rpc = "BenchmarkService/ListTruthRevisions"
    found = await visit.call(rpc, benchmark=visit.benchmark, page_size=1)
    return next(iter(found["revisions"]), None)


async def _source(visit: Visit, waiting: Upload) -> Source:
    """Read the file of an upload; only a few at once, because each is in memory.

    Raises:
        InputError: With every fault.
    """
    async with visit.site.truths.reader(ORGANISERS_TEAM):
        return await asyncio.to_thread(_read, waiting.path, waiting.typed.input_format)


async def _revision(visit: Visit, name: str, number: int) -> AsyncGenerator[Annotations, None]:
    """A revision of the truth, batch by batch."""
    async for response in visit.ask("BenchmarkService/ReadTruth", benchmark=name, revision=number):
        if response["truth"] is not None:
            yield response["truth"]


async def _waiting_page(visit: Visit, waiting: Upload, status: int, form: Form) -> Response:
    newest = await _newest(visit)
    benchmark = await visit.hosted()
    before: list[Annotations] = []
    if newest is not None:
        number = newest["revision"]
        before = [batch async for batch in _revision(visit, waiting.benchmark, number)]
    source = await _source(visit, waiting)
    sequences = benchmark["specification"]["sequences"]
    merge = bool(form.value("merge"))
    found = await asyncio.to_thread(_compared, waiting, source, before, sequences, merge)
    return await visit.render(
        "organise/truth_upload.html",
        status,
        benchmark=benchmark,
        form=form,
        waiting=waiting,
        url=_url(waiting),
        newest=newest,
        found=found,
        preview=found.preview,
        most_rows=MOST_ROWS,
    )


def _compared(
    waiting: Upload,
    source: Source,
    batches: Sequence[Annotations],
    sequences: Sequence[Mapping[str, Any]],
    merge: bool,
) -> WaitingTruth:
    truth, before = source.annotations, concatenate(batches) if batches else None
    after = merged(before, truth) if merge else truth
    preview = Preview(sequences)
    preview.add(truth)
    changes = changes_of(before, after)
    warnings = (*source.warnings, *warnings_of_side(Side.TRUTH, truth))
    return WaitingTruth(
        preview,
        changes,
        change_sentence(changes),
        label_changes(before, after),
        *doubts_and_notes(warnings, source, waiting.path),
    )


def _read(path: Path, format_name: str) -> Source:
    try:
        return read_source(path, Side.TRUTH, format_name=format_name, limits=LIMITS)
    except InputError as error:
        # Do not reveal the folder on the server.
        raise InputError([_shown(fault, path) for fault in error.faults]) from None


def _shown(fault: Fault, path: Path) -> Fault:
    texts = {
        name: on_page(text, path)
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
    for start, stop in cuts(truth, AT_ONCE):
        yield {"truth": truth.frame_run(start, stop)}
    yield {"end": {"frame_count": truth.frame_count}}


async def preview(visit: Visit) -> Response:
    """The contents of a revision, and its first frames."""
    name = visit.benchmark
    number = min(visit.request.path_params["revision"], MOST_REVISIONS)
    benchmark = await visit.hosted()
    made = Preview(benchmark["specification"]["sequences"])
    async with aclosing(_revision(visit, name, number)) as batches:
        async for batch in batches:
            await asyncio.to_thread(made.add, batch)
            if made.is_full:
                break
    return await visit.render(
        "organise/truth_preview.html", benchmark=benchmark, number=number, preview=made
    )


async def _page(visit: Visit, status: int, form: Form) -> Response:
    name = visit.benchmark
    newest = await _newest(visit)
    benchmark = await visit.hosted()
    waiting = visit.site.truths.waiting(visit.visitor.session, name)
    return await visit.render(
        "organise/truth.html",
        status,
        benchmark=benchmark,
        form=form,
        formats=[AUTO, *FORMATS],
        newest=newest,
        waiting=[(one, _url(one)) for one in waiting],
    )


_TRUTH = "/organise/benchmarks/{benchmark}/truth"
_OF_UPLOAD = f"{_TRUTH}/uploads/{{upload}}"

ROUTES = (
    (_TRUTH, show, "GET"),
    (_TRUTH, upload, "POST"),
    (f"{_TRUTH}/{{revision:int}}", preview, "GET"),
    (_OF_UPLOAD, look, "GET"),
    (_OF_UPLOAD, confirm, "POST"),
    (f"{_OF_UPLOAD}/drop", drop, "POST"),
)
