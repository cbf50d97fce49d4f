"""Neovision2 trees: Table 4 of the protocol, and the meaning of its tags on each side."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.formats.helpers import validate_file

from vidscore_evaluators.annotations import (
    BOX,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import Pair, read_pair, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.neovision2 import HEADER
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_evaluators.testing import Thing, make_annotations

TABLE_4 = (
    "0,701,489,870,489,870,560,701,560,Car,FALSE,FALSE,1.0,,1.0",
    "4,861,768,1051,768,1051,839,861,839,Car,TRUE,FALSE,1.0,,1.0",
    "4,452,492,621,492,621,563,452,563,Car,FALSE,FALSE,0.5,,1.0",
    "4,452,492,621,492,621,563,452,563,Truck,FALSE,FALSE,0.7,,1.0",
)
"""The rows printed in Table 4 of the protocol."""


def write(root: Path, files: dict[str, Sequence[str]]) -> Path:
    for name, lines in files.items():
        path = root / f"{name}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([",".join(HEADER), *lines]) + "\n", encoding="utf-8")
    return root


def row(frame: object = 0, label: str = "Car", *, ambiguous: str = "FALSE", **other: str) -> str:
    corners = other.get("corners", "0,0,4,0,4,4,0,4")
    occluded, confidence = other.get("occluded", "FALSE"), other.get("confidence", "1.0")
    return f"{frame},{corners},{label},{occluded},{ambiguous},{confidence},,1.0"


def read(root: Path, side: Side = Side.TRUTH, **options: object) -> Source:
    return read_source(root, side, **options)  # type: ignore[arg-type]


def truth(tmp_path: Path, *lines: str) -> Annotations:
    return read(write(tmp_path / "truth", {"Tower/001": lines})).annotations


def faults(tmp_path: Path, side: Side, *lines: str) -> list[tuple[int | None, str | None, str]]:
    root = write(tmp_path / "tree", {"Tower/001": lines})
    return [(fault.line, fault.field, fault.found) for fault in validate_file(root, side=side)]


def test_the_rows_of_table_4_are_read_unchanged(tmp_path: Path) -> None:
    read_ = read(write(tmp_path, {"TowerF/001": TABLE_4}), Side.DETECTIONS).annotations
    assert read_.sequences == (SequenceKey("TowerF", "001"),)
    assert read_.frame_numbers.tolist() == [0, 4]
    assert read_.object_counts.tolist() == [1, 3]
    assert read_.coordinates[0].tolist() == [701, 489, 870, 489, 870, 560, 701, 560]
    assert [read_.labels[code] for code in read_.label_indices] == ["Car", "Car", "Car", "Truck"]
    assert read_.confidences.tolist() == [1.0, 1.0, 0.5, 0.7]
    assert read_.columns["occlusion"].tolist() == [0.0, 1.0, 0.0, 0.0]


def test_a_row_without_object_type_lists_its_frame(tmp_path: Path) -> None:
    read_ = truth(tmp_path, "7,,,,,,,,,,,,,,", row(8))
    assert read_.frame_numbers.tolist() == [7, 8]
    assert read_.object_counts.tolist() == [0, 1]


def test_dcf_marks_its_frame_and_needs_no_coordinates(tmp_path: Path) -> None:
    read_ = truth(tmp_path, "7,,,,,,,,,DCF,,,,,", row(7), row(8))
    assert read_.frame_flags.tolist() == [FrameFlag.DONT_CARE, 0]
    assert read_.object_counts.tolist() == [1, 1]


def test_regions_and_dont_care_objects_are_flagged(tmp_path: Path) -> None:
    read_ = truth(tmp_path, row(label="DCR"), row(label="Ambiguous"), row(ambiguous="true"), row())
    assert read_.flags.tolist() == [ObjectFlag.REGION, ObjectFlag.IGNORE, ObjectFlag.IGNORE, 0]


def test_in_detections_the_tags_are_ordinary_labels(tmp_path: Path) -> None:
    lines = [row(label=label, ambiguous="what?") for label in ("DCR", "DCF", "Ambiguous")]
    read_ = read(write(tmp_path, {"Tower/001": lines}), Side.DETECTIONS).annotations
    assert read_.flags.tolist() == [0, 0, 0]
    assert read_.frame_flags.tolist() == [0]
    assert sorted(read_.labels) == ["Ambiguous", "DCF", "DCR"]


def test_confidences_of_the_truth_are_ignored(tmp_path: Path) -> None:
    read_ = truth(tmp_path, row(confidence="0.2"), row(confidence=""), row(confidence="17"))
    assert read_.confidences.tolist() == [1.0, 1.0, 1.0]


def test_a_missing_occlusion_is_unknown(tmp_path: Path) -> None:
    assert np.isnan(truth(tmp_path, row(occluded="")).columns["occlusion"]).all()


def test_detections_need_a_class_a_confidence_and_corners(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        Side.DETECTIONS,
        "0,,,,,,,,,,,,,,",
        row(confidence=""),
        row(confidence="inf"),
        row(corners="0,0,4,0,4,4,0,"),
        row(),
    )
    assert found == [
        (2, "column ObjectType", "nothing"),
        (3, "column Confidence", "nothing"),
        (4, "column Confidence", "'inf'"),
        (5, "column BoundingBox_Y4", "nothing"),
    ]


def test_every_kind_of_invalid_row_of_the_truth_is_listed(tmp_path: Path) -> None:
    found = faults(
        tmp_path,
        Side.TRUTH,
        row(frame=-1),
        row(frame=""),
        row(occluded="maybe"),
        row(ambiguous="1"),
        row(corners="0,0,4,0,4,4,0,2e9"),
        row(corners="0,0,4,0,4,4,0,nan"),
        "1,2,3",
        row(confidence="high"),
    )
    assert found == [
        (2, "column Frame", "-1"),
        (3, "column Frame", "nothing"),
        (4, "column Occlusion", "'maybe'"),
        (5, "column Ambiguous", "'1'"),
        (6, "column BoundingBox_Y4", "2000000000.0"),
        (7, "column BoundingBox_Y4", "'nan'"),
        (8, None, "3 columns"),
        (9, "column Confidence", "'high'"),
    ]


def test_invalid_rows_are_left_out_on_request_and_counted(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row(0), "broken", row(-1), row(2)]})
    source = read(root, on_error="skip")
    assert source.annotations.frame_numbers.tolist() == [0, 2]
    assert [(warning.code, warning.count) for warning in source.warnings] == [("skipped_rows", 2)]


def test_a_header_with_other_columns_names_them(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row()]})
    path = root / "Tower" / "001.csv"
    path.write_text(path.read_text().replace("ObjectType", "Label"))
    (fault,) = validate_file(root)
    assert str(fault) == f"{path}, line 1, column 10: found 'Label', expected 'ObjectType'"


def test_a_header_of_fourteen_columns_is_an_error(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": []})
    (root / "Tower" / "001.csv").write_text(",".join(HEADER[:-1]) + "\n")
    (fault,) = validate_file(root)
    assert fault.found == "14 columns"


def test_faults_of_all_files_are_listed_together(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row("x")], "Tower/002": [row(), row("y")]})
    (root / "Tower" / "003.csv").write_bytes(b"")
    found = [(Path(fault.source or "").name, fault.line) for fault in validate_file(root)]
    assert found == [("001.csv", 2), ("002.csv", 3), ("003.csv", 1)]


def test_an_invalid_file_hides_no_fault_of_the_others(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row(-1), "1,2,3"], "Tower/002": [row()]})
    (root / "Tower/002.csv").write_text("Frame\n")
    found = [(Path(fault.source or "").name, fault.line) for fault in validate_file(root)]
    assert found == [("001.csv", 2), ("001.csv", 3), ("002.csv", 1)]


def test_each_frame_of_several_files_keeps_its_file_and_line(tmp_path: Path) -> None:
    files: dict[str, Sequence[str]] = {
        "Harbour/001": [row(3), row(1)],
        "Harbour/002": [],
        "Tower/001": [row(1), row(1)],
    }
    read_ = read(write(tmp_path, files))
    assert read_.annotations.frame_numbers.tolist() == [1, 3, 1]
    assert read_.annotations.frame_sequences.tolist() == [0, 0, 2]
    places = read_.positions
    assert places is not None
    named = [Path(places.sources[index]) for index in places.source_of_frame.tolist()]
    assert [f"{name.parent.name}/{name.stem}" for name in named] == [
        "Harbour/001",
        "Harbour/001",
        "Tower/001",
    ]
    assert places.positions.tolist() == [3, 2, 2]


def test_sequences_with_only_a_header_are_known(tmp_path: Path) -> None:
    read_ = read(write(tmp_path, {"Tower/001": [], "Heli/001": [row()]})).annotations
    assert read_.sequences == (SequenceKey("Heli", "001"), SequenceKey("Tower", "001"))
    assert read_.frame_count == 1


def test_other_files_are_ignored_with_a_warning_and_hidden_ones_without(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row()]})
    (root / "README.txt").touch()
    (root / "Tower" / "notes.doc").touch()
    (root / ".DS_Store").touch()
    (warning,) = read(root).warnings
    assert (warning.code, warning.count) == ("ignored_files", 2)
    assert "README.txt, Tower/notes.doc" in warning.message


def test_a_file_whose_name_repeats_a_sequence_is_an_error(tmp_path: Path) -> None:
    """Of two files of one name, the second would replace the first."""
    write(tmp_path, {"Tower/b": TABLE_4})
    for name in ("a.CSV", "a.csv"):
        (tmp_path / "Tower" / name).write_text(",".join(HEADER) + "\n")
    with pytest.raises(InputError) as raised:
        read(tmp_path)
    [fault] = raised.value.faults
    assert (fault.source, fault.found) == (str(tmp_path / "Tower"), "'a.csv'")


def test_a_csv_file_outside_a_domain_is_an_error(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row()], "002": [row()]})
    (fault,) = validate_file(root, format_name="neovision2-csv")
    assert fault.source == str(root / "002.csv")


def test_a_tree_without_csv_files_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "Tower").mkdir()
    (fault,) = validate_file(tmp_path, format_name="neovision2-csv")
    assert fault.found == "no CSV file"


def test_the_number_of_files_and_their_size_are_bounded(tmp_path: Path) -> None:
    root = write(tmp_path, {"Tower/001": [row()], "Tower/002": [row()]})
    with pytest.raises(InputError, match="maximum_files = 1"):
        read(root, limits=ReadLimits(maximum_files=1))
    with pytest.raises(InputError, match="maximum_file_bytes = 10"):
        read(root, limits=ReadLimits(maximum_file_bytes=10))


rows_ = st.lists(
    st.tuples(st.integers(0, 3), st.sampled_from(["Car", "Bus", "DCR", "", "DCF", "Ambiguous"])),
    min_size=1,
    max_size=12,
)


@given(rows_, st.randoms())
def test_the_order_of_rows_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, str]], random: object
) -> None:
    lines = [
        row(frame, label, corners=f"{index},0,4,0,4,4,0,4")
        for index, (frame, label) in enumerate(rows)
    ]
    folder = tmp_path_factory.mktemp("order")
    first = read(write(folder / "a", {"Tower/001": lines})).annotations
    random.shuffle(lines)  # type: ignore[attr-defined]
    second = read(write(folder / "b", {"Tower/001": lines})).annotations
    assert fingerprint(first) == fingerprint(second)
    assert first.frame_numbers.tolist() == second.frame_numbers.tolist()


def pair(tmp_path: Path, detections: dict[str, Sequence[str]], **options: object) -> Pair:
    left = write(tmp_path / "truth", {"Tower/001": [row()], "Tower/002": [row()]})
    right = write(tmp_path / "detections", detections)
    return read_pair(left, right, **options)  # type: ignore[arg-type]


def test_a_missing_detection_file_is_a_warning(tmp_path: Path) -> None:
    (warning,) = pair(tmp_path, {"Tower/001": [row()]}).warnings
    assert (warning.code, warning.count) == ("missing_detection_file", 1)
    assert "Tower/002" in warning.message


def test_a_detection_file_of_an_unknown_sequence_is_an_error(tmp_path: Path) -> None:
    files: dict[str, Sequence[str]] = {"Tower/001": [row()], "Tower/002": [], "Heli/009": []}
    with pytest.raises(InputError) as caught:
        pair(tmp_path, files)
    (fault,) = caught.value.faults
    assert fault.source == str(tmp_path / "detections" / "Heli" / "009.csv")


def test_an_unknown_sequence_that_the_manifest_lists_is_accepted(tmp_path: Path) -> None:
    files: dict[str, Sequence[str]] = {"Tower/001": [], "Tower/002": [], "Heli/009": [row()]}
    read_ = pair(tmp_path, files, known=frozenset({SequenceKey("Heli", "009")}))
    assert read_.detections.annotations.frame_count == 1


def test_detections_of_an_unknown_sequence_are_left_out_on_request(tmp_path: Path) -> None:
    files: dict[str, Sequence[str]] = {"Tower/001": [row()], "Tower/002": [], "Heli/9": [row()]}
    read_ = pair(tmp_path, files, on_error="skip").detections
    assert SequenceKey("Heli", "9") not in read_.annotations.sequences
    assert read_.annotations.frame_count == 1
    assert [(warning.code, warning.count) for warning in read_.warnings] == [("skipped_rows", 1)]


# --- writing ---------------------------------------------------------------------------------

BOX_1 = Thing((1.0, 2.0, 8.0, 9.5), "Car", confidence=0.7)
CORNERS_1 = "1,2,8,2,8,9.5,1,9.5"


def written(side: Side, frames: dict[int, list[Thing]], *dont_care: int) -> list[str]:
    """Rows of the file of a sequence Tower/001."""
    key = SequenceKey("Tower", "001")
    annotations = make_annotations(
        {key: frames}, arity=BOX, dont_care=[(key, n) for n in dont_care]
    )
    files = convert(Source(annotations, "given"), "neovision2-csv", side).files
    assert list(files) == ["Tower/001.csv"]
    header, *rows = files["Tower/001.csv"].decode().split("\n")[:-1]
    assert header == ",".join(HEADER)
    return rows


def test_truth_is_written_in_the_words_of_table_4() -> None:
    """Corners go around a box; the class marks regions and don't-care frames."""
    occluded = replace(BOX_1, columns={"occlusion": 1.0})
    ignored = replace(BOX_1, flags=ObjectFlag.IGNORE, columns={"occlusion": 0.0})
    region = replace(BOX_1, label="", flags=ObjectFlag.REGION)
    frames = {0: [occluded, ignored], 1: [], 2: [region], 3: [], 4: [BOX_1]}
    assert written(Side.TRUTH, frames, 3) == [
        f"0,{CORNERS_1},Car,TRUE,FALSE,1.0,,",
        f"0,{CORNERS_1},Car,FALSE,TRUE,1.0,,",
        "1,,,,,,,,,,,,,,",
        f"2,{CORNERS_1},DCR,,FALSE,1.0,,",
        "3,,,,,,,,,DCF,,,,,",
        f"4,{CORNERS_1},Car,,FALSE,1.0,,",
    ]


def test_detections_are_written_with_their_confidences_and_any_class() -> None:
    """The marks of a truth are ordinary classes there, and a row without an object is an error."""
    frames = {2: [replace(BOX_1, label="DCF")], 3: [], 5: [replace(BOX_1, label="dcr")]}
    assert written(Side.DETECTIONS, frames) == [
        f"2,{CORNERS_1},DCF,,FALSE,0.7,,",
        f"5,{CORNERS_1},dcr,,FALSE,0.7,,",
    ]


def test_an_object_without_a_class_is_not_written() -> None:
    with pytest.raises(InputError, match="found an object without a class"):
        written(Side.TRUTH, {0: [replace(BOX_1, label="")]})


def test_a_class_that_a_spreadsheet_would_run_is_not_written_to_neovision2() -> None:
    with pytest.raises(InputError, match="=1"):
        written(Side.DETECTIONS, {0: [replace(BOX_1, label="=1+1")]})
