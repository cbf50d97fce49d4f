"""Generic CSV: columns by name, in any order, for points, boxes and corners."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.evaluators.formats.helpers import validate_file

from vidscore_evaluators.annotations import Annotations, FrameFlag, ObjectFlag, SequenceKey, Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_source


def write(path: Path, *lines: str) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(tmp_path: Path, *lines: str, **options: Any) -> Annotations:
    path = write(tmp_path / "a.csv", *lines)
    return read_source(path, Side.TRUTH, format_name="generic-csv", **options).annotations


def faults(tmp_path: Path, *lines: str) -> list[tuple[int | None, str | None, str]]:
    path = write(tmp_path / "a.csv", *lines)
    listed = validate_file(path, format_name="generic-csv")
    return [(fault.line, fault.field, fault.found) for fault in listed]


def test_columns_may_be_in_any_order(tmp_path: Path) -> None:
    read_ = read(
        tmp_path,
        "track_id,x,y,area,flags,frame,confidence,class,sequence,domain",
        "7,1.5,2,100,crowd|ignore,3,0.25,Car,a,Tower",
        ",3,4,,,3,1,Bus,a,Tower",
    )
    assert read_.sequences == (SequenceKey("Tower", "a"),)
    assert read_.frame_numbers.tolist() == [3]
    assert read_.coordinates.tolist() == [[1.5, 2.0], [3.0, 4.0]]
    assert [read_.labels[index] for index in read_.label_indices] == ["Car", "Bus"]
    assert read_.confidences.tolist() == [0.25, 1.0]
    assert read_.track_ids.tolist() == [7, -1]
    assert read_.flags.tolist() == [ObjectFlag.CROWD | ObjectFlag.IGNORE, 0]
    assert read_.columns["area"][0] == 100.0
    assert np.isnan(read_.columns["area"][1])


@pytest.mark.parametrize(
    ("names", "arity"), [("x,y", 2), ("x1,y1,x2,y2", 4), ("x1,y1,x2,y2,x3,y3,x4,y4", 8)]
)
def test_the_coordinates_decide_the_shape_of_objects(
    tmp_path: Path, names: str, arity: int
) -> None:
    values = [float(number) for number in range(arity)]
    read_ = read(
        tmp_path, f"sequence,frame,{names}", "a,0," + ",".join(str(value) for value in values)
    )
    assert read_.coordinates.tolist() == [values]
    assert read_.confidences.tolist() == [1.0]
    assert read_.labels == ("",)


def test_rows_without_coordinates_list_their_frame(tmp_path: Path) -> None:
    read_ = read(tmp_path, "sequence,frame,x,y", "a,5,,", "a,6,1,2", "a,6,,")
    assert read_.frame_numbers.tolist() == [5, 6]
    assert read_.object_counts.tolist() == [0, 1]


def test_the_flag_of_a_frame_holds_for_all_its_rows(tmp_path: Path) -> None:
    read_ = read(
        tmp_path, "sequence,frame,x,y,flags", "a,1,1,2,", "a,1,,,dont_care_frame", "a,2,1,1,"
    )
    assert read_.frame_flags.tolist() == [FrameFlag.DONT_CARE, 0]
    assert read_.flags.tolist() == [0, 0]


def test_rows_of_a_frame_need_not_be_adjacent(tmp_path: Path) -> None:
    read_ = read(tmp_path, "sequence,frame,x,y", "b,1,1,1", "a,2,2,2", "b,1,3,3", "a,1,4,4")
    assert read_.sequences == (SequenceKey("", "a"), SequenceKey("", "b"))
    assert read_.frame_sequences.tolist() == [0, 0, 1]
    assert read_.frame_numbers.tolist() == [1, 2, 1]
    assert read_.coordinates[:, 0].tolist() == [4.0, 2.0, 1.0, 3.0]


def test_sequences_of_one_name_in_two_domains_are_different(tmp_path: Path) -> None:
    read_ = read(tmp_path, "domain,sequence,frame,x,y", "T,1,0,0,0", "H,1,0,0,0", "T,2,0,0,0")
    assert read_.sequences == (SequenceKey("H", "1"), SequenceKey("T", "1"), SequenceKey("T", "2"))


def test_every_kind_of_invalid_row_is_listed(tmp_path: Path) -> None:
    assert faults(
        tmp_path,
        "sequence,frame,class,x1,y1,x2,y2,confidence,track_id,flags",
        ",0,,1,1,2,2,1,,",
        "a,-1,,1,1,2,2,1,,",
        "a,,,1,1,2,2,1,,",
        "a,0,,1,,2,2,1,,",
        "a,0,,1,1,2,-2e9,1,,",
        "a,0,,1,1,2,2,inf,,",
        "a,0,,1,1,2,2,,,",
        "a,0,,1,1,2,2,1,-2,",
        "a,0,,1,1,2,2,1,,ignore|hidden",
        "a,0,Car,,,,,,,",
        "a,0,,1,1,2,2,1,1.5,",
        "a,9007199254740992,,1,1,2,2,1,,",
    ) == [
        (2, "column sequence", "nothing"),
        (3, "column frame", "-1"),
        (4, "column frame", "nothing"),
        (5, "column y1", "nothing"),
        (6, "column y2", "-2000000000.0"),
        (7, "column confidence", "'inf'"),
        (8, "column confidence", "nothing"),
        (9, "column track_id", "-2"),
        (10, "column flags", "'ignore|hidden'"),
        (11, "column x1", "no coordinates"),
        (12, "column track_id", "'1.5'"),
        (13, "column frame", "9007199254740992"),
    ]


@pytest.mark.parametrize(
    ("header", "field"),
    [
        ("frame,x,y", "column sequence"),
        ("sequence,x,y", "column frame"),
        ("sequence,frame", None),
        ("sequence,frame,x1,y1,x2", None),
        ("sequence,frame,x,y,x1,y1,x2,y2", None),
        ("sequence,frame,x,y,x", "column x"),
        ("sequence,frame,x,y,confidense", "column confidense"),
        ("sequence,frame,x,y,Class", "column Class"),
        ("sequence,frame,x,y,", "column nothing"),
        ("sequence,frame,x,y,a b", "column a b"),
        ("sequence,frame,x,y," + ",".join(f"c{number}" for number in range(61)), None),
    ],
)
def test_a_clearly_wrong_header_is_refused(tmp_path: Path, header: str, field: str | None) -> None:
    assert [fault[:2] for fault in faults(tmp_path, header)] == [(1, field)]


def test_further_columns_may_contain_only_numbers(tmp_path: Path) -> None:
    assert faults(tmp_path, "sequence,frame,x,y,colour", "a,0,1,1,red") == [
        (2, "column colour", "'red'")
    ]


def test_a_file_with_only_a_header_has_no_frames(tmp_path: Path) -> None:
    assert read(tmp_path, "sequence,frame,x,y").frame_count == 0


objects = st.lists(
    st.tuples(
        st.sampled_from(["a", "b"]),
        st.integers(0, 3),
        st.sampled_from(["Car", "Bus"]),
        st.floats(-1e6, 1e6),
        st.integers(-1, 5),
    ),
    max_size=15,
)


@given(objects, st.randoms())
def test_the_order_of_rows_and_columns_does_not_matter(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], random: Any
) -> None:
    folder = tmp_path_factory.mktemp("order")
    lines = [f"{s},{f},{c},{x!r},0.5,{t}" for s, f, c, x, t in rows]
    first = read(folder, "sequence,frame,class,x,y,track_id", *lines)
    random.shuffle(rows)
    lines = [f"{t},0.5,{x!r},{c},{f},{s}" for s, f, c, x, t in rows]
    second = read(folder, "track_id,y,x,class,frame,sequence", *lines)
    assert fingerprint(first) == fingerprint(second)


def test_invalid_rows_are_left_out_on_request(tmp_path: Path) -> None:
    read_ = read(
        tmp_path, "sequence,frame,x,y", "a,0,1,1", "a,one,1,1", "a,-2,1,1", on_error="skip"
    )
    assert read_.frame_numbers.tolist() == [0]


@pytest.mark.parametrize(
    ("column", "value"), [("class", "car"), ("confidence", "0.5"), ("track_id", "0")]
)
def test_a_row_without_coordinates_must_have_no_object_values(
    tmp_path: Path, column: str, value: str
) -> None:
    rows = ("a,1,,,", f"a,2,,,{value}")
    assert faults(tmp_path, f"sequence,frame,x,y,{column}", *rows) == [
        (3, "column x", "no coordinates")
    ]


def test_skipped_rows_are_counted_whatever_their_fault(tmp_path: Path) -> None:
    """A frame that is not an integer, and a missing one."""
    path = write(tmp_path / "a.csv", "sequence,frame,x,y", "a,1,2,3", "a,x,2,3", "a,-1,2,3")
    source = read_source(path, Side.TRUTH, on_error="skip")
    assert source.annotations.object_count == 1
    assert [(warning.code, warning.count) for warning in source.warnings] == [("skipped_rows", 2)]
