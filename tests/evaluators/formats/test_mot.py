"""MOTChallenge text: handwritten truth and results, their layouts, and every fault."""

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

from vidscore_evaluators.annotations import ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import detect_format, read_pair, read_source

MOT17 = """\
1,1,912,484,97,109,1,1,0.86
2,2,1338,418,167.5,379,0,7,1
1,3,586,447,85,263,0,3,0.5
"""
MOT15 = "1,1,10,20,30,40,1,-1,-1,-1\n3,1,12,20,30,40,0,-1,-1,-1\n"
RESULTS = "1, 7, 910.5, 484, 97, 109, 0.5, -1, -1, -1\n3,8,1,2,3,4,-1,-1,-1,-1\n"


def sequence(root: Path, name: str, text: str, info: str = "") -> Path:
    write(root / name / "gt" / "gt.txt", text)
    if info:
        write(root / name / "seqinfo.ini", info)
    return root


def test_truth_with_classes_is_read_as_written(tmp_path: Path) -> None:
    """Frames and pixels as written; conf 0 is ignored; class 7 is a distractor."""
    source = truth_of(sequence(tmp_path, "MOT17-02", MOT17))
    assert source.format == "motchallenge"
    both = ObjectFlag.IGNORE | ObjectFlag.DISTRACTOR
    assert objects_of(source.annotations) == [
        ("MOT17-02", 1, "pedestrian", (912.0, 484.0, 1009.0, 593.0), 1.0, 1, 0),
        ("MOT17-02", 1, "car", (586.0, 447.0, 671.0, 710.0), 1.0, 3, ObjectFlag.IGNORE),
        ("MOT17-02", 2, "static_person", (1338.0, 418.0, 1505.5, 797.0), 1.0, 2, both),
    ]
    assert column(source.annotations, "visibility") == [0.86, 0.5, 1.0]


def test_truth_without_classes_has_pedestrians(tmp_path: Path) -> None:
    side = truth_of(write(tmp_path / "TUD" / "gt" / "gt.txt", MOT15)).annotations
    assert [(row[:3], row[6]) for row in objects_of(side)] == [
        (("TUD", 1, "pedestrian"), 0),
        (("TUD", 3, "pedestrian"), ObjectFlag.IGNORE),
    ]


def test_visibility_is_read_if_a_file_has_it(tmp_path: Path) -> None:
    assert dict(truth_of(sequence(tmp_path, "a", MOT15)).annotations.columns) == {}
    both = truth_of(sequence(tmp_path, "b", MOT17)).annotations
    assert column(both, "visibility") == [None, None, 0.86, 0.5, 1.0]


def test_a_folder_of_one_sequence_has_its_name(tmp_path: Path) -> None:
    root = sequence(tmp_path, "MOT17-02", MOT17) / "MOT17-02"
    for path in (root, root / "gt", root / "gt" / "gt.txt"):
        assert [key.sequence for key in truth_of(path).annotations.sequences] == ["MOT17-02"]


def test_seqinfo_gives_the_size_of_images_and_the_place_of_faults_of_frames_without_rows(
    tmp_path: Path,
) -> None:
    info = "[Sequence]\nseqLength=3\nimWidth=640\nimHeight=480\n"
    source = truth_of(sequence(tmp_path, "a", "\n" + MOT15, info))
    key = SequenceKey("", "a")
    assert source.image_sizes == {key: (640, 480)}
    assert source.place_of(key, 2) == f"{tmp_path}/a/gt/gt.txt, line 1"
    assert source.place_of(key, 3) == f"{tmp_path}/a/gt/gt.txt, line 3"


def test_seqinfo_lists_every_frame(tmp_path: Path) -> None:
    root = sequence(tmp_path, "a", MOT15, "[Sequence]\nname=a\nseqLength=4\nimWidth=640\n")
    assert frames_of(truth_of(root).annotations) == [("a", number) for number in (1, 2, 3, 4)]
    sequence(tmp_path, "b", MOT15)
    frames = frames_of(truth_of(tmp_path).annotations)
    assert frames[4:] == [("b", 1), ("b", 3)]


def test_the_last_frame_of_seqinfo_may_have_rows(tmp_path: Path) -> None:
    root = sequence(tmp_path, "a", MOT15, "[Sequence]\nseqLength=3\n")
    assert frames_of(truth_of(root).annotations) == [("a", number) for number in (1, 2, 3)]


def test_results_are_pedestrians_with_confidences(tmp_path: Path) -> None:
    """-1 means no confidence; spaces after commas are accepted."""
    source = detections_of(write(tmp_path / "results" / "MOT17-02.txt", RESULTS).parent)
    assert objects_of(source.annotations) == [
        ("MOT17-02", 1, "pedestrian", (910.5, 484.0, 1007.5, 593.0), 0.5, 7, 0),
        ("MOT17-02", 3, "pedestrian", (1.0, 2.0, 4.0, 6.0), 1.0, 8, 0),
    ]


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ((-1.0, 0.0, 1.0), (1.0, 0.0, 1.0)),
        ((-1.0, 1.5, 0.5), (-1.0, 1.5, 0.5)),
        ((-1.0, -0.5, 0.5), (-1.0, -0.5, 0.5)),
    ],
)
def test_minus_one_means_no_confidence_if_all_others_are_from_0_to_1(
    tmp_path: Path, given: tuple[float, ...], read: tuple[float, ...]
) -> None:
    rows = "".join(f"1,{row},1,2,3,4,{one}\n" for row, one in enumerate(given))
    side = detections_of(write(tmp_path / "a.txt", rows)).annotations
    assert tuple(side.confidences.tolist()) == read


def test_detections_in_the_layout_of_a_benchmark_are_read(tmp_path: Path) -> None:
    write(tmp_path / "a" / "det" / "det.txt", "1,-1,1,2,3,4,0.25\n")
    side = detections_of(tmp_path).annotations
    assert objects_of(side) == [("a", 1, "pedestrian", (1.0, 2.0, 4.0, 6.0), 0.25, -1, 0)]


def test_if_both_layouts_exist_truth_is_nested_and_results_are_flat(tmp_path: Path) -> None:
    """Each side takes its own layout, or the other one if only that exists."""
    write(tmp_path / "nested" / "gt" / "gt.txt", MOT15)
    write(tmp_path / "nested" / "det" / "det.txt", RESULTS)
    assert detections_of(tmp_path).annotations.sequences[0].sequence == "nested"
    write(tmp_path / "flat.txt", RESULTS)
    assert [key.sequence for key in detections_of(tmp_path).annotations.sequences] == ["flat"]
    assert [key.sequence for key in truth_of(tmp_path).annotations.sequences] == ["nested"]


def test_a_single_file_belongs_to_a_single_sequence(tmp_path: Path) -> None:
    truth = sequence(tmp_path / "truth", "street", MOT15)
    found = write(tmp_path / "mine.txt", RESULTS)
    pair = read_pair(truth, found)
    assert {row[0] for row in objects_of(pair.detections.annotations)} == {"street"}


def test_files_are_checked_against_the_truths_sequences(tmp_path: Path) -> None:
    truth = sequence(sequence(tmp_path / "truth", "a", MOT15), "b", MOT15)
    write(tmp_path / "found" / "a.txt", RESULTS)
    pair = read_pair(truth, tmp_path / "found")
    assert [warning.code for warning in pair.warnings] == ["missing_detection_file"]
    write(tmp_path / "found" / "c.txt", RESULTS)
    pair = read_pair(truth, tmp_path / "found", on_error="skip")
    assert {row[0] for row in objects_of(pair.detections.annotations)} == {"a"}


def test_a_file_without_rows_has_no_detections(tmp_path: Path) -> None:
    truth = sequence(tmp_path / "truth", "a", MOT15)
    write(tmp_path / "found" / "a.txt", "")
    pair = read_pair(truth, detections_of(tmp_path / "found", format_name="motchallenge"))
    assert pair.detections.annotations.frame_count == 0
    assert pair.warnings == ()


@pytest.mark.parametrize(
    ("row", "column_", "found"),
    [
        ("0,1,1,1,1,1,1,1,1", "frame", "0"),
        ("1.5,1,1,1,1,1,1,1,1", "frame", "'1.5'"),
        ("1,-2,1,1,1,1,1,1,1", "id", "-2"),
        ("1,1,nan,1,1,1,1,1,1", "left", "'nan'"),
        ("1,1,1,,1,1,1,1,1", "top", "nothing"),
        ("1,1,1,1,-1,1,1,1,1", "width", "-1.0"),
        ("1,1,1,1,1,2e9,1,1,1", "height", "2000000000.0"),
        ("1,1,1,1,1,1,,1,1", "conf", "nothing"),
        ("1,1,1,1,1,1,1,14,1", "class", "14"),
        ("1,1,1,1,1,1,1,1,2", "visibility", "2.0"),
        ("1,1,1,1,1,1,1,1,-0.5", "visibility", "-0.5"),
    ],
)
def test_an_invalid_row_is_named(tmp_path: Path, row: str, column_: str, found: str) -> None:
    """File, line and column, and the rest can be read."""
    root = sequence(tmp_path, "a", MOT17 + row + "\n")
    (fault,) = validate_file(root)
    assert fault.source == str(root / "a" / "gt" / "gt.txt")
    assert (fault.line, fault.field, fault.found) == (4, f"column {column_}", found)
    assert truth_of(root, on_error="skip").annotations.object_count == 3


def test_the_maximum_numbers_are_read(tmp_path: Path) -> None:
    """A box may have no area, class 13 is the last, and the last frame of the length is valid."""
    greatest = 2**53 - 1
    rows = f"1,0,0,0,0,0,1,13,1\n{greatest},1,0,0,1e9,1e9,1,1,1\n"
    root = sequence(tmp_path, "a", rows)
    assert objects_of(truth_of(root).annotations) == [
        ("a", 1, "crowd", (0.0, 0.0, 0.0, 0.0), 1.0, 0, 0),
        ("a", greatest, "pedestrian", (0.0, 0.0, 1e9, 1e9), 1.0, 1, 0),
    ]
    write(root / "a" / "seqinfo.ini", "[Sequence]\nseqLength=3\n")
    (fault,) = validate_file(root)
    assert (fault.line, fault.expected) == (2, "a frame within the seqLength of seqinfo.ini")


@pytest.mark.parametrize(
    ("row", "found"),
    [
        ("1 1", "values separated by blanks"),
        ("1,1,1,1,1,1,1,", "a comma after the last value"),
        ("1,1,1,1,1,1", "6 columns"),
        ("1,1,1,1,1,1,1,1,1,1,1", "11 columns"),
        ("hello", "1 column"),
    ],
)
def test_a_first_row_of_another_form_is_named(tmp_path: Path, row: str, found: str) -> None:
    path = write(tmp_path / "a.txt", f"\n{row}\n")
    (fault,) = validate_file(path, format_name="motchallenge")
    assert (fault.line, fault.found) == (2, found)


def test_a_detection_needs_a_confidence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", RESULTS + "4,8,1,2,3,4,,-1,-1,-1\n")
    (fault,) = validate_file(path, side=Side.DETECTIONS)
    assert (fault.line, fault.field, fault.found) == (3, "column conf", "nothing")


def test_other_faults_are_named(tmp_path: Path) -> None:
    """An infinite confidence, a quotation mark, ragged rows, and frames beyond the sequence."""
    path = write(tmp_path / "r.txt", RESULTS + '1,1,1,1,1,1,inf,-1,-1,-1\n1,"1,1\n1,1\n')
    faults = {
        fault.line: fault.found
        for fault in validate_file(path, side=Side.DETECTIONS, format_name="motchallenge")
    }
    assert faults == {3: "'inf'", 4: "a quotation mark", 5: "2 columns"}
    root = sequence(tmp_path / "t", "a", MOT15, "[Sequence]\nseqLength=2\n")
    (fault,) = validate_file(root)
    assert (fault.line, fault.found) == (2, "3")
    write(root / "a" / "seqinfo.ini", "[Sequence]\nseqLength=many\n")
    (fault,) = validate_file(root)
    assert (fault.field, fault.found) == ("seqLength", "'many'")
    write(root / "a" / "seqinfo.ini", "nothing")
    (fault,) = validate_file(root)
    assert fault.found == "nothing of the kind"


def test_faults_of_seqinfo_are_reported_beside_those_of_rows(tmp_path: Path) -> None:
    root = sequence(tmp_path, "a", "1,1,x,20,30,40,1,-1,-1,-1\n" + MOT15, "[Sequence]\n")
    sequence(tmp_path, "b", MOT15, "[Sequence]\nseqLength=0\n")
    found = {fault.field: fault.found for fault in validate_file(root, format_name="motchallenge")}
    assert found == {None: "nothing of the kind", "column left": "'x'", "seqLength": "'0'"}


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    (fault,) = validate_file(tmp_path, format_name="motchallenge")
    assert fault.found == "nothing of the kind"
    assert "gt/gt.txt" in fault.expected
    assert fault.advice is None
    root = sequence(tmp_path, "a", MOT17)
    (fault,) = validate_file(root, side=Side.DETECTIONS)
    assert fault.found == "nothing of the kind"
    assert "the other side" in (fault.advice or "")


def test_the_format_is_recognised(tmp_path: Path) -> None:
    root = sequence(tmp_path / "tree", "a", MOT17)
    for path in (root, root / "a", root / "a" / "gt" / "gt.txt"):
        assert detect_format(path).name == "motchallenge"
    results = write(tmp_path / "found" / "a.txt", RESULTS)
    assert detect_format(results).name == detect_format(results.parent).name == "motchallenge"


@pytest.mark.parametrize("side", [Side.TRUTH, Side.DETECTIONS])
@pytest.mark.parametrize(
    ("tails", "read"),
    [
        (("-1,-1,-1", "-1,-1,-1"), True),
        (("-9.03,-11.5,0", "3,2.5,0"), True),
        (("0,0,0", "0,0,0"), True),
        (("4,0,0", "0,1,2"), False),
        (("1,0,0", "1,0,0"), False),
        (("4.0,0,0", "11,0,0"), False),
        (("0,0,0", "4,0,0"), False),
        (("3,1,0", "2.5,1,0"), True),
        (("3,1,0", "-9,1,0"), True),
    ],
)
def test_ten_columns_with_classes_are_never_read_as_pedestrians(
    tmp_path: Path, side: Side, tails: tuple[str, str], read: bool
) -> None:
    """The eighth column may be a position in metres, or none, but not a class."""
    rows = "".join(f"{frame},1,10,10,40,30,1,{tail}\n" for frame, tail in enumerate(tails, start=1))
    path = write(tmp_path / "a.txt", rows)
    assert detect_format(path).name == ("motchallenge" if read else "visdrone-mot")
    faults = validate_file(path, side=side, format_name="motchallenge")
    assert ["VisDrone" in str(fault) for fault in faults] == ([] if read else [True])


@pytest.mark.parametrize(
    ("name", "tails", "refused"),
    [
        ("a.txt", ["1,1,1", "2,4,1"], True),  # out of view
        ("a.txt", ["1,1,1", "1,2,3"], True),  # a bus
        ("M0101_gt_whole.txt", ["1,1,1", "1,4,1"], True),
        ("a.txt", ["4,1,1", "1,1,1"], False),  # one more than UAVDT has
        ("a.txt", ["2,5,1", "1,1,1"], False),
        ("a.txt", ["1,1,4", "1,1,1"], False),
        ("a.txt", ["1,1,1", "1,4,1"], False),  # as MOTChallenge's visible cars and persons
        ("M0101_gt_whole.txt", ["1,1,1", "1,4,0.5"], False),
        ("M0101_gt_whole.txt", ["1,1,1", "0,4,1"], False),
        ("M0101_gt_whole.txt", [], False),
    ],
)
def test_truth_with_the_columns_of_uavdt_is_refused_where_these_can_be_told(
    tmp_path: Path, name: str, tails: list[str], refused: bool
) -> None:
    """They end with out-of-view (1 to 3), occlusion (1 to 4) and category (1 to 3)."""
    rows = "".join(f"{frame},1,10,10,40,30,{tail}\n" for frame, tail in enumerate(tails, start=1))
    faults = validate_file(write(tmp_path / name, rows))
    assert any("UAVDT" in str(fault) for fault in faults) == refused


@pytest.mark.parametrize("tail", ["", ",1", ",0.5"])
def test_detections_of_other_classes_are_not_read_as_pedestrians(tmp_path: Path, tail: str) -> None:
    """Trackers that write classes count them from 0 or 1; trackeval refuses more than 1, too."""
    classes = (1, -1, 0, 2, 3)
    rows = [f"{frame},1,10,10,40,30,0.9,{one}{tail}\n" for frame, one in enumerate(classes, 1)]
    path = write(tmp_path / "a.txt", "".join(rows))
    faults = validate_file(path, side=Side.DETECTIONS)
    assert [(one.line, one.field, one.found) for one in faults] == [
        (4, "column class", "2"), (5, "column class", "3"),
    ]  # fmt: skip
    assert "leave the others out" in str(faults[0])
    kept = read_source(path, Side.DETECTIONS, on_error="skip").annotations
    assert kept.frame_numbers.tolist() == [1, 2, 3]
    assert {row[2] for row in objects_of(kept)} == {"pedestrian"}


def test_truth_of_eight_columns_has_classes(tmp_path: Path) -> None:
    side = truth_of(sequence(tmp_path, "a", "1,1,1,1,9,9,1,3\n1,2,1,1,9,9,1,-1\n")).annotations
    assert [row[2] for row in objects_of(side)] == ["car", "pedestrian"]
    assert dict(side.columns) == {}


def test_a_visibility_of_minus_one_is_unknown(tmp_path: Path) -> None:
    side = truth_of(sequence(tmp_path, "a", "1,1,1,1,9,9,1,1,-1\n2,1,1,1,9,9,1,1,0\n")).annotations
    assert column(side, "visibility") == [None, 0.0]


@pytest.mark.parametrize("frame", ["nan", "", "inf"])
def test_rows_whose_first_frame_is_not_a_number_are_still_recognised(
    tmp_path: Path, frame: str
) -> None:
    """The error used to be CSV without a header, or a folder of no format."""
    row = f"{frame},1,1,2,9,9,0.5,-1,-1,-1\n"
    path = write(tmp_path / "found" / "s.txt", row + "2" + row.removeprefix(frame))
    for given in (path, path.parent):
        with pytest.raises(InputError, match=r"s\.txt, line 1, column frame: found"):
            read_source(given, Side.DETECTIONS)
