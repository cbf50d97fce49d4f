"""The sections of curves and of kinds of mistakes, as plain values for templates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.explanation.answer import figure
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.mistakes import Confusion, confusion, kind_rows
from vidscore_evaluators.explanation.sweep import Band, ConfidenceSweep
from vidscore_evaluators.explanation.titles import axis_title, measure_title
from vidscore_evaluators.figures.axes import Axis
from vidscore_evaluators.figures.curves import CurveChart, Line
from vidscore_evaluators.figures.markup import coordinate, markup_text
from vidscore_evaluators.report import Curve, Report
from vidscore_server.web.sections import Context, Page

MOST_CHARTS = 4
"""Maximum number of drawn curves of reports; the JSON form has all."""

MOST_POINTS_LISTED = 25
"""Maximum number of points in the table below a curve."""

_LARGEST = float(np.finfo(np.float64).max)
_SHADES = 8


def curves_context(
    page: Page, sweeps: Sequence[ConfidenceSweep], bands: Sequence[tuple[Band, Band]]
) -> Context:
    """Curves by confidence, with the operating point, and the curves of the reports.

    Args:
        page: The page.
        sweeps: Counts of each system by confidence; empty for no such curves.
        bands: Intervals of recall and precision of each system; empty for no bands.
    """
    charts = list(_confidence_charts(page, sweeps, bands)) if sweeps else []
    charts += report_charts(
        {system: page.material.reports[system] for system in page.material.systems}
    )
    slider = None
    if sweeps:
        least, most = (float(sweeps[0].confidences[end]) for end in (0, -1))
        chosen = least if page.view.confidence is None else page.view.confidence
        # The difference of finite confidences may be infinite.
        span = min(max(1e-9, most - least), _LARGEST)
        step = 10.0 ** math.floor(math.log10(span) - 2)
        slider = {
            "least": max(math.floor(least / step) * step, -_LARGEST),
            "most": min(math.ceil(most / step) * step, _LARGEST),
            "step": step,
            "chosen": chosen,
            "found": _operating_point(page, sweeps[0]),
        }
    return {"charts": charts, "slider": slider}


def _operating_point(page: Page, sweep: ConfidenceSweep) -> Context:
    """The values of the first system at the chosen confidence."""
    at = sweep.at(page.view.confidence)
    judged = page.judgement
    if judged is not None and not page.view.label:
        # At exactly this confidence, not at the nearest point of the curve.
        total = judged.systems[0].counts.total()
        hits, alarms = int(total.hits[0]), int(total.false_alarms[0])
    else:
        hits, alarms = int(sweep.hits[at]), int(sweep.false_alarms[at])
    return {
        "share": hits / sweep.objects if sweep.objects else None,
        "objects": sweep.objects,
        "a_frame": alarms / max(1, sweep.frames),
    }


def _confidence_charts(
    page: Page, sweeps: Sequence[ConfidenceSweep], bands: Sequence[tuple[Band, Band]]
) -> Iterator[Context]:
    systems = page.material.systems
    names = " and ".join(systems)
    found, alarms = "share of objects found", "false alarms per frame"
    kinds = (
        (
            "FROC",
            "objects found over false alarms (free-response ROC)",
            f"FROC curve of {names}",
            Axis(alarms, (0.0,)),
            Axis(found, (0.0, 1.0)),
        ),
        (
            "Precision-recall",
            "precision",
            f"Precision-recall curve of {names}",
            Axis("recall", (0.0, 1.0)),
            Axis("precision", (1.0,)),
        ),
    )
    for index, (title, what, long, x, y) in enumerate(kinds):
        values = [
            (sweep.false_alarms_per_frame, sweep.recall)
            if index == 0
            else (sweep.recall, sweep.precision)
            for sweep in sweeps
        ]
        at = [sweep.at(page.view.confidence) for sweep in sweeps]
        around = [own[index] for own in bands] if bands else [None] * len(sweeps)
        lines = [
            Line(
                name if len(systems) > 1 else "",
                *own,
                band=band,
                point=(float(own[0][place]), float(own[1][place])),
            )
            for name, own, band, place in zip(systems, values, around, at, strict=True)
        ]
        chart = CurveChart(long, x, y, lines)
        points = list(
            _points(chart, sweeps[0].confidences, dict(zip(systems, values, strict=True)))
        )
        header = ["confidence", *(f"{name}, {axis.label}" for name in systems for axis in (x, y))]
        yield {
            "title": title,
            "what": what,
            "svg": chart.svg(f"chart{index}", "".join(_target(page, point) for point in points)),
            "read": _chosen(points, float(sweeps[0].confidences[at[0]])),
            "header": header,
            "rows": list(_listed(page, sweeps[0].confidences, lines)),
        }


class _Point(NamedTuple):
    """A point of the first line, with its place in the picture and its text."""

    confidence: float
    across: float
    down: float
    said: str


def _points(
    chart: CurveChart, confidences: np.ndarray, values: Mapping[str, Sequence[np.ndarray]]
) -> Iterator[_Point]:
    """The points of the first line in the picture, with the values of each system."""
    [first, *_] = values.values()
    for place, confidence in enumerate(confidences.tolist()):
        across, down = chart.position(float(first[0][place]), float(first[1][place]))
        if math.isnan(across) or math.isnan(down):
            continue
        parts = [
            f"{f'{name}: ' if len(values) > 1 else ''}{chart.y.label} {_cell(y[place])}, "
            f"{chart.x.label} {_cell(x[place])}"
            for name, (x, y) in values.items()
        ]
        said = f"Confidence {figure(confidence)}. {'; '.join(parts)}."
        yield _Point(confidence, across, down, said)


def _target(page: Page, point: _Point) -> str:
    """A circle at a point that shows its values and, on served pages, chooses it."""
    href = ""
    if page.links.live:
        url = markup_text(page.links.view(page.view, confidence=point.confidence))
        href = f' data-href="{url}"'
    return (
        f'<circle class="hit" cx="{coordinate(point.across)}" cy="{coordinate(point.down)}" r="9"'
        f"{href}><title>{markup_text(point.said)}</title></circle>"
    )


def _chosen(points: Sequence[_Point], confidence: float) -> Context | None:
    """The point nearest to a confidence, to be read first; None for no point."""
    if not points:
        return None
    at = min(range(len(points)), key=lambda place: abs(points[place].confidence - confidence))
    return {"at": at, "last": len(points) - 1, "said": points[at].said}


def _listed(page: Page, confidences: np.ndarray, lines: Sequence[Line]) -> Iterator[Context]:
    """Rows of the table below a curve: at most `MOST_POINTS_LISTED`, evenly over its points."""
    count = len(confidences)
    for at in np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS_LISTED)).astype(int)):
        confidence = float(confidences[at])
        live = page.links.live
        yield {
            "head": figure(confidence),
            "url": page.links.view(page.view, confidence=confidence) if live else "",
            "cells": [cell for line in lines for cell in (_cell(line.x[at]), _ranged(line, at))],
        }


def _ranged(line: Line, at: int) -> str:
    """A value of a line, with its interval if it has one."""
    value = _cell(line.y[at])
    if line.band is None or math.isnan(line.band[0][at]) or math.isnan(line.band[1][at]):
        return value
    low, high = (figure(float(end[at])) for end in line.band)
    return f"{value} ({low} to {high})"


def report_charts(reports: Mapping[str, Sequence[Report]], first: int = 0) -> list[Context]:
    """Curves of reports over everything, or over the only domain.

    Args:
        reports: By name of the system, a report for each evaluator.
        first: Number of charts before them on the page.
    """
    charts: list[Context] = []
    systems = list(reports)
    for own in zip(*reports.values(), strict=True):
        for curve in own[0].curves:
            if curve.label is not None or curve.domain is not None or len(curve.columns) < 2:
                continue
            same = [_same_curve(report.curves, curve) for report in own]
            number = first + len(charts)
            charts.append(_report_chart(systems, own[0].evaluator, curve, same, number))
            if len(charts) == MOST_CHARTS:
                return charts
    return charts


def _same_curve(curves: Sequence[Curve], wanted: Curve) -> Curve:
    place = (wanted.name, wanted.domain, wanted.label)
    return next(curve for curve in curves if (curve.name, curve.domain, curve.label) == place)


def _report_chart(
    systems: Sequence[str], evaluator: str, curve: Curve, own: Sequence[Curve], number: int
) -> Context:
    across, up = list(curve.columns)[:2]
    title = measure_title(curve.name)
    lines = [
        Line(name if len(systems) > 1 else "", _floats(one, across), _floats(one, up))
        for name, one in zip(systems, own, strict=True)
    ]
    x, y = Axis(axis_title(across)), Axis(axis_title(up))
    chart = CurveChart(f"{title} of {' and '.join(systems)} by {evaluator}", x, y, lines)
    return chart_context(chart, systems, title, evaluator, number)


def chart_context(
    chart: CurveChart, systems: Sequence[str], title: str, what: str, number: int
) -> Context:
    """A chart for templates, with some of its points as a table.

    Args:
        chart: The chart, with a line for each system.
        systems: Names of the systems.
        title: Short title of the curves.
        what: Subject of the curves.
        number: Number of the chart on its page.
    """
    lines = chart.lines
    shared = all(np.array_equal(line.x, lines[0].x) for line in lines)
    count = len(lines[0].x)
    places = np.unique(np.linspace(0, count - 1, min(count, MOST_POINTS_LISTED)).astype(int))
    return {
        "title": title,
        "what": what,
        "svg": chart.svg(f"curve{number}"),
        "read": None,
        "header": [chart.x.label, *(systems if shared else systems[:1])],
        "rows": [
            {
                "head": figure(float(lines[0].x[at])),
                "url": "",
                "cells": [_cell(line.y[at]) for line in (lines if shared else lines[:1])],
            }
            for at in places.tolist()
        ],
    }


def _floats(curve: Curve, column: str) -> np.ndarray:
    return np.array(
        [np.nan if value is None else value for value in curve.columns[column]], dtype=np.float64
    )


def _cell(value: float) -> str:
    return "undefined" if math.isnan(value) else figure(float(value))


def errors_context(page: Page) -> Context | None:
    """Kinds of mistakes, and the confusion of classes; None if no evaluator sorts mistakes."""
    material = page.material
    sorter = material.sorter
    if sorter is None or page.judgement is None:
        return None
    at, label = page.judgement.at, page.view.label
    try:
        rows = kind_rows(material, at, label)
        judgement = material.judge(sorter, at, label)
    except ParameterError:
        return None
    most = max((value or 0.0 for row in rows for value in row.gains), default=0.0)
    most_count = max((count for row in rows for count in row.counts), default=0)
    has_gains = any(value is not None for row in rows for value in row.gains)
    return {
        "has_gains": has_gains,
        "rows": [
            {
                "row": row,
                "bars": [
                    200
                    * ((value or 0.0) / most if has_gains and most else count / (most_count or 1))
                    for value, count in zip(row.gains, row.counts, strict=True)
                ],
            }
            for row in rows
        ],
        "confusions": _confusions(page, judgement),
    }


def _confusions(page: Page, judgement: Judgement) -> list[Context]:
    found = []
    for judged in judgement.systems:
        table = confusion(judged)
        if len(table.labels) < 2:
            continue
        found.append(
            {
                "name": judged.name,
                "labels": table.labels,
                "left_out": table.left_out,
                "rows": list(_confusion_rows(page, table)),
            }
        )
    return found


def _confusion_rows(page: Page, table: Confusion) -> Iterator[Context]:
    count = len(table.labels)
    for row in range(count + 1):
        total = max(1, int(table.counts[row].sum()))
        cells = []
        for column in range(count + 1):
            value = int(table.counts[row, column])
            if row == count and column == count:
                continue
            kind = "x-fn" if column == count else "x-tp" if row == column else "x-fp"
            shade = min(_SHADES, math.ceil(_SHADES * value / total))
            frame = int(table.frames[row, column])
            # Objects that are found are in nearly every frame, so they get no link.
            url = page.frame_url(frame) if frame >= 0 and kind != "x-tp" else ""
            cells.append(
                {"value": value, "css": f"{kind} x{shade}" if value else "none", "url": url}
            )
        yield {"label": "no object" if row == count else table.labels[row], "cells": cells}
