"""Plot curves of reports with matplotlib, the extra ``plot``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.errors import MissingExtraError
from vidscore_evaluators.figures.curves import Line
from vidscore_evaluators.figures.report_curves import By, choose_curves

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from vidscore_evaluators.report import Report

__all__ = ["COLOURS", "DASHES", "Axes", "plot"]

COLOURS = ("#000000", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
"""Colours that colour-blind people can distinguish (Okabe and Ito 2008), without yellow, which is
too light on white."""

DASHES = ("-", "--", ":", "-.")
"""Line styles, which distinguish lines in print; seven colours and four styles make 28."""


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
        ax: The axes to draw on, in addition to their contents; by default new pyplot axes.
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
    axes = _new_axes() if ax is None else ax
    before = len(axes.get_lines())
    for number, line in enumerate(drawn.lines, start=before):
        axes.plot(
            line.x,
            line.y,
            color=COLOURS[number % len(COLOURS)],
            linestyle=DASHES[number % len(DASHES)],
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
        axes.legend()
    return axes


def _include_zero(axes: Axes, line: Line) -> None:
    """Start an axis at 0 if its values are never negative, so that heights can be compared."""
    known = np.flatnonzero(np.isfinite(line.x) & np.isfinite(line.y))
    if len(known) and line.y[known].min() > 0.0:
        axes.update_datalim([(line.x[known[0]], 0.0)], updatex=False)
        axes.autoscale_view()


def _new_axes() -> Axes:
    """Axes that a notebook shows automatically, for which pyplot must know them."""
    try:
        from matplotlib import pyplot as plt  # noqa: PLC0415 - an extra
    except ImportError:
        raise MissingExtraError("Plots", "matplotlib", "plot") from None
    return plt.subplots()[1]
