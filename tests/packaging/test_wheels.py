"""What the wheels hold: whole packages under their own names, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename
from tests.support.requirements import missing
from tests.support.tree import ROOT, tracked_files

from vidscore_evaluators.compiled.library import load

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

LOOPS = "vidscore_evaluators/compiled/loops.so"


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
        names = archive.namelist()
    assert len(names) == len(set(names))
    return {name for name in names if ".dist-info/" not in name}


def _expected(packages: dict[str, Path]) -> set[str]:
    """The tracked files, and what is compiled."""
    tracked = {
        path.relative_to(root).as_posix()
        for package, root in packages.items()
        for path in tracked_files()
        if path.is_relative_to(root / package)
    }
    return tracked | {LOOPS for package in packages if LOOPS.startswith(f"{package}/")}


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


def test_a_wheel_is_for_one_kind_of_processor_and_every_python(tmp_path: Path) -> None:
    """The loops use neither Python nor a C library: on Linux, any of either will do."""
    name = _build(ROOT, "wheel", tmp_path).name
    _, _, _, tags = parse_wheel_filename(name)

    assert {(tag.interpreter, tag.abi) for tag in tags} == {("py3", "none")}
    assert tags & set(sys_tags())
    if sys.platform != "linux":
        missing("Linux, whose wheels name no release of the system")
    machine = sysconfig.get_platform().rpartition("-")[2]
    assert {tag.platform for tag in tags} == {
        f"{system}_{machine}" for system in ("manylinux_2_17", "musllinux_1_1")
    }


def test_the_library_of_a_wheel_is_of_the_sources_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(_build(ROOT, "wheel", tmp_path)) as archive:
        archive.extractall(tmp_path)
    load((tmp_path / LOOPS).parent)


def test_the_wheel_of_the_client_is_for_every_machine(tmp_path: Path) -> None:
    assert _build(ROOT / "clients/python", "wheel", tmp_path).name.endswith("-py3-none-any.whl")
