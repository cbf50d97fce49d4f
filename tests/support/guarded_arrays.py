"""A pytest plug-in that passes compiled loops arrays between pages that nobody may access.

A loop that reads or writes outside an array ends the process; otherwise that would mostly go
unnoticed. Each call is made twice, with the arrays at the start and at the end of the accessible
memory, and must do the same both times. `make test-loops` runs tests with this plug-in.
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
    """Make every function of the library run on guarded arrays."""
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
    """The result of a function, and the copies that were passed to it."""
    copies = [
        _copy(argument, at_end)
        if isinstance(argument, np.ndarray) and _fits(argument)
        else argument
        for argument in arguments
    ]
    return _unguarded(function, *copies), copies


def _fits(array: AnyArray) -> bool:
    """Whether a copy would have the same layout; functions refuse other layouts."""
    return array.flags.c_contiguous and array.flags.aligned and not array.dtype.hasobject


def _copy(array: AnyArray, at_end: bool) -> AnyArray:
    """A copy with an inaccessible page before and behind it."""
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
