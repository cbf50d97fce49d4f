"""A caller of the HTTP API."""

from __future__ import annotations

import pytest_asyncio
from tests.server.api.http.asking import Caller, caller
from tests.server.web.site.browsing import Browsing


@pytest_asyncio.fixture
async def red(site: Browsing) -> Caller:
    """A team with a submission that is open for frames."""
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.submission("one")
    return caller(site, site.hosted.red)
