"""A golden file changes only with the version of its evaluator.

`tests/golden/<evaluator>/<version>.json` holds the scores of that version of the evaluator for some
data; a test beside the evaluator's others compares them. `tests/golden/versions.json` seals each
file with its digest. A change of scores needs a new version with a new file and a new seal; a seal
that was ever committed stays.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.support.tree import ROOT

from vidscore_evaluators.registry import evaluator_class

GOLDEN = ROOT / "tests/golden"
LEDGER = GOLDEN / "versions.json"
SEALS: dict[str, str] = json.loads(LEDGER.read_text(encoding="utf-8"))
FILES = sorted(path for path in GOLDEN.glob("*/*") if path.is_file())


def _key(path: Path) -> str:
    return path.relative_to(GOLDEN).as_posix()


def _earlier_ledgers() -> list[dict[str, Any]]:
    """Every ledger that was ever committed, as far as the history of this clone goes back."""
    name = LEDGER.relative_to(ROOT).as_posix()
    commits = _git("log", "--format=%H", "--diff-filter=AM", "--", name).split()
    return [json.loads(_git("show", f"{commit}:{name}")) for commit in commits]


def _git(*arguments: str) -> str:
    return subprocess.run(
        ["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def test_there_are_golden_files() -> None:
    assert FILES


@pytest.mark.parametrize("path", FILES, ids=_key)
def test_a_golden_file_has_its_sealed_digest(path: Path) -> None:
    """On failure: if a score has changed, the evaluator needs a new version and a new file."""
    assert SEALS.get(_key(path)) == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("path", FILES, ids=_key)
def test_a_golden_file_names_its_evaluator_and_version(path: Path) -> None:
    golden = json.loads(path.read_text(encoding="utf-8"))
    assert (golden["evaluator"], golden["version"]) == (path.parent.name, path.stem)


@pytest.mark.parametrize("name", sorted({path.parent.name for path in FILES}))
def test_the_present_version_of_an_evaluator_has_a_golden_file(name: str) -> None:
    assert f"{name}/{evaluator_class(name).version}.json" in SEALS


def test_every_seal_has_its_golden_file() -> None:
    assert sorted(SEALS) == [_key(path) for path in FILES]


def test_a_committed_seal_never_changes() -> None:
    for earlier in _earlier_ledgers():
        assert {key: SEALS.get(key) for key in earlier} == earlier
