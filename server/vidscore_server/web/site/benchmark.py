"""The list of benchmarks, and one benchmark: evaluators, rules, how to take part, first rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from starlette.responses import PlainTextResponse, Response

from vidscore_evaluators.formats.manifest import write_document
from vidscore_server.web.site import sign_in
from vidscore_server.web.site.benchmark_words import (
    CLOSED,
    domains_of,
    frames_text,
    judges_of,
    labels_of,
    short_name,
    state_text,
    title_of,
    when_text,
)
from vidscore_server.web.site.board import View
from vidscore_server.web.site.board_view import board_view
from vidscore_server.web.site.markdown import html_of
from vidscore_server.web.site.phrases import counted, date_text, last_part, listed, time_text
from vidscore_server.web.site.policy_words import sentences
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_words import left_text
from vidscore_server.web.site.take_part import Entry, check_command, next_name, programs
from vidscore_server.web.site.visit import Account, Visit

BENCHMARKS_LISTED = 50
"""Number of benchmarks on one page."""

FIRST_ROWS = 5
"""Number of rows of the board on the page."""

NAMES_LOOKED_AT = 200
"""Number of newest submissions of a team that are searched for a free name."""

LABELS_LISTED = 200

_SHAPES = {
    "point": "points",
    "box": "upright boxes",
    "quadrilateral": "shapes of four corners",
}


async def show_all(visit: Visit) -> Response:
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


async def show(visit: Visit) -> Response:
    """One benchmark."""
    found = await visit.benchmark_and_quotas()
    benchmark, account = found["benchmark"], await visit.account()
    judges = await judges_of(benchmark)
    labels = labels_of(benchmark, judges)
    entry = await _entry(visit, benchmark, account, labels)
    closed = state_text(benchmark, visit.site.clock()) == CLOSED
    board = await _first_rows(visit, benchmark, account)
    return await visit.render(
        "benchmark.html",
        benchmark=benchmark,
        name=short_name(benchmark),
        title=title_of(benchmark),
        description=html_of(benchmark["description"]),
        facts=list(facts(visit, benchmark)),
        judges=judges,
        labels=labels[:LABELS_LISTED],
        further_labels=max(0, len(labels) - LABELS_LISTED),
        rules=sentences(benchmark),
        left="" if closed else left_text(found["quotas"]),
        closed=closed,
        check=check_command(entry),
        programs=programs(entry),
        board=board,
    )


async def show_toml(visit: Visit) -> Response:
    """The file of a benchmark, for organisers only, because others do not see all of it."""
    benchmark = await visit.hosted()
    if not (await visit.account()).is_organiser:
        raise ServiceError(
            "PERMISSION_DENIED",
            "PERMISSION_DENIED",
            "Only organisers get the file of a benchmark: it has all of its definition.",
        )
    file = f'attachment; filename="{short_name(benchmark)}.toml"'
    return PlainTextResponse(
        write_document(benchmark["document"]),
        headers={"Content-Disposition": file},
        media_type="application/toml",
    )


def facts(visit: Visit, benchmark: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Facts below the title: name and value."""
    now = visit.site.clock()
    opening, closing = benchmark["open_time"], benchmark["close_time"]
    yield "Now", state_text(benchmark, now)
    if opening:
        yield ("Opens", time_text(opening)) if now < opening else ("Opened", date_text(opening))
    if closing:
        yield "Closed" if now >= closing else "Open until", time_text(closing)
    frames = frames_text(benchmark)
    if frames:
        yield "Videos", frames
    domains = domains_of(benchmark)
    if domains:
        yield "Domains", listed(domains) if len(domains) <= 4 else f"{len(domains):,}"
    shape = _SHAPES.get(benchmark["detection_geometry"])
    if shape:
        yield "Detections", shape
    if benchmark["team_count"]:
        yield "Teams", f"{benchmark['team_count']:,}"


async def _entry(
    visit: Visit, benchmark: Mapping[str, Any], account: Account, labels: list[str]
) -> Entry:
    """The values in the commands of the page."""
    sequences = benchmark["specification"]["sequences"]
    example = sequences[0] if sequences else {"name": "street", "domain": ""}
    return Entry(
        server=visit.grpc_address,
        site=visit.site.address.base_url or visit.site.address.origin(visit.request),
        tls=visit.site.address.secure,
        benchmark=short_name(benchmark),
        submission=await _next_name(visit, benchmark, account),
        shape=benchmark["detection_geometry"] or "box",
        sequence=example["name"],
        domain=example["domain"] or next(iter(domains_of(benchmark)), ""),
        label=labels[0] if labels else "",
        live=benchmark["live"] is not None,
    )


async def _next_name(visit: Visit, benchmark: Mapping[str, Any], account: Account) -> str:
    if not account.submits:
        return "run-1"
    page = await visit.call(
        "SubmissionService/ListSubmissions",
        benchmark=benchmark["name"],
        page_size=NAMES_LOOKED_AT,
    )
    taken = [last_part(entry["name"]) for entry in page["submissions"]]
    return next_name(account.team or "organiser", taken)


async def _first_rows(
    visit: Visit, benchmark: Mapping[str, Any], account: Account
) -> dict[str, Any] | None:
    """The top of the board; None if the visitor may not see it."""
    try:
        # The whole first page, as for the board, because heads count the systems of a tier.
        answer = await visit.call(
            "BenchmarkService/GetLeaderboard", benchmark=benchmark["name"], **View().request
        )
    except ServiceError as error:
        if error.reason != "NOT_RELEASED":
            raise
        return None
    shown = min(FIRST_ROWS, len(answer["rows"]))
    of = counted(answer["total_size"], "team")
    caption = f"The first {counted(shown, 'row')} of {of}." if answer["total_size"] > shown else ""
    return {"view": board_view(answer, account.team, FIRST_ROWS), "caption": caption}


ROUTES = (
    ("/benchmarks", show_all, "GET"),
    ("/benchmarks/{benchmark}", show, "GET"),
    ("/benchmarks/{benchmark}/benchmark.toml", show_toml, "GET"),
)
