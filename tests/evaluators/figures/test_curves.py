"""Curves as SVG: parsed as XML, and compared with positions worked out by hand."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vidscore_evaluators.figures.axes import Axis
from vidscore_evaluators.figures.curves import CurveChart, Line

NAMES = {"svg": "http://www.w3.org/2000/svg"}
NAN = float("nan")


def chart(*lines: Line, x: Axis | None = None, y: Axis | None = None) -> CurveChart:
    return CurveChart("A curve", x or Axis("threshold"), y or Axis("recall"), lines)


def line(x: list[float], y: list[float], label: str = "") -> Line:
    return Line(label, np.array(x, dtype=np.float64), np.array(y, dtype=np.float64))


def parsed(picture: CurveChart, **options: str) -> ET.Element:
    return ET.fromstring(picture.svg(**options))


def paths(root: ET.Element, name: str) -> list[str]:
    return [
        path.attrib["d"] for path in root.findall("svg:path", NAMES) if path.get("class") == name
    ]


def texts(root: ET.Element) -> list[str]:
    return [text.text or "" for text in root.findall("svg:text", NAMES)]


def test_points_are_drawn_where_the_ticks_say() -> None:
    """The plot goes from 44 to 448 across, and from 298 up to 30."""
    root = parsed(chart(line([0.0, 0.5, 1.0], [0.0, 1.0, 0.25])))
    assert paths(root, "a") == ["M44 298L246 30L448 231"]
    assert texts(root)[:10] == ["0", "0.25", "0.5", "0.75", "1", "0", "0.25", "0.5", "0.75", "1"]
    assert texts(root)[10:] == ["threshold", "recall"]


def test_null_points_leave_gaps_and_single_points_are_visible() -> None:
    root = parsed(chart(line([0.0, 0.25, 0.5, 0.75, 1.0, NAN], [0.0, 1.0, NAN, 1.0, NAN, 0.0])))
    assert paths(root, "a") == ["M44 298L145 30M345.5 30h3"]


def test_infinite_points_leave_gaps() -> None:
    root = parsed(chart(line([0.0, 1.0, 1.0], [0.0, 1.0, float("inf")])))
    assert paths(root, "a") == ["M44 298L448 30"]


def test_lines_are_distinguished_by_their_strokes_and_labels() -> None:
    picture = chart(*(line([0.0, 1.0], [0.0, 1.0 / number], f"s{number}") for number in (1, 2, 3)))
    found = {path.get("class"): path for path in parsed(picture).findall("svg:path", NAMES)}
    assert [found[name].get("stroke-dasharray") for name in ("a", "b", "b dots")] == [
        None,
        "6 4",
        "2 3",
    ]
    assert set(texts(parsed(picture))) >= {"s1", "s2", "s3"}
    strong = [text.text for text in parsed(picture).findall("svg:text[@class='strong']", NAMES)]
    assert strong == ["s1"]


def test_title_and_description_contain_the_finding() -> None:
    first = Line("falcon", np.array([0.0, 0.5]), np.array([0.0, 0.8]), point=(0.25, 0.4))
    second = line([0.0, 0.5], [0.125, 0.7], "mole")
    root = parsed(CurveChart("ROC", Axis("false alarms a frame"), Axis("recall"), [first, second]))
    title, told = root.find("svg:title", NAMES), root.find("svg:desc", NAMES)
    assert title is not None
    assert told is not None
    assert title.text == "ROC"
    assert told.text == (
        "falcon: recall 0.4 at false alarms a frame 0.25. "
        "mole: recall from 0.125 at false alarms a frame 0 to 0.7 at false alarms a frame 0.5."
    )
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], told.attrib["id"]]
    assert root.attrib["role"] == "img"


def test_ids_are_the_given_ones_or_unique_per_picture() -> None:
    first, second = chart(line([0.0], [1.0])), chart(line([0.0], [0.5]))
    assert parsed(first, name="c1").attrib["aria-labelledby"] == "c1-title c1-desc"
    assert parsed(first).attrib["aria-labelledby"] != parsed(second).attrib["aria-labelledby"]


def test_the_operating_point_of_the_first_line_has_guides_to_both_axes() -> None:
    first = Line("a", np.array([0.0, 1.0]), np.array([0.0, 1.0]), point=(0.5, 0.5))
    second = Line("b", np.array([0.0, 1.0]), np.array([0.0, 0.5]), point=(1.0, 0.5))
    root = parsed(chart(first, second))
    assert paths(root, "ptl") == ["M246 298V164H44"]
    circles = [
        (circle.get("class"), circle.get("cx"), circle.get("cy"))
        for circle in root.findall("svg:circle", NAMES)
    ]
    assert circles == [("pt", "246", "164"), ("f-ink", "448", "164")]


def test_a_band_is_drawn_where_both_of_its_ends_are_known() -> None:
    lower, upper = np.array([0.0, 0.25, 0.5, NAN]), np.array([0.25, 0.75, 1.0, 1.0])
    own = Line("", np.arange(4.0), np.array([0.0, 0.5, 0.75, 1.0]), band=(lower, upper))
    # A third of 404 is 134.67; a quarter of 268 is 67.
    axis = Axis("frame", covers=(0.0, 4.0))
    assert paths(parsed(chart(own, x=axis)), "band") == [
        "M44 298L145 231L246 164L246 30L145 97L44 231Z"
    ]


def test_an_empty_chart_keeps_its_axes_and_says_so() -> None:
    for picture in (chart(), chart(line([], [])), chart(line([NAN], [1.0]))):
        assert "no defined point" in texts(parsed(picture))
        assert paths(parsed(picture), "ax") == ["M44 298H448"]


def test_powers_of_ten_are_equidistant_on_a_logarithmic_axis() -> None:
    root = parsed(chart(line([0.0, 0.01, 0.1, 1.0], [1.0, 1.0, 0.5, 0.0]), x=Axis("x", (), True)))
    assert paths(root, "a") == ["M44 30L246 164L448 298"]
    assert texts(root)[5:8] == ["0.01", "0.1", "1"]


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ([0.0, 0.0], ["0", "0.25", "0.5", "0.75", "1"]),
        ([0.7, 0.7], ["0", "0.2", "0.4", "0.6", "0.8"]),
        ([0.91, 0.99], ["0.9", "0.92", "0.94", "0.96", "0.98", "1"]),
        ([-3.0, 4.0], ["\u22124", "\u22122", "0", "2", "4"]),
        ([0.0, 1_000_000.0], ["0", "250,000", "500,000", "750,000", "1,000,000"]),
    ],
)
def test_ticks_are_round_and_cover_all_values(values: list[float], ticks: list[str]) -> None:
    assert texts(parsed(chart(line([0.0, 1.0], values))))[: len(ticks)] == ticks


def test_a_long_line_keeps_its_single_maximum_and_minimum() -> None:
    y = np.zeros(100_000)
    y[51_300], y[77_777] = 1.0, -1.0
    picture = chart(Line("", np.arange(len(y), dtype=np.float64), y))
    [path] = paths(parsed(picture), "a")
    # 100,000 frames are 404 wide; 1 is at 30, 0 at 164, -1 at 298.
    left = picture.position(0.0, 0.0)[0]
    scale = (448 - left) / 100_000
    assert f"{left + 51_300 * scale:.1f} 30" in path
    assert f"{left + 77_777 * scale:.1f} 298" in path
    assert path.count("L") + path.count("M") <= 400


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.001, 0.5]))
def test_a_line_has_at_most_400_points_however_many_gaps(seed: int, gaps: float) -> None:
    draw = np.random.default_rng(seed)
    y = draw.normal(size=5_000)
    y[draw.random(len(y)) < gaps] = NAN
    [path] = paths(parsed(chart(Line("", draw.normal(size=len(y)), y))), "a")
    assert path.count("L") + path.count("M") <= 400


@given(st.text(), st.text(), st.text())
def test_every_text_is_escaped(title: str, axis: str, label: str) -> None:
    picture = CurveChart(title, Axis(axis), Axis("y"), [line([0.0, 1.0], [0.0, 1.0], label)])
    root = ET.fromstring(picture.svg(name=label))
    assert {element.tag.split("}")[1] for element in root} <= {"title", "desc", "path", "text"}


floats = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(st.tuples(floats, floats), max_size=8), st.booleans())
@example([(0.0, 5e-324)], False)
@example([(-5e-324, 1e-310), (2e-305, -3e-306)], False)
def test_any_numbers_give_a_picture_within_its_frame(
    points: list[tuple[float, float]], logarithmic: bool
) -> None:
    x, y = [point[0] for point in points], [point[1] for point in points]
    root = parsed(chart(line(x, y), x=Axis("x", (), logarithmic), y=Axis("y", (), logarithmic)))
    drawn = " ".join(paths(root, "a"))
    numbers = [float(number) for number in re.findall(r"-?\d+\.?\d*", drawn.replace("h3", ""))]
    assert all(-2 <= number <= 460 for number in numbers)
    assert "nan" not in drawn


def test_no_style_attribute_and_no_colour_of_its_own() -> None:
    own = Line("a", np.arange(3.0), np.arange(3.0), (np.zeros(3), np.ones(3)), (1.0, 1.0))
    text = chart(own, line([0.0], [1.0], "b")).svg()
    assert "style=" not in text
    assert set(re.findall(r' (?:fill|stroke)="([^"]*)"', text)) == {"currentColor", "none"}


LONG_NAMES = [
    "abbbbbbbbbbbbbbbbbbbbbbbbbbbbbb-very-long-team-name-of-an-institute",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "\u81ea\u8ee2\u8eca" * 20,
    "laboratory of machine vision",
]


def placed(picture: CurveChart) -> dict[str, tuple[float, float]]:
    """Left end and baseline of each label, by its text."""
    count = sum(each.label != "" for each in picture.lines)
    return {
        text.text or "": (float(text.attrib["x"]), float(text.attrib["y"]))
        for text in parsed(picture).findall("svg:text", NAMES)[-count:]
    }


@pytest.mark.parametrize("name", LONG_NAMES, ids=["letters", "wide", "ideographs", "words"])
@pytest.mark.parametrize("weight", ["normal", "bold"])
def test_names_of_curves_end_within_the_picture(name: str, weight: str) -> None:
    """Measured with the widest of the common fonts."""
    image_font = pytest.importorskip("PIL.ImageFont")
    fonts = pytest.importorskip("matplotlib.font_manager")
    font = image_font.truetype(fonts.findfont(f"DejaVu Sans:{weight}"), 120)
    level = line([0.0, 1.0], [0.95, 0.95], name)
    other = line([0.0, 1.0], [0.5, 0.5], "")
    lines = [level, other] if weight == "bold" else [other, level]
    shown = placed(chart(*lines))
    [(text, (left, _))] = shown.items()
    assert left + font.getlength(text) / 10 <= 460
    assert text.endswith(name[-4:])


def test_a_long_name_is_beside_its_own_curve_and_on_no_band_of_another() -> None:
    """For two systems of which the second falls off early, with values from a real page."""
    x = np.linspace(0.0, 0.8, 30)
    own = 0.97 - 0.06 * x
    first = Line("ca", x, own, (own - 0.02, own + 0.02), (0.8, own[-1]))
    x = np.linspace(0.0, 0.67, 30)
    y = 0.99 - 0.3 * x**2
    name = "cb with long name of a system baseline v2"
    second = Line(name, x, y, (y - 0.02, y + 0.01), (0.67, y[-1]))
    picture = chart(first, second, x=Axis("recall", (0.0, 1.0)), y=Axis("precision", (0.8, 1.0)))
    shown = placed(picture)
    [(text, (left, baseline))] = [item for item in shown.items() if item[0].startswith("cb")]
    middle = np.array([left + 3.3 * len(text), baseline - 4])
    to_curves = [
        min(
            np.hypot(*(np.array(picture.position(*point)) - middle))
            for point in zip(each.x.tolist(), each.y.tolist(), strict=True)
        )
        for each in picture.lines
    ]
    assert to_curves[1] < to_curves[0]
    _, upper_end = picture.position(0.0, float((own - 0.02).min()))
    assert baseline - 9 > upper_end or left > picture.position(0.8, 0.9)[0]
