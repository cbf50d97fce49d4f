"""Temporary files of the server, whose disk may be full, and may differ from the store's."""

from __future__ import annotations

import errno
import logging
import tempfile
from contextlib import suppress

from vidscore_server.logs import log, places_of
from vidscore_server.store.errors import StoreFullError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def find_folder() -> None:
    """Find the folder of temporary files at the start, because none is found on a full disk."""
    with suppress(FileNotFoundError):
        tempfile.gettempdir()


def told(error: BaseException) -> BaseException:
    """The error to report: a full disk is reported like the store's full disk.

    Outside the store, a call writes only temporary files.
    """
    if not isinstance(error, OSError) or error.errno not in _FULL:
        return error
    folder, places = tempfile.tempdir, places_of(error)
    log(logging.WARNING, "temporary files failed", folder=folder, places=places)
    return StoreFullError("the disk of temporary files is full: make room, then try again")
