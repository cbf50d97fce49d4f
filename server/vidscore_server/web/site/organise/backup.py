"""Backups, downloaded as they are made."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

from vidscore_server.web.site.visit import Visit


async def show(visit: Visit) -> Response:
    """What a backup holds, and where it is downloaded."""
    await visit.call("ServerService/GetQueue", page_size=1)  # for organisers alone
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
    ("/organise/backup", show, "GET"),
    ("/organise/backup/site.vidscore-backup", download, "GET"),
    ("/organise/backup/benchmarks/{benchmark}.vidscore-backup", download, "GET"),
)
