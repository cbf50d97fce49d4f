"""Files of HTTP servers, including plain ones without range requests, or without an answer."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.remote_files import RemotePath, is_there, listed_files
from vidscore_evaluators.scoring import read

pytest.importorskip("aiohttp")

_HEADER = "sequence,frame,x1,y1,x2,y2\n"
_ROWS = "".join(f"s,{frame},10,10,50,50\n" for frame in range(10_000))


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - its name there
        """Log nothing."""


class _Refusing(_Quiet):
    def do_GET(self) -> None:
        self.send_error(int(self.path.rsplit("/", maxsplit=1)[-1]))

    do_HEAD = do_GET  # noqa: N815 - its name there


@contextmanager
def _serving(folder: Path, handler: type[_Quiet] = _Quiet) -> Iterator[str]:
    """The address of a server of a folder that always sends whole files."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_a_file_of_a_server_without_ranges_is_read_whole(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(_HEADER + _ROWS)
    with _serving(tmp_path) as address:
        assert read(f"{address}/t.csv").object_count == 10_000
        [file] = listed_files(RemotePath(f"{address}/t.csv"), 10).values()
        assert file.read(8) == b"sequence"


def test_a_packed_file_of_a_server_without_ranges_is_refused_with_the_reason(
    tmp_path: Path,
) -> None:
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress((_HEADER + _ROWS).encode(), 0))
    with _serving(tmp_path) as address, pytest.raises(InputError) as caught:
        read(f"{address}/t.csv.gz")
    assert str(caught.value) == (
        f"{address}/t.csv.gz: found a server that sends files whole, expected one that sends parts "
        "of files; copy the file to a disk"
    )


def test_a_file_that_the_server_lacks_is_not_found(tmp_path: Path) -> None:
    with _serving(tmp_path) as address:
        assert not is_there(RemotePath(f"{address}/t.csv"))
        with pytest.raises(InputError, match=r"t\.csv: file or folder not found$"):
            read(f"{address}/t.csv")


def test_a_server_that_does_not_answer_is_reported_as_such() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # It does not listen.
        address = f"http://127.0.0.1:{nobody.getsockname()[1]}/t.csv"
        for ask in (read, lambda path: is_there(RemotePath(path))):
            with pytest.raises(InputError) as caught:
                ask(address)
            assert str(caught.value).startswith(f"{address}: the server does not answer (")


@pytest.mark.parametrize(
    ("status", "said"), [(403, "no permission (403"), (500, "the store cannot be used (500")]
)
def test_a_server_that_refuses_is_reported_with_its_reason(
    tmp_path: Path, status: int, said: str
) -> None:
    with _serving(tmp_path, _Refusing) as address, pytest.raises(InputError) as caught:
        read(f"{address}/{status}")
    assert str(caught.value).startswith(f"{address}/{status}: {said}")
