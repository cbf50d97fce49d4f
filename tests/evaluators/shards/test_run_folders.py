"""A run folder over data of which each shard reads its part, and data that changes meanwhile."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from tests.evaluators.shards.scenes import write_scene
from tests.evaluators.shards.test_executors import Recorder, plain
from tests.evaluators.shards.test_executors import task_of as task_of_scene
from tests.evaluators.shards.test_parts import task_of, texts, whole, write_both

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.shards.tally_files import shard_from_bytes
from vidscore_evaluators.shards.tasks import ScoringTask, score_by, score_shard

SHARDS = 5


def scored(task: ScoringTask, kept: Path) -> tuple[list[str], int]:
    """Reports, and the number of shards that were scored for them."""
    executor = Recorder()
    found = score_by(executor, task, shards=SHARDS, run_folder=kept)
    return texts(found), len(executor.shards)


def image_size_of(sequence: Path) -> None:
    """Say that the images of a sequence are so small that its objects are partly outside."""
    text = f"[Sequence]\nname={sequence.name}\nseqLength=3\nimWidth=256\nimHeight=128\n"
    (sequence / "seqinfo.ini").write_text(text)


@pytest.mark.parametrize("name", ["parquet", "motchallenge"])
def test_a_shard_reads_only_its_part(tmp_path: Path, name: str) -> None:
    """An archive need not fit into the memory of a worker."""
    task, kept = task_of(write_both(tmp_path, name), name), tmp_path / "kept"
    assert scored(task, kept) == (whole(task), SHARDS)
    assert all(shard_from_bytes(file.read_bytes()).run.in_parts for file in kept.iterdir())
    assert scored(task, kept) == (whole(task), 0)


def test_a_file_that_changes_and_one_that_is_added_score_only_their_shards(tmp_path: Path) -> None:
    """The added sequence comes first: warnings of kept shards name places after it."""
    truth, detections = write_both(tmp_path, "motchallenge", beyond=True)
    for sequence in truth.iterdir():
        image_size_of(sequence)
    task, kept = task_of((truth, detections), "motchallenge"), tmp_path / "kept"
    scored(task, kept)
    file = detections / "Tower-s2.txt"
    file.write_text(file.read_text().replace("2,", "3,", 1))
    assert scored(task, kept) == (whole(task), 1)
    shutil.copytree(truth / "Tower-s1", truth / "Tower-a")
    shutil.copy(detections / "Tower-s1.txt", detections / "Tower-a.txt")
    image_size_of(truth / "Tower-a")
    reports, count = scored(task, kept)
    assert (reports, count) == (whole(task), 1)
    assert "beyond_image" in reports[0]


def test_names_of_files_and_folders_need_not_be_utf_8(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff")
    for side in (folder := tmp_path / name) / "truth", folder / "detections":
        try:
            side.mkdir(parents=True)
        except OSError:
            pytest.skip("this file system has only names in UTF-8")
    for file in write_both(tmp_path, "parquet"):
        file.rename(folder / file.stem / f"{name}.parquet")
    task = task_of((folder / "truth", folder / "detections"), "parquet")
    assert scored(task, folder / "kept") == (whole(task), SHARDS)


def test_progress_counts_what_was_read_and_what_is_done(tmp_path: Path) -> None:
    task, kept = task_of(write_both(tmp_path, "parquet"), "parquet"), tmp_path / "kept"
    told: list[tuple[int, int]] = []
    progress: Callable[[int, int], None] = lambda done, count: told.append((done, count))  # noqa: E731
    score_by(Recorder(), task, shards=3, run_folder=kept, progress=progress)
    assert told == [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6)]


@pytest.mark.parametrize("in_parts", [False, True])
def test_data_that_changes_while_it_is_scored_is_refused_and_not_kept(
    tmp_path: Path, *, in_parts: bool
) -> None:
    """Its tally would be found under the digest of the data that was there before."""
    scene, kept = tmp_path, tmp_path / "kept"
    if in_parts:
        sides = write_both(scene, "motchallenge")
        task = task_of(sides, "motchallenge")
        file = sides[1] / "Tower-s2.txt"
    else:
        write_scene(scene)
        task = task_of_scene(scene)
        file = scene / "detections.csv"
    before = file.read_text()

    class Changing(Recorder):
        def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            if work is score_shard:
                file.write_text(before.replace("0.2", "0.4").replace("0.6", "0.4"))
            return super().submit(work, *args, **kwargs)

    with pytest.raises(InputError, match="found data that changes, expected files that stay"):
        score_by(Changing(), task, shards=SHARDS, run_folder=kept)
    file.write_text(before)
    assert scored(task, kept)[0] == (whole(task) if in_parts else plain(scene))
