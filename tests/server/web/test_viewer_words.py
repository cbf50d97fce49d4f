"""What the viewer says of very little: one of a thing is one thing, and nothing is not shown."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.web.asking import Page
from tests.support.street import csv_of, material_of

from vidscore_evaluators.explanation.figures import Uncertainty
from vidscore_server.web.links import Links
from vidscore_server.web.view import View
from vidscore_server.web.viewer import Viewer


@pytest.fixture
def words(tmp_path: Path) -> str:
    """The page of one object in one frame, which one detection misses: its MOTA is 1 - 2 = -1."""
    here, there = (0, 0, 10, 10), (500, 500, 510, 510)
    rows = {
        "truth": csv_of([("001", 0, "Car", here, 1.0, 1)], confidences=False),
        "falcon": csv_of([("001", 0, "Car", there, 0.5, 1)], confidences=True),
    }
    for name, text in rows.items():
        (tmp_path / f"{name}.csv").write_text(text, "utf-8")
    material = material_of(tmp_path, ["falcon"], "clear", "f1")
    html = Viewer(material, Uncertainty(material, 0), Links("/")).page(View())
    return " ".join(Page(html).texts)


@pytest.mark.parametrize(
    "said", ["1 object", "1 frame", "1 bin at most", "1 missed, 1 false alarm"]
)
def test_one_of_a_thing_is_not_many(words: str, said: str) -> None:
    assert said in words
    assert not [
        many for many in ("1 objects", "1 frames", "1 bins", "1 false alarms") if many in words
    ]


def test_the_ends_of_a_scale_have_a_minus_as_figures_have(words: str) -> None:
    assert "\N{MINUS SIGN}1.0000" in words
    assert "\N{MINUS SIGN}1.00 " in words
    assert "-1" not in words
