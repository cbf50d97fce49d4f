"""Organisers change the title, description and evaluators of a benchmark, and its times."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from tests.server.domain import test_private_sequences as split
from tests.server.domain.hosted import BENCHMARK, TRUTH
from tests.server.web.site.browsing import Browsing
from tests.support.waiting import PAUSE_S, TIMEOUT_S

HERE = f"/organise/{BENCHMARK}"
PAGE = f"{HERE}/about"
TIMES = f"{HERE}/times"

SPOTGEO = '[[evaluators]]\nname = "spotgeo"'
WRITTEN = 'evaluators = [\n    { name = "spotgeo" },\n]'
TWO = f"""{SPOTGEO}
parameters = {{ tau = 5 }}

[[evaluators]]
name = "f1"
parameters = {{ base = "euclidean" }}
"""


async def _evaluators(site: Browsing) -> list[str]:
    answer = await site.hosted.organiser.benchmark()
    return [entry.name for entry in answer.benchmark.specification.evaluators]


async def test_a_title_and_a_description_are_changed_and_nothing_else(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await site.organiser.get(HERE)
    assert "Change title, description and evaluators" in page.words
    form = await site.organiser.get(PAGE)
    assert form.fields(PAGE) | {"csrf": "", "etag": ""} == {
        "csrf": "", "etag": "", "title": "Dots", "description": "", "evaluators": WRITTEN,
    }  # fmt: skip
    described = "# Rules\r\n\r\nOne *night*.\r\n"
    page = await site.organiser.send(form, PAGE, title=" One night ", description=described)
    assert page.path == HERE
    assert "Organise One night" in page.words
    shown = await site.red.get(f"/{BENCHMARK}")
    assert "<p>One <em>night</em>.</p>" in shown.text
    again = (await site.organiser.get(PAGE)).fields(PAGE)
    assert (again["title"], again["evaluators"]) == ("One night", WRITTEN)
    assert again["description"] == "# Rules\n\nOne *night*."
    page = await site.organiser.send(await site.organiser.get(PAGE), PAGE, description="")
    assert "<em>night</em>" not in (await site.red.get(f"/{BENCHMARK}")).text


async def test_submissions_are_scored_again_by_changed_evaluators(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.submit(TRUTH)
    await site.hosted.red.ended()
    form = await site.organiser.get(PAGE)
    page = await site.organiser.send(form, PAGE, evaluators=TWO)
    assert page.path == HERE
    assert await _evaluators(site) == ["spotgeo", "f1"]
    async with asyncio.timeout(TIMEOUT_S):
        while len(await site.hosted.red.scores()) < 2:  # noqa: ASYNC110 - the server scores
            await asyncio.sleep(PAUSE_S)
    assert "tau = 5" in (await site.organiser.get(PAGE)).fields(PAGE)["evaluators"]


@pytest.mark.parametrize(
    ("typed", "fault"),
    [
        ({"evaluators": '[[evaluators]]\nname = "spotgoe"'}, "did you mean spotgeo?"),
        ({"evaluators": f"{SPOTGEO}\nparameters = {{ tau = -1 }}"}, "more than 0"),
        ({"evaluators": "[[evaluators]\n"}, "TOML"),
        ({"evaluators": f'title = "x"\n{SPOTGEO}'}, "tables [[evaluators]] alone"),
        ({"evaluators": ""}, "at least one"),
        ({"title": "a\u202eb"}, "control"),
    ],
)
async def test_what_is_wrong_is_said_and_nothing_is_changed(
    site: Browsing, typed: dict[str, str], fault: str
) -> None:
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get(PAGE)
    page = await site.organiser.send(form, PAGE, description="new", **typed)
    assert page.status == 400
    assert "The benchmark was not changed." in page.words
    assert fault in page.words
    [field] = typed
    assert (f'id="{field}-fault-1"' in page.text) == (fault != "TOML"), "beneath its field"
    assert page.fields(PAGE)["description"] == "new"
    assert await _evaluators(site) == ["spotgeo"]
    assert (await site.organiser.get(PAGE)).fields(PAGE)["description"] == ""


@pytest.mark.parametrize(
    ("place", "field", "theirs", "ours", "shown", "kept"),
    [
        (PAGE, "title", "Theirs", "Ours", "The benchmark now has Theirs", "Organise Ours"),
        (
            TIMES,
            "close_time",
            "2096-05-01T12:30",
            "2097-05-01T12:30",
            "Closes 1 May 2096, 12:30 UTC",
            "Closes 1 May 2097, 12:30 UTC",
        ),
    ],
)
async def test_a_change_by_somebody_else_is_shown_and_not_overwritten(
    site: Browsing, place: str, field: str, theirs: str, ours: str, shown: str, kept: str
) -> None:
    """The refused form keeps what was typed, so that it can be sent again."""
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get(place)
    await site.organiser.send(form, place, **{field: theirs})
    page = await site.organiser.send(form, place, **{field: ours})
    assert page.status == 409
    assert "Somebody else has changed the benchmark" in page.words
    assert shown in page.words
    page = await site.organiser.send(page, place)
    assert kept in page.words


async def test_a_benchmark_with_private_sequences_keeps_them(site: Browsing) -> None:
    await split.host(site.hosted)
    await split.submit(site.hosted.red, "one", "ac")
    page = await site.organiser.send(await site.organiser.get(PAGE), PAGE, title="Other")
    assert page.path == HERE
    assert "Organise Other" in page.words


async def test_a_benchmark_whose_private_sequences_were_drawn_keeps_them(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark(private_share=0.5)
    await site.hosted.organiser.upload(split.found(split.NAMES))
    before = (await site.hosted.organiser.benchmark()).benchmark.policy.private_sequences
    page = await site.organiser.send(await site.organiser.get(PAGE), PAGE, title="Other")
    assert page.path == HERE
    assert (await site.hosted.organiser.benchmark()).benchmark.policy.private_sequences == before


async def test_only_organisers_get_the_form(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    assert (await site.red.get(PAGE)).status == 403


async def test_a_benchmark_gets_another_end_in_utc(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    assert "Opens at once Closes never" in (await site.organiser.get(HERE)).words
    form = await site.organiser.get(TIMES)
    page = await site.organiser.send(form, TIMES, close_time="2096-05-01T12:30")
    assert page.path == HERE
    assert "Closes 1 May 2096, 12:30 UTC" in page.words
    form = await site.organiser.get(TIMES)
    assert form.fields(TIMES)["close_time"] == "2096-05-01T12:30:00"
    # Otherwise a browser refuses any time whose seconds differ from those of the present one.
    assert form.text.count('type="datetime-local"') == form.text.count('step="any"') == 2
    page = await site.organiser.send(form, TIMES, close_time="")
    assert "Closes never" in page.words


async def test_a_wrong_time_is_refused_beneath_its_field(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get(TIMES)
    wrong = {"open_time": "tomorrow", "close_time": "2096-05-01T12:30"}
    page = await site.organiser.send(form, TIMES, **wrong)
    assert page.status == 400
    assert 'id="open_time-fault-1"' in page.text
    wrong["open_time"] = "2096-05-02T12:30"
    page = await site.organiser.send(form, TIMES, **wrong)
    assert page.status == 400
    assert 'id="close_time-fault-1"' in page.text
    assert "a time after open_time" in page.words
    assert "Closes never" in (await site.organiser.get(HERE)).words


async def test_a_closed_benchmark_with_a_private_score_is_not_opened_again(site: Browsing) -> None:
    await split.host(site.hosted)
    await split.submit(site.hosted.red, "one", "ac")
    assert "cannot be opened again" in (await site.organiser.get(TIMES)).words
    site.hosted.clock.pass_by(hours=2)
    form = await site.organiser.get(TIMES)
    later = (site.hosted.clock.now + timedelta(hours=1)).isoformat()[:16]
    page = await site.organiser.send(form, TIMES, close_time=later)
    assert page.status == 409
    assert "it cannot be opened again" in page.words
