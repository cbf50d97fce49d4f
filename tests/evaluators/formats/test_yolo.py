"""YOLO text: handwritten files, their names and sizes, and every fault."""

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

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import detect_format, read_pair
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.scoring import read

SIZE = (640, 480)
ROW = "1 0.5 0.25 0.125 0.5\n"


def labels(root: Path, files: dict[str, str], classes: str = "car\nfire truck\n") -> Path:
    for name, text in files.items():
        write(root / name, text)
    if classes:
        write(root / "classes.txt", classes)
    return root


def test_truth_is_read_as_written(tmp_path: Path) -> None:
    """Centre and size as fractions of 640 x 480; an empty file lists its frame."""
    root = labels(tmp_path, {"000007.txt": ROW, "000003.txt": ""})
    source = truth_of(root, image_size=SIZE)
    assert source.format == "yolo-text"
    assert frames_of(source.annotations) == [("images", 3), ("images", 7)]
    assert objects_of(source.annotations) == [
        ("images", 7, "fire truck", (280.0, 0.0, 360.0, 240.0), 1.0, -1, 0)
    ]


def test_names_of_files_give_sequence_and_frame(tmp_path: Path) -> None:
    flat = labels(tmp_path / "flat", {"street_01.txt": ROW, "street_2.txt": "", "7.txt": ""})
    assert frames_of(truth_of(flat, image_size=SIZE).annotations) == [
        ("images", 7),
        ("street", 1),
        ("street", 2),
    ]
    deep = labels(tmp_path / "deep", {"a/frame1.txt": ROW, "b/frame1.txt": ""})
    assert frames_of(truth_of(deep, image_size=SIZE).annotations) == [("a", 1), ("b", 1)]


def test_a_folder_whose_name_no_sequence_may_have_is_named(tmp_path: Path) -> None:
    root = labels(tmp_path, {"a/1.txt": ROW, "street\t1/1.txt": ROW})
    with pytest.raises(InputError) as caught:
        truth_of(root, image_size=SIZE)
    [fault] = caught.value.faults
    assert (fault.found, fault.source) == (r"'street\t1'", str(root / "street\t1" / "1.txt"))


def test_detections_have_a_confidence_last_and_the_truths_names(tmp_path: Path) -> None:
    truth = labels(tmp_path / "t", {"1.txt": ROW})
    found = labels(tmp_path / "d", {"1.txt": "1 0.5 0.5 1 1 0.25\n0 0.5 0.5 1 1 1\n"}, "")
    pair = read_pair(truth, found, image_size=SIZE)
    assert [(row[2], row[4]) for row in objects_of(pair.detections.annotations)] == [
        ("fire truck", 0.25),
        ("car", 1.0),
    ]
    alone = detections_of(found, image_size=SIZE)
    assert [row[2] for row in objects_of(alone.annotations)] == ["1", "0"]


def test_the_library_accepts_the_size_of_images(tmp_path: Path) -> None:
    root = labels(tmp_path, {"1.txt": ROW})
    assert read(root, image_size=SIZE).coordinates.tolist() == [[280.0, 0.0, 360.0, 240.0]]


def test_the_size_of_images_must_be_given(tmp_path: Path) -> None:
    (fault,) = validate_file(labels(tmp_path, {"1.txt": ROW}))
    assert "--image-size" in fault.expected


@pytest.mark.parametrize(
    ("row", "field", "found"),
    [
        ("2 0.5 0.5 1 1", "column class", "2"),
        ("-1 0.5 0.5 1 1", "column class", "-1"),
        ("car 0.5 0.5 1 1", "column class", "'car'"),
        ("0 0.5 0.5 -1 1", "column width", "-1.0"),
        ("0 nan 0.5 1 1", "column cx", "'nan'"),
        ("0 0.5 5000 1 1", "column cy", "5000.0"),
        ("0 0.5 0.5 1", None, "4 columns"),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, row: str, field: str | None, found: str) -> None:
    root = labels(tmp_path, {"1.txt": ROW, "2.txt": ROW + row + "\n", "3.txt": ROW})
    (fault,) = validate_file(root, image_size=SIZE)
    assert (fault.source, fault.line) == (str(root / "2.txt"), 2)
    assert (fault.field, fault.found) == (field, found)
    assert truth_of(root, image_size=SIZE, on_error="skip").annotations.object_count == 3


def test_a_detection_needs_a_confidence(tmp_path: Path) -> None:
    """In truth a sixth value may be missing."""
    root = labels(tmp_path, {"1.txt": "1 0.5 0.25 0.125 0.5 1\n0 0.5 0.5 1 1,\n"})
    (fault,) = validate_file(root, side=Side.DETECTIONS, image_size=SIZE)
    assert (fault.line, fault.field, fault.found) == (2, "column confidence", "nothing")
    assert validate_file(root, image_size=SIZE) == []


def test_a_track_id_in_place_of_a_confidence_is_refused(tmp_path: Path) -> None:
    """Trackers write it last; 1 may be a confidence, and truth may have any sixth value."""
    rows = "".join(f"{ROW.strip()} {last}\n" for last in ("1", "2", "0.5", "1.5", "30"))
    root = labels(tmp_path, {"1.txt": rows})
    faults = validate_file(root, side=Side.DETECTIONS, image_size=SIZE)
    assert [(fault.line, fault.field, fault.found) for fault in faults] == [
        (2, "column confidence", "2.0"), (5, "column confidence", "30.0"),
    ]  # fmt: skip
    assert "track id" in str(faults[0])
    assert validate_file(root, image_size=SIZE) == []


def test_a_confidence_of_a_stated_scale_may_be_any_integer_of_it(tmp_path: Path) -> None:
    """In percent, as a file of integers has them."""
    rows = "".join(f"{ROW.strip()} {last}\n" for last in ("90", "1", "0"))
    root = labels(tmp_path, {"1.txt": rows})
    found = read(root, side="detections", image_size=SIZE, confidence_scale="0,100")
    assert found.confidences.tolist() == [0.9, 0.01, 0.0]
    with pytest.raises(InputError, match="--confidence-scale 0,100"):
        read(root, side="detections", image_size=SIZE)


def test_confidences_that_would_be_read_as_track_ids_are_not_written(tmp_path: Path) -> None:
    found = write(tmp_path / "a.csv", "sequence,frame,x1,y1,x2,y2,confidence\na,1,1,1,9,9,30\n")
    with pytest.raises(InputError, match=r"confidence: found 30\.0, expected a confidence, not"):
        convert(detections_of(found), "yolo-text", Side.DETECTIONS, image_size=SIZE)


@pytest.mark.parametrize("track", ["1", "12"])
def test_rows_of_confidence_and_track_id_are_named(tmp_path: Path, track: str) -> None:
    """Seven values may also be a triangle, whose last one is a part of the image."""
    root = labels(tmp_path / "a", {"1.txt": f"{ROW.strip()} 0.5 {track}\n"})
    (fault,) = validate_file(root, side=Side.DETECTIONS, image_size=SIZE)
    assert fault.found == "rows of YOLO boxes with a confidence and a track id"
    for name, rest in (("b", "0.5 0.75"), ("c", "0.5 0.75 0.9")):  # c: with a confidence
        root = labels(tmp_path / name, {"1.txt": f"{ROW.strip()} {rest}\n"})
        (fault,) = validate_file(root, image_size=SIZE)
        assert fault.found.startswith("rows of polygons")


def test_files_of_five_and_of_six_values_are_recognised(tmp_path: Path) -> None:
    """An invalid row is reported as such; with four values the format is not recognised."""
    for values, sure in (
        ("0 0.5 0.5 -1", False),
        ("0 0.5 0.5 -1 1", True),
        ("0 0.5 0.5 -1 1 0.5", True),
    ):
        (first, *_) = validate_file(labels(tmp_path, {"1.txt": f"{values}\n"}), image_size=SIZE)
        assert ("it looks most like yolo-text" in str(first)) is not sure


def test_files_of_unwanted_sequences_are_not_read(tmp_path: Path) -> None:
    """Except for the first one if none is wanted; nothing of it is kept."""
    root = labels(tmp_path, {"a/1.txt": ROW, "b/1.txt": "broken\n", "c/1.txt": ROW})
    for wanted, frames in (({"c"}, [("c", 1)]), (set(), [])):
        source = truth_of(
            root,
            image_size=SIZE,
            format_name="yolo-text",
            wanted=lambda key, wanted=wanted: key.sequence in wanted,
        )
        assert frames_of(source.annotations) == frames
        assert [key.sequence for key in source.annotations.sequences] == ["a", "b", "c"]


def test_fractions_of_an_image_may_be_up_to_a_thousand(tmp_path: Path) -> None:
    """In writing too: the size of the image is 2 x 2."""
    root = labels(tmp_path, {"1.txt": "0 -1000 1000 0 1000\n"})
    source = truth_of(root, image_size=(2, 2))
    assert source.annotations.coordinates.tolist() == [[-2000.0, 1000.0, -2000.0, 3000.0]]
    files = convert(source, "yolo-text", Side.TRUTH, image_size=(2, 2)).files
    assert files["1.txt"] == b"0 -1000.0 1000.0 0.0 1000.0\n"


@pytest.mark.parametrize(
    ("files", "classes", "found", "line"),
    [
        ({"one.txt": ROW}, "a\n", "the name 'one.txt'", None),
        ({"f1.txt": ROW, "f01.txt": ""}, "a\nb\n", "'f1.txt', frame 1 of f again", None),
        ({"1.txt": ROW}, "a\na\n", "'a' again", 2),
        ({"1.txt": ROW}, "a\n\nb\n", "nothing", 2),
    ],
)
def test_other_faults_are_named(
    tmp_path: Path, files: dict[str, str], classes: str, found: str, line: int | None
) -> None:
    (fault,) = validate_file(
        labels(tmp_path, files, classes), format_name="yolo-text", image_size=SIZE
    )
    assert (fault.found, fault.line) == (found, line)


def test_the_format_is_recognised(tmp_path: Path) -> None:
    assert detect_format(labels(tmp_path, {"1.txt": "", "2.txt": ROW})).name == "yolo-text"
