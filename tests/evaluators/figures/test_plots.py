"""Curves of reports drawn with matplotlib: which ones, on which axes, and how they differ."""

from __future__ import annotations

import sys
from itertools import product
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

import vidscore
from vidscore_evaluators.errors import MissingExtraError, ParameterError
from vidscore_evaluators.figures.plots import COLOURS, DASHES
from vidscore_evaluators.figures.report_curves import choose_curves
from vidscore_evaluators.report import Curve, Report, Scores

RATES = {
    "threshold": (0.9, 0.5),
    "detection_rate": (0.25, None),
    "false_positives_per_frame": (0.5, 2.0),
}


def report(*curves: Curve, evaluator: str = "toy", **parameters: str) -> Report:
    return Report(evaluator, "1", parameters, "0" * 32, "1" * 32, Scores((), curves))


def by_threshold(domain: str | None = None, label: str | None = None, value: float = 0.5) -> Curve:
    columns = {"threshold": (0.0, 0.5, 1.0), "f1": (1.0, value, None), "n": (3, 2, 1)}
    return Curve("f1_by_threshold", columns, domain, label)


F1 = report(*(by_threshold(*place) for place in product((None, "d"), (None, "car", "bus"))))


def labels_of(report: Report, name: str, **options: object) -> list[str]:
    return [line.label for line in choose_curves({"": report}, name, **options).lines]  # type: ignore[arg-type]


def test_a_curve_is_drawn_over_its_axes_with_gaps_where_it_is_undefined() -> None:
    axes = F1.plot("f1_by_threshold", ax=Figure().subplots())
    [line] = axes.get_lines()
    np.testing.assert_array_equal(line.get_xdata(), [0.0, 0.5, 1.0])
    np.testing.assert_array_equal(line.get_ydata(), [1.0, 0.5, np.nan])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("threshold", "F1")
    assert axes.get_title() == "F1 by threshold"
    assert axes.get_legend() is None
    assert axes.get_ylim()[0] <= 0.0


def test_rates_are_drawn_over_false_positives_per_frame() -> None:
    drawn = choose_curves({"": report(Curve("roc", RATES))}, "roc")
    assert (drawn.x.label, drawn.y.label) == ("false positives per frame", "detection rate")
    np.testing.assert_array_equal(drawn.lines[0].x, [0.5, 2.0])
    assert not drawn.x.logarithmic


def test_samples_at_equal_ratios_have_a_logarithmic_axis() -> None:
    columns = {"false_positives_per_frame": (0.01, 0.1, 1.0), "recall": (0.1, 0.2, 0.3)}
    axes = report(Curve("roc", columns)).plot("roc", ax=Figure().subplots())
    assert axes.get_xscale() == "log"


def test_units_stand_in_parentheses() -> None:
    own = Curve("mse_by_frame", {"frame": (0, 1), "mse": (1.0, 2.0)})
    drawn = choose_curves({"": report(own, evaluator="spotgeo")}, "mse_by_frame")
    assert (drawn.x.label, drawn.y.label) == ("frame", "MSE (px^2)")
    other = Curve("error", {"frame": (0, 1), "error_px": (1.0, 2.0)})
    assert choose_curves({"": report(other)}, "error").y.label == "error (px)"


def test_any_column_may_be_on_an_axis() -> None:
    drawn = choose_curves({"": F1}, "f1_by_threshold", x="n", y="threshold")
    np.testing.assert_array_equal(drawn.lines[0].x, [3, 2, 1])
    np.testing.assert_array_equal(drawn.lines[0].y, [0.0, 0.5, 1.0])


def test_domain_and_label_select_and_by_draws_a_line_each() -> None:
    name = "f1_by_threshold"
    assert labels_of(F1, name) == [""]
    assert labels_of(F1, name, label="car", domain="d") == [""]
    assert labels_of(F1, name, by="label") == ["car", "bus"]
    assert labels_of(F1, name, by="domain") == [""]
    assert labels_of(F1, name, by="label", label="bus") == [""]


def test_a_curve_with_only_domains_has_a_line_for_each() -> None:
    two = report(Curve("roc", RATES, "Tower"), Curve("roc", RATES, "Heli"))
    assert labels_of(two, "roc") == ["Tower", "Heli"]
    assert labels_of(two, "roc", domain="Heli") == [""]


def test_curves_that_differ_in_a_threshold_are_drawn_by_their_common_name() -> None:
    columns = {"recall": (0.0, 1.0), "precision": (1.0, 0.5)}
    at_two = [Curve(f"precision_recall_{at}", columns) for at in (50, 75)]
    assert labels_of(report(*at_two), "precision_recall_75") == [""]
    for base, said in {
        "iou": "IoU",
        "giou": "GIoU",
        "mask": "IoU",
        "euclidean": "similarity",
    }.items():
        found = labels_of(report(*at_two, base=base), "precision_recall")
        assert found == [f"{said} 0.50", f"{said} 0.75"]
    odd = [Curve(f"precision_recall_{at}", columns) for at in ("2.5", "-50")]
    assert labels_of(report(*odd, base="giou"), "precision_recall") == ["GIoU 0.025", "GIoU -0.50"]
    own = [Curve(f"delay_{at}", columns) for at in (5, 10)]
    assert labels_of(report(*own), "delay") == ["5", "10"]


def test_systems_are_distinguished_by_colour_and_by_style() -> None:
    systems = {"falcon": F1, "mole": report(by_threshold(value=0.25))}
    axes = vidscore.plot(systems, "f1_by_threshold", ax=Figure().subplots())
    assert [line.get_label() for line in axes.get_lines()] == ["falcon", "mole"]
    legend = axes.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.get_texts()] == ["falcon", "mole"]
    report(by_threshold()).plot("f1_by_threshold", ax=axes, system="heron")
    looks = [(line.get_color(), line.get_linestyle()) for line in axes.get_lines()]
    assert looks == [("#000000", "-"), ("#0072b2", "--"), ("#d55e00", ":")]


def test_twenty_eight_lines_look_different() -> None:
    looks = {(COLOURS[n % len(COLOURS)], DASHES[n % len(DASHES)]) for n in range(28)}
    assert len(looks) == 28


def test_more_lines_have_markers_and_their_names_stand_beside_the_axes() -> None:
    """Of eighty labels the 29th looks like the first, but for its markers."""
    every = report(*(by_threshold(label=f"label {number}") for number in range(80)))
    axes = every.plot("f1_by_threshold", by="label")
    lines = axes.get_lines()
    looks = {(line.get_color(), line.get_linestyle(), line.get_marker()) for line in lines}
    assert len(looks) == 80
    figure = axes.figure
    figure.canvas.draw()
    legend = axes.get_legend()
    assert legend is not None
    assert legend.get_window_extent().x0 >= axes.get_window_extent().x1
    assert legend.get_window_extent().x1 <= figure.bbox.x1
    assert legend.get_window_extent().y0 >= 0
    assert axes.get_window_extent().width > 300
    plt.close("all")


def test_a_long_name_is_cut_in_the_legend_and_leaves_room_for_the_plot() -> None:
    names = ["a very long name of a detector " * 4 + end for end in ("one", "two")]
    axes = vidscore.plot({name: report(by_threshold()) for name in names}, "f1_by_threshold")
    axes.figure.canvas.draw()
    legend = axes.get_legend()
    assert legend is not None
    shown = [text.get_text() for text in legend.get_texts()]
    assert [len(text) < 60 and text[-3:] for text in shown] == ["one", "two"]
    assert [line.get_label() for line in axes.get_lines()] == names
    assert legend.get_window_extent().x1 <= axes.figure.bbox.x1
    assert axes.get_window_extent().width > 300
    plt.close("all")


def test_a_curve_without_a_defined_point_says_so() -> None:
    columns = {"threshold": (0.0, 1.0), "f1": (None, None)}
    axes = report(Curve("f1_by_threshold", columns)).plot("f1_by_threshold")
    assert [text.get_text() for text in axes.texts] == ["no defined point"]
    assert axes.get_xlim() == (0.0, 1.0)
    plt.close("all")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "roc",
            {},
            "name: found 'roc', expected a curve of the report; there is f1_by_threshold",
        ),
        (
            "f1_by",
            {},
            "name: found 'f1_by', expected a curve of the report; did you mean f1_by_threshold?",
        ),
        (
            "f1_by_threshold",
            {"label": "truck"},
            "label: found 'truck', expected a label that has this curve; there are car, bus",
        ),
        (
            "f1_by_threshold",
            {"label": 1},
            "label: found 1, expected a label that has this curve; give a string, such as 'car'",
        ),
        (
            "f1_by_threshold",
            {"y": "recall"},
            "y: found 'recall', expected a column of the curve; there are threshold, f1, n",
        ),
        (
            "f1_by_threshold",
            {"by": "system"},
            "by: found 'system', expected domain or label; there are domain, label",
        ),
    ],
)
def test_an_unknown_curve_is_refused_with_the_known_ones(
    name: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        F1.plot(name, ax=Figure().subplots(), **options)
    assert str(caught.value) == message


def test_a_report_without_labels_has_no_line_per_label() -> None:
    with pytest.raises(ParameterError, match=r"by: found 'label', expected curves of each label"):
        report(by_threshold()).plot("f1_by_threshold", by="label", ax=Figure().subplots())


def test_a_curve_without_points_is_an_empty_line() -> None:
    axes = report(Curve("roc", {})).plot("roc", ax=Figure().subplots())
    assert [len(line.get_xdata()) for line in axes.get_lines()] == [0]  # type: ignore[arg-type]


def test_axes_made_by_plot_are_shown_in_notebooks() -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    axes = F1.plot("f1_by_threshold")
    assert plt.gca() is axes
    plt.close("all")


def test_pyplot_is_not_needed_if_axes_are_given(monkeypatch: pytest.MonkeyPatch) -> None:
    axes = Figure().subplots()
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setattr(mpl, "pyplot", None, raising=False)
    assert F1.plot("f1_by_threshold", ax=axes) is axes


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtraError) as caught:
        F1.plot("f1_by_threshold")
    assert str(caught.value) == "Plots need matplotlib: pip install 'vidscore[plot]'"
