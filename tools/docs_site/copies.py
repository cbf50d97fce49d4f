"""Copies of the pages for the site's generator, and the path of each on the site.

The pages are CommonMark. Blocks have words after their language, for the tests that run them. The
copies lack these words, replace languages that the generator cannot colour, have the name of a
file above its block, and have links to paths of the site.

Pages of ``docs/`` are at the top level, a ``README.md`` is the index of its folder, and a client's
page is named after its language. Links to other files (a proto, a folder, the licence) lead to the
published sources.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from collections.abc import Callable
from functools import cache
from pathlib import Path, PurePosixPath

from tools.docs_pages import ROOT, pages

PICTURES = {".png", ".svg"}
_NAMED = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}

LANGUAGES = {"csv": "text", "sh": "console", "rust,no_run": "rust"}
"""The language that colours a block, if the generator does not know its own."""

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,})(?P<language>[\w+,-]*)(?P<words>[^\n`]*)$", re.MULTILINE
)
_FILE = re.compile(r" file=(?P<name>\S+)")
_BLOCK = re.compile(r"^ *(`{3,})[^\n`]*\n.*?^ *\1$|`[^`\n]+`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(?<=\]\()(?P<target>[^()\s]+)(?=\))")
_GENERATED = re.compile(r"^<!-- .*? -->\n", re.MULTILINE)


def copy_pages(folder: Path) -> None:
    """Write every page and picture into a folder, each to its path on the site."""
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
        text: Its text.
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
    """A text with a change applied to everything except blocks and code spans."""
    parts, end = [], 0
    for match in _BLOCK.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(text[end:])])


@cache
def site_pages() -> dict[str, str]:
    """The path on the site of every page, by its path in the repository."""
    return {name: _place(name) for name in (str(page.relative_to(ROOT)) for page in pages())}


def pictures() -> dict[str, str]:
    """The path on the site of every picture of the pages, by its path in the repository."""
    docs = ROOT / "docs"
    found = sorted(path for path in docs.rglob("*") if path.suffix in PICTURES)
    return {str(path.relative_to(ROOT)): str(path.relative_to(docs)) for path in found}


def _place(name: str) -> str:
    path = PurePosixPath(name)
    if name in _NAMED:
        return _NAMED[name]
    if path.parts[0] == "clients":
        return f"clients/{path.parts[1]}.md"
    if path.parts[0] != "docs":
        return name
    inside = path.relative_to("docs")
    return str(inside.with_name("index.md") if inside.name == "README.md" else inside)


@cache
def published() -> str:
    """Address of the published sources."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return f"{project['urls']['Source']}/blob/main/"


def target_on_site(page: str, target: str) -> str:
    """The target on the site of a link of a page.

    Args:
        page: Path of the page in the repository.
        target: Target of the link on the page.
    """
    name, mark, anchor = target.partition("#")
    if name.startswith(published()):
        path = name.removeprefix(published())
    elif not name or "://" in name or name.startswith("mailto:"):
        return target
    else:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), name))
    place = {**site_pages(), **pictures()}.get(path)
    if place is None:
        return target if not (ROOT / path).exists() else f"{published()}{path}{mark}{anchor}"
    here = posixpath.dirname(_place(page))
    return f"{posixpath.relpath(place, here or '.')}{mark}{anchor}"
