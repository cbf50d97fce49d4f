"""The list of benchmarks."""

from __future__ import annotations

from starlette.responses import Response

from vidscore_server.web.site.visit import Visit


async def show(visit: Visit) -> Response:
    """All benchmarks that the visitor may see."""
    found = [
        entry
        async for entry in visit.pages(
            "BenchmarkService/ListBenchmarks", "benchmarks", page_size=100
        )
    ]
    return await visit.render("benchmarks.html", benchmarks=found)


ROUTES = (("/benchmarks", show, "GET"),)
