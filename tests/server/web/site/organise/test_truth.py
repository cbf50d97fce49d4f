"""Truth that organisers upload is previewed first, then confirmed or dropped."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from tests.evaluators.plausibility.odd_masks import ODD, ODD_TRUTH
from tests.server.domain.hosted import BENCHMARK, TRUTH
from tests.server.domain.streets import streets
from tests.server.scene import points
from tests.server.web.site.browsing import Browser, Browsing, Page, browsing

HERE = f"/organise/{BENCHMARK}"
TRUTH_FILE = json.dumps(
    [
        {"sequence_id": 1, "frame": 1, "num_objects": 2, "object_coords": [[10, 20], [300, 200]]},
        {"sequence_id": 1, "frame": 2, "num_objects": 0, "object_coords": []},
        {"sequence_id": 1, "frame": 3, "num_objects": 1, "object_coords": [[50.5, 60.5]]},
    ]
).encode()
OF_ANOTHER_SEQUENCE = TRUTH_FILE.replace(b'"sequence_id": 1', b'"sequence_id": 2')


async def upload(browser: Browser, data: bytes = TRUTH_FILE, **fields: str) -> Page:
    """Upload a file of truth, and open the preview of its changes."""
    form = await browser.get(f"{HERE}/truth")
    file = ("truth.json", data)
    return await browser.upload(form, f"{HERE}/truth", file, **({"format": "auto"} | fields))


async def confirm(browser: Browser, page: Page, **fields: str) -> Page:
    """Create a revision from a previewed file."""
    return await browser.send(page, page.path.partition("?")[0], **fields)


async def test_truth_counts_once_it_is_previewed_and_confirmed(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await upload(site.organiser, complete="yes", comment="first night")
    assert page.status == 200
    assert "It is not a revision yet. 3 objects in 3 frames of 1 sequence" in page.words
    assert "One sequence is new." in page.words
    assert page.text.count('role="img"') == 1
    assert "There is no ground truth yet." in (await site.organiser.get(HERE)).words
    page = await confirm(site.organiser, page)
    assert page.path == f"{HERE}/truth/1"
    assert "3 objects in 3 frames of 1 sequence" in page.words
    row = (await site.organiser.get(HERE)).words
    assert "yes 3 3 1 1 first night" in row
    assert "Waiting files" not in (await site.organiser.get(f"{HERE}/truth")).words


async def test_a_file_that_is_confirmed_twice_makes_one_revision(site: Browsing) -> None:
    """As by a double click."""
    await site.hosted.organiser.create_benchmark()
    page = await upload(site.organiser, complete="yes")
    answers = await asyncio.gather(*(confirm(site.organiser, page) for _ in range(2)))
    assert [answer.status for answer in answers] == [200, 200]
    assert (await site.organiser.get(f"{HERE}/truth/2")).status == 404


async def test_a_dropped_file_leaves_nothing(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await upload(site.organiser)
    address = page.path.partition("?")[0]
    assert "truth.json" in (await site.organiser.get(f"{HERE}/truth")).words
    page = await site.organiser.send(page, f"{address}/drop")
    assert page.path == f"{HERE}/truth"
    assert "Waiting files" not in page.words
    assert (await site.organiser.get(address)).status == 404
    assert "There is no ground truth yet." in (await site.organiser.get(HERE)).words


async def test_a_preview_shows_the_changes_against_the_previous_revision(site: Browsing) -> None:
    """Frames 4 and 5 have no objects, but are missing; if they are kept, nothing changes."""
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    replaced = await upload(site.organiser)
    assert "One sequence is changed." in replaced.words
    assert "1 changed 5 3 3 3" in replaced.words
    assert "It replaces revision 1 as a whole." in replaced.words
    kept = await upload(site.organiser, merge="yes")
    assert "It has the same contents as the revision before." in kept.words
    assert "The other frames of revision 1 are kept." in kept.words
    other = await upload(site.organiser, OF_ANOTHER_SEQUENCE)
    assert "One sequence is new, one sequence is gone." in other.words


async def test_an_empty_file_is_shown_with_a_doubt_and_so_is_what_follows_it(
    site: Browsing,
) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await upload(site.organiser, b"[]", complete="yes")
    assert page.status == 200
    assert "0 objects in 0 frames of 0 sequences" in page.words
    assert "It has no frames." in page.words
    assert "check that the right file was given" in page.words
    assert (await confirm(site.organiser, page, complete="yes")).path == f"{HERE}/truth/1"
    page = await upload(site.organiser, complete="yes")
    assert "One sequence is new." in page.words


async def test_warnings_about_truth_are_shown_before_it_counts(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    twice = TRUTH_FILE.replace(b"[300, 200]", b"[10, 20]")
    page = await upload(site.organiser, twice)
    assert "Nothing about it is doubtful." not in page.words
    assert "Nothing about it is doubtful." in (await upload(site.organiser)).words


async def test_warnings_about_masks_are_shown_before_they_count(site: Browsing) -> None:
    """Likewise an invalid polygon, or runs of another size, with their place."""
    await site.hosted.organiser.create(streets(), public=("sequences", "labels"))
    page = await upload(site.organiser, ODD_TRUTH.encode())
    assert page.status == 200
    for words in ODD:
        assert words.format(side="the ground truth") in page.words
    wrong = ODD_TRUTH.replace('{"size": [6, 8], "counts": [48]}', "[[1, 2, 3, 2, 3]]")
    page = await upload(site.organiser, wrong.replace("[6, 8]", "[8, 6]", 1).encode())
    assert "entry 0" in page.words
    assert "an odd number of coordinates" in page.words
    assert "entry 1" in page.words
    assert "[6, 8], the height and width of the image" in page.words


async def test_unreadable_truth_changes_nothing(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get(f"{HERE}/truth")
    page = await site.organiser.upload(
        form,
        f"{HERE}/truth",
        ("../../truth.csv", b"sequence,frame,x,y\n1,one,2,3\n"),
        format="auto",
        comment="a comment",
    )
    assert page.status == 400
    assert "No revision was made." in page.words
    assert "line 2" in page.words or "column" in page.words
    assert "vidscore-upload" not in page.text
    assert 'value="a comment"' in page.text
    assert "Waiting files" not in page.words
    assert "There is no ground truth yet." in (await site.organiser.get(HERE)).words


async def test_advice_about_truth_names_fields_of_the_form(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await upload(site.organiser, b"sequence;frame;x;y\n1;1;10;20\n")
    assert page.status == 400
    assert "“Format” chooses another format" in page.words
    assert "--input-format" not in page.words


async def test_refused_truth_stays_until_it_is_dropped(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    boxes = b"sequence,frame,x1,y1,x2,y2\n1,1,10,20,30,40\n"
    form = await site.organiser.get(f"{HERE}/truth")
    page = await site.organiser.upload(form, f"{HERE}/truth", ("boxes.csv", boxes), format="auto")
    page = await confirm(site.organiser, page)
    assert page.status == 400
    assert "No revision was made." in page.words
    assert "Drop the file" in page.words


async def test_truth_is_merged_and_read_back_by_revision(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    page = await upload(site.organiser, OF_ANOTHER_SEQUENCE, merge="yes", complete="yes")
    assert "One sequence is new, one sequence stays as it is." in page.words
    await confirm(site.organiser, page)
    assert "6 objects in 8 frames" in (await site.organiser.get(f"{HERE}/truth/2")).words
    assert "3 objects in 5 frames" in (await site.organiser.get(f"{HERE}/truth/1")).words
    for absent in (3, 1 << 31, 10**30):
        assert (await site.organiser.get(f"{HERE}/truth/{absent}")).status == 404


async def test_after_another_change_the_preview_must_be_read_again(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await upload(site.organiser)
    await site.hosted.organiser.upload(points({1: [(1.0, 2.0)]}))
    again = await confirm(site.organiser, page, comment="first")
    assert again.status == 409
    assert "Another revision was made meanwhile" in again.words
    assert 'value="first"' in again.text
    assert (await confirm(site.organiser, again)).path == f"{HERE}/truth/2"


@pytest.mark.slow
async def test_after_a_restart_the_file_must_be_uploaded_again(tmp_path: Path) -> None:
    async with browsing(tmp_path) as site:
        await site.hosted.organiser.create_benchmark()
        path = (await upload(site.organiser)).path
        secret = site.hosted.organiser.secret
    async with browsing(tmp_path) as site:
        browser = Browser(site.nobody.base)
        await browser.sign_in(secret)
        page = await browser.get(path)
        assert page.status == 404
        assert "Choose it again" in page.words
        assert "There is none yet." in page.words
        page = await confirm(browser, await upload(browser))
        assert page.path == f"{HERE}/truth/1"
