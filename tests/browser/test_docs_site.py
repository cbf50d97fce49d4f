"""The documentation site in Chromium: narrow screens, search, and no foreign requests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from tests.support.requirements import missing
from tests.support.tree import ROOT

pytestmark = pytest.mark.campaign

SITE = ROOT / "build/site"
SAMPLES = (
    "index.html",
    "tutorials/host.html",
    "formats.html",
    "evaluators/coco.html",
    "reference/library.html",
    "reference/http.html",
    "view.html",
    "clients/rust.html",
)
OF_THE_THEME = ("definition-list", "target-size")
"""Rules that its long signatures and its lists of pages break."""

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}


class Quiet(SimpleHTTPRequestHandler):
    """Serves files without logging."""

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name that it has
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Where the site is served."""
    if not (SITE / "index.html").is_file():
        missing("what `make docs-site` builds")
    handler = partial(Quiet, directory=str(SITE))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("name", SAMPLES)
def test_a_page_is_accessible_and_fits_wide_and_narrow_screens(
    tab: Any, address: str, name: str
) -> None:
    """The tab itself fails if a page reports an error or requests something from another server."""
    watched = tab(f"{address}/{name}")
    for size, scheme in ((WIDE, "light"), (NARROW, "dark")):
        watched.page.set_viewport_size(size)
        watched.page.emulate_media(color_scheme=scheme)
        assert watched.overflow() == 0, watched.beyond_the_edge()
        found = watched.violations()
        assert [one for one in found if not one.startswith(OF_THE_THEME)] == []


def test_a_dark_system_gets_dark_pages(tab: Any, address: str) -> None:
    watched = tab(f"{address}/index.html")
    seen = []
    for scheme in ("light", "dark"):
        watched.page.emulate_media(color_scheme=scheme)
        seen.append(watched.page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert seen[0] == "rgb(255, 255, 255)"
    assert seen[1] != seen[0]


def test_the_search_finds_the_page_of_a_word(tab: Any, address: str) -> None:
    watched = tab(f"{address}/index.html")
    watched.page.get_by_placeholder("Search").first.fill("fragmentations")
    watched.page.keyboard.press("Enter")
    first = watched.page.locator("ul.search li a")
    first.first.wait_for()
    assert "evaluators/clear.html" in " ".join(
        link.get_attribute("href") or "" for link in first.all()
    )


def test_the_menu_on_a_phone_leads_to_the_main_sections(tab: Any, address: str) -> None:
    watched = tab(f"{address}/index.html", viewport=NARROW)
    watched.page.locator("header label[for='__navigation']").click()
    watched.page.locator(".sidebar-tree").get_by_role("link", name="Take part").click()
    watched.page.get_by_role("heading", name="Take part", exact=False).first.wait_for()
    assert watched.page.url.endswith("/tutorials/take-part.html")
