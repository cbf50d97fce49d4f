"""Select curves of reports, and turn them into lines over two axes with titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, ParameterError, UnknownEvaluatorError
from vidscore_evaluators.explanation.titles import axis_title, measure_title
from vidscore_evaluators.figures.axes import Axis
from vidscore_evaluators.figures.curves import CurveChart, Line
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.registry import evaluator_class
from vidscore_evaluators.report import Curve, Report

By = Literal["domain", "label"]
"""What each line is for."""

_MOST_LINES = 6
"""Number of lines of a chart that was not requested; more would hide each other."""

_FALSE_POSITIVES = "false_positives_per_frame"
_RATES = ("detection_rate", "recall", "miss_rate")
"""Measures that are plotted against false positives per frame."""


class DrawnCurves(Struct, frozen=True, eq=False):
    """A chart to draw.

    Attributes:
        title: Its title, such as ``ROC``.
        x: The horizontal axis.
        y: The vertical axis.
        lines: The lines; a single line of a system without a name has no label.
    """

    title: str
    x: Axis
    y: Axis
    lines: Sequence[Line]


def choose_curves(
    reports: Mapping[str, Report],
    name: str,
    *,
    domain: str | None = None,
    label: str | None = None,
    by: By | None = None,
    x: str | None = None,
    y: str | None = None,
) -> DrawnCurves:
    """Select the curves with a name.

    Args:
        reports: Reports by system name.
        name: Name of a curve, or the name of several without their threshold.
        domain: The domain; None for the curve of all, or one line per domain if there is none.
        label: The label; likewise.
        by: Whether there is one line per domain or per label.
        x: Column for the horizontal axis; None for the customary one.
        y: Column for the vertical axis; None for the customary one.

    Raises:
        ParameterError: If there are no such curves or columns; the message lists what there is.
    """
    if by not in (None, "domain", "label"):
        raise _unknown("by", by, "domain or label", ("domain", "label"))
    every = [(system, curve) for system, report in reports.items() for curve in report.curves]
    known = dict.fromkeys(part for _, curve in every for part in (curve.name, curve.kind))
    found = [entry for entry in every if entry[1].name == name]
    found = found or [entry for entry in every if entry[1].kind == name]
    if not found:
        raise _unknown("name", name, "a curve of the report", list(known))
    found = _of_place(found, "domain", domain, each=by == "domain")
    found = _of_place(found, "label", label, each=by == "label")
    [first, *_] = [curve for _, curve in found]
    across, up = _columns(first, x, y)
    lines = [
        Line(whose, _values(curve, across), _values(curve, up))
        for whose, (_, curve) in zip(_legend(found, reports), found, strict=True)
    ]
    report = reports[found[0][0]]
    logarithmic = all(_is_geometric(line.x) for line in lines)
    return DrawnCurves(
        measure_title(name),
        Axis(_axis_label(across, report), logarithmic=logarithmic),
        Axis(_axis_label(up, report)),
        lines,
    )


def curve_charts(report: Report, most: int) -> list[CurveChart]:
    """Charts of the curves of a report, those over everything if there are any.

    Args:
        report: The report.
        most: Maximum number of charts.
    """
    kinds = dict.fromkeys(curve.kind for curve in report.curves if curve.columns)
    charts = []
    for kind in list(kinds)[:most]:
        drawn = choose_curves({"": report}, kind)
        few = drawn.lines[:_MOST_LINES]
        title = f"{drawn.title} ({report.evaluator})"
        if len(few) < len(drawn.lines):
            title += f", {len(few)} of {len(drawn.lines)} lines"
        charts.append(CurveChart(title, drawn.x, drawn.y, few))
    return charts


Found = tuple[str, Curve]


def _of_place(found: list[Found], which: By, wanted: str | None, *, each: bool) -> list[Found]:
    """Curves of a domain or label; if None, those over all, or else each."""
    places = dict.fromkeys(getattr(curve, which) for _, curve in found)
    if wanted is not None and wanted not in places:
        named = [place for place in places if place is not None]
        raise _unknown(which, wanted, f"a {which} that has this curve", named)
    if each and wanted is None:
        chosen = [place for place in places if place is not None]
        if not chosen:
            raise _unknown("by", which, f"curves of each {which}", [])
    else:
        chosen = [wanted] if wanted in places else list(places)
    return [entry for entry in found if getattr(entry[1], which) in chosen]


def _legend(found: Sequence[Found], reports: Mapping[str, Report]) -> Iterator[str]:
    """What distinguishes each curve from the others; always with the system's name."""
    kinds = {curve.kind for _, curve in found}
    parts = [
        (
            system,
            # Curves that differ only in a threshold are labelled by the threshold.
            _threshold(curve, reports[system]) if len(kinds) == 1 else curve.name,
            curve.domain or "",
            curve.label or "",
        )
        for system, curve in found
    ]
    varied = [len(set(column)) > 1 for column in zip(*parts, strict=True)]
    varied[0] = True
    for names in parts:
        told = (text for text, differs in zip(names, varied, strict=True) if differs and text)
        yield ", ".join(told) or ("all" if len(found) > 1 else "")


_BASES = {"iou": "IoU", "giou": "GIoU", "mask": "IoU"}


def _threshold(curve: Curve, report: Report) -> str:
    """The threshold of a curve, such as ``IoU 0.50`` of ``precision_recall_50``."""
    last = curve.name.removeprefix(f"{curve.kind}_")
    if curve.kind != "precision_recall" or last == curve.name:
        return last
    value = float(last) / 100
    number = f"{value:.2f}" if round(value, 2) == value else f"{value:g}"
    return f"{_BASES.get(str(report.parameters.get('base')), 'similarity')} {number}"


def _columns(curve: Curve, x: str | None, y: str | None) -> tuple[str, str]:
    """The columns of the two axes."""
    names = list(curve.columns)
    for field, column in (("x", x), ("y", y)):
        if column is not None and column not in names:
            raise _unknown(field, column, "a column of the curve", names)
    across = x or (_FALSE_POSITIVES if _FALSE_POSITIVES in names else (names or [""])[0])
    others = [name for name in names if name != across]
    usual = _RATES if across == _FALSE_POSITIVES else (curve.kind.split("_by_")[0],)
    return across, y or next((name for name in (*usual, *others) if name in others), across)


def _values(curve: Curve, column: str) -> FloatArray:
    """(N,) values of a column; NaN if undefined; empty if there is no such column."""
    values = [np.nan if value is None else value for value in curve.columns.get(column, ())]
    return np.array(values, dtype=np.float64)


def _is_geometric(values: FloatArray) -> bool:
    """Whether the values are a geometric progression."""
    if len(values) < 3 or not (values > 0).all():
        return False
    steps = np.diff(np.log(values))
    return bool(abs(steps[0]) > 1e-9 and np.allclose(steps, steps[0], rtol=1e-6))


def _axis_label(column: str, report: Report) -> str:
    """Title of a column, with its unit."""
    words = axis_title(column.removesuffix("_px"))
    unit = "px" if column.endswith("_px") else _unit(column, report)
    return f"{words} ({unit})" if unit else words


def _unit(measure: str, report: Report) -> str:
    """Unit of a measure, or empty."""
    try:
        units = {entry.name: entry.unit for entry in evaluator_class(report.evaluator).measures}
    except UnknownEvaluatorError:
        return ""
    unit = units.get(measure, "")
    return "" if unit in ("ratio", "count") else unit


def _unknown(field: str, found: object, expected: str, known: Sequence[str]) -> ParameterError:
    advice = name_advice(str(found), known) if known else "there are none"
    if known and not isinstance(found, str):
        advice = f"give a string, such as {known[0]!r}"
    return ParameterError([Fault(repr(found), expected, field=field, advice=advice)])
