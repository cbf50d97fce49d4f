"""Errors about places that cannot be written, all in the same words."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def about(path: Path | str, error: OSError) -> OSError:
    """The error of a path that cannot be written; for a temporary file, of what it replaces."""
    return OSError(error.errno, f"cannot be written: {(error.strerror or '').lower()}", str(path))


@contextmanager
def naming_stdout() -> Iterator[None]:
    """Name standard output in errors of writing that name no file.

    Raises:
        BrokenPipeError: If its reader has stopped, or its terminal is closed.
        OSError: If it cannot be written.
    """
    try:
        yield
        sys.stdout.flush()  # what a buffer has taken is not yet written
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.filename is not None:
            raise
        if error.errno == errno.EIO and stat.S_ISCHR(os.fstat(sys.stdout.fileno()).st_mode):
            raise BrokenPipeError from None
        raise about("standard output", error) from None
