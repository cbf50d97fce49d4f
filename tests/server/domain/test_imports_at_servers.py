"""Of an import whose server is killed another server over the store frees what there is."""

from __future__ import annotations

import time
from contextlib import ExitStack, closing
from pathlib import Path

import grpc
import pytest
from tests.crash.servers import KilledServer, new_site
from tests.server.domain.test_backup_rows import submission_row
from tests.server.domain.test_backups import SOUND, benchmark_row, made
from tests.support.postgresql import Cluster
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import backup_pb2, benchmark_service_pb2
from vidscore_protos.v1.benchmark_service_pb2_grpc import BenchmarkServiceStub
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore_server.store import open_store
from vidscore_server.store.records import Row

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

SETTINGS = {"lease_timeout_s": "2", "upkeep_interval_ms": "100", "workers": "1"}


def test_an_import_that_died_with_its_server_is_freed_by_another_and_can_be_repeated_there(
    cluster: Cluster, tmp_path: Path
) -> None:
    """Killed at some commit of the parts: 1200 frames are five of them, of 256 rows."""
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
        end_s = time.monotonic() + TIMEOUT_S
        while time.monotonic() < end_s:
            with store.read() as reader:
                if not reader.has_hidden():
                    break
            time.sleep(0.1)
        with store.read() as reader:
            assert not reader.has_hidden()
        assert load(other) == 1
        mortal.start()
        assert names(mortal) == names(other) == ["benchmarks/dots"]
