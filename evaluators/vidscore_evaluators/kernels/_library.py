"""The compiled library of loops, and its functions with their types."""

from __future__ import annotations

import ctypes
import operator
import typing
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, SupportsIndex, TypeVar

import numpy as np

from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.kernels._sources import LIBRARY, digest

_PACKED = 0x1 | 0x100
"""numpy's flags C_CONTIGUOUS and ALIGNED: one check of both takes a third of the time of two."""

_WRITEABLE = 0x400
"""numpy's flag WRITEABLE."""

_Memory: Any = ctypes.c_char * 0
"""Gives the address of a writable array in a third of numpy's time."""

Kind = type[np.generic] | type[int]
"""Element type of an array, or `int` for an integer."""

Declaration = TypeVar("Declaration", bound=Callable[..., int])


class Kernel:
    """A function of the library, which takes arrays and integers and returns an integer.

    Attributes:
        name: Its name in C.
        kinds: Types of its parameters, in order.
    """

    def __init__(self, library: ctypes.CDLL, name: str, kinds: tuple[Kind, ...]) -> None:
        self.name = name
        self.kinds = kinds
        self._dtypes = [None if kind is int else np.dtype(kind) for kind in kinds]
        self._function = library[name]
        self._function.restype = ctypes.c_int64
        self._function.argtypes = [
            ctypes.c_int64 if kind is int else ctypes.c_void_p for kind in kinds
        ]

    def __call__(self, *arguments: AnyArray | SupportsIndex) -> int:
        """Call it, without the GIL.

        Raises:
            TypeError: If an argument is of another type.
            ValueError: If an array has gaps or is not aligned.
            OverflowError: If an integer does not fit into 64 bits.
        """
        passed: list[int] = []
        for argument, dtype in zip(arguments, self._dtypes, strict=True):
            if dtype is None:
                number = operator.index(argument)
                if not -(1 << 63) <= number < 1 << 63:
                    raise OverflowError(f"{number} does not fit into 64 bits")
                passed.append(number)
            elif not isinstance(argument, np.ndarray):
                raise TypeError(f"got {type(argument).__name__}, expected an array of {dtype}")
            elif argument.dtype != dtype:
                raise TypeError(f"got an array of {argument.dtype}, expected an array of {dtype}")
            elif (flags := argument.flags.num) & _PACKED != _PACKED:
                raise ValueError(f"an array of {dtype} must be C-contiguous and aligned")
            elif flags & _WRITEABLE:
                passed.append(ctypes.addressof(_Memory.from_buffer(argument)))
            else:
                passed.append(argument.ctypes.data)
        result: int = self._function(*passed)
        return result


def load(folder: Path) -> ctypes.CDLL:
    """Load the library of a folder, which must be compiled from the sources beside it.

    Raises:
        ImportError: If it is missing or outdated; the message has the remedy.
    """
    path = folder / LIBRARY
    try:
        library = ctypes.CDLL(str(path))
        compiled_from = Kernel(library, "sources_digest", ())()
    except (OSError, AttributeError) as error:
        raise _unusable(path, f"cannot be loaded ({error})") from error
    if compiled_from != digest(folder):
        raise _unusable(path, "was not compiled from the sources beside it")
    return library


def declared_in(library: ctypes.CDLL) -> Callable[[Declaration], Declaration]:
    """Decorator that turns a declaration into the library function of its name, with its types."""

    def bind(declaration: Declaration) -> Declaration:
        # There are few different hints: evaluating every one took half of the loading time.
        *hints, _ = declaration.__annotations__.values()
        named = declaration.__globals__
        kinds = tuple(int if hint == "int" else element_type(named[hint]) for hint in hints)
        kernel: Any = Kernel(library, declaration.__name__, kinds)
        kernel.__doc__ = declaration.__doc__
        bound: Declaration = kernel
        return bound

    return bind


def _unusable(path: Path, reason: str) -> ImportError:
    remedy = "run `make loops` in a clone of vidscore, or install vidscore again"
    return ImportError(f"{path.name} of vidscore {reason}; {remedy}", path=str(path))


@cache
def element_type(hint: object) -> type[np.generic]:
    """The element type of an array, from its hint, NDArray[element].

    Before numpy 2.5, this is an alias of numpy.ndarray[shape, numpy.dtype[element]].
    """
    last = typing.get_args(hint)[-1]
    element: type[np.generic] = (typing.get_args(last) or (last,))[0]
    return element
