"""The server that the examples of the documentation talk to."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from vidscore_cli.demo.network import ServerProcess
from vidscore_server.domain.administration import initialise


class DocsServer(NamedTuple):
    """Address of a server that hosts benchmarks, and the secret of an organiser's token."""

    address: str
    token: str


@contextmanager
def docs_server() -> Iterator[DocsServer]:
    """Run a server with a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        token = initialise(store).secret
        with ServerProcess("--workers", "1", "--store", str(store)) as process:
            yield DocsServer(process.address, token)
