"""Changes of the times at which a benchmark opens and closes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from vidscore_server.domain.definition import TIMES
from vidscore_server.web.site.forms import Form, read_utc, typed
from vidscore_server.web.site.organise.updates import (
    is_overtaken,
    organised_benchmark,
    refused_update,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit


async def show(visit: Visit) -> Response:
    """The form."""
    benchmark = await organised_benchmark(visit)
    times = {name: benchmark[name] for name in TIMES}
    # A browser's field of a date and a time has no offset.
    texts = {name: time.isoformat()[:19] for name, time in times.items() if time is not None}
    return await _page(visit, 200, benchmark, Form(texts), benchmark["etag"])


async def change(visit: Visit) -> Response:
    """Save the times."""
    values = typed(await visit.form())
    etag = values.pop("etag", "")
    benchmark = await organised_benchmark(visit)
    times, faults = read_utc(values, TIMES)
    if faults:
        return await _page(visit, 400, benchmark, Form(values, faults), etag)
    changed = {"name": benchmark["name"], "etag": etag, **times}
    try:
        await visit.call(
            "BenchmarkService/UpdateBenchmark", benchmark=changed, update_mask=list(TIMES)
        )
    except ServiceError as error:
        names = {f"benchmark.{name}": name for name in TIMES}
        form = refused_update(values, error, names, {})  # the page has both times above the form
        etag = benchmark["etag"] if is_overtaken(error) else etag
        return await _page(visit, error.http_status, benchmark, form, etag)
    return visit.go(f"/organise/{benchmark['name']}")


async def _page(
    visit: Visit, status: int, benchmark: Mapping[str, Any], form: Form, etag: str
) -> Response:
    return await visit.render(
        "organise/times.html", status, benchmark=benchmark, form=form, etag=etag
    )


ROUTES = (
    ("/organise/benchmarks/{benchmark}/times", show, "GET"),
    ("/organise/benchmarks/{benchmark}/times", change, "POST"),
)
