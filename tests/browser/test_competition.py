"""A competition in browsers: its form, invalid and corrected files, live streams, new truth."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.browser.competition import Competition, frames_of
from tests.browser.exhibits import sign_in
from tests.browser.planted import planted_in
from tests.browser.states import press

pytestmark = pytest.mark.campaign

TRUTH = (211.37591, 123.84672, 301.62918, 208.51347)
"""The box of every frame of the first revision."""

SEQUENCES = ("north", "south", "east")
FRAMES = 4
HEADER = "sequence,frame,x1,y1,x2,y2,class,confidence"
NAME = "harbour"
TIMEOUT_MS = 60_000


def csv_text(box: tuple[float, ...], *, skipped: int = 0) -> str:
    """A box in each frame, except the last frames of each sequence, which are empty."""
    rows = [HEADER]
    for name in SEQUENCES:
        for frame in range(FRAMES):
            has_box = frame < FRAMES - skipped
            cells = [*box, "Car", 0.75] if has_box else 6 * [""]
            rows.append(",".join(map(str, [name, frame, *cells])))
    return "\n".join(rows) + "\n"


def payload(name: str, text: str) -> dict[str, object]:
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


@pytest.fixture
def pages(chromium: Any, site: Competition) -> Iterator[dict[str, Any]]:
    """Browsers of the organiser and of two teams, signed in."""
    contexts = {name: chromium.new_context() for name in ("organiser", "red", "blue")}
    found = {name: context.new_page() for name, context in contexts.items()}
    for name, page in found.items():
        page.set_default_timeout(TIMEOUT_MS)
        sign_in(page, site, name)
    yield found
    for context in contexts.values():
        context.close()


def upload_truth(page: Any, site: Competition, text: str, comment: str) -> None:
    page.goto(f"{site.site}/organise/benchmarks/{NAME}/truth")
    page.locator("#file").set_input_files(payload("truth.csv", text))
    page.locator("#complete").check()
    page.locator("#comment").fill(comment)
    press(page, "Look at it")
    page.get_by_role("heading", name="What changes").wait_for()
    page.get_by_role("button", name=re.compile("^Make it revision")).click()
    page.get_by_role("heading", name="of the ground truth").wait_for()


def board_order(page: Any, site: Competition) -> list[tuple[str, str]]:
    """Team and truth revision of each ranked row of the board, as the page shows them."""
    page.goto(f"{site.site}/benchmarks/{NAME}/board")
    rows = page.locator("table.boardt tbody tr:has(td.rank)")
    return [
        (
            row.locator("th b").inner_text(),
            row.locator("[data-h='Truth revision']").inner_text(),
        )
        for row in rows.all()
    ]


def board_becomes(page: Any, site: Competition, wanted: list[tuple[str, str]]) -> None:
    """Reload the board until it is as expected."""
    for _ in range(TIMEOUT_MS // 100):
        if board_order(page, site) == wanted:
            return
        page.wait_for_timeout(100)
    assert board_order(page, site) == wanted


def test_a_competition_from_its_form_to_new_truth(pages: dict[str, Any], site: Competition) -> None:
    organiser, red, blue = (pages[name] for name in ("organiser", "red", "blue"))
    received: list[bytes] = []
    for page in (red, blue):
        page.on("domcontentloaded", lambda shown: received.append(shown.content().encode()))
    create(organiser, site)
    show_running_scores(organiser, site)
    upload_truth(organiser, site, csv_text(TRUTH), "first revision")
    submit_mended(red, site)
    board_becomes(red, site, [("red", "1")])
    stream_live(blue, site)
    # All of blue's frames have the car; a frame of each sequence is missing in red's.
    board_becomes(red, site, [("blue", "1"), ("red", "1")])
    # In the second revision the last car of each sequence is gone, so that red is right.
    upload_truth(organiser, site, csv_text(TRUTH, skipped=1), "the last car had left")
    board_becomes(red, site, [("red", "2"), ("blue", "2")])
    assert [body for body in received if planted_in(body, TRUTH)] == []


def create(page: Any, site: Competition) -> None:
    page.goto(f"{site.site}/organise")
    page.get_by_role("link", name="New benchmark").first.click()
    form = page.locator("form[action='/organise/new'][method=post]")
    form.locator("#benchmark_id").fill("Harbour!")
    form.locator("#title").fill("Boats of the harbour")
    form.locator("#evaluators").fill("f1")
    form.locator("#truth_geometry").select_option("box")
    form.locator("#detection_geometry").select_option("box")
    form.locator("#visibility").select_option("live")
    press(page, "Create benchmark")
    page.locator("#benchmark_id-fault-1").wait_for()
    assert page.locator("#title").input_value() == "Boats of the harbour"
    page.locator("#benchmark_id").fill(NAME)
    press(page, "Create benchmark")
    page.wait_for_url(f"**/organise/benchmarks/{NAME}")


def show_running_scores(page: Any, site: Competition) -> None:
    """Change the policy, so that twelve frames are enough for a running score."""
    page.goto(f"{site.site}/organise/benchmarks/{NAME}/policy")
    page.locator("#minimum_frames").fill("1")
    page.locator("main form button.do").first.click()
    press(page, "Save this policy")
    page.wait_for_url(f"**/organise/benchmarks/{NAME}")


def submit_mended(page: Any, site: Competition) -> None:
    """An invalid file, its faults, the corrected file, and its submission."""
    near = tuple(round(edge + 1.5, 2) for edge in TRUTH)
    mended = csv_text(near, skipped=1)
    wrong = mended.replace(str(near[0]), "far", 1)
    page.goto(f"{site.site}/benchmarks/{NAME}")
    page.get_by_role("link", name="Submit").first.click()
    page.get_by_label("Detections").set_input_files(payload("boats.csv", wrong))
    page.get_by_label("Title on the board").fill("Careful")
    press(page, "Check the file")
    page.get_by_role("heading", name="boats.csv was refused. Nothing was submitted.").wait_for()
    row = page.locator("tr", has_text="far")
    assert "line 2" in row.inner_text()
    page.get_by_label("Detections").set_input_files(payload("boats.csv", mended))
    press(page, "Check the file")
    page.get_by_text("The file can be submitted.").wait_for()
    if page.locator("#accept").count():
        page.locator("#accept").check()
    press(page, "Submit")
    page.wait_for_url(f"**/benchmarks/{NAME}/submissions/*")
    page.get_by_role("table").filter(has_text="F1").first.wait_for()


def stream_live(page: Any, site: Competition) -> None:
    """Frames that a program sends appear on the page that its team looks at."""
    with site.client("blue") as client, client.submit(NAME, "live", title="Fast") as stream:
        page.goto(f"{site.site}/benchmarks/{NAME}/submissions/live")
        live = page.locator("#live")
        assert "0 frames are durable" in live.inner_text()
        stream.send_batch(frames_of(TRUTH, shift=1.5))
        stream.flush()
        live.get_by_text("12 frames are durable").wait_for()
        live.get_by_text("Running scores").wait_for()
        stream.seal()
        # The page changes to the report by itself.
        page.get_by_role("region", name="Report").get_by_text("F1").first.wait_for()
    assert "F1" in Path(download(page, "Reports as JSON")).read_text("utf-8").upper()


def download(page: Any, words: str) -> str:
    with page.expect_download() as found:
        page.get_by_role("link", name=words).click()
    return str(found.value.path())
