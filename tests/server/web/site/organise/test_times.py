"""Organisers change when a benchmark opens and closes."""

from __future__ import annotations

from datetime import timedelta

from tests.server.domain import test_private_sequences as split
from tests.server.domain.hosted import BENCHMARK
from tests.server.web.site.browsing import Browsing

HERE = f"/organise/{BENCHMARK}"
PAGE = f"{HERE}/times"


async def test_a_benchmark_gets_another_end_in_utc(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    assert "Opens at once Closes never" in (await site.organiser.get(HERE)).words
    form = await site.organiser.get(PAGE)
    page = await site.organiser.send(form, PAGE, close_time="2096-05-01T12:30")
    assert page.path == HERE
    assert "Closes 1 May 2096, 12:30 UTC" in page.words
    form = await site.organiser.get(PAGE)
    assert form.fields(PAGE)["close_time"] == "2096-05-01T12:30:00"
    # Otherwise a browser refuses any time whose seconds differ from those of the present one.
    assert form.text.count('type="datetime-local"') == form.text.count('step="any"') == 2
    page = await site.organiser.send(form, PAGE, close_time="")
    assert "Closes never" in page.words


async def test_a_wrong_time_is_refused_beneath_its_field(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get(PAGE)
    wrong = {"open_time": "tomorrow", "close_time": "2096-05-01T12:30"}
    page = await site.organiser.send(form, PAGE, **wrong)
    assert page.status == 400
    assert 'id="open_time-fault-1"' in page.text
    wrong["open_time"] = "2096-05-02T12:30"
    page = await site.organiser.send(form, PAGE, **wrong)
    assert page.status == 400
    assert 'id="close_time-fault-1"' in page.text
    assert "a time after open_time" in page.words
    assert "Closes never" in (await site.organiser.get(HERE)).words


async def test_times_changed_by_somebody_else_are_shown_and_not_overwritten(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get(PAGE)
    await site.organiser.send(form, PAGE, close_time="2096-05-01T12:30")
    page = await site.organiser.send(form, PAGE, close_time="2097-05-01T12:30")
    assert page.status == 409
    assert "Somebody else has changed the benchmark" in page.words
    assert "Closes 1 May 2096, 12:30 UTC" in page.words
    page = await site.organiser.send(page, PAGE, close_time="2097-05-01T12:30")
    assert "Closes 1 May 2097, 12:30 UTC" in page.words


async def test_a_closed_benchmark_with_a_private_score_is_not_opened_again(site: Browsing) -> None:
    await split.host(site.hosted)
    await split.submit(site.hosted.red, "one", "ac")
    assert "cannot be opened again" in (await site.organiser.get(PAGE)).words
    site.hosted.clock.pass_by(hours=2)
    form = await site.organiser.get(PAGE)
    later = (site.hosted.clock.now + timedelta(hours=1)).isoformat()[:16]
    page = await site.organiser.send(form, PAGE, close_time=later)
    assert page.status == 409
    assert "it cannot be opened again" in page.words
