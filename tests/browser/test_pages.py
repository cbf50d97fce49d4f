"""Each page for each role in a real browser; planted truth is in no byte that it receives."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.browser.exhibits import ROLES, Exhibits
from tests.browser.pages import SAMPLES
from tests.browser.planted import planted_in
from tests.support.varieties import mostly_nightly

from vidscore_server.web.site.app import PAGES

pytestmark = pytest.mark.campaign

STATIC = "/static/"
"""Files of the package, which contain no benchmark data."""

FIRST = ("participant", "nobody")
"""Roles that may not see the truth, the one with most pages first."""

READERS = [*FIRST, *(role for role in ROLES if role not in FIRST)]


def test_every_page_of_the_site_has_a_sample() -> None:
    routes = {path for module in PAGES for path, _, *methods in module.ROUTES if "GET" in methods}
    assert {one.route for one in SAMPLES} == routes


class Reader:
    """A browser of one role, which records everything that it receives."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._error: Any = import_module("playwright.sync_api").Error
        self._answers: list[Any] = []
        self._files: list[Any] = []
        self.received: dict[str, list[bytes]] = {}
        self.unguarded: list[str] = []
        page.on("response", lambda one: self._answers.append(one))  # noqa: PLW0108 - Playwright marks it
        page.on("download", lambda one: self._files.append(one))  # noqa: PLW0108 - as above

    def sees(self, url: str, *, is_part: bool) -> bool:
        """Open an address; returns whether it is shown, neither refused nor redirected."""
        self._answers.clear()
        self._files.clear()
        self._page.set_extra_http_headers({"HX-Request": "true"} if is_part else {})
        try:
            answer = self._page.goto(url)
        except self._error as error:
            if "Download is starting" not in str(error):
                raise
            self._note_unguarded()
            self.received[url] = [self._file()]
            return True
        self._note_unguarded()
        own = [one for one in self._answers if not urlsplit(one.url).path.startswith(STATIC)]
        self.received[url] = [one.body() for one in own if not 300 <= one.status < 400]
        return bool(answer.status == 200 and urlsplit(answer.url).path == urlsplit(url).path)

    def _note_unguarded(self) -> None:
        for one in self._answers:
            policy = one.headers.get("content-security-policy", "")
            has_policy = "default-src 'self'" in policy and "unsafe" not in policy
            is_kept = STATIC not in one.url and one.headers["cache-control"] != "no-store"
            if not has_policy or is_kept or one.headers["x-content-type-options"] != "nosniff":
                self.unguarded.append(one.url)

    def _file(self) -> bytes:
        for _ in range(6000):
            if self._files:
                return Path(self._files[0].path()).read_bytes()
            self._page.wait_for_timeout(10)
        raise AssertionError("the file did not come")


@pytest.fixture
def reader(chromium: Any, exhibits: Exhibits, role: str) -> Iterator[Reader]:
    """A browser of the role, signed in."""
    context = chromium.new_context(storage_state=exhibits.sessions[role])
    yield Reader(context.new_page())
    context.close()


@pytest.mark.parametrize("role", mostly_nightly(READERS, gate=len(FIRST)))
def test_a_role_sees_its_pages_and_nothing_of_the_truth(
    reader: Reader, exhibits: Exhibits, role: str
) -> None:
    wrong, told = [], []
    for sample in SAMPLES:
        url = exhibits.url(sample.address)
        if reader.sees(url, is_part=sample.is_part) != (role in sample.seen_by):
            wrong.append(sample.address)
        if any(planted_in(body) for body in reader.received[url]):
            told.append(sample.address)
    assert wrong == []
    assert reader.unguarded == []
    if role == "organiser":
        assert "/organise/backup/site.vidscore-backup" in told  # It is found where it is.
    else:
        assert told == []


@pytest.mark.parametrize("role", [one for one in ROLES if one != "nobody"])
def test_a_session_cookie_is_inaccessible_to_scripts_and_other_sites(
    exhibits: Exhibits, role: str
) -> None:
    cookies = {one["name"]: one for one in exhibits.sessions[role]["cookies"]}
    session = cookies["vidscore-session"]
    assert (session["httpOnly"], session["sameSite"]) == (True, "Strict")
    assert all(one["httpOnly"] for one in cookies.values())
