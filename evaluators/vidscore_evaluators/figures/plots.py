"""Plot curves of reports with matplotlib, the extra ``plot``."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.errors import MissingExtraError
from vidscore_evaluators.figures._labels import TEXT_SIZE, fitted, text_width
from vidscore_evaluators.figures.curves import Line
from vidscore_evaluators.figures.report_curves import By, choose_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from vidscore_evaluators.report import Report

__all__ = ["COLOURS", "DASHES", "Axes", "plot"]

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colours that colour-blind people can distinguish (Okabe and Ito 2008), without yellow, which is
too light on white."""

DASHES = ("-", "--", ":", "-.")
"""Line styles, which distinguish lines in print; seven colours and four styles make 28."""

MARKERS = ("", "o", "x", "^")
"""Markers on the first 28 lines, the next 28 and so on, so that no two of 112 look alike."""

_MOST_INSIDE, _MOST_ROWS = 12, 24
"""Most lines whose names stand within new axes; most names of a column outside them."""

_WIDE, _WIDEST = 180.0, 300.0
"""Width of a name from which on names stand outside, and at which one is cut in its middle."""


def plot(
    reports: Report | Mapping[str, Report],
    name: str,
    *,
    ax: Axes | None = None,
    domain: str | None = None,
    label: str | None = None,
    by: By | None = None,
    x: str | None = None,
    y: str | None = None,
) -> Axes:
    """Plot a curve of one or several reports.

    ``plot({"falcon": falcon, "mole": mole}, "precision_recall_50", label="car")``

    Args:
        reports: A report, or reports by system name.
        name: Name of a curve, such as ``roc``; or of several curves, without their thresholds:
            ``precision_recall`` for ``precision_recall_50`` and ``precision_recall_75``.
        ax: The axes to draw on, in addition to their contents; by default new pyplot axes, which
            are wider if many or long names stand beside them.
        domain: The domain; None for the curve of all, or one line per domain if there is none.
        label: The label; likewise.
        by: ``domain`` or ``label`` for one line each.
        x: Column of the curve for the horizontal axis; by default the customary one.
        y: Column for the vertical axis; likewise.

    Returns:
        The axes that were drawn on.

    Raises:
        MissingExtraError: If matplotlib is not installed.
        ParameterError: If there is no such curve; the message lists what there is.
    """
    check_arguments(reports=reports)
    systems = reports if isinstance(reports, Mapping) else {"": reports}
    drawn = choose_curves(systems, name, domain=domain, label=label, by=by, x=x, y=y)
    figure, axes = _new_axes() if ax is None else (None, ax)
    before = len(axes.get_lines())
    for number, line in enumerate(drawn.lines, start=before):
        axes.plot(
            line.x,
            line.y,
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number % len(DASHES)],
            marker=MARKERS[number // (len(COLOURS) * len(DASHES)) % len(MARKERS)],
            markersize=4,
            markevery=0.1,
            # Without it, matplotlib would name the line by its number.
            label=line.label or "_",
        )
        _include_zero(axes, line)
    if drawn.x.logarithmic:
        axes.set_xscale("log")
    axes.set_xlabel(drawn.x.label)
    axes.set_ylabel(drawn.y.label)
    axes.set_title(drawn.title)
    if any(line.label for line in drawn.lines):
        _add_legend(axes, figure)
    if not any((np.isfinite(line.x) & np.isfinite(line.y)).any() for line in drawn.lines):
        axes.text(0.5, 0.5, "no defined point", transform=axes.transAxes, ha="center")
        if ax is None:
            axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    return axes


def _add_legend(axes: Axes, figure: Figure | None) -> None:
    """Name the lines: within the axes, or, if the names need room, beside them in a new figure."""
    handles, labels = axes.get_legend_handles_labels()
    names = [fitted(label, _WIDEST) for label in labels]
    widest = max(map(text_width, names))
    if figure is None or (len(names) <= _MOST_INSIDE and widest <= _WIDE):
        axes.legend(handles, names)
        return
    columns = math.ceil(len(names) / _MOST_ROWS)
    figure.set_layout_engine("constrained")
    # A name at its size in points, and its line.
    column_in = widest / TEXT_SIZE * _NAME_PT / 72.0 + 0.6
    figure.set_figwidth(figure.get_figwidth() + columns * column_in)
    axes.legend(
        handles,
        names,
        loc="upper left",
        bbox_to_anchor=(1.0, 1.0),
        ncols=columns,
        fontsize=_NAME_PT,
    )


_NAME_PT = 8.0
"""Size of names beside the axes."""


def _include_zero(axes: Axes, line: Line) -> None:
    """Start an axis at 0 if its values are never negative, so that heights can be compared."""
    known = np.flatnonzero(np.isfinite(line.x) & np.isfinite(line.y))
    if len(known) and line.y[known].min() > 0.0:
        axes.update_datalim([(line.x[known[0]], 0.0)], updatex=False)
        axes.autoscale_view()


def _new_axes() -> tuple[Figure, Axes]:
    """A figure and axes that a notebook shows automatically, for which pyplot must know them."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("Plots", "matplotlib", "plot") from None
    return plt.subplots()
