"""Curves of reports as lines over two axes: which ones are meant, and what the axes are called."""

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
"""What there is a line each of."""

_MOST_LINES = 6
"""Lines of a picture that nobody asked for; more would hide each other."""

_FALSE_POSITIVES = "false_positives_per_frame"
_RATES = ("detection_rate", "recall", "miss_rate")
"""What is drawn over false positives per frame."""


class DrawnCurves(Struct, frozen=True, eq=False):
    """What is to be drawn.

    Attributes:
        title: What it is, such as ``ROC``.
        x: The axis below.
        y: The axis at the left.
        lines: The lines; an only one of a system without a name has no label.
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
    """The curves of a name.

    Args:
        reports: Reports by the name of the system.
        name: Name of a curve, or of several but for the threshold at their ends.
        domain: The domain; None for all together, or a line each where they have no curve.
        label: The label; likewise.
        by: What there is a line each of.
        x: Column for the axis below; None for the customary one.
        y: Column for the axis at the left; None for the customary one.

    Raises:
        ParameterError: If there are no such curves or columns; it says what there is.
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
        for whose, (_, curve) in zip(_legend(found), found, strict=True)
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
    """Pictures of the curves of a report, of those over everything where there are any.

    Args:
        report: The report.
        most: How many pictures there are at most.
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
    """Those of a domain or label; of None those of all together, or else each."""
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


def _legend(found: Sequence[Found]) -> Iterator[str]:
    """What tells each curve from the others; a system's name always."""
    kinds = {curve.kind for _, curve in found}
    parts = [
        (
            system,
            # Of curves that differ in a threshold alone, the threshold says which one it is.
            curve.name.removeprefix(f"{curve.kind}_") if len(kinds) == 1 else curve.name,
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
    """(N,) values of a column; NaN where they are undefined, none where there is no such column."""
    values = [np.nan if value is None else value for value in curve.columns.get(column, ())]
    return np.array(values, dtype=np.float64)


def _is_geometric(values: FloatArray) -> bool:
    """Whether each value is the same multiple of the one before."""
    if len(values) < 3 or not (values > 0).all():
        return False
    steps = np.diff(np.log(values))
    return bool(abs(steps[0]) > 1e-9 and np.allclose(steps, steps[0], rtol=1e-6))


def _axis_label(column: str, report: Report) -> str:
    """What a column is called, with its unit."""
    words = axis_title(column.removesuffix("_px"))
    unit = "px" if column.endswith("_px") else _unit(column, report)
    return f"{words} ({unit})" if unit else words


def _unit(measure: str, report: Report) -> str:
    """Unit of a measure, where it is one with a unit."""
    try:
        units = {entry.name: entry.unit for entry in evaluator_class(report.evaluator).measures}
    except UnknownEvaluatorError:
        return ""
    unit = units.get(measure, "")
    return "" if unit in ("ratio", "count") else unit


def _unknown(field: str, found: object, expected: str, known: Sequence[str]) -> ParameterError:
    advice = name_advice(str(found), known) if known else "there are none"
    return ParameterError([Fault(repr(found), expected, field=field, advice=advice)])
