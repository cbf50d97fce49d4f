"""The two distributions have the same version and sensible requirements."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from tests.support.tree import ROOT
from tools.lower_bounds import build_requirements, lower_bounds, requirements

from vidscore_cli.command_tree import EXTRAS

VERSION = importlib.metadata.version("vidscore")


def _declared() -> list[Requirement]:
    """List all requirements: of both distributions, of the dependency groups and of the builds."""
    texts = requirements() + build_requirements()
    for file in (ROOT / "pyproject.toml", ROOT / "clients/python/pyproject.toml"):
        project = tomllib.loads(file.read_text(encoding="utf-8"))
        for group in project.get("dependency-groups", {}).values():
            texts += [entry for entry in group if isinstance(entry, str)]
    # An extra may name another one of its own distribution.
    return [found for text in texts if (found := Requirement(text)).name != "vidscore"]


def test_both_distributions_have_one_version() -> None:
    import vidscore_client

    assert importlib.metadata.version("vidscore-client") == VERSION
    assert vidscore_client.__version__ == VERSION


def test_vidscore_needs_the_client_of_exactly_its_own_version() -> None:
    needed = importlib.metadata.requires("vidscore") or []
    pins = [text for text in needed if "vidscore-client" in text]
    assert pins == [f"vidscore-client=={VERSION}"]


def test_the_client_needs_four_packages_and_nothing_else() -> None:
    needs = {
        Requirement(text).name for text in importlib.metadata.requires("vidscore-client") or []
    }
    assert needs == {"googleapis-common-protos", "grpcio", "numpy", "protobuf"}


def test_nothing_but_the_client_is_pinned() -> None:
    pinned = {
        requirement.name
        for requirement in _declared()
        if any(clause.operator in {"==", "==="} for clause in requirement.specifier)
    }
    assert pinned == {"vidscore-client"}


def test_every_other_requirement_has_a_lower_bound() -> None:
    unbounded = {
        requirement.name
        for requirement in _declared()
        if not any(clause.operator in {">=", "=="} for clause in requirement.specifier)
    }
    assert unbounded == set()


def test_psycopg_comes_only_with_the_postgresql_extra() -> None:
    [psycopg] = [text for text in requirements() if "psycopg" in text]
    assert psycopg.startswith("psycopg[binary]>=")
    assert "extra == 'postgresql'" in psycopg.replace('"', "'")


@pytest.mark.slow
def test_what_a_hosting_server_needs_comes_only_with_the_server_extra() -> None:
    """The command line knows all of it, to say what to install if it is missing.

    The client's requirements are always installed; a server may need a newer version of one.
    """
    needed = [Requirement(text) for text in importlib.metadata.requires("vidscore") or []]
    client = importlib.metadata.requires("vidscore-client") or []
    extra = {found.name for found in needed if "server" in str(found.marker)}
    extra -= {Requirement(text).name for text in client}
    found = importlib.metadata.packages_distributions()
    known = {canonicalize_name(name) for package in EXTRAS["server"] for name in found[package]}
    assert known == extra
    assert not extra & {found.name for found in needed if found.marker is None}


def test_opencv_comes_only_with_the_video_extra() -> None:
    opencv = [text for text in requirements() if "opencv" in text]
    assert len(opencv) == 1
    assert opencv[0].startswith("opencv-python>=")
    assert "extra == 'video'" in opencv[0].replace('"', "'")


@pytest.mark.parametrize(
    ("package", "extra"),
    [("matplotlib", "plot"), ("narwhals", "dataframes"), ("pyarrow", "parquet"), ("s3fs", "s3")],
)
def test_an_extra_alone_brings_its_package(package: str, extra: str) -> None:
    needed = [found for text in requirements() if (found := Requirement(text)).name == package]
    assert [str(found.marker).replace('"', "'") for found in needed] == [f"extra == '{extra}'"]


def test_the_compiler_of_the_loops_has_the_same_bound_everywhere() -> None:
    """The tests compile as an installation does."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["build-system"]["requires"], *project["dependency-groups"]["test"]]
    assert len({text for text in needed if text.startswith("ziglang")}) == 1


@pytest.mark.parametrize("project", [ROOT, ROOT / "clients/python"])
def test_a_distribution_links_to_its_project(project: Path) -> None:
    """A link into the repository leads to an existing file."""
    read = tomllib.loads((project / "pyproject.toml").read_text(encoding="utf-8"))
    urls = read["project"]["urls"]
    assert {"Homepage", "Documentation", "Source", "Changelog", "Issues", "Security"} == set(urls)
    assert all(url.startswith(urls["Homepage"]) for url in urls.values())
    files = [re.split(r"/(?:blob|tree)/main/|$", url, maxsplit=1)[1] for url in urls.values()]
    assert [name for name in files if not (ROOT / name).exists()] == []
    assert f"({urls['Homepage']}/security/advisories/new)" in (ROOT / "SECURITY.md").read_text()


@pytest.mark.lowest
def test_the_lowest_environment_has_exactly_the_lower_bounds() -> None:
    installed = {name: Version(importlib.metadata.version(name)) for name in lower_bounds()}
    assert installed == lower_bounds()


def test_both_distributions_carry_the_same_licence() -> None:
    assert (ROOT / "LICENSE").read_bytes() == (ROOT / "clients/python/LICENSE").read_bytes()


PROJECTS = {
    folder: tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    for folder in (ROOT, ROOT / "clients/python")
}
TRIED = (ROOT / ".github/workflows/release.yml").read_text("utf-8")


@pytest.mark.parametrize("project", PROJECTS.values(), ids=["vidscore", "vidscore-client"])
def test_every_declared_python_is_tried_before_a_release(project: dict[str, Any]) -> None:
    prefix = "Programming Language :: Python :: "
    declared = [text.removeprefix(prefix) for text in project["classifiers"] if prefix in text]
    pythons = [text for text in declared if re.fullmatch(r"3\.\d+", text)]
    matrix = yaml.safe_load(TRIED)["jobs"]["try"]["strategy"]["matrix"]
    assert pythons == matrix["python"]
    assert project["requires-python"] == f">={pythons[0]}"


def test_the_citation_names_the_version_and_the_licence_of_the_package() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    project = PROJECTS[ROOT]
    assert citation["version"] == VERSION
    assert citation["license"] == project["license"]
    assert citation["repository-code"] == project["urls"]["Source"]
    assert [author["name"] for author in citation["authors"]] == [
        author["name"] for author in project["authors"]
    ]
