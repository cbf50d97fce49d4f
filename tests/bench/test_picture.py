"""The picture of growth has a panel, a curve and a dashed line for each measurement."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from bench.picture import BOTTOM, HEIGHT, LEFT, TOP, growth_picture
from bench.rows import Point

SVG = "{http://www.w3.org/2000/svg}"


def test_each_panel_has_a_curve_and_a_line_of_linear_growth_for_each_series() -> None:
    points = [
        Point(panel, series, x, time_s)
        for panel in ("frames", "classes")
        for series in ("a", "b <c>")
        for x, time_s in ((10, 0.1), (100, 2.0))
    ]
    picture = ET.fromstring(growth_picture(points))
    assert len(list(picture.iter(f"{SVG}polyline"))) == 4
    assert len(list(picture.iter(f"{SVG}circle"))) == 8
    dashed = [path for path in picture.iter(f"{SVG}path") if path.get("stroke-dasharray")]
    assert len(dashed) == 4
    texts = [text.text for text in picture.iter(f"{SVG}text")]
    assert {"frames", "classes", "a", "b <c>", "10", "100", "0.1 s", "10 s"} <= set(texts)


def test_linear_growth_lies_on_its_dashed_line() -> None:
    """From 0.1 s to 10 s, the whole height, while the axis grows a hundredfold."""
    picture = growth_picture([Point("frames", "a", 1, 0.1), Point("frames", "a", 100, 9.999999)])
    bottom, top = float(HEIGHT - BOTTOM), float(TOP)
    assert f'd="M{float(LEFT)} {bottom}L284.0 {top}"' in picture
    assert f'points="{float(LEFT)},{bottom} 284.0,{top}"' in picture
