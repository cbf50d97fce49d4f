"""The files of the repository."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def tracked_files() -> tuple[Path, ...]:
    """List the files that git tracks or would track, so that rules cover new files too."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    paths = (ROOT / name for name in listing.split("\0") if name)
    return tuple(sorted(path for path in paths if path.is_file()))


def is_generated(path: Path) -> bool:
    """Whether a file is generated protocol code."""
    return "_pb2" in path.name


def python_files() -> list[Path]:
    """List the Python files that are not generated."""
    return [path for path in tracked_files() if path.suffix == ".py" and not is_generated(path)]


def compiled_files() -> list[Path]:
    """List the C files that are compiled when the project is installed."""
    folder = ROOT / "evaluators/vidscore_evaluators/kernels"
    return [
        path for path in tracked_files() if path.parent == folder and path.suffix in {".c", ".h"}
    ]
