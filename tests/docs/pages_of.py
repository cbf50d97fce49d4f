"""Helpers to read pages: sections, rows of tables, and code."""

from __future__ import annotations

import re

from tools.docs_pages import ROOT, blocks

DOCS = ROOT / "docs"


def page(name: str) -> str:
    """Text of a page of docs/."""
    return (DOCS / name).read_text("utf-8")


def section(text: str, heading: str) -> str:
    """The text under a heading, up to the next one of its level or above."""
    level = len(heading) - len(heading.lstrip("#"))
    match = re.search(
        rf"^{re.escape(heading)}$\n(.*?)(?=^#{{1,{level}}} |\Z)", text, re.DOTALL | re.MULTILINE
    )
    assert match is not None, f"there is no {heading!r}"
    return match[1]


def first_cells(text: str) -> list[str]:
    """The code words in the first cell of every row of every table, in order."""
    rows = re.findall(r"^\| (.+?)(?<!\\) \|", text, re.MULTILINE)
    return [word for cell in rows for word in re.findall(r"`([^`]+)`", cell)]


def code_of(text: str) -> list[str]:
    """All code: commands and programs of blocks, and code spans."""
    prose = text
    found = []
    for block in blocks(text):
        prose = prose.replace(block.text, "")
        if block.language == "console":
            joined = block.text.replace("\\\n", " ")
            found += [line[2:] for line in joined.splitlines() if line.startswith("$ ")]
        elif block.language == "python":
            found.append(block.text)
    return found + re.findall(r"`([^`\n]+)`", prose)
