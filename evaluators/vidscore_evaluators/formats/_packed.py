"""Files within zip and gzip, which are never unpacked to a disk.

An archive states the sizes of its files, and no more bytes are unpacked. Of gzip, only as much is
read as `ReadLimits` allows.
"""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, ClassVar

from msgspec import Struct

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._tree_paths import (
    GZIP_HEAD,
    MOST_FOLDERS_DEEP,
    ZIP_HEADS,
    FileTree,
    HeldContent,
    Parts,
    TreePath,
    folders_of,
)
from vidscore_evaluators.formats.source import ReadLimits

_CHUNK_BYTES = 1 << 20
_LISTED_BYTES_PER_FILE = 1000
_LEFT_ALONE = "__MACOSX"
_OFFICE = ("[Content_Types].xml",)
_END_OF_ZIP = b"PK\x05\x06"
_END_OF_LARGE_ZIP = b"PK\x06\x06"

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, ValueError, OverflowError, RuntimeError),
)
"""Exceptions of the standard library for broken packed data."""


class _ZippedContent(Struct, frozen=True, eq=False):
    """A file of an archive."""

    archive: zipfile.ZipFile
    info: zipfile.ZipInfo
    shown: str
    state: ClassVar[str] = ""

    @property
    def byte_count(self) -> int:
        """Its size, unpacked."""
        return self.info.file_size

    def read(self, count: int = -1) -> bytes:
        """Read all of it, or its first bytes.

        Raises:
            InputError: If it cannot be unpacked.
        """
        with _unpacking(self.shown), self.archive.open(self.info) as file:
            return file.read(count)

    def opened(self) -> None:
        """None: reading a part means unpacking everything before it."""


@contextmanager
def unpacked(
    file: BinaryIO, shown: str, name: str, place: Path | None, limits: ReadLimits
) -> Iterator[TreePath]:
    """The content of a file, packed or not.

    Args:
        file: The file, which is closed at the end.
        shown: Its name in messages.
        name: Its own name.
        place: Its path on a disk, if it has one.
        limits: Limits of size.

    Raises:
        InputError: If it cannot be unpacked, or is too large; also raised inside the context.
    """
    with file:
        file.seek(0)
        head = file.read(4)
        file.seek(0)
        if head in ZIP_HEADS:
            with _unpacking(shown):
                _check_list(file, limits)
                archive = zipfile.ZipFile(file)
            with archive:
                name = name.removesuffix(".zip")
                files, folders = _contents(archive, shown, limits)
                yield TreePath(FileTree(shown, name, place, files, folders, is_archive=True))
            return
        if head.startswith(GZIP_HEAD):
            name = name.removesuffix(".gz")
            with _unpacking(shown), gzip.GzipFile(fileobj=file) as unzipped:
                data = bounded_bytes(unzipped, limits.maximum_file_bytes, shown)
        else:
            data = file.read()
        yield TreePath(FileTree(shown, name, place, {(): HeldContent(data)}))


def _contents(
    archive: zipfile.ZipFile, shown: str, limits: ReadLimits
) -> tuple[Mapping[Parts, _ZippedContent], Mapping[Parts, Sequence[str]]]:
    """Files of an archive by path, and the names in its folders."""
    infos = archive.infolist()
    _check_amount(infos, shown, limits)
    files: dict[Parts, _ZippedContent] = {}
    named: set[Parts] = set()
    for info in infos:
        parts = tuple(part for part in info.filename.split("/") if part not in ("", "."))
        if not parts or parts[0] == _LEFT_ALONE:
            continue
        problem = "a file that occurs twice" if parts in files else _problem(info, parts)
        if problem:
            raise InputError([Fault(problem, "", source=f"{shown}/{info.filename[:200]}")])
        if info.is_dir():
            named.add(parts)
        else:
            files[parts] = _ZippedContent(archive, info, "/".join((shown, *parts)))
    folders = folders_of(files, named)
    twice = files.keys() & folders
    if twice:
        source = "/".join((shown, *min(twice)))
        raise InputError([Fault("a file and a folder of one name", "", source=source)])
    if _OFFICE in files:
        raise InputError([Fault("an Office document", "", source=shown, advice="save it as CSV")])
    return files, folders


def _check_amount(infos: Sequence[zipfile.ZipInfo], shown: str, limits: ReadLimits) -> None:
    """Refuse an archive with too many files or bytes."""
    total = sum(info.file_size for info in infos)
    faults = []
    if len(infos) > limits.maximum_files:
        expected = f"at most maximum_files = {limits.maximum_files}"
        faults.append(Fault(f"{len(infos)} files", expected, source=shown))
    if total > limits.maximum_unpacked_bytes:
        expected = f"at most maximum_unpacked_bytes = {limits.maximum_unpacked_bytes}"
        faults.append(Fault(f"{total} bytes when unpacked", expected, source=shown))
    if faults:
        raise InputError(faults)


def _problem(info: zipfile.ZipInfo, parts: Parts) -> str | None:
    """Why a file of an archive is not read; None if it is allowed."""
    if ".." in parts or info.filename.startswith("/") or "\\" in info.filename:
        return "a name that leads out of the archive"
    if len(parts) > MOST_FOLDERS_DEEP:
        return f"a file more than {MOST_FOLDERS_DEEP} folders deep"
    if info.flag_bits & 1:
        return "an encrypted file"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link, which is not followed"
    return None


def _check_list(file: BinaryIO, limits: ReadLimits) -> None:
    """Refuse an archive with a huge list of files, which `ZipFile` would load all at once."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - (1 << 16) - 100))
    tail = file.read()
    file.seek(0)
    ends = ((_END_OF_ZIP, slice(12, 16)), (_END_OF_LARGE_ZIP, slice(40, 48)))
    listed = [
        int.from_bytes(tail[tail.rfind(mark) :][where], "little")
        for mark, where in ends
        if mark in tail
    ]
    if min(listed, default=0) > limits.maximum_files * _LISTED_BYTES_PER_FILE:
        raise zipfile.BadZipFile(f"a list of files of {min(listed)} bytes")


def bounded_bytes(file: BinaryIO | gzip.GzipFile, most: int, shown: str) -> bytes:
    """All bytes of a file of unknown length.

    Args:
        file: The file.
        most: Maximum number of bytes.
        shown: Its name in messages.

    Raises:
        InputError: If there are more.
    """
    content = io.BytesIO()
    while chunk := file.read(_CHUNK_BYTES):
        content.write(chunk)
        if content.tell() > most:
            expected = f"at most maximum_file_bytes = {most}"
            raise InputError([Fault("more bytes", expected, source=shown)])
    return content.getvalue()


@contextmanager
def _unpacking(shown: str) -> Iterator[None]:
    """Turn errors of unpacking into an error about the file."""
    try:
        yield
    except EOFError:
        found = "packed data that ends too early"
    except NotImplementedError as error:
        found = f"data packed in an unknown way ({error})"
    except _BROKEN as error:
        found = f"broken packed data ({error})"
    else:
        return
    raise InputError([Fault(found, "", source=shown)])
