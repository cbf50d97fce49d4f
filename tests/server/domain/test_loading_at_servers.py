"""What a killed server had loaded in part is freed by another server over the store."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from pathlib import Path

import grpc
import pytest
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer, new_site
from tests.server.domain.sky import truth
from tests.server.domain.test_backup_rows import submission_row
from tests.server.domain.test_backups import SOUND, benchmark_row, made
from tests.support.postgresql import Cluster
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import backup_pb2, benchmark_service_pb2
from vidscore_protos.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore_server.store import SqlStore, open_store
from vidscore_server.store.records import Row

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

SETTINGS = {
    "lease_timeout_s": "2",
    "upkeep_interval_ms": "100",
    "heartbeat_interval_s": "3600",
    "workers": "1",
}


def test_an_import_of_a_killed_server_is_freed_by_another_and_can_be_repeated_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Killed at some commit of the parts: 1200 frames are five parts of 256 rows."""
    sequence = {"id": 3, "submission_id": 5, "domain": "", "sequence": "walk"}
    frames: list[Row] = [("frames", {"sequence_id": 3, "frame": frame}) for frame in range(1200)]
    known = [benchmark_row(definition=SOUND), submission_row(), ("sequences", sequence)]
    file, _ = made(tmp_path, [*known, *frames])
    database, secret = new_site(cluster.database())
    mortal, other = (KilledServer(tmp_path, (database, secret), None, **SETTINGS) for _ in range(2))
    metadata = (("authorization", f"Bearer {secret}"),)

    def load(server: KilledServer) -> int:
        with grpc.insecure_channel(server.address) as channel:
            requests = [backup_pb2.ImportBackupRequest(chunk=file.read_bytes())]
            answer = ServerServiceStub(channel).ImportBackup(iter(requests), metadata=metadata)
            return int(answer.submission_count)

    def names(server: KilledServer) -> list[str]:
        with grpc.insecure_channel(server.address) as channel:
            request = benchmark_service_pb2.ListBenchmarksRequest()
            listed = BenchmarkServiceStub(channel).ListBenchmarks(request, metadata=metadata)
            return [benchmark.name for benchmark in listed.benchmarks]

    with ExitStack() as servers, closing(open_store(database)) as store:
        for server in (mortal, other):
            servers.callback(server.kill)
        mortal.start("before_commit=kill@6")
        with pytest.raises(grpc.RpcError):
            load(mortal)
        mortal.kill()
        with store.read() as reader:
            assert reader.has_hidden()
        other.start()
        assert names(other) == []
        wait_until_freed(store)
        assert load(other) == 1
        mortal.start()
        assert names(mortal) == names(other) == ["benchmarks/dots"]


def test_an_upload_of_a_killed_server_is_freed_by_another_and_can_be_repeated_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Killed before the commit of its batches: until then the previous revision is visible."""
    database, secret = new_site(cluster.database())
    mortal, other = (KilledServer(tmp_path, (database, secret), None, **SETTINGS) for _ in range(2))

    def upload(server: KilledServer) -> None:
        with grpc.insecure_channel(server.address) as channel:
            Organiser(channel, secret).upload(truth(20))

    with ExitStack() as servers, closing(open_store(database)) as store:
        for server in (mortal, other):
            servers.callback(server.kill)
        mortal.start()
        with grpc.insecure_channel(mortal.address) as channel:
            Organiser(channel, secret).host(truth(10))
        mortal.kill()
        mortal.start("before_commit=kill@4")
        with pytest.raises(grpc.RpcError):
            upload(mortal)
        mortal.kill()
        with store.read() as reader:
            assert reader.has_hidden()
            assert len(list(reader.truth_payloads("dots", 1))) == 1
            assert reader.truth_revision("dots", 2) is None
        other.start()
        wait_until_freed(store)
        upload(other)
        with store.read() as reader:
            assert [one.frame_count for one in reader.truth_revisions("dots", None, 9)] == [20, 10]
            assert len(list(reader.truth_payloads("dots", 2))) == 1
            assert not reader.has_hidden()


def wait_until_freed(store: SqlStore) -> None:
    end_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < end_s:
        with store.read() as reader:
            if not reader.has_hidden():
                return
        time.sleep(0.1)
    pytest.fail("what was loaded is still there")
