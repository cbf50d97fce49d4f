"""Get bytes out of files, with one clear error for each way in which that can fail."""

from __future__ import annotations

from collections.abc import Callable

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.packed import InputPath, PackedPath
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.names import closest_name

HEAD_BYTES = 4096
"""First bytes of a file by which its format is recognised."""


def read_bytes(path: InputPath, expected: str, limits: ReadLimits) -> bytes:
    """The content of a file.

    Args:
        path: The file.
        expected: What it should be, for error messages.
        limits: How large it may be.

    Raises:
        InputError: If it is missing, no file, too large or cannot be read.
    """
    require_file(path, expected)
    try:
        size = path.byte_count() if isinstance(path, PackedPath) else path.stat().st_size
        if size > limits.maximum_file_bytes:
            raise _error(
                path, f"{size} bytes", f"at most maximum_file_bytes = {limits.maximum_file_bytes}"
            )
        return path.read_bytes()
    except OSError as error:
        raise _unreadable(path, error) from None


def read_head(path: InputPath, expected: str) -> bytes:
    """The first bytes of a file.

    Raises:
        InputError: If it is missing, no file or cannot be read.
    """
    require_file(path, expected)
    try:
        if isinstance(path, PackedPath):
            return path.read_bytes(HEAD_BYTES)
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise _unreadable(path, error) from None


def require_file(path: InputPath, expected: str) -> None:
    """Refuse what is no file.

    Raises:
        InputError: If nothing is there, or something else.
    """
    if is_file(path):
        return
    if is_folder(path):
        raise _error(path, "a folder", expected)
    raise InputError([Fault("file not found", "", source=str(path), advice=_near(path))])


def require_folder(path: InputPath, expected: str) -> None:
    """Refuse what is no folder.

    Raises:
        InputError: If nothing is there, or something else.
    """
    if is_folder(path):
        return
    if _ask(path.exists, path):
        raise _error(path, "a file", expected)
    raise InputError([Fault("folder not found", "", source=str(path), advice=_near(path))])


def is_file(path: InputPath) -> bool:
    """Whether a file is there.

    Raises:
        InputError: If that cannot be known.
    """
    return _ask(path.is_file, path)


def is_folder(path: InputPath) -> bool:
    """Whether a folder is there.

    Raises:
        InputError: If that cannot be known.
    """
    return _ask(path.is_dir, path)


def visible_entries(folder: InputPath) -> list[InputPath]:
    """What is in a folder, in order, without hidden files.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        entries = [path for path in folder.iterdir() if not path.name.startswith(".")]
    except OSError as error:
        raise _unreadable(folder, error) from None
    return sorted(entries, key=lambda path: path.name)


def _ask(question: Callable[[], bool], path: InputPath) -> bool:
    try:
        return question()
    except OSError as error:
        raise _unreadable(path, error) from None


def _near(path: InputPath) -> str | None:
    """What may have been meant by the path of a file that is not there."""
    try:
        names = [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return f"there is no folder {path.parent}"
    close = closest_name(path.name, names, cutoff=0.75)
    return close and f"did you mean {path.parent / close}?"


def _error(path: InputPath, found: str, expected: str) -> InputError:
    return InputError([Fault(found, expected, source=str(path))])


def _unreadable(path: InputPath, error: OSError) -> InputError:
    """An error of the system in its own words: permission denied, input/output error."""
    return InputError([Fault((error.strerror or str(error)).lower(), "", source=str(path))])
