"""The viewer's words for tiny inputs: singular for one, and nothing for nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.server.web.asking import Page
from tests.support.street import Row, csv_of, material_of

from vidscore_evaluators.explanation.figures import FigureRow, Uncertainty
from vidscore_evaluators.tracking.clear import Clear
from vidscore_server.web.document import table_text, written_page
from vidscore_server.web.sections import figures_context
from vidscore_server.web.view import Links, View
from vidscore_server.web.viewer import Viewer


def one_object(tmp_path: Path, *evaluators: str) -> Viewer:
    """One object in one frame, missed by one detection: its MOTA is 1 - 2 = -1."""
    here, there = (0, 0, 10, 10), (500, 500, 510, 510)
    truth, found = [("001", 0, "Car", here, 1.0, 1)], [("001", 0, "Car", there, 0.5, 1)]
    return scene_viewer(tmp_path, truth, found, *evaluators)


def scene_viewer(tmp_path: Path, truth: list[Row], found: list[Row], *evaluators: str) -> Viewer:
    """A viewer of the rows of one system, falcon."""
    (tmp_path / "truth.csv").write_text(csv_of(truth, confidences=False), "utf-8")
    (tmp_path / "falcon.csv").write_text(csv_of(found, confidences=True), "utf-8")
    material = material_of(tmp_path, ["falcon"], *evaluators)
    return Viewer(material, Uncertainty(material, 0), Links("/"))


@pytest.fixture
def words(tmp_path: Path) -> str:
    """The text of the page of one object."""
    return " ".join(Page(one_object(tmp_path, "clear", "f1").page(View())).texts)


@pytest.mark.parametrize(
    "said", ["1 object", "1 frame", "1 bin at most", "1 missed, 1 false alarm"]
)
def test_a_count_of_one_is_in_the_singular(words: str, said: str) -> None:
    assert said in words
    assert not [
        many for many in ("1 objects", "1 frames", "1 bins", "1 false alarms") if many in words
    ]


def test_a_file_with_one_frame_calls_it_the_worst_frame(tmp_path: Path) -> None:
    file = written_page(one_object(tmp_path, "clear"), "").decode()
    assert "This file holds the bins of every sequence and the worst frame." in file


def test_counts_beside_a_picture_are_grouped_by_thousands(tmp_path: Path) -> None:
    """1,001 objects, each found."""
    rows = [("001", 0, "Car", (20 * x, 0, 20 * x + 10, 10), 0.5, x) for x in range(1001)]
    page = Page(scene_viewer(tmp_path, rows, rows, "f1").page(View()))
    assert "1,001 found, 0 missed, 0 false alarms" in page.texts


def test_the_ends_of_a_scale_have_a_minus_sign_like_figures(words: str) -> None:
    assert "\N{MINUS SIGN}1.0000" in words
    assert "\N{MINUS SIGN}1.00 " in words
    assert "-1" not in words


def test_where_lower_is_better_the_page_says_so(tmp_path: Path) -> None:
    """OSPA is a distance; F1 is not."""
    words = " ".join(Page(one_object(tmp_path, "ospa").page(View())).texts)
    assert "falcon reaches 1.0000 in OSPA, where lower is better." in words
    assert words.count("lower is better") > 1
    assert "lower is better" not in " ".join(Page(one_object(tmp_path, "f1").page(View())).texts)


def _scales(*values: float) -> tuple[str, str]:
    """Both ends of the scale of a measure with these values, and their positions."""
    measure = Clear.measures[0]
    row = FigureRow("clear", measure, values, (None,) * len(values), None, are_enough=True)
    found = figures_context([row])
    [shown] = found["rows"]
    ends = "{:g} to {:g}".format(*(shown["own"] or found["scale"]))
    return ends, ", ".join(re.findall(r"M([-\d.]+) ", shown["whisker"]))


def test_the_scale_of_perfect_figures_has_two_ends() -> None:
    assert _scales(1.0, 1.0) == ("0.75 to 1", "200, 200")


def test_a_scale_includes_negative_figures() -> None:
    assert _scales(-5.0, -2.75) == ("-5.5 to 0", "18.2, 100")


def test_without_curves_and_choices_there_is_no_section_for_them(tmp_path: Path) -> None:
    viewer = one_object(tmp_path, "clear")
    page = Page(viewer.page(View()))
    assert not {"What counts", "Curves"} & set(page.texts)
    assert "#curves" not in page.all("href")
    assert table_text(viewer, "curves", View()) is None
    assert "Every curve as CSV" not in written_page(viewer, "").decode()


def test_choices_without_curves_are_in_a_section_that_says_so(tmp_path: Path) -> None:
    page = Page(one_object(tmp_path, "clear", "identity").page(View()))
    assert page.texts.count("What counts") == 2  # In the bar, and as a heading.
    assert "Every curve as CSV" not in page.texts


def test_curves_are_in_their_own_section(tmp_path: Path) -> None:
    page = Page(one_object(tmp_path, "f1").page(View()))
    assert page.texts.count("Curves") == 2
    assert "Every curve as CSV" in page.texts
