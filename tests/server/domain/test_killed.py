"""The real process, killed at named points: no acknowledged data is lost or counted twice.

The server is `vidscore serve` with a store; a failpoint sends SIGKILL. The test is the writer: it
sends one frame per batch and resumes from the offset that the server names.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import grpc
import pytest
from tests.crash.servers import environment_of, started
from tests.server.domain.hosted import BENCHMARK, TRUTH, append, dots, end_of
from tests.server.domain.test_backup_rows import submission_row
from tests.server.domain.test_backups import SOUND, benchmark_row, made
from tests.server.domain.test_scoring import library_report
from tests.server.domain.test_team_usage import any_dots, noise
from tests.server.scene import points, report_bytes

from vidscore_protos.v1 import (
    annotations_pb2,
    backup_pb2,
    benchmark_pb2,
    benchmark_service_pb2,
    benchmark_service_pb2_grpc,
    organiser_pb2,
    submission_service_pb2,
    submission_service_pb2_grpc,
)
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore_server.domain.administration import initialise
from vidscore_server.store.records import Row

pytestmark = pytest.mark.slow

pb = submission_service_pb2

TIMEOUT_S = 60.0
SUBMISSION = f"{BENCHMARK}/submissions/one"
FRAMES = {1: [(11.0, 20.0)], 2: [(1.0, 1.0)], 3: [(50.0, 60.0)], 4: [], 5: []}


class Site:
    """A store, a token for it, and servers one after the other."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "store.db"
        self.metadata = (("authorization", f"Bearer {initialise(self.path).secret}"),)

    @contextmanager
    def server(self, failpoints: str = "") -> Iterator[grpc.Channel]:
        """Run a server; yields a channel to it. The server may die meanwhile."""
        # Only one heartbeat, at the start: the number of later commits by heartbeats would be
        # unknown.
        settings = {"listen": "127.0.0.1:0", "workers": "1", "store": str(self.path)} | {
            "heartbeat_interval_s": "3600"
        }
        process = started(environment_of(settings, failpoints))
        assert process.stderr is not None
        try:
            line = json.loads(process.stderr.readline())
            while line["event"] != "listening":
                line = json.loads(process.stderr.readline())
            with grpc.insecure_channel(line["address"]) as channel:
                yield channel
            if failpoints:
                assert process.wait(TIMEOUT_S) == -9
        finally:
            process.kill()
            process.wait()
            process.stderr.close()

    def prepare(self, channel: grpc.Channel) -> None:
        """Create the benchmark with its truth, and a submission."""
        self.create(channel, dots())
        self.upload(channel)
        self.submissions(channel).CreateSubmission(
            pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="one"),
            metadata=self.metadata,
        )

    def create(self, channel: grpc.Channel, benchmark: benchmark_pb2.Benchmark) -> None:
        benchmark_service_pb2_grpc.BenchmarkServiceStub(channel).CreateBenchmark(
            organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=benchmark),
            metadata=self.metadata,
        )

    def upload(self, channel: grpc.Channel, *batches: annotations_pb2.AnnotationBatch) -> None:
        """Upload batches as a new revision of the truth, by default the usual ones."""
        stub = benchmark_service_pb2_grpc.BenchmarkServiceStub(channel)
        batches = batches or (TRUTH,)
        header = organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK, complete=True)
        uploads = [
            organiser_pb2.UploadTruthRequest(header=header),
            *(organiser_pb2.UploadTruthRequest(truth=batch) for batch in batches),
            organiser_pb2.UploadTruthRequest(end=end_of(*batches)),
        ]
        stub.UploadTruth(iter(uploads), metadata=self.metadata)

    def truth(self, channel: grpc.Channel) -> tuple[int, int]:
        """Number of the newest revision of the truth, and of its frames."""
        stub = benchmark_service_pb2_grpc.BenchmarkServiceStub(channel)
        request = organiser_pb2.ReadTruthRequest(benchmark=BENCHMARK)
        *_, last = stub.ReadTruth(request, metadata=self.metadata, timeout=TIMEOUT_S)
        return last.revision, last.next_offset

    def submissions(
        self, channel: grpc.Channel
    ) -> submission_service_pb2_grpc.SubmissionServiceStub:
        return submission_service_pb2_grpc.SubmissionServiceStub(channel)

    def send(self, channel: grpc.Channel) -> int:
        """Append the missing frames one by one; returns the last acknowledged offset."""
        stub = self.submissions(channel)
        opened = stub.OpenStream(
            pb.OpenStreamRequest(submission=SUBMISSION), metadata=self.metadata, timeout=TIMEOUT_S
        ).stream
        acknowledged = opened.next_offset
        frames = list(FRAMES.items())
        requests = [
            append(f"{SUBMISSION}/streams/default", row, points({number: objects}), opened.epoch)
            for row, (number, objects) in enumerate(frames)
            if row >= opened.next_offset
        ]
        try:
            for request in requests:
                calls = stub.AppendFrames(iter([request]), metadata=self.metadata)
                for response in calls:
                    acknowledged = response.next_offset
        except grpc.RpcError:
            return acknowledged  # The server has died.
        return acknowledged

    def seal(self, channel: grpc.Channel) -> None:
        stub = self.submissions(channel)
        stub.SealSubmission(
            pb.SealSubmissionRequest(name=SUBMISSION, expected_frame_count=len(FRAMES)),
            metadata=self.metadata,
        )

    def report(self, channel: grpc.Channel) -> bytes:
        """Wait for the final state, and read the report."""
        stub = self.submissions(channel)
        watch = pb.WatchSubmissionRequest(name=SUBMISSION)
        *_, last = stub.WatchSubmission(watch, metadata=self.metadata, timeout=TIMEOUT_S)
        [score] = last.scores
        return report_bytes(score.report)


EXPECTED = library_report(TRUTH, points(FRAMES))


# Commits: the heartbeat, the benchmark, five for its truth, the submission, its stream, and two for
# the first frame, which has to be admitted.
@pytest.mark.parametrize(
    ("while_frames_come", "while_it_scores"),
    [
        ("after_commit=kill@12", "before_score_commit=kill"),
        pytest.param("before_commit=kill@12", "before_scoring=kill", marks=pytest.mark.nightly),
        pytest.param("before_acknowledge=kill@2", "", marks=pytest.mark.nightly),
    ],
)
def test_a_server_that_is_killed_loses_no_acknowledged_frame_and_scores_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, while_frames_come: str, while_it_scores: str
) -> None:
    site = Site(tmp_path)
    with monkeypatch.context() as patch:
        # The upkeep would run while the truth is stored, in an unknown number of commits.
        patch.setenv("VIDSCORE_SERVER_UPKEEP_INTERVAL_MS", "60000")
        with site.server(while_frames_come) as channel:
            site.prepare(channel)
            acknowledged = site.send(channel)
    assert acknowledged == 1
    with site.server(while_it_scores) as channel:
        stored = site.submissions(channel).GetSubmission(
            pb.GetSubmissionRequest(name=SUBMISSION), metadata=site.metadata
        )
        assert acknowledged <= stored.submission.frame_count <= acknowledged + 1
        assert site.send(channel) == len(FRAMES)
        site.seal(channel)
        if not while_it_scores:
            assert site.report(channel) == EXPECTED
            return
    with site.server() as channel:
        assert site.report(channel) == EXPECTED


@pytest.mark.nightly
def test_a_server_killed_while_it_rescores_a_board_updates_it_after_the_restart(
    tmp_path: Path,
) -> None:
    site = Site(tmp_path)
    with site.server() as channel:
        site.prepare(channel)
        site.send(channel)
        site.seal(channel)
        site.report(channel)
    dying = site.server("before_score_commit=kill")
    with dying as channel, suppress(grpc.RpcError):  # The server may die before it has answered.
        site.upload(channel)
    with site.server() as channel:
        stub = benchmark_service_pb2_grpc.BenchmarkServiceStub(channel)
        request = benchmark_service_pb2.GetLeaderboardRequest(benchmark=BENCHMARK)
        revisions = [1, 1]
        while revisions == [1, 1]:
            board = stub.GetLeaderboard(request, metadata=site.metadata, timeout=TIMEOUT_S)
            revisions = [board.truth_revision, *(row.truth_revision for row in board.rows)]
            time.sleep(0.1)  # Each call is logged, and nobody reads the log's pipe meanwhile.
        assert revisions == [2, 2]


# Commits: the heartbeat, the lease, five parts of 256 rows, and the one that shows the benchmark.
@pytest.mark.parametrize(
    ("failpoints", "is_there"),
    [
        ("before_commit=kill@7", False),
        *(
            pytest.param(f"before_commit=kill@{commit}", False, marks=pytest.mark.nightly)
            for commit in (2, 3, 4, 5, 6, 8)
        ),
        pytest.param("after_commit=kill@8", True, marks=pytest.mark.nightly),
    ],
)
def test_a_server_killed_while_it_restores_a_benchmark_has_all_of_it_or_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failpoints: str, is_there: bool
) -> None:
    monkeypatch.setenv("VIDSCORE_SERVER_UPKEEP_INTERVAL_MS", "60000")  # It frees remainders.
    sequence = {"id": 3, "submission_id": 5, "domain": "", "sequence": "walk"}
    frames: list[Row] = [("frames", {"sequence_id": 3, "frame": frame}) for frame in range(1200)]
    known = [benchmark_row(definition=SOUND), submission_row(), ("sequences", sequence)]
    file, _ = made(tmp_path, [*known, *frames])
    site = Site(tmp_path)
    with site.server(failpoints) as channel, pytest.raises(grpc.RpcError):
        ServerServiceStub(channel).ImportBackup(
            iter([backup_pb2.ImportBackupRequest(chunk=file.read_bytes())]), metadata=site.metadata
        )
    [shown] = counts(site.path, "benchmarks WHERE benchmark = 'dots'")
    assert shown == is_there
    monkeypatch.setenv("VIDSCORE_SERVER_UPKEEP_INTERVAL_MS", "100")
    with site.server():
        tables = ("benchmarks", "frames")
        expected = (1, 1200) if is_there else (0, 0)
        assert freed_counts(site.path, tables, expected) == expected


LARGE = [noise(number, frames=24, objects=3000) for number in range(3)]
"""Truth that is stored in three parts of more than a megabyte each."""


# Commits: the heartbeat, the lease, the hidden name, three parts, and the one that shows the truth.
@pytest.mark.parametrize(
    ("failpoints", "revision"),
    [
        ("before_commit=kill@6", 1),
        *(
            pytest.param(f"before_commit=kill@{commit}", 1, marks=pytest.mark.nightly)
            for commit in (2, 3, 4, 5, 7)
        ),
        pytest.param("after_commit=kill@7", 2, marks=pytest.mark.nightly),
    ],
)
def test_a_server_killed_while_it_stores_truth_has_the_old_or_the_new_truth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failpoints: str, revision: int
) -> None:
    monkeypatch.setenv("VIDSCORE_SERVER_MAXIMUM_FRAME_OBJECTS", "3000")
    monkeypatch.setenv("VIDSCORE_SERVER_UPKEEP_INTERVAL_MS", "60000")  # It frees remainders.
    site = Site(tmp_path)
    with site.server() as channel:
        site.create(channel, any_dots())
        site.upload(channel)
    with site.server(failpoints) as channel, pytest.raises(grpc.RpcError):
        site.upload(channel, *LARGE)
    monkeypatch.setenv("VIDSCORE_SERVER_UPKEEP_INTERVAL_MS", "100")
    expected = [TRUTH] if revision == 1 else LARGE
    with site.server() as channel:
        assert site.truth(channel) == (revision, sum(len(one.frame_numbers) for one in expected))
        tables = ("benchmarks", "truth_revisions", "truth_batches")
        stored = (1, 1, 1) if revision == 1 else (1, 2, 1 + len(LARGE))
        assert freed_counts(site.path, tables, stored) == stored


def freed_counts(
    store: Path, tables: tuple[str, ...], expected: tuple[int, ...]
) -> tuple[int, ...]:
    """Number of rows of each table, after hidden rows were freed, which takes several commits."""
    end_s = time.monotonic() + TIMEOUT_S
    while (found := counts(store, *tables)) != expected and time.monotonic() < end_s:
        time.sleep(0.1)
    return found


def counts(store: Path, *tables: str) -> tuple[int, ...]:
    """Number of rows of each table of a store."""
    with closing(sqlite3.connect(store)) as connection:
        return tuple(
            connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables
        )
