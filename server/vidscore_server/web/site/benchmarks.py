"""The list of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from starlette.responses import Response

from vidscore_evaluators.explanation.answer import in_words
from vidscore_server.web.site import sign_in
from vidscore_server.web.site.phrases import counted, time_text
from vidscore_server.web.site.visit import Visit

BENCHMARKS_LISTED = 50
"""Benchmarks on one page."""

CLOSED = "closed"
"""State of a benchmark that takes no more submissions."""

_SPANS = {"submissions_per_day": "today", "submissions_in_all": "in all"}
"""Quotas on a team's submissions, and for how long each counts."""


async def show(visit: Visit) -> Response:
    """The benchmarks that the visitor may see."""
    token = visit.request.query_params.get("page", "")
    page = await visit.call(
        "BenchmarkService/ListBenchmarks", page_size=BENCHMARKS_LISTED, page_token=token
    )
    if not page["benchmarks"] and not visit.visitor.session:
        return sign_in.redirect(visit)
    account = await visit.account()
    now = visit.site.clock()
    rows = []
    for benchmark in page["benchmarks"]:
        state = state_text(benchmark, now)
        quotas = []
        if account.team:
            found = await visit.call("BenchmarkService/GetBenchmark", name=benchmark["name"])
            quotas = found["quotas"]
        rows.append(
            {
                "url": f"/{benchmark['name']}",
                "title": title_of(benchmark),
                "name": short_name(benchmark),
                "state": state,
                "when": when_text(benchmark, now),
                "teams": benchmark["team_count"],
                "left": "" if state == CLOSED else left_text(quotas),
            }
        )
    return await visit.render("benchmarks.html", rows=rows, next_page=page["next_page_token"])


def short_name(benchmark: Mapping[str, Any]) -> str:
    """The last part of a benchmark's name."""
    return str(benchmark["name"]).removeprefix("benchmarks/")


def title_of(benchmark: Mapping[str, Any]) -> str:
    """What a benchmark is called: its title, or its name where it has none."""
    return benchmark["specification"]["title"] or short_name(benchmark)


def state_text(benchmark: Mapping[str, Any], now: datetime) -> str:
    """Whether submissions are taken."""
    opening, closing = benchmark["open_time"], benchmark["close_time"]
    if closing and now >= closing:
        return CLOSED
    return "not open yet" if opening and now < opening else "open"


def when_text(benchmark: Mapping[str, Any], now: datetime) -> str:
    """The date that matters to whoever comes now; empty for none."""
    opening, closing = benchmark["open_time"], benchmark["close_time"]
    if opening and now < opening:
        return f"opens {time_text(opening)}"
    if not closing:
        return ""
    return f"{'closed' if now >= closing else 'open until'} {time_text(closing)}"


def left_text(quotas: list[dict[str, Any]]) -> str:
    """What a team has left: ``two of three submissions today``; empty where nothing limits it."""
    return ", ".join(
        f"{in_words(quota['left']) if quota['left'] else 'none'} of "
        f"{counted(quota['maximum'], 'submission')} {_SPANS[quota['name']]}"
        for quota in quotas
        if quota["name"] in _SPANS
    )


ROUTES = (("/benchmarks", show, "GET"),)
