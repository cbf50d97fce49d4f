"""COCO JSON: handwritten truth and results, their numbers, and every fault."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

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

from vidscore_evaluators.annotations import BOX_AREA, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import detect_format, read_pair
from vidscore_evaluators.formats._coco_entries import MAXIMUM_AREA_PX
from vidscore_evaluators.validation import MAXIMUM_COORDINATE_PX, MAXIMUM_FRAME_NUMBER

TRUTH: dict[str, Any] = {
    "info": {"description": "two images"},
    "images": [
        {"id": 42, "file_name": "b.jpg", "width": 640, "height": 480},
        {"id": 7, "file_name": "a.jpg"},
    ],
    "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car", "supercategory": "vehicle"}],
    "annotations": [
        {"id": 1, "image_id": 42, "category_id": 18, "bbox": [10, 20, 30.5, 40], "area": 600.25,
         "iscrowd": 0, "segmentation": [[10, 20, 40, 20, 40, 60]]},
        {"id": 2, "image_id": 42, "category_id": 3, "bbox": [0, 0, 5, 5], "iscrowd": 1, "area": 9},
        {"id": 3, "image_id": 42, "category_id": 3, "bbox": [1, 1, 2, 2], "ignore": 1},
    ],
}  # fmt: skip
RESULTS: list[dict[str, Any]] = [
    {"image_id": 42, "category_id": 3, "bbox": [0, 0, 5, 6], "score": 0.25},
    {"image_id": 42, "category_id": 18, "bbox": [10, 20, 30, 40], "score": 0.75},
]


def saved(path: Path, document: object) -> Path:
    return write(path, json.dumps(document))


def changed(where: str, index: int, **entry: object) -> dict[str, Any]:
    document = copy.deepcopy(TRUTH)
    document[where][index] |= entry
    return document


@pytest.mark.parametrize(
    ("size", "shown"),
    [("640", '"640"'), (640.5, "640.5"), (-3, "-3"), (False, "false"), ([640], "an array of 1")],
)
def test_an_invalid_image_size_is_reported_and_counts_as_missing(
    tmp_path: Path, size: object, shown: str
) -> None:
    source = truth_of(saved(tmp_path / "truth.json", changed("images", 1, width=size)))
    [warning] = source.warnings
    assert (warning.code, warning.count) == ("image_sizes_not_read", 1)
    assert f"first entry 1, width {shown}" in warning.message
    assert source.image_sizes == {}


@pytest.mark.parametrize(("size", "known"), [(640.0, True), (None, False), (0, False), (-1, False)])
def test_an_image_size_may_be_a_decimal_or_null(tmp_path: Path, size: object, known: bool) -> None:
    document = changed("images", 1, width=size, height=480)
    source = truth_of(saved(tmp_path / "truth.json", document))
    assert source.warnings == ()
    assert source.image_sizes == ({SequenceKey("", "images"): (640, 480)} if known else {})


def test_a_truth_is_read_as_written(tmp_path: Path) -> None:
    """x, y, width and height from 0, with nothing added; images without objects are frames."""
    source = truth_of(saved(tmp_path / "truth.json", TRUTH))
    assert source.format == "coco-json"
    side = source.annotations
    assert frames_of(side) == [("images", 7), ("images", 42)]
    assert objects_of(side) == [
        ("images", 42, "dog", (10.0, 20.0, 40.5, 60.0), 1.0, -1, 0),
        ("images", 42, "car", (0.0, 0.0, 5.0, 5.0), 1.0, -1, ObjectFlag.CROWD),
        ("images", 42, "car", (1.0, 1.0, 3.0, 3.0), 1.0, -1, ObjectFlag.IGNORE),
    ]
    assert column(side, "area") == [600.25, 9.0, None]


def test_the_area_from_width_and_height_is_kept_if_the_corners_give_another(tmp_path: Path) -> None:
    """0.1 + 0.2 - 0.1 is more than 0.2; pycocotools sorts boxes by their given sizes."""
    document = changed("annotations", 0, bbox=[0.1, 0, 0.2, 1])
    side = truth_of(saved(tmp_path / "truth.json", document)).annotations
    assert column(side, BOX_AREA) == [0.2, None, None]
    side = truth_of(saved(tmp_path / "truth.json", TRUTH)).annotations
    assert BOX_AREA not in side.columns


def test_images_of_videos_are_frames_of_sequences(tmp_path: Path) -> None:
    document = copy.deepcopy(TRUTH)
    document["videos"] = [{"id": 5, "name": "street"}]
    document["images"] = [
        {"id": 42, "video_id": 5, "frame_id": 3},
        {"id": 7, "video_id": 5, "frame_index": 0},
        {"id": 9},
    ]
    document["annotations"][0]["track_id"] = 11
    document["annotations"][1]["instance_id"] = 12
    side = truth_of(saved(tmp_path / "truth.json", document)).annotations
    assert frames_of(side) == [("images", 9), ("street", 0), ("street", 3)]
    assert [row[5] for row in objects_of(side)] == [11, 12, -1]


def test_results_use_the_truths_images_and_names(tmp_path: Path) -> None:
    document = copy.deepcopy(TRUTH)
    document["videos"] = [{"id": 5, "name": "street"}]
    document["images"][0] |= {"video_id": 5, "frame_id": 3}
    truth, results = saved(tmp_path / "t.json", document), saved(tmp_path / "r.json", RESULTS)
    pair = read_pair(truth, results)
    assert objects_of(pair.detections.annotations) == [
        ("street", 3, "car", (0.0, 0.0, 5.0, 6.0), 0.25, -1, 0),
        ("street", 3, "dog", (10.0, 20.0, 40.0, 60.0), 0.75, -1, 0),
    ]


def test_detections_may_be_an_object_with_scores(tmp_path: Path) -> None:
    document = changed("annotations", 0, score=0.5)
    side = detections_of(saved(tmp_path / "d.json", document)).annotations
    assert [(row[4], row[6]) for row in objects_of(side)] == [(0.5, 0), (1.0, 0), (1.0, 0)]
    pair = read_pair(saved(tmp_path / "t.json", TRUTH), tmp_path / "d.json")
    assert objects_of(pair.detections.annotations) == objects_of(side)


def test_results_of_unknown_images_and_classes_are_faults(tmp_path: Path) -> None:
    """Both are named, and with skipping only they are left out."""
    results = [
        *RESULTS,
        {"image_id": 8, "category_id": 3, "bbox": [0, 0, 1, 1], "score": 1},
        {"image_id": 7, "category_id": 4, "bbox": [0, 0, 1, 1], "score": 1},
    ]
    truth, path = saved(tmp_path / "t.json", TRUTH), saved(tmp_path / "r.json", results)
    with pytest.raises(InputError) as caught:
        read_pair(truth, path)
    assert [(fault.found, fault.entry, fault.field) for fault in caught.value.faults] == [
        ("8", 2, "image_id"),
        ("4", 3, "category_id"),
    ]
    pair = read_pair(truth, path, on_error="skip")
    assert pair.detections.annotations.object_count == 2
    assert [warning.count for warning in pair.detections.warnings] == [2]


def test_results_of_unknown_images_are_reported_beside_invalid_ones(tmp_path: Path) -> None:
    results = [
        {"image_id": 42, "category_id": 3, "bbox": [0, 0, "1", 1], "score": 1},
        {"image_id": 8, "category_id": 3, "bbox": [0, 0, 1, 1], "score": 1},
    ]
    with pytest.raises(InputError) as caught:
        read_pair(saved(tmp_path / "t.json", TRUTH), saved(tmp_path / "r.json", results))
    assert [(fault.entry, fault.field) for fault in caught.value.faults] == [
        (0, "bbox"),
        (1, "image_id"),
    ]


@pytest.mark.parametrize(
    ("document", "field", "found"),
    [
        (changed("annotations", 1, bbox=[1, 2, 3]), "annotations.bbox", "[1, 2, 3]"),
        (changed("annotations", 1, bbox=[1, 2, -3, 4]), "annotations.bbox", "[1, 2, -3, 4]"),
        (changed("annotations", 1, bbox=[1, 2, "3", 4]), "annotations.bbox", '[1, 2, "3", 4]'),
        (changed("annotations", 1, bbox=[1, 2, True, 4]), "annotations.bbox", "[1, 2, true, 4]"),
        (changed("annotations", 1, bbox=[0] * 5), "annotations.bbox", "an array of 5"),
        (
            changed("annotations", 1, bbox=[1, 2, 1e10, 4]),
            "annotations.bbox",
            "[1, 2, 10000000000.0, 4]",
        ),
        (changed("annotations", 1, iscrowd=2), "annotations.iscrowd", "2"),
        (changed("annotations", 1, iscrowd=True), "annotations.iscrowd", "true"),
        (changed("annotations", 1, area=-1), "annotations.area", "-1"),
        (changed("annotations", 1, area="9"), "annotations.area", '"9"'),
        (changed("annotations", 1, area=5e18), "annotations.area", "5e+18"),
        (changed("annotations", 1, image_id="42"), "annotations.image_id", '"42"'),
        (changed("annotations", 1, image_id=2**70), "annotations.image_id", str(float(2**70))),
        (changed("annotations", 1, category_id=None), "annotations.category_id", "null"),
        (changed("annotations", 1, category_id=5), "annotations.category_id", "5"),
        (changed("annotations", 1, image_id=5), "annotations.image_id", "5"),
        (changed("annotations", 1, image_id=43), "annotations.image_id", "43"),
        (changed("annotations", 1, score="sure"), "annotations.score", '"sure"'),
        (changed("categories", 1, name="dog"), "categories.name", '"dog" again'),
        (changed("categories", 1, id=18), "categories.id", "18 again"),
        (changed("categories", 1, name=""), "categories.name", '""'),
        (changed("images", 1, id=42), "images.id", "42 again"),
        (changed("images", 1, id=-1), "images.id", "-1"),
        (changed("images", 1, frame_id=0.5), "images.frame_id", "0.5"),
    ],
)
def test_an_invalid_entry_is_named(
    tmp_path: Path, document: dict[str, Any], field: str, found: str
) -> None:
    """File, entry and key, what was found and what was expected; the rest can be read."""
    path = saved(tmp_path / "truth.json", document)
    (fault,) = validate_file(path)
    assert (fault.source, fault.entry, fault.field) == (str(path), 1, field)
    assert fault.found == found
    if field.startswith("annotations"):
        assert truth_of(path, on_error="skip").annotations.object_count == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("area", 0),
        ("area", MAXIMUM_AREA_PX),
        ("bbox", [-MAXIMUM_COORDINATE_PX, 0, MAXIMUM_COORDINATE_PX, 0]),
        ("track_id", -1),
        ("track_id", MAXIMUM_FRAME_NUMBER),
    ],
)
def test_the_minimum_and_maximum_values_are_valid_also_beside_others(
    tmp_path: Path, field: str, value: object
) -> None:
    document = changed("annotations", 1, **{field: value})
    assert truth_of(saved(tmp_path / "truth.json", document)).annotations.object_count == 3
    document["annotations"][0]["bbox"] = []
    [fault] = validate_file(saved(tmp_path / "truth.json", document))
    assert (fault.entry, fault.field) == (0, "annotations.bbox")


@pytest.mark.parametrize("entry", [5, None, "bbox"])
def test_an_entry_that_is_not_an_object_is_named(tmp_path: Path, entry: object) -> None:
    document = copy.deepcopy(TRUTH)
    document["annotations"].insert(1, entry)
    path = saved(tmp_path / "truth.json", document)
    (fault,) = validate_file(path)
    assert (fault.entry, fault.field) == (1, "annotations")
    assert fault.expected.startswith("an object with ")


@pytest.mark.parametrize(("array", "key"), [("images", "image_id"), ("categories", "category_id")])
def test_entries_of_an_empty_array_are_unknown(tmp_path: Path, array: str, key: str) -> None:
    faults = validate_file(saved(tmp_path / "truth.json", TRUTH | {array: []}))
    found = [(fault.entry, fault.field) for fault in faults]
    assert found == [(row, f"annotations.{key}") for row in range(3)]


def test_all_faults_are_listed(tmp_path: Path) -> None:
    document = changed("annotations", 0, bbox=[], iscrowd=7)
    document["annotations"][2] = "nothing"
    faults = validate_file(saved(tmp_path / "truth.json", document))
    assert [(fault.entry, fault.field) for fault in faults] == [
        (0, "annotations.bbox"),
        (0, "annotations.iscrowd"),
        (2, "annotations"),
    ]


@pytest.mark.parametrize(
    ("text", "side", "expected"),
    [
        ("", Side.TRUTH, "line 1: found an empty file"),
        ('{"images": [}', Side.TRUTH, "line 1, column 13: found invalid JSON"),
        ("[]", Side.TRUTH, "found an array, expected an object with images"),
        ('"x"', Side.DETECTIONS, "found a string, expected an array of results"),
        ("", Side.DETECTIONS, "line 1: found an empty file, expected an array of results"),
        ('[{"image_id": NaN}]', Side.DETECTIONS, "expected an array of results, or an object"),
        ('{"images": []}', Side.TRUTH, "categories: found nothing, expected an object"),
        ('{"images": {}, "categories": [], "annotations": []}', Side.TRUTH, "found an object"),
    ],
)
def test_a_file_that_is_not_coco_is_refused(
    tmp_path: Path, text: str, side: Side, expected: str
) -> None:
    path = write(tmp_path / "a.json", text)
    faults = validate_file(path, side=side, format_name="coco-json")
    assert any(expected in str(fault) for fault in faults), faults


def test_an_unrelated_object_is_one_fault_that_explains_what_results_are(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '{"predictions": [], "version": 1}')
    [fault] = validate_file(path, side=Side.DETECTIONS)
    assert fault.found == "an object with predictions, version"
    assert fault.expected.startswith("an array of results")


def test_two_images_of_one_frame_are_a_fault(tmp_path: Path) -> None:
    document = copy.deepcopy(TRUTH)
    document["images"] = [{"id": number, "video_id": 1, "frame_id": 0} for number in (42, 7)]
    (fault,) = validate_file(saved(tmp_path / "truth.json", document))
    assert (fault.found, fault.entry) == ("frame 0 of sequence 1 again", 1)


def test_results_are_distinguished_from_spotgeo(tmp_path: Path) -> None:
    assert detect_format(saved(tmp_path / "r.json", RESULTS)).name == "coco-json"
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 0, "object_coords": []}
    assert detect_format(saved(tmp_path / "s.json", [entry])).name == "spotgeo-json"


def test_an_empty_array_of_results_has_no_detections(tmp_path: Path) -> None:
    truth = saved(tmp_path / "t.json", TRUTH)
    empty = detections_of(write(tmp_path / "r.json", "[]"), format_name="coco-json")
    assert read_pair(truth, empty).detections.annotations.frame_count == 0


# --- images by string and file name ----------------------------------------------------------


def named(*images: object, key: str = "image_id") -> list[dict[str, Any]]:
    return [{key: image, "category_id": 3, "bbox": [0, 0, 5, 6], "score": 0.25} for image in images]


def frames_found(folder: Path, truth: object, results: object) -> list[tuple[str, int]]:
    pair = read_pair(saved(folder / "truth.json", truth), saved(folder / "results.json", results))
    return frames_of(pair.detections.annotations)


@pytest.mark.parametrize(
    "results",
    [
        named("42", "7"),
        named("cam/b.jpg", "a.jpg"),
        named("b.jpg", "a"),
        named(42, "a"),
        named("b", "a.jpg", key="file_name"),
    ],
)
def test_results_may_name_images_by_string_or_file(tmp_path: Path, results: object) -> None:
    truth = changed("images", 0, file_name="cam/b.jpg")
    assert sorted(frames_found(tmp_path, truth, results)) == [("images", 7), ("images", 42)]


def test_images_of_videos_are_found_by_file(tmp_path: Path) -> None:
    truth = changed("images", 0, video_id=5, frame_id=9)
    assert frames_found(tmp_path, truth, named("b")) == [("5", 9)]


@pytest.mark.parametrize(
    ("own", "other", "numbers"),
    [
        ("street", "bridge", (2, 1)),
        ("42", "7", (42, 7)),
        ("07", "7", (1, 2)),
        ("7", "a", (1, 2)),
        (str(MAXIMUM_FRAME_NUMBER), "1", (MAXIMUM_FRAME_NUMBER, 1)),
        (str(MAXIMUM_FRAME_NUMBER + 1), "1", (2, 1)),
    ],
)
def test_a_truth_may_have_strings_for_ids(
    tmp_path: Path, own: str, other: str, numbers: tuple[int, int]
) -> None:
    """Numbers if all are different ones; else from 1 in the order of the ids."""
    truth = copy.deepcopy(TRUTH)
    truth["images"] = [{"id": own}, {"id": other}]
    for entry in truth["annotations"]:
        entry["image_id"] = own
    side = truth_of(saved(tmp_path / "alone.json", truth)).annotations
    assert frames_of(side) == [("images", number) for number in sorted(numbers)]
    assert {row[1] for row in objects_of(side)} == {numbers[0]}
    assert frames_found(tmp_path, truth, named(own)) == [("images", numbers[0])]


def test_a_name_that_no_image_or_two_images_have_is_a_fault(tmp_path: Path) -> None:
    truth = changed("images", 1, file_name="other/b.jpg")
    with pytest.raises(InputError) as caught:
        frames_found(tmp_path, truth, named("c", "b", "b.jpg"))
    path = tmp_path / "results.json"
    assert [str(fault) for fault in caught.value.faults] == [
        f'{path}, entry 0, image_id: found "c", expected the id or file of one image of the truth',
        f'{path}, entry 1, image_id: found "b", expected the id or file of one image of the truth',
    ]


def test_two_names_of_one_image_are_a_fault(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='entry 1, image_id: found "b"'):
        frames_found(tmp_path, TRUTH, named("42", "b"))


@pytest.mark.parametrize("file", ["7.jpg", "7"])
def test_a_name_and_an_id_of_different_images_are_refused_as_ambiguous(
    tmp_path: Path, file: str
) -> None:
    """The text 7 is the id of one image and the file name of another, or its whole path."""
    truth = changed("images", 0, file_name=file)
    with pytest.raises(InputError, match='image_id: found "7"'):
        frames_found(tmp_path, truth, named("7"))


def test_many_unknown_names_are_reported_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        frames_found(tmp_path, TRUTH, named(*(f"x{number}" for number in range(610))))
    assert len(caught.value.faults) == 610
    assert str(caught.value).startswith("610 times, first at ")
    assert len(str(caught.value).splitlines()) == 1


def test_names_need_the_truth_that_defines_them(tmp_path: Path) -> None:
    points = write(tmp_path / "t.csv", "sequence,frame,x1,y1,x2,y2\nimages,7,0,0,5,6\n")
    results = saved(tmp_path / "results.json", named("a"))
    with pytest.raises(InputError, match="found the image 'a', by a name"):
        read_pair(points, results)
    digits = saved(tmp_path / "digits.json", named("7"))
    assert frames_of(read_pair(points, digits).detections.annotations) == [("images", 7)]


@pytest.mark.parametrize("image", ["", 1.5, None, True, ["a"], "a\nb", -1])
def test_an_image_is_an_integer_or_a_string(tmp_path: Path, image: object) -> None:
    (fault,) = validate_file(saved(tmp_path / "a.json", named(image, "a")), side=Side.DETECTIONS)
    assert (fault.entry, fault.field) == (0, "image_id")


def test_unusual_file_names_of_a_truth_do_no_harm(tmp_path: Path) -> None:
    truth = changed("images", 0, file_name=None)
    truth["images"][1]["file_name"] = ["x"]
    assert frames_found(tmp_path, truth, named("42", "7"))


@pytest.mark.parametrize("key", ["neg_category_ids", "not_exhaustive_category_ids"])
def test_images_annotated_for_some_categories_give_a_warning(tmp_path: Path, key: str) -> None:
    """As those of LVIS and TAO; the list may be empty."""
    images = [{"id": 1, key: []}, {"id": 2, key: [1]}, {"id": 3}]
    document = {"images": images, "categories": [{"id": 1, "name": "a"}], "annotations": []}
    path = write(tmp_path / "a.json", json.dumps(document))
    [warning] = truth_of(path).warnings
    assert (warning.code, warning.count) == ("annotations_are_federated", 2)
    assert detections_of(path).warnings == ()
