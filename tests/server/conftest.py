"""Shared fixtures of server tests: the plug-in evaluators, worker processes, a server here."""

from __future__ import annotations

import asyncio
import importlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from tests.server.domain.hosted import Hosted, hosting
from tests.server.running import Running, serving
from tests.server.web.site.browsing import Browsing, browsing
from tests.support.own_status import servers_own_status
from tests.support.plugin import forget_plug_ins

from vidscore_server import logs
from vidscore_server.workers import WorkerPool

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture(scope="package", autouse=True)
def _own_status() -> Iterator[None]:
    with servers_own_status():
        yield


@pytest.fixture(autouse=True)
def _forget_lines_about_states_that_last() -> None:
    """The servers of the tests share a process, and so the lines that are not repeated."""
    logs._lasting.clear()


@pytest.fixture(scope="module")
def moody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the evaluator ``moody`` here, in worker processes and in subprocesses."""
    yield from _installed("moody", tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def tracer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Install the evaluator ``tracer`` in the same way."""
    yield from _installed("tracer", tmp_path_factory.mktemp("site"))


def _installed(name: str, site: Path) -> Iterator[None]:
    module = f"vidscore_{name}"
    information = site / f"{module}-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1")
    (information / "entry_points.txt").write_text(
        f"[vidscore.evaluators]\n{name} = {module}:{name.title()}\n"
    )
    folders = [str(site), str(PLUGIN)]
    with pytest.MonkeyPatch.context() as patch:
        for folder in folders:
            patch.syspath_prepend(folder)
        inherited = os.environ.get("PYTHONPATH", "")
        patch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [*folders, inherited])))
        forget_plug_ins()
        yield
    sys.modules.pop(module, None)
    importlib.invalidate_caches()
    forget_plug_ins()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def workers(moody: None) -> AsyncIterator[WorkerPool]:
    """Two worker processes that know ``moody``."""
    del moody  # Install it before they start.
    pool = WorkerPool(2)
    yield pool
    await asyncio.to_thread(pool.close)


@pytest_asyncio.fixture
async def hosted(tmp_path: Path) -> AsyncIterator[Hosted]:
    """A server that hosts benchmarks, for one test."""
    async with hosting(tmp_path) as server:
        yield server


@pytest_asyncio.fixture
async def stream(hosted: Hosted) -> str:
    """The stream of red's submission for a benchmark that has no truth yet."""
    await hosted.organiser.create_benchmark()
    return await hosted.red.submission()


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[Browsing]:
    """The site and the HTTP API of a hosting server, with a browser of each role."""
    async with browsing(tmp_path) as found:
        yield found


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def running(workers: WorkerPool) -> AsyncIterator[Running]:
    """A server with default limits, shared by the tests of a module."""
    async with serving(workers) as server:
        yield server
