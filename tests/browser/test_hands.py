"""From signing in to signing out: with only the keyboard, and without a script."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.browser.competition import Competition
from tests.browser.exhibits import GOOD, PRIVATE, Exhibits, sign_in

pytestmark = pytest.mark.campaign

MOST_STEPS = 200
MOST_LOOKS = 20_000
PAUSE_MS = 20
TIMEOUT_MS = 60_000


class Pointer:
    """A user with a mouse, whose browser runs no scripts."""

    def __init__(self, page: Any) -> None:
        self.page = page

    def press(self, target: Any) -> None:
        """Press a button, or follow a link."""
        target.click()

    def fill(self, target: Any, text: str) -> None:
        """Fill in a field."""
        target.fill(text)

    def choose(self, target: Any, option: str) -> None:
        """Choose in a list."""
        target.select_option(option)

    def take_file(self, target: Any, path: Path) -> None:
        """Choose a file."""
        target.set_input_files(path)

    def wait_until_there(self, target: Any) -> None:
        """Reload until something is there: no page changes by itself."""
        for _ in range(MOST_LOOKS):
            if target.count():
                return
            self.page.wait_for_timeout(PAUSE_MS)
            # Until the page is complete: half a page may lack what is waited for.
            with self.page.expect_navigation():
                self.page.get_by_role("link", name="Look again").click()
        raise AssertionError(f"{target} did not come")


class Keyboard(Pointer):
    """A user with only a keyboard."""

    def press(self, target: Any) -> None:
        """Press a button, or follow a link."""
        self._reach(target)
        self.page.keyboard.press("Enter")

    def fill(self, target: Any, text: str) -> None:
        """Fill in a field."""
        self._reach(target)
        self.page.keyboard.type(text)

    def choose(self, target: Any, option: str) -> None:
        """Choose in a list, by the first letters."""
        self._reach(target)
        self.page.keyboard.type(option)
        assert target.input_value() == option

    def take_file(self, target: Any, path: Path) -> None:
        """Choose a file."""
        # Before the way there: the browser takes a while to notice the listener.
        with self.page.expect_file_chooser() as found:
            self._reach(target)
            self.page.keyboard.press("Enter")
        found.value.set_files(path)

    def wait_until_there(self, target: Any) -> None:
        """Wait for something: the page's script replaces "Look again"."""
        target.wait_for()

    def _reach(self, target: Any) -> None:
        """Press Tab until an element has the focus, and shows it."""
        target.wait_for()
        for _ in range(MOST_STEPS):
            self.page.keyboard.press("Tab")
            if target.evaluate("one => one === document.activeElement"):
                outline = target.evaluate("one => getComputedStyle(one).outlineStyle")
                assert outline != "none", f"the focus of {target} cannot be seen"
                return
        raise AssertionError(f"{target} cannot be reached by Tab")


@pytest.mark.parametrize("hands", ["keyboard", "without script"])
def test_a_team_signs_in_looks_submits_chooses_and_signs_out(
    chromium: Any, exhibits: Exhibits, hands: str, tmp_path: Path
) -> None:
    site = exhibits.site
    context = chromium.new_context(java_script_enabled=hands == "keyboard")
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    person = Keyboard(page) if hands == "keyboard" else Pointer(page)
    page.goto(f"{site.site}/sign-in")
    person.fill(page.locator("#token"), site.tokens["red"])
    person.press(page.get_by_role("button", name="Sign in"))
    page.wait_for_url("**/benchmarks")
    look_at_a_board(person)
    name = hands.replace(" ", "-")
    submit_file(person, PRIVATE, name, tmp_path)
    choose_as_final(person)
    person.press(page.get_by_role("button", name="Sign out"))
    page.get_by_role("link", name="Sign in").wait_for()
    page.goto(f"{site.site}/benchmarks/{PRIVATE}")
    assert "/sign-in" in page.url
    context.close()


def look_at_a_board(person: Pointer) -> None:
    """Open the board of a label."""
    page = person.page
    person.press(page.locator("main a[href='/benchmarks/open']").first)
    page.wait_for_url("**/benchmarks/open")
    person.press(page.locator("main a[href='/benchmarks/open/board']").first)
    page.wait_for_url("**/board")
    person.choose(page.locator("#evaluator"), "f1")
    person.fill(page.locator("#label"), "Car")
    person.press(page.get_by_role("button", name="Show"))
    page.wait_for_url("**label=Car**")
    assert page.locator("table.boardt").get_by_text("your team").count() == 1
    person.press(page.get_by_role("navigation", name="Site").get_by_role("link").first)
    page.wait_for_url("**/benchmarks")


def submit_file(person: Pointer, benchmark: str, name: str, folder: Path) -> None:
    """A file, once it is checked."""
    page = person.page
    path = folder / f"{name}.csv"
    path.write_text(GOOD, "utf-8")
    person.press(page.locator(f"main a[href='/benchmarks/{benchmark}']").first)
    person.press(page.locator(f"main a[href='/benchmarks/{benchmark}/submit']").first)
    page.wait_for_url("**/submit")
    person.take_file(page.locator("#file"), path)
    person.press(page.get_by_role("button", name="Check the file"))
    page.wait_for_url("**/uploads/*")
    person.wait_until_there(page.locator("#name"))
    person.fill(page.locator("#name"), name)
    if page.locator("#accept").count():
        page.locator("#accept").press("Space")
    person.press(page.get_by_role("button", name="Submit", exact=True))
    page.wait_for_url(f"**/submissions/{name}")


def choose_as_final(person: Pointer) -> None:
    """Choose a submission for the final order, once it is scored; then undo the choice."""
    page = person.page
    button = page.get_by_role("button", name="Choose as final")
    person.wait_until_there(button)
    person.press(button)
    page.get_by_text("Chosen as final.").wait_for()
    person.press(page.get_by_role("button", name="Undo the choice"))
    button.wait_for()


def test_keys_go_through_the_frames_of_a_submission(chromium: Any, exhibits: Exhibits) -> None:
    context = chromium.new_context(storage_state=exhibits.sessions["organiser"])
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(exhibits.url("/benchmarks/open/submissions/first/frames?sequence=north&frame=2"))
    shown = page.locator("section.view h2")
    for key, frame in (("ArrowLeft", 1), ("ArrowRight", 2), ("n", 3)):
        page.keyboard.press(key)
        page.wait_for_url(f"**frame={frame}**")
        assert shown.inner_text() == f"Frame {frame} of north"
    page.keyboard.press("3")
    assert not page.locator("#k-fn").is_checked()
    context.close()


def test_a_proxy_that_refuses_pieces_is_not_reported_as_a_broken_connection(
    chromium: Any, site: Competition
) -> None:
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    sign_in(page, site, "red")
    page.goto(f"{site.site}/benchmarks/open/submit")
    page.route(
        lambda url: "?offset=" in url,
        lambda route: route.fulfill(status=413, content_type="text/html", body="<h1>Too large"),
    )
    file = {"name": "good.csv", "mimeType": "text/csv", "buffer": GOOD.encode()}
    page.locator("#file").set_input_files(file)
    page.get_by_role("button", name="Check the file").click()
    page.get_by_text("The file was refused.").wait_for(timeout=10_000)
    said = page.locator("[data-said]").inner_text()
    assert said == "The file was refused. A proxy in front of the server answered 413."
    context.close()


def test_an_invitation_that_is_accepted_twice_over_a_slow_network_shows_its_token(
    chromium: Any, site: Competition
) -> None:
    """It is shown once: the answer to a second request would only say so."""
    with site.client("organiser") as client:
        [invitation] = client.invitations.create(["violet"])
    context = chromium.new_context()
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    page.goto(f"{site.site}/invitations/{invitation.secret}")
    slow = {"offline": False, "latency": 2000, "downloadThroughput": -1, "uploadThroughput": -1}
    context.new_cdp_session(page).send("Network.emulateNetworkConditions", slow)
    box = page.get_by_role("button", name="Accept the invitation").bounding_box()
    for _ in range(2):
        page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        page.wait_for_timeout(500)
    page.locator("pre.secret, .bad").wait_for()
    assert page.locator("pre.secret").count() == 1
    context.close()
