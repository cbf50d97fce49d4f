"""A shard reads only its own sequences, and the merged report still equals that of the whole."""

from __future__ import annotations

import dataclasses
import gzip
import os
import sys
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats import _column_files, _column_writing, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.parquet import ParquetFile, ParquetGroup
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.mask_forms import masks_from_counts
from vidscore_evaluators.plausibility.summary import MASK_DOUBTS
from vidscore_evaluators.preparation import DataChoice, judged_by
from vidscore_evaluators.report import report_to_json
from vidscore_evaluators.scoring import score
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.shards.dealing import Shard, shard_number
from vidscore_evaluators.shards.merging import Merged, merge_files, merge_shards
from vidscore_evaluators.shards.readings import wanted_by
from vidscore_evaluators.shards.tally_files import shard_from_bytes
from vidscore_evaluators.shards.tasks import ScoringTask, score_by, score_shard
from vidscore_evaluators.specification import SequenceSpec
from vidscore_evaluators.testing import Thing, make_annotations

COUNT = 3
NAMES = tuple(f"s{number}" for number in range(7))
SIZE = (256, 128)
"""Powers of two, of which parts are exact."""

FORMATS = (
    "motchallenge",
    "visdrone-mot",
    "neovision2-csv",
    "yolo-text",
    "parquet",
    "arrow",
)
COLUMNS = ("parquet", "arrow")
"""Formats in which one file has several sequences that can be found separately."""


_opened: list[str] | None = None


def _note_open(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "open" and _opened is not None:
        _opened.append(str(arguments[0]))


sys.addaudithook(_note_open)


@contextmanager
def opened_below(folder: Path) -> Iterator[list[str]]:
    """Paths of the files below a folder that are opened in the context, relative to it."""
    global _opened  # noqa: PLW0603 - a hook cannot be taken away again
    _opened, found = [], list[str]()
    try:
        yield found
    finally:
        inside = (path for path in _opened if path.startswith(f"{folder}/"))
        found.extend(path.removeprefix(f"{folder}/") for path in inside)
        _opened = None


def scene(side: Side, *, frames: int = 3, beyond: bool = False) -> Source:
    """A car in each frame of each sequence; detections are one pixel off, and one is missing."""
    made = {}
    for place, name in enumerate(NAMES):
        if side is Side.DETECTIONS and name == NAMES[-1]:
            continue
        x = 300.0 if beyond and place % 2 else 8.0 + place + (side is Side.DETECTIONS)
        thing = Thing((x, 8.0, x + 32.0, 40.0), "car", 0.5 + place / 16, place)
        made["Tower", name] = {number: [thing] for number in range(1, frames + 1)}
    return Source(make_annotations(made), "given")


def write(folder: Path, name: str, side: Side, source: Source) -> Path:
    conversion = convert(source, name, side, image_size=SIZE)
    root = folder / side.value
    for path, content in conversion.files.items():
        file = root / path if path else root.with_suffix(f".{name}")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)
    return root if conversion.folder else root.with_suffix(f".{name}")


def write_both(folder: Path, name: str, **changed: Any) -> tuple[Path, Path]:
    truth, detections = (write(folder, name, side, scene(side, **changed)) for side in Side)
    return truth, detections


def partitioned(folder: Path, sides: tuple[Path, Path]) -> tuple[Path, Path]:
    """The same as folders of a file for each sequence."""
    for path in sides:
        table = pq.read_table(path)
        pq.write_to_dataset(table, folder / path.stem, partition_cols=["domain", "sequence"])
    return folder / sides[0].stem, folder / sides[1].stem


def task_of(sides: tuple[Path, Path], name: str, *evaluators: str, **choice: Any) -> ScoringTask:
    specification = judged_by(
        evaluators or ["f1"], specification=None, manifest=None, parameters={}
    )
    reading = DataChoice(name, image_size=SIZE if name == "yolo-text" else None, **choice)
    return ScoringTask(specification, str(sides[0]), str(sides[1]), reading)


def merged(folder: Path, task: ScoringTask, count: int = COUNT) -> Merged:
    """The merged tally files of all shards, in an arbitrary order."""
    files = []
    for shard in reversed(Shard.all_of(count)):
        file = folder / f"{shard.number}.tally"
        file.write_bytes(score_shard(task, shard))
        assert shard_from_bytes(file.read_bytes()).run.in_parts
        files.append(file)
    return merge_files(files)


def whole(task: ScoringTask) -> list[str]:
    """The reports of scoring everything at once."""
    names = [entry.name for entry in task.specification.evaluators]
    if task.choice.image_size is None:
        reports = score(
            names,
            task.truth,
            task.detections,
            specification=task.specification,
            format=task.choice.format_name,
        )
        return list(map(report_to_json, reports))
    one = score_shard(task, Shard(1, 1))
    return list(map(report_to_json, merge_shards({"all": lambda: one}).reports))


def texts(found: Merged) -> list[str]:
    return list(map(report_to_json, found.reports))


@pytest.mark.parametrize("name", FORMATS)
def test_the_merged_report_equals_that_of_the_whole(tmp_path: Path, name: str) -> None:
    """Also the warning of a sequence without a file of detections, which lists all of them."""
    task = task_of(write_both(tmp_path, name), name, "f1", "map")
    wanted = whole(task)
    assert ("missing_detection_file" in wanted[0]) == (name not in COLUMNS)
    assert texts(merged(tmp_path, task)) == wanted


@pytest.mark.parametrize("count", [2, 11])
def test_shards_without_a_sequence_add_nothing(tmp_path: Path, count: int) -> None:
    sides = write_both(tmp_path, "parquet")
    for task in (task_of(sides, "parquet"), task_of(partitioned(tmp_path, sides), "parquet")):
        assert texts(merged(tmp_path, task, count)) == whole(task)


def test_an_executor_reads_in_parts_as_well(tmp_path: Path) -> None:
    sides = write_both(tmp_path, "motchallenge")
    with ThreadPoolExecutor(2) as executor:
        report = score("f1", *sides, executor=executor, shards=5)
    assert report_to_json(report) == report_to_json(score("f1", *sides))


def test_a_run_folder_keeps_what_has_not_changed_of_data_that_could_be_read_in_parts(
    tmp_path: Path,
) -> None:
    """Every other sequence changes."""
    task = task_of(write_both(tmp_path, "parquet"), "parquet")
    for beyond in (False, True):
        write(tmp_path, "parquet", Side.DETECTIONS, scene(Side.DETECTIONS, beyond=beyond))
        with ThreadPoolExecutor(2) as executor:
            found = score_by(executor, task, shards=5, run_folder=tmp_path / "kept")
        assert texts(found) == whole(task)
    assert 5 < len(list((tmp_path / "kept").iterdir())) < 10


def test_warnings_of_times_and_of_images_add_up(tmp_path: Path) -> None:
    """No single shard sees them all: the first example is that of the whole."""
    sides = write_both(tmp_path, "motchallenge", frames=6, beyond=True)
    for name in NAMES:
        text = f"[Sequence]\nname={name}\nseqLength=6\nimWidth=256\nimHeight=128\n"
        (sides[0] / f"Tower-{name}" / "seqinfo.ini").write_text(text)
    task = task_of(sides, "motchallenge")
    wanted = whole(task)
    assert wanted[0].count("beyond_image") == 2
    found = merged(tmp_path, task)
    assert texts(found) == wanted
    for warning in found.reports[0].warnings:
        if warning.example is not None:
            assert "line " in found.place_of(warning.example)


def test_a_frame_that_is_not_evaluated_is_found_in_its_file(tmp_path: Path) -> None:
    """The truth ends with frame 3; the fourth row of detections is the first beyond that."""
    truth = write(tmp_path, "parquet", Side.TRUTH, scene(Side.TRUTH))
    detections = write(tmp_path, "parquet", Side.DETECTIONS, scene(Side.DETECTIONS, frames=4))
    found = merged(tmp_path, task_of((truth, detections), "parquet"))
    [example] = [one.example for one in found.reports[0].warnings if one.example is not None]
    assert found.place_of(example) == f"{detections}, entry 3"


def test_warnings_of_masks_add_up(tmp_path: Path) -> None:
    """Of each sequence one mask is empty, one full, and one beside its box."""
    runs = [[1024], [0, 1024], [32 * 20, 32 * 12]]
    sides = []
    for side in Side:
        source = scene(side)
        count = source.annotations.object_count
        masks = masks_from_counts([runs[row % 3] for row in range(count)], np.full((count, 2), 32))
        odd = replace(source.annotations, masks=masks)
        conversion = convert(replace(source, annotations=odd), "parquet", side)
        sides.append(tmp_path / f"{side.value}.parquet")
        sides[-1].write_bytes(conversion.files[""])
    task = task_of((sides[0], sides[1]), "parquet")
    wanted = whole(task)
    assert [wanted[0].count(code) for code in MASK_DOUBTS] == [2, 2, 2]
    found = merged(tmp_path, task)
    assert texts(found) == wanted
    examples = [one.example for one in found.reports[0].warnings if one.example is not None]
    assert all("entry " in found.place_of(example) for example in examples)


def back_in_time(folder: Path) -> tuple[Path, Path]:
    """Both sides with decreasing times."""
    sides = write_both(folder, "parquet")
    for path in sides:
        table = pq.read_table(path)
        times = pa.array([float(len(table) - row) for row in range(len(table))])
        pq.write_table(table.append_column("time_s", times), path)
    return sides


def test_times_that_go_backwards_add_up(tmp_path: Path) -> None:
    task = task_of(back_in_time(tmp_path), "parquet")
    wanted = whole(task)
    assert wanted[0].count("times_go_back") == 2
    assert "14 frames have" in wanted[0]
    assert texts(merged(tmp_path, task)) == wanted


def test_warnings_of_listed_names_and_of_times_keep_their_order(tmp_path: Path) -> None:
    task = task_of(back_in_time(tmp_path), "parquet")
    lost = SequenceSpec(domain="Tower", name="s99")
    task = replace(task, specification=dataclasses.replace(task.specification, sequences=(lost,)))
    wanted = whole(task)
    assert wanted[0].index("listed_sequences_not_found") < wanted[0].index("times_go_back")
    assert texts(merged(tmp_path, task)) == wanted


# --- what is opened --------------------------------------------------------------------------


def owner(path: str) -> int:
    """The shard, of two, of the sequence in a path."""
    [name] = [name for name in NAMES if name in path]
    domain = "Tower" if "Tower/" in path or "domain=Tower" in path else ""
    sequence = name if domain else f"Tower-{name}"
    return shard_number(SequenceKey(domain, sequence), 2)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "arrow"])
def test_a_shard_opens_no_file_of_another_sequence(tmp_path: Path, name: str) -> None:
    sides = write_both(tmp_path, name)
    if name == "parquet":
        sides = partitioned(tmp_path, sides)
    task = task_of(sides, name)
    for shard in Shard.all_of(2):
        with opened_below(tmp_path) as opened:
            score_shard(task, shard)
        files = {path for path in opened if any(one in path for one in NAMES)}
        assert {owner(path) for path in files} == {shard.number}


def in_files(folder: Path, sides: tuple[Path, Path], name: str) -> tuple[Path, Path]:
    """The same as a folder with one file per sequence, whose names do not show the sequence."""
    folders = []
    for path in sides:
        whole_side = read_source(path, Side(path.stem)).annotations
        inside = folder / path.stem
        inside.mkdir()
        for place in range(len(whole_side.sequences)):
            own = whole_side.take_frames(whole_side.frame_sequences == place).with_used_tables()
            one = convert(Source(own, "given"), name, Side(path.stem))
            (inside / f"{place}.{name}").write_bytes(one.files[""])
        folders.append(inside)
    return folders[0], folders[1]


@pytest.mark.parametrize("name", COLUMNS)
def test_a_process_opens_a_file_once_for_all_shards_that_do_not_want_it(
    tmp_path: Path, name: str
) -> None:
    """The first file of a side defines the columns, and is opened by each shard."""
    task = task_of(in_files(tmp_path, write_both(tmp_path, name), name), "auto")
    wanted = whole(task)
    score_shard(task, Shard(1, COUNT))
    with opened_below(tmp_path) as opened:
        found = {shard: score_shard(task, shard) for shard in Shard.all_of(COUNT)[1:]}
    for side in ("truth", "detections"):
        numbers = [place for place in range(1, 7) if f"{side}/{place}.{name}" in opened]
        keys = [SequenceKey("Tower", NAMES[place]) for place in numbers]
        assert 1 not in [shard_number(key, COUNT) for key in keys]
        assert len(keys) > 1
    assert texts(merged(tmp_path, task)) == wanted
    assert found == {shard: score_shard(task, shard) for shard in found}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_changed_file_is_opened_again(tmp_path: Path, name: str) -> None:
    """The last file becomes one of another sequence, which no shard wanted before."""
    sides = in_files(tmp_path, write_both(tmp_path, name), name)
    task = task_of(sides, "auto")
    before = texts(merged(tmp_path, task))
    for side, folder in zip(Side, sides, strict=True):
        source = read_source(folder / f"5.{name}", side)
        renamed = replace(source.annotations, sequences=(SequenceKey("Tower", "new"),))
        changed = convert(Source(renamed, "given"), name, side)
        (folder / f"5.{name}").write_bytes(changed.files[""])
    assert before != whole(task) == texts(merged(tmp_path, task))


def test_a_file_that_changes_while_it_is_read_is_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of it says nothing about its new content."""
    path = in_files(tmp_path, write_both(tmp_path, "parquet"), "parquet")[0]
    file = path / "5.parquet"
    source = read_source(file, Side.TRUTH)
    renamed = replace(source.annotations, sequences=(SequenceKey("Tower", "new"),))
    changed = convert(Source(renamed, "given"), "parquet", Side.TRUTH).files[""]
    groups = ParquetFile.groups

    def change(self: ParquetFile) -> Iterator[ParquetGroup]:
        yield from groups(self)
        if self.name == str(file):
            file.write_bytes(changed)

    with monkeypatch.context() as patched:
        patched.setattr(ParquetFile, "groups", change)
        read_source(path, Side.TRUTH, wanted=lambda key: key.sequence == "s0")
    found = read_source(path, Side.TRUTH, wanted=lambda key: key.sequence == "new")
    assert found.annotations.frame_count == 3


def test_the_cache_of_file_contents_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file with its only sequence counts as two names."""
    monkeypatch.setattr(_column_files, "_known", {})
    monkeypatch.setattr(_column_files, "_names", 0)
    monkeypatch.setattr(_column_files, "MOST_NAMES", 7)
    task = task_of(in_files(tmp_path, write_both(tmp_path, "parquet"), "parquet"), "auto")
    assert texts(merged(tmp_path, task)) == whole(task)
    assert 1 <= len(_column_files._known) <= 3


def test_a_file_of_other_columns_is_refused_by_each_shard(tmp_path: Path) -> None:
    sides = in_files(tmp_path, write_both(tmp_path, "parquet"), "parquet")
    odd = sides[1] / "3.parquet"
    pq.write_table(pq.read_table(odd).drop_columns(["track_id"]), odd)
    task = task_of(sides, "auto")
    for _ in range(2):
        for shard in Shard.all_of(COUNT):
            with pytest.raises(InputError, match=r"3\.parquet.*other columns \(track_id\)"):
                score_shard(task, shard)


def test_a_shard_reads_only_the_row_groups_of_its_sequences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Statistics give the sequence of a group; names are read if a group has several."""
    monkeypatch.setattr(_column_writing, "SMALL_GROUP_ROWS", 3)
    path = write(tmp_path, "parquet", Side.TRUTH, scene(Side.TRUTH))
    read: list[tuple[int, tuple[str, ...]]] = []
    batches = ParquetGroup.batches

    def noted(self: Any, columns: Any) -> Any:
        read.append((self.index, tuple(columns)))
        return batches(self, columns)

    monkeypatch.setattr(ParquetGroup, "batches", noted)
    source = read_source(path, Side.TRUTH, wanted=lambda key: key.sequence == "s4")
    assert [group for group, _ in read] == [4]
    assert source.annotations.frame_count == 3
    assert source.listing is not None
    assert [key.sequence for key in source.listing.sequences] == list(NAMES)
    read.clear()
    table = pq.read_table(path)
    pq.write_table(table, path, row_group_size=9)
    source = read_source(path, Side.TRUTH, wanted=lambda key: key.sequence == "s4")
    names = ("domain", "sequence")
    assert [(group, columns == names) for group, columns in read] == [
        (0, True), (1, True), (1, False)
    ]  # fmt: skip
    assert source.annotations.frame_count == 3


# --- what is refused, and what is read whole -------------------------------------------------


def test_shards_of_other_files_are_refused(tmp_path: Path) -> None:
    files = []
    for shard in Shard.all_of(COUNT):
        folder = tmp_path / str(shard.number > 1)
        task = task_of(
            write_both(folder, "motchallenge", frames=3 + (shard.number > 1)), "motchallenge"
        )
        files.append(tmp_path / f"{shard.number}.tally")
        files[-1].write_bytes(score_shard(task, shard))
    with pytest.raises(InputError) as raised:
        merge_files(files)
    fields = {fault.field for fault in raised.value.faults if fault.source == str(files[0])}
    assert fields == {
        "digest of names and sizes of the files of the truth",
        "digest of names and sizes of the files of the detections",
    }


def test_a_file_of_an_unknown_sequence_is_named_by_every_shard(tmp_path: Path) -> None:
    sides = write_both(tmp_path, "motchallenge")
    (sides[1] / "nobody.txt").write_text("1,1,1,1,9,9,1,-1,-1,-1\n")
    for shard in Shard.all_of(COUNT):
        with pytest.raises(InputError, match="found sequence nobody"):
            score_shard(task_of(sides, "motchallenge"), shard)


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("motchallenge", {"selection": Selection(sequences="Tower-s1")}),
        ("motchallenge", {"on_error": "skip"}),
        ("generic-csv", {}),
        ("jsonl", {}),
    ],
)
def test_evaluators_that_need_the_whole_read_the_whole(
    tmp_path: Path, name: str, choice: dict[str, Any]
) -> None:
    sides = write_both(tmp_path, name)
    task = task_of(sides, name, **choice)
    assert wanted_by(Shard(1, 2), task.specification, *sides, task.choice) is None


@pytest.mark.parametrize("kind", ["gzip", "zip", "pipe", "nothing"])
def test_packed_files_and_pipes_are_read_whole_beside_a_columnar_truth(
    tmp_path: Path, kind: str
) -> None:
    """They used to be refused: as a packed file in a folder, and as not found."""
    truth, _ = write_both(tmp_path, "parquet")
    rows = b"sequence,frame,x,y\na,1,2,3\n"
    found = tmp_path / "found.csv"
    if kind == "gzip":
        found.write_bytes(gzip.compress(rows))
    elif kind == "zip":
        with zipfile.ZipFile(found, "w") as archive:
            archive.writestr("a.csv", rows)
    elif kind == "pipe":
        os.mkfifo(found)
    specification = judged_by("f1", specification=None, manifest=None, parameters={})
    assert wanted_by(Shard(1, 2), specification, truth, found, DataChoice()) is None
