"""Get bytes out of files, with one clear error for each way in which that can fail."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.source import ReadLimits

HEAD_BYTES = 4096
"""First bytes of a file by which its format is recognised."""


def read_bytes(path: Path, expected: str, limits: ReadLimits) -> bytes:
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
        size = path.stat().st_size
        if size > limits.maximum_file_bytes:
            raise _error(
                path, f"{size} bytes", f"at most maximum_file_bytes = {limits.maximum_file_bytes}"
            )
        return path.read_bytes()
    except OSError as error:
        raise _error(path, _reason(error), f"{expected} that can be read") from None


def read_head(path: Path, expected: str) -> bytes:
    """The first bytes of a file.

    Raises:
        InputError: If it is missing, no file or cannot be read.
    """
    require_file(path, expected)
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise _error(path, _reason(error), f"{expected} that can be read") from None


def require_file(path: Path, expected: str) -> None:
    """Refuse what is no file.

    Raises:
        InputError: If nothing is there, or something else.
    """
    if is_file(path, expected):
        return
    if _ask(path, Path.is_dir, expected):
        raise _error(path, "a folder", expected)
    raise _error(path, "no such file", expected)


def require_folder(path: Path, expected: str) -> None:
    """Refuse what is no folder.

    Raises:
        InputError: If nothing is there, or something else.
    """
    if is_folder(path, expected):
        return
    found = "a file" if _ask(path, Path.exists, expected) else "no such folder"
    raise _error(path, found, expected)


def is_file(path: Path, expected: str) -> bool:
    """Whether a file is there.

    Raises:
        InputError: If that cannot be known.
    """
    return _ask(path, Path.is_file, expected)


def is_folder(path: Path, expected: str) -> bool:
    """Whether a folder is there.

    Raises:
        InputError: If that cannot be known.
    """
    return _ask(path, Path.is_dir, expected)


def visible_entries(folder: Path, expected: str) -> list[Path]:
    """What is in a folder, in order, without hidden files.

    Raises:
        InputError: If it cannot be read.
    """
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise _error(folder, _reason(error), f"{expected} that can be read") from None


def _ask(path: Path, question: Callable[[Path], bool], expected: str) -> bool:
    try:
        return question(path)
    except OSError as error:
        raise _error(path, _reason(error), expected) from None


def _error(path: Path, found: str, expected: str) -> InputError:
    return InputError([Fault(found, expected, source=str(path))])


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
