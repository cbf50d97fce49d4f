"""Keep the memory of arrays that were freed at hand for the next ones.

glibc gives large arrays back to the system as soon as they are freed. Each new one then costs a
page fault for every 4 KiB, which took a fifth of the time of scoring files. Nothing but speed
depends on it.
"""

from __future__ import annotations

import ctypes

# Names and numbers of <malloc.h>.
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3

LARGEST_KEPT_BYTES = 32 << 20
"""Larger arrays are given back when they are freed; glibc allows no more."""

KEPT_BYTES = 256 << 20
"""Free memory that is kept at most, beyond what lies between arrays."""


def keep_freed_memory() -> bool:
    """Have the C library of this process keep what is freed; whether it can."""
    try:
        set_option = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library, which has ways of its own
        return False
    options = ((_M_MMAP_THRESHOLD, LARGEST_KEPT_BYTES), (_M_TRIM_THRESHOLD, KEPT_BYTES))
    return all(set_option(option, value) for option, value in options)
