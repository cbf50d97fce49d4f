"""A plug-in for pytest: compiled loops get their arrays between pages that nobody may touch.

A loop that reads or writes beside an array ends the process, where it would otherwise go unseen
most of the time. Each call is made twice, with the arrays at the beginning of what is allowed and
at its end, and must do the same in both places. `make test-loops` runs tests so.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import SupportsIndex

import numpy as np
import pytest

from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.kernels._library import Kernel

Argument = AnyArray | SupportsIndex

_PAGE = mmap.PAGESIZE
_NO_ACCESS = 0
_LIBC = ctypes.CDLL(None, use_errno=True)
_unguarded = Kernel.__call__


def pytest_configure(config: pytest.Config) -> None:
    """Guard every call from now on."""
    del config
    install()


def install() -> None:
    """Let every function of the library be called with guarded arrays."""
    Kernel.__call__ = _guarded  # type: ignore[assignment, method-assign]


def _guarded(function: Kernel, *arguments: Argument) -> int:
    first_found, first = _called(function, arguments, at_end=False)
    found, copies = _called(function, arguments, at_end=True)
    assert found == first_found
    for argument, copy, other in zip(arguments, copies, first, strict=True):
        if isinstance(argument, np.ndarray) and argument.flags.writeable and _fits(argument):
            assert isinstance(copy, np.ndarray)
            assert isinstance(other, np.ndarray)
            assert copy.tobytes() == other.tobytes()
            argument[...] = copy
    return found


def _called(
    function: Kernel, arguments: tuple[Argument, ...], *, at_end: bool
) -> tuple[int, list[Argument]]:
    """What a function finds, and the copies that it has been given."""
    copies = [
        _copy(argument, at_end)
        if isinstance(argument, np.ndarray) and _fits(argument)
        else argument
        for argument in arguments
    ]
    return _unguarded(function, *copies), copies


def _fits(array: AnyArray) -> bool:
    """Whether a copy has the same layout; a function refuses what has another one."""
    return array.flags.c_contiguous and array.flags.aligned and not array.dtype.hasobject


def _copy(array: AnyArray, at_end: bool) -> AnyArray:
    """A copy that has a page before it or behind it that may not be touched."""
    pages = -(-array.nbytes // _PAGE)
    memory = mmap.mmap(-1, (pages + 2) * _PAGE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    offset = (1 + pages) * _PAGE - array.nbytes if at_end else _PAGE
    copy: AnyArray = np.ndarray(array.shape, array.dtype, memory, offset)
    copy[...] = array
    copy.flags.writeable = array.flags.writeable
    for guard in (start, start + (1 + pages) * _PAGE):
        if _LIBC.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(_PAGE), _NO_ACCESS):
            raise OSError(ctypes.get_errno(), "mprotect")
    return copy
