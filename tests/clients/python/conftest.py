"""Streams of both kinds."""

from __future__ import annotations

import pytest
from tests.clients.python.streaming import Streaming, stream_of_tasks, stream_of_threads


@pytest.fixture(params=[stream_of_threads, stream_of_tasks], ids=["threads", "asyncio"])
def streaming(request: pytest.FixtureRequest) -> Streaming:
    """How to open a stream; a test that takes it holds for the synchronous and asyncio one."""
    opened: Streaming = request.param
    return opened
