"""Written files can be read: the same objects are returned, or the conversion is refused."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from tests.evaluators.formats.helpers import write
from tests.evaluators.formats.test_convert import (
    CORNERS,
    SIZE,
    STREET,
    save,
    source_of,
    there_and_back,
)

from vidscore_evaluators.annotations import BOX, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import FORMATS, read_pair, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.testing import Thing, make_annotations

BOX_FORMATS = sorted(
    name
    for name, one in FORMATS.items()
    if BOX in one.writer.capacity[Side.TRUTH].arities and name not in ("mots", "neovision2-csv")
)


@pytest.mark.parametrize("name", BOX_FORMATS)
def test_a_box_by_any_two_opposite_corners_is_written_as_that_box(
    tmp_path: Path, name: str
) -> None:
    """From (50, 60) to (10, 20) is 40 wide and 40 high; a size of -40 is invalid."""
    things = [Thing((50.0, 60.0, 10.0, 20.0), "pedestrian"), Thing((1.0, 9.0, 7.0, 2.0), "car")]
    truth = make_annotations({STREET: {1: things}}, arity=BOX)
    back, _ = there_and_back(truth, name, Side.TRUTH, tmp_path)
    assert sorted(bounding_boxes(back.coordinates).tolist()) == [[1, 2, 7, 9], [10, 20, 50, 60]]


@pytest.mark.parametrize("label", ["x,y", 'q"r', "a b"])
@pytest.mark.parametrize("name", ["kitti-tracking", "dota"])
def test_a_class_that_cannot_be_a_word_of_a_row_is_refused(name: str, label: str) -> None:
    """A comma is read as a blank, and a quotation mark is not allowed."""
    truth = make_annotations({STREET: {1: [Thing((10.0, 20.0, 50.0, 60.0), label)]}}, arity=BOX)
    with pytest.raises(InputError) as raised:
        convert(source_of(truth), name, Side.TRUTH)
    [fault] = raised.value.faults
    assert (fault.field, fault.found) == ("class", label)


@pytest.mark.parametrize("sequence", ["b c", "q,r", 'say"x"'])
@pytest.mark.parametrize("name", ["pascal-voc", "dota"])
def test_an_image_whose_name_cannot_be_a_word_of_a_row_is_refused(name: str, sequence: str) -> None:
    found = make_annotations({("", sequence): {1: [Thing((1.0, 2.0, 3.0, 4.0), "car")]}}, arity=BOX)
    with pytest.raises(InputError, match=r"expected an image's name of one word|that a file can"):
        convert(source_of(found), name, Side.DETECTIONS)


def test_overlapping_masks_are_not_written_as_mots(tmp_path: Path) -> None:
    """In MOTS a pixel belongs to one mask, and readers refuse other files."""
    outline = [1, 1, 10, 1, 10, 10, 1, 10]
    entry = {"image_id": 1, "category_id": 1, "segmentation": [outline], "bbox": [1, 1, 9, 9]}
    document = {
        "images": [{"id": 1, "width": 20, "height": 20}],
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": track, "track_id": track, **entry} for track in (1, 2)],
    }
    source = read_source(write(tmp_path / "truth.json", json.dumps(document)), Side.TRUTH)
    with pytest.raises(InputError) as raised:
        convert(source, "mots", Side.TRUTH)
    [fault] = raised.value.faults
    assert fault.found == "masks that overlap in frame 1 of sequence images"
    assert (fault.source, fault.entry) == (source.name, None)


def test_a_confidence_that_motchallenge_reads_as_missing_is_refused(tmp_path: Path) -> None:
    """-1 beside 0.5 or alone counts as 1 there; beside -3 it is a score like any other."""
    box = (1.0, 2.0, 3.0, 4.0)
    found = {
        ("", "logits"): {1: [Thing(box, "pedestrian", score) for score in (-1.0, -3.0)]},
        ("", "street"): {4: [Thing(box, "pedestrian", score) for score in (-1.0, 0.5)]},
    }
    street = make_annotations(found, arity=BOX)
    with pytest.raises(InputError, match=r"found a confidence of -1 in sequence street, expected"):
        convert(source_of(street), "motchallenge", Side.DETECTIONS)
    alone = make_annotations({STREET: {1: [Thing(box, "pedestrian", -1.0)]}})
    with pytest.raises(InputError, match=r"found a confidence of -1 in sequence street, expected"):
        convert(source_of(alone), "motchallenge", Side.DETECTIONS)
    del found["", "street"]
    logits = make_annotations(found, arity=BOX)
    back, _ = there_and_back(logits, "motchallenge", Side.DETECTIONS, tmp_path)
    assert back.confidences.tolist() == [-1.0, -3.0]


@pytest.mark.parametrize(
    ("name", "label", "flag"),
    [
        ("motchallenge", "static_person", ObjectFlag.DISTRACTOR),
        ("visdrone-mot", "others", ObjectFlag.REGION),
        ("visdrone-det", "ignored-regions", ObjectFlag.REGION),
        ("kitti-tracking", "DontCare", ObjectFlag.REGION),
        ("neovision2-csv", "Ambiguous", ObjectFlag.IGNORE),
    ],
)
def test_objects_flagged_by_the_class_in_the_new_format_are_reported(
    tmp_path: Path, name: str, label: str, flag: ObjectFlag
) -> None:
    """A scored object is no longer scored, because the format only uses the class as a flag."""
    box = (1.0, 2.0, 8.0, 9.0)
    things = [Thing(box, label), Thing(box, label, flags=flag), Thing(box, "car")]
    truth = make_annotations({("Tower", "street"): {1: things}}, arity=BOX)
    back, remarks = there_and_back(truth, name, Side.TRUTH, tmp_path)
    assert sorted(back.flags.tolist()) == [0, flag, flag]
    said = f"1 object of the class {label.lower()} flagged {str(flag.name).lower()}, as all are in"
    assert [one for one in remarks if one.startswith(said)]


@pytest.mark.parametrize(
    ("name", "flag"),
    [
        (name, flag)
        for name in BOX_FORMATS
        for flag in ObjectFlag
        if not FORMATS[name].writer.capacity[Side.TRUTH].flags & flag
    ],
)
def test_objects_with_a_flag_that_the_format_lacks_are_left_out(
    tmp_path: Path, name: str, flag: ObjectFlag
) -> None:
    """Without their flag they would count."""
    things = [
        Thing((1.0, 2.0, 8.0, 9.0), "car"),
        Thing((10.0, 20.0, 50.0, 60.0), "pedestrian", flags=flag),
    ]
    truth = make_annotations({STREET: {1: things}}, arity=BOX)
    back, remarks = there_and_back(truth, name, Side.TRUTH, tmp_path)
    assert bounding_boxes(back.coordinates).tolist() == [[1, 2, 8, 9]]
    assert f"1 object flagged {str(flag.name).lower()} left out" in remarks


def test_distractors_that_get_the_class_of_distractors_are_reported(tmp_path: Path) -> None:
    van = Thing((1.0, 2.0, 8.0, 9.0), "car", flags=ObjectFlag.DISTRACTOR)
    truth = make_annotations({STREET: {1: [van, van, Thing(van.coordinates, "car")]}}, arity=BOX)
    back, remarks = there_and_back(truth, "motchallenge", Side.TRUTH, tmp_path)
    labels = [back.labels[row] for row in back.label_indices.tolist()]
    assert sorted(labels) == ["car", "distractor", "distractor"]
    assert "2 objects flagged distractor became of that class" in remarks


@pytest.mark.parametrize("name", ["motchallenge", "visdrone-mot"])
def test_dont_care_frames_that_become_scored_in_a_gap_are_reported(
    tmp_path: Path, name: str
) -> None:
    """Frames 2 and 3 lie before the last frame, and 5 after it."""
    key = SequenceKey(*STREET)
    car = [Thing((1.0, 2.0, 3.0, 4.0), "car")]
    frames = {1: car, 2: car, 3: [], 4: car, 5: car}
    truth = make_annotations({STREET: frames}, arity=BOX, dont_care=[(key, n) for n in (2, 3, 5)])
    back, remarks = there_and_back(truth, name, Side.TRUTH, tmp_path)
    assert back.frame_numbers.tolist() == [1, 2, 3, 4]
    assert not back.frame_flags.any()
    assert remarks == (
        "3 don't-care frames left out",
        "2 frames that were not listed are, as a sequence has no gaps",
        "don't-care frames among these now count: 2; convert detections with --truth",
    )


def test_frames_that_visdrone_adds_and_leaves_out_are_reported(tmp_path: Path) -> None:
    """All frames from 1 to the last with a row are evaluated: 2 and 3 too, but not 6."""
    car = Thing((1.0, 2.0, 3.0, 4.0), "car")
    truth = make_annotations({STREET: {1: [car], 4: [], 5: [car], 6: []}}, arity=BOX)
    back, remarks = there_and_back(truth, "visdrone-mot", Side.TRUTH, tmp_path)
    assert back.frame_numbers.tolist() == [1, 2, 3, 4, 5]
    assert remarks == (
        "2 frames that were not listed are, as a sequence has no gaps",
        "1 frame after the last object of its sequence not listed",
    )
    found = convert(source_of(truth), "visdrone-mot", Side.DETECTIONS)
    assert found.remarks == ("2 frames without objects not listed",)


@pytest.mark.parametrize(
    ("name", "side"),
    [
        *product(["motchallenge", "kitti-tracking", "visdrone-mot", "mots"], Side),
        ("neovision2-csv", Side.DETECTIONS),  # The truth has a don't-care frame.
    ],
)
def test_a_sequence_without_rows_is_an_empty_file(tmp_path: Path, name: str, side: Side) -> None:
    """A detector that finds nothing has results, and a sequence of the truth stays known."""
    key = ("Tower", "1")
    empty = make_annotations({key: {3: []}}, arity=BOX, dont_care=[(key, 3)])
    back, _ = there_and_back(empty, name, side, tmp_path)
    assert back.frame_count == 0
    assert [sequence for _, sequence in back.sequences] in (["Tower-1"], ["1"])


@pytest.mark.parametrize("name", ["coco-json", "yolo-text", "motchallenge"])
def test_detections_of_a_dont_care_frame_are_dropped_with_the_frame(name: str) -> None:
    """The truth loses it, so they would belong to no frame, or be false positives."""
    things = [Thing((1.0, 2.0, 3.0, 4.0), "pedestrian")]
    key = ("Tower", "1")
    frames = {key: {1: things, 2: things}}
    truth = source_of(make_annotations(frames, arity=BOX, dont_care=[(key, 2)]))
    found = source_of(make_annotations(frames, arity=BOX))
    conversion = convert(found, name, Side.DETECTIONS, truth=truth, image_size=SIZE)
    first = make_annotations({key: {1: things}}, arity=BOX)
    alone = convert(source_of(first), name, Side.DETECTIONS, truth=truth, image_size=SIZE)
    assert conversion.files == alone.files
    assert set(conversion.remarks) - set(alone.remarks) == {"1 don't-care frame left out"}


def test_coco_results_without_a_numbering_truth_are_reported() -> None:
    """Image 1 and category 1 are the truth's first ones, whatever the results mean."""
    found = source_of(make_annotations({STREET: {7: [Thing((1.0, 2.0, 3.0, 4.0), "car")]}}))
    alone = convert(found, "coco-json", Side.DETECTIONS)
    assert alone.remarks == (
        "images and classes numbered among themselves; --truth gives those of a truth",
    )
    assert convert(found, "coco-json", Side.DETECTIONS, truth=found).remarks == ()
    assert convert(found, "coco-json", Side.TRUTH).remarks == ()


@pytest.mark.parametrize("whole", [True, False])
def test_coco_results_keep_their_own_numbers(tmp_path: Path, whole: bool) -> None:
    """Category 7 of image 42 is that of the truth; as category 1 it would be a different one."""
    entry = {"image_id": 42, "category_id": 7, "bbox": [1.0, 2.0, 3.0, 4.0], "score": 0.5}
    document = {"images": [{"id": 42}], "categories": [{"id": 7, "name": "car"}]}
    given = document | {"annotations": [entry]} if whole else [entry]
    path = write(tmp_path / "found.json", json.dumps(given))
    conversion = convert(read_source(path, Side.DETECTIONS), "coco-json", Side.DETECTIONS)
    assert json.loads(conversion.files[""]) == [entry]
    assert conversion.remarks == ()


def test_coco_results_without_the_names_of_a_truth_are_reported(tmp_path: Path) -> None:
    """A truth in CSV whose class is car has no class 7."""
    entry = {"image_id": 42, "category_id": 7, "bbox": [1.0, 2.0, 3.0, 4.0], "score": 0.5}
    path = write(tmp_path / "found.json", json.dumps([entry]))
    alone = convert(read_source(path, Side.DETECTIONS), "generic-csv", Side.DETECTIONS)
    said = "images and classes stay numbers; --truth gives the names that a truth has for them"
    assert alone.remarks == (said,)
    truth = {"images": [{"id": 42}], "categories": [{"id": 7, "name": "car"}]}
    pair = read_pair(write(tmp_path / "t.json", json.dumps(truth | {"annotations": []})), path)
    named = convert(pair.detections, "generic-csv", Side.DETECTIONS, truth=pair.truth)
    assert named.remarks == ()


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("car", ("the class 'car' not written: detections are pedestrians",)),
        ("pedestrian", ()),
        ("", ()),
    ],
)
def test_a_class_that_motchallenge_detections_lose_is_reported(
    label: str, said: tuple[str, ...]
) -> None:
    found = make_annotations({STREET: {7: [Thing((1.0, 2.0, 3.0, 4.0), label)]}})
    assert convert(source_of(found), "motchallenge", Side.DETECTIONS).remarks == said


def test_a_kitti_detection_cannot_be_a_region() -> None:
    """The reader refuses `DontCare` in any case."""
    found = make_annotations({STREET: {1: [Thing((1.0, 2.0, 3.0, 4.0), "dontcare")]}}, arity=BOX)
    with pytest.raises(InputError, match="class: found dontcare, expected a class, since"):
        convert(source_of(found), "kitti-tracking", Side.DETECTIONS)


def test_a_track_id_beyond_53_bits_is_not_written_to_coco(tmp_path: Path) -> None:
    """Its reader accepts no integer that JSON numbers cannot hold; CSV has all of 63 bits."""
    things = [Thing((1.0, 2.0, 3.0, 4.0), "car", track_id=track) for track in (7, 2**53)]
    truth = make_annotations({STREET: {1: things}}, arity=BOX)
    with pytest.raises(InputError, match=r"track_id: found 9007199254740992, expected an integer"):
        convert(source_of(truth), "coco-json", Side.TRUTH)
    back, _ = there_and_back(truth, "generic-csv", Side.TRUTH, tmp_path)
    assert back.track_ids.tolist() == [7, 2**53]


@pytest.mark.parametrize("name", ["spotgeo-json", "coco-json"])
def test_detections_of_a_frame_that_the_truth_lacks_are_refused(name: str) -> None:
    """spotGEO results have an entry for each frame of the truth and for no other."""
    arity = min(FORMATS[name].writer.capacity[Side.TRUTH].arities)
    things = [Thing(tuple(range(arity)), "car")]
    truth, found = (make_annotations({("", "1"): {frame: things}}, arity=arity) for frame in (1, 2))
    with pytest.raises(
        InputError, match=r"found frame 2 of sequence 1, expected a frame of the tr"
    ):
        convert(source_of(found), name, Side.DETECTIONS, truth=source_of(truth))


@pytest.mark.parametrize(("count", "label"), [(10_001, "car"), (4_500, "c" * 200)])
def test_a_frame_that_no_json_line_can_hold_is_refused(count: int, label: str) -> None:
    """A line has at most 10,000 objects and 1 MiB."""
    things = [Thing((1.0, 2.0, 3.0, 4.0), label)] * count
    crowded = make_annotations({STREET: {7: things, 8: []}})
    with pytest.raises(InputError) as raised:
        convert(source_of(crowded), "jsonl", Side.DETECTIONS)
    [fault] = raised.value.faults
    assert fault.expected == "at most 10000 objects and 1048576 bytes in a line"
    assert fault.found.startswith(f"{count} objects, ")
    assert fault.found.endswith(" bytes in frame 7 of sequence street")


@pytest.mark.parametrize("name", ["pascal-voc", "dota", "yolo-text", "visdrone-det"])
@pytest.mark.parametrize("side", Side)
def test_a_folder_without_files_is_not_written(name: str, side: Side) -> None:
    """A truth of only don't-care frames leaves nothing if each frame has a file."""
    empty = make_annotations({STREET: {3: []}}, arity=BOX, dont_care=[(STREET, 3)])
    with pytest.raises(InputError, match="found nothing left to write, expected a frame"):
        convert(source_of(empty), name, side, image_size=SIZE)


@pytest.mark.parametrize("name", ["motchallenge", "visdrone-mot"])
def test_frame_numbers_that_would_add_millions_of_frames_are_refused(name: str) -> None:
    """All frames up to the last are evaluated, and readers accept at most ten million."""
    things = [Thing((1.0, 2.0, 3.0, 4.0), "pedestrian")]
    truth = make_annotations({STREET: {1: things, 1732270000500: things}}, arity=BOX)
    with pytest.raises(InputError) as raised:
        convert(source_of(truth), name, Side.TRUTH)
    [fault] = raised.value.faults
    assert (fault.source, fault.found) == ("given", "frame 1732270000500 of sequence street")
    assert fault.expected == "frames up to 10000000, as a sequence has no gaps"


def test_names_of_classes_without_files_are_not_yolo() -> None:
    truth = source_of(make_annotations({STREET: {1: [Thing((1.0, 2.0, 3.0, 4.0), "car")]}}))
    nothing = source_of(truth.annotations.take_frames(np.array([], dtype=np.int64)))
    with pytest.raises(InputError, match="found nothing left to write"):
        convert(nothing, "yolo-text", Side.DETECTIONS, truth=truth, image_size=SIZE)


@pytest.mark.parametrize("name", ["visdrone-det", "visdrone-mot"])
def test_levels_that_visdrone_lacks_are_left_out_and_reported(tmp_path: Path, name: str) -> None:
    """With KITTI's 3, for unknown, a file is not recognised as VisDrone."""
    box = (1.0, 2.0, 8.0, 9.0)
    degrees = [(0.0, 3.0), (0.5, 1.0), (1.0, float("nan"))]
    things = [
        Thing(box, "car", track_id=row, columns={"truncation": one, "occlusion": other})
        for row, (one, other) in enumerate(degrees)
    ]
    truth = make_annotations({STREET: {1: things}}, arity=BOX)
    conversion = convert(source_of(truth), name, Side.TRUTH)
    for column in ("truncation", "occlusion"):
        assert f"1 value of the column {column} not written: not 0, 1 or 2" in conversion.remarks
    source = read_source(save(conversion, tmp_path / "written"), Side.TRUTH)
    assert source.format == name
    back = source.annotations.columns
    np.testing.assert_array_equal(back["truncation"], [0.0, np.nan, 1.0])
    np.testing.assert_array_equal(back["occlusion"], [np.nan, 1.0, np.nan])


def test_occlusion_levels_that_become_booleans_are_reported(tmp_path: Path) -> None:
    """KITTI's 2, for largely occluded, is read back as 1."""
    things = [Thing(CORNERS, "car", columns={"occlusion": one}) for one in (0.0, 1.0, 2.0, np.nan)]
    truth = make_annotations({("Tower", "a"): {1: things}})
    back, remarks = there_and_back(truth, "neovision2-csv", Side.TRUTH, tmp_path)
    np.testing.assert_array_equal(back.columns["occlusion"], [0.0, 1.0, 1.0, np.nan])
    assert remarks == ("1 value of the column occlusion written as TRUE, which is 1",)


@pytest.mark.parametrize(
    ("name", "side", "thing", "key", "field"),
    [
        ("neovision2-csv", Side.TRUTH, Thing(CORNERS, "DCF"), ("Tower", "a"), "class"),
        (
            "coco-json",
            Side.TRUTH,
            Thing((1, 2, 8, 9), "car", columns={"area": -1.0}),
            STREET,
            "area",
        ),
        ("motchallenge", Side.DETECTIONS, Thing((1, 2, 8, 9), "car"), ("", "det"), "sequence"),
    ],
)
def test_data_that_would_be_read_differently_is_refused(
    name: str, side: Side, thing: Thing, key: tuple[str, str], field: str
) -> None:
    """DCF marks a frame, no area is below 0, and a folder with det.txt is that of one sequence."""
    source = source_of(make_annotations({key: {1: [thing]}}))
    with pytest.raises(InputError) as raised:
        convert(source, name, side)
    assert [fault.field for fault in raised.value.faults] == [field]


@pytest.mark.parametrize("name", ["generic-csv", "parquet", "arrow"])
@pytest.mark.parametrize(
    ("key", "columns", "field"),
    [
        (("Tower", ""), {}, "sequence"),
        (STREET, {"track_id": 1.0}, "column track_id"),
        (STREET, {"trakc_id": 1.0}, "column trakc_id"),
    ],
)
def test_a_nameless_sequence_and_numbers_with_names_of_columns_are_refused(
    name: str, key: tuple[str, str], columns: dict[str, float], field: str
) -> None:
    side = make_annotations({key: {1: [Thing((1, 2, 8, 9), "car", columns=columns)]}})
    with pytest.raises(InputError) as raised:
        convert(source_of(side), name, Side.TRUTH)
    assert [fault.field for fault in raised.value.faults] == [field]


@pytest.mark.parametrize("name", ["parquet", "arrow"])
def test_numbers_with_names_of_mask_columns_are_refused(name: str) -> None:
    thing = Thing((1, 2, 8, 9), "car", columns={"mask_width": 1.0})
    with pytest.raises(InputError, match="column mask_width: found further numbers"):
        convert(source_of(make_annotations({STREET: {1: [thing]}})), name, Side.TRUTH)


@pytest.mark.parametrize("arity", [2, 4, 8])
@pytest.mark.parametrize("name", ["spotgeo-json", "coco-json", "dota"])
def test_frames_without_objects_fit_any_shape(name: str, arity: int) -> None:
    """A detector that finds nothing has no shape, whatever shape its JSON lines are read with."""
    nothing = make_annotations({("", "1"): {1: [], 2: []}}, arity=arity)
    assert convert(source_of(nothing), name, Side.TRUTH).files


@pytest.mark.parametrize("side", Side)
def test_kitti_files_with_numeric_classes_are_recognised(tmp_path: Path, side: Side) -> None:
    """As in tables that give a class by its number."""
    boxes = make_annotations({STREET: {1: [Thing((1, 2, 8, 9), "7")]}})
    path = save(convert(source_of(boxes), "kitti-tracking", side), tmp_path / "kitti")
    source = read_source(path, side)
    assert (source.format, source.annotations.labels) == ("kitti-tracking", ("7",))


@pytest.mark.parametrize("side", Side)
@pytest.mark.parametrize("name", ["pascal-voc", "dota"])
def test_objects_without_a_class_do_not_join_a_class_named_object(name: str, side: Side) -> None:
    """They are written with the class object, so two classes would silently become one."""
    arity = min(FORMATS[name].writer.capacity[side].arities)
    things = [Thing(tuple(range(arity)), label) for label in ("", "object")]
    both = make_annotations({STREET: {1: things}}, arity=arity)
    with pytest.raises(InputError, match=r"objects without a class beside the class 'object'"):
        convert(source_of(both), name, side)
    alone = make_annotations({STREET: {1: things[:1]}}, arity=arity)
    assert convert(source_of(alone), name, side).files
    with pytest.raises(InputError, match=r"objects without a class beside the class 'object'"):
        convert(source_of(alone), name, side, truth=source_of(both))


@pytest.mark.parametrize(
    ("name", "sequence"),
    [
        ("dota", "Task1_x"),
        ("kitti-tracking", "evaluate_tracking.seqmap"),
        ("yolo-text", "classes.txt"),
    ],
)
def test_a_sequence_with_the_name_of_another_file_of_the_format_is_refused(
    name: str, sequence: str
) -> None:
    """The names of DOTA's results, KITTI's lengths and YOLO's class names."""
    truth = make_annotations({("", sequence): {1: [Thing((1, 2, 8, 9), "car")]}}, arity=BOX)
    with pytest.raises(InputError) as raised:
        convert(source_of(truth), name, Side.TRUTH, image_size=SIZE)
    assert [fault.field for fault in raised.value.faults] == ["sequence"]


@pytest.mark.parametrize("sequence", ["a.txt", "a.xml", "gt.txt"])
@pytest.mark.parametrize("name", ["yolo-text", "motchallenge"])
def test_a_folder_with_the_name_of_a_file_is_a_sequence(
    tmp_path: Path, name: str, sequence: str
) -> None:
    things = [Thing((256.0, 128.0, 512.0, 256.0), "pedestrian")]
    truth = make_annotations({("", sequence): {1: things}}, arity=BOX)
    conversion = convert(source_of(truth), name, Side.TRUTH, image_size=SIZE)
    path = save(conversion, tmp_path / "written")
    source = read_source(path, Side.TRUTH, image_size=SIZE)
    assert (source.format, source.annotations.sequences) == (name, (SequenceKey("", sequence),))


@pytest.mark.parametrize(
    "name", ["coco-json", "motchallenge", "visdrone-det", "visdrone-mot", "yolo-text"]
)
@pytest.mark.parametrize("side", Side)
def test_a_box_wider_than_readers_accept_is_refused(name: str, side: Side) -> None:
    """A width is at most 1e9 pixels, or 1,000 images; corners may be 2e9 apart."""
    wide = make_annotations({STREET: {1: [Thing((-1e9, 1, 1e9, 9), "pedestrian")]}}, arity=BOX)
    with pytest.raises(InputError, match=r"width: found (2000000000\.0|1953125\.0), expected"):
        convert(source_of(wide), name, side, image_size=SIZE)


@pytest.mark.parametrize("name", ["generic-csv", "parquet", "arrow"])
def test_more_columns_than_a_reader_accepts_are_refused(name: str) -> None:
    """JSON lines have up to 64 numbers per object; the other columns are ten more."""
    columns = {f"n{number}": 1.0 for number in range(60)}
    found = make_annotations({STREET: {1: [Thing((1, 2, 8, 9), "car", columns=columns)]}})
    with pytest.raises(InputError, match=r"found 7[01] columns, expected at most 64 columns"):
        convert(source_of(found), name, Side.DETECTIONS)
