"""Links between pages work."""

from __future__ import annotations

from pathlib import Path

import pytest
from tools.docs_pages import ROOT, anchors, links, pages


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_a_page_lead_to_files_and_headings(page: Path) -> None:
    found = links(page.read_text("utf-8"))
    assert [link for link in found if not leads_somewhere(page, link)] == []


def leads_somewhere(page: Path, link: str) -> bool:
    if link.startswith("https://"):
        return True  # The tests need no network.
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    return not anchor or anchor in anchors(target.read_text("utf-8"))


def test_every_page_can_be_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in reached:
            continue
        reached.add(page)
        names = (link.partition("#")[0] for link in links(page.read_text("utf-8")))
        targets = ((page.parent / name).resolve() for name in names if name.endswith(".md"))
        waiting.extend(target for target in targets if target.is_file())
    wanted = [page for page in pages() if page.is_relative_to(ROOT / "docs")]
    assert [str(page.relative_to(ROOT)) for page in wanted if page not in reached] == []
