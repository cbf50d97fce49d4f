"""Four corners that are given with y before x are doubted as boxes are."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.plausibility.traffic import BOX, Columns, traffic, without

from vidscore_evaluators import score

TRUTH, DETECTIONS = traffic()


def turned(columns: Columns, *, rows_first: bool) -> Columns:
    """Boxes turned by 30 degrees."""
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
def test_y_before_x_is_doubted(base: str, rows_first: bool, codes: set[str]) -> None:
    truth, found = turned(TRUTH, rows_first=False), turned(DETECTIONS, rows_first=rows_first)
    report = score("map", truth, found, base=base)
    assert {one.code for one in report.warnings} - {"bounding_boxes_compared"} == codes
