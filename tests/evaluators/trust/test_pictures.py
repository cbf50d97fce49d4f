"""Pictures of ranks show who is ahead, and who is tied."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np

from vidscore_evaluators.trust.pictures import colour_of, rank_picture


def test_a_picture_has_a_line_and_a_name_for_each_system() -> None:
    """One polyline a system through all values, in colours that differ; names are escaped."""
    ranks = np.array([[1, 2, 3], [2, 1, 3], [1, 1, 3]])
    systems = ["a & b", "<c>", "d"]
    picture = rank_picture("A title", "threshold", [0.1, 0.2, 0.3], ranks, systems)
    root = ET.fromstring(picture)
    lines = root.findall(".//{*}polyline")
    assert [len(line.attrib["points"].split()) for line in lines] == [3, 3, 3]
    assert len({line.attrib["stroke"] for line in lines}) == 3
    texts = [text.text for text in root.findall(".//{*}text")]
    assert {"A title", "threshold", "0.1", "0.2", "0.3", *systems} <= set(texts)


def test_a_better_rank_is_higher_in_a_picture() -> None:
    ranks = np.array([[1, 2], [2, 1]])
    picture = rank_picture("", "t", [0.0, 1.0], ranks, ["a", "b"])
    first = ET.fromstring(picture).findall(".//{*}polyline")[0].attrib["points"]
    (_, before), (_, after) = (point.split(",") for point in first.split())
    assert float(before) < float(after)


def test_neighbouring_colours_differ() -> None:
    colours = [colour_of(index, 30) for index in range(30)]
    assert len(set(colours)) == 30


def test_tied_systems_have_the_same_rank_beside_their_names() -> None:
    """a, b and c end at ranks 1, 1 and 3; the second name is lower, but not of a lower rank."""
    picture = rank_picture("", "t", [0.0, 1.0], np.array([[3, 1, 2], [1, 1, 3]]), ["a", "b", "c"])
    root = ET.fromstring(picture)
    said = {}
    for group in root.findall(".//{*}g/{*}g"):
        rank, name = (text.text for text in group.findall("{*}text"))
        [leader] = group.findall("{*}path")
        points = re.findall(r"[\d.]+", leader.attrib["d"])
        said[name] = (rank, float(points[1]))
    ends = [float(line.attrib["points"].split(",")[-1]) for line in root.findall(".//{*}polyline")]
    assert said == {"a": ("1.", ends[0]), "b": ("1.", ends[0]), "c": ("3.", ends[2])}


def test_a_line_of_tied_systems_has_the_colours_of_all() -> None:
    """a and b are tied from the second value to the third only."""
    ranks = np.array([[1, 2, 3], [1, 1, 3], [1, 1, 3]])
    root = ET.fromstring(rank_picture("", "t", [0.0, 1.0, 2.0], ranks, ["a", "b", "c"]))
    dashed = [path for path in root.findall(".//{*}path") if "stroke-dasharray" in path.attrib]
    assert [path.attrib["stroke"] for path in dashed] == [colour_of(0, 3), colour_of(1, 3)]
    assert {path.attrib["stroke-dasharray"] for path in dashed} == {"8 8"}
    shifts = [float(path.attrib["stroke-dashoffset"]) for path in dashed]
    assert shifts[0] - shifts[1] == 8


def test_long_names_are_cut_in_their_middle_and_stay_in_the_picture() -> None:
    name = "detector " * 30 + "v2"
    root = ET.fromstring(rank_picture("", "t", [0.5], np.array([[1, 2]]), [name, "short"]))
    width = float(root.attrib["viewBox"].split()[2])
    shown = [text.text or "" for text in root.findall(".//{*}text")]
    [cut] = [text for text in shown if text.startswith("detector")]
    assert cut.endswith("v2")
    assert len(cut) < 60
    assert width <= 1000
    assert name in [title.text for title in root.findall(".//{*}title")]
