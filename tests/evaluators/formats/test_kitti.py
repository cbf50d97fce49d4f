"""KITTI tracking text: handwritten truth and results, and every fault."""

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
from vidscore_evaluators.formats import detect_format, read_pair

TRUTH = """\
0 -1 DontCare -1 -1 -10.000000 219.5 188.25 245 218 -1000 -1000 -1000 -10 -1 -1 -1
0 2 Pedestrian 0 2 -2.523309 1106.25 166.5 1204 323 1.714062 0.767881 0.972283 6.3 1.4 8.4 -1.8
3 2 Van 1 0 -1.5 0 0 10 20 1 1 1 1 1 1 1
"""
RESULT = "0 5 Car -1 -1 -10 1 2 3.5 4 -1 -1 -1 -1000 -1000 -1000 -10 0.75\n"


def test_truth_is_read_as_written(tmp_path: Path) -> None:
    """Frames and pixels from 0, right and bottom with nothing added; DontCare is a region."""
    source = truth_of(write(tmp_path / "label_02" / "0000.txt", TRUTH).parents[1])
    assert source.format == "kitti-tracking"
    side = source.annotations
    assert objects_of(side) == [
        ("0000", 0, "DontCare", (219.5, 188.25, 245.0, 218.0), 1.0, -1, ObjectFlag.REGION),
        ("0000", 0, "Pedestrian", (1106.25, 166.5, 1204.0, 323.0), 1.0, 2, 0),
        ("0000", 3, "Van", (0.0, 0.0, 10.0, 20.0), 1.0, 2, 0),
    ]
    assert column(side, "truncation") == [None, 0.0, 1.0]
    assert column(side, "occlusion") == [None, 2.0, 0.0]


def test_results_have_scores(tmp_path: Path) -> None:
    source = detections_of(write(tmp_path / "0000.txt", RESULT))
    assert objects_of(source.annotations) == [("0000", 0, "Car", (1.0, 2.0, 3.5, 4.0), 0.75, 5, 0)]
    plain = detections_of(write(tmp_path / "1.txt", RESULT.replace(" 0.75", "")))
    assert [row[4] for row in objects_of(plain.annotations)] == [1.0]


def test_sides_are_paired_by_the_names_of_files(tmp_path: Path) -> None:
    truth = write(tmp_path / "truth" / "0000.txt", TRUTH).parent
    found = write(tmp_path / "found" / "0001.txt", RESULT).parent
    write(found / "0000.txt", RESULT)
    pair = read_pair(truth, found, on_error="skip")
    assert {row[0] for row in objects_of(pair.detections.annotations)} == {"0000"}
    assert [warning.code for warning in pair.warnings] == ["skipped_rows"]


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        (RESULT.replace("0 5 Car", "-1 5 Car"), "column frame", "-1"),
        (RESULT.replace("0 5 Car", "0 -5 Car"), "column track_id", "-5"),
        (RESULT.replace("Car", "DontCare"), "column type", "'DontCare'"),
        (RESULT.replace("3.5", "x"), "column right", "'x'"),
        (RESULT.replace("3.5", "2e9"), "column right", "2000000000.0"),
        (RESULT.replace("0.75", "nan"), "column score", "'nan'"),
        (RESULT.replace(" 0.75", ","), "column score", "nothing"),
        (RESULT.replace(" 0.75", ""), None, "17 columns"),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, row: str, field: str | None, found: str) -> None:
    """File, line and column; the lines before and after it can be read."""
    path = write(tmp_path / "0000.txt", RESULT + "\n" + row + RESULT)
    (fault,) = validate_file(path, side=Side.DETECTIONS)
    assert (fault.source, fault.line) == (str(path), 3)
    assert (fault.field, fault.found) == (field, found)
    assert detections_of(path, on_error="skip").annotations.object_count == 2


def test_faults_of_several_files_are_placed_in_each(tmp_path: Path) -> None:
    """Rows of all files are read together, and faults are placed in their own file."""
    for name, line in (("a", 1), ("b", 2)):
        write(tmp_path / f"{name}.txt", RESULT * (line - 1) + RESULT.replace("3.5", "2e9"))
    write(tmp_path / "empty.txt", "")
    faults = validate_file(tmp_path, side=Side.DETECTIONS)
    assert [(Path(fault.source or "").name, fault.line) for fault in faults] == [
        ("a.txt", 1),
        ("b.txt", 2),
    ]


def test_the_format_is_recognised(tmp_path: Path) -> None:
    path = write(tmp_path / "0000.txt", TRUTH)
    assert detect_format(path).name == detect_format(tmp_path).name == "kitti-tracking"


LABELS = "0 1 Car 0 0 -1.5 10 20 40 60 1 1 1 1 1 1 1\n2 1 Car 0 0 -1.5 10 20 40 60 1 1 1 1 1 1 1\n"


@pytest.mark.parametrize("below", ["", "label_02"])
def test_a_seqmap_lists_every_frame(tmp_path: Path, below: str) -> None:
    """In the folder of the labels or above it, with any ending; other sequences do not matter."""
    write(tmp_path / "label_02" / "0001.txt", LABELS)
    seqmap = "0001 empty 000000 000004\n0007 empty 000000 000009\n"
    write(tmp_path / "evaluate_tracking.seqmap.training", seqmap)
    assert frames_of(truth_of(tmp_path / below).annotations) == [
        ("0001", number) for number in (0, 1, 2, 3)
    ]


@pytest.mark.parametrize(
    ("seqmap", "expected"),
    [
        ("0001 empty 000000\n", "line 1: found '0001 empty 000000'"),
        ("0001 empty 000003 000009\n", "expected a sequence, a word, 0 and a number of frames"),
        ("0001 empty 000000 000002\n", "expected a frame within the length of the seqmap"),
        ("0001 e 0 3\n0001 e 0 4\n", "line 2: found 4 frames, expected 3"),
    ],
)
def test_a_seqmap_that_does_not_fit_is_refused(tmp_path: Path, seqmap: str, expected: str) -> None:
    path = write(tmp_path / "label_02" / "0001.txt", LABELS).parent
    write(tmp_path / "evaluate_tracking.seqmap", seqmap)
    [fault] = validate_file(path)
    assert expected in str(fault)


def test_faults_of_a_seqmap_are_reported_beside_those_of_rows(tmp_path: Path) -> None:
    path = write(tmp_path / "label_02" / "0001.txt", LABELS.replace("2 1 Car", "x 1 Car")).parent
    write(tmp_path / "evaluate_tracking.seqmap", "0001 empty 000000\n")
    assert sorted(fault.found for fault in validate_file(path)) == ["'0001 empty 000000'", "'x'"]


def test_a_frame_far_beyond_the_length_of_the_seqmap_is_refused(tmp_path: Path) -> None:
    """Without a seqmap it is a frame."""
    greatest = 2**53 - 1
    path = write(tmp_path / "0001.txt", LABELS.replace("2 1 Car", f"{greatest} 1 Car")).parent
    assert frames_of(truth_of(path).annotations) == [("0001", 0), ("0001", greatest)]
    write(tmp_path / "evaluate_tracking.seqmap", "0001 empty 000000 000004\n")
    [fault] = validate_file(path)
    assert (fault.line, fault.expected) == (2, "a frame within the length of the seqmap")
    write(path / "0001.txt", LABELS.replace("2 1 Car", f"{greatest + 1} 1 Car"))
    [fault] = validate_file(path)
    assert (fault.line, fault.expected) == (2, "an integer from 0 to 9007199254740991")


def test_labels_of_detections_are_matched_with_those_of_the_truth_in_any_case(
    tmp_path: Path,
) -> None:
    truth = write(tmp_path / "truth" / "0001.txt", LABELS).parent
    found = write(tmp_path / "found" / "0001.txt", LABELS.replace("Car", "car")).parent
    assert read_pair(truth, found).detections.annotations.labels == ("Car",)
