"""Conversion keeps the sizes of images that a source knows, if the format can hold them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.evaluators.formats.helpers import write
from tests.evaluators.formats.test_convert import STREET, save, source_of

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.formats import read_pair, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.testing import Thing, make_annotations

LARGE, SMALL = (640, 480), (320, 200)


def coco(folder: Path, *sizes: tuple[int, int]) -> Source:
    """A truth with an image of each size, numbered from 1, with one box each."""
    box = {"category_id": 1, "bbox": [10, 20, 30, 40]}
    numbered = list(enumerate(sizes, start=1))
    document = {
        "images": [{"id": n, "width": width, "height": height} for n, (width, height) in numbered],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": n, "image_id": n, **box} for n, _ in numbered],
    }
    return read_source(write(folder / "coco.json", json.dumps(document)), Side.TRUTH)


@pytest.mark.parametrize("name", ["coco-json", "pascal-voc"])
def test_the_size_of_each_image_is_written(tmp_path: Path, name: str) -> None:
    """Also after conversion to the other format that has a size per image, and back."""
    voc = save(convert(coco(tmp_path, LARGE, SMALL), "pascal-voc", Side.TRUTH), tmp_path / "voc")
    source = read_source(voc, Side.TRUTH, format_name="pascal-voc")
    files = convert(source, name, Side.TRUTH).files
    if name == "coco-json":
        images = json.loads(files[""])["images"]
        assert [(one["width"], one["height"]) for one in images] == [LARGE, SMALL]
    else:
        size = b"<size><width>320</width><height>200</height></size>"
        assert size in files["Annotations/000002.xml"]


@pytest.mark.parametrize(("second", "said"), [(LARGE, True), (SMALL, False)])
def test_a_seqinfo_has_the_size_that_all_images_have(
    tmp_path: Path, second: tuple[int, int], said: bool
) -> None:
    files = convert(coco(tmp_path, LARGE, second), "motchallenge", Side.TRUTH).files
    assert (b"imWidth=640\nimHeight=480\n" in files["images/seqinfo.ini"]) == said


def test_the_sizes_of_seqinfo_are_those_of_the_images(tmp_path: Path) -> None:
    truth = source_of(make_annotations({STREET: {1: [Thing((1.0, 2.0, 3.0, 4.0), "car")]}}))
    files = convert(truth, "motchallenge", Side.TRUTH, image_size=LARGE)
    source = read_source(save(files, tmp_path / "mot"), Side.TRUTH, format_name="motchallenge")
    [image] = json.loads(convert(source, "coco-json", Side.TRUTH).files[""])["images"]
    assert (image["width"], image["height"]) == LARGE


def test_fractions_of_an_image_use_the_size_that_the_truth_knows(tmp_path: Path) -> None:
    """(10, 20) with 30 x 40 has its centre at (25, 40), 25 / 640 and 40 / 480 of the image."""
    truth = coco(tmp_path, LARGE)
    files = convert(truth, "yolo-text", Side.TRUTH).files
    assert files["images/000001.txt"].decode().split() == [
        *("0", repr(25 / 640), repr(40 / 480), repr(30 / 640), repr(40 / 480))
    ]
    found = write(tmp_path / "found.csv", "sequence,frame,x1,y1,x2,y2,class,confidence\n"
                  "images,1,10,20,40,60,car,0.5\n")  # fmt: skip
    pair = read_pair(tmp_path / "coco.json", found)
    files = convert(pair.detections, "yolo-text", Side.DETECTIONS, truth=pair.truth).files
    assert files["images/000001.txt"].decode().split()[1] == repr(25 / 640)


def test_fractions_of_images_of_several_sizes_use_the_size_of_each(tmp_path: Path) -> None:
    """(10, 20) with 30 x 40 has its centre at (25, 40)."""
    files = convert(coco(tmp_path, LARGE, SMALL), "yolo-text", Side.TRUTH).files
    for name, (width, height) in (("000001", LARGE), ("000002", SMALL)):
        parts = (25 / width, 40 / height, 30 / width, 40 / height)
        assert files[f"images/{name}.txt"].decode().split() == ["0", *map(repr, parts)]
