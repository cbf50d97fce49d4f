"""A lost database is reported clearly, and all clients continue by themselves when it is back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import psycopg
import pytest
from google.rpc.error_details_pb2 import ErrorInfo, RetryInfo
from google.rpc.status_pb2 import Status
from tests.crash.organiser import Organiser
from tests.crash.servers import KilledServer, new_site
from tests.server.domain.hosted import BENCHMARK
from tests.server.domain.sky import batch_report, detections_of, place, truth
from tests.support.postgresql import Cluster, running_cluster
from tests.support.waiting import eventually

from vidscore_client import Batching, Delivery, Retry, connect
from vidscore_protos.v1 import submission_service_pb2, submission_service_pb2_grpc
from vidscore_server.status import STATUS_KEY

pytestmark = pytest.mark.slow

FRAME_COUNT = 40
TIMEOUT_S = 120.0
RETRY = Retry(initial_s=0.05, maximum_s=0.5, give_up_after_s=TIMEOUT_S)


@dataclass
class Site:
    """A server whose database a test stops and starts."""

    cluster: Cluster
    server: KilledServer
    organiser: Organiser


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with running_cluster() as cluster:
        location = new_site(cluster.database())
        server = KilledServer(tmp_path, location, lease_timeout_s="20")
        try:
            server.start()
            with grpc.insecure_channel(server.address) as channel:
                organiser = Organiser(channel, server.secret)
                organiser.host(truth(FRAME_COUNT))
                yield Site(cluster, server, organiser)
        finally:
            server.kill()
        assert server.incidents() == []


@pytest.mark.nightly
def test_calls_are_refused_as_retriable_without_details_of_the_database(site: Site) -> None:
    request = submission_service_pb2.GetSubmissionRequest(name=f"{BENCHMARK}/submissions/one")
    create = submission_service_pb2.CreateSubmissionRequest(
        benchmark=BENCHMARK, submission_id="one", request_id="once"
    )
    metadata = (("authorization", f"Bearer {site.server.secret}"),)
    with grpc.insecure_channel(site.server.address) as channel:
        stub = submission_service_pb2_grpc.SubmissionServiceStub(channel)
        stub.CreateSubmission(create, metadata=metadata)
        site.cluster.stop("immediate")
        for call in (
            lambda: stub.GetSubmission(request, metadata=metadata),
            lambda: stub.CreateSubmission(create, metadata=metadata),
        ):
            _check_refused(call, site)
        site.cluster.start()
        made = stub.CreateSubmission(create, metadata=metadata)
    assert made.submission.name == request.name


def test_the_sdk_continues_by_itself_and_all_frames_are_scored(site: Site) -> None:
    delivery = Delivery(window_frames=8, retry=RETRY)
    batching = Batching(batch_frames=1, batch_interval_s=0.01)
    token = site.organiser.token("red")
    with connect(site.server.address, token=token) as client:
        stream = client.submit("dots", "one", batching=batching, delivery=delivery)
        for index in range(FRAME_COUNT):
            if index in {10, 25}:
                site.cluster.stop("immediate")
            stream.send(*place(index), detections_of(index))
            if index in {15, 30}:
                site.cluster.start()
        stream.seal(FRAME_COUNT, timeout_s=TIMEOUT_S)
    site.organiser.wait(stream.submission)
    assert site.organiser.report(stream.submission) == batch_report(FRAME_COUNT, range(FRAME_COUNT))


@pytest.mark.nightly
def test_a_submission_scored_during_the_outage_gets_its_score(site: Site) -> None:
    """The server holds the result until the database is back, or scores again."""
    token = site.organiser.token("red")
    site.server.kill()
    site.server.start("before_score_commit=sleep:1500")
    with connect(site.server.address, token=token) as client:
        stream = client.submit("dots", "one", delivery=Delivery(retry=RETRY))
        for index in range(FRAME_COUNT):
            stream.send(*place(index), detections_of(index))
        stream.seal(FRAME_COUNT, timeout_s=TIMEOUT_S)
    eventually(lambda: site.organiser.submission(stream.submission).state >= _SCORING)
    site.cluster.stop("immediate")
    time.sleep(2)
    site.cluster.start()
    site.organiser.wait(stream.submission)
    assert site.organiser.report(stream.submission) == batch_report(FRAME_COUNT, range(FRAME_COUNT))


@pytest.mark.nightly
def test_a_failover_during_scoring_is_handled_by_the_server_itself(tmp_path: Path) -> None:
    """Its lease is renewed by a write without a prior read, which meets a standby.

    The worker hangs while the database stops, comes back as a standby and is promoted. The server
    neither exits nor stays unable to write; it scores, and stops normally.
    """
    with running_cluster() as cluster:
        location = new_site(cluster.database())
        server = KilledServer(tmp_path, location, lease_timeout_s="6")
        try:
            server.start()
            with grpc.insecure_channel(server.address) as channel:
                organiser = Organiser(channel, server.secret)
                organiser.host(truth(FRAME_COUNT))
                with server.paused_children():
                    name = _submit(server, organiser.token("red"))
                    eventually(lambda: organiser.submission(name).state == _SCORING)
                    _wait_for_a_beat(location[0])
                    cluster.stop()
                    cluster.start_as_standby()
                    # These beats met the standby.
                    eventually(lambda: server.has_said("lease lost"))
                    cluster.promote()
                organiser.wait(name)
                expected = batch_report(FRAME_COUNT, range(FRAME_COUNT))
                assert organiser.report(name) == expected
            assert server.stop() == 0
        finally:
            server.kill()
        assert server.incidents() == []


def _submit(server: KilledServer, token: str) -> str:
    """Send all frames and seal; returns the submission's name."""
    with connect(server.address, token=token) as client:
        stream = client.submit("dots", "one", delivery=Delivery(retry=RETRY))
        for index in range(FRAME_COUNT):
            stream.send(*place(index), detections_of(index))
        stream.seal(FRAME_COUNT, timeout_s=TIMEOUT_S)
    return stream.submission


def _wait_for_a_beat(address: str) -> None:
    """Wait until the scoring lease was renewed: by then the scored data has been read."""
    with psycopg.connect(address, autocommit=True) as connection:

        def end_time() -> object:
            return connection.execute("SELECT end_time FROM leases").fetchone()

        first = end_time()
        eventually(lambda: end_time() not in {None, first})


_SCORING = submission_service_pb2.SUBMISSION_STATE_SCORING


def _check_refused(call: Callable[[], object], site: Site) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        call()
    error: Any = caught.value
    assert error.code() is grpc.StatusCode.UNAVAILABLE
    trailing = dict(error.trailing_metadata() or ())
    status = Status.FromString(trailing[STATUS_KEY])
    info, delay = ErrorInfo(), RetryInfo()
    assert status.details[0].Unpack(info)
    assert status.details[1].Unpack(delay)
    assert info.reason == "STORE_UNAVAILABLE"
    assert delay.retry_delay.ToMilliseconds() > 0
    assert "try again" in status.message
    assert str(site.cluster.folder) not in str(status)
