"""A server for the examples of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tools.docs_examples import DocsServer, docs_server


@pytest.fixture(scope="session")
def server() -> Iterator[DocsServer]:
    """A running server that hosts benchmarks."""
    with docs_server() as own:
        yield own
