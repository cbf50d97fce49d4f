"""Each documented way to install works in a fresh environment, away from the source tree."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.packaging.programs import run
from tests.support.tree import ROOT
from tools.bootstrap import UV

pytestmark = pytest.mark.campaign

by_night = pytest.mark.nightly
"""For ways to install that differ little from another one."""

PACKAGES = [
    "vidscore",
    "vidscore_evaluators",
    "vidscore_evaluators.kernels",
    "vidscore_protos.v1",
    "vidscore_client",
    "vidscore_server",
    "vidscore_cli",
]


def _installs(folder: Path, *arguments: str, hosts: bool = False) -> None:
    """Install with the environment's own pip and try the result."""
    run(sys.executable, "-m", "venv", folder / "venv")
    run(folder / "venv/bin/pip", "install", "--quiet", *arguments)
    _works(folder / "venv", folder, hosts=hosts)


def _works(environment: Path, elsewhere: Path, *, hosts: bool = False) -> None:
    _hosts(environment, elsewhere) if hosts else _says_what_hosting_needs(environment, elsewhere)
    imports = "; ".join(f"import {package}" for package in PACKAGES)
    run(environment / "bin/python", "-W", "error", "-c", imports, cwd=elsewhere)
    assert "Usage: vidscore" in run(environment / "bin/vidscore", "--help", cwd=elsewhere)
    # OpenCV is an extra: a user's own build must survive.
    listing = run(environment / "bin/python", "-c", _LIST_DISTRIBUTIONS, cwd=elsewhere)
    assert "opencv" not in listing


def _hosts(environment: Path, elsewhere: Path) -> None:
    """With the extra `server`, a store is created and the application imports."""
    made = run(environment / "bin/vidscore", "init", "--store", "site.db", cwd=elsewhere)
    assert made.startswith("vidscore_")
    run(environment / "bin/python", "-c", "import vidscore_server.application", cwd=elsewhere)


def _says_what_hosting_needs(environment: Path, elsewhere: Path) -> None:
    """Without the extra, files and pipes are scored, and `serve` says what to install."""
    vidscore = environment / "bin/vidscore"
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[1, 2]]}
    file = elsewhere / "frames.json"
    file.write_text(json.dumps([entry]))
    scored = run(vidscore, "score", "spotgeo", "--truth", file, "--detections", file)
    assert ["f1", "1.0000"] in [line.split() for line in scored.splitlines()]
    line = {"sequence": "1", "frame": 1, "objects": [{"point": [1, 2]}]}
    lines = elsewhere / "frames.jsonl"
    lines.write_text(json.dumps(line) + "\n")
    piped = run("sh", "-c", f"{vidscore} pipe --score spotgeo --truth {file} < {lines}")
    assert ["f1", "1.0000"] in [line.split() for line in piped.splitlines()]
    refused = subprocess.run([vidscore, "serve"], check=False, capture_output=True, text=True)
    assert (refused.returncode, "pip install 'vidscore[server]'" in refused.stderr) == (2, True)


_LIST_DISTRIBUTIONS = """
import importlib.metadata
print(*(found.name for found in importlib.metadata.distributions()))
"""


def test_pip_installs_a_clone_alone(tmp_path: Path) -> None:
    """Its sibling is in no package index: the clone's own is used."""
    _installs(tmp_path, ".")


@by_night
def test_pip_installs_a_clone_that_can_host(tmp_path: Path) -> None:
    _installs(tmp_path, ".[server]", hosts=True)


@by_night
def test_pip_installs_from_a_repository(tmp_path: Path) -> None:
    run("git", "clone", "--quiet", ROOT, tmp_path / "remote")
    _installs(tmp_path, f"git+{(tmp_path / 'remote').as_uri()}")


@by_night
def test_pip_installs_both_folders_together(tmp_path: Path) -> None:
    _installs(tmp_path, "./clients/python", ".")


@by_night
def test_pip_installs_both_folders_as_editable(tmp_path: Path) -> None:
    _installs(tmp_path, "-e", "./clients/python", "-e", ".")


def test_uv_sync_makes_a_working_environment(tmp_path: Path) -> None:
    # A copy: uv writes its lock file into the project.
    run("git", "clone", "--quiet", ROOT, tmp_path / "clone")
    run(UV, "sync", "--quiet", "--no-dev", cwd=tmp_path / "clone")
    _works(tmp_path / "clone/.venv", tmp_path)
