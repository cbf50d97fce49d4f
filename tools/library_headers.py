"""What the headers of a compiled library say: its machine, what it needs, what it offers.

lief reads the files of Linux, macOS and Windows alike. It comes with the group `release`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# What the linker puts into every library of macOS: it is there on every release of the system, and
# the loops call none of it.
OF_MACOS = frozenset({"/usr/lib/libSystem.B.dylib", "dyld_stub_binder"})
OFFERED_BY_MACOS = frozenset({"_mh_dylib_header", "__dso_handle"})


@dataclass(frozen=True)
class Headers:
    """What is said.

    Attributes:
        machine: Format and processor, for example `ELF X86_64`.
        needs: Other libraries that are loaded with it.
        undefined: Symbols that others must have.
        functions: What it offers, by their names in C.
    """

    machine: str
    needs: frozenset[str]
    undefined: frozenset[str]
    functions: frozenset[str]


def read_headers(library: Path) -> Headers:
    """Read the headers of a library.

    Raises:
        ValueError: If it is none.
    """
    import lief  # noqa: PLC0415  # only where releases are made

    lief.logging.disable()
    binary = lief.parse(str(library))
    if isinstance(binary, lief.ELF.Binary):
        return Headers(
            f"ELF {binary.header.machine_type.name}",
            _texts(binary.libraries),
            _texts(symbol.name for symbol in binary.imported_symbols),
            _texts(function.name for function in binary.exported_functions),
        )
    if isinstance(binary, lief.MachO.Binary):
        own = lief.MachO.LoadCommand.TYPE.ID_DYLIB
        names = _texts(function.name for function in binary.exported_functions)
        return Headers(
            f"Mach-O {binary.header.cpu_type.name}",
            _texts(command.name for command in binary.libraries if command.command != own)
            - OF_MACOS,
            _texts(symbol.name for symbol in binary.imported_symbols) - OF_MACOS,
            # Functions have an underscore in front of what they are called in C.
            frozenset(name.removeprefix("_") for name in names) - OFFERED_BY_MACOS,
        )
    if isinstance(binary, lief.PE.Binary):
        imports = list(binary.imports)
        return Headers(
            f"PE {binary.header.machine.name}",
            _texts(library.name for library in imports),
            _texts(entry.name for library in imports for entry in library.entries),
            _texts(function.name for function in binary.exported_functions),
        )
    raise ValueError(f"{library}: not a library of Linux, macOS or Windows")


def _texts(names: Iterable[str | bytes]) -> frozenset[str]:
    return frozenset(name if isinstance(name, str) else name.decode() for name in names)
