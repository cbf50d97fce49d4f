"""Streams of both kinds, and a real server."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import pytest
from tests.clients.python.fake_submissions import FakeSubmissions, taking_submissions
from tests.clients.python.hosted import Connecting, Site, with_tasks, with_threads
from tests.clients.python.streaming import Streaming, stream_of_tasks, stream_of_threads
from tests.clients.python.submitting import (
    QUICK,
    Submitting,
    submit_with_tasks,
    submit_with_threads,
)
from tests.support.sites import serving

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import Client, Delivery


@pytest.fixture(params=[stream_of_threads, stream_of_tasks], ids=["threads", "asyncio"])
def streaming(request: pytest.FixtureRequest) -> Streaming:
    """Opens a stream; a test that uses it covers the synchronous and the asyncio one."""
    opened: Streaming = request.param
    return opened


@pytest.fixture
def fake() -> Iterator[FakeSubmissions]:
    """A scripted server that accepts submissions."""
    with taking_submissions() as server:
        yield server


@pytest.fixture(params=["threads", "asyncio"])
def submitting(request: pytest.FixtureRequest, fake: FakeSubmissions) -> Submitting:
    """Opens a stream on the server; a test that uses it covers both kinds."""
    kind = submit_with_threads if request.param == "threads" else submit_with_tasks

    def submit(**arguments: Any) -> AbstractContextManager[Any]:
        arguments.setdefault("delivery", Delivery(retry=QUICK))
        return kind(fake.target, **arguments)

    return submit


@pytest.fixture(scope="session")
def target() -> Iterator[str]:
    """Address of a real server in its own process."""
    with ServerProcess("--workers", "1", "--maximum-frame-objects", "100") as server:
        yield server.address


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A hosting server. All modules share it, so each test has its own benchmarks."""
    with serving(tmp_path_factory.mktemp("site") / "store.db") as (server, secret):
        yield Site(server.address, secret)


@pytest.fixture(params=[with_threads, with_tasks], ids=["threads", "asyncio"])
def connecting(request: pytest.FixtureRequest, site: Site) -> Connecting:
    """Connects with a token; a test that uses it covers both kinds of clients."""
    return lambda secret: request.param(site.target, secret)


@pytest.fixture
def organiser(connecting: Connecting, site: Site) -> Iterator[Client]:
    with connecting(site.secret) as client:
        yield client


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test uses."""
    return f"b{zlib.crc32(request.node.nodeid.encode())}"
