"""Streams of both kinds, and a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from tests.clients.python.streaming import Streaming, stream_of_tasks, stream_of_threads


@pytest.fixture(params=[stream_of_threads, stream_of_tasks], ids=["threads", "asyncio"])
def streaming(request: pytest.FixtureRequest) -> Streaming:
    """How to open a stream; a test that takes it holds for the synchronous and asyncio one."""
    opened: Streaming = request.param
    return opened


@pytest.fixture(scope="session")
def target() -> Iterator[str]:
    """Address of a real server, in a process of its own."""
    environment = {
        **os.environ,
        "VIDSCORE_SERVER_LISTEN": "127.0.0.1:0",
        "VIDSCORE_SERVER_WORKERS": "1",
        "VIDSCORE_SERVER_MAXIMUM_FRAME_OBJECTS": "100",
    }
    with subprocess.Popen(
        [sys.executable, "-m", "vidscore_server"],
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        assert process.stderr is not None
        first_line = process.stderr.readline()
        # Read on, or the server would wait for room in the pipe.
        rest = threading.Thread(target=process.stderr.read)
        rest.start()
        try:
            yield json.loads(first_line)["address"]
        finally:
            process.terminate()
            rest.join()
