"""Which version of a distribution is installed."""

from __future__ import annotations

import os
import sys

_FOLDER = ".dist-info"


def installed_version(distribution: str) -> str:
    """Version of an installed distribution.

    Installers name the folder of its metadata by name and version, so that its name is enough;
    where it does not tell, the standard library reads what is in it. Importing that takes as long
    as scoring a few hundred frames.

    Args:
        distribution: Its name, of lower case letters and digits alone.

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
    """Versions of a distribution that the folders of a place are named by."""
    try:
        names = os.listdir(place)  # noqa: PTH208 - a path of each entry would take ten times as long
    except OSError:  # no such place, or an archive
        return []
    start = f"{distribution}-"
    return [
        name[len(start) : -len(_FOLDER)]
        for name in names
        if name.startswith(start) and name.endswith(_FOLDER)
    ]
