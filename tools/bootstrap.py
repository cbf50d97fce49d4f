"""Make a virtual environment and install requirements into it; needs only the standard library.

    python3 tools/bootstrap.py DIRECTORY [--locked] [ARGUMENT OF "pip install"]...

With `--locked`, the packages of requirements.lock are installed first, in the locked versions and
with their hashes checked. The arguments are then installed without dependencies.

uv installs, because it is many times faster than pip. It is not in the environment but in build/uv.
If uv fails (it does not read pip's configuration), pip installs the same. The output of uv is then
shown only if pip fails, too.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

OLDEST_PYTHON = (3, 11)
# The first pip that installs dependency groups.
PIP_REQUIREMENT = "pip>=25.1"
ROOT = Path(__file__).resolve().parents[1]
LOCK = ROOT / "requirements.lock"
UV_FOLDER = ROOT / "build" / "uv"
UV = UV_FOLDER / "bin" / "uv"
# Behind a proxy that intercepts TLS, only the system's certificates work. The name of the setting
# depends on the release of uv.
SYSTEM_CERTIFICATES = {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
# Lines that uv and pip print when a stage begins or ends.
STAGE = re.compile(
    r"\s*(?:Resolved|Downloading|Building|Built|Prepared|Installed|Processing|Collecting)\b.*"
)
SILENCE_S = 10.0
"""Seconds without output after which `STILL_BUSY` is printed."""
STILL_BUSY = "still busy"

_STARTED_S = time.monotonic()


def main() -> None:
    """Make the environment of the first argument, and install the other arguments into it."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    environment = Path(sys.argv[1]).absolute()
    create(environment)
    arguments = sys.argv[2:]
    if arguments[:1] == ["--locked"]:
        install_locked(environment, arguments[1:])
    elif arguments:
        install(environment, arguments)


def create(environment: Path) -> None:
    """Make the environment, unless it is already there."""
    if sys.version_info < OLDEST_PYTHON:
        sys.exit(
            f"vidscore needs Python 3.11 or later; {sys.executable} is "
            f"{sys.version_info.major}.{sys.version_info.minor}. "
            "Name another one, for example: make PYTHON=/usr/local/bin/python3.11"
        )
    if _python(environment).exists():
        return
    _say(f"making an environment with Python {sys.version.split()[0]}")
    # Without the package python3-venv, Debian's venv lacks ensurepip. It then fails, and leaves a
    # folder that looks like an environment. So check first.
    if importlib.util.find_spec("pip") is not None:
        options = ["--without-pip"]  # pip is slow to install here; `install` brings it
    elif importlib.util.find_spec("ensurepip") is not None:
        options = []
    else:
        sys.exit(
            f"{sys.executable} can't make virtual environments: ensurepip is missing. "
            "On Debian and Ubuntu, as root: apt-get install python3-venv"
        )
    status, words = _run([sys.executable, "-m", "venv", *options, str(environment)])
    if status:
        sys.exit(f"{words}could not make {environment}")


def install_locked(environment: Path, arguments: list[str]) -> None:
    """Install the packages of the lock file, then the arguments without dependencies."""
    install(environment, ["--requirement", str(LOCK)])
    install(environment, ["--no-deps", "--build-constraint", str(LOCK), *arguments])


def install(environment: Path, arguments: list[str]) -> None:
    """Install into the environment, and pip with it: with uv, or with pip if uv fails."""
    status, words = 0, ""
    if not UV.exists():
        _say("fetching uv, which installs faster than pip")
        status, words = _run([*_pip_install(environment), "--target", str(UV_FOLDER), "uv"])
    if status == 0:
        _say("installing; a C compiler (100 MB) is fetched to build vidscore, and not kept")
        into = ["--python", str(_python(environment))]
        status, words = _run([str(UV), "pip", "install", *into, "pip", *arguments])
    if status:
        _say("that did not work; pip, which is slower, does it instead")
        for wanted in ([PIP_REQUIREMENT], arguments):
            status, more = _run([*_pip_install(environment), *wanted])
            words += more
            if status:
                sys.exit(f"{words}could not install {' '.join(wanted)} into {environment}")
    _say("installed")


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _pip_install(environment: Path) -> list[str]:
    """The pip of the environment, or this Python's pip with the environment as its target."""
    python = str(_python(environment))
    own = (environment / "bin" / "pip").exists()
    pip = [python, "-m", "pip"] if own else [sys.executable, "-m", "pip", "--python", python]
    return [*pip, "install", "--progress-bar", "off"]


def _run(command: list[str]) -> tuple[int, str]:
    """Run a command to its end, and print its stages.

    Returns:
        Its exit status and its output.
    """
    # The caller's active environment must not decide where packages are installed.
    variables = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    words: list[str] = []
    ended = threading.Event()
    threading.Thread(target=_show_life, args=(ended, words), daemon=True).start()
    with subprocess.Popen(
        command,
        env=SYSTEM_CERTIFICATES | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            words.append(line)
            if STAGE.fullmatch(line.rstrip()):
                _say(line.strip())
    ended.set()
    return process.returncode, "".join(words)


def _show_life(ended: threading.Event, words: list[str]) -> None:
    """Print a line whenever a running command has printed nothing for a while."""
    heard = -1
    while not ended.wait(SILENCE_S):
        if len(words) == heard:
            _say(STILL_BUSY)
        heard = len(words)


def _say(text: str) -> None:
    print(f"{time.monotonic() - _STARTED_S:5.0f} s  {text}", flush=True)


if __name__ == "__main__":
    main()
