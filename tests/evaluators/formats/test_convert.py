"""Conversion: files follow their formats and are read back unchanged; losses are reported."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.formats.helpers import frames_of, objects_of, write

from vidscore_evaluators.annotations import BOX, POINT, Annotations, ObjectFlag, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import FORMATS, read_pair, read_source
from vidscore_evaluators.formats.convert import Conversion, convert
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.scoring import score
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count

SIZE = (1024, 512)
"""Powers of two, so that fractions are exact."""
STREET = ("", "street")


def source_of(annotations: Annotations, format_name: str | None = None) -> Source:
    return Source(annotations, "given", format_name)


def save(conversion: Conversion, target: Path) -> Path:
    for name, content in conversion.files.items():
        path = target / name if conversion.folder else target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return target


def there_and_back(
    annotations: Annotations, name: str, side: Side, folder: Path
) -> tuple[Annotations, tuple[str, ...]]:
    """Write, and read what was written."""
    conversion = convert(source_of(annotations, name), name, side, image_size=SIZE)
    path = save(conversion, folder / "written")
    back = read_source(path, side, format_name=name, image_size=SIZE)
    return back.annotations, conversion.remarks


PERSON = Thing((1.5, 2.0, 41.5, 90.0), "pedestrian", track_id=4)
CORNERS = (0.5, 0.0, 9.125, 1.0, 8.0, 7.0, 1e-7, 8.1)
OTHER = Thing((100.0, 20.25, 140.0, 60.5), "car", track_id=9)


def test_every_format_is_written() -> None:
    for known in FORMATS.values():
        assert set(known.writer.capacity) == set(Side)


# --- round trips -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "things"),
    [
        (
            "generic-csv",
            [
                replace(PERSON, flags=ObjectFlag.IGNORE | ObjectFlag.CROWD, columns={"area": 7.5}),
                replace(OTHER, label="", flags=ObjectFlag.REGION),
            ],
        ),
        ("coco-json", [replace(PERSON, flags=ObjectFlag.CROWD, columns={"area": 7.5}),
                       replace(OTHER, flags=ObjectFlag.IGNORE, columns={"area": 9.0})]),
        ("motchallenge", [replace(PERSON, columns={"visibility": 0.5}),
                          replace(OTHER, flags=ObjectFlag.IGNORE, columns={"visibility": 1.0})]),
        ("kitti-tracking", [replace(PERSON, columns={"truncation": 1.0, "occlusion": 2.0}),
                            Thing(OTHER.coordinates, "DontCare", flags=ObjectFlag.REGION)]),
        ("yolo-text", [replace(PERSON, track_id=-1), replace(OTHER, track_id=-1)]),
        ("dota", [Thing(CORNERS, "plane", flags=ObjectFlag.IGNORE), Thing(CORNERS[::-1], "ship")]),
    ],
)  # fmt: skip
def test_a_truth_is_read_back_unchanged(tmp_path: Path, name: str, things: list[Thing]) -> None:
    """All frames, objects, flags and columns that the format can hold are there again."""
    truth = make_annotations({STREET: {1: things, 2: things[:1]}})
    back, remarks = there_and_back(truth, name, Side.TRUTH, tmp_path)
    assert remarks == ()
    assert objects_of(back) == objects_of(truth)
    assert frames_of(back) == frames_of(truth)
    for column, values in truth.columns.items():
        np.testing.assert_array_equal(back.columns[column], values)


@pytest.mark.parametrize("name", ["generic-csv", "motchallenge", "kitti-tracking", "yolo-text"])
def test_detections_are_read_back_unchanged(tmp_path: Path, name: str) -> None:
    one = replace(PERSON, confidence=0.3, track_id=-1)
    found = make_annotations({STREET: {1: [one], 3: [one, one]}})
    back, remarks = there_and_back(found, name, Side.DETECTIONS, tmp_path)
    assert remarks == ()
    assert objects_of(back) == objects_of(found)


def test_results_of_dota_are_read_back_unchanged(tmp_path: Path) -> None:
    things = [Thing(CORNERS, "plane", 0.1 + 0.2), Thing(CORNERS, "small-vehicle", -3e-9)]
    found = make_annotations({STREET: {1: things, 12345: things[:1]}})
    back, remarks = there_and_back(found, "dota", Side.DETECTIONS, tmp_path)
    assert remarks == ()
    assert sorted(objects_of(back)) == sorted(objects_of(found))


def test_neovision2_is_read_back_unchanged(tmp_path: Path) -> None:
    things = [
        Thing((0, 0, 9, 1, 8, 7, 1, 8), "Car", flags=ObjectFlag.IGNORE, columns={"occlusion": 1.0}),
        Thing((0, 0, 9, 0, 9, 7, 0, 7), "DCR", flags=ObjectFlag.REGION, columns={"occlusion": 0.0}),
    ]
    tower = ("Tower", "001")
    truth = make_annotations({tower: {0: things, 1: [], 5: []}}, dont_care=[(tower, 5)])
    back, remarks = there_and_back(truth, "neovision2-csv", Side.TRUTH, tmp_path)
    assert remarks == ()
    assert fingerprint(back) == fingerprint(truth)


def test_spotgeo_is_read_back_unchanged_and_has_the_truths_frames(tmp_path: Path) -> None:
    frames: dict[int, list[tuple[float, ...]]] = {1: [(1.5, 2), (3, 4)], 2: [], 3: [(5, 6)]}
    truth = make_annotations({("", "-7"): frames, ("", "12"): {3: [(8, 9)]}}, arity=POINT)
    back, remarks = there_and_back(truth, "spotgeo-json", Side.TRUTH, tmp_path)
    assert (remarks, fingerprint(back)) == ((), fingerprint(truth))
    found = make_annotations({("", "-7"): {1: [(1, 2)]}})
    conversion = convert(source_of(found), "spotgeo-json", Side.DETECTIONS, truth=source_of(truth))
    assert [entry["num_objects"] for entry in json.loads(conversion.files[""])] == [1, 0, 0, 0]


@settings(max_examples=example_count(40), deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_generic_csv_holds_everything_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """Any numbers, names with commas and quotes, empty and don't-care frames."""
    random = np.random.default_rng(seed)
    names = ["a,b", 'say "x"', "Ünï cödé", "plain"]

    def thing() -> Thing:
        return Thing(
            tuple(random.normal(size=4) * 10.0 ** random.integers(-8, 8)),
            names[random.integers(4)],
            random.random(),
            int(random.integers(-1, 5)),
            int(random.integers(0, 16)),
            {"area": random.random()} if random.random() < 0.5 else {},
        )

    key = (names[random.integers(4)], names[random.integers(4)])
    frames = {int(frame): [thing() for _ in range(random.integers(0, 3))] for frame in range(4)}
    given_ = make_annotations({key: frames}, arity=BOX, dont_care=[(key, 2)])
    folder = tmp_path_factory.mktemp("generic")
    back, remarks = there_and_back(given_, "generic-csv", Side.DETECTIONS, folder)
    assert remarks == ()
    assert fingerprint(back) == fingerprint(given_)


# --- what is written -------------------------------------------------------------------------


def test_motchallenge_rows_have_the_form_that_its_tools_read() -> None:
    """frame,id,left,top,width,height,conf,class,visibility; and a seqinfo.ini."""
    truth = make_annotations(
        {
            STREET: {
                1: [PERSON],
                2: [replace(OTHER, flags=ObjectFlag.DISTRACTOR, columns={"visibility": 0.5})],
            }
        }
    )
    files = convert(source_of(truth), "motchallenge", Side.TRUTH, image_size=SIZE).files
    assert files["street/gt/gt.txt"].decode().splitlines() == [
        "1,4,1.5,2,40,88,1,1,1",
        "2,9,100,20.25,40,40.25,1,8,0.5",
    ]
    assert files["street/seqinfo.ini"].decode().splitlines() == [
        "[Sequence]",
        "name=street",
        "seqLength=2",
        "imWidth=1024",
        "imHeight=512",
    ]
    found = make_annotations({STREET: {1: [replace(PERSON, confidence=0.25)]}})
    files = convert(source_of(found), "motchallenge", Side.DETECTIONS).files
    assert files == {"street.txt": b"1,4,1.5,2,40,88,0.25,-1,-1,-1\n"}


def test_kitti_rows_have_the_form_that_its_tools_read() -> None:
    """17 values, and a score in results."""
    truth = make_annotations({STREET: {0: [OTHER]}})
    row = "0 9 car -1 -1 -10 100 20.25 140 60.5 -1 -1 -1 -1000 -1000 -1000 -10"
    files = convert(source_of(truth), "kitti-tracking", Side.TRUTH).files
    assert files == {"street.txt": f"{row}\n".encode()}
    files = convert(source_of(truth), "kitti-tracking", Side.DETECTIONS).files
    assert files == {"street.txt": f"{row} 1\n".encode()}


def test_coco_numbers_are_those_of_the_truth(tmp_path: Path) -> None:
    """Converted separately or together, both sides of a benchmark fit each other."""
    truth = make_annotations({STREET: {0: [PERSON], 4: [OTHER]}, ("", "alley"): {2: []}})
    found = make_annotations({STREET: {4: [replace(OTHER, confidence=0.5)]}})
    written = convert(source_of(truth), "coco-json", Side.TRUTH)
    document = json.loads(written.files[""])
    assert document["videos"] == [{"id": 1, "name": "alley"}, {"id": 2, "name": "street"}]
    assert document["images"][2] == {"id": 3, "video_id": 2, "frame_id": 4}
    assert document["categories"] == [{"id": 1, "name": "car"}, {"id": 2, "name": "pedestrian"}]
    assert document["annotations"][1]["area"] == 40 * 40.25
    results = convert(source_of(found), "coco-json", Side.DETECTIONS, truth=source_of(truth))
    assert json.loads(results.files[""]) == [
        {"image_id": 3, "category_id": 1, "bbox": [100, 20.25, 40, 40.25], "track_id": 9,
         "score": 0.5}
    ]  # fmt: skip
    paths = save(written, tmp_path / "truth.json"), save(results, tmp_path / "results.json")
    assert objects_of(read_pair(*paths).detections.annotations) == objects_of(found)


def test_images_without_videos_keep_their_numbers() -> None:
    truth = make_annotations({("", "images"): {42: [PERSON]}})
    document = json.loads(convert(source_of(truth), "coco-json", Side.TRUTH).files[""])
    assert document["images"] == [{"id": 42}]
    assert "videos" not in document


# --- conventions -----------------------------------------------------------------------------


def test_frames_and_pixels_are_counted_as_in_each_format(tmp_path: Path) -> None:
    """MOTChallenge's frame 1 at pixel 1 is KITTI's frame 0 at pixel 0, and back again."""
    path = write(tmp_path / "a" / "gt" / "gt.txt", "1,3,11,21,30,40,1,1,1\n")
    source = read_source(path, Side.TRUTH)
    conversion = convert(source, "kitti-tracking", Side.TRUTH)
    assert conversion.files["a.txt"].decode().split()[:10] == (
        ["0", "3", "pedestrian", "-1", "-1", "-10", "10", "20", "40", "60"]
    )
    assert conversion.remarks == (
        "frame numbers changed by -1",
        "coordinates changed by -1, for where the first pixel is",
        "1 value of the column visibility not written",
    )
    kitti = read_source(save(conversion, tmp_path / "kitti"), Side.TRUTH)
    back = convert(kitti, "motchallenge", Side.TRUTH).files["a/gt/gt.txt"]
    assert back == b"1,3,11,21,30,40,1,1,1\n"
    # The generic format has no convention, and takes numbers unchanged.
    generic = convert(source, "generic-csv", Side.TRUTH)
    assert generic.remarks == ()
    assert generic.files[""].decode().splitlines()[1].startswith(",a,1,pedestrian,11,21,41,61,")


def test_a_frame_before_the_first_is_an_error() -> None:
    source = source_of(make_annotations({STREET: {0: [PERSON], 5: [PERSON]}}), "motchallenge")
    with pytest.raises(InputError, match=r"found frame 0.*, expected frames from 1 on"):
        convert(source, "kitti-tracking", Side.TRUTH)


@pytest.mark.parametrize("name", ["coco-json", "motchallenge", "kitti-tracking", "yolo-text"])
def test_scores_survive_a_conversion_of_both_sides(tmp_path: Path, name: str) -> None:
    """OSPA of the written files equals that of the originals."""
    truth = make_annotations({STREET: {1: [PERSON], 2: [PERSON, replace(PERSON, track_id=5)]}})
    shifted = [replace(PERSON, coordinates=(5.5, 2.0, 45.5, 90.0), confidence=0.5)]
    found = make_annotations({STREET: {1: shifted, 2: shifted}})
    given_ = source_of(truth), source_of(found)
    paths = []
    for source, side in zip(given_, Side, strict=True):
        conversion = convert(source, name, side, truth=given_[0], image_size=SIZE)
        paths.append(save(conversion, tmp_path / side.value))
    pair = read_pair(*paths, format_name=name, image_size=SIZE)
    before = score("ospa", truth, found).value("ospa")
    after = score("ospa", pair.truth.annotations, pair.detections.annotations).value("ospa")
    assert after == pytest.approx(before, abs=1e-12)


# --- losses ----------------------------------------------------------------------------------


def test_losses_are_reported_and_no_row_becomes_scored() -> None:
    """YOLO has no flags, tracks, domains, columns or don't-care frames."""
    key = ("Tower", "1")
    truth = make_annotations(
        {
            key: {
                0: [replace(PERSON, columns={"area": 3.0}), replace(OTHER, flags=ObjectFlag.CROWD)],
                1: [replace(OTHER, flags=ObjectFlag.IGNORE)],
                2: [OTHER],
            }
        },
        dont_care=[(key, 2)],
    )
    conversion = convert(source_of(truth), "yolo-text", Side.TRUTH, image_size=SIZE)
    assert conversion.remarks == (
        "1 don't-care frame left out",
        "1 object flagged ignore left out",
        "1 object flagged crowd left out",
        "1 track id not written",
        "1 value of the column area not written",
        "domains became part of the names of sequences",
    )
    assert sorted(conversion.files) == [
        "Tower-1/000000.txt",
        "Tower-1/000001.txt",
        "classes.txt",
    ]
    assert conversion.files["classes.txt"] == b"pedestrian\n"


def test_other_losses_are_reported() -> None:
    """Corners, empty frames, classes, and gaps that a sequence's length fills."""
    square, tilted = (0, 0, 9, 0, 9, 9, 0, 9), (0, 0, 9, 1, 8, 9, 0, 9)
    corners = make_annotations({STREET: {1: [Thing(square, "a"), Thing(tilted, "b")], 3: []}})
    kitti = convert(source_of(corners), "kitti-tracking", Side.TRUTH)
    assert kitti.remarks == (
        "1 object with four corners became the box around them",
        "1 frame without objects not listed",
    )
    found = convert(source_of(corners.take_frames(np.array([0]))), "motchallenge", Side.DETECTIONS)
    assert "2 classes became one" in found.remarks
    truth = make_annotations({STREET: {1: [PERSON], 4: [PERSON]}})
    gaps = convert(source_of(truth), "motchallenge", Side.TRUTH)
    assert gaps.remarks == ("2 frames that were not listed are, as a sequence has no gaps",)


DETECTIONS_AS_TRUTH = {
    "coco-json": (
        "found.json",
        (
            '{"images": [{"id": 1}], "categories": [{"id": 1, "name": "a"}], "annotations": ['
            '{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 9, 9], "score": 0.5},'
            '{"id": 2, "image_id": 1, "category_id": 1, "bbox": [30, 1, 9, 9], "score": 1}]}'
        ),
    ),
    "kitti-tracking": (
        "0001.txt",
        "0 1 Car 0 0 -1 1 1 10 10 1 1 1 1 1 1 -1 0.5\n0 2 Car 0 0 -1 30 1 40 10 1 1 1 1 1 1 -1 1\n",
    ),
    "motchallenge": ("street.txt", "1,1,1,1,9,9,0.5,-1,-1,-1\n1,2,30,1,9,9,1,-1,-1,-1\n"),
    "yolo-text": ("street/1.txt", "0 0.1 0.1 0.1 0.1 0.5\n0 0.5 0.1 0.1 0.1 1\n"),
}
"""Two detections in files that could also be truth."""


@pytest.mark.parametrize("name", DETECTIONS_AS_TRUTH)
def test_confidences_lost_because_detections_were_taken_for_truth_are_reported(
    name: str, tmp_path: Path
) -> None:
    place, text = DETECTIONS_AS_TRUTH[name]
    path = write(tmp_path / "found" / place, text)
    given = path if name == "coco-json" else tmp_path / "found"
    source = read_source(given, Side.TRUTH, format_name=name, image_size=SIZE)
    remarks = convert(source, "generic-csv", Side.TRUTH).remarks
    assert remarks[:2] == (
        "1 confidence not written",
        "truth has no confidences; if these are detections, --side detections keeps them",
    )
    report = score("f1", source.annotations, source.annotations)
    assert "truth_with_confidences" in {warning.code for warning in report.warnings}


def test_an_ignored_object_of_motchallenge_is_not_one_with_a_confidence(tmp_path: Path) -> None:
    """Its `conf` of 0 is a flag."""
    path = write(tmp_path / "street.txt", "1,1,1,1,9,9,0,1,1\n1,2,30,1,9,9,1,1,1\n")
    [ignored, scored] = objects_of(read_source(path, Side.TRUTH).annotations)
    assert (ignored[4], ignored[6]) == (1.0, ObjectFlag.IGNORE)
    assert (scored[4], scored[6]) == (1.0, 0)
