"""Which presets there are: files of this package, others by entry point, and users' own by path.

A distribution adds presets with an entry point in the group ``vidscore.presets`` whose object is a
package with TOML files, or a path (`str` or `Path`) of a folder of them or of one file. The name
of the entry point is shown in errors alone; each preset is called as its file.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

ENTRY_POINT_GROUP = "vidscore.presets"
SUFFIX = ".toml"

_FOLDER = Path(__file__).resolve().parent
_NAME = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")


def preset_names() -> tuple[str, ...]:
    """Names of all presets, built-in ones first, each group in ascending order."""
    built_in = sorted(path.stem for path in _FOLDER.glob(f"*{SUFFIX}"))
    return (*built_in, *sorted(_plug_ins()[0].keys() - set(built_in)))


def is_built_in(name: str) -> bool:
    """Whether every installation has a preset of that name."""
    return _NAME.fullmatch(name) is not None and (_FOLDER / f"{name}{SUFFIX}").is_file()


def preset_files(name: str) -> tuple[Path, ...]:
    """Files of the preset of that name: one, or as many as distributions claim it; else none."""
    if is_built_in(name):
        return (_FOLDER / f"{name}{SUFFIX}",)
    return _plug_ins()[0].get(name, ())


def broken_plug_ins() -> tuple[str, ...]:
    """A sentence for each entry point whose presets cannot be used."""
    return _plug_ins()[1]


@cache
def _plug_ins() -> tuple[dict[str, tuple[Path, ...]], tuple[str, ...]]:
    """Files by name, and what is wrong with entry points."""
    # Slow to import, and no built-in preset needs it.
    from importlib import metadata  # noqa: PLC0415

    found: dict[str, dict[Path, None]] = {}
    broken: dict[str, None] = {}
    for point in metadata.entry_points(group=ENTRY_POINT_GROUP):
        try:
            for path in _files_of(point.load()):
                found.setdefault(path.stem, {})[path] = None
        except Exception as error:  # noqa: BLE001 - a plug-in is foreign code and may raise anything
            of = f" of {point.dist.name}" if point.dist is not None else ""
            broken[f"the presets {point.name!r}{of} cannot be used: {error}"] = None
    return {name: tuple(paths) for name, paths in found.items()}, tuple(broken)


def _files_of(plug_in: object) -> Iterator[Path]:
    if isinstance(plug_in, ModuleType):
        folders = [Path(folder) for folder in getattr(plug_in, "__path__", ())]
    elif isinstance(plug_in, str | os.PathLike):
        folders = [Path(plug_in)]
    else:
        raise TypeError(f"got {type(plug_in).__name__}, expected a package or a path")
    paths = [
        path.resolve()
        for folder in folders
        for path in (sorted(folder.glob(f"*{SUFFIX}")) if folder.is_dir() else [folder])
        if path.suffix == SUFFIX and path.is_file()
    ]
    if not paths:
        raise ValueError(f"no file *{SUFFIX} in {', '.join(map(str, folders)) or plug_in}")
    wrong = [path.name for path in paths if _NAME.fullmatch(path.stem) is None]
    if wrong:
        raise ValueError(f"{', '.join(wrong)}: expected a name of a-z, 0-9 and dashes")
    yield from paths
