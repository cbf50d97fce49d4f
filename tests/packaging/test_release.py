"""The output of `make release` scores, serves and submits, in an environment without a compiler."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import pytest
from tests.packaging.programs import run
from tests.support.requirements import missing
from tests.support.tree import ROOT

from vidscore_client import __version__

pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A clone in which a release was built."""
    if sys.platform != "linux":
        missing("Linux, where releases are built")
    clone = tmp_path_factory.mktemp("release") / "clone"
    run("git", "clone", "--quiet", ROOT, clone)
    printed = run("make", "release", cwd=clone)
    assert "built twice, alike; 8 files in dist/" in printed
    return clone


@pytest.fixture(scope="module")
def environment(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheels and their requirements, in which nothing could be compiled."""
    folder = tmp_path_factory.mktemp("environment") / "venv"
    run(sys.executable, "-m", "venv", folder, cwd=released)
    wheels = ["--only-binary", ":all:", "--find-links", str(released / "dist")]
    wanted = f"vidscore[server]=={__version__}"
    pip = (folder / "bin/python", "-m", "pip", "install", "--quiet")
    run(*pip, *wheels, wanted, cwd=folder, PATH=str(folder / "bin"))
    return folder


def test_sums_and_bill_of_materials_match_the_files_in_dist(released: Path) -> None:
    beside = released / "build/release"
    lines = (beside / "SHA256SUMS").read_text("utf-8").splitlines()
    files = sorted((released / "dist").iterdir())
    expected = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}" for file in files]
    assert lines == expected
    bill = json.loads((beside / "sbom.cdx.json").read_text("utf-8"))
    about = bill["metadata"]["component"]
    assert (bill["bomFormat"], about["name"], about["version"]) == (
        "CycloneDX", "vidscore", __version__,
    )  # fmt: skip
    assert {"numpy", "scipy", "grpcio", "vidscore-client"} <= {
        part["name"] for part in bill["components"]
    }
    assert str(released) not in json.dumps(bill)


def test_the_wheels_alone_score_serve_and_submit(environment: Path, tmp_path: Path) -> None:
    """The program that writes golden stores only runs commands: a server, teams, scores."""
    program = ROOT / "tests/server/store/write_golden.py"
    path = os.pathsep.join([str(environment / "bin"), "/nowhere"])
    run(environment / "bin/python", "-W", "error", program, tmp_path, cwd=tmp_path, PATH=path)
    assert {file.name for file in tmp_path.iterdir()} == {
        "site.backup", "store.db.gz", "report.json.gz",
    }  # fmt: skip
