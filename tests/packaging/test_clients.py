"""The packages of all clients have one version and licence."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from tests.support.requirements import missing
from tests.support.tree import ROOT, tracked_files
from tools.clients import LANGUAGES, add_languages

from vidscore_client import __version__

CLIENTS = ROOT / "clients"

VERSIONS = {
    "python": ("vidscore_client/_version.py", r'__version__ = "([^"]+)"'),
    "typescript": ("package.json", r'^  "version": "([^"]+)"'),
    "go": ("version.go", r'Version = "([^"]+)"'),
    "java": ("pom.xml", r"<artifactId>vidscore-client</artifactId>\s*<version>([^<]+)</version>"),
    "rust": ("Cargo.toml", r'^version = "([^"]+)"'),
    "cpp": ("include/vidscore/version.h", r'"([\d.]+)"'),
}
"""Where each language's package states its version."""


def _folder(language: str) -> Path:
    folder = CLIENTS / language
    if not folder.is_dir():
        missing(f"clients/{language} is not there")
    return folder


def test_this_test_knows_every_language() -> None:
    assert set(VERSIONS) == set(LANGUAGES)


@pytest.mark.parametrize("named", [[], ["go", "rust"]])
def test_a_command_accepts_the_names_of_some_clients_or_none(named: list[str]) -> None:
    parser = argparse.ArgumentParser()
    add_languages(parser)
    assert parser.parse_args(named).languages == named


def test_a_command_refuses_a_language_that_has_no_client(
    capsys: pytest.CaptureFixture[str],
) -> None:
    parser = argparse.ArgumentParser()
    add_languages(parser)
    with pytest.raises(SystemExit):
        parser.parse_args(["cobol"])
    assert "'cobol' is none of python, " in capsys.readouterr().err


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_has_the_common_version(language: str) -> None:
    name, pattern = VERSIONS[language]
    text = (_folder(language) / name).read_text(encoding="utf-8")
    found = re.search(pattern, text, re.MULTILINE)
    assert found is not None
    assert found[1] == __version__


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_has_the_repositorys_licence(language: str) -> None:
    assert (_folder(language) / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_client_says_how_to_use_it(language: str) -> None:
    assert (_folder(language) / "README.md").is_file()


def test_the_protos_are_in_the_repository_once() -> None:
    found = {path.parent for path in tracked_files() if path.suffix == ".proto"}
    assert found == {ROOT / "protos/vidscore/v1"}
