"""Trust: start an examination of a benchmark's ranking; its result, which `work` shows."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup
from msgspec import Struct
from msgspec.structs import replace
from starlette.responses import Response

from vidscore_evaluators.figures.markup import MINUS, number_text
from vidscore_evaluators.figures.whisker import whisker_svg
from vidscore_evaluators.trust.systems import title_of
from vidscore_evaluators.trust.tables import TextTable, doubt_of_draws, ranking_tables
from vidscore_server.domain.trust_plans import RANKING
from vidscore_server.web.site.forms import Form, refused_by_service, typed
from vidscore_server.web.site.phrases import value_text
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.visit import Visit

DEFAULTS: Mapping[str, str] = {"draws": "1000", "noise_px": "", "trials": "20", "seed": "1"}

FIELDS: Mapping[str, str] = {
    name: name.rpartition(".")[2] for name in (f"questions.{key}" for key in DEFAULTS)
} | {"comment": "comment"}

MOST_LISTED = 100
LISTED = ("name", "metadata", "done", "error")


async def show(visit: Visit) -> Response:
    """The questions, and the existing examinations."""
    return await _page(visit, 200, Form(DEFAULTS))


async def examine(visit: Visit) -> Response:
    """Start an examination."""
    values = typed(await visit.form())
    questions, faults = read_questions(values)
    if faults:
        return await _page(visit, 400, Form(values, faults, message="Nothing was begun."))
    try:
        operation = await visit.call(
            "TrustService/ExamineRanking",
            benchmark=visit.benchmark,
            questions=questions,
            comment=values.get("comment", ""),
        )
    except ServiceError as error:
        if error.code not in {"INVALID_ARGUMENT", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED"}:
            raise
        return await _page(visit, error.http_status, refused_by_service(values, error, FIELDS))
    return visit.go(f"/organise/{visit.benchmark}/{operation['name']}")


def read_questions(
    values: Mapping[str, str],
) -> tuple[dict[str, float], dict[str, tuple[str, ...]]]:
    """The typed questions, and faults by field."""
    questions: dict[str, float] = {}
    faults: dict[str, tuple[str, ...]] = {}
    for name in DEFAULTS:
        text = values.get(name, "").strip()
        if not text:
            continue
        try:
            questions[name] = float(text) if name == "noise_px" else _integer(text)
        except ValueError:
            expected = "a number" if name == "noise_px" else "an integer of 31 bits"
            faults[name] = (f"Found {text[:80]}, expected {expected}.",)
    return questions, faults


def _integer(text: str) -> int:
    number = int(text)
    if abs(number) >= 1 << 31:
        raise ValueError(text)
    return number


async def _page(visit: Visit, status: int, form: Form) -> Response:
    name = visit.benchmark
    benchmark = await visit.hosted()
    found = [
        {field: entry[field] for field in LISTED}  # its result may be large
        async for entry in visit.pages(
            "google.longrunning.Operations/ListOperations", "operations", name="operations"
        )
        if examines_ranking(entry) and entry["metadata"]["benchmark"] == name
    ]
    found.sort(key=lambda entry: entry["metadata"]["start_time"], reverse=True)
    newest = found[:MOST_LISTED]
    return await visit.render(
        "organise/trust.html", status, benchmark=benchmark, form=form, operations=newest
    )


def examines_ranking(operation: Mapping[str, Any]) -> bool:
    """Whether an operation examines a ranking; tests of criteria have no pages."""
    return str(operation["name"]).startswith(f"operations/{RANKING}-")


class WhiskerRow(Struct, frozen=True):
    """A system with its score and its interval over draws of sequences.

    Attributes:
        system: Its name.
        rank: Its rank.
        value: Its score in words.
        interval: The interval in words; empty without one.
        svg: Picture of both, on the scale of the table.
    """

    system: str
    rank: int
    value: str
    interval: str
    svg: Markup


class WhiskerTable(Struct, frozen=True):
    """A measure of a ranking, best system first."""

    title: str
    measure: str
    scale: tuple[str, str]
    rows: tuple[WhiskerRow, ...]


class TrustView(Struct, frozen=True):
    """The contents of an examination's page.

    Attributes:
        whiskers: Scores with their intervals, one table per ranking.
        tables: All results, as on the command line.
        doubt: Doubt about the intervals; None if there are enough sequences.
    """

    whiskers: tuple[WhiskerTable, ...]
    tables: tuple[TextTable, ...]
    doubt: str | None


def trust_view(document_json: str) -> TrustView:
    """The view of an examination.

    Args:
        document_json: The server's result, as JSON.
    """
    document = json.loads(document_json)
    whiskers = tuple(
        table
        for one in document["rankings"]
        if (table := _whiskers(document["systems"], one)) is not None
    )
    tables = tuple(map(_for_page, ranking_tables(document)))
    return TrustView(whiskers, tables, doubt_of_draws(document))


_NEVER_CERTAIN = {"1.000": "> 0.999", "0.000": "< 0.001"}


_HYPHEN = re.compile(r"(?<!\S)-(?=\d)")


def _for_page(table: TextTable) -> TextTable:
    """A table for the page: shares of draws or trials never show as 0 or 1; with minus signs."""
    known = _NEVER_CERTAIN if "share " in table.title else {}
    begin = table.leading
    lines = [
        (*line[:begin], *(_HYPHEN.sub(MINUS, known.get(cell, cell)) for cell in line[begin:]))
        for line in table.lines
    ]
    return replace(table, lines=lines)


def _whiskers(systems: Sequence[str], one: Mapping[str, Any]) -> WhiskerTable | None:
    """The first measure of a ranking; None if no system has a value."""
    measure, values = next(iter(one["scores"].items()))
    drawn = one["bootstrap"]
    found = {
        interval["system"]: interval
        for interval in (drawn["intervals"] if drawn else ())
        if interval["measure"] == measure
        and interval["domain"] is None
        and interval["label"] is None
    }
    ends = [end for interval in found.values() for end in _ends(interval) if end is not None]
    known = [value for value in values.values() if value is not None] + ends
    if not known:
        return None
    low, high = min(known), max(known)
    scale = (low, high) if low < high else (low - 0.5, high + 0.5)
    rows = tuple(
        _row(system, one["ranks"][system], values[system], found.get(system), scale)
        for system in sorted(systems, key=lambda name: one["ranks"][name])
    )
    return WhiskerTable(
        title_of(one["evaluator"], one["parameters"]),
        measure,
        (number_text(scale[0]), number_text(scale[1])),
        rows,
    )


def _row(
    system: str,
    rank: int,
    value: float | None,
    interval: Mapping[str, Any] | None,
    scale: tuple[float, float],
) -> WhiskerRow:
    low, high = (None, None) if interval is None else _ends(interval)
    words = "" if low is None or high is None else f"{value_text(low)} to {value_text(high)}"
    drawn = None if value is None else (value, low, high)
    return WhiskerRow(
        system,
        rank,
        value_text(value),
        words,
        Markup(whisker_svg([drawn], scale)),  # noqa: S704 - numbers alone
    )


def _ends(interval: Mapping[str, Any]) -> tuple[float | None, float | None]:
    return interval["low"], interval["high"]


ROUTES = (
    ("/organise/benchmarks/{benchmark}/trust", show, "GET"),
    ("/organise/benchmarks/{benchmark}/trust", examine, "POST"),
)
