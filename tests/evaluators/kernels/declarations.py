"""The functions of the library as declared in `kernels.h` and in Python."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from vidscore_evaluators import kernels
from vidscore_evaluators.kernels import reading
from vidscore_evaluators.kernels._library import Kernel, Kind
from vidscore_evaluators.kernels._sources import sources

FOLDER = Path(kernels.__path__[0])

# At the beginning of a line and not `static`: these can be called from elsewhere.
_EXPORTED = re.compile(r"^(?!static\b)(\w+) (\w+)\(([^)]*)\)\s*(?=[{;])", re.MULTILINE)
_ELEMENTS: dict[str, type[np.generic]] = {
    "double": np.float64,
    "int64_t": np.int64,
    "uint64_t": np.uint64,
    "uint32_t": np.uint32,
    "uint8_t": np.uint8,
}


def in_header() -> dict[str, tuple[Kind, ...]]:
    """Parameters of each function of the header; the compiler checks the C files against it."""
    return _declared(FOLDER / "kernels.h")


def in_sources() -> dict[str, tuple[Kind, ...]]:
    """Parameters of each function that a C file exports."""
    files = [path for path in sources(FOLDER) if path.suffix == ".c"]
    return {name: kinds for path in files for name, kinds in _declared(path).items()}


def _declared(path: Path) -> dict[str, tuple[Kind, ...]]:
    found: dict[str, tuple[Kind, ...]] = {}
    for result, name, parameters in _EXPORTED.findall(path.read_text(encoding="utf-8")):
        assert result == "int64_t", f"{path.name}: {name} returns {result}"
        found[name] = tuple(_kind(text) for text in parameters.split(",") if text != "void")
    return found


def _kind(parameter: str) -> Kind:
    """`const double *left` is an array of binary64, `int64_t count` an integer."""
    element, star, name = re.fullmatch(
        r"(?:const )?(\w+) (\*?)(?:const )?(\w+)", " ".join(parameter.split())
    ).groups()  # type: ignore[union-attr] # a parameter that does not match must not pass
    if star:
        return _ELEMENTS[element]
    assert element == "int64_t", f"{name} is {element}"
    return int


def in_python() -> dict[str, tuple[Kind, ...]]:
    """Parameters of each function as declared in Python; numpy's booleans are bytes in C."""
    return {
        kernel.name: tuple(np.uint8 if kind is np.bool_ else kind for kind in kernel.kinds)
        for module in (kernels, reading)
        for kernel in vars(module).values()
        if isinstance(kernel, Kernel)
    }
