"""VisDrone-DET text: handwritten truth and results, and every fault."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.evaluators.formats.helpers import (
    column,
    detections_of,
    frames_of,
    objects_of,
    truth_of,
    validate_file,
    write,
)

from vidscore_evaluators.annotations import ObjectFlag, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import detect_format
from vidscore_evaluators.formats.convert import convert

TRUTH = """\
684,8,273,116,0,0,0,0
708,471,74,33,1,4,0,1,
10,20,5,6,0,11,-1,-1
"""
RESULT = "708,471,74,33,0.98,4,-1,-1\n"
IMAGE = "0000001_02999_d_0000005"


def test_truth_is_read_as_written(tmp_path: Path) -> None:
    """Class 0 is a region, score 0 an ignored object, -1 unknown; a trailing comma is accepted."""
    write(tmp_path / "annotations" / f"{IMAGE}.txt", TRUTH)
    write(tmp_path / "annotations" / "0000001_02999_d_0000006.txt", "")
    source = truth_of(tmp_path)
    assert source.format == "visdrone-det"
    name = "0000001_02999_d"
    assert frames_of(source.annotations) == [(name, 5), (name, 6)]
    region, ignored = ObjectFlag.REGION, ObjectFlag.IGNORE
    assert objects_of(source.annotations) == [
        (name, 5, "ignored-regions", (684.0, 8.0, 957.0, 124.0), 1.0, -1, region),
        (name, 5, "car", (708.0, 471.0, 782.0, 504.0), 1.0, -1, 0),
        (name, 5, "others", (10.0, 20.0, 15.0, 26.0), 1.0, -1, ignored),
    ]
    assert column(source.annotations, "truncation") == [0.0, 0.0, None]
    assert column(source.annotations, "occlusion") == [0.0, 1.0, None]


def test_results_have_scores_and_no_flags(tmp_path: Path) -> None:
    path = write(tmp_path / f"{IMAGE}.txt", RESULT + "1.5,2,3,4,-7,0,-1,-1\n")
    found = detections_of(path).annotations
    assert [row[2:5] for row in objects_of(found)] == [
        ("car", (708.0, 471.0, 782.0, 504.0), 0.98),
        ("ignored-regions", (1.5, 2.0, 4.5, 6.0), -7.0),
    ]
    assert {row[6] for row in objects_of(found)} == {0}


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        (RESULT.replace(",4,", ",12,"), "column class", "12"),
        (RESULT.replace(",4,", ",x,"), "column class", "'x'"),
        (RESULT.replace("74", "-74"), "column width", "-74.0"),
        (RESULT.replace("708", "2e9"), "column left", "2000000000.0"),
        (RESULT.replace("0.98", "nan"), "column score", "'nan'"),
        (RESULT.replace(",-1,-1", ",-1"), None, "7 columns"),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, row: str, field: str | None, found: str) -> None:
    path = write(tmp_path / f"{IMAGE}.txt", RESULT + row + RESULT)
    (fault,) = validate_file(path, side=Side.DETECTIONS)
    assert (fault.source, fault.line) == (str(path), 2)
    assert (fault.field, fault.found) == (field, found)
    assert detections_of(path, on_error="skip").annotations.object_count == 2


def test_a_box_may_have_no_area_or_the_maximum_width(tmp_path: Path) -> None:
    path = write(tmp_path / f"{IMAGE}.txt", "7,8,0,0,1,4,0,0\n0,0,1e9,1e9,1,4,0,0\n")
    assert [row[3] for row in objects_of(truth_of(path).annotations)] == [
        (7.0, 8.0, 7.0, 8.0),
        (0.0, 0.0, 1e9, 1e9),
    ]


def test_a_score_of_the_truth_is_0_or_1(tmp_path: Path) -> None:
    path = write(tmp_path / f"{IMAGE}.txt", RESULT)
    (fault,) = validate_file(path)
    assert (fault.field, fault.found) == ("column score", "0.98")


def test_an_image_must_be_named_by_its_frame(tmp_path: Path) -> None:
    write(tmp_path / "street.txt", RESULT)
    (fault,) = validate_file(tmp_path, format_name="visdrone-det", side=Side.DETECTIONS)
    assert fault.found == "the name 'street.txt'"
    (fault,) = validate_file(tmp_path / "b", format_name="visdrone-det")
    assert fault.found == "file not found"


def test_written_files_are_read_back(tmp_path: Path) -> None:
    last = TRUTH.splitlines(keepends=True)[-1]
    for name, truth in ((IMAGE, TRUTH), ("0000001_02999_d_0000006", last)):
        write(tmp_path / "annotations" / f"{name}.txt", truth)
        write(tmp_path / "results" / f"{name}.txt", RESULT * 2)
    for side, source in (
        (Side.TRUTH, truth_of(tmp_path)),
        (Side.DETECTIONS, detections_of(tmp_path / "results")),
    ):
        conversion = convert(source, "visdrone-det", side)
        assert conversion.remarks == ()
        for name, data in conversion.files.items():
            write(tmp_path / "again" / side / name, data.decode())
        again = (truth_of if side is Side.TRUTH else detections_of)(tmp_path / "again" / side)
        assert objects_of(again.annotations) == objects_of(source.annotations)


@pytest.mark.parametrize("name", ["visdrone-det", "visdrone-mot"])
def test_a_class_that_visdrone_lacks_is_not_written(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "a.csv", "sequence,frame,class,x1,y1,x2,y2\na,1,tree,1,2,3,4\n")
    with pytest.raises(InputError) as caught:
        convert(truth_of(path), name, Side.TRUTH)
    (fault,) = caught.value.faults
    assert (fault.field, fault.found) == ("class", "tree")
    assert fault.expected.startswith("a class of VisDrone: ignored-regions, pedestrian, people")


def test_the_format_is_recognised(tmp_path: Path) -> None:
    """Not as MOTChallenge, whose rows of eight values have a height in place of the class."""
    path = write(tmp_path / "a" / f"{IMAGE}.txt", TRUTH)
    assert detect_format(path).name == detect_format(path.parent).name == "visdrone-det"
    other = write(tmp_path / "b" / "MOT17-02.txt", "1,7,11,10,40,30,0.9,1\n")
    assert detect_format(other).name == detect_format(other.parent).name == "motchallenge"
