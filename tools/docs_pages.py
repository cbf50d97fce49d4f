"""The pages of the documentation and their parts: blocks of code, headings, links.

The info string of a block may have these words after its language:

``file=NAME``
    The block is a file that the examples of its page use.
``output``
    The block is the output of the `python` block before it.
``norun``
    The block is not run: it needs a network or Docker, or does not end.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_BLOCK = re.compile(
    r"^```(?P<language>[\w+-]*)(?P<words>[^\n`]*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)
_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)\)")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: First word of its info string.
        words: The other words.
        text: Its lines.
        start: Offset of its text in the page.
        line: Line of the page on which its text begins, counted from 1.
    """

    language: str
    words: tuple[str, ...]
    text: str
    start: int
    line: int

    @property
    def file(self) -> str | None:
        """Name of the file that the block declares; None if it declares none."""
        names = [word.removeprefix("file=") for word in self.words if word.startswith("file=")]
        return names[0] if names else None


def pages() -> list[Path]:
    """Every Markdown page of the repository, unless git ignores it."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    found = sorted({ROOT / name for name in listing.split("\0") if name})
    return [page for page in found if page.is_file()]


def example_pages() -> list[Path]:
    """The pages whose examples run; the examples of the client's README have separate tests."""
    return [page for page in pages() if page.parent == ROOT or page.is_relative_to(ROOT / "docs")]


def blocks(text: str) -> list[Block]:
    """Every fenced block of a page, in order."""
    return [
        Block(
            language=match["language"],
            words=tuple(match["words"].split()),
            text=match["text"],
            start=match.start("text"),
            line=text.count("\n", 0, match.start("text")) + 1,
        )
        for match in _BLOCK.finditer(text)
    ]


def headings(text: str) -> list[str]:
    """Every heading outside blocks."""
    return _HEADING.findall(_BLOCK.sub("", text))


def anchors(text: str) -> set[str]:
    """The anchors that GitHub makes for the headings of a page."""
    found: set[str] = set()
    for heading in headings(text):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 0
        while (name := f"{slug}-{number}" if number else slug) in found:
            number += 1
        found.add(name)
    return found


def links(text: str) -> Iterator[str]:
    """The target of every link outside blocks."""
    yield from _LINK.findall(_BLOCK.sub("", text))


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |"
                     for row in lines)  # fmt: skip


def code(text: object) -> str:
    """A text as a code span; an empty text stays empty."""
    return f"`{text}`" if str(text) else ""
