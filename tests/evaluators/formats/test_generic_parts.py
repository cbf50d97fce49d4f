"""Generic CSV written in parts equals the CSV of the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.generic_parts import GenericParts
from vidscore_evaluators.validation import Columns, build_annotations


def part(number: int, sequence: str = "1", **more: object) -> Annotations:
    """A frame with two points."""
    columns = Columns(
        arity=2,
        sequences=[("", sequence)],
        frame_sequences=[0],
        frame_numbers=[number],
        object_counts=[2],
        coordinates=[1.0, 2.0, 3.0, 4.5],
        labels=("car",),
        **more,  # type: ignore[arg-type]
    )
    return build_annotations(columns, "")


def written(*parts: Annotations) -> str:
    """The file of some parts."""
    writer = GenericParts(Side.DETECTIONS)
    for one in parts:
        writer.look_at(one)
    return b"".join(map(writer.write, parts)).decode()


def test_parts_have_one_header_and_all_rows() -> None:
    lines = written(part(1), part(2)).splitlines()
    assert lines[0] == "domain,sequence,frame,class,x,y,confidence,track_id,flags"
    assert [line.split(",")[2] for line in lines[1:]] == ["1", "1", "2", "2"]


def test_a_column_of_one_part_is_empty_in_the_others(tmp_path: Path) -> None:
    timed = replace(part(2), frame_times_s=np.array([0.5]))
    marked = part(3, columns={"area": [7.0, 8.0]})
    path = tmp_path / "parts.csv"
    path.write_text(written(part(1), timed, marked))
    read = read_source(path, Side.DETECTIONS).annotations
    assert np.array_equal(
        read.columns["area"], [np.nan, np.nan, np.nan, np.nan, 7.0, 8.0], equal_nan=True
    )
    assert read.frame_times_s is not None
    assert np.array_equal(read.frame_times_s, [np.nan, 0.5, np.nan], equal_nan=True)


def test_names_that_a_spreadsheet_would_run_are_refused_before_anything_is_written() -> None:
    writer = GenericParts(Side.DETECTIONS)
    with pytest.raises(InputError, match="=1"):
        writer.look_at(part(1, sequence="=1+1"))


def test_tables_can_be_reduced_to_the_used_names() -> None:
    whole = part(1).with_tables(
        (SequenceKey("", "0"), SequenceKey("", "1"), SequenceKey("", "2")), ("bus", "car")
    )
    cut = whole.with_used_tables()
    assert cut.sequences == (SequenceKey("", "1"),)
    assert cut.labels == ("car",)
    assert cut.label_indices.tolist() == [0, 0]
