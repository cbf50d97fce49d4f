"""Load the compiled loops, and give their functions Python's shape."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from vidscore_evaluators.arrays import AnyArray

LIBRARY = Path(__file__).with_name("loops.so")

Function = Callable[..., int]
"""Takes arrays and whole numbers, gives a whole number."""


def compiled(name: str, *columns: type[np.generic] | type[int]) -> Function:
    """A function of the library.

    Args:
        name: Its name in C.
        columns: What it takes, in order: the element type of an array, or `int`.

    Returns:
        The function. It refuses arrays that are of another type or have gaps, because C would
        read them as something else; its caller answers for their lengths.
    """
    dtypes = [None if kind is int else np.dtype(kind) for kind in columns]

    def call(*arguments: AnyArray | int) -> int:
        passed = [
            argument if dtype is None else _address(argument, dtype)
            for argument, dtype in zip(arguments, dtypes, strict=True)
        ]
        found: int = _found(name, tuple(dtype is None for dtype in dtypes))(*passed)
        return found

    return call


def _address(argument: AnyArray | int, dtype: np.dtype[np.generic]) -> int:
    if not isinstance(argument, np.ndarray):
        raise TypeError(f"an array of {dtype} is needed, not {argument!r}")
    if argument.dtype != dtype or not argument.flags.c_contiguous:
        raise TypeError(f"an array of {dtype} without gaps is needed, not {argument.dtype}")
    address: int = argument.ctypes.data
    return address


@cache
def _found(name: str, are_numbers: tuple[bool, ...]) -> Function:
    """The function of that name, which is looked up once."""
    function = getattr(_library(), name)
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_int64 if number else ctypes.c_void_p for number in are_numbers]
    found: Function = function
    return found


@cache
def _library() -> ctypes.CDLL:
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError as error:
        raise ImportError(
            f"{LIBRARY.name} of vidscore cannot be loaded ({error}); install vidscore anew, for "
            f"example by `pip install --force-reinstall vidscore`"
        ) from error
