"""MOTS text: meaning of rows, refusals with their place, and writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from vidscore_evaluators.annotations import ObjectFlag, SequenceKey, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import detect_format, read_pair, read_source
from vidscore_evaluators.formats.convert import convert

LEFT, RIGHT = "8240l0", "j0240:"
"""In 6 by 8 pixels: rows 2 and 3 of columns 1 and 2, and of columns 4 and 5."""
CORNER = "?240e0"
"""Rows 3 and 4 of columns 2 and 3: 15 pixels before, 2 in, 4 out, 2 in, and 25 after."""


def write(folder: Path, *rows: str, name: str = "0002.txt") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{row}\n" for row in rows))
    return path


def faults_of(path: Path, side: Side = Side.TRUTH) -> tuple[Fault, ...]:
    with pytest.raises(InputError) as caught:
        read_source(path, side)
    return tuple(caught.value.faults)


def test_rows_are_tracked_masks(tmp_path: Path) -> None:
    """Recognised by their content; class 10 is a region."""
    path = write(
        tmp_path, f"0 1005 1 6 8 {LEFT}", f"0 10000 10 6 8 {RIGHT}", f"3 2001 2 6 8 {LEFT}"
    )
    assert detect_format(path).name == "mots"
    found = read_source(path, Side.TRUTH).annotations
    assert found.sequences == (SequenceKey("", "0002"),)
    assert found.frame_numbers.tolist() == [0, 3]
    assert found.track_ids.tolist() == [1005, 10000, 2001]
    assert [found.labels[row] for row in found.label_indices] == ["car", "ignore", "pedestrian"]
    assert found.flags.tolist() == [0, ObjectFlag.REGION, 0]
    assert found.coordinates.tolist() == [[1, 2, 3, 4], [4, 2, 6, 4], [1, 2, 3, 4]]
    assert found.masks is not None
    assert found.masks.areas().tolist() == [4, 4, 4]


def test_a_seqmap_gives_the_last_frame_counted_from_zero(tmp_path: Path) -> None:
    write(tmp_path / "label_02", f"1 1005 1 6 8 {LEFT}")
    write(tmp_path, "0002 empty 000000 000003", name="evaluate_mots.seqmap.val")
    found = read_source(tmp_path, Side.TRUTH).annotations
    assert found.frame_numbers.tolist() == [0, 1, 2, 3]
    assert found.object_counts.tolist() == [0, 1, 0, 0]


def test_a_seqinfo_gives_the_length_counted_from_one(tmp_path: Path) -> None:
    write(tmp_path / "MOTS20-02" / "gt", f"2 2005 2 6 8 {LEFT}", name="gt.txt")
    (tmp_path / "MOTS20-02" / "seqinfo.ini").write_text("[Sequence]\nseqLength=3\n")
    found = read_source(tmp_path, Side.TRUTH).annotations
    assert found.frame_numbers.tolist() == [1, 2, 3]
    write(tmp_path / "MOTS20-02" / "gt", f"4 2005 2 6 8 {LEFT}", name="gt.txt")
    [fault] = faults_of(tmp_path)
    assert (fault.found, fault.field) == ("4", "column frame")


def test_faults_beside_rows_and_in_rows_are_all_reported(tmp_path: Path) -> None:
    for name, length in (("a", "x"), ("b", "0")):
        write(tmp_path / "t" / name / "gt", f"1 2005 9 6 8 {LEFT}", name="gt.txt")
        (tmp_path / "t" / name / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={length}\n")
    assert sorted(fault.found for fault in faults_of(tmp_path / "t")) == ["'0'", "'x'", "9", "9"]
    write(tmp_path, "a empty 000000", name="evaluate_mots.seqmap")
    found = sorted(fault.found for fault in faults_of(tmp_path / "t"))
    assert found == ["'0'", "'a empty 000000'", "'x'", "9", "9"]


@pytest.mark.parametrize("frame", [0, 2**53 - 1])
def test_a_frame_before_the_first_or_far_beyond_the_length_is_refused(
    tmp_path: Path, frame: int
) -> None:
    """Without a known length both are frames."""
    path = write(tmp_path / "MOTS20-02" / "gt", f"{frame} 2005 2 6 8 {LEFT}", name="gt.txt")
    assert read_source(path, Side.TRUTH).annotations.frame_numbers.tolist() == [frame]
    (tmp_path / "MOTS20-02" / "seqinfo.ini").write_text("[Sequence]\nseqLength=3\n")
    [fault] = faults_of(tmp_path)
    assert (fault.found, fault.field) == (str(frame), "column frame")
    assert fault.expected.startswith("a frame within the length of the sequence")


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (f"-1 1 1 6 8 {LEFT}", "column frame"),
        (f"0 1 3 6 8 {LEFT}", "column class"),
        (f"0 1 1 0 8 {LEFT}", "column height"),
        (f"0 1 1 6 9 {LEFT}", "column rle"),
        ("0 1 1 6 8 8240", "column rle"),
        ("0 1 1 6 8 8p", "column rle"),
        (f"0 1 1 20000 20000 {LEFT}", "columns height, width"),
        (f"0 x 1 6 8 {LEFT}", "column id"),
        (f"0 -5 1 6 8 {LEFT}", "column id"),
        ("0 1 1 6 8", None),
    ],
)
def test_a_fault_is_reported_with_its_line(row: str, field: str | None, tmp_path: Path) -> None:
    """All at once; with skipping, nothing is reported."""
    path = write(tmp_path, f"0 1 1 6 8 {LEFT}", row, "0 2 1 6 8 x", f"1 1 1 6 8 {RIGHT}")
    with pytest.raises(InputError) as caught:
        read_source(path, Side.TRUTH, format_name="mots")
    faults = {fault.line: fault for fault in caught.value.faults}
    assert (set(faults), len(caught.value.faults)) == ({2, 3}, 2)
    assert faults[2].source == str(path)
    assert field is None or faults[2].field == field
    kept = read_source(path, Side.TRUTH, format_name="mots", on_error="skip").annotations
    assert kept.frame_numbers.tolist() == [0, 1]


def test_a_region_among_detections_is_refused(tmp_path: Path) -> None:
    """It suggests truth in place of detections; a class of 0 does not."""
    [fault] = faults_of(write(tmp_path, f"0 10000 10 6 8 {LEFT}"), Side.DETECTIONS)
    assert fault.field == "column class"
    assert "the other side" in (fault.advice or "")
    [fault] = faults_of(write(tmp_path, f"0 3000 3 6 8 {LEFT}"), Side.DETECTIONS)
    assert (fault.field, fault.advice) == ("column class", None)


def test_a_mask_of_a_single_pixel_is_read(tmp_path: Path) -> None:
    found = read_source(write(tmp_path, "0 1005 1 1 1 01"), Side.TRUTH).annotations
    assert found.coordinates.tolist() == [[0, 0, 1, 1]]


def test_a_mask_may_have_as_many_rows_as_pixels(tmp_path: Path) -> None:
    """2**28, none of them set: 25 zero bits in five characters, and 8 in the last one."""
    found = read_source(write(tmp_path, f"0 1005 1 {2**28} 1 PPPPP8"), Side.TRUTH).annotations
    assert found.masks is not None
    assert (found.masks.sizes.tolist(), found.masks.areas().tolist()) == ([[2**28, 1]], [0])


def test_overlapping_masks_are_refused_with_their_frame(tmp_path: Path) -> None:
    """As in trackeval, where a single pixel is enough; regions may overlap each other."""
    rows = [f"0 1 1 6 8 {LEFT}", f"0 2 1 6 8 {RIGHT}", f"4 1 1 6 8 {LEFT}", f"4 2 2 6 8 {LEFT}"]
    [fault] = faults_of(write(tmp_path, *rows))
    assert fault.found == "masks that overlap in frame 4 of sequence 0002"
    assert fault.line == 3
    for other in (f"0 2 2 6 8 {CORNER}", f"0 10000 10 6 8 {LEFT}"):
        [fault] = faults_of(write(tmp_path, rows[0], other))
        assert fault.found == "masks that overlap in frame 0 of sequence 0002"
    regions = [f"0 10000 10 6 8 {LEFT}", f"0 10001 10 6 8 {LEFT}"]
    assert read_source(write(tmp_path, *regions), Side.TRUTH).annotations.object_count == 2


def test_both_sides_are_written_as_they_were_read(tmp_path: Path) -> None:
    rows = [f"0 1005 1 6 8 {LEFT}", f"0 10000 10 6 8 {RIGHT}", f"3 2001 2 6 8 {LEFT}"]
    truth, found = write(tmp_path, *rows), write(tmp_path / "found", *rows[::2])
    pair = read_pair(truth, found)
    for source, side, path in (
        (pair.truth, Side.TRUTH, truth),
        (pair.detections, Side.DETECTIONS, found),
    ):
        written = convert(source, "mots", side)
        assert written.files == {"0002.txt": path.read_bytes()}
        assert written.remarks == ()


def test_boxes_cannot_be_written(tmp_path: Path) -> None:
    path = tmp_path / "boxes.csv"
    path.write_text("sequence,frame,class,x1,y1,x2,y2,track_id\ns,0,car,1,1,2,2,1\n")
    with pytest.raises(InputError, match="a mask for each object"):
        convert(read_source(path, Side.TRUTH), "mots", Side.TRUTH)


@pytest.mark.parametrize(
    ("changes", "field", "found"),
    [
        ({"labels": ("tree",)}, "class", "tree"),
        ({"track_ids": np.array([-1])}, "id", "-1"),
    ],
)
def test_an_object_without_a_class_or_a_track_cannot_be_written(
    tmp_path: Path, changes: dict[str, Any], field: str, found: str
) -> None:
    truth = read_source(write(tmp_path, f"0 0 1 6 8 {LEFT}"), Side.TRUTH)
    assert convert(truth, "mots", Side.TRUTH).files == {"0002.txt": f"0 0 1 6 8 {LEFT}\n".encode()}
    changed = replace(truth, annotations=replace(truth.annotations, **changes))
    with pytest.raises(InputError) as caught:
        convert(changed, "mots", Side.TRUTH)
    [fault] = caught.value.faults
    assert (fault.field, fault.found) == (field, found)
