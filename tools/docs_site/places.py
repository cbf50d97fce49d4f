"""Where each page of the repository stands on the documentation site.

Pages of ``docs/`` stand at the top, a ``README.md`` is the index of its folder, and a client's page
has the name of its language. What is no page (a proto, a folder, the licence) stays where the
sources are published.
"""

from __future__ import annotations

import posixpath
import tomllib
from functools import cache
from pathlib import PurePosixPath

from tools.docs_pages import ROOT, pages

PICTURES = {".png", ".svg"}
_NAMED = {
    "README.md": "overview.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "SECURITY.md": "security.md",
}


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
    """Address of the folder in which the sources are published."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return f"{project['urls']['Source']}/blob/main/"


def target_on_site(page: str, target: str) -> str:
    """What a link of a page leads to on the site.

    Args:
        page: Path of the page in the repository.
        target: What its link says.
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
