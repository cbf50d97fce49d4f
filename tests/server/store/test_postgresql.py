"""PostgreSQL keeps the contract of stores, among several servers, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.server.store.contract import StoreContract

from vidscore_server.store.contract import Store
from vidscore_server.store.opening import open_store


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    opened = open_store(database)
    yield opened
    opened.close()


class TestPostgresqlStore(StoreContract):
    """The contract."""
