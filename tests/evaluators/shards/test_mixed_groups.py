"""A row group of several sequences: a shard reads it, and keeps only the rows of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.evaluators.shards.test_parts import merged, task_of, texts, whole

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.tasks import score_shard

SEQUENCES, FRAMES = 12, 8
BYTES_PER_VALUE = 8

Write = Callable[[Path, Mapping[str, Any]], Path]


def write_parquet(path: Path, columns: Mapping[str, Any]) -> Path:
    pq.write_table(pa.table(dict(columns)), path)
    return path


def write_arrow(path: Path, columns: Mapping[str, Any]) -> Path:
    table = pa.table(dict(columns))
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


WRITERS = pytest.mark.parametrize("write", [write_parquet, write_arrow])


def frame_after_frame(**changed: Any) -> dict[str, Any]:
    """An object in each frame of all sequences, which take turns, as cameras that are recorded."""
    rows = [(f"s{number}", frame) for frame in range(FRAMES) for number in range(SEQUENCES)]
    names, frames = zip(*rows, strict=True)
    left = [8.0 * frame for frame in frames]
    boxes = {"x1": left, "y1": left, "x2": [x + 8 for x in left], "y2": [x + 8 for x in left]}
    return {"sequence": names, "frame": frames, **boxes} | changed


def test_the_limit_of_rows_is_on_those_of_the_shard(tmp_path: Path) -> None:
    """Places in the file remain: s7 is in rows 7, 19 and 31 of the file."""
    columns = frame_after_frame()
    path = write_parquet(tmp_path / "truth", columns)
    limits = ReadLimits(maximum_unpacked_bytes=BYTES_PER_VALUE * len(columns) * FRAMES)
    source = read_source(path, Side.TRUTH, wanted=lambda key: key.sequence == "s7", limits=limits)
    assert source.annotations.frame_numbers.tolist() == [*range(FRAMES)]
    assert source.place_of(source.annotations.sequences[9], 2).endswith("entry 31")
    with pytest.raises(InputError, match="maximum_unpacked_bytes"):
        read_source(path, Side.TRUTH, limits=limits)


def test_the_limit_of_masks_is_on_those_of_the_shard(tmp_path: Path) -> None:
    """A mask has two runs of four bytes each: all masks together take more than the limit."""
    count = SEQUENCES * FRAMES
    columns = frame_after_frame(
        mask_height=[4] * count, mask_width=[4] * count, mask_counts=["4<"] * count
    )
    path = write_parquet(tmp_path / "truth", columns)
    limits = ReadLimits(maximum_unpacked_bytes=BYTES_PER_VALUE * len(columns) * FRAMES)
    source = read_source(path, Side.TRUTH, wanted=lambda key: key.sequence == "s7", limits=limits)
    masks = source.annotations.masks
    assert masks is not None
    assert masks.areas().tolist() == [12] * FRAMES
    assert 2 * 4 * count > limits.maximum_unpacked_bytes


@WRITERS
def test_the_merged_report_equals_that_of_the_whole(tmp_path: Path, write: Write) -> None:
    detections = frame_after_frame(confidence=[0.5] * SEQUENCES * FRAMES)
    sides = (
        write(tmp_path / "truth", frame_after_frame()),
        write(tmp_path / "detections", detections),
    )
    task = task_of(sides, "parquet" if write is write_parquet else "arrow", "f1", "map")
    assert texts(merged(tmp_path, task, 5)) == whole(task)


def test_each_fault_of_the_whole_is_reported_by_some_shard(tmp_path: Path) -> None:
    columns = frame_after_frame()
    names, left = list(columns["sequence"]), list(columns["x1"])
    names[3], left[40], left[41] = None, float("nan"), float("inf")
    frames = [*columns["frame"][:-1], -1]
    truth = write_parquet(
        tmp_path / "truth", frame_after_frame(sequence=names, x1=left, frame=frames)
    )
    detections = write_parquet(tmp_path / "detections", columns)
    task = task_of((truth, detections), "parquet", "f1")
    found: set[Fault] = set()
    for shard in Shard.all_of(3):
        with pytest.raises(InputError) as raised:
            score_shard(task, shard)
        found.update(raised.value.faults)
    with pytest.raises(InputError) as of_whole:
        whole(task)
    assert found == set(of_whole.value.faults)
