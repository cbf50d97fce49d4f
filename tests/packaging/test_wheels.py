"""The wheels contain whole packages under their own names, and nothing else."""

from __future__ import annotations

import os
import re
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

from vidscore_client import __version__
from vidscore_evaluators.kernels._library import load

# The folder of each distribution, and the source root of each package in it.
DISTRIBUTIONS = {
    "vidscore": (
        ROOT,
        {
            "vidscore": ROOT / "evaluators",
            "vidscore_evaluators": ROOT / "evaluators",
            "vidscore_server": ROOT / "server",
            "vidscore_cli": ROOT / "clients/cli",
        },
    ),
    "vidscore-client": (
        ROOT / "clients/python",
        {
            "vidscore/v1": ROOT / "clients/python",
            "vidscore_client": ROOT / "clients/python",
            "vidscore_protos": ROOT / "clients/python",
        },
    ),
}

FORMER_NAME = "vidscore/v1"
"""It forwards to modules of another package, and has no types of its own."""

LOOPS = "vidscore_evaluators/kernels/loops.so"


def build(project: Path, target: str, folder: Path) -> Path:
    """Build with the installed backend: no network, no isolated environment."""
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    return max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The wheel of each distribution; compiling takes seconds."""
    return {
        name: build(project, "wheel", tmp_path_factory.mktemp(name))
        for name, (project, _) in DISTRIBUTIONS.items()
    }


def _modules(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert len(names) == len(set(names))
    return {name for name in names if ".dist-info/" not in name}


def _expected(packages: dict[str, Path]) -> set[str]:
    """The tracked files, and the compiled ones."""
    tracked = {
        path.relative_to(root).as_posix()
        for package, root in packages.items()
        for path in tracked_files()
        if path.is_relative_to(root / package)
    }
    return tracked | {LOOPS for package in packages if LOOPS.startswith(f"{package}/")}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_contains_the_files_of_its_packages_and_no_others(
    name: str, wheels: dict[str, Path]
) -> None:
    _, packages = DISTRIBUTIONS[name]

    modules = _modules(wheels[name])

    assert modules == _expected(packages)
    assert {f"{package}/__init__.py" for package in packages} <= modules
    assert {f"{package}/py.typed" for package in packages if package != FORMER_NAME} <= modules


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_built_from_the_source_distribution_is_the_same(name: str, tmp_path: Path) -> None:
    project, packages = DISTRIBUTIONS[name]
    source = build(project, "sdist", tmp_path / "source")
    unpacked = _unpacked(source, tmp_path / "unpacked")

    modules = _modules(build(unpacked, "wheel", tmp_path / "wheel"))

    assert modules == _expected(packages)


def _asked(hook: str, project: Path, folder: Path) -> Path:
    """Build as an installer does: through a hook of the backend that the project names."""
    program = f"import hatch_build; print(hatch_build.{hook}({str(folder)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(project)},
        check=True,
        capture_output=True,
        text=True,
    )
    return folder / done.stdout.split()[-1]


def _unpacked(source: Path, folder: Path) -> Path:
    # Not tarfile: unpacking without a warning differs between releases of Python.
    folder.mkdir()
    subprocess.run(["tar", "-xzf", str(source)], cwd=folder, check=True)
    [unpacked] = folder.iterdir()
    return unpacked


def _client_that_is_needed(metadata: str) -> str:
    found = re.findall(r"^Requires-Dist: (vidscore-client.*)$", metadata, re.MULTILINE)
    assert len(found) == 1
    return str(found[0])


def _metadata(wheel: Path) -> str:
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return archive.read(name).decode()


def test_a_wheel_built_from_the_tree_needs_the_client_beside_it(tmp_path: Path) -> None:
    """So `pip install .` works although no package index has the client."""
    wheel = _asked("build_wheel", ROOT, tmp_path)
    client = (ROOT / "clients/python").as_uri()
    assert _client_that_is_needed(_metadata(wheel)) == f"vidscore-client @ {client}"


def test_a_published_wheel_needs_the_client_of_its_own_version(tmp_path: Path) -> None:
    """A package index accepts no paths: neither the source nor its wheel has one."""
    source = _asked("build_sdist", ROOT, tmp_path)
    unpacked = _unpacked(source, tmp_path / "unpacked")
    pin = f"vidscore-client=={__version__}"
    assert _client_that_is_needed((unpacked / "PKG-INFO").read_text("utf-8")) == pin
    wheel = _asked("build_wheel", unpacked, tmp_path)
    assert _client_that_is_needed(_metadata(wheel)) == pin


def test_an_editable_installation_needs_the_client_of_its_own_version(tmp_path: Path) -> None:
    """Its client is installed beside it as editable: a path would name another installation."""
    wheel = _asked("build_editable", ROOT, tmp_path)
    assert _client_that_is_needed(_metadata(wheel)) == f"vidscore-client=={__version__}"


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_a_wheel_carries_the_licence(name: str, wheels: dict[str, Path]) -> None:
    with zipfile.ZipFile(wheels[name]) as archive:
        names = archive.namelist()
    assert [file for file in names if file.endswith(".dist-info/licenses/LICENSE")]


def test_a_wheel_is_for_one_kind_of_processor_and_every_python(wheels: dict[str, Path]) -> None:
    """The loops use neither Python nor a C library: on Linux, any of either will do."""
    name = wheels["vidscore"].name
    _, _, _, tags = parse_wheel_filename(name)

    assert {(tag.interpreter, tag.abi) for tag in tags} == {("py3", "none")}
    assert tags & set(sys_tags())
    if sys.platform != "linux":
        missing("Linux, whose wheels name no release of the system")
    machine = sysconfig.get_platform().rpartition("-")[2]
    assert {tag.platform for tag in tags} == {
        f"{system}_{machine}" for system in ("manylinux_2_17", "musllinux_1_1")
    }


def test_the_library_of_a_wheel_belongs_to_the_sources_in_it(
    wheels: dict[str, Path], tmp_path: Path
) -> None:
    with zipfile.ZipFile(wheels["vidscore"]) as archive:
        archive.extractall(tmp_path)
    load((tmp_path / LOOPS).parent)


def test_the_wheel_of_the_client_is_for_every_machine(wheels: dict[str, Path]) -> None:
    assert wheels["vidscore-client"].name.endswith("-py3-none-any.whl")
