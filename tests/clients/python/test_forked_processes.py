"""Streams in a forked process, which lacks the threads that would deliver."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from tests.clients.python.fake_server import serving
from tests.clients.python.fake_submissions import FakeSubmissions
from tests.clients.python.submitting import numbers_of

LIMIT_S = 60

PROGRAM = """
    import os, signal, sys
    from vidscore_client import ClosedError, connect

    client = connect(sys.argv[1])
    stream = {opened}
    stream.send("a", 0, [[0, 0, 4, 4]])

    def refused(call):
        try:
            call()
        except ClosedError as error:
            return "process" in str(error)

    if not (child := os.fork()):
        signal.alarm(20)  # where it hangs after all
        stream_ends = [{ends}]
        calls = [lambda: stream.send("a", 1, [[0, 0, 4, 4]]), *stream_ends]
        passed = all(refused(call) for call in calls)
        {leave}
        os._exit(0 if passed else 3)
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status))
    {finish}
    client.close()
"""


def _run(target: str, **parts: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM).format(**parts), target],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        env={**os.environ, "GRPC_VERBOSITY": "NONE"},
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_learns_that_the_submission_is_not_its_own(fake: FakeSubmissions) -> None:
    printed = _run(
        fake.target,
        opened='client.submit("streets", "run")',
        ends="stream.flush, stream.close, stream.seal",
        leave="stream.abort(); stream.close()",
        finish='stream.send("a", 2, []); stream.close()',
    )
    assert printed == "0\n"
    assert numbers_of(fake) == [0, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on this system")
def test_a_forked_process_learns_that_the_score_is_not_its_own() -> None:
    with serving() as server:
        printed = _run(
            server.target,
            opened='client.score_stream(["fake"])',
            ends="stream.finish",
            leave="stream.cancel()",
            finish="print(len(stream.finish()))",
        )
        assert server.sent("detections") == [("a", 0)]
    assert printed == "0\n1\n"
