"""Print one `name==version` line for the lower bound of each dependency, extras included.

The bounds come from the installed metadata of both distributions, which is what their users get,
and from their build requirements. If they differ on a package, the higher bound wins, as it would
for an installer.
"""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]
DISTRIBUTIONS = {"vidscore": ROOT, "vidscore-client": ROOT / "clients/python"}
"""The source folder of each distribution, by name."""


def main() -> None:
    """Print the bounds in the form of a requirements file."""
    for name, version in lower_bounds().items():
        print(f"{name}=={version}")


def lower_bounds() -> dict[str, Version]:
    """Map each third-party dependency to the oldest supported release."""
    bounds: dict[str, Version] = {}
    for text in requirements() + build_requirements():
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


def build_requirements() -> list[str]:
    """List the build requirements of the two distributions."""
    projects = [(folder / "pyproject.toml").read_text("utf-8") for folder in DISTRIBUTIONS.values()]
    return [
        text for project in projects for text in tomllib.loads(project)["build-system"]["requires"]
    ]


if __name__ == "__main__":
    main()
