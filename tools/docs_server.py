"""The server that the examples of the documentation talk to."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from vidscore_cli.demo.network import ServerProcess
from vidscore_server.domain.administration import initialise


class DocsServer(NamedTuple):
    """A server that hosts benchmarks.

    Attributes:
        address: Its address.
        token: Secret of an organiser's token.
        site: Address of its site and its HTTP API.
    """

    address: str
    token: str
    site: str = ""


@contextmanager
def docs_server() -> Iterator[DocsServer]:
    """Run a server with a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "store.db"
        token = initialise(store).secret
        site = _free_address()
        options = ("--workers", "1", "--store", str(store), "--web", site)
        with ServerProcess(*options) as process:
            yield DocsServer(process.address, token, site)


def _free_address() -> str:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{listener.getsockname()[1]}"
