"""Pages as the site's generator reads them.

Ours are CommonMark with words behind the language of a block, for the tests that run it. A
generator needs neither these words nor languages that it has no colours for; the name of a file
stands above its block, and links lead to places of the site.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tools.docs_pages import ROOT
from tools.docs_site.places import pictures, site_pages, target_on_site

LANGUAGES = {"csv": "text", "sh": "console", "rust,no_run": "rust"}
"""What a block is coloured as whose language has no colours of its own."""

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,})(?P<language>[\w+,-]*)(?P<words>[^\n`]*)$", re.MULTILINE
)
_FILE = re.compile(r" file=(?P<name>\S+)")
_BLOCK = re.compile(r"^ *(`{3,})[^\n`]*\n.*?^ *\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^()\s]+)(?=\))")
_GENERATED = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)


def copy_pages(folder: Path) -> None:
    """Write every page and picture into a folder, each to its place on the site."""
    for name, place in site_pages().items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(stripped(name, (ROOT / name).read_text("utf-8")), "utf-8")
    for name, place in pictures().items():
        target = folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((ROOT / name).read_bytes())


def stripped(page: str, text: str) -> str:
    """A page without the words that only its tests read, and with the links of the site.

    Args:
        page: Path of the page in the repository.
        text: What stands on it.
    """
    plain = _GENERATED.sub("", text)
    return _outside_code(_FENCE.sub(_plain_fence, plain), lambda part: _relinked(page, part))


def _plain_fence(match: re.Match[str]) -> str:
    language, file = match["language"], _FILE.search(match["words"])
    title = f"{match['indent']}`{file['name']}`:\n\n" if file else ""
    return f"{title}{match['indent']}{match['marks']}{LANGUAGES.get(language, language)}"


def _relinked(page: str, text: str) -> str:
    return _LINK.sub(lambda match: target_on_site(page, match["target"]), text)


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """A text in which all is changed but blocks and code spans."""
    parts, end = [], 0
    for match in _BLOCK.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(text[end:])])
