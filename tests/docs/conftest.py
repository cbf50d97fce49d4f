"""A server for the examples of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from vidscore_cli.server_process import ServerProcess


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Address of a running server."""
    with ServerProcess("--workers", "1") as own:
        yield own.address
