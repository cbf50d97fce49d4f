"""The session in the README is what the demo prints today."""

from __future__ import annotations

import re

from tests.clients.cli.helpers import run_binary
from tools.docs_pages import ROOT, blocks

README = (ROOT / "README.md").read_text("utf-8")


def test_the_session_of_the_demo_is_what_the_demo_prints() -> None:
    """All but the port, the speed, and how far the streams had come when a line was written."""
    [session] = [block.text for block in blocks(README) if block.text.startswith("$ make demo\nv")]
    pasted = session.removeprefix("$ make demo\n")
    done = run_binary("demo", "--speed", "1000")
    assert done.returncode == 0, done.stderr
    assert lasting(pasted) == lasting(done.stdout)


def test_the_streaming_example_has_ten_lines() -> None:
    [example] = [block.text for block in blocks(README) if "score_stream" in block.text]
    assert len([line for line in example.splitlines() if line.strip()]) == 10


def lasting(text: str) -> str:
    """What does not depend on the machine and the moment."""
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text)
    text = re.sub(r"\d+ times faster", "N times faster", text)
    return re.sub(r"(?m)^.*/600 frames, .*\n", "", text)
