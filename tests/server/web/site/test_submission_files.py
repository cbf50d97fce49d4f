"""The files and outcomes of a submission, and the frames that its team sees."""

from __future__ import annotations

import asyncio
import csv
import html
import io
import json
import re

import pytest
from tests.server.domain.hosted import BENCHMARK
from tests.server.domain.traced import DETECTIONS
from tests.server.domain.traced import TRUTH as TRACED_TRUTH
from tests.server.domain.traced import made as traced
from tests.server.scene import HERE, points
from tests.server.web.site.browsing import Browsing
from tests.server.web.site.test_submission_page import ONE, scored
from tests.support.waiting import TIMEOUT_S

from vidscore_client import connect

LINK = re.compile(r'<a [^>]*href="([^"]+)"')


async def test_detections_are_downloaded_as_generic_csv(site: Browsing) -> None:
    await scored(site)
    for browser in (site.red, site.organiser):
        answer = await browser.get(f"{ONE}/detections.csv")
        assert answer.headers["content-disposition"] == 'attachment; filename="one-detections.csv"'
        rows = list(csv.DictReader(io.StringIO(answer.text)))
        assert [(row["frame"], row["x"], row["y"]) for row in rows] == [
            ("1", "10", "20"),
            ("1", "300", "200"),
            ("2", "", ""),
            ("3", "50.5", "60.5"),
            ("4", "", ""),
            ("5", "", ""),
        ]


async def test_detections_of_several_streams_are_one_file(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(points({1: HERE}))
    await site.hosted.red.open(ONE[1:], "other")
    await site.hosted.red.append(f"{ONE[1:]}/streams/other", 0, points({2: HERE}))
    answer = await site.red.get(f"{ONE}/detections.csv")
    assert [row["frame"] for row in csv.DictReader(io.StringIO(answer.text))] == ["1", "2"]


async def test_names_that_csv_cannot_contain_are_refused_in_words(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(points({1: HERE}, sequence="=1+1"))
    answer = await site.red.get(f"{ONE}/detections.csv")
    assert answer.status == 409
    assert "CSV cannot hold these detections" in answer.words


async def test_reports_are_downloaded_as_json_as_far_as_they_are_shown(site: Browsing) -> None:
    await scored(site)
    [own] = json.loads((await site.red.get(f"{ONE}/reports.json")).body)
    assert {row["measure"]: row["value"] for row in own["scores"]} == {"f1": 1.0, "mse": 0.0}
    assert own["truth_digest"] == ""
    [whole] = json.loads((await site.organiser.get(f"{ONE}/reports.json")).body)
    assert whole["evaluator"] == "spotgeo"
    assert len(whole["truth_digest"]) == 32
    assert whole == {"partial": False, **await asyncio.to_thread(_report_of_one, site)}


@pytest.mark.usefixtures("tracer")
async def test_outcomes_are_a_table_and_csv_as_far_as_the_policy_allows(site: Browsing) -> None:
    benchmark = traced()
    await site.hosted.organiser.create(benchmark, public=("sequences", "labels"))
    await site.hosted.organiser.upload(TRACED_TRUTH)
    await site.hosted.red.submit(DETECTIONS)
    await site.hosted.red.ended()
    page = await site.organiser.get(f"{ONE}/outcomes")
    assert "ground truth" in page.words
    assert "misclassified" in page.words
    assert "false negative" in page.words
    text = (await site.organiser.get(f"{ONE}/outcomes.csv")).text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["side"] for row in rows} == {"truth", "detections"}
    assert sum(row["side"] == "detections" for row in rows) == 5


@pytest.mark.usefixtures("tracer")
async def test_a_team_sees_its_own_outcomes_once_it_has_agreed_to_the_cost(site: Browsing) -> None:
    await site.hosted.organiser.create(traced(), public=("sequences", "labels"))
    await site.hosted.organiser.upload(TRACED_TRUTH)
    await site.hosted.red.submit(DETECTIONS)
    await site.hosted.red.ended()
    for path in (f"{ONE}/outcomes", f"{ONE}/outcomes.csv"):
        asks = await site.red.get(path)
        assert "counts as one more submission" in asks.words
        assert "Rows" not in asks.words
    assert (await site.blue.get(f"{ONE}/outcomes")).status == 404
    shown = await site.red.agree(f"{ONE}/outcomes")
    assert "Rows 1 to 5" in shown.words
    assert "ground truth" not in shown.words.replace("places of the ground truth", "")
    text = (await site.red.get(shown.path.replace("/outcomes?", "/outcomes.csv?"))).text
    assert {row["outcome"] for row in csv.DictReader(io.StringIO(text))} <= {
        "true_positive",
        "false_positive",
        "ignored",
    }
    frame = await site.red.get(f"{ONE}/frames")
    assert 'class="o-own"' in frame.text
    judged = await site.red.agree(f"{ONE}/frames")
    assert 'class="o-own"' not in judged.text
    assert 'class="o-tp"' in judged.text
    assert 'class="o-fp"' in judged.text


@pytest.mark.usefixtures("tracer")
async def test_a_prefetched_link_uses_no_quota(site: Browsing) -> None:
    await site.hosted.organiser.create(traced(), public=("sequences", "labels"))
    await site.hosted.organiser.upload(TRACED_TRUTH)
    await site.hosted.red.submit(DETECTIONS)
    await site.hosted.red.ended()
    fetched = {f"{ONE}/{page}" for page in ("frames", "outcomes", "outcomes.csv")}
    fetched |= {f"{path}?accept=yes&evaluator=tracer" for path in fetched}
    for path in (ONE, *fetched):
        for link in LINK.findall((await site.red.get(path)).text):
            if link.startswith(ONE):
                await site.red.get(html.unescape(link))
    assert await _outcomes_read(site) == 0
    await site.red.agree(f"{ONE}/frames")
    assert await _outcomes_read(site) == 1


@pytest.mark.usefixtures("tracer")
async def test_outcomes_of_a_new_score_need_a_new_agreement(site: Browsing) -> None:
    await site.hosted.organiser.create(traced(), public=("sequences", "labels"))
    await site.hosted.organiser.upload(TRACED_TRUTH)
    await site.hosted.red.submit(DETECTIONS)
    await site.hosted.red.ended()
    shown = await site.red.agree(f"{ONE}/outcomes")
    judged = await site.red.agree(f"{ONE}/frames")
    assert "Rows 1 to" in (await site.red.get(shown.path)).words
    await site.hosted.organiser.upload(TRACED_TRUTH)  # Nobody agreed to this revision.
    async with asyncio.timeout(TIMEOUT_S):
        while len(await site.hosted.red.scores()) < 2:
            pass
    for path in (shown.path, shown.path.replace("/outcomes?", "/outcomes.csv?"), judged.path):
        assert "counts as one more submission" in (await site.red.get(path)).words
    assert await _outcomes_read(site) == 1
    assert "Rows 1 to" in (await site.red.agree(f"{ONE}/outcomes")).words
    assert await _outcomes_read(site) == 2


async def _outcomes_read(site: Browsing) -> int:
    page = await site.organiser.get("/organise/audit.csv?action=ReadOutcomes")
    return len(page.text.splitlines()) - 1


async def test_hidden_outcomes_are_mentioned(site: Browsing) -> None:
    await scored(site)
    assert "Show outcomes" not in (await site.red.get(ONE)).words
    assert "Show outcomes" in (await site.organiser.get(ONE)).words
    for path in (f"{ONE}/outcomes", f"{ONE}/outcomes.csv"):
        page = await site.red.get(path)
        assert page.status == 409
        assert "shows participants no outcomes" in page.words


async def test_a_frame_is_drawn_with_only_its_detections(site: Browsing) -> None:
    await scored(site)
    page = await site.red.get(f"{ONE}/frames")
    assert "Frame 1 of 1" in page.words
    assert page.text.count('<tr><th scope="row" class="n">') == 2
    assert "<svg" in page.text
    levels = re.findall(r'<a href="([^"]*)">', page.text.partition("<h1>")[0])
    assert levels[-4:] == ["/benchmarks", f"/{BENCHMARK}", f"/{BENCHMARK}/submissions", ONE]
    last = await site.red.get(f"{ONE}/frames?offset=999")
    assert "Frame 5 of 1" in last.words
    assert "Frame →" not in last.words


def _report_of_one(site: Browsing) -> dict[str, object]:
    """The report of the submission as the Python client reads it."""
    with connect(site.hosted.address, token=site.hosted.organiser.secret) as client:
        [score] = client.submissions.scores(ONE[1:])
        return dict(score.report.to_dict())
