"""Checks of a built site: no link is dead, and nothing is loaded from other hosts."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {
    "audio": ("src",),
    "iframe": ("src",),
    "img": ("src", "srcset"),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "video": ("src", "poster"),
}
"""The attributes of each element that make a browser load something."""
_FOREIGN_STYLE = re.compile(r"(?:url\(\s*[\"']?|@import\s+[\"'])((?:https?:)?//[^\"')\s]+)")


@dataclass
class Seen(HTMLParser):
    """The links and anchors of a page.

    Attributes:
        anchors: Names that a link can point to.
        links: Targets of its links.
        loaded: URLs that a browser loads to show it.
    """

    anchors: set[str] = field(default_factory=set)
    links: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value for name, value in attrs if value is not None}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") == "canonical":
            return
        self.loaded += [given[name] for name in LOADED.get(tag, ()) if name in given]


def faults_of_site(folder: Path) -> list[str]:
    """All faults of a built site."""
    seen = {page: _seen(page.read_text("utf-8")) for page in sorted(folder.rglob("*.html"))}
    faults = [] if seen else [f"{folder}: found no page, expected some"]
    for page, found in seen.items():
        name = page.relative_to(folder)
        faults += [
            f"{name}: the link {link} leads nowhere"
            for link in dict.fromkeys(found.links)
            if not _leads_somewhere(page, link, seen)
        ]
        faults += [f"{name}: fetches {url}" for url in found.loaded if _is_foreign(url)]
    for sheet in sorted(folder.rglob("*.css")):
        urls = _FOREIGN_STYLE.findall(sheet.read_text("utf-8"))
        faults += [f"{sheet.relative_to(folder)}: fetches {url}" for url in urls]
    return faults


def _seen(text: str) -> Seen:
    found = Seen()
    found.feed(text)
    found.close()
    return found


def _is_foreign(url: str) -> bool:
    return bool(urlsplit(url).netloc)


def _leads_somewhere(page: Path, link: str, seen: dict[Path, Seen]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return parts.scheme in {"http", "https", "mailto"}
    path = unquote(parts.path)
    target = Path(posixpath.normpath(page.parent / path)) if path else page
    if target.is_dir():
        target /= "index.html"
    if target not in seen:
        return target.is_file() and not parts.fragment
    return not parts.fragment or unquote(parts.fragment) in seen[target].anchors
