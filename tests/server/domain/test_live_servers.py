"""Two servers over one database share one clock, and the newest call answers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from queue import SimpleQueue

import grpc
import pytest
from tests.crash.servers import KilledServer, new_site
from tests.server.domain.live_scene import SUBMISSION
from tests.server.domain.test_live_killed import System, answer_to, prepare
from tests.support.postgresql import Cluster

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_protos.v1 import submission_service_pb2_grpc

pytestmark = pytest.mark.slow

TIMEOUT_S = 60.0


class Call:
    """A call that answers; the test reads its responses."""

    def __init__(self, channel: grpc.Channel, system: System) -> None:
        self.requests: SimpleQueue[pb.AnswerFramesRequest | None] = SimpleQueue()
        self.requests.put(pb.AnswerFramesRequest(submission=SUBMISSION))
        stub = submission_service_pb2_grpc.SubmissionServiceStub(channel)
        sent: Iterator[pb.AnswerFramesRequest] = iter(self.requests.get, None)
        self.call = stub.AnswerFrames(sent, metadata=system.metadata, timeout=TIMEOUT_S)

    def next(self, kind: str) -> pb.AnswerFramesResponse:
        """The next response of a kind; others are skipped."""
        response: pb.AnswerFramesResponse
        for response in self.call:
            if response.WhichOneof("event") == kind:
                return response
        raise AssertionError("the call has ended")

    def code(self) -> grpc.StatusCode:
        """The code with which the call ends, whatever responses come before."""
        with suppress(grpc.RpcError):
            for _ in self.call:
                pass
        code: grpc.StatusCode = self.call.code()
        return code


def test_another_server_continues_the_clock_and_the_call_before_ends(
    tmp_path: Path, cluster: Cluster
) -> None:
    site = new_site(cluster.database())
    first, second = KilledServer(tmp_path, site), KilledServer(tmp_path, site)
    system = System(first.secret)
    with ExitStack() as ending:
        for server in (first, second):
            ending.callback(server.kill)
            server.start()
        channels = [
            ending.enter_context(grpc.insecure_channel(server.address))
            for server in (first, second)
        ]
        prepare(channels[0], system)
        older = Call(channels[0], system)
        position = older.next("frame").frame.position
        older.requests.put(answer_to(position))
        stored = older.next("stored").stored
        newer = Call(channels[1], system)
        newer.requests.put(answer_to(position))  # As a client does that has lost its connection.
        assert newer.next("stored").stored == stored
        assert newer.next("frame").frame.position > position
        assert older.code() is grpc.StatusCode.ABORTED
        for call in (older, newer):
            call.requests.put(None)
    assert first.incidents() + second.incidents() == []
