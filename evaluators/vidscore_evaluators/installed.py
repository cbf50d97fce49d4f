"""Installed versions of distributions."""

from __future__ import annotations

import os
import sys
from functools import cache

_FOLDER = ".dist-info"


def software_versions() -> dict[str, str]:
    """Versions on which the last bits of a score may depend."""
    return dict(_installed_versions())


@cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    # Cached: the lookup costs more than many reports.
    return tuple((name, installed_version(name)) for name in ("numpy", "scipy", "vidscore"))


def installed_version(distribution: str) -> str:
    """Version of an installed distribution.

    Installers name the metadata folder by name and version, so reading folder names is enough. If
    they do not tell, the standard library reads the metadata; importing that takes as long as
    scoring a few hundred frames.

    Args:
        distribution: Its name, in lower-case letters and digits only.

    Raises:
        importlib.metadata.PackageNotFoundError: If it is not installed.
    """
    for place in sys.path:
        versions = _versions(place or ".", distribution)
        if len(versions) == 1:
            return versions[0]
        if versions:
            break
    from importlib import metadata  # noqa: PLC0415

    return metadata.version(distribution)


def _versions(place: str, distribution: str) -> list[str]:
    """Versions of a distribution, from the names of the folders in a place."""
    try:
        names = os.listdir(place)  # noqa: PTH208 - a path of each entry would take ten times as long
    except OSError:  # the place does not exist or is an archive
        return []
    start = f"{distribution}-"
    return [
        name[len(start) : -len(_FOLDER)]
        for name in names
        if name.startswith(start) and name.endswith(_FOLDER)
    ]
