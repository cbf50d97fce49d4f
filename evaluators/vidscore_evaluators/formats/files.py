"""Get bytes out of files, with one clear error for each way in which that can fail."""

from __future__ import annotations

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
    if not path.exists():
        raise _error(path, "no such file", expected)
    if not path.is_file():
        raise _error(path, "a folder" if path.is_dir() else "no regular file", expected)


def require_folder(path: Path, expected: str) -> None:
    """Refuse what is no folder.

    Raises:
        InputError: If nothing is there, or something else.
    """
    if not path.exists():
        raise _error(path, "no such folder", expected)
    if not path.is_dir():
        raise _error(path, "a file", expected)


def _error(path: Path, found: str, expected: str) -> InputError:
    return InputError([Fault(found, expected, source=str(path))])


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
