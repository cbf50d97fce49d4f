"""The board of a benchmark: each view has a URL, as a page, as CSV and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import JSONResponse, PlainTextResponse, Response

from vidscore_evaluators.explanation.titles import measure_title
from vidscore_evaluators.figures.curves import CurveChart
from vidscore_evaluators.figures.report_curves import choose_curves
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.report import Report, Scores
from vidscore_server.domain.policy import Visibility
from vidscore_server.web.charts import MOST_CHARTS, chart_context
from vidscore_server.web.site.benchmark_words import (
    CLOSED,
    Judge,
    domains_of,
    judges_of,
    labels_of,
    short_name,
    state_text,
    title_of,
)
from vidscore_server.web.site.board_view import board_view, measures_of, tiers_text, weaknesses
from vidscore_server.web.site.phrases import counted, shortened, time_text
from vidscore_server.web.site.service import FieldFault, ServiceError
from vidscore_server.web.site.submission_report import curve_of
from vidscore_server.web.site.submission_words import left_text
from vidscore_server.web.site.visit import Visit

ROWS = 100
"""Number of rows on one page: at least the systems in tiers, which stay on the first page."""

NOT_RELEASED = "NOT_RELEASED"


class View(Struct, frozen=True):
    """A view of a board.

    Attributes:
        evaluator: Evaluator whose scores rank; empty for the first one.
        domain: The domain; empty for all.
        label: The label; empty for all.
        page: Token of the page; empty for the first.
    """

    evaluator: str = ""
    domain: str = ""
    label: str = ""
    page: str = ""

    @classmethod
    def of(cls, query: Mapping[str, str]) -> View:
        """The view of a URL."""
        return cls(*(query.get(name, "").strip() for name in _NAMES))

    @property
    def query(self) -> str:
        """The view as the end of a URL: ``?label=car``; empty for the first page of everything."""
        pairs = [(name, value) for name in _NAMES if (value := getattr(self, name))]
        return f"?{urlencode(pairs)}" if pairs else ""

    @property
    def request(self) -> dict[str, Any]:
        """The fields of GetLeaderboard that it sets."""
        return {
            "evaluator": self.evaluator,
            "domain": self.domain or None,
            "label": self.label or None,
            "page_token": self.page,
            "page_size": ROWS,
        }


_NAMES = ("evaluator", "domain", "label", "page")


async def show(visit: Visit) -> Response:
    """The board as a page."""
    view = View.of(visit.request.query_params)
    found = await visit.benchmark_and_quotas()
    benchmark, account = found["benchmark"], await visit.account()
    judges = await judges_of(benchmark)
    answer, refusal, faults = await _answer(visit, view)
    state = state_text(benchmark, visit.site.clock())
    visibility = Visibility(benchmark["policy"]["visibility"] or Visibility.LADDER)
    shared = {
        "benchmark": benchmark,
        "name": short_name(benchmark),
        "title": title_of(benchmark),
        "view": view,
        "evaluators": [(judge.name, f"{judge.name} {judge.version}") for judge in judges],
        "domains": [(name, name) for name in domains_of(benchmark)],
        "labels": [(name, name) for name in labels_of(benchmark, judges)],
        "sees_parts": account.is_organiser or not visibility.is_ladder,
        "closes": benchmark["close_time"] and time_text(benchmark["close_time"]),
        "state": state,
        "left": "" if state == CLOSED else left_text(found["quotas"]),
        "faults": faults,
        "refusal": refusal,
    }
    if answer is None:
        return await visit.render("board.html", 403 if refusal else 400, board=None, **shared)
    return await visit.render(
        "board.html",
        board=board_view(answer, account.team),
        caption=caption(view, answer, judges),
        next_page=answer["next_page_token"]
        and View(view.evaluator, view.domain, view.label, answer["next_page_token"]),
        submissions=answer["submission_count"],
        charts=charts(answer, _evaluator_of(view, judges)),
        weaknesses=weaknesses(benchmark, answer, closed=state == CLOSED),
        tiers_note=tiers_text(answer),
        **shared,
    )


async def show_csv(visit: Visit) -> Response:
    """All rows of a view as CSV."""
    header, rows = table(await _every_row(visit, View.of(visit.request.query_params)))
    return PlainTextResponse(
        csv_text(header, rows), headers=_attached(visit, "csv"), media_type="text/csv"
    )


async def show_json(visit: Visit) -> Response:
    """All rows of a view as JSON."""
    view = View.of(visit.request.query_params)
    answer = await _every_row(visit, view)
    header, rows = table(answer)
    benchmark = await visit.hosted()
    document = {
        "benchmark": visit.benchmark,
        "evaluator": _evaluator_of(view, await judges_of(benchmark)),
        "domain": view.domain or None,
        "label": view.label or None,
        "ranking": answer["ranking"],
        "truth_revision": answer["truth_revision"],
        "rows": [dict(zip(header, row, strict=True)) for row in rows],
    }
    return JSONResponse(document, headers=_attached(visit, "json"))


def table(answer: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The columns and rows of a page of a board, with all digits.

    Args:
        answer: The answer of GetLeaderboard.
    """
    further = [
        name
        for name in ("tier", "first_probability", "disqualification")
        if any(row.get(name) not in {None, ""} for row in answer["rows"])
    ]
    measures = measures_of(answer)
    header = ["rank", "team", "title", *measures, *further, "submissions", "truth_revision"]
    rows = []
    for row in answer["rows"]:
        values = {score["measure"]: score["value"] for score in row["scores"]}
        rows.append(
            [
                row["rank"] or None,
                row["team"],
                row["title"],
                *(values.get(name) for name in measures),
                *(row.get(name) for name in further),
                row["submission_count"],
                row["truth_revision"],
                row["evaluator_version"],
                row["seal_time"] and row["seal_time"].isoformat(),
            ]
        )
    return [*header, "evaluator_version", "submitted"], rows


def caption(view: View, answer: Mapping[str, Any], judges: Sequence[Judge]) -> str:
    """Caption of the table, a sentence or two."""
    name, first = _evaluator_of(view, judges), answer["ranking"][0]
    is_lower = any(first in judge.lower for judge in judges if judge.name == name)
    order = " Lower values are better." if is_lower else ""
    of = [
        f"{kind} {name}" for kind, name in (("domain", view.domain), ("label", view.label)) if name
    ]
    what = f" over {' and '.join(of)}" if of else ""
    revision = answer["truth_revision"]
    under = f", truth revision {revision}" if revision else ""
    return f"{counted(answer['total_size'], 'team').capitalize()}{what}{under}.{order}"


def charts(answer: Mapping[str, Any], evaluator: str) -> list[dict[str, Any]]:
    """Curves of the first rows as pictures, each with some points as a table.

    Args:
        answer: The answer of GetLeaderboard.
        evaluator: The evaluator of the curves.
    """
    rows = [row for row in answer["rows"] if row["curves"]]
    names = {row["team"]: shortened(row["team"]) for row in rows}
    if len(set(names.values())) < len(names):
        names = {team: team for team in names}
    reports = {names[row["team"]]: _report(evaluator, row["curves"]) for row in rows}
    kinds: dict[str, str] = {}
    for report in reports.values():
        for curve in report.curves:
            kinds.setdefault(curve.kind, curve.name)
    return [
        _chart(reports, name, evaluator, number)
        for number, name in enumerate(list(kinds.values())[:MOST_CHARTS])
    ]


def _chart(reports: Mapping[str, Report], name: str, evaluator: str, number: int) -> dict[str, Any]:
    drawn = choose_curves(reports, name)
    teams = [
        team for team, report in reports.items() for curve in report.curves if curve.name == name
    ]
    title = f"{drawn.title} of {' and '.join(teams)} by {evaluator}"
    chart = CurveChart(title, drawn.x, drawn.y, drawn.lines)
    return chart_context(chart, teams, measure_title(name), evaluator, number)


def _report(evaluator: str, curves: Sequence[Mapping[str, Any]]) -> Report:
    return Report(evaluator, "", {}, "", "", Scores((), tuple(map(curve_of, curves))))


async def _rows(visit: Visit, view: View) -> dict[str, Any]:
    return await visit.call(
        "BenchmarkService/GetLeaderboard", benchmark=visit.benchmark, **view.request
    )


async def _every_row(visit: Visit, view: View) -> dict[str, Any]:
    """The answer to a view with the rows of all its pages."""
    first = page = await _rows(visit, replace(view, page=""))
    rows = [*first["rows"]]
    while token := page["next_page_token"]:
        page = await _rows(visit, replace(view, page=token))
        rows += page["rows"]
    return {**first, "rows": rows}


def _evaluator_of(view: View, judges: Sequence[Judge]) -> str:
    """Name of the evaluator by which a view ranks; empty if it is unknown."""
    return view.evaluator or (judges[0].name if judges else "")


async def _answer(
    visit: Visit, view: View
) -> tuple[dict[str, Any] | None, str, tuple[FieldFault, ...]]:
    """The rows, or why there are none: the policy hides them, or the choice is wrong."""
    try:
        return await _rows(visit, view), "", ()
    except ServiceError as error:
        if error.reason == NOT_RELEASED:
            return None, "".join(_refused(view)), ()
        if error.code != "INVALID_ARGUMENT":
            raise
        return None, "", error.faults or (FieldFault("", error.message),)


def _refused(view: View) -> Iterator[str]:
    """Why a board is not shown."""
    if view.domain or view.label:
        yield "The benchmark releases no scores of single domains and labels."
    else:
        yield "Only the organisers see this board."


def _attached(visit: Visit, ending: str) -> dict[str, str]:
    name = visit.request.path_params["benchmark"]
    return {"Content-Disposition": f'attachment; filename="{name}-board.{ending}"'}


ROUTES = (
    ("/benchmarks/{benchmark}/board", show, "GET"),
    ("/benchmarks/{benchmark}/board.csv", show_csv, "GET"),
    ("/benchmarks/{benchmark}/board.json", show_json, "GET"),
)
