"""Programs in environments that are made for a test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.support.tree import ROOT

_OF_THIS_RUN = {"VIRTUAL_ENV", "PYTHONPATH", "MAKEFLAGS", "MAKELEVEL", "MFLAGS"}


def run(*command: str | Path, cwd: Path = ROOT, **variables: str) -> str:
    """The output of a program that exits with 0, without variables of this environment."""
    environment = {name: value for name, value in os.environ.items() if name not in _OF_THIS_RUN}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | variables,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
