"""Every campaign detects the bugs planted for it, within the effort of CI."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.campaigns.planted import Planted, catches, planted_bugs
from tests.support.tree import ROOT
from tools.campaign_record import VARIABLE


@pytest.mark.campaign
@pytest.mark.parametrize("bug", planted_bugs(), ids=lambda bug: bug.path.stem)
def test_a_planted_bug_is_caught(
    bug: Planted, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its findings are no faults of the product, and are not recorded as such."""
    record = tmp_path / "record.json"
    monkeypatch.setenv(VARIABLE, str(record))
    said = catches(bug, tmp_path)
    assert re.search(bug.says, said), said[-3000:]
    assert not record.exists()


def test_every_planted_bug_applies_to_the_present_sources() -> None:
    commands = [["git", "apply", "--check", str(bug.path)] for bug in planted_bugs()]
    unfit = [command[-1] for command in commands if subprocess.run(command, cwd=ROOT).returncode]
    assert commands
    assert unfit == []
