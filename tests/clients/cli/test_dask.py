"""`vidscore score --dask` on a cluster of processes, whatever happens to them."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import pytest
from tests.clients.cli.helpers import BINARY, run, run_binary
from tests.evaluators.shards.scenes import write_scene
from tests.support.dask_cluster import Cluster, kill, running_cluster
from tests.support.waiting import TIMEOUT_S, eventually

pytestmark = pytest.mark.slow
pytest.importorskip("distributed")

SHARDS = 12
DASHBOARD_PORT = 8787
"""The default port of Dask's dashboard."""

DATA = ("score", "f1", "--truth", "truth.csv", "--detections", "detections.csv", "--format", "json")


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with both sides."""
    write_scene(tmp_path, sequences=[f"s{number}" for number in range(30)])
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cluster(scene: Path) -> Iterator[Cluster]:
    """A scheduler without workers."""
    with running_cluster(scene / "cluster") as found:
        yield found


def begin(cluster: Cluster, *options: str) -> subprocess.Popen[str]:
    """Start to score by the cluster."""
    return subprocess.Popen(
        [str(BINARY), *DATA, "--dask", cluster.address, "--shards", str(SHARDS), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def end(scoring: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code and outputs of a started command."""
    output, errors = scoring.communicate(timeout=TIMEOUT_S)
    return scoring.returncode, output, errors


def wanted() -> tuple[int, str, str]:
    """The output of this process alone."""
    done = run(*DATA)
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.usefixtures("scene")
def test_local_processes_write_what_one_process_writes() -> None:
    done = run_binary(*DATA, "--dask", "local", "--workers", "2", "--run-folder", "run")
    assert (done.returncode, done.stdout, done.stderr) == wanted()
    assert list(Path("run").glob("*.tally"))


@pytest.mark.usefixtures("scene")
def test_a_local_cluster_that_cannot_start_is_not_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As where /dev/shm is read-only: Dask does not say why."""

    def refuse(**_: object) -> NoReturn:
        raise RuntimeError("Nanny failed to start.")

    monkeypatch.setattr("distributed.LocalCluster", refuse)
    done = run(*DATA, "--dask", "local")
    assert done.exit_code == 3
    [line] = done.stderr.splitlines()
    assert "cannot start on this machine (Nanny failed to start.)" in line


@pytest.mark.usefixtures("scene")
def test_a_second_local_cluster_does_not_mention_ports() -> None:
    with socket.socket() as first:
        first.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        with suppress(OSError):  # Another program has the port, which is just as good.
            first.bind(("", DASHBOARD_PORT))
            first.listen()
        done = run_binary(*DATA, "--dask", "local", "--workers", "1", "--shards", "2")
    assert (done.returncode, done.stdout, done.stderr) == wanted()


@pytest.mark.usefixtures("scene")
@pytest.mark.nightly
def test_a_cluster_scores_many_systems_like_one_process() -> None:
    """An invalid one stops neither the cluster nor the others."""
    Path("runs").mkdir()
    for name in ("one", "two"):
        Path("runs", f"{name}.csv").write_bytes(Path("detections.csv").read_bytes())
    Path("runs", "broken.csv").write_text("sequence,frame,class,x1,y1,x2,y2\na,0,car,x,0,1,1\n")
    every = ("score", "f1", "--truth", "truth.csv", "--detections", "runs/*", "--format", "csv")
    alone = run(*every)
    done = run_binary(*every, "--dask", "local", "--workers", "1", "--shards", "2")
    assert (done.returncode, done.stdout) == (1, alone.stdout)
    assert len(done.stdout.splitlines()) == 3
    assert "runs/broken.csv was not scored" in done.stderr


def test_a_killed_worker_is_replaced_by_the_others(cluster: Cluster) -> None:
    first = cluster.add_held_worker()
    cluster.add_held_worker()
    scoring = begin(cluster)
    eventually(lambda: len({name.partition(".")[0] for name in cluster.begun}) == 2)
    kill(first)
    cluster.release()
    assert end(scoring) == wanted()


@pytest.mark.nightly
def test_a_slow_worker_delays_only_its_own_shard(cluster: Cluster) -> None:
    slow = cluster.add_held_worker()
    scoring = begin(cluster, "--run-folder", "run")
    eventually(lambda: any(name.startswith(f"{slow.pid}.") for name in cluster.begun))
    cluster.add_worker()
    # The slow worker has run the index; the other one completes all shards except the held ones.
    eventually(lambda: len(list(Path("run").glob("*.tally"))) > 0)
    cluster.release()
    assert end(scoring) == wanted()


def test_a_worker_of_another_version_is_refused(cluster: Cluster) -> None:
    cluster.add_worker_of_other_version()
    code, output, errors = end(begin(cluster))
    assert (code, output) == (1, "")
    assert "a worker has numpy 1.0, scipy 1.0, vidscore 0.0.1; the scoring needs numpy " in errors


@pytest.mark.nightly
def test_a_run_continues_from_its_folder_after_the_scheduler_is_killed(
    scene: Path, cluster: Cluster
) -> None:
    cluster.add_held_worker(free=5)
    scoring = begin(cluster, "--run-folder", "run")
    eventually(lambda: len(list(Path("run").glob("*.tally"))) > 0 and len(cluster.begun) > 5)
    kill(cluster.scheduler)
    code, output, errors = end(scoring)
    assert (code, output) == (3, "")
    assert "run the same command again: finished shards are kept" in errors
    with running_cluster(scene / "second") as second:
        second.add_held_worker(free=SHARDS)
        assert end(begin(second, "--run-folder", "run")) == wanted()
        assert 0 < len(second.begun) < SHARDS


@pytest.mark.nightly
@pytest.mark.usefixtures("scene")
def test_a_missing_scheduler_is_reported() -> None:
    done = run_binary(*DATA, "--dask", "tcp://127.0.0.1:1")
    assert (done.returncode, done.stdout) == (3, "")
    assert "Dask" in done.stderr
