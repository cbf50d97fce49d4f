"""Results of pure functions of tables of names, kept for the tables that are in use.

A benchmark has thousands of sequences, and each scoring of it sorts and hashes their names. The
tables are tuples that nobody can change: one that was seen is the same the next time.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, TypeVar

Result = TypeVar("Result")

FEWEST_NAMES = 64
"""Names of a table below which a result costs less than looking for it saves."""

MOST_NAMES = 1 << 14
"""Names of a table above which it is not held, because of the memory."""

KEPT = 4
"""Results of a function that are kept: those of a few benchmarks at once."""


def kept_by_table(function: Callable[..., Result]) -> Callable[..., Result]:
    """Keep the last results of a pure function of tuples, by which tuples these are.

    Args:
        function: The function; nobody may modify what it returns.
    """
    kept: dict[tuple[int, ...], tuple[tuple[Any, ...], Result]] = {}
    lock = Lock()

    @wraps(function)
    def call(*tables: tuple[Any, ...]) -> Result:
        if not FEWEST_NAMES <= max(map(len, tables)) <= MOST_NAMES:
            return function(*tables)
        key = tuple(map(id, tables))
        found = kept.get(key)
        if found is not None:
            return found[1]
        result = function(*tables)
        with lock:
            # With the tables, so that no others get their ids.
            kept[key] = tables, result
            while len(kept) > KEPT:
                del kept[next(iter(kept))]
        return result

    return call
