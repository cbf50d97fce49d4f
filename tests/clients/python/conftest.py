"""Streams of both kinds, and a real server."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.clients.python.streaming import Streaming, stream_of_tasks, stream_of_threads

from vidscore_cli.server_process import ServerProcess


@pytest.fixture(params=[stream_of_threads, stream_of_tasks], ids=["threads", "asyncio"])
def streaming(request: pytest.FixtureRequest) -> Streaming:
    """How to open a stream; a test that takes it holds for the synchronous and asyncio one."""
    opened: Streaming = request.param
    return opened


@pytest.fixture(scope="session")
def target() -> Iterator[str]:
    """Address of a real server, in a process of its own."""
    with ServerProcess("--workers", "1", "--maximum-frame-objects", "100") as server:
        yield server.address
