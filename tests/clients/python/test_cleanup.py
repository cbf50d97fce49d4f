"""Nothing outlives its stream: threads, sockets, and programs that never close."""

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
from tests.support.waiting import TIMEOUT_S, eventually, returns_before

from vidscore_client import CallCancelledError, Live, LiveReport, ScoreStream, aio, connect


def own_threads() -> set[threading.Thread]:
    """All threads but those of the server's pool, which keeps one per simultaneous stream."""
    return {one for one in threading.enumerate() if not one.name.startswith("ThreadPoolExecutor")}


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


def test_the_sending_thread_ends_with_its_stream() -> None:
    """It belongs to grpc, and would otherwise wait forever for the next message."""
    with serving() as server, connect(server.target) as client:
        before = own_threads()
        for _ in range(5):
            with client.score_stream(["fake"]) as stream:
                stream.send("a", 0, BOX)
        eventually(lambda: own_threads() <= before)


def test_no_socket_outlives_its_client() -> None:
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        missing("file descriptors cannot be counted here: there is no /proc")
    with serving() as server:

        def use_a_client() -> None:
            with connect(server.target) as client, client.score_stream(["fake"]) as stream:
                stream.finish()

        use_a_client()  # This opens what stays open for good.
        before = len(list(descriptors.iterdir()))
        for _ in range(5):
            use_a_client()
        eventually(lambda: len(list(descriptors.iterdir())) <= before)


def test_a_leaked_stream_warns_and_ends_with_its_client() -> None:
    before = stream_threads()
    with serving() as server:
        with connect(server.target) as client:
            leaked = [client.score_stream(["fake"])]
            with pytest.warns(ResourceWarning, match="a scoring stream was never closed"):
                leaked.clear()
            assert not server.finished.is_set()
        assert server.finished.wait(WAIT_S)
        assert stream_threads() == before


async def test_a_leaked_asyncio_stream_warns_too() -> None:
    with serving() as server:
        async with aio.connect(server.target) as client:
            leaked = [await client.score_stream(["fake"]).__aenter__()]
            with pytest.warns(ResourceWarning, match="a scoring stream was never closed"):
                leaked.clear()


def test_a_leaked_client_warns() -> None:
    leaked = [connect("127.0.0.1:1")]
    with pytest.warns(ResourceWarning, match="a client was never closed"):
        leaked.clear()


def test_the_garbage_collector_never_waits_for_a_leaked_stream() -> None:
    """It runs in any thread, even while another one holds the stream's lock."""
    held, go_on = threading.Event(), threading.Event()

    def hold(lock: Any) -> None:
        with lock:
            held.set()
            go_on.wait(2 * TIMEOUT_S)

    with serving() as server, connect(server.target) as client:
        streams = [client.score_stream(["fake"])]
        lock = streams[0]._stream._exchange._monitor
        threading.Thread(target=hold, args=(lock,), daemon=True).start()
        assert held.wait(WAIT_S)
        with pytest.warns(ResourceWarning):
            assert returns_before(go_on, streams.clear)


def test_a_stream_keeps_its_client_alive() -> None:
    with serving() as server:
        streams = [connect(server.target).score_stream(["fake"])]
        gc.collect()
        streams[0].send("a", 0, BOX)
        assert streams[0].finish()[0].value("frames") == 1
        with pytest.warns(ResourceWarning, match="a client was never closed"):
            streams.clear()


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


QUIET = ("-W", "error", "-W", "ignore::ResourceWarning")

LEAKING = {
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
        from vidscore_client import _threads

        client = vidscore_client.connect(target)
        stream = client.score_stream(["fake"])
        atexit.unregister(_threads.close_all)
        atexit.register(client.close)
        atexit.register(_threads.close_all)
    """,
    "a program that ends by an exception": """
        client = vidscore_client.connect(target)
        stream = client.score_stream(["fake"])
        raise SystemExit(0)
    """,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", LEAKING)
def test_a_program_that_never_closes_still_exits(name: str) -> None:
    """In time, without an error and without output."""
    go_on = threading.Event()
    with serving(slow(go_on)) as server:
        program = f"import vidscore_client\ntarget = {server.target!r}\n"
        ended = subprocess.run(
            [
                sys.executable,
                "-W",
                "error",
                "-W",
                "ignore::ResourceWarning",
                "-c",
                program + textwrap.dedent(LEAKING[name]),
            ],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "GRPC_VERBOSITY": "NONE"},
        )
        go_on.set()
        assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
        assert server.finished.wait(WAIT_S)
