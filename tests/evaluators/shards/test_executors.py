"""Any executor gives the report of this process, and a run folder saves repeated work."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.shards.scenes import STREETS, write_scene

import vidscore
from vidscore_evaluators.errors import EvaluatorVersionError, InputError, ParameterError
from vidscore_evaluators.preparation import DataChoice, judged_by
from vidscore_evaluators.report import Report, report_to_json
from vidscore_evaluators.runtime import spawn_context
from vidscore_evaluators.scoring import score
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.tasks import ScoringTask, inputs_of_shards, score_by, score_shard


class Recorder(Executor):
    """Runs tasks at once in this thread, and records them.

    Attributes:
        shards: The shards that were scored.
    """

    def __init__(self) -> None:
        self.shards: list[Shard] = []

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Run a task."""
        if work is score_shard:
            self.shards.append(args[1])
        future: Future[Any] = Future()
        try:
            future.set_result(work(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - it is the caller's
            future.set_exception(error)
        return future


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A folder with truth and detections."""
    write_scene(tmp_path)
    return tmp_path


def task_of(scene: Path, **choice: Any) -> ScoringTask:
    specification = judged_by("map", specification=None, manifest=None, parameters={})
    sides = (str(scene / "truth.csv"), str(scene / "detections.csv"))
    return ScoringTask(specification, *sides, DataChoice(**choice))


def texts(reports: list[Report]) -> list[str]:
    return list(map(report_to_json, reports))


def plain(scene: Path) -> list[str]:
    return texts(score(["map"], scene / "truth.csv", scene / "detections.csv"))


def by(executor: Executor, scene: Path, **options: Any) -> list[str]:
    return texts(
        score(["map"], scene / "truth.csv", scene / "detections.csv", executor=executor, **options)
    )


def test_threads_give_the_report_of_this_process(scene: Path) -> None:
    with ThreadPoolExecutor(3) as executor:
        assert by(executor, scene, shards=7) == plain(scene)


@pytest.mark.slow
def test_processes_give_the_report_of_this_process(scene: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=spawn_context()) as executor:
        assert by(executor, scene) == plain(scene)


@pytest.mark.slow
def test_loky_gives_the_report_of_this_process(scene: Path) -> None:
    loky = pytest.importorskip("loky")
    with loky.get_reusable_executor(max_workers=2) as executor:
        assert by(executor, scene, shards=5) == plain(scene)


def test_a_numpy_number_of_shards_is_accepted(scene: Path) -> None:
    assert by(Recorder(), scene, shards=np.int64(3)) == plain(scene)


def test_one_evaluator_by_an_executor_gives_one_report(scene: Path) -> None:
    report = vidscore.score(
        "f1", scene / "truth.csv", scene / "detections.csv", executor=Recorder(), threshold=0.4
    )
    assert report.parameters["threshold"] == 0.4


def test_progress_is_reported_in_shards(scene: Path) -> None:
    told: list[tuple[int, int]] = []
    by(Recorder(), scene, shards=3, progress=lambda done, count: told.append((done, count)))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_data_that_is_not_a_path_is_refused(scene: Path) -> None:
    truth = vidscore.read(scene / "truth.csv")
    with pytest.raises(ParameterError, match="truth: found Annotations, expected a path"):
        score("map", truth, scene / "detections.csv", executor=Recorder())


def test_standard_input_is_refused(scene: Path) -> None:
    with pytest.raises(ParameterError, match="found standard input"):
        score("map", "-", scene / "detections.csv", executor=Recorder())


def test_a_pipe_is_refused(scene: Path) -> None:
    """One process would wait for what another has read."""
    os.mkfifo(scene / "pipe")
    with pytest.raises(ParameterError, match="detections: found a pipe, expected a file or a fo"):
        score(["map"], scene / "truth.csv", scene / "pipe", executor=Recorder())


def test_answers_with_times_are_refused(scene: Path) -> None:
    with pytest.raises(ParameterError, match="executor"):
        by(Recorder(), scene, online=True)


@pytest.mark.parametrize(
    ("evaluator", "rows", "found"),
    [
        ("map", ["a,0,car,1,1,x,9,3"], "line 2, column x2: found 'x'"),
        ("clear", ["a,0,car,1,1,9,9,3"] * 2, "line 2: found track 3 again in frame 0"),
    ],
)
def test_faults_of_the_data_are_raised_with_file_and_line(
    scene: Path, evaluator: str, rows: list[str], found: str
) -> None:
    """Faults of the files, and faults by an evaluator's rules."""
    text = "\n".join(["sequence,frame,class,x1,y1,x2,y2,track_id", *rows, ""])
    (scene / "truth.csv").write_text(text)
    (scene / "detections.csv").write_text("sequence,frame,class,x1,y1,x2,y2,track_id\n")
    sides = scene / "truth.csv", scene / "detections.csv"
    with pytest.raises(InputError) as raised, ThreadPoolExecutor(2) as executor:
        score(evaluator, *sides, executor=executor)
    [fault] = raised.value.faults
    assert str(fault).startswith(f"{sides[0]}, {found}")


@pytest.mark.parametrize(
    "work",
    [partial(score_shard, shard=Shard(1, 2)), partial(inputs_of_shards, shards=[Shard(1, 2)])],
)
def test_a_worker_with_another_version_is_refused(
    scene: Path, work: Callable[[ScoringTask], object]
) -> None:
    with pytest.raises(EvaluatorVersionError, match=r"the scoring needs vidscore 99"):
        work(replace(task_of(scene), software={"vidscore": "99"}))


def test_a_run_folder_keeps_what_was_done_beside_a_shard_that_failed(scene: Path) -> None:
    class Failing(Recorder):
        def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            if args[1] == Shard(2, 9):
                work = dict[str, Any]().__getitem__
            return super().submit(work, *args, **kwargs)

    kept = scene / "kept"
    with pytest.raises(TypeError):
        score_by(Failing(), task_of(scene), shards=9, run_folder=kept)
    again = Recorder()
    assert texts(score_by(again, task_of(scene), shards=9, run_folder=kept).reports) == plain(scene)
    assert again.shards == [Shard(2, 9)]


def test_a_file_that_has_changed_is_read_again(scene: Path) -> None:
    before = by(Recorder(), scene)
    write_scene(scene, moved_px=7)
    assert by(Recorder(), scene) == plain(scene) != before


def test_relative_paths_start_at_the_callers_working_directory(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(scene)
    specification = judged_by("map", specification=None, manifest=None, parameters={})
    task = ScoringTask(specification, "truth.csv", "detections.csv", DataChoice())
    wanted = plain(scene)
    (scene / "elsewhere").mkdir()
    monkeypatch.chdir(scene / "elsewhere")
    merged = score_by(Recorder(), task, shards=2)
    assert texts(merged.reports) == wanted
    assert {place.partition(",")[0] for place in merged.places.values()} == {
        "truth.csv",
        "detections.csv",
    }


def test_pending_shards_are_cancelled_when_one_fails(scene: Path) -> None:
    (scene / "truth.csv").unlink()
    go_on = threading.Event()
    with ThreadPoolExecutor(1) as executor:
        executor.submit(go_on.wait)
        last: list[Future[Any]] = []

        class Held(Executor):
            def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
                last.append(executor.submit(work, *args, **kwargs))
                return last[-1]

        held = Held()
        threading.Timer(0.0, go_on.set).start()
        with pytest.raises(InputError):
            by(held, scene, shards=300)
    assert last[-1].cancelled()


class TestRunFolder:
    """A folder of finished shards."""

    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        """A folder that does not exist yet."""
        return tmp_path / "run" / "of today"

    def scored(self, scene: Path, folder: Path, shards: int = 16) -> tuple[list[str], int]:
        """Reports, and the number of shards that were scored for them."""
        executor = Recorder()
        merged = score_by(executor, task_of(scene), shards=shards, run_folder=folder)
        return texts(merged.reports), len(executor.shards)

    def test_a_second_run_scores_nothing(self, scene: Path, folder: Path) -> None:
        assert self.scored(scene, folder) == (plain(scene), 16)
        assert self.scored(scene, folder) == (plain(scene), 0)

    def test_a_change_scores_only_its_shard(self, scene: Path, folder: Path) -> None:
        self.scored(scene, folder)
        write_scene(scene, moved_px=5)
        assert self.scored(scene, folder) == (plain(scene), 1)

    def test_a_reverted_change_scores_nothing(self, scene: Path, folder: Path) -> None:
        self.scored(scene, folder)
        write_scene(scene, moved_px=5)
        self.scored(scene, folder)
        write_scene(scene)
        assert self.scored(scene, folder) == (plain(scene), 0)

    def test_an_added_sequence_scores_only_its_shard(self, scene: Path, folder: Path) -> None:
        self.scored(scene, folder)
        write_scene(scene, sequences=[*STREETS, "zebra"])
        assert self.scored(scene, folder) == (plain(scene), 1)

    def test_an_interrupted_run_continues(self, scene: Path, folder: Path) -> None:
        class Interrupted(Recorder):
            def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
                if len(self.shards) == 10:
                    failed: Future[Any] = Future()
                    failed.set_exception(ConnectionError("the cluster has gone"))
                    return failed
                return super().submit(work, *args, **kwargs)

        with pytest.raises(ConnectionError):
            score_by(Interrupted(), task_of(scene), shards=16, run_folder=folder)
        reports, scored_count = self.scored(scene, folder)
        assert reports == plain(scene)
        assert 0 < scored_count <= 6  # Shards without frames are the same.

    @pytest.mark.parametrize("damage", [b"", b"nothing of the kind"])
    def test_a_damaged_file_is_scored_again(self, scene: Path, folder: Path, damage: bytes) -> None:
        self.scored(scene, folder, shards=1)
        [file] = folder.iterdir()
        file.write_bytes(damage)
        assert self.scored(scene, folder, shards=1) == (plain(scene), 1)

    def test_a_folder_that_cannot_be_created_is_reported_like_any_unwritable_path(
        self, scene: Path, folder: Path
    ) -> None:
        folder.parent.mkdir()
        folder.symlink_to(folder)
        with pytest.raises(OSError, match="cannot be written: file exists") as caught:
            self.scored(scene, folder)
        assert caught.value.filename == str(folder)

    def test_a_full_disk_is_reported_with_the_folder(
        self, scene: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An error without a place used to be taken for one of the cluster."""

        def full(_descriptor: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="cannot be written: no space") as raised:
            self.scored(scene, folder)
        assert raised.value.filename == str(folder)
        assert list(folder.iterdir()) == []

    def test_other_evaluators_share_no_files(self, scene: Path, folder: Path) -> None:
        self.scored(scene, folder)
        executor = Recorder()
        specification = judged_by("f1", specification=None, manifest=None, parameters={})
        task = task_of(scene)
        other = ScoringTask(specification, task.truth, task.detections, task.choice)
        score_by(executor, other, shards=16, run_folder=folder)
        assert len(executor.shards) == 16
