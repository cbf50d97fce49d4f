"""New sites as copies of one site: creating the tables takes longer than most tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from vidscore_cli.demo.network import ServerProcess
from vidscore_server.domain.administration import initialise

STORE_MODE = 0o600


def new_site(path: Path) -> str:
    """Create a store in a file if it does not exist; returns the organiser's secret.

    All sites that are made so share one organiser's token and one secret of the site.
    """
    if path.exists():
        return initialise(path).secret
    store, secret = _made()
    path.touch(STORE_MODE)
    path.write_bytes(store)
    return secret


@contextmanager
def serving(store: Path, *options: str) -> Iterator[tuple[ServerProcess, str]]:
    """A server of its own process over a new site, and its organiser's secret."""
    secret = new_site(store)
    with ServerProcess("--workers", "1", "--store", str(store), *options) as server:
        yield server, secret


def forget_site() -> None:
    """Create the next site from scratch, with other secrets."""
    _made.cache_clear()


@cache
def _made() -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        secret = initialise(path).secret
        return path.read_bytes(), secret
