"""Metrics of a real server process, as Prometheus reads them."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.request import urlopen

import grpc
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.crash.organiser import Organiser
from tests.crash.servers import COMMAND
from tests.server.domain.sky import batch, truth
from tests.server.scene import HERE, configuration, points
from tests.server.test_process import TIMEOUT_S, Process
from tests.support.waiting import eventually

from vidscore_protos.v1 import (
    scoring_service_pb2,
    submission_service_pb2,
    submission_service_pb2_grpc,
)
from vidscore_server import metrics
from vidscore_server.addresses import parse_address
from vidscore_server.domain.administration import initialise

PLANTED = ("planted-team", "planted-run", "planted-stream")
"""Texts that only clients have sent; metrics must not show them."""

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]


class Metered:
    """A hosting server with metrics."""

    def __init__(self, process: Process, secret: str) -> None:
        self.process = process
        self.organiser = Organiser(process.channel, secret)
        self.address: str = process.line("metrics")["address"]

    def text(self) -> str:
        with urlopen(f"http://{self.address}/metrics", timeout=TIMEOUT_S) as answer:
            text: str = answer.read().decode()
        return text

    def samples(self) -> Samples:
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in text_string_to_metric_families(self.text())
            for sample in family.samples
        }

    def value(self, name: str, **labels: str) -> float:
        """Sum of the samples that have these labels."""
        return total(self.samples(), name, **labels)


@pytest.mark.parametrize("breaks_off", [True, False])
def test_an_incomplete_scrape_leaves_no_thread_and_no_log_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], breaks_off: bool
) -> None:
    monkeypatch.setattr(metrics, "REQUEST_TIMEOUT_S", TIMEOUT_S if breaks_off else 0.1)
    endpoint = metrics.Metrics().listen(parse_address("127.0.0.1:0"))
    before = threading.active_count()
    try:
        with socket.create_connection(endpoint.address) as connection:
            connection.sendall(b"GET / HT")
            eventually(lambda: threading.active_count() > before or not breaks_off)
            if breaks_off:  # Ended by a reset.
                at_once = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            else:
                connection.settimeout(TIMEOUT_S)
                assert connection.recv(1) == b""
        eventually(lambda: threading.active_count() == before)
    finally:
        endpoint.close()
    assert capfd.readouterr().err == ""


def total(samples: Samples, name: str, **labels: str) -> float:
    """Sum of the samples that have these labels."""
    wanted = set(labels.items())
    return sum(
        value for (found, having), value in samples.items() if found == name and wanted <= having
    )


@contextmanager
def metered(folder: Path) -> Iterator[Metered]:
    store = folder / "store.db"
    secret = initialise(store).secret
    process = Process(store=str(store), metrics_listen="127.0.0.1:0")
    try:
        yield Metered(process, secret)
    finally:
        process.close()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Metered]:
    with metered(tmp_path_factory.mktemp("site")) as running:
        yield running


SCORING = {"grpc_service": "vidscore.v1.ScoringService"}


@pytest.mark.slow
def test_calls_messages_and_frames_are_counted_under_grpc_names(server: Metered) -> None:
    before = server.samples()

    def more(name: str, **labels: str) -> float:
        return server.value(name, **labels) - total(before, name, **labels)

    names = {**SCORING, "grpc_method": "Score", "grpc_type": "bidi_stream"}
    requests = [
        scoring_service_pb2.ScoreRequest(configuration=configuration("spotgeo")),
        scoring_service_pb2.ScoreRequest(truth=points({1: HERE, 2: HERE, 3: []})),
        scoring_service_pb2.ScoreRequest(detections=points({1: HERE, 2: HERE})),
    ]
    assert len(list(server.process.stub.Score(iter(requests), timeout=TIMEOUT_S))) == 2
    # The last figure of a call.
    eventually(lambda: more("grpc_server_handling_seconds_count", **names) == 1)
    assert more("grpc_server_handled_total", grpc_code="OK", **names) == 1
    assert more("grpc_server_started_total", **names) == 1
    assert more("grpc_server_msg_received_total", **names) == 3
    assert more("grpc_server_msg_sent_total", **names) == 2
    assert more("grpc_server_handling_seconds_sum", **names) > 0
    assert more("vidscore_frames_received_total", side="truth", **SCORING) == 3
    assert more("vidscore_frames_received_total", side="detections", **SCORING) == 2


@pytest.mark.slow
def test_a_refused_call_is_counted_under_its_code(server: Metered) -> None:
    message = scoring_service_pb2.ScoreBatchRequest(configuration=configuration("unknown"))
    with pytest.raises(grpc.RpcError):
        server.process.stub.ScoreBatch(message, timeout=TIMEOUT_S)
    names = {**SCORING, "grpc_method": "ScoreBatch", "grpc_type": "unary"}
    eventually(
        lambda: server.value("grpc_server_handled_total", grpc_code="NotFound", **names) == 1
    )
    assert server.value("grpc_server_handled_total", grpc_code="OK", **names) == 0


def test_open_calls_and_streams_are_shown_while_they_are_open(server: Metered) -> None:
    end = threading.Event()

    def requests() -> Iterator[scoring_service_pb2.ScoreRequest]:
        yield scoring_service_pb2.ScoreRequest(configuration=configuration("spotgeo"))
        end.wait(TIMEOUT_S)

    call = server.process.stub.Score(requests(), timeout=TIMEOUT_S)
    assert next(call).HasField("started")
    assert server.value("vidscore_open_streams") == 1
    end.set()
    list(call)
    eventually(lambda: server.value("vidscore_open_streams") == 0)
    eventually(lambda: server.value("vidscore_workers") == 1)  # It starts beside the server.
    assert server.value("vidscore_draining") == 0
    assert server.value("vidscore_store_up") == 1


@pytest.mark.slow
def test_a_hosted_submission_appears_in_figures_and_in_no_label(tmp_path: Path) -> None:
    with metered(tmp_path) as server:
        _submit(server)
        text = server.text()
        assert [word for word in PLANTED if word in text] == []
        appends = "vidscore.v1.SubmissionService"
        assert server.value("vidscore_frames_received_total", grpc_service=appends) == 10
        uploads = "vidscore.v1.BenchmarkService"
        assert server.value("vidscore_frames_received_total", grpc_service=uploads) == 10
        assert server.value("vidscore_store_commit_seconds_count") > 0
        eventually(lambda: server.value("vidscore_store_waiting_commands") == 0)
        eventually(lambda: server.value("vidscore_scoring_queue_submissions") == 0)
        assert server.value("vidscore_scoring_queue_oldest_seconds") == 0


@pytest.mark.slow
def test_sealed_submissions_without_truth_are_counted_as_waiting_for_it(tmp_path: Path) -> None:
    with metered(tmp_path) as server:
        _submit(server, with_truth=False)
        eventually(
            lambda: (
                server.value("vidscore_scoring_queue_submissions", state="waiting_for_truth") == 1
            )
        )
        eventually(lambda: server.value("vidscore_scoring_queue_oldest_seconds") > 0)


def _submit(server: Metered, *, with_truth: bool = True) -> None:
    """A team's complete submission."""
    team, run, stream = PLANTED
    organiser = server.organiser
    if with_truth:
        organiser.host(truth(10))
    else:
        organiser.host_without_truth()
    stub = submission_service_pb2_grpc.SubmissionServiceStub(server.process.channel)
    metadata = (("authorization", f"Bearer {organiser.token(team)}"),)
    submission = stub.CreateSubmission(
        submission_service_pb2.CreateSubmissionRequest(
            benchmark="benchmarks/dots", submission_id=run
        ),
        metadata=metadata,
    ).submission
    opened = stub.OpenStream(
        submission_service_pb2.OpenStreamRequest(submission=submission.name, stream=stream),
        metadata=metadata,
    ).stream
    append = submission_service_pb2.AppendRequest(
        stream=f"{submission.name}/streams/{stream}",
        epoch=opened.epoch,
        offset=0,
        detections=batch(range(10)),
    )
    stub.AppendBatch(append, metadata=metadata)
    stub.SealSubmission(
        submission_service_pb2.SealSubmissionRequest(name=submission.name), metadata=metadata
    )
    if with_truth:
        organiser.wait(submission.name)


@pytest.mark.slow
def test_a_metrics_address_in_use_ends_the_process_with_one_sentence(server: Metered) -> None:
    address = server.address
    ended = subprocess.run(
        [*COMMAND, "--listen", "127.0.0.1:0", "--workers", "1", "--metrics-listen", address],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert ended.returncode == 1
    assert f"cannot listen at {address} for metrics" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_database_that_takes_no_heartbeat_is_not_asked_for_figures() -> None:
    """It would answer after a timeout, when Prometheus has given the scrape up."""
    asked: list[str] = []
    hosting: Any = SimpleNamespace(
        live=SimpleNamespace(kept_count=0),
        heartbeat=SimpleNamespace(writable=False),
        context=SimpleNamespace(
            store=SimpleNamespace(shared=True, read=lambda: asked.append("read"))
        ),
    )
    shown = {family.name: family.samples[0].value for family in metrics._hosting_figures(hosting)}
    assert (shown["vidscore_store_up"], asked) == (0, [])


@pytest.mark.slow
def test_without_the_setting_nothing_listens_for_metrics() -> None:
    process = Process()
    try:
        process.process.terminate()
        process.line("stopped")
        assert "metrics" not in {line["event"] for line in process._passed}
    finally:
        process.close()


def test_an_invalid_address_is_named() -> None:
    command = [*COMMAND, "--metrics-listen", "here"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert ended.returncode == 2
    assert "--metrics-listen: found 'here', expected host:port" in ended.stderr
