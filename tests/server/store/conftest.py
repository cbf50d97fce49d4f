"""A store in a file, for tests of SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from vidscore_server.store import SqlStore
from vidscore_server.store.sqlite import open_sqlite_store


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a store without rows: creating its tables takes longer than most tests."""
    path = tmp_path_factory.mktemp("empty") / "store.db"
    open_sqlite_store(path).close()
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the test's store is, or will be."""
    return tmp_path / "store.db"


@pytest.fixture
def store(path: Path, empty_store: bytes) -> Iterator[SqlStore]:
    """A store without rows."""
    path.touch(0o600)
    path.write_bytes(empty_store)
    opened = open_sqlite_store(path)
    yield opened
    opened.close()
