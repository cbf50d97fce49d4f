"""Submit a file: upload, check, and then one button; nothing is created before."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace
from starlette.datastructures import UploadFile
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response

from vidscore_evaluators.annotations import with_arity
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import AUTO, FORMATS
from vidscore_evaluators.submitting import STREAM_PREFIX
from vidscore_server.domain.access import ORGANISERS_TEAM
from vidscore_server.domain.definition import ARITY_OF_NAME
from vidscore_server.web.site.checking import (
    Checked,
    FileFrames,
    checked_file,
    held_to_benchmark,
    read_bounded,
    refused_file,
)
from vidscore_server.web.site.sending import (
    Destination,
    begun_before,
    discard_draft,
    open_destination,
    seal,
    send_frames,
    stream_of,
    what_stopped,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.spool import (
    CHUNK_BYTES,
    FULL,
    GONE,
    FileFacts,
    Typed,
    Upload,
    UploadLimits,
    chunks_of,
)
from vidscore_server.web.site.submission_files import SMALL_FORM_BYTES
from vidscore_server.web.site.submission_words import TAKES_FRAMES, quota_sentence
from vidscore_server.web.site.visit import Visit

FORM_OVERHEAD_BYTES = 1 << 16
"""Maximum bytes of a form besides its file."""

WAIT_S = 2.0
"""Time for which an answer waits for a check; if it takes longer, the page polls."""

KEY_HEADER = "x-form-key"
MOST_TYPED = 200

_NOT_NOW = frozenset({"FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"})


async def show(visit: Visit) -> Response:
    """The form for a file."""
    return await _form(visit, 200, Typed())


async def take(visit: Visit) -> Response:
    """Receive a whole file in a form, as browsers send it without a script."""
    await _admit(visit)
    spool = visit.site.spool
    try:
        with spool.coming(await _team(visit), visit.stated_bytes):
            fields = await visit.form(spool.limits.maximum_bytes + FORM_OVERHEAD_BYTES)
    except ServiceError as error:
        if error.reason != FULL:
            raise
        return await _form(visit, error.http_status, Typed(), error)
    typed = _typed(fields)
    file = fields.get("file")
    if not isinstance(file, UploadFile) or not file.filename:
        refused = ServiceError("INVALID_ARGUMENT", "INPUT", "Choose a file first.")
        return await _form(visit, 400, typed, refused)
    facts = FileFacts(file.filename, file.size or 0)
    try:
        upload = await _begin(visit, facts, typed)
        await spool.append(upload, 0, chunks_of(file))
    except ServiceError as error:
        return await _form(visit, error.http_status, typed, error)
    finally:
        await file.close()
    return visit.go(upload.url)


async def begin(visit: Visit) -> Response:
    """Reserve room for a file that a script sends in pieces, or find its begun upload."""
    try:
        await _admit(visit)
        fields = await visit.form(maximum_bytes=SMALL_FORM_BYTES)
        size = str(fields.get("size", ""))
        facts = FileFacts(
            str(fields.get("file_name", ""))[:1000],
            int(size) if size.isdecimal() and len(size) < 20 else 0,
            str(fields.get("modified", ""))[:MOST_TYPED],
        )
        upload = await _begin(visit, facts, _typed(fields))
    except ServiceError as error:
        return JSONResponse({"message": error.message}, error.http_status)
    answer = {"path": upload.url, "offset": upload.received, "chunk_bytes": CHUNK_BYTES}
    return JSONResponse(answer)


async def add(visit: Visit) -> Response:
    """Add a piece to a file; the answer has the offset up to which it was received."""
    try:
        visit.refuse_without_key(visit.request.headers.get(KEY_HEADER))
        await visit.account()  # a session ends with its token
        upload = _find(visit)
        text = visit.request.query_params.get("offset", "")
        offset = int(text) if text.isdecimal() and len(text) < 20 else -1
        before = upload.received
        async with aclosing(visit.body(visit.site.spool.limits.maximum_bytes)) as pieces:
            now = await visit.site.spool.append(upload, offset, pieces)
    except ClientDisconnect:
        return Response(status_code=499)  # nobody reads the answer; received bytes are kept
    except ServiceError as error:
        return JSONResponse({"message": error.message}, error.http_status)
    return JSONResponse({"offset": now}, 200 if offset == before else 409)


async def look(visit: Visit) -> Response:
    """A waiting file: its progress, its faults, or the button to submit it."""
    try:
        upload = _find(visit)
    except ServiceError as error:
        return await _again(visit, error)
    if upload.submission and upload.failure is None:
        return visit.go(f"/{upload.submission}")
    return await _page(visit, upload)


async def submit(visit: Visit) -> Response:
    """Submit a checked file."""
    fields = await visit.form(maximum_bytes=SMALL_FORM_BYTES)
    try:
        upload = _find(visit)
    except ServiceError as error:
        return await _again(visit, error)
    checked = await _checked(visit, upload) if upload.whole else None
    if checked is None or checked.faults:
        return visit.go(upload.url)
    if not upload.submission:
        upload.typed = replace(
            upload.typed, name=_text(fields, "name"), title=_text(fields, "title")
        )
    if checked.doubts and fields.get("accept") != "yes":
        return await _page(visit, upload, 400, not_accepted=True)
    try:
        submission = await _begin_sending(visit, upload, checked)
    except ServiceError as error:
        if error.http_status not in {400, 409, 429}:
            raise
        return await _page(visit, upload, error.http_status, refused=error)
    return visit.go(f"/{submission}")


async def discard(visit: Visit) -> Response:
    """Discard a waiting file."""
    await visit.form(maximum_bytes=SMALL_FORM_BYTES)
    visit.site.spool.discard(_find(visit))
    return visit.go(f"/{visit.benchmark}/submit")


# --- Waiting files


def _find(visit: Visit) -> Upload:
    upload = visit.request.path_params["upload"]
    return visit.site.spool.find(upload, visit.visitor.session, visit.benchmark)


async def _admit(visit: Visit) -> None:
    """Admit a visitor who may submit now, or has a file to continue.

    Raises:
        ServiceError: If the benchmark takes no submission of the visitor.
    """
    if (await visit.hosted())["live"] is not None:
        raise ServiceError(
            "FAILED_PRECONDITION",
            "LIVE_BENCHMARK",
            "The benchmark is live: it takes frames only by its clock. Its page says how.",
        )
    try:
        await visit.call("SubmissionService/CheckDetections", benchmark=visit.benchmark)
    except ServiceError as error:
        if error.code != "RESOURCE_EXHAUSTED" or not await _may_go_on(visit):
            raise


async def _may_go_on(visit: Visit) -> bool:
    """Whether a submission of the visitor's team has begun to receive a file."""
    page = await visit.call(
        "SubmissionService/ListSubmissions",
        benchmark=visit.benchmark,
        team=await _team(visit),
        state="receiving",
        page_size=100,
    )
    streams = [stream for found in page["submissions"] for stream in found["streams"]]
    return any(stream["stream"].startswith(STREAM_PREFIX) for stream in streams)


async def _begin(visit: Visit, file: FileFacts, typed: Typed) -> Upload:
    team = await _team(visit)
    session = visit.visitor.session
    return visit.site.spool.begin(session, team, visit.benchmark, file, typed)


async def _team(visit: Visit) -> str:
    return (await visit.account()).team or ORGANISERS_TEAM


def _typed(fields: Mapping[str, Any]) -> Typed:
    chosen = _text(fields, "input_format")
    return Typed(
        chosen if chosen in FORMATS else AUTO,
        _text(fields, "confidence_scale"),
        _text(fields, "name"),
        _text(fields, "title"),
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    return str(fields.get(name, "")).strip()[:MOST_TYPED]


async def _checked(visit: Visit, upload: Upload) -> Checked | None:
    """The result of a file's check; None while it runs.

    Raises:
        ServiceError: If the check failed.
    """
    task = upload.work.get("check")
    if task is None:
        task = upload.work["check"] = asyncio.create_task(_check(visit, upload))
    await asyncio.wait({task}, timeout=WAIT_S)
    if task.done() and (task.cancelled() or task.exception() is not None):
        upload.work.pop("check", None)  # the next request tries again
    if not task.done() or task.cancelled():
        return None
    found: Checked = task.result()
    return found


async def _check(visit: Visit, upload: Upload) -> Checked:
    spool = visit.site.spool
    benchmark = await visit.hosted()
    async with spool.reader(upload.team):
        try:
            read = await _read(upload, benchmark, spool.limits)
        except InputError as error:
            return refused_file(error, upload.path)
        checked = await asyncio.to_thread(checked_file, read, upload.path)
        return await held_to_benchmark(checked, read, upload.benchmark, visit.call, spool.limits)


_FOUND_NOTHING = {
    True: "a system that found nothing is submitted with vidscore submit --allow-empty",
    False: "list the frames without detections, as JSON lines do, or CSV with empty coordinates",
}
"""Advice about a file without rows, by whether the specification names sequences."""


async def _read(upload: Upload, benchmark: Mapping[str, Any], limits: UploadLimits) -> FileFrames:
    """The frames of a file; without detections, they get the benchmark's shape."""
    names = [entry["name"] for entry in benchmark["specification"]["evaluators"]]
    read = await read_bounded(upload.path, upload.typed, names, limits)
    if not read.frames.frame_count:
        advice = _FOUND_NOTHING[bool(benchmark["specification"]["sequences"])]
        raise InputError([Fault("no row", "at least one frame", str(upload.path), advice=advice)])
    arity = ARITY_OF_NAME.get(benchmark["detection_geometry"])
    return replace(read, frames=with_arity(read.frames, arity))


# --- Sending


async def _begin_sending(visit: Visit, upload: Upload, checked: Checked) -> str:
    """Start or continue to send a file; return its submission once frames are durable.

    Raises:
        ServiceError: If it is refused before anything is stored.
    """
    async with upload.lock:  # the button may be pressed twice
        if upload.submission and upload.failure is None:
            return upload.submission
        submission, is_whole = upload.submission, False
        if not submission:
            submission, is_whole = await _submission_for(visit, upload, checked)
        if is_whole:
            return submission
        destination = await open_destination(visit.call, submission, checked.stream)
        upload.failure = None
        sent = asyncio.Event()
        task = asyncio.create_task(_send(visit, upload, destination, checked, sent))
        upload.work["send"] = task
        await sent.wait()
        failure: ServiceError | None = upload.failure
        if failure is not None and not upload.submission:
            upload.failure = None
            await discard_draft(visit.call, submission, failure)
            raise failure
        return submission


async def _submission_for(visit: Visit, upload: Upload, checked: Checked) -> tuple[str, bool]:
    """The submission for a file, and whether it already has the whole file."""
    submissions = visit.pages(
        "SubmissionService/ListSubmissions",
        "submissions",
        benchmark=upload.benchmark,
        team=await _team(visit),
        page_size=100,
    )
    found = await begun_before(submissions, checked.stream, upload.typed.name)
    if found is not None:
        stream = stream_of(found, checked.stream)
        is_whole = stream is not None and stream["next_offset"] == checked.frames
        if found["state"] in TAKES_FRAMES or is_whole:
            return found["name"], is_whole and found["state"] not in TAKES_FRAMES
    made = await visit.call(
        "SubmissionService/CreateSubmission",
        benchmark=upload.benchmark,
        submission_id=upload.typed.name,
        title=upload.typed.title,
    )
    return made["submission"]["name"], False


async def _send(
    visit: Visit, upload: Upload, destination: Destination, checked: Checked, sent: asyncio.Event
) -> None:
    """Send a file and seal its submission; record what stops it."""
    spool = visit.site.spool

    upload.frames = checked.frames

    def stored() -> None:
        upload.submission = destination.submission
        sent.set()

    try:
        benchmark = await visit.hosted()
        async with spool.reader(upload.team):
            read = await _read(upload, benchmark, spool.limits)
            await send_frames(visit.call, destination, read.frames, spool.limits, stored)
        await seal(visit.call, destination, checked.frames)
    except Exception as error:  # noqa: BLE001 - nobody else would be told
        upload.failure = what_stopped(error)
    else:
        upload.work.pop("send", None)
        spool.discard(upload)
    finally:
        sent.set()


# --- Pages


async def _form(
    visit: Visit, status: int, typed: Typed, refused: ServiceError | None = None
) -> Response:
    closed = None
    try:
        await _admit(visit)
    except ServiceError as error:
        if error.code not in _NOT_NOW:
            raise
        closed = error
    name = visit.benchmark
    found = await visit.benchmark_and_quotas()
    spool = visit.site.spool
    return await visit.render(
        "submit.html",
        status,
        benchmark=found["benchmark"],
        quotas=quota_sentence(found["quotas"]),
        typed=typed,
        refused=refused,
        closed=closed,
        waiting=spool.waiting(visit.visitor.session, name),
        formats=[(known.name, known.title) for known in FORMATS.values()],
        maximum_bytes=spool.limits.maximum_bytes,
    )


async def _again(visit: Visit, error: ServiceError) -> Response:
    """The form, for a file that no longer waits: the visitor must choose it again."""
    if error.reason != GONE or not (await visit.account()).submits:
        raise error
    return await _form(visit, error.http_status, Typed(), error)


async def _page(
    visit: Visit,
    upload: Upload,
    status: int = 200,
    *,
    refused: ServiceError | None = None,
    not_accepted: bool = False,
) -> Response:
    checked = await _checked(visit, upload) if upload.whole else None
    found = await visit.benchmark_and_quotas()
    return await visit.render(
        "upload.html",
        status,
        benchmark=found["benchmark"],
        quotas=quota_sentence(found["quotas"]),
        upload=upload,
        checked=checked,
        refused=refused or upload.failure,
        not_accepted=not_accepted,
        formats=[(known.name, known.title) for known in FORMATS.values()],
        typed=upload.typed,
        maximum_bytes=visit.site.spool.limits.maximum_bytes,
    )


_OF_BENCHMARK = "/benchmarks/{benchmark}"
_OF_UPLOAD = f"{_OF_BENCHMARK}/uploads/{{upload}}"

ROUTES = (
    (f"{_OF_BENCHMARK}/submit", show, "GET"),
    (f"{_OF_BENCHMARK}/submit", take, "POST"),
    (f"{_OF_BENCHMARK}/uploads", begin, "POST"),
    (_OF_UPLOAD, look, "GET"),
    (_OF_UPLOAD, add, "PUT"),
    (_OF_UPLOAD, submit, "POST"),
    (f"{_OF_UPLOAD}/discard", discard, "POST"),
)
