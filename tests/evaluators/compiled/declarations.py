"""The functions of the compiled loops as their C sources declare them."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import vidscore_evaluators
from vidscore_evaluators.compiled.library import CompiledFunction, Kind
from vidscore_evaluators.compiled.sources import sources

FOLDER = Path(vidscore_evaluators.__path__[0], "compiled")

# At the beginning of a line and not `static`: whatever else can call it.
_EXPORTED = re.compile(r"^(?!static\b)(\w+) (\w+)\(([^)]*)\)\s*\{", re.MULTILINE)
_ELEMENTS: dict[str, type[np.generic]] = {
    "double": np.float64,
    "int64_t": np.int64,
    "uint64_t": np.uint64,
    "uint8_t": np.uint8,
}


def declared() -> dict[str, tuple[Kind, ...]]:
    """What each function of the sources takes."""
    found: dict[str, tuple[Kind, ...]] = {}
    for path in sources(FOLDER):
        for result, name, parameters in _EXPORTED.findall(path.read_text(encoding="utf-8")):
            assert result == "int64_t", f"{path.name}: {name} gives {result}"
            found[name] = tuple(_kind(text) for text in parameters.split(",") if text != "void")
    return found


def _kind(parameter: str) -> Kind:
    """`const double *left` is an array of binary64, `int64_t count` a whole number."""
    element, star, name = re.fullmatch(
        r"(?:const )?(\w+) (\*?)(?:const )?(\w+)", " ".join(parameter.split())
    ).groups()  # type: ignore[union-attr] # what does not match must not pass
    if star:
        return _ELEMENTS[element]
    assert element == "int64_t", f"{name} is {element}"
    return int


def bound() -> dict[str, tuple[Kind, ...]]:
    """What each function takes where Python has it; numpy's truth values are bytes in C."""
    return {
        function.name: tuple(np.uint8 if kind is np.bool_ else kind for kind in function.kinds)
        for function in _functions()
    }


def _functions() -> Iterator[CompiledFunction]:
    """Every function of the library that a module of the evaluators has."""
    for module in pkgutil.walk_packages(vidscore_evaluators.__path__, "vidscore_evaluators."):
        if module.name == "vidscore_evaluators.compiled.loops":
            continue  # the library looks like a module to Python, and is none
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, CompiledFunction):
                yield value
