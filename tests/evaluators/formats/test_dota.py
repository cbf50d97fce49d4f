"""DOTA: handwritten objects and results, names of images, and every fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluators.formats.helpers import (
    detections_of,
    frames_of,
    objects_of,
    truth_of,
    validate_file,
    write,
)

from vidscore_evaluators.annotations import ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import detect_format, read_pair
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.testing import Thing, make_annotations

HEADER = "imagesource:GoogleEarth\ngsd:0.146343590398\n"
PLANE = "10.0 20.0 30.0 25.0 28.0 40.0 8.0 35.0"
PLANE_CORNERS = (10.0, 20.0, 30.0, 25.0, 28.0, 40.0, 8.0, 35.0)
SHIP = "1 2 3 2 3 9 1 9"
SHIP_CORNERS = (1.0, 2.0, 3.0, 2.0, 3.0, 9.0, 1.0, 9.0)
ROW = f"P0706 0.75 {PLANE}\n"


def test_truth_is_read_as_written(tmp_path: Path) -> None:
    """The number of an image is its frame; difficult is ignored; an empty file lists its frame."""
    write(tmp_path / "labelTxt" / "P0706.txt", f"{HEADER}{PLANE} plane 0\n{SHIP} small-vehicle 1\n")
    write(tmp_path / "labelTxt" / "P1088.txt", HEADER)
    source = truth_of(tmp_path)
    assert source.format == "dota"
    assert frames_of(source.annotations) == [("P", 706), ("P", 1088)]
    assert objects_of(source.annotations) == [
        ("P", 706, "plane", PLANE_CORNERS, 1.0, -1, 0),
        ("P", 706, "small-vehicle", SHIP_CORNERS, 1.0, -1, ObjectFlag.IGNORE),
    ]


@pytest.mark.parametrize("header", ["", HEADER, HEADER.replace("\n", "\r\n"), "gsd:null\n"])
@pytest.mark.parametrize(
    ("end", "flag"),
    [("", 0), (" 0", 0), (" 1", ObjectFlag.IGNORE), (" 2", ObjectFlag.IGNORE)],
)
def test_headers_and_difficult_may_be_missing(
    tmp_path: Path, header: str, end: str, flag: int
) -> None:
    """Images that the development kit has cropped have no header, and 2 if it cropped an object."""
    path = write(tmp_path / "P0001__1__0___824.txt", f"{header}{PLANE} plane{end}\n{SHIP} ship 0\n")
    assert detect_format(path).name == "dota"
    assert objects_of(truth_of(path).annotations) == [
        ("P0001__1__0", 824, "plane", PLANE_CORNERS, 1.0, -1, flag),
        ("P0001__1__0", 824, "ship", SHIP_CORNERS, 1.0, -1, 0),
    ]


def test_results_have_a_file_for_each_class(tmp_path: Path) -> None:
    write(tmp_path / "Task1_plane.txt", ROW + f"P1088 -3.5 {SHIP}\n")
    write(tmp_path / "Task1_ground-track-field.txt", f"P0706 1e-3 {SHIP}\n")
    write(tmp_path / "Task1_harbor.txt", "")
    source = detections_of(tmp_path)
    assert source.format == "dota"
    assert objects_of(source.annotations) == [
        ("P", 706, "ground-track-field", SHIP_CORNERS, 0.001, -1, 0),
        ("P", 706, "plane", PLANE_CORNERS, 0.75, -1, 0),
        ("P", 1088, "plane", SHIP_CORNERS, -3.5, -1, 0),
    ]
    alone = detections_of(tmp_path / "Task1_plane.txt")
    assert {row[2] for row in objects_of(alone.annotations)} == {"plane"}


def test_both_sides_are_of_the_same_frames(tmp_path: Path) -> None:
    truth = write(tmp_path / "truth" / "labelTxt" / "P0706.txt", f"{PLANE} plane 0\n").parents[1]
    found = write(tmp_path / "found" / "Task1_plane.txt", ROW).parent
    pair = read_pair(truth, found)
    assert frames_of(pair.truth.annotations) == frames_of(pair.detections.annotations)
    assert not pair.warnings


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        (f"{PLANE} plane -1", "column difficult", "-1"),
        (f"{PLANE} plane x", "column difficult", "'x'"),
        (f"{PLANE.replace('25.0', 'y')} plane 0", "column y2", "'y'"),
        (f"{PLANE.replace('25.0', 'nan')} plane 0", "column y2", "'nan'"),
        (f"{PLANE.replace('25.0', '2e9')} plane 0", "column y2", "2000000000.0"),
        (PLANE, None, "8 columns"),
        (f"{PLANE} storage tank 0", None, "11 columns"),
    ],
)
def test_an_invalid_object_is_named(
    tmp_path: Path, row: str, field: str | None, found: str
) -> None:
    """File, line and column; the rows before and after it can be read."""
    path = write(tmp_path / "P1.txt", f"{HEADER}{PLANE} plane 0\n{row}\n{SHIP} ship\n")
    (fault,) = validate_file(path, format_name="dota")
    assert (fault.source, fault.line) == (str(path), 4)
    assert (fault.field, fault.found) == (field, found)
    assert truth_of(path, format_name="dota", on_error="skip").annotations.object_count == 2


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        (ROW.replace("0.75", "nan"), "column confidence", "'nan'"),
        (ROW.replace("28.0", "z"), "column x3", "'z'"),
        (ROW.replace("P0706", "airport"), "column image", "'airport'"),
        ("P0706 0.5 10 20 30 40\n", None, "6 columns"),
    ],
)
def test_an_invalid_result_is_named(
    tmp_path: Path, row: str, field: str | None, found: str
) -> None:
    path = write(tmp_path / "Task1_plane.txt", ROW + row + ROW)
    (fault,) = validate_file(path, side=Side.DETECTIONS, format_name="dota")
    assert (fault.source, fault.line) == (str(path), 2)
    assert (fault.field, fault.found) == (field, found)


def test_other_file_names_are_refused(tmp_path: Path) -> None:
    """A result file that names no class, and an image whose name does not end with a number."""
    wrong = write(tmp_path / "a" / "plane.txt", ROW)
    (fault,) = validate_file(wrong, side=Side.DETECTIONS, format_name="dota")
    assert fault.found == "the name 'plane.txt'"
    image = write(tmp_path / "b" / "airport.txt", f"{PLANE} plane 0\n")
    (fault,) = validate_file(image)
    assert (fault.found, fault.source) == ("the name 'airport.txt'", str(image))


def test_exchanged_sides_are_reported(tmp_path: Path) -> None:
    truth = write(tmp_path / "t" / "P1.txt", f"{PLANE} plane 0\n").parent
    found = write(tmp_path / "d" / "Task1_plane.txt", ROW).parent
    for path, side in ((found, Side.TRUTH), (truth, Side.DETECTIONS)):
        (fault,) = validate_file(path, side=side, format_name="dota")
        assert "the other side" in (fault.advice or "")


def test_the_format_is_recognised(tmp_path: Path) -> None:
    """Objects by their first row or header, results by their names and first row."""
    objects = write(tmp_path / "t" / "labelTxt" / "P1.txt", f"{PLANE} plane 0\n")
    header = write(tmp_path / "h" / "P1.txt", HEADER)
    results = write(tmp_path / "d" / "Task1_plane.txt", ROW)
    write(results.parent / "Task1_bridge.txt", "")
    for path in (objects, objects.parent, objects.parents[1], header, results, results.parent):
        assert detect_format(path).name == "dota"


def test_written_files_have_the_form_that_the_benchmark_reads() -> None:
    """`<image>.txt` in labelTxt with ten values per row, and Task1 files with ten."""
    things = [Thing(PLANE_CORNERS, "plane", 0.25), Thing(SHIP_CORNERS, "ship", 1.0, flags=1)]
    side = make_annotations({("", "P"): {706: things, 9: []}})
    truth = convert(Source(side, "given"), "dota", Side.TRUTH)
    assert truth.files == {
        "labelTxt/P_0009.txt": b"",
        "labelTxt/P_0706.txt": (b"10 20 30 25 28 40 8 35 plane 0\n1 2 3 2 3 9 1 9 ship 1\n"),
    }
    alone = make_annotations({("", "P"): {706: things[:1], 9: []}})
    found = convert(Source(alone, "given"), "dota", Side.DETECTIONS)
    assert found.files == {"Task1_plane.txt": b"P_0706 0.25 10 20 30 25 28 40 8 35\n"}


def test_upright_boxes_are_written_as_four_corners() -> None:
    side = make_annotations({("", "P"): {1: [Thing((0, 0, 4, 2), "plane")]}})
    files = convert(Source(side, "given"), "dota", Side.TRUTH).files
    assert files == {"labelTxt/P_0001.txt": b"0 0 4 0 4 2 0 2 plane 0\n"}


def test_data_that_dota_cannot_hold_is_refused() -> None:
    """A class of two words, and a sequence whose name would run into the number."""
    words = make_annotations({("", "P"): {1: [Thing(SHIP_CORNERS, "storage tank")]}})
    with pytest.raises(InputError, match="a class of one word"):
        convert(Source(words, "given"), "dota", Side.TRUTH)
    name = make_annotations({("", "P_"): {1: [Thing(SHIP_CORNERS, "ship")]}})
    assert name.sequences == (SequenceKey("", "P_"),)
    with pytest.raises(InputError, match="does not end with"):
        convert(Source(name, "given"), "dota", Side.DETECTIONS)


@pytest.mark.parametrize("side", [Side.TRUTH, Side.DETECTIONS])
def test_a_missing_path_is_reported(tmp_path: Path, side: Side) -> None:
    (fault,) = validate_file(tmp_path / "Task1", side=side, format_name="dota")
    assert fault.found == "file not found"
