"""The README's example runs unchanged, and prints what it promises."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from tests.support.tree import ROOT

README = (ROOT / "clients/python/README.md").read_text(encoding="utf-8")
[EXAMPLE] = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.mark.slow
def test_the_example_scores_a_perfect_detector_with_1(target: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", EXAMPLE.replace("localhost:50051", target)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "1.0"


def test_the_streaming_example_has_ten_lines() -> None:
    assert len([line for line in EXAMPLE.splitlines() if line.strip()]) == 10
