"""The navigation of the site, taken from its first page.

``docs/README.md`` has a heading for each main section. Some sections have headings of groups. Each
section or group lists its pages. A page that is not listed is below the index of its folder.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

INDEX = "index.md"
_HEADING = re.compile(r"^(?P<level>##|###) (?P<title>.+)$")
_ITEM = re.compile(r"^- .*?(?=^- |^#|^$|\Z)", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\[(?P<title>[^\]]+)\]\((?P<target>[^()\s#]+\.md)\)")


@dataclass(frozen=True)
class Entry:
    """A page in the navigation.

    Attributes:
        title: Its title on the first page.
        place: Its path on the site.
        about: Its description on the first page.
    """

    title: str
    place: str
    about: str


@dataclass(frozen=True)
class Group:
    """Pages below one heading of the navigation."""

    title: str
    entries: tuple[Entry, ...]


class NavigationError(Exception):
    """A page is missing from the navigation, listed twice, or listed but does not exist."""


def groups(index: str) -> list[Group]:
    """The groups of pages that the first page lists.

    Args:
        index: Text of the first page, with the links of the site.
    """
    found, door, title, lines = [], "", "", list[str]()
    for line in [*index.splitlines(), "## end"]:
        heading = _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        entries = tuple(_entries("\n".join(lines)))
        if entries and title:
            found.append(Group(title, entries))
        lines = []
        if heading["level"] == "##":
            door = title = heading["title"]
        else:
            title = f"{door}: {heading['title'].lower()}"
    return found


def _entries(text: str) -> Iterable[Entry]:
    for item in _ITEM.findall(text):
        plain = " ".join(item.removeprefix("- ").split())
        links = list(_LINK.finditer(plain))
        if links and links[0].start() == 0:
            about = plain[links[0].end() :].removeprefix(": ")
            links = links[:1]  # the rest describes this page, with any further links
        else:
            about = plain
        for link in links:
            yield Entry(link["title"], link["target"], _LINK.sub(r"\g<title>", about))


def write_navigation(folder: Path, listed: Sequence[Group]) -> None:
    """Write the navigation into the first page and the indexes of folders.

    Raises:
        NavigationError: If a page is in none of them, is listed twice, or does not exist.
    """
    named = [entry.place for group in listed for entry in group.entries]
    twice = sorted({place for place in named if named.count(place) > 1})
    written = {str(path.relative_to(folder)) for path in folder.rglob("*") if _is_page(path)}
    below = {place: posixpath.join(posixpath.dirname(place), INDEX) for place in written}
    children = {
        index: sorted(place for place, own in below.items() if own == index and place not in named)
        for index in written & set(named)
        if posixpath.basename(index) == INDEX
    }
    reached = {INDEX, *named, *(place for places in children.values() for place in places)}
    lost, gone = sorted(written - reached), sorted(set(named) - written)
    if twice or lost or gone:
        raise NavigationError(
            f"listed twice on the first page: {twice}; not listed: {lost}; not there: {gone}"
        )
    _append(folder / INDEX, [_toctree(group.title, _lines(group)) for group in listed])
    for index, places in children.items():
        here = posixpath.dirname(index)
        inside = [_name(posixpath.relpath(place, here)) for place in places if place != index]
        _append(folder / index, [_toctree("", inside)])


def _is_page(path: Path) -> bool:
    return path.suffix in {".md", ".rst"}


def _lines(group: Group) -> list[str]:
    return [f"{entry.title} <{_name(entry.place)}>" for entry in group.entries]


def _name(place: str) -> str:
    return posixpath.splitext(place)[0]


def _toctree(caption: str, lines: Iterable[str]) -> str:
    options = [":hidden:", *([f":caption: {caption}"] if caption else [])]
    return "\n".join(["```{toctree}", *options, "", *lines, "```", ""])


def _append(page: Path, parts: Iterable[str]) -> None:
    page.write_text("\n".join([page.read_text("utf-8"), *parts]), "utf-8")
