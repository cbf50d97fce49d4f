"""Give memory back to the system once it is free.

The C library keeps what was freed for what comes next, in heaps of several threads, and takes
ever larger pieces out of these heaps. Messages and columns of megabytes, gone through in threads,
made a server hold several times what was in use.
"""

from __future__ import annotations

import ctypes

LARGE_BYTES = 1 << 18
"""Pieces from which on memory comes from the system, and goes back to it, alone."""

HEAPS = 2

# Of <malloc.h>.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8


def give_memory_back() -> None:
    """Tell the C library to keep little; one that is not GNU's is left as it is."""
    tune = getattr(ctypes.CDLL(None), "mallopt", None)
    if tune is not None:
        tune(_M_MMAP_THRESHOLD, LARGE_BYTES)
        tune(_M_TRIM_THRESHOLD, LARGE_BYTES)
        tune(_M_ARENA_MAX, HEAPS)
