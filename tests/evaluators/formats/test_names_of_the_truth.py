"""Detections are written with the names and numbers of the files of their truth."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.evaluators.formats.helpers import write
from tests.evaluators.formats.test_convert import SIZE, STREET, source_of

from vidscore_evaluators.annotations import BOX, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.testing import Thing, make_annotations

VOC_PLANE = (
    "<annotation><object><name>plane</name><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9</xmax>"
    "<ymax>8</ymax></bndbox></object></annotation>"
)


@pytest.mark.parametrize("ids", [(7, 42), ("im7", "im42")])
def test_results_have_the_numbers_of_a_coco_truth(
    tmp_path: Path, ids: tuple[int, int] | tuple[str, str]
) -> None:
    """Its categories are unordered and not all used, and its image numbers are arbitrary."""
    categories = {18: "dog", 1: "person", 3: "car"}
    document = {
        "images": [{"id": own, "width": 100, "height": 100} for own in ids],
        "categories": [{"id": number, "name": name} for number, name in categories.items()],
        "annotations": [
            {"id": 1, "image_id": ids[0], "category_id": 18, "bbox": [1, 1, 10, 10]},
            {"id": 2, "image_id": ids[1], "category_id": 1, "bbox": [20, 20, 10, 10]},
        ],
    }
    path = write(tmp_path / "truth.json", json.dumps(document))
    truth = read_source(path, Side.TRUTH)
    found = replace(source_of(truth.annotations), format="jsonl")
    written = convert(found, "coco-json", Side.DETECTIONS, truth=truth)
    results = json.loads(written.files[""])
    named = {(one["image_id"], one["category_id"], one["bbox"][0]) for one in results}
    assert named == {(ids[0], 18, 1.0), (ids[1], 1, 20.0)}
    again = json.loads(convert(truth, "coco-json", Side.TRUTH).files[""])
    assert again["categories"] == document["categories"]
    assert {one["id"] for one in again["images"]} == set(ids)


def test_classes_that_a_truth_only_lists_are_valid_classes(tmp_path: Path) -> None:
    """A detector of all COCO classes with a part of the truth, as YOLO files."""
    entry = {"id": 1, "image_id": 7, "category_id": 9, "bbox": [16, 16, 32, 32]}
    document = {
        "images": [{"id": 7}],
        "categories": [{"id": 9, "name": "bus"}, {"id": 4, "name": "apple"}],
        "annotations": [entry],
    }
    truth = read_source(write(tmp_path / "truth.json", json.dumps(document)), Side.TRUTH)
    apple = make_annotations({("", "images"): {7: [Thing((16, 16, 48, 48), "apple")]}}, arity=BOX)
    written = [
        convert(truth, "yolo-text", Side.TRUTH, image_size=SIZE),
        convert(source_of(apple), "yolo-text", Side.DETECTIONS, truth=truth, image_size=SIZE),
    ]
    assert [one.files["classes.txt"] for one in written] == [b"apple\nbus\n"] * 2
    assert [one.files["images/000007.txt"][:2] for one in written] == [b"1 ", b"0 "]


@pytest.mark.parametrize("image", ["street/1", "img_7", "0012"])
@pytest.mark.parametrize("names", ["person\ndog\nzebra\n", ""])
def test_detections_have_the_names_and_numbers_of_a_yolo_truth(
    tmp_path: Path, names: str, image: str
) -> None:
    """Without classes.txt, class 1 is named 1, and is not the first class."""
    write(tmp_path / "truth" / f"{image}.txt", "1 0.5 0.5 0.25 0.25\n")
    if names:
        write(tmp_path / "truth" / "classes.txt", names)
    truth = read_source(tmp_path / "truth", Side.TRUTH, image_size=SIZE)
    found = replace(source_of(truth.annotations), format="jsonl")
    files = convert(found, "yolo-text", Side.DETECTIONS, truth=truth, image_size=SIZE).files
    assert files.get("classes.txt", b"").decode() == names
    assert files[f"{image}.txt"].startswith(b"1 0.5 0.5 ")
    again = convert(truth, "yolo-text", Side.TRUTH, image_size=SIZE).files
    assert again[f"{image}.txt"] == b"1 0.5 0.5 0.25 0.25\n"


@pytest.mark.parametrize(
    ("name", "file", "row", "written"),
    [
        ("dota", "P0706.txt", "10 20 30 20 30 40 10 40 plane 0", "Task1_plane.txt"),
        ("pascal-voc", "img-7.xml", VOC_PLANE, "comp3_det_test_plane.txt"),
        ("visdrone-det", "frame9.txt", "1,2,3,4,1,4,0,0", "frame9.txt"),
    ],
)
def test_images_keep_the_names_of_the_truth(
    tmp_path: Path, name: str, file: str, row: str, written: str
) -> None:
    """The benchmark's own scorer finds images by name, and P_0706 is another image."""
    write(tmp_path / "truth" / file, f"{row}\n")
    truth = read_source(tmp_path / "truth", Side.TRUTH, format_name=name)
    found = replace(source_of(truth.annotations), format="jsonl")
    files = convert(found, name, Side.DETECTIONS, truth=truth).files
    assert list(files) == [written]
    assert written == file or files[written].decode().split()[0] == file[:-4]
    [again] = convert(truth, name, Side.TRUTH).files
    assert again.endswith(file)


def test_a_truth_shape_that_the_format_lacks_is_named() -> None:
    points = replace(source_of(make_annotations({STREET: {1: [(3, 4)]}})), name="points.csv")
    boxes = source_of(make_annotations({STREET: {1: [(3, 4, 9, 9)]}}))
    with pytest.raises(
        InputError, match=r"points.csv: found 1 object as points \(x, y\), expected"
    ):
        convert(boxes, "coco-json", Side.DETECTIONS, truth=points)
