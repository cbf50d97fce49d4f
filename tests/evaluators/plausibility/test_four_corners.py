"""Four corners with y before x give a warning, as boxes do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tests.evaluators.plausibility.traffic import BOX, Columns, traffic, without

from vidscore_evaluators import score

TRUTH, DETECTIONS = traffic()


def turned(columns: Columns, *, rows_first: bool) -> Columns:
    """Boxes rotated by 30 degrees."""
    a, b, c, d = (columns[name] for name in BOX)
    made = without(columns, *BOX)
    for corner, (across, down) in enumerate(((-1, -1), (1, -1), (1, 1), (-1, 1)), start=1):
        x, y = across * (c - a) / 2, down * (d - b) / 2
        place = (
            (a + c) / 2 + x * np.cos(np.pi / 6) - y * np.sin(np.pi / 6),
            (b + d) / 2 + x * np.sin(np.pi / 6) + y * np.cos(np.pi / 6),
        )
        made |= dict(
            zip((f"x{corner}", f"y{corner}"), place[:: -1 if rows_first else 1], strict=True)
        )
    return made


@pytest.mark.parametrize("base", ["polygon", "iou"])
@pytest.mark.parametrize(("rows_first", "codes"), [(True, {"reads_rows_first"}), (False, set())])
def test_y_before_x_gives_a_warning(base: str, rows_first: bool, codes: set[str]) -> None:
    truth, found = turned(TRUTH, rows_first=False), turned(DETECTIONS, rows_first=rows_first)
    report = score("map", truth, found, base=base)
    assert {one.code for one in report.warnings} - {"bounding_boxes_compared"} == codes


NAMES = [f"{axis}{corner}" for corner in range(1, 5) for axis in "xy"]


def by_axis(columns: Columns) -> Columns:
    """All x before all y, read as corner after corner."""
    given = [columns[f"{axis}{corner}"] for axis in "xy" for corner in range(1, 5)]
    return columns | dict(zip(NAMES, given, strict=True))


def codes_of(truth: Columns, detections: Columns) -> dict[str, int]:
    report = score("map", truth, detections, base="polygon")
    return {warning.code: warning.count for warning in report.warnings}


def test_all_x_before_all_y_gives_a_warning() -> None:
    """The sides of a rotated box are equal in pairs in only one of the orders."""
    truth, detections = (turned(side, rows_first=False) for side in (TRUTH, DETECTIONS))
    found = codes_of(truth, by_axis(detections))
    assert 0.95 * len(detections["frame"]) < found["reads_all_x_first"]
    assert codes_of(by_axis(truth), by_axis(detections))["reads_all_x_first"] > 0


def test_integer_pixels_are_enough_to_recognise_the_order() -> None:
    truth, detections = (turned(side, rows_first=False) for side in (TRUTH, DETECTIONS))
    rounded = detections | {name: np.round(detections[name]) for name in NAMES}
    assert "reads_all_x_first" in codes_of(truth, by_axis(rounded))
    assert codes_of(truth, rounded) == {}


def corners_exchanged(columns: Columns) -> Columns:
    """The third corner after the fourth."""
    return columns | {
        "x3": columns["x4"],
        "y3": columns["y4"],
        "x4": columns["x3"],
        "y4": columns["y3"],
    }


def anyhow(columns: Columns) -> Columns:
    """Each corner displaced by a fifth of a box: text in photographs."""
    random = np.random.default_rng(0)
    count = len(columns["frame"])
    return columns | {name: columns[name] + random.normal(0, 20, count) for name in NAMES}


def small(columns: Columns) -> Columns:
    """Boxes of a few pixels, in integers."""
    return columns | {name: np.round(columns[name] / 40) for name in NAMES}


@pytest.mark.parametrize("change", [corners_exchanged, anyhow, small])
def test_other_quadrilaterals_give_no_warning(change: Callable[[Columns], Columns]) -> None:
    truth, detections = (change(turned(side, rows_first=False)) for side in (TRUTH, DETECTIONS))
    assert "reads_all_x_first" not in codes_of(truth, detections)
