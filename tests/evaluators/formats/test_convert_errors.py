"""Conversion: what a format cannot hold is refused, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.evaluators.formats.test_convert import (
    OTHER,
    PERSON,
    SIZE,
    STREET,
    source_of,
)

from vidscore_evaluators.annotations import BOX, SequenceKey, Side
from vidscore_evaluators.errors import GeometryError, InputError
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Numbering
from vidscore_evaluators.testing import Thing, make_annotations


@pytest.mark.parametrize("name", ["", "..", ".hidden", "a/b", "..\\x", "c:d"])
@pytest.mark.parametrize("format_name", ["motchallenge", "kitti-tracking", "yolo-text"])
def test_a_sequence_cannot_name_a_file_elsewhere(name: str, format_name: str) -> None:
    truth = make_annotations({("", name): {1: [PERSON]}})
    with pytest.raises(InputError, match="a name that a file can have"):
        convert(source_of(truth), format_name, Side.TRUTH, image_size=SIZE)


@pytest.mark.parametrize(
    ("format_name", "thing", "expected"),
    [
        ("motchallenge", Thing(PERSON.coordinates, "dog"), "found 'dog', expected a class of"),
        ("kitti-tracking", Thing(PERSON.coordinates, "fire truck"), "a class of one word"),
        ("neovision2-csv", PERSON, "a name that a file can have"),
        ("spotgeo-json", PERSON, "expected points"),
        ("yolo-text", Thing((1.0, 2.0), "a"), "expected upright boxes"),
        ("dota", Thing((1.0, 2.0), "a"), "expected corners"),
        ("coco-jsn", PERSON, "did you mean coco-json"),
    ],
)
def test_data_that_a_format_cannot_hold_at_all_is_an_error(
    format_name: str, thing: Thing, expected: str
) -> None:
    truth = make_annotations({STREET: {1: [thing]}})
    with pytest.raises(InputError, match=expected):
        convert(source_of(truth), format_name, Side.TRUTH, image_size=SIZE)


def test_detections_beyond_the_truth_are_an_error() -> None:
    truth = make_annotations({STREET: {0: [PERSON]}})
    for found in ({STREET: {1: [PERSON]}}, {STREET: {0: [OTHER]}}):
        with pytest.raises(InputError, match="of the truth"):
            convert(
                source_of(make_annotations(found)),
                "coco-json",
                Side.DETECTIONS,
                truth=source_of(truth),
            )


@pytest.mark.parametrize("size", [(640, 480), (1280, 720)])
def test_a_size_that_differs_from_the_images_of_the_files_is_refused(size: tuple[int, int]) -> None:
    """Half of the images have it: the others would be written as fractions of a wrong size."""
    annotations = make_annotations({STREET: {0: [PERSON], 1: [PERSON]}})
    source = replace(source_of(annotations), image_sizes={STREET: (1280, 960)})
    with pytest.raises(InputError, match=r"images of up to 1280 x 960 in .*street, expected every"):
        convert(source, "yolo-text", Side.TRUTH, image_size=size)
    same = convert(source, "yolo-text", Side.TRUTH, image_size=(1280, 960))
    assert len(same.files) == 3


def test_a_size_that_only_the_largest_image_has_is_refused() -> None:
    """The other image would be written as fractions of that size, in the truth too."""
    annotations = make_annotations({STREET: {0: [PERSON], 1: [PERSON]}})
    frames: dict[int | str, tuple[SequenceKey, int]] = {
        number: (SequenceKey(*STREET), number) for number in range(2)
    }
    numbering = Numbering(frames, {0: "pedestrian"}, sizes=((480, 640), (960, 1280)))
    images = {SequenceKey(*STREET): (1280, 960)}
    source = replace(source_of(annotations), image_sizes=images, numbering=numbering)
    said = "an image of 640 x 480 in street, expected every"
    with pytest.raises(InputError, match=said):
        convert(source, "yolo-text", Side.TRUTH, image_size=(1280, 960))
    detections = source_of(annotations)
    with pytest.raises(InputError, match=said):
        convert(detections, "yolo-text", Side.DETECTIONS, truth=source, image_size=(1280, 960))


def test_yolo_has_fractions_of_each_image_if_their_sizes_are_known() -> None:
    """Ten pixels are a tenth of 100 and a twentieth of 200; without a box no size is needed."""
    box = Thing((10.0, 20.0, 20.0, 40.0), "car")
    truth = make_annotations({STREET: {0: [box], 1: [box], 2: []}})
    frames: dict[int | str, tuple[SequenceKey, int]] = {
        f"{number:06d}": (SequenceKey(*STREET), number) for number in range(3)
    }
    sizes = ((100, 100), (400, 200), (0, 0))
    numbering = Numbering(frames, {0: "car"}, sizes=sizes)
    source = replace(source_of(truth), numbering=numbering)
    conversion = convert(source, "yolo-text", Side.TRUTH)
    written = {name: text for name, text in conversion.files.items() if name != "classes.txt"}
    assert list(written.values()) == [b"0 0.15 0.3 0.1 0.2\n", b"0 0.075 0.075 0.05 0.05\n", b""]
    said = "boxes are parts of images of 2 sizes, and reading them here takes one for all"
    assert said in conversion.remarks
    unknown = replace(source, numbering=replace(numbering, sizes=((100, 100), (0, 0), (0, 0))))
    with pytest.raises(InputError, match="the size of its images"):
        convert(unknown, "yolo-text", Side.TRUTH)


def test_yolo_needs_the_size_of_images() -> None:
    with pytest.raises(InputError, match="the size of its images"):
        convert(source_of(make_annotations({STREET: {0: [PERSON]}})), "yolo-text", Side.TRUTH)


@pytest.mark.parametrize("label", ["a\nb", "tab\there", " spaced "])
@pytest.mark.parametrize("format_name", ["yolo-text", "generic-csv", "kitti-tracking"])
def test_a_class_cannot_break_its_row(label: str, format_name: str) -> None:
    """Such names cannot come from files, but they can come from arrays and streams."""
    truth = make_annotations({STREET: {1: [Thing(PERSON.coordinates, label)]}})
    with pytest.raises(InputError, match=r"class: found .*, expected a string"):
        convert(source_of(truth), format_name, Side.TRUTH, image_size=SIZE)


def test_objects_without_a_class_become_a_separate_class() -> None:
    things = [replace(PERSON, label=""), replace(OTHER, label="object")]
    truth = make_annotations({STREET: {0: things}})
    coco, yolo = (
        convert(source_of(truth), name, Side.TRUTH, image_size=SIZE)
        for name in ("coco-json", "yolo-text")
    )
    for conversion in (coco, yolo):
        assert "objects without a class became a class of their own" in conversion.remarks
    assert yolo.files["classes.txt"] == b"object 2\nobject\n"


def test_points_are_not_converted_to_boxes() -> None:
    points = make_annotations({STREET: {0: [(1, 2)]}})
    with pytest.raises(GeometryError, match=r"as points \(x, y\), expected upright boxes"):
        convert(source_of(points), "coco-json", Side.TRUTH)


@pytest.mark.parametrize("name", ["motchallenge", "visdrone-mot"])
def test_frames_that_a_format_cannot_number_are_counted_with_line_and_advice(
    name: str, tmp_path: Path
) -> None:
    text = "sequence,frame,class,x1,y1,x2,y2,confidence\ns,1,car,1,1,9,9,0.5\ns,0,car,1,1,9,9,0.5\n"
    found = tmp_path / "found.csv"
    found.write_text(text)
    with pytest.raises(InputError) as raised:
        convert(read_source(found, Side.DETECTIONS), name, Side.DETECTIONS)
    assert str(raised.value) == (
        f"{found}, line 3: found frame 0 of sequence s, expected frame numbers from 1 on, as "
        f"{name} counts; add 1 to all frame numbers, in the files of the other side too"
    )
    found.write_text(text + "r,0,car,1,1,9,9,0.5\n")
    with pytest.raises(InputError, match="2 frames below 1, the first of them frame 0 of"):
        convert(read_source(found, Side.DETECTIONS), name, Side.DETECTIONS)


def test_frame_numbers_and_classes_that_do_not_fit_are_reported_at_once() -> None:
    truth = make_annotations({STREET: {0: [Thing((1, 1, 9, 9), "truck", track_id=1)]}}, arity=BOX)
    with pytest.raises(InputError) as raised:
        convert(source_of(truth), "motchallenge", Side.TRUTH)
    assert [fault.found for fault in raised.value.faults] == [
        "frame 0 of sequence street",
        "'truck'",
    ]


def test_a_shape_that_does_not_fit_is_refused_with_the_file_and_formats_that_can_hold_it() -> None:
    truth = make_annotations({STREET: {1: [PERSON]}}, arity=BOX)
    with pytest.raises(GeometryError) as raised:
        convert(source_of(truth), "spotgeo-json", Side.TRUTH)
    [fault] = raised.value.faults
    assert fault.source == "given"
    assert fault.found == "1 object as upright boxes (x1, y1, x2, y2)"
    assert "generic-csv" in str(fault.advice)
    assert "spotgeo-json" not in str(fault.advice)
