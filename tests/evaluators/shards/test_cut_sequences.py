"""Divided sequences: shards share them, and the merged report still equals that of the whole."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from tests.evaluators.shards.test_parts import (
    merged,
    partitioned,
    scene,
    task_of,
    texts,
    whole,
    write,
    write_both,
)

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.formats import _column_writing, index_folder, read_source
from vidscore_evaluators.formats._files import SEQUENCE_INDEX as NAME
from vidscore_evaluators.formats.parquet import ParquetGroup
from vidscore_evaluators.formats.source import ReadLimits, WantedFrames
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.merging import merge_files
from vidscore_evaluators.shards.tasks import ScoringTask, score_shard

FRAMES = 40
CUT = 7


def indexed(file: Path, side: Side) -> Path:
    """The same file in a folder with an index of its sequences."""
    folder = file.with_suffix("")
    folder.mkdir()
    file.rename(folder / "all.csv")
    (folder / NAME).write_bytes(index_folder(folder, side))
    return folder


def cut(task: ScoringTask, cut_frames: int = CUT) -> ScoringTask:
    return replace(task, choice=replace(task.choice, cut_frames=cut_frames))


@pytest.mark.parametrize("name", ["parquet", "arrow", "motchallenge"])
def test_the_merged_report_equals_that_of_the_whole(tmp_path: Path, name: str) -> None:
    task = task_of(write_both(tmp_path, name, frames=FRAMES), name, "f1", "map")
    for count in (2, 5):
        assert texts(merged(tmp_path, cut(task), count)) == whole(task)


@pytest.mark.parametrize("name", ["parquet", "arrow", "motchallenge", "generic-csv"])
def test_truth_may_lack_frames_that_detections_have(tmp_path: Path, name: str) -> None:
    """The last frames have no truth; a folder of CSV files is read in parts by its index."""
    sides = (
        write(tmp_path, name, Side.TRUTH, scene(Side.TRUTH, frames=CUT)),
        write(tmp_path, name, Side.DETECTIONS, scene(Side.DETECTIONS, frames=FRAMES)),
    )
    if name == "generic-csv":
        sides = indexed(sides[0], Side.TRUTH), indexed(sides[1], Side.DETECTIONS)
    task = task_of(sides, name, "f1")
    assert texts(merged(tmp_path, cut(task))) == whole(task)


def test_a_sequence_with_empty_truth_is_unknown_to_a_part_as_to_the_whole(tmp_path: Path) -> None:
    sides = write_both(tmp_path, "motchallenge", frames=FRAMES)
    folder = sides[0] / "Tower-s2"
    (folder / "gt" / "gt.txt").write_text("")
    (folder / "seqinfo.ini").unlink()  # It names the frames of the sequence.
    task = task_of(sides, "motchallenge", "f1")
    for read in (
        partial(merged, tmp_path, task),
        partial(merged, tmp_path, cut(task)),
        partial(whole, task),
    ):
        with pytest.raises(InputError, match="sequence Tower-s2, expected a sequence of the truth"):
            read()


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
@pytest.mark.parametrize("detected", [True, False])
def test_folders_of_a_sequence_without_rows_are_unknown_as_to_the_whole(
    tmp_path: Path, suffix: str, *, detected: bool
) -> None:
    """Without detections there is nothing to refuse: it is not a sequence at all."""
    sides = folders_without_truth(tmp_path, suffix, detected=detected)
    task = task_of(sides, suffix, "f1")
    for one in (task, cut(task)):
        if detected:
            with pytest.raises(InputError, match="sequence Tower/s2, expected a sequence of the"):
                merged(tmp_path, one)
        else:
            assert texts(merged(tmp_path, one)) == whole(one)


def folders_without_truth(tmp_path: Path, suffix: str, *, detected: bool) -> tuple[Path, Path]:
    """Folders with a file for each sequence; the file of one has no row of truth."""
    flat = write_both(tmp_path, "parquet", frames=FRAMES)
    sides = partitioned(tmp_path, flat)
    for side in sides:
        for file in list(side.rglob("*.parquet")):
            table = pq.read_table(file, partitioning=None)
            if file.parent.name == "sequence=s2" and (side == sides[0] or not detected):
                table = table.slice(0, 0)
            file.unlink()
            if suffix == "parquet":
                pq.write_table(table, file)
            else:
                with pa.ipc.new_file(file.with_suffix(".arrow"), table.schema) as writer:
                    writer.write_table(table)
    return sides


def test_data_that_must_be_read_whole_is_still_divided(tmp_path: Path) -> None:
    task = task_of(write_both(tmp_path, "jsonl", frames=FRAMES), "jsonl", "f1")
    files = []
    for shard in Shard.all_of(3):
        files.append(tmp_path / f"{shard.number}.tally")
        files[-1].write_bytes(score_shard(cut(task), shard))
    assert texts(merge_files(files)) == whole(task)


@pytest.mark.parametrize("step_s", [-1.0, 0.0])
def test_times_that_go_backwards_over_a_division_are_counted(tmp_path: Path, step_s: float) -> None:
    """In each sequence time falls by one per frame, also over each division, or stays the same."""
    sides = []
    for side in Side:
        path = write(tmp_path, "parquet", side, scene(side, frames=FRAMES))
        table = pq.read_table(path)
        times = pa.array([1000.0 + step_s * row for row in range(len(table))])
        pq.write_table(table.append_column("time_s", times), path)
        sides.append(path)
    task = task_of((sides[0], sides[1]), "parquet")
    wanted = whole(task)
    assert (f"{7 * (FRAMES - 1)} frames have" in wanted[0]) == (step_s < 0)
    assert texts(merged(tmp_path, cut(task))) == wanted
    assert texts(merged(tmp_path, cut(task, 1))) == wanted


def test_only_row_groups_with_wanted_frames_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their statistics; the memory of a shard for a long sequence is bounded by its part."""
    monkeypatch.setattr(_column_writing, "SMALL_GROUP_ROWS", 10)
    monkeypatch.setattr(_column_writing, "GROUP_ROWS", 10)
    path = write(tmp_path, "parquet", Side.TRUTH, scene(Side.TRUTH, frames=FRAMES))
    read: list[int] = []
    batches = ParquetGroup.batches

    def noted(self: ParquetGroup, columns: list[str]) -> object:
        read.append(self.index)
        return batches(self, columns)

    monkeypatch.setattr(ParquetGroup, "batches", noted)
    wanted = WantedFrames(CUT, lambda key, part: (key.sequence, part) == ("s0", 1))
    limits = ReadLimits(maximum_unpacked_bytes=8 * 12 * 7)
    source = read_source(path, Side.TRUTH, wanted=wanted, limits=limits)
    assert source.annotations.frame_numbers.tolist() == [*range(CUT, 2 * CUT)]
    assert read == [0, 1]
    with pytest.raises(InputError, match="maximum_unpacked_bytes"):
        read_source(path, Side.TRUTH, limits=limits)


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan, 1e300])
def test_numbers_that_are_no_frames_are_refused_as_in_the_whole(
    tmp_path: Path, number: float
) -> None:
    """Statistics state them as bounds of a row group."""
    sides = []
    for side in Side:
        path = write(tmp_path, "parquet", side, scene(side, frames=FRAMES))
        table = pq.read_table(path)
        sequence = pa.array(["s0"] * len(table))
        frames = pa.array([*map(float, range(len(table) - 1)), number])
        for name, column in (("sequence", sequence), ("frame", frames)):
            table = table.set_column(table.column_names.index(name), name, column)
        pq.write_table(table, path)
        sides.append(path)
    task = task_of((sides[0], sides[1]), "parquet", "f1")
    with pytest.raises(InputError) as of_whole:
        whole(task)
    with pytest.raises(InputError) as of_part:
        score_shard(cut(task), Shard(1, 2))
    assert set(of_part.value.faults) == set(of_whole.value.faults)


def test_an_evaluator_of_whole_sequences_is_named(tmp_path: Path) -> None:
    task = cut(task_of(write_both(tmp_path, "parquet"), "parquet", "f1", "clear", "hota"))
    with pytest.raises(ParameterError) as raised:
        score_shard(task, Shard(1, 2))
    assert [fault.found for fault in raised.value.faults] == [
        "clear, which judges whole sequences",
        "hota, which judges whole sequences",
    ]


def test_shards_of_another_division_are_refused(tmp_path: Path) -> None:
    task = task_of(write_both(tmp_path, "parquet", frames=FRAMES), "parquet")
    files = []
    for shard, cut_frames in zip(Shard.all_of(2), (CUT, CUT + 1), strict=True):
        files.append(tmp_path / f"{shard.number}.tally")
        files[-1].write_bytes(score_shard(cut(task, cut_frames), shard))
    with pytest.raises(InputError, match="frames of a part of a sequence"):
        merge_files(files)
