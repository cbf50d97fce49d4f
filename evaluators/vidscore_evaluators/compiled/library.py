"""Load the compiled loops, and give their functions Python's shape."""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable
from pathlib import Path
from typing import SupportsIndex

import numpy as np

from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.compiled.sources import LIBRARY, digest

Kind = type[np.generic] | type[int]
"""The element type of an array, or `int` for a whole number."""


class CompiledFunction:
    """A function of the library, which takes arrays and whole numbers and gives a whole number.

    It refuses what C would read as something else: arrays of another type, with gaps or out of
    alignment, and numbers of more than 64 bits. Its caller answers for the lengths of arrays, and
    that those which it writes to may be written to.

    Attributes:
        name: Its name in C.
        kinds: What it takes, in order.
    """

    def __init__(self, library: ctypes.CDLL, name: str, kinds: tuple[Kind, ...]) -> None:
        self.name = name
        self.kinds = kinds
        self._dtypes = [None if kind is int else np.dtype(kind) for kind in kinds]
        self._function = _function(library, name, kinds)

    def __call__(self, *arguments: AnyArray | SupportsIndex) -> int:
        """Call it, without the interpreter's lock."""
        passed = [
            _number(argument) if dtype is None else _address(argument, dtype)
            for argument, dtype in zip(arguments, self._dtypes, strict=True)
        ]
        return self._function(*passed)


def compiled(name: str, *kinds: Kind) -> CompiledFunction:
    """Give a function of the library.

    Args:
        name: Its name in C.
        kinds: What it takes, in order.
    """
    return CompiledFunction(_LOOPS, name, kinds)


def load(folder: Path) -> ctypes.CDLL:
    """Load the library of a folder, which was compiled from the sources that are there.

    Raises:
        ImportError: If there is none, or it is of other sources; says what to do.
    """
    path = folder / LIBRARY
    try:
        library = ctypes.CDLL(str(path))
        made_of = CompiledFunction(library, "sources_digest", ())()
    except (OSError, AttributeError) as error:
        raise _unusable(path, f"cannot be loaded ({error})") from error
    if made_of != digest(folder):
        raise _unusable(path, "was not compiled from the sources beside it")
    return library


def _unusable(path: Path, reason: str) -> ImportError:
    remedy = "run `make loops` in a clone of vidscore, or install vidscore again"
    return ImportError(f"{path.name} of vidscore {reason}; {remedy}", path=str(path))


def _function(library: ctypes.CDLL, name: str, kinds: tuple[Kind, ...]) -> Callable[..., int]:
    function = library[name]
    function.restype = ctypes.c_int64
    function.argtypes = [ctypes.c_int64 if kind is int else ctypes.c_void_p for kind in kinds]
    typed: Callable[..., int] = function
    return typed


def _number(argument: AnyArray | SupportsIndex) -> int:
    number = operator.index(argument)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"{number} does not fit into 64 bits")
    return number


def _address(argument: AnyArray | SupportsIndex, dtype: np.dtype[np.generic]) -> int:
    if not isinstance(argument, np.ndarray):
        raise TypeError(f"an array of {dtype} is needed, not {type(argument).__name__}")
    if argument.dtype != dtype:
        raise TypeError(f"an array of {dtype} is needed, not of {argument.dtype}")
    if not (argument.flags.c_contiguous and argument.flags.aligned):
        raise ValueError(f"an array of {dtype} must be in order, without gaps and aligned")
    address: int = argument.ctypes.data
    return address


_LOOPS = load(Path(__file__).parent)
