"""Bytes of files: on a disk, in zip and gzip, from pipes and standard input.

What is packed has paths like those of a disk, and nothing is unpacked to a disk. It is bounded by
`ReadLimits`: an archive states the sizes of its files, and not a byte more is unpacked; of gzip and
pipes only so much is read.
"""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.names import closest_name

STANDARD_INPUT = Path("-")
"""The path of standard input."""

HEAD_BYTES = 4096
"""First bytes of a file by which its format is recognised."""

GZIP_HEAD = b"\x1f\x8b"
ZIP_HEADS = (b"PK\x03\x04", b"PK\x05\x06")

_CHUNK_BYTES = 1 << 20
_LISTED_BYTES_PER_FILE = 1000
_MOST_FOLDERS_DEEP = 64
_LEFT_ALONE = "__MACOSX"
_OFFICE = ("[Content_Types].xml",)
_END_OF_ZIP = b"PK\x05\x06"
_END_OF_LARGE_ZIP = b"PK\x06\x06"

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, ValueError, OverflowError, RuntimeError),
)
"""What the standard library raises for broken packed data."""

_Parts = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Tree:
    """What was packed.

    Attributes:
        shown: Its name in messages.
        own_name: Name of what is packed in it.
        place: Its path on a disk; None for standard input.
        files: Content by path; the path of a single file is empty.
        folders: Names in each folder by path.
        archive: What holds the content of its files.
    """

    shown: str
    own_name: str
    place: Path | None
    files: Mapping[_Parts, bytes | zipfile.ZipInfo]
    folders: Mapping[_Parts, Sequence[str]] = field(default_factory=dict)
    archive: zipfile.ZipFile | None = None


@dataclass(frozen=True)
class PackedPath:
    """A file or folder within something packed, with the part of the interface of `Path` in use."""

    _tree: _Tree
    _parts: _Parts = ()

    def __str__(self) -> str:
        """The path of what is packed, and the path within it."""
        return "/".join((self._tree.shown, *self._parts))

    def __truediv__(self, key: str, /) -> PackedPath:
        """A path below this one."""
        return PackedPath(self._tree, (*self._parts, *PurePosixPath(key).parts))

    @property
    def name(self) -> str:
        """Last part; at the root, the name of what is packed in it."""
        return self._parts[-1] if self._parts else self._tree.own_name

    @property
    def stem(self) -> str:
        """Last part without its suffix."""
        return PurePosixPath(self.name).stem

    @property
    def suffix(self) -> str:
        """The suffix, with its dot."""
        return PurePosixPath(self.name).suffix

    @property
    def parent(self) -> InputPath:
        """Its folder; at the root, the folder on the disk."""
        if self._parts:
            return PackedPath(self._tree, self._parts[:-1])
        return self if self._tree.place is None else self._tree.place.parent

    def absolute(self) -> PackedPath:
        """Itself."""
        return self

    def exists(self) -> bool:
        """Whether something is there."""
        return self.is_file() or self.is_dir()

    def is_file(self) -> bool:
        """Whether a file is there."""
        return self._parts in self._tree.files

    def is_dir(self) -> bool:
        """Whether a folder is there."""
        return self._parts in self._tree.folders

    def iterdir(self) -> Iterator[PackedPath]:
        """Entries of a folder."""
        return (self / name for name in self._tree.folders.get(self._parts, ()))

    def byte_count(self) -> int:
        """Size of a file, unpacked."""
        content = self._tree.files[self._parts]
        return len(content) if isinstance(content, bytes) else content.file_size

    def read_bytes(self, count: int = -1) -> bytes:
        """The content of a file, or the first bytes of it.

        Raises:
            InputError: If it cannot be unpacked.
        """
        content = self._tree.files[self._parts]
        if isinstance(content, bytes):
            return content if count < 0 else content[:count]
        archive = cast("zipfile.ZipFile", self._tree.archive)
        with _unpacking(str(self)), archive.open(content) as file:
            return file.read(count)


InputPath = Path | PackedPath
"""Where a file or folder of an input is."""


def opened(path: Path, limits: ReadLimits) -> AbstractContextManager[InputPath]:
    """Open a path for readers: the path itself, or what is packed in it or read from it.

    Args:
        path: File, folder, pipe, or `STANDARD_INPUT`; gzip and zip are unpacked.
        limits: How much to take in.

    Raises:
        InputError: If it cannot be unpacked, or is too much; also inside the context.
    """
    if path == STANDARD_INPUT:
        return _streamed(sys.stdin.buffer, "standard input", "stdin", None, limits)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return nullcontext(path)
        file = path.open("rb")
    except OSError:
        return nullcontext(path)  # its reader will say why
    if not stat.S_ISREG(mode):
        return _streamed(file, str(path), path.name, path, limits)
    head = file.read(4)
    if head.startswith(GZIP_HEAD) or head in ZIP_HEADS:
        return _unpacked(file, str(path), path.name, path, limits)
    file.close()
    return nullcontext(path)


def entrances(path: InputPath) -> list[InputPath]:
    """Where the data may begin: the path and, in an archive, its only entry, and so on inwards."""
    found = [path]
    while isinstance(path, PackedPath):
        entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
        if len(entries) != 1:
            break
        path = entries[0]
        found.append(path)
    return found


def read_bytes(path: InputPath, expected: str, limits: ReadLimits) -> bytes:
    """The content of a file.

    Args:
        path: The file.
        expected: What it should be, for error messages.
        limits: How large it may be.

    Raises:
        InputError: If it is missing, no file, too large or cannot be read.
    """
    require_file(path, expected, limits)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def require_file(path: InputPath, expected: str, limits: ReadLimits) -> None:
    """Refuse anything but a file that is not too large.

    Args:
        path: The file.
        expected: What it should be, for error messages.
        limits: How large it may be.

    Raises:
        InputError: If it is missing, no file, too large or cannot be looked at.
    """
    if not is_file(path):
        raise _missing(path, "file", expected)
    size = byte_count(path)
    if size > limits.maximum_file_bytes:
        expected = f"at most maximum_file_bytes = {limits.maximum_file_bytes}"
        raise InputError([Fault(f"{size} bytes", expected, source=str(path))])


def byte_count(path: InputPath) -> int:
    """Size of a file, unpacked.

    Raises:
        InputError: If it cannot be looked at.
    """
    try:
        return path.byte_count() if isinstance(path, PackedPath) else path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None


def read_head(path: InputPath, expected: str) -> bytes:
    """The first bytes of a file.

    Raises:
        InputError: If it is missing, no file or cannot be read.
    """
    if not is_file(path):
        raise _missing(path, "file", expected)
    try:
        if isinstance(path, PackedPath):
            return path.read_bytes(HEAD_BYTES)
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from None


def require_folder(path: InputPath, expected: str) -> None:
    """Refuse anything but a folder.

    Raises:
        InputError: If nothing is there, or something else.
    """
    if not is_folder(path):
        raise _missing(path, "folder", expected)


def is_file(path: InputPath) -> bool:
    """Whether a file is there.

    Raises:
        InputError: If that cannot be known.
    """
    try:
        return path.is_file()
    except OSError as error:
        raise _unreadable(path, error) from None


def is_folder(path: InputPath) -> bool:
    """Whether a folder is there.

    Raises:
        InputError: If that cannot be known.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise _unreadable(path, error) from None


def visible_entries(folder: InputPath) -> list[InputPath]:
    """Entries of a folder by name, without hidden ones.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise _unreadable(folder, error) from None
    return sorted(entries, key=lambda path: path.name)


def text_files(folder: InputPath) -> list[InputPath]:
    """The visible ``.txt`` files of a folder, by name."""
    entries = visible_entries(folder)
    return [entry for entry in entries if entry.suffix == ".txt" and not is_folder(entry)]


def first_line(head: bytes) -> str:
    """First line of a text, without a byte order mark; empty where there is none."""
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return lines[0] if lines else ""


def _missing(path: InputPath, kind: str, expected: str) -> InputError:
    """Nothing of that kind is there: something else is, or nothing, with advice on what is near."""
    if kind == "file" and is_folder(path):
        return InputError([Fault("a folder", expected, source=str(path))])
    if kind == "folder" and path.exists():
        return InputError([Fault("a file", expected, source=str(path))])
    try:
        names = [entry.name for entry in path.parent.iterdir()]
        close = closest_name(path.name, names, cutoff=0.75)
        advice = close and f"did you mean {path.parent / close}?"
    except OSError:
        advice = f"there is no folder {path.parent}"
    return InputError([Fault(f"{kind} not found", "", source=str(path), advice=advice)])


def _unreadable(path: InputPath | str, error: OSError) -> InputError:
    """An error of the system in its own words: permission denied, input/output error."""
    return InputError([Fault((error.strerror or str(error)).lower(), "", source=str(path))])


# --- pipes and archives ----------------------------------------------------------------------


@contextmanager
def _streamed(
    file: BinaryIO, shown: str, name: str, place: Path | None, limits: ReadLimits
) -> Iterator[InputPath]:
    """The content of a pipe."""
    try:
        data = _bounded(file, limits.maximum_file_bytes, shown)
    except OSError as error:
        raise _unreadable(shown, error) from None
    finally:
        if place is not None:
            file.close()
    with _unpacked(io.BytesIO(data), shown, name, place, limits) as inside:
        yield inside


@contextmanager
def _unpacked(
    file: BinaryIO, shown: str, name: str, place: Path | None, limits: ReadLimits
) -> Iterator[InputPath]:
    """The content of a file, packed or not."""
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
                yield PackedPath(_Tree(shown, name, place, *_contents(archive, shown, limits)))
            return
        if head.startswith(GZIP_HEAD):
            name = name.removesuffix(".gz")
            with _unpacking(shown), gzip.GzipFile(fileobj=file) as unzipped:
                data = _bounded(unzipped, limits.maximum_file_bytes, shown)
        else:
            data = file.read()
        yield PackedPath(_Tree(shown, name, place, {(): data}))


def _contents(
    archive: zipfile.ZipFile, shown: str, limits: ReadLimits
) -> tuple[Mapping[_Parts, zipfile.ZipInfo], Mapping[_Parts, Sequence[str]], zipfile.ZipFile]:
    """Files and folders of an archive, and the archive itself."""
    infos = archive.infolist()
    _check_amount(infos, shown, limits)
    files: dict[_Parts, zipfile.ZipInfo] = {}
    folders: dict[_Parts, list[str]] = {(): []}
    for info in infos:
        parts = tuple(part for part in info.filename.split("/") if part not in ("", "."))
        if not parts or parts[0] == _LEFT_ALONE:
            continue
        problem = "a file that stands twice" if parts in files else _problem(info, parts)
        if problem:
            raise InputError([Fault(problem, "", source=f"{shown}/{info.filename[:200]}")])
        if not info.is_dir():
            files[parts] = info
        for count in range(len(parts) + info.is_dir()):
            folders.setdefault(parts[:count], [])
    for path in sorted({*files, *folders} - {()}):
        folders[path[:-1]].append(path[-1])
    twice = files.keys() & folders
    if twice:
        source = "/".join((shown, *min(twice)))
        raise InputError([Fault("a file and a folder of one name", "", source=source)])
    if _OFFICE in files:
        raise InputError([Fault("an Office document", "", source=shown, advice="save it as CSV")])
    return files, folders, archive


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


def _problem(info: zipfile.ZipInfo, parts: _Parts) -> str | None:
    """Why a file of an archive is not read; None where it may be."""
    if ".." in parts or info.filename.startswith("/") or "\\" in info.filename:
        return "a name that leads out of the archive"
    if len(parts) > _MOST_FOLDERS_DEEP:
        return f"a file more than {_MOST_FOLDERS_DEEP} folders deep"
    if info.flag_bits & 1:
        return "an encrypted file"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link, which is not followed"
    return None


def _check_list(file: BinaryIO, limits: ReadLimits) -> None:
    """Refuse an archive with a huge list of files, which `ZipFile` would load at once."""
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


def _bounded(file: BinaryIO | gzip.GzipFile, most: int, shown: str) -> bytes:
    """All bytes of a file of unknown length."""
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
