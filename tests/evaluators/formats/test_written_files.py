"""What is written can be read: the same objects come back, or the conversion is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluators.formats.test_convert import STREET, there_and_back

from vidscore_evaluators.annotations import BOX, Side
from vidscore_evaluators.formats import FORMATS
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.testing import Thing, make_annotations

BOX_FORMATS = sorted(
    name
    for name, one in FORMATS.items()
    if BOX in one.writer.capacity[Side.TRUTH].arities and name not in ("mots", "neovision2-csv")
)


@pytest.mark.parametrize("name", BOX_FORMATS)
def test_a_box_by_any_two_opposite_corners_is_written_as_that_box(
    tmp_path: Path, name: str
) -> None:
    """From (50, 60) to (10, 20) is 40 wide and 40 high; a size of -40 is none."""
    things = [Thing((50.0, 60.0, 10.0, 20.0), "pedestrian"), Thing((1.0, 9.0, 7.0, 2.0), "car")]
    truth = make_annotations({STREET: {1: things}}, arity=BOX)
    back, _ = there_and_back(truth, name, Side.TRUTH, tmp_path)
    assert sorted(bounding_boxes(back.coordinates).tolist()) == [[1, 2, 7, 9], [10, 20, 50, 60]]
