"""Every page in Chromium: axe in light and dark, narrow and wide, and the size of a load."""

from __future__ import annotations

from typing import Any

import pytest
from tests.browser.exhibits import Exhibits
from tests.browser.pages import SAMPLES, Sample
from tests.browser.states import STATES
from tests.browser.watched import Watched
from tests.support.varieties import first_else_nightly

pytestmark = pytest.mark.campaign

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}

MOST_BYTES = 200_000
MOST_SCRIPT_BYTES = 105_000

READ = [one for one in SAMPLES if not one.is_file and not one.is_part]


def role_of(sample: Sample) -> str:
    return "participant" if "participant" in sample.seen_by else "organiser"


def faults_of(watched: Watched) -> list[str]:
    """Accessibility faults of a page, wide and light, then narrow and dark."""
    found = []
    for size, scheme in ((WIDE, "light"), (NARROW, "dark")):
        watched.page.set_viewport_size(size)
        watched.page.emulate_media(color_scheme=scheme)
        found += [f"{scheme}, {size['width']} px: {one}" for one in watched.violations()]
        if too_wide := watched.overflow():
            widest = watched.beyond_the_edge()
            found.append(f"{too_wide} px wider than {size['width']} px: {widest}")
    return found


@pytest.fixture(scope="module")
def tabs(chromium: Any, exhibits: Exhibits) -> Any:
    """A tab of each role, signed in."""
    contexts: dict[str, Any] = {  # Without animations: axe would judge colours in transition.
        role: chromium.new_context(storage_state=state, reduced_motion="reduce")
        for role, state in exhibits.sessions.items()
    }
    yield {role: Watched(context.new_page()) for role, context in contexts.items()}
    for context in contexts.values():
        context.close()


@pytest.mark.parametrize(
    "sample", first_else_nightly(READ, lambda one: one.route), ids=lambda one: one.address
)
def test_a_page_is_accessible_and_fits_a_narrow_screen(
    tabs: dict[str, Watched], exhibits: Exhibits, sample: Sample
) -> None:
    watched = tabs[role_of(sample)]
    watched.complaints.clear()
    watched.page.goto(exhibits.url(sample.address))
    assert faults_of(watched) == []
    assert watched.complaints == []


@pytest.mark.parametrize("address", ["/benchmarks/open", "/benchmarks/open/board"])
def test_a_public_page_is_accessible_without_signing_in(
    tabs: dict[str, Watched], exhibits: Exhibits, address: str
) -> None:
    watched = tabs["nobody"]
    watched.page.goto(exhibits.url(address))
    assert faults_of(watched) == []


@pytest.mark.parametrize("state", first_else_nightly([*STATES], lambda state: STATES[state][0]))
def test_a_page_that_refuses_or_shows_once_is_accessible_too(
    tabs: dict[str, Watched], exhibits: Exhibits, state: str
) -> None:
    role, bring_about = STATES[state]
    bring_about(tabs[role].page, exhibits)
    assert faults_of(tabs[role]) == []


@pytest.mark.parametrize(
    "address",
    [
        "/sign-in",
        "/benchmarks/open/board",
        "/benchmarks/open/submissions/first",
        "/benchmarks/open/submit",
    ],
)
def test_a_first_load_is_small(chromium: Any, exhibits: Exhibits, address: str) -> None:
    context = chromium.new_context(storage_state=exhibits.sessions["participant"])
    page = context.new_page()
    answers: list[tuple[str, int]] = []

    def note(asked: Any) -> None:
        sizes = asked.sizes()
        size = sizes["responseBodySize"] + sizes["responseHeadersSize"]
        answers.append((asked.resource_type, size))

    page.on("requestfinished", note)
    page.goto(exhibits.url(address), wait_until="networkidle")
    context.close()
    assert len(answers) >= 3  # Page, style, script.
    assert sum(size for _, size in answers) < MOST_BYTES
    assert sum(size for kind, size in answers if kind == "script") <= MOST_SCRIPT_BYTES
