"""The viewer in a real browser: clicks, keys and what is shown afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.varieties import mostly_nightly

pytestmark = pytest.mark.campaign

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}


def heading(watched: Any) -> str:
    text: str = watched.page.locator("#frame").inner_text()
    return text


def arrived(watched: Any, wanted: str) -> None:
    watched.page.get_by_role("heading", name=wanted, exact=True).wait_for()


def go(watched: Any, key: str, wanted: str) -> None:
    watched.page.keyboard.press(key)
    arrived(watched, wanted)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", mostly_nightly([NARROW, WIDE]), ids=["400", "1280"])
@pytest.mark.parametrize("where", mostly_nightly(["address", "written"]))
def test_axe_finds_nothing_and_nothing_scrolls_sideways(
    tab: Any, request: pytest.FixtureRequest, where: str, size: dict[str, int], scheme: str
) -> None:
    url = request.getfixturevalue(where)
    watched = tab(url, viewport=size, color_scheme=scheme)
    watched.page.wait_for_selector("[aria-busy]", state="detached")
    assert watched.violations() == []
    assert watched.overflow() == 0


def test_figures_equal_those_of_the_report(tab: Any, address: str) -> None:
    """F1 of falcon is 2 * 9 / (2 * 9 + 1 + 1), its MOTA 1 - (1 + 1) / 10."""
    rows = tab(address).page.locator("#figures-part tbody tr")
    shown = {
        row.locator("th").inner_text(): row.locator("td").first.inner_text() for row in rows.all()
    }
    assert shown["F1 f1"] == "0.9000"
    assert shown["MOTA clear"] == "0.8000"


def test_keys_go_through_frames_mistakes_and_sequences(tab: Any, address: str) -> None:
    watched = tab(address)
    assert heading(watched) == "Frame 2 of Tower/001"
    go(watched, "ArrowRight", "Frame 3 of Tower/001")
    go(watched, "ArrowLeft", "Frame 2 of Tower/001")
    go(watched, "n", "Frame 3 of Tower/001")
    go(watched, "n", "Frame 1 of Tower/002")
    go(watched, "p", "Frame 3 of Tower/001")
    go(watched, "]", "Frame 1 of Tower/002")
    go(watched, "[", "Frame 2 of Tower/001")
    assert "Frame 2 of Tower/001" in watched.page.locator("#said").inner_text()
    assert "sequence=Tower%2F001&frame=2" in watched.page.url


def test_a_view_can_be_opened_again_and_left_with_back(tab: Any, address: str) -> None:
    watched = tab(address)
    go(watched, "n", "Frame 3 of Tower/001")
    assert heading(tab(watched.page.url)) == "Frame 3 of Tower/001"
    watched.page.go_back()
    arrived(watched, "Frame 2 of Tower/001")


def test_a_click_on_a_strip_shows_the_worst_frame_there(tab: Any, address: str) -> None:
    watched = tab(address, viewport=WIDE)
    strip = watched.page.locator("tr", has_text="Tower/002").locator("svg.strip").last
    box = strip.bounding_box()
    strip.click(position={"x": box["width"] * 0.9, "y": box["height"] / 2})
    arrived(watched, "Frame 1 of Tower/002")


def test_a_chosen_confidence_applies_to_the_whole_page(tab: Any, address: str) -> None:
    """From 0.5 on neither falcon nor mole has a false positive."""
    watched = tab(f"{address}?confidence=0.5", viewport=WIDE)
    cells = watched.page.locator("tr", has_text="Tower/001").locator("[data-h='False alarms']")
    assert cells.first.inner_text().split() == ["0", "0"]
    before = tab(address, viewport=WIDE).page.locator("tr", has_text="Tower/001")
    assert before.locator("[data-h='False alarms']").first.inner_text().split() == ["1", "2"]


def test_a_click_on_a_curve_chooses_its_confidence(tab: Any, address: str) -> None:
    watched = tab(address, viewport=WIDE)
    watched.page.locator("circle.hit").last.click(force=True)
    watched.page.wait_for_url("**confidence=**")


LEAST = (
    "Confidence 0.2000. falcon: share of objects found 0.9000, false alarms per frame 0.1667; "
    "mole: share of objects found 0.5000, false alarms per frame 0.3333."
)
"""What all detections come to: 9 and 5 of 10 objects, 1 and 2 false alarms in 6 frames."""


@pytest.mark.parametrize("where", ["address", "written"])
def test_a_pointer_over_a_curve_reads_the_operating_point_there(
    tab: Any, request: pytest.FixtureRequest, where: str
) -> None:
    watched = tab(request.getfixturevalue(where), viewport=WIDE)
    figure = watched.page.locator("figure.plot", has_text="FROC").first
    reading = figure.locator("[data-read]")
    point = figure.locator("circle.hit")
    figure.locator("svg").scroll_into_view_if_needed()
    for place, said in ((4, "objects found 0.9000, false alarms per frame 0.0000; "), (0, LEAST)):
        box = point.nth(place).bounding_box()
        watched.page.mouse.move(box["x"] + box["width"] / 2 + 3, box["y"] + box["height"] / 2 + 12)
        assert said in reading.inner_text()
        assert figure.locator("circle.on").count() == 1
    watched.page.mouse.move(2, 2)
    assert figure.locator("circle.on").count() == 0


def test_arrow_keys_read_the_same_and_enter_chooses_it(tab: Any, address: str) -> None:
    watched = tab(f"{address}?confidence=0.5", viewport=WIDE)
    reading = watched.page.get_by_role("slider", name="Point of FROC")
    assert reading.inner_text().startswith("Confidence 0.4000. ")
    reading.focus()
    watched.page.keyboard.press("ArrowRight")
    assert reading.get_attribute("aria-valuetext").startswith("Confidence 0.8000. ")
    assert reading.get_attribute("aria-valuenow") == "3"
    watched.page.keyboard.press("Home")
    assert reading.inner_text() == reading.get_attribute("aria-valuetext") == LEAST
    watched.page.keyboard.press("ArrowDown")
    assert reading.get_attribute("aria-valuenow") == "0"
    watched.page.keyboard.press("Enter")
    watched.page.wait_for_url("**confidence=0.2**")


def test_a_choice_made_before_the_last_answer_arrives_is_kept(tab: Any, address: str) -> None:
    watched = tab(address, viewport=WIDE)
    page = watched.page
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route(lambda url: "label=Car" in url, hold, times=1)
    with page.expect_request(lambda asked: "label=Car" in asked.url):
        page.locator("#label").select_option("Car")
    page.locator("#by").select_option("errors")
    held[0].continue_()
    page.wait_for_url("**by=errors**")
    assert "label=Car" in page.url
    page.wait_for_function("document.querySelector('#by option[selected]').value === 'errors'")
    assert page.locator("#label").input_value() == "Car"
    assert page.get_by_role("slider", name="Point of FROC").count() == 1


def test_outcomes_and_systems_are_shown_as_chosen(tab: Any, address: str) -> None:
    watched = tab(f"{address}?sequence=Tower/001&frame=2", viewport=WIDE)
    first, second = watched.page.locator(".pic.va"), watched.page.locator(".pic.vb")
    assert second.locator(".o-fp").first.is_visible()
    watched.page.locator("#k-fp").uncheck()
    second.locator(".o-fp").first.wait_for(state="hidden")
    watched.page.keyboard.press("a")
    second.wait_for(state="hidden")
    assert first.is_visible()
    watched.page.wait_for_url("**show=a**")
    watched.page.keyboard.press("d")
    watched.page.locator("tr.same").first.wait_for(state="hidden")


def test_keys_can_be_switched_off(tab: Any, address: str) -> None:
    watched = tab(address)
    watched.page.keyboard.press("?")
    watched.page.locator("#keys-off").check()
    watched.page.locator("h1").click()
    watched.page.keyboard.press("n")
    watched.page.wait_for_timeout(300)
    assert heading(watched) == "Frame 2 of Tower/001"


def test_it_works_without_script(tab: Any, address: str) -> None:
    watched = tab(address, java_script_enabled=False)
    watched.page.get_by_role("link", name="Next mistake").click()
    assert heading(watched) == "Frame 3 of Tower/001"
    assert watched.page.locator("figure.plot svg").count() >= 2


def test_the_written_file_shows_one_frame_after_the_other(tab: Any, written: str) -> None:
    watched = tab(written)
    shown = watched.page.locator(".one:visible h2")
    assert shown.all_inner_texts() == ["Frame 2 of Tower/001"]
    watched.page.keyboard.press("n")
    watched.page.wait_for_url("**#f*")
    assert len(shown.all_inner_texts()) == 1
    assert shown.all_inner_texts() != ["Frame 2 of Tower/001"]


def test_a_page_can_be_printed(tab: Any, address: str) -> None:
    watched = tab(address)
    watched.page.emulate_media(media="print")
    assert watched.page.pdf()[:4] == b"%PDF"
    assert watched.page.locator(".btn:visible").count() == 0


def test_tables_of_printed_curves_stay_beside_each_other(tab: Any, address: str) -> None:
    watched = tab(address, viewport={"width": 718, "height": 1000})  # A4 within its margins.
    watched.page.emulate_media(media="print")
    beyond = watched.page.evaluate(
        "[...document.querySelectorAll('.two .data table')].map(one => "
        "one.getBoundingClientRect().right - one.closest('figure').getBoundingClientRect().right)"
    )
    assert len(beyond) >= 2
    assert max(beyond) < 1
