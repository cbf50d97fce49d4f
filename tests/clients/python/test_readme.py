"""The README's code runs unchanged, and prints what it promises."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from tests.support.tree import ROOT

import vidscore_client

README = (ROOT / "clients/python/README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
PRINTED = ["1.0", "0.6666666666666666", "1", "INVALID_INPUT"]
"""A line that each block prints."""


@pytest.mark.slow
@pytest.mark.parametrize(("block", "line"), [*zip(BLOCKS, PRINTED, strict=True)], ids=PRINTED)
def test_each_block_runs_against_a_real_server(target: str, block: str, line: str) -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", block.replace("localhost:50051", target)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert ended.returncode == 0, ended.stderr
    assert line in ended.stdout.splitlines()


def test_the_table_of_errors_names_every_exception() -> None:
    exceptions = {
        name
        for name, value in vars(vidscore_client).items()
        if isinstance(value, type) and issubclass(value, vidscore_client.VidscoreError)
    }
    table = set(re.findall(r"`(\w+Error)`", README))
    assert exceptions == table


def test_the_streaming_example_has_ten_lines() -> None:
    assert len([line for line in BLOCKS[0].splitlines() if line.strip()]) == 10
