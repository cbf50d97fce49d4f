"""Nothing outlives its stream: threads, sockets, and programs that forget to close."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from tests.clients.python.fake_server import WAIT_S, live, script, serving, slow
from tests.clients.python.streaming import BOX, stream_threads
from tests.support.requirements import missing
from tests.support.waiting import PATIENCE_S, eventually, returns_before

from vidscore_client import CallCancelledError, Live, LiveReport, ScoreStream, connect
from vidscore_client._forgotten import Ending


def test_no_thread_outlives_its_stream() -> None:
    before = stream_threads()
    with serving() as server, connect(server.target) as client:
        for _ in range(3):
            with client.score_stream(["fake"]) as stream:
                stream.send("a", 0, BOX)
                stream.finish()
            with client.score_stream(["fake"]) as stream:
                stream.send("a", 0, BOX)
        assert stream_threads() == before


def test_the_thread_that_sends_ends_with_its_stream() -> None:
    """It is grpc's own, and would otherwise wait for the next message for ever."""
    with serving() as server, connect(server.target) as client:
        before = threading.active_count()
        for _ in range(5):
            with client.score_stream(["fake"]) as stream:
                stream.send("a", 0, BOX)
        # The server's own pool may have grown by as many threads as it has streams at once.
        eventually(lambda: threading.active_count() <= before + 2)


def test_no_socket_outlives_its_client() -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        missing("file descriptors cannot be counted here: there is no /proc")
    with serving() as server:

        def use_a_client() -> None:
            with connect(server.target) as client, client.score_stream(["fake"]) as stream:
                stream.finish()

        use_a_client()  # what is opened once for all
        before = len(list(descriptors.iterdir()))
        for _ in range(5):
            use_a_client()
        eventually(lambda: len(list(descriptors.iterdir())) <= before)


def test_a_stream_that_nobody_holds_is_cancelled() -> None:
    before = stream_threads()
    with serving() as server, connect(server.target) as client:
        client.score_stream(["fake"])
        gc.collect()
        assert server.finished.wait(WAIT_S)
        eventually(lambda: stream_threads() == before)


def test_whoever_finds_a_forgotten_stream_does_not_wait_for_its_end() -> None:
    """The garbage collector does, in any thread: also in one that holds what ending takes."""
    held, go_on = threading.Event(), threading.Event()

    def hold(lock: Any) -> None:
        with lock:
            held.set()
            go_on.wait(2 * PATIENCE_S)

    with serving() as server, connect(server.target) as client:
        streams = [client.score_stream(["fake"])]
        lock = streams[0]._exchange._condition
        threading.Thread(target=hold, args=(lock,), daemon=True).start()
        assert held.wait(WAIT_S)
        assert returns_before(go_on, streams.clear)
        assert server.finished.wait(WAIT_S)


def test_what_cannot_be_ended_keeps_nothing_else_open(caplog: pytest.LogCaptureFixture) -> None:
    class Owner:
        """Somebody who can be forgotten."""

    def fail() -> None:
        raise ZeroDivisionError

    ended = threading.Event()
    first, second = Owner(), Owner()
    Ending(first, fail)
    Ending(second, ended.set)
    del first, second
    assert ended.wait(WAIT_S)
    assert "could not be ended" in caplog.text


def test_a_stream_keeps_its_client_alive() -> None:
    with serving() as server:
        stream = connect(server.target).score_stream(["fake"])
        gc.collect()
        stream.send("a", 0, BOX)
        assert stream.finish()[0].value("frames") == 1


def test_a_callback_may_cancel_its_own_stream() -> None:
    opened = threading.Event()
    streams: list[ScoreStream] = []

    def on_report(_report: LiveReport) -> None:
        opened.wait(WAIT_S)
        streams[0].cancel()

    settings = Live(every_frames=1, on_report=on_report)
    with (
        serving(script(live(1))) as server,
        connect(server.target) as client,
        client.score_stream(["fake"], live=settings) as stream,
    ):
        streams.append(stream)
        opened.set()
        assert server.finished.wait(WAIT_S)
        with pytest.raises(CallCancelledError):
            stream.finish()


FORGETFUL = {
    "a stream and a client": """
        client = vidscore_client.connect(target)
        stream = client.score_stream(["fake"])
        stream.send("a", 0, [[0, 0, 1, 1]])
    """,
    "a stream with a full queue": """
        client = vidscore_client.connect(target)
        batching = vidscore_client.Batching(queue_frames=4, policy="raise", batch_interval_s=0)
        stream = client.score_stream(["fake"], batching=batching)
        try:
            while True:
                stream.send("a", 0, [[0, 0, 1, 1]] * 4000)
        except vidscore_client.BackPressureError:
            pass
    """,
    "an asyncio stream and client": """
        import asyncio

        async def main():
            client = vidscore_client.aio.connect(target)
            stream = await client.score_stream(["fake"]).__aenter__()
            await stream.send("a", 0, [[0, 0, 1, 1]])

        asyncio.run(main())
    """,
    "a program that closes after all else has ended": """
        import atexit
        from vidscore_client import _forgotten

        client = vidscore_client.connect(target)
        stream = client.score_stream(["fake"])
        atexit.unregister(_forgotten.end_all)
        atexit.register(client.close)
        atexit.register(_forgotten.end_all)
    """,
    "a program that ends by an exception": """
        client = vidscore_client.connect(target)
        stream = client.score_stream(["fake"])
        raise SystemExit(0)
    """,
}


@pytest.mark.parametrize("name", FORGETFUL)
def test_a_program_that_forgets_to_close_ends_all_the_same(name: str) -> None:
    """In time, without an error and without a word."""
    go_on = threading.Event()
    with serving(slow(go_on)) as server:
        program = f"import vidscore_client\ntarget = {server.target!r}\n"
        ended = subprocess.run(
            [sys.executable, "-W", "error", "-c", program + textwrap.dedent(FORGETFUL[name])],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        )
        go_on.set()
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert server.finished.wait(WAIT_S)
