"""The lock file of CI's environment covers the declared dependencies, and names no host."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.support.tree import ROOT
from tools.lower_bounds import DISTRIBUTIONS, build_requirements, requirements

LOCK = (ROOT / "requirements.lock").read_text("utf-8")
PINS = {
    canonicalize_name(name): version
    for name, version in re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.MULTILINE)
}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
GROUPS = [text for name in ("test", "lint") for text in PROJECT["dependency-groups"][name]]
DECLARED = sorted({*requirements(), *build_requirements(), *GROUPS})


@pytest.mark.parametrize("text", DECLARED)
def test_every_declared_dependency_is_locked_at_a_version_that_fits(text: str) -> None:
    requirement = Requirement(text)
    if requirement.name not in DISTRIBUTIONS:
        assert requirement.specifier.contains(PINS[canonicalize_name(requirement.name)])


def test_every_locked_version_has_a_hash() -> None:
    entries = re.findall(r"^[\w.-]+==.*(?:\n    .*)+", LOCK, re.MULTILINE)
    assert len(entries) == len(re.findall(r"^[\w.-]+==", LOCK, re.MULTILINE)) > len(PINS) / 2
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_lock_file_names_no_host_and_no_path() -> None:
    lines = [line.strip() for line in LOCK.splitlines()]
    assert [
        line for line in lines if not re.match(r"[\w.-]+==|--hash=sha256:[0-9a-f]{64}", line)
    ] == []
    assert "://" not in LOCK
