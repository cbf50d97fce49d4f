"""Segmentations of COCO files: polygons, runs and texts become masks, and are written again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_evaluators import mask_forms
from vidscore_evaluators._scene_masks import missing_masks
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import read_pair, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.mask_forms import masks_from_counts
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.testing import make_annotations

TEXT = {"size": [6, 8], "counts": "8240l0"}
RUNS = {"size": [6, 8], "counts": [8, 2, 4, 2, 32]}
"""Rows 2 and 3 of columns 1 and 2; the text is pycocotools' for the same mask."""

POLYGON = [[1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 1.0, 4.0]]


def annotation(number: int, segmentation: object, **others: object) -> dict[str, Any]:
    entry = {"id": number, "image_id": 1, "category_id": 1, "bbox": [1, 2, 2, 2], **others}
    return entry if segmentation is None else {**entry, "segmentation": segmentation}


def truth_of(*annotations: dict[str, Any], size: bool = True) -> dict[str, Any]:
    image = {"id": 1, "width": 8, "height": 6} if size else {"id": 1}
    return {
        "images": [image],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": list(annotations),
    }


def saved(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def read(folder: Path, document: object, side: Side = Side.TRUTH, **options: Any) -> Source:
    return read_source(saved(folder / "file.json", document), side, **options)


def faults_of(folder: Path, document: object, side: Side = Side.TRUTH) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        read(folder, document, side)
    return tuple(caught.value.faults)


def masks_of(source: Source) -> Masks:
    assert source.annotations.masks is not None
    return source.annotations.masks


def test_every_form_of_one_mask_gives_the_same_mask(tmp_path: Path) -> None:
    """In the order of the entries, whatever their forms."""
    forms = [TEXT, POLYGON, RUNS, POLYGON, TEXT]
    source = read(tmp_path, truth_of(*(annotation(n, form) for n, form in enumerate(forms, 1))))
    masks = masks_of(source)
    assert masks.runs.reshape(5, -1).tolist() == [RUNS["counts"]] * 5
    assert masks.areas().tolist() == [4.0] * 5


def test_results_with_masks_need_no_boxes(tmp_path: Path) -> None:
    """A missing box is that of the mask."""
    entry = {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": TEXT}
    results = [entry, {**entry, "bbox": [0, 0, 5, 5]}]
    source = read(tmp_path, results, Side.DETECTIONS)
    assert source.annotations.coordinates.tolist() == [[1, 2, 3, 4], [0, 0, 5, 5]]


def test_an_object_without_a_segmentation_has_an_empty_mask_beside_others(tmp_path: Path) -> None:
    """Empty lists and null count as missing."""
    rest: list[object] = [None, [], [[]]]
    document = truth_of(annotation(1, TEXT), *(annotation(n, s) for n, s in enumerate(rest, 2)))
    document["annotations"][1]["segmentation"] = None
    masks = masks_of(read(tmp_path, document))
    assert masks.areas().tolist() == [4.0, 0.0, 0.0, 0.0]
    assert masks.sizes.tolist() == [[6, 8]] * 4


def test_boxes_without_segmentations_have_no_masks(tmp_path: Path) -> None:
    source = read(tmp_path, truth_of(annotation(1, None), annotation(2, [])))
    assert source.annotations.masks is None


def test_polygons_need_the_size_of_their_image(tmp_path: Path) -> None:
    """A file of boxes may lack it; an option may give it."""
    document = truth_of(annotation(1, POLYGON), size=False)
    assert read(tmp_path, document).annotations.masks is None
    results = [{"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": POLYGON}]
    found = read(tmp_path, results, Side.DETECTIONS, image_size=(8, 6))
    assert masks_of(found).areas().tolist() == [4.0]
    mixed = truth_of(annotation(1, POLYGON), annotation(2, TEXT), size=False)
    [fault] = faults_of(tmp_path, mixed)
    assert (fault.entry, fault.field) == (0, "annotations.segmentation")
    assert fault.found == "polygons"


def test_polygons_of_results_have_the_size_of_the_image_in_the_truth(tmp_path: Path) -> None:
    """With or without a box of their own, by the id of the image or by its file name."""
    document = truth_of(annotation(1, POLYGON))
    document["images"][0]["file_name"] = "a/1.jpg"
    entry = {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": POLYGON}
    by_file = {**entry, "file_name": "1.jpg"}
    del by_file["image_id"]
    truth = saved(tmp_path / "t.json", document)
    for result, box in (
        (entry, [1, 2, 3, 4]),
        ({**entry, "bbox": [0, 0, 5, 5]}, [0, 0, 5, 5]),
        (by_file, [1, 2, 3, 4]),
    ):
        pair = read_pair(truth, saved(tmp_path / "r.json", [result]))
        assert masks_of(pair.detections).areas().tolist() == [4.0]
        assert masks_of(pair.detections).sizes.tolist() == [[6, 8]]
        assert pair.detections.annotations.coordinates.tolist() == [box]


@pytest.mark.parametrize("form", ["coco", "csv"])
def test_polygons_of_results_with_a_truth_without_sizes_get_advice(
    tmp_path: Path, form: str
) -> None:
    """Those that have boxes are read as boxes; --image-size is named either way."""
    truth = saved(tmp_path / "t.json", truth_of(annotation(1, POLYGON), size=False))
    if form == "csv":
        truth = tmp_path / "t.csv"
        truth.write_text("sequence,frame,class,x1,y1,x2,y2\nimages,1,1,0,0,5,5\n")
    entry = {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": POLYGON}
    path = saved(tmp_path / "r.json", [{**entry, "bbox": [0, 0, 5, 5]}, entry])
    with pytest.raises(InputError) as caught:
        read_pair(truth, path)
    [fault] = caught.value.faults
    assert (fault.entry, fault.field, fault.found) == (1, "segmentation", "polygons")
    assert "--image-size" in str(fault.advice)
    pair = read_pair(truth, path, on_error="skip")
    assert pair.detections.annotations.coordinates.tolist() == [[0, 0, 5, 5]]
    assert pair.detections.annotations.masks is None
    assert [warning.count for warning in pair.detections.warnings] == [1]
    assert "--image-size" in str(missing_masks(Side.DETECTIONS).advice)


def test_results_of_polygons_alone_need_a_size_if_there_is_no_truth(tmp_path: Path) -> None:
    entry = {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": POLYGON}
    [fault] = faults_of(tmp_path, [entry], Side.DETECTIONS)
    assert (fault.entry, fault.field, fault.found) == (0, "segmentation", "polygons")


def test_results_of_boxes_beside_invalid_polygons_are_boxes(tmp_path: Path) -> None:
    """As if the size of their image were unknown."""
    truth = saved(tmp_path / "t.json", truth_of(annotation(1, POLYGON)))
    entry = {"image_id": 1, "category_id": 1, "score": 0.5, "bbox": [0, 0, 5, 5]}
    results = [{**entry, "segmentation": POLYGON}, {**entry, "segmentation": [[1, 2, 3, 2]]}]
    pair = read_pair(truth, saved(tmp_path / "r.json", results))
    assert pair.detections.annotations.masks is None
    assert pair.detections.annotations.object_count == 2


def test_invalid_polygons_of_results_are_faults_beside_a_truth(tmp_path: Path) -> None:
    """So are those of an image that is not in the truth."""
    truth = saved(tmp_path / "t.json", truth_of(annotation(1, POLYGON)))
    entry = {"image_id": 1, "category_id": 1, "score": 0.5}
    results = [
        {**entry, "segmentation": [[1, 2, 3, 2, 3]]},
        {**entry, "segmentation": POLYGON, "image_id": 9},
        {**entry, "segmentation": POLYGON},
    ]
    path = saved(tmp_path / "r.json", results)
    with pytest.raises(InputError) as caught:
        read_pair(truth, path)
    found = [(fault.entry, fault.field) for fault in caught.value.faults]
    assert found == [(0, "segmentation"), (1, "image_id")]
    pair = read_pair(truth, path, on_error="skip")
    assert masks_of(pair.detections).areas().tolist() == [4.0]


@pytest.mark.parametrize(
    ("segmentation", "field", "found"),
    [
        pytest.param([[1, 2, 3, 2, 3]], "", "an odd number of coordinates", id="odd"),
        pytest.param([[1, 2, 3, 2]], "", "fewer corners", id="two corners"),
        pytest.param({"size": [6, 8], "counts": [8, 2]}, ".counts", "runs of 10 pixels", id="few"),
        pytest.param({"size": [6, 8], "counts": [99]}, ".counts", "more than 48 pixels", id="many"),
        pytest.param({"size": [6, 8], "counts": "8 "}, ".counts", "a character", id="text"),
        pytest.param({"size": [6, 9], "counts": [54]}, ".size", "[6, 9]", id="other size"),
        pytest.param({"size": [6], "counts": [48]}, "", "an object", id="half a size"),
        pytest.param({"counts": [48]}, "", "an object", id="no size"),
        pytest.param([[1, 2, "3", 2, 3, 4]], "", "[", id="text in a polygon"),
        pytest.param([1, 2, 3, 2, 3, 4], "", "an array of 6", id="flat"),
        pytest.param("polygon", "", '"polygon"', id="no segmentation"),
    ],
)
def test_an_invalid_mask_is_a_fault_with_its_place(
    segmentation: object, field: str, found: str, tmp_path: Path
) -> None:
    """Beside faults of other entries, not in place of them."""
    other = annotation(3, {"size": [6, 8], "counts": [1]})
    faults = faults_of(tmp_path, truth_of(annotation(1, TEXT), annotation(2, segmentation), other))
    mine = next(fault for fault in faults if fault.entry == 1)
    assert mine.field == f"annotations.segmentation{field}"
    assert mine.source == str(tmp_path / "file.json")
    assert found in mine.found
    assert {fault.entry for fault in faults} == {1, 2}


def test_invalid_entries_can_be_skipped(tmp_path: Path) -> None:
    broken = annotation(1, {"size": [6, 8], "counts": [1]})
    document = truth_of(broken, annotation(2, RUNS, track_id=7))
    source = read(tmp_path, document, on_error="skip")
    assert source.annotations.track_ids.tolist() == [7]
    assert masks_of(source).areas().tolist() == [4.0]


def test_the_outlines_of_all_polygons_of_a_file_are_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight pixels of outline each; runs beside them have none."""
    monkeypatch.setattr(mask_forms, "MAXIMUM_OUTLINES_PX", 16)
    forms = [POLYGON, RUNS, POLYGON, POLYGON]
    document = truth_of(*(annotation(number, form) for number, form in enumerate(forms, 1)))
    [fault] = faults_of(tmp_path, document)
    assert (fault.entry, fault.field) == (3, "annotations.segmentation")
    assert fault.found == "longer outlines together"


def test_an_entry_with_neither_box_nor_mask_is_a_fault(tmp_path: Path) -> None:
    entry = {"image_id": 1, "category_id": 1, "score": 0.5}
    faults = faults_of(tmp_path, [{**entry, "segmentation": TEXT}, entry], Side.DETECTIONS)
    assert {fault.entry for fault in faults} == {1}


def test_masks_are_written_again(tmp_path: Path) -> None:
    """With everything that was read: sizes of images, areas, and boxes."""
    document = truth_of(annotation(1, POLYGON, area=9.5), annotation(2, RUNS, iscrowd=1))
    source = read(tmp_path, document)
    written = convert(source, "coco-json", Side.TRUTH)
    assert written.remarks == ()
    again = read(tmp_path, json.loads(written.files[""]))
    assert masks_of(again).runs.tolist() == masks_of(source).runs.tolist()
    assert [entry["area"] for entry in json.loads(written.files[""])["annotations"]] == [9.5, 4.0]
    [image] = json.loads(written.files[""])["images"]
    assert (image["width"], image["height"]) == (8, 6)
    assert np.array_equal(again.annotations.coordinates, source.annotations.coordinates)


@pytest.mark.parametrize("format_name", ["coco-json", "jsonl", "parquet"])
def test_masks_of_another_size_than_the_given_one_are_not_written(
    tmp_path: Path, format_name: str
) -> None:
    """The result could not be read; one error says so, with advice."""
    source = read(tmp_path, truth_of(annotation(1, TEXT), annotation(2, RUNS)))
    with pytest.raises(InputError) as caught:
        convert(source, format_name, Side.TRUTH, image_size=(6, 8))
    [fault] = caught.value.faults
    assert fault.source == source.name
    assert fault.found == "2 masks of another size, 8 x 6 in frame 1 of sequence images"
    assert fault.expected == "6 x 8 pixels, the size of images"
    assert fault.advice is not None
    assert convert(source, format_name, Side.TRUTH, image_size=(8, 6)).files


@pytest.mark.parametrize("format_name", ["coco-json", "jsonl", "parquet", "mots"])
def test_masks_of_several_sizes_in_a_frame_are_not_written(format_name: str) -> None:
    """Arrays may have such masks, but the result could not be read or scored."""
    boxes = make_annotations({("", "street"): {3: [(0.0, 0.0, 1.0, 1.0), (2.0, 2.0, 3.0, 3.0)]}})
    masks = masks_from_counts([[0, 1, 5], [5, 1, 6]], np.array([[2, 3], [3, 4]]))
    with pytest.raises(InputError) as caught:
        convert(Source(replace(boxes, masks=masks), "arrays"), format_name, Side.TRUTH)
    [fault] = caught.value.faults
    assert fault.found == "1 mask of another size, 4 x 3 in frame 3 of sequence street"
    assert fault.expected == "3 x 2 pixels, as the first mask of that frame"


def test_formats_without_masks_report_what_is_lost(tmp_path: Path) -> None:
    source = read(tmp_path, truth_of(annotation(1, TEXT), annotation(2, TEXT)))
    assert "2 masks not written" in convert(source, "generic-csv", Side.TRUTH).remarks


def test_masks_of_results_meet_those_of_the_truth(tmp_path: Path) -> None:
    truth, results = tmp_path / "truth.json", tmp_path / "results.json"
    truth.write_text(json.dumps(truth_of(annotation(1, POLYGON))))
    entry = {"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": TEXT}
    results.write_text(json.dumps([entry]))
    pair = read_pair(truth, results)
    masks = pair.truth.annotations.masks, pair.detections.annotations.masks
    assert masks[0] is not None
    assert masks[1] is not None
    assert masks[0].runs.tolist() == masks[1].runs.tolist()
