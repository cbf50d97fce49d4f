"""The HTTP API of a hosting server, with its callers of each role."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest_asyncio
from tests.server.web.site.browsing import Browsing, browsing


@pytest_asyncio.fixture
async def site(tmp_path: Path) -> AsyncIterator[Browsing]:
    async with browsing(tmp_path) as found:
        yield found
