"""The first page of organisers: benchmarks, queue and store; and its backups."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from starlette.responses import Response, StreamingResponse

from vidscore_server.web.site.phrases import counted
from vidscore_server.web.site.visit import Visit

STATE_WORDS = {
    "open": "draft",
    "receiving": "receives frames",
    "sealed": "waits to be scored",
    "waiting_for_truth": "waits for ground truth",
    "scoring": "is scored",
    "scored": "scored",
    "failed": "failed",
    "cancelled": "cancelled",
}
"""States of submissions in words."""

MOST_LISTED = 200
"""Maximum number of entries of a table without pages."""


async def show(visit: Visit) -> Response:
    """Benchmarks, queue and store."""
    queue = await visit.call("ServerService/GetQueue", page_size=MOST_LISTED)
    server = await visit.server()
    found = [
        entry
        async for entry in visit.pages(
            "BenchmarkService/ListBenchmarks", "benchmarks", page_size=100
        )
    ]
    return await visit.render(
        "organise/overview.html",
        benchmarks=found,
        running=await running_operations(visit),
        queue=queue,
        store=server["store"],
        lede=queue_sentence(queue["counts"]),
        state_words=STATE_WORDS,
    )


async def running_operations(visit: Visit) -> list[dict[str, Any]]:
    """Unfinished long work: re-scorings and examinations."""
    found = [
        entry
        async for entry in visit.pages(
            "google.longrunning.Operations/ListOperations",
            "operations",
            name="operations",
            page_size=1000,
        )
        if not entry["done"]
    ]
    return found[:MOST_LISTED]


async def show_queue(visit: Visit) -> Response:
    """The queue alone, for refreshes of the page."""
    if not visit.is_part:
        return visit.go("/organise")
    queue = await visit.call("ServerService/GetQueue", page_size=MOST_LISTED)
    return await visit.render("organise/_queue.html", queue=queue, state_words=STATE_WORDS)


def queue_sentence(counts: Sequence[Mapping[str, Any]]) -> str:
    """The waiting, running and failed submissions, in a sentence.

    Args:
        counts: Numbers of submissions by state.
    """
    numbers = {entry["state"]: entry["count"] for entry in counts}
    waiting = numbers.get("sealed", 0) + numbers.get("waiting_for_truth", 0)
    parts = [
        f"{counted(number, 'submission')} {one if number == 1 else several}"
        for number, one, several in (
            (numbers.get("scoring", 0), "is being scored", "are being scored"),
            (waiting, "waits", "wait"),
            (numbers.get("failed", 0), "has failed", "have failed"),
        )
        if number
    ]
    text = ", ".join(parts) or "no submission waits, runs or has failed"
    return f"{text[:1].upper()}{text[1:]}."


# --- Backups, downloaded while they are made


async def show_backup(visit: Visit) -> Response:
    """The contents of a backup, and its download."""
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers only
    return await visit.render("organise/backup.html", store=(await visit.server())["store"])


async def download(visit: Visit) -> Response:
    """The backup of a benchmark, or of the whole site."""
    benchmark = visit.request.path_params.get("benchmark", "")
    name = f"benchmarks/{benchmark}" if benchmark else ""
    chunks = visit.ask("ServerService/ExportBackup", benchmark=name)
    # A refusal has to come before the answer begins.
    first = await anext(chunks, None)

    async def body() -> AsyncIterator[bytes]:
        if first is not None:
            yield first["chunk"]
        async for response in chunks:
            yield response["chunk"]

    file = f"{benchmark or 'site'}.vidscore-backup"
    headers = {"Content-Disposition": f'attachment; filename="{file}"'}
    return StreamingResponse(body(), media_type="application/octet-stream", headers=headers)


ROUTES = (
    ("/organise", show, "GET"),
    ("/organise/queue", show_queue, "GET"),
    ("/organise/backup", show_backup, "GET"),
    ("/organise/backup/site.vidscore-backup", download, "GET"),
    ("/organise/backup/benchmarks/{benchmark}.vidscore-backup", download, "GET"),
)
