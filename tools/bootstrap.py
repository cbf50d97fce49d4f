"""Make a virtual environment and install requirements into it; needs the standard library alone.

    python3 tools/bootstrap.py DIRECTORY [ARGUMENT OF "pip install"]...

uv does the installing because it is many times faster. Where it can't reach the package index
(it does not read pip's configuration), pip is asked to do the same.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

OLDEST_PYTHON = (3, 11)
# The first pip that installs dependency groups.
PIP_REQUIREMENT = "pip>=25.1"


def main() -> None:
    """Make the environment named first and install what the other arguments say."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    environment = Path(sys.argv[1]).absolute()
    create(environment)
    if sys.argv[2:]:
        install(environment, sys.argv[2:])


def create(environment: Path) -> None:
    """Make the environment with pip and uv in it, unless it is already there."""
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(
            f"vidscore needs Python 3.11 or later; {sys.executable} is "
            f"{sys.version_info.major}.{sys.version_info.minor}. "
            "Name another one, for example: make PYTHON=/usr/local/bin/python3.11"
        )
    python = environment / "bin" / "python"
    if not (environment / "bin" / "pip").exists():
        # Debian ships venv without ensurepip until python3-venv is installed, and a failed
        # attempt leaves a folder behind that looks like an environment. So look first.
        if importlib.util.find_spec("ensurepip") is not None:
            _run([sys.executable, "-m", "venv", str(environment)])
        elif importlib.util.find_spec("pip") is not None:
            _run([sys.executable, "-m", "venv", "--without-pip", str(environment)])
            _run(
                [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "pip"]
            )
        else:
            sys.exit(
                f"{sys.executable} can't make virtual environments: ensurepip is missing. "
                "On Debian and Ubuntu, as root: apt-get install python3-venv"
            )
    if not (environment / "bin" / "uv").exists():
        _run([str(python), "-m", "pip", "install", "--quiet", "uv"])


def install(environment: Path, arguments: list[str]) -> None:
    """Install into the environment with uv, or with pip where uv fails."""
    python = str(environment / "bin" / "python")
    uv = [str(environment / "bin" / "uv"), "pip", "install", "--quiet", "--python", python]
    if subprocess.run([*uv, *arguments], check=False).returncode == 0:
        return
    print("uv could not install; trying pip", file=sys.stderr, flush=True)
    pip = [python, "-m", "pip", "install", "--quiet"]
    _run([*pip, PIP_REQUIREMENT])
    _run([*pip, *arguments])


def _run(command: list[str]) -> None:
    """Run a command; its own words explain a failure better than a traceback of ours."""
    # A caller's active environment must not decide where things go.
    variables = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    status = subprocess.run(command, env=variables, check=False).returncode
    if status:
        sys.exit(f"failed with status {status}: {' '.join(command)}")


if __name__ == "__main__":
    main()
