"""A real server process, `vidscore serve`: start, dying workers, and orderly shutdown."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from tests.crash.servers import COMMAND, environment_of, started
from tests.server.scene import HERE, Refused, configuration, counts, points, refused, request
from tests.support.waiting import eventually

from vidscore_protos.v1 import scoring_service_pb2, scoring_service_pb2_grpc

pytestmark = pytest.mark.usefixtures("moody")

TIMEOUT_S = 60.0


class Process:
    """A server process, its log lines and a channel to it."""

    def __init__(self, **settings: str) -> None:
        given = {"listen": "127.0.0.1:0", "workers": "1", **settings}
        self.process = started(environment_of(given))
        assert self.process.stderr is not None
        self._lines: SimpleQueue[str] = SimpleQueue()
        self._passed: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, args=(self.process.stderr,))
        self._reader.start()
        self.channel = grpc.insecure_channel(self.line("listening")["address"])
        self.stub = scoring_service_pb2_grpc.ScoringServiceStub(self.channel)

    def _read(self, stderr: IO[str]) -> None:
        for line in stderr:
            self._lines.put(line)

    def line(self, event: str) -> dict[str, Any]:
        """The next unread log line about an event."""
        for position, passed in enumerate(self._passed):
            if passed["event"] == event:
                return self._passed.pop(position)
        while True:
            line: dict[str, Any] = json.loads(self._lines.get(timeout=TIMEOUT_S))
            if line["event"] == event:
                return line
            self._passed.append(line)

    def rest(self) -> list[str]:
        """The remaining lines, read until no process is left that could write one."""
        self._reader.join(TIMEOUT_S)
        assert not self._reader.is_alive()
        return [self._lines.get() for _ in range(self._lines.qsize())]

    def close(self) -> None:
        self.channel.close()
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def _process(**settings: str) -> Iterator[Process]:
    process = Process(**settings)
    try:
        yield process
    finally:
        process.close()


class Stream:
    """A stream that sends on request of the test."""

    def __init__(self, process: Process, **parameters: Any) -> None:
        configured = configuration("moody", **parameters)
        self._requests: SimpleQueue[scoring_service_pb2.ScoreRequest | None] = SimpleQueue()
        self._responses = process.stub.Score(iter(self._requests.get, None), timeout=TIMEOUT_S)
        self.send(scoring_service_pb2.ScoreRequest(configuration=configured))
        assert next(self._responses).HasField("started")

    def send(self, message: scoring_service_pb2.ScoreRequest) -> None:
        self._requests.put(message)

    def frame(self, number: int) -> None:
        self.send(request("truth", points({number: HERE})))
        self.send(request("detections", points({number: HERE})))

    def end(self) -> None:
        self._requests.put(None)

    def result(self) -> dict[str, int]:
        self.end()
        *_, last = self._responses
        return counts(last.final.reports[0])

    def failure(self) -> Refused:
        with pytest.raises(grpc.RpcError) as caught:
            list(self._responses)
        self.end()
        return refused(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("sent", [[signal.SIGTERM], [signal.SIGHUP, signal.SIGHUP]])
def test_after_a_signal_a_running_stream_completes_and_the_process_exits_with_0(
    sent: list[signal.Signals],
) -> None:
    """A closed terminal sends its signal from the kernel and from the shell."""
    with _process(drain_timeout_s="60") as server:
        stream = Stream(server)
        stream.frame(1)
        for number in sent:
            server.process.send_signal(number)
        assert server.line("draining")["open_streams"] == 1
        stream.frame(2)
        stub: Any = health_pb2_grpc.HealthStub(server.channel)
        assert (
            stub.Check(health_pb2.HealthCheckRequest()).status
            == health_pb2.HealthCheckResponse.NOT_SERVING
        )
        assert stream.result()["frames"] == 2
        assert server.process.wait(TIMEOUT_S) == 0


@pytest.mark.slow
@pytest.mark.parametrize("hurried", [False, True], ids=["timeout", "second signal"])
def test_a_client_that_keeps_sending_learns_that_the_server_stops(hurried: bool) -> None:
    with _process(drain_timeout_s="60" if hurried else "0") as server:
        stream = Stream(server)
        server.process.send_signal(signal.SIGTERM)
        server.line("draining")
        if hurried:
            server.process.send_signal(signal.SIGINT)
        status = stream.failure()
        assert (status.code, status.reason) == (grpc.StatusCode.UNAVAILABLE, "SERVER_DRAINING")
        assert server.process.wait(TIMEOUT_S) == 0


@pytest.mark.slow
def test_a_worker_killed_at_work_affects_neither_the_stream_nor_the_server(tmp_path: Path) -> None:
    marker = tmp_path / "at-work"
    with _process() as server:
        worker = server.line("worker started")["process_id"]
        Stream(server).result()
        stream = Stream(server, mood="slow", delay_s=1.0, marker=str(marker))
        stream.frame(1)
        stream.end()
        eventually(marker.exists)
        os.kill(worker, signal.SIGKILL)
        assert stream.result()["frames"] == 1
        assert server.line("worker started")["process_id"] != worker
        assert server.line("worker died")["evaluator"] == "moody"


@pytest.mark.slow
def test_workers_end_when_their_server_is_killed() -> None:
    with _process() as server:
        worker = server.line("worker started")["process_id"]
        server.process.kill()
        eventually(lambda: not _lives(worker))


def _lives(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text(encoding="utf-8").rsplit(")")[-1]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state.split()[0] != "Z"  # It has ended, but its parent has not waited for it yet.


def test_sigterm_ends_a_server_that_has_not_started_yet_in_order(tmp_path: Path) -> None:
    """It has a handler: without one, the first process of a container would not get the signal."""
    config = tmp_path / "server.toml"
    os.mkfifo(config)  # a server waits here as it waits for a database or a migration
    process = subprocess.Popen([*COMMAND, "--config", str(config)], stderr=subprocess.PIPE)
    try:
        with config.open("w"):
            process.terminate()
            _, stderr = process.communicate(timeout=TIMEOUT_S)
        assert (process.returncode, stderr) == (0, b"")
    finally:
        process.kill()
        process.wait()


def test_invalid_settings_end_the_process_with_every_fault_and_no_traceback() -> None:
    environment = {
        "VIDSCORE_SERVER_LISTEN": "0.0.0.0:1",
        "VIDSCORE_SERVER_TLS_KEY_FILE": "key.pem",
    }
    ended = subprocess.run(
        COMMAND,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 1
    assert "VIDSCORE_SERVER_LISTEN" in ended.stderr
    assert "tls_certificate_file" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.slow
def test_a_killed_server_leaves_only_json_in_the_log() -> None:
    """Its helper process outlives it, frees its resources, and logs nothing."""
    with _process() as server:
        server.line("worker started")
        server.process.kill()
        server.process.wait()
        for line in server.rest():
            json.loads(line)
