"""Bytes of files: on a disk, in zip and gzip, remote, from pipes and standard input.

Readers use the same paths for all of them.
"""

from __future__ import annotations

import io
import stat
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._tree_paths import (
    GZIP_HEAD,
    ZIP_HEADS,
    FileTree,
    Parts,
    TreePath,
    folders_of,
)
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.names import closest_name
from vidscore_evaluators.remote_files import DataPath, RemoteFile, RemotePath, listed_files

STANDARD_INPUT = Path("-")
"""The path of standard input."""

SEQUENCE_INDEX = "_sequences.csv"
"""Name of the index of a folder: see `vidscore_evaluators.formats._sequence_index`."""

HEAD_BYTES = 4096
"""Number of first bytes of a file by which its format is recognised."""

LEAST_SIDE_BYTES, MOST_BYTES_AT_ONCE = 1 << 20, 1 << 28
"""Minimum bytes per side for reading both at once, and maximum bytes of both together."""

InputPath = Path | TreePath
"""Path of a file or folder of an input."""


def opened(path: DataPath, limits: ReadLimits) -> AbstractContextManager[InputPath]:
    """Open a path for readers: the path itself, or its unpacked or received content.

    Args:
        path: File, folder, pipe, remote, or `STANDARD_INPUT`; gzip and zip are unpacked.
        limits: Limits of size.

    Raises:
        InputError: If it cannot be unpacked, or is too large; also raised inside the context.
    """
    if isinstance(path, RemotePath):
        return _found(path, limits)
    if path == STANDARD_INPUT:
        return _streamed(sys.stdin.buffer, "standard input", "stdin", None, limits)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            return nullcontext(path)
        file = path.open("rb")
    except OSError:
        return nullcontext(path)  # its reader reports the reason
    if not stat.S_ISREG(mode):
        return _streamed(file, str(path), path.name, path, limits)
    packed = False
    with suppress(OSError):  # its reader reports the reason
        packed = _is_packed(file.read(4))
    if packed:
        from vidscore_evaluators.formats._packed import unpacked  # noqa: PLC0415 - few are

        return unpacked(file, str(path), path.name, path, limits)
    file.close()
    return nullcontext(path)


def entrances(path: InputPath) -> list[InputPath]:
    """Paths at which the data may begin: the path and, in archives, the only entry, and so on."""
    found = [path]
    while isinstance(path, TreePath) and path.is_in_archive:
        entries = [entry for entry in path.iterdir() if not entry.name.startswith(".")]
        if len(entries) != 1:
            break
        path = entries[0]
        found.append(path)
    return found


def find_index(root: InputPath) -> InputPath | None:
    """Path of the index of a folder, or of the only folder of an archive; None if there is none."""
    places = (inner / SEQUENCE_INDEX for inner in entrances(root) if is_folder(inner))
    return next(filter(is_file, places), None)


def read_bytes(path: InputPath, expected: str, limits: ReadLimits) -> bytes:
    """The content of a file.

    Args:
        path: The file.
        expected: What it should be, for error messages.
        limits: Limits of its size.

    Raises:
        InputError: If it is missing, not a file, too large or unreadable.
    """
    require_file(path, expected, limits)
    try:
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def read_at(path: DataPath, expected: str, limits: ReadLimits) -> bytes:
    """The content of a file on a disk or at an address, as from `read_bytes`.

    Raises:
        InputError: As for `read_bytes`.
    """
    if not isinstance(path, RemotePath):
        return read_bytes(path, expected, limits)
    files = listed_files(path, limits.maximum_files)
    return read_bytes(_tree_of(path, files), expected, limits)


def require_file(
    path: InputPath, expected: str, limits: ReadLimits, advice: str | None = None
) -> None:
    """Refuse anything but a file within the limits.

    Args:
        path: The file.
        expected: What it should be, for error messages.
        limits: Limits of its size.
        advice: What to do with a larger one.

    Raises:
        InputError: If it is missing, not a file, too large or inaccessible.
    """
    if not is_file(path):
        raise _missing(path, "file", expected)
    size = byte_count(path)
    if size > limits.maximum_file_bytes:
        expected = f"at most maximum_file_bytes = {limits.maximum_file_bytes}"
        raise InputError([Fault(f"{size} bytes", expected, source=str(path), advice=advice)])


def byte_count(path: InputPath) -> int:
    """Size of a file, unpacked.

    Raises:
        InputError: If it is inaccessible.
    """
    try:
        return path.byte_count() if isinstance(path, TreePath) else path.stat().st_size
    except OSError as error:
        raise _unreadable(path, error) from None


def are_worth_a_thread_each(*places: object) -> bool:
    """Whether reading these files in parallel saves time: all are plain, and none is small.

    Both together must not be too large for memory, either.
    """
    total = 0
    for place in places:
        try:
            found = place.stat() if isinstance(place, Path) else None
        except OSError:
            return False
        if found is None or not stat.S_ISREG(found.st_mode) or found.st_size < LEAST_SIDE_BYTES:
            return False
        total += found.st_size
    return total <= MOST_BYTES_AT_ONCE


def read_head(path: InputPath, expected: str) -> bytes:
    """The first bytes of a file.

    Raises:
        InputError: If it is missing, not a file or unreadable.
    """
    try:
        if not path.is_file():
            raise _missing(path, "file", expected)
        if isinstance(path, TreePath):
            return path.read_bytes(HEAD_BYTES)
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from None


def require_folder(path: InputPath, expected: str) -> None:
    """Refuse anything but a folder.

    Raises:
        InputError: If nothing is there, or not a folder.
    """
    if not is_folder(path):
        raise _missing(path, "folder", expected)


def is_file(path: InputPath) -> bool:
    """Whether the path is a file.

    Raises:
        InputError: If that cannot be determined.
    """
    try:
        return path.is_file()
    except OSError as error:
        raise _unreadable(path, error) from None


def is_folder(path: InputPath) -> bool:
    """Whether the path is a folder.

    Raises:
        InputError: If that cannot be determined.
    """
    try:
        return path.is_dir()
    except OSError as error:
        raise _unreadable(path, error) from None


def is_plain(path: Path) -> bool:
    """Whether a path is an ordinary folder or file: neither packed, nor a pipe.

    Raises:
        InputError: If that cannot be determined.
    """
    return is_folder(path) or (is_file(path) and not _is_packed(read_head(path, "")[:4]))


def visible_entries(folder: InputPath) -> list[InputPath]:
    """Entries of a folder, sorted by name, without hidden ones.

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


def text_files_at(path: InputPath, folder: str) -> list[InputPath]:
    """A file alone, or the text files of a folder, or of the one that it holds by a name."""
    if not is_folder(path):
        return [path]
    return text_files(path / folder if is_folder(path / folder) else path)


def first_head(files: Iterable[InputPath], expected: str) -> bytes:
    """The first bytes of the first file that is not blank; empty if all are blank."""
    heads = (read_head(file, expected) for file in files)
    return next((head for head in heads if head.strip()), b"")


def first_line(head: bytes) -> str:
    """First line of a text, without a byte order mark; empty if there is none."""
    lines = head.decode("utf-8-sig", errors="replace").splitlines()
    return lines[0] if lines else ""


def _is_packed(head: bytes) -> bool:
    """Whether the first bytes of a file are those of zip or gzip."""
    return head.startswith((GZIP_HEAD, *ZIP_HEADS))


def _missing(path: InputPath, kind: str, expected: str) -> InputError:
    """Error that nothing of that kind is there, with what is there instead or named similarly."""
    found = ""
    if path.exists():
        other = "a folder" if is_folder(path) else "a pipe or device"
        found = "a file" if kind == "folder" else other
    elif isinstance(path, Path) and path.is_symlink():
        found = "a link that leads nowhere"
    if found:
        return InputError([Fault(found, expected, source=str(path))])
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


@contextmanager
def _streamed(
    file: BinaryIO, shown: str, name: str, place: Path | None, limits: ReadLimits
) -> Iterator[InputPath]:
    """The content of a pipe."""
    from vidscore_evaluators.formats._packed import bounded_bytes, unpacked  # noqa: PLC0415

    try:
        data = bounded_bytes(file, limits.maximum_file_bytes, shown)
    except OSError as error:
        raise _unreadable(shown, error) from None
    finally:
        if place is not None:
            file.close()
    with unpacked(io.BytesIO(data), shown, name, place, limits) as inside:
        yield inside


def _found(path: RemotePath, limits: ReadLimits) -> AbstractContextManager[InputPath]:
    """The data at an address: its files are listed once, and read on demand."""
    files = listed_files(path, limits.maximum_files)
    only = files.get(())
    if only is not None and _is_packed(only.read(4)):
        from vidscore_evaluators.formats._packed import unpacked  # noqa: PLC0415 - few are

        return unpacked(io.BufferedReader(only.opened()), str(path), path.name, None, limits)
    return nullcontext(_tree_of(path, files))


def _tree_of(path: RemotePath, files: Mapping[Parts, RemoteFile]) -> TreePath:
    folders = {} if () in files else folders_of(files)
    return TreePath(FileTree(str(path), path.name, None, files, folders))
