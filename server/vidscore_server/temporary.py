"""Temporary files of the server, whose disk may be full: another one than the store's, perhaps."""

from __future__ import annotations

import errno
import logging
import tempfile
from contextlib import suppress

from vidscore_server.logs import log, places_of
from vidscore_server.store.errors import StoreFullError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def find_folder() -> None:
    """Find the folder of temporary files while there is room: on a full disk none is found."""
    with suppress(FileNotFoundError):
        tempfile.gettempdir()


def told(error: BaseException) -> BaseException:
    """An error as it is told: that of a full disk as the store tells of its own.

    What a call writes beside the store are temporary files alone.
    """
    if not isinstance(error, OSError) or error.errno not in _FULL:
        return error
    folder, places = tempfile.tempdir, places_of(error)
    log(logging.WARNING, "temporary files failed", folder=folder, places=places)
    return StoreFullError("the disk of temporary files is full: make room, then try again")
