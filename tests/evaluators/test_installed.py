"""Versions of installed distributions."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from vidscore_evaluators.installed import installed_version


@pytest.mark.parametrize("name", ["numpy", "scipy", "vidscore"])
def test_a_version_is_that_of_the_metadata(name: str) -> None:
    assert installed_version(name) == metadata.version(name)


def test_a_distribution_with_an_ambiguous_folder_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An interrupted installer leaves two folders of one name behind."""
    for version in ("1.0", "2.0"):
        folder = tmp_path / f"thing-{version}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(f"Name: thing\nVersion: {version}\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert installed_version("thing") == metadata.version("thing")


def test_a_distribution_that_is_not_installed_has_no_version() -> None:
    with pytest.raises(metadata.PackageNotFoundError):
        installed_version("nothingofthatname")
