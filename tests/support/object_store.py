"""An object store with the S3 protocol: moto's server, in a thread."""

from __future__ import annotations

import math
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from tests.support.waiting import TIMEOUT_S

BUCKET = "archive"
KEY = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"}


@contextmanager
def object_store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An empty bucket, with the environment variables that point to it; yields its URL."""
    s3fs = pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        # Otherwise it would have the objects of earlier servers in this process.
        reset = urllib.request.Request(f"{url}/moto-api/reset", method="POST")
        urllib.request.urlopen(reset).close()
        for name, value in KEY.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
        with fresh_connections():
            s3fs.S3FileSystem().mkdir(BUCKET)
            yield url
    finally:
        server.stop()


@contextmanager
def bytes_sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Record the number of bytes that the store sends for each read of content in this context."""
    dispatcher = pytest.importorskip("moto.server").DomainDispatcherApplication
    answer, counts = dispatcher.__call__, list[int]()

    def counted(self: object, environ: dict[str, str], start_response: object) -> list[bytes]:
        parts = list(answer(self, environ, start_response))
        if environ["REQUEST_METHOD"] == "GET":
            counts.append(sum(map(len, parts)))
        return parts

    with monkeypatch.context() as patched:
        patched.setattr(dispatcher, "__call__", counted)
        yield counts


@contextmanager
def fresh_connections() -> Iterator[None]:
    """Make connections with the current environment, and drop them at the end of the context."""
    s3fs = pytest.importorskip("s3fs")
    s3fs.S3FileSystem.clear_instance_cache()
    try:
        yield
    finally:
        s3fs.S3FileSystem.clear_instance_cache()


@contextmanager
def refusing_everybody(url: str) -> Iterator[None]:
    """Make the store require authentication, and reject everyone."""
    _let_in(url, 0)
    try:
        yield
    finally:
        _let_in(url, math.inf)


def _let_in(url: str, requests: float) -> None:
    """Let this many requests in without authentication."""
    request = urllib.request.Request(
        f"{url}/moto-api/reset-auth", str(requests).encode(), {"Content-Type": "text/plain"}
    )
    with urllib.request.urlopen(request, timeout=TIMEOUT_S):
        pass
