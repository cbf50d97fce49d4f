"""Print one `name==version` line for the lower bound of each runtime dependency, extras included.

Both distributions are read as installed, so that what is printed is what their users are promised.
Where they differ on a package the higher bound wins, as it would for an installer.
"""

from __future__ import annotations

import importlib.metadata

from packaging.requirements import Requirement
from packaging.version import Version

DISTRIBUTIONS = ("vidscore", "vidscore-client")


def main() -> None:
    """Print the bounds in the form of a requirements file."""
    for name, version in lower_bounds().items():
        print(f"{name}=={version}")


def lower_bounds() -> dict[str, Version]:
    """Map each third-party dependency of ours to the oldest release that we say we support."""
    bounds: dict[str, Version] = {}
    for text in requirements():
        requirement = Requirement(text)
        if requirement.name in DISTRIBUTIONS:
            continue
        lowest = [
            Version(clause.version) for clause in requirement.specifier if clause.operator == ">="
        ]
        if len(lowest) != 1:
            raise ValueError(f"{text} needs exactly one lower bound")
        bounds[requirement.name] = max(lowest[0], bounds.get(requirement.name, lowest[0]))
    return dict(sorted(bounds.items()))


def requirements() -> list[str]:
    """List every requirement that the two distributions declare."""
    return [text for name in DISTRIBUTIONS for text in importlib.metadata.requires(name) or []]


if __name__ == "__main__":
    main()
