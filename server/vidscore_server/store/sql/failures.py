"""What a database's failures mean; what is told never quotes what was stored."""

from __future__ import annotations

import logging
from typing import Any

from sqlalchemy import exc

from vidscore_server.logs import log
from vidscore_server.store.contract import StoreError, StoreFullError

_FULL = ("database or disk is full", "No space left")
_DISK_FULL = "53100"
_BUSY = frozenset({"40001", "40P01", "53300", "55P03", "57014"})
"""SQLSTATEs of PostgreSQL that go with time: locks, deadlocks, timeouts, too many connections."""

GONE = "the database does not answer at the moment: try again"
BUSY = "the database was too busy to answer in time: try again"


def is_lost(error: Exception) -> bool:
    """Whether the connection, and with it a whole group of commands, is gone."""
    return isinstance(error, exc.DBAPIError) and (error.connection_invalidated or _is_full(error))


def store_error(error: BaseException) -> StoreError:
    """What a failure of the database, or of the disk below it, is to whoever asked."""
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    found = _store_error(error, original)
    log(logging.WARNING, "database failed", reason=str(found), state=_state(original))
    return found


def _store_error(error: BaseException, original: Any) -> StoreError:
    state = _state(original)
    if _is_full(error):
        return StoreFullError("the disk is full: make room, then try again")
    if state in _BUSY or isinstance(error, exc.TimeoutError):
        return StoreError(BUSY)
    if state is None and not hasattr(original, "diag"):
        return StoreError(f"the store failed: {original}")
    if (
        state is None
        or getattr(error, "connection_invalidated", False)
        or state[:2] in {"08", "57"}
    ):
        return StoreError(GONE)
    return StoreError(f"the store failed: {original.diag.message_primary}")


def _is_full(error: BaseException) -> bool:
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    return _state(original) == _DISK_FULL or any(text in str(error) for text in _FULL)


def _state(original: Any) -> str | None:
    """PostgreSQL's code of what has happened, where it said one."""
    state: str | None = getattr(original, "sqlstate", None)
    return state
