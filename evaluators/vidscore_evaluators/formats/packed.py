"""Files in zip and gzip, pipes and standard input, as paths like those of a disk.

Nothing is unpacked to a disk. What is packed is bounded by `ReadLimits`: an archive says how large
its files are, and not a byte more is unpacked; of gzip and pipes only so much is read.
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
from typing import TYPE_CHECKING, BinaryIO, cast

from vidscore_evaluators.errors import Fault, InputError

if TYPE_CHECKING:  # it needs what is here
    from vidscore_evaluators.formats.source import ReadLimits

STANDARD_INPUT = Path("-")
"""The path that stands for what is piped into the program."""

GZIP_HEAD = b"\x1f\x8b"
ZIP_HEADS = (b"PK\x03\x04", b"PK\x05\x06")

_CHUNK_BYTES = 1 << 20
_LISTED_BYTES_A_FILE = 1000
_MOST_FOLDERS_DEEP = 64
_LEFT_ALONE = "__MACOSX"
_OFFICE = ("[Content_Types].xml",)
_END_OF_ZIP = b"PK\x05\x06"
_END_OF_LARGE_ZIP = b"PK\x06\x06"

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error),
    *(OSError, ValueError, OverflowError, RuntimeError),
)
"""What the standard library raises over bytes that are not what they should be."""

_Parts = tuple[str, ...]


@dataclass(frozen=True, eq=False)
class _Tree:
    """What was packed.

    Attributes:
        shown: What messages call it.
        own_name: Name of what is packed in it.
        place: Where it stands on a disk; None for standard input.
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
    """A file or folder within something that is packed; it has what readers ask of a `Path`."""

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
        """Last part; of the whole, the name of what is packed in it."""
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
        """The folder that it is in; of the whole, the folder on the disk."""
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
        """What is in a folder."""
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
    """What readers can read of a path: itself, or what is packed in it or comes out of it.

    Args:
        path: File, folder, pipe, or `STANDARD_INPUT`; gzip and zip are unpacked.
        limits: How much to take in.

    Raises:
        InputError: If it cannot be unpacked, or is too much; also while what is given is used.
    """
    if path == STANDARD_INPUT:
        return _streamed(sys.stdin.buffer, "standard input", "stdin", None, limits)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return nullcontext(path)
        file = path.open("rb")
    except OSError:
        return nullcontext(path)  # its reader says what is wrong with it
    if not stat.S_ISREG(mode):
        return _streamed(file, str(path), path.name, path, limits)
    head = file.read(4)
    if head.startswith(GZIP_HEAD) or head in ZIP_HEADS:
        return _unpacked(file, str(path), path.name, path, limits)
    file.close()
    return nullcontext(path)


def entrances(path: InputPath) -> list[InputPath]:
    """Where the data may begin: the path and, in an archive, what alone is in it, and so on."""
    found = [path]
    while isinstance(path, PackedPath):
        entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
        if len(entries) != 1:
            break
        path = entries[0]
        found.append(path)
    return found


@contextmanager
def _streamed(
    file: BinaryIO, shown: str, name: str, place: Path | None, limits: ReadLimits
) -> Iterator[InputPath]:
    """All that comes out of a pipe."""
    try:
        data = _bounded(file, limits.maximum_file_bytes, shown)
    except OSError as error:
        raise InputError([Fault((error.strerror or str(error)).lower(), "", shown)]) from None
    finally:
        if place is not None:
            file.close()
    with _unpacked(io.BytesIO(data), shown, name, place, limits) as inside:
        yield inside


@contextmanager
def _unpacked(
    file: BinaryIO, shown: str, name: str, place: Path | None, limits: ReadLimits
) -> Iterator[InputPath]:
    """What is in a file, which may also be packed in no way."""
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


# --- archives --------------------------------------------------------------------------------


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
    """Refuse an archive of too much."""
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
    """Refuse an archive with a huge list of files: `ZipFile` takes it into memory at once."""
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
    if min(listed, default=0) > limits.maximum_files * _LISTED_BYTES_A_FILE:
        raise zipfile.BadZipFile(f"a list of files of {min(listed)} bytes")


# --- bytes -----------------------------------------------------------------------------------


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
    """Turn what goes wrong in unpacking into an error about the file."""
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
