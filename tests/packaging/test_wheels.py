"""What the wheels hold: whole packages under their own names, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tests.support.tree import ROOT, tracked_files

# The folder of each distribution, and the source root of each package in it.
DISTRIBUTIONS = {
    "vidscore": (
        ROOT,
        {
            "vidscore_evaluators": ROOT / "evaluators",
            "vidscore_server": ROOT / "server",
            "vidscore_cli": ROOT / "clients/cli",
        },
    ),
    "vidscore-client": (
        ROOT / "clients/python",
        {
            "vidscore": ROOT / "clients/python",
            "vidscore_client": ROOT / "clients/python",
        },
    ),
}


def _build(project: Path, target: str, folder: Path) -> Path:
    """Build with the backend that is installed here: no network, no isolated environment."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    [artefact] = folder.iterdir()
    return artefact


def _modules(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def _expected(packages: dict[str, Path]) -> set[str]:
    return {
        path.relative_to(root).as_posix()
        for package, root in packages.items()
        for path in tracked_files()
        if path.is_relative_to(root / package)
    }


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_holds_the_files_of_its_packages_and_no_others(name: str, tmp_path: Path) -> None:
    project, packages = DISTRIBUTIONS[name]

    modules = _modules(_build(project, "wheel", tmp_path))

    assert modules == _expected(packages)
    assert {module.partition("/")[0] for module in modules} == set(packages)
    assert {
        f"{package}/{file}" for package in packages for file in ("__init__.py", "py.typed")
    } <= modules


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_built_from_the_source_distribution_is_the_same(name: str, tmp_path: Path) -> None:
    project, packages = DISTRIBUTIONS[name]
    source = _build(project, "sdist", tmp_path / "source")
    # Not tarfile: how to unpack without a warning differs between releases of Python.
    (tmp_path / "unpacked").mkdir()
    subprocess.run(["tar", "-xzf", str(source)], cwd=tmp_path / "unpacked", check=True)
    [unpacked] = (tmp_path / "unpacked").iterdir()

    modules = _modules(_build(unpacked, "wheel", tmp_path / "wheel"))

    assert modules == _expected(packages)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_carries_the_licence(name: str, tmp_path: Path) -> None:
    wheel = _build(DISTRIBUTIONS[name][0], "wheel", tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [file for file in names if file.endswith(".dist-info/licenses/LICENSE")]
