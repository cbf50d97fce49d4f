"""Every campaign catches the bugs that are planted for it, within what CI has time for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.campaigns.planted import Planted, catches, planted_bugs


@pytest.mark.campaign
@pytest.mark.parametrize("bug", planted_bugs(), ids=lambda bug: bug.path.stem)
def test_a_planted_bug_is_caught(bug: Planted, tmp_path: Path) -> None:
    said = catches(bug, tmp_path)
    assert re.search(bug.says, said), said[-3000:]
