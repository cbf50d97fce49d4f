"""VisDrone-MOT text: handwritten truth and results, the difference from MOT15, and faults."""

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
from vidscore_evaluators.formats import detect_format
from vidscore_evaluators.formats.convert import convert

TRUTH = """\
1,0,593,43,174,190,0,0,0,0
1,1,10,20,30,40,1,4,1,2
3,1,12,20,30,40,0,1,0,0
3,2,50,60,7,8,0,11,0,0
"""
RESULTS = "1,7,10.5,20,30,40,0.9,4,-1,-1\n3,8,1,2,3,4,2.5,0,-1,-1\n"


def test_truth_is_read_as_written(tmp_path: Path) -> None:
    """Classes 0 and 11 are regions, score 0 is ignored, and every frame up to the last counts."""
    source = truth_of(write(tmp_path / "annotations" / "uav.txt", TRUTH).parent.parent)
    assert source.format == "visdrone-mot"
    region = ObjectFlag.REGION
    assert objects_of(source.annotations) == [
        ("uav", 1, "ignored-regions", (593.0, 43.0, 767.0, 233.0), 1.0, 0, region),
        ("uav", 1, "car", (10.0, 20.0, 40.0, 60.0), 1.0, 1, 0),
        ("uav", 3, "pedestrian", (12.0, 20.0, 42.0, 60.0), 1.0, 1, ObjectFlag.IGNORE),
        ("uav", 3, "others", (50.0, 60.0, 57.0, 68.0), 1.0, 2, region),
    ]
    assert frames_of(source.annotations) == [("uav", 1), ("uav", 2), ("uav", 3)]
    assert column(source.annotations, "truncation") == [0.0, 1.0, 0.0, 0.0]
    assert column(source.annotations, "occlusion") == [0.0, 2.0, 0.0, 0.0]


def test_detections_have_confidences_and_no_flags(tmp_path: Path) -> None:
    side = detections_of(write(tmp_path / "uav.txt", RESULTS)).annotations
    assert [row[2:] for row in objects_of(side)] == [
        ("car", (10.5, 20.0, 40.5, 60.0), 0.9, 7, 0),
        ("ignored-regions", (1.0, 2.0, 4.0, 6.0), 2.5, 8, 0),
    ]
    assert column(side, "occlusion") == [None, None]


@pytest.mark.parametrize(
    ("tails", "name"),
    [
        (("1,4,0,0", "1,0,1,2"), "visdrone-mot"),
        (("0.5,9,-1,-1", "7,1,-1,-1"), "visdrone-mot"),
        (("0,0,0,0", "0,0,0,0"), "visdrone-mot"),  # Ignored regions come first in some files.
        (("1,0,0,0", "1,0,0,0"), "motchallenge"),  # Positions of zero.
        (("1,-1,-1,-1", "1,-1,-1,-1"), "motchallenge"),
        (("1,4,0,0", "1,-1,-1,-1"), "motchallenge"),
        (("1,4,0,0", "1,12,0,0"), "motchallenge"),
        (("1,4,0,0", "1,4,3,0"), "motchallenge"),
        (("1,2,0.5,0", "1,2,1,0"), "motchallenge"),
        (("1,3,1,7.25", "1,3,1,7.5"), "motchallenge"),
    ],
)
def test_every_kind_of_first_row_of_ten_columns_is_distinguished(
    tmp_path: Path, tails: tuple[str, str], name: str
) -> None:
    rows = [f"{frame},1,10,10,40,30,{tail}\n" for frame, tail in enumerate(tails, start=1)]
    path = write(tmp_path / "a.txt", "".join(rows))
    assert detect_format(path).name == detect_format(tmp_path).name == name


def test_a_long_file_is_recognised_by_its_first_rows(tmp_path: Path) -> None:
    """The last of these is cut in the middle of the row."""
    path = write(tmp_path / "a.txt", "".join(f"{n},1,10,10,40,30,1,4,0,0\n" for n in range(1, 999)))
    assert detect_format(path).name == "visdrone-mot"


@pytest.mark.parametrize(
    ("row", "side", "expected"),
    [
        ("0,1,1,1,5,5,1,4,0,0", Side.TRUTH, "column frame: found 0"),
        ("2147483647,1,1,1,5,5,1,4,0,0", Side.TRUTH, "an integer from 1 to 10000000"),
        ("1,-5,1,1,5,5,1,4,0,0", Side.TRUTH, "column id: found -5"),
        ("1,1,1,1,-5,5,1,4,0,0", Side.TRUTH, "column width: found -5.0"),
        ("1,1,1,1,5,5,0.5,4,0,0", Side.TRUTH, "column score: found 0.5, expected 1, or 0"),
        ("1,1,1,1,5,5,1,12,0,0", Side.TRUTH, "column class: found 12"),
        ("1,1,1,1,5,5,,4,-1,-1", Side.DETECTIONS, "column score: found nothing"),
    ],
)
def test_an_invalid_visdrone_row_is_reported_with_its_column(
    tmp_path: Path, row: str, side: Side, expected: str
) -> None:
    path = write(tmp_path / "a.txt", row + "\n")
    [fault] = validate_file(path, side=side, format_name="visdrone-mot")
    assert expected in str(fault)


def test_visdrone_mot_is_written_as_it_was_read(tmp_path: Path) -> None:
    truth = truth_of(write(tmp_path / "uav.txt", TRUTH))
    files = convert(truth, "visdrone-mot", Side.TRUTH).files
    assert files == {"uav.txt": TRUTH.encode()}
    found = detections_of(write(tmp_path / "found" / "uav.txt", RESULTS))
    files = convert(found, "visdrone-mot", Side.DETECTIONS).files
    assert files == {"uav.txt": RESULTS.encode()}
