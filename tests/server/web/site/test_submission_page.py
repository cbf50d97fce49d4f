"""The pages of submissions in each state, under each policy, and only for their team."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from tests.server.domain import test_private_sequences as split
from tests.server.domain.hosted import BENCHMARK, TRUTH
from tests.server.domain.streets import streets, things
from tests.server.domain.test_planted_truth import ALL_PUBLIC, _forbidden, _prepare, _search
from tests.server.scene import HERE, points
from tests.server.web.site.browsing import Browser, Browsing, Page, browsing
from tests.server.web.site.uploading import send_file
from tests.support.varieties import mostly_nightly

from vidscore_evaluators.report import Curve
from vidscore_protos.v1 import benchmark_pb2, report_pb2
from vidscore_server.api.convert import write_curve

ONE = f"/{BENCHMARK}/submissions/one"
PAGES = (
    ONE,
    f"{ONE}/live",
    f"{ONE}/outcomes",
    f"{ONE}/outcomes.csv",
    f"{ONE}/detections.csv",
    f"{ONE}/reports.json",
    f"{ONE}/frames",
)


async def scored(site: Browsing, **policy: object) -> None:
    """A scored submission of red's."""
    await site.hosted.organiser.create_benchmark(**policy)  # type: ignore[arg-type]
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.submit(TRUTH)
    await site.hosted.red.ended()


# --- The list


async def test_a_team_sees_its_own_submissions_and_organisers_all(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(points({1: HERE}), "one")
    await site.hosted.blue.begin(points({1: HERE}), "two")
    path = f"/{BENCHMARK}/submissions"
    red, blue = (await site.red.get(path)).words, (await site.blue.get(path)).words
    assert "One" in red
    assert "Two" not in red
    assert "Two" in blue
    assert "One" not in blue
    both = (await site.organiser.get(path)).words
    assert "One" in both
    assert "Two" in both


async def test_organisers_filter_the_list_by_team_and_state(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(points({1: HERE}), "one")
    await site.hosted.blue.begin(points({1: HERE}), "two")
    path = f"/{BENCHMARK}/submissions"
    of_red = await site.organiser.get(f"{path}?team=red")
    assert "One" in of_red.words
    assert "Two" not in of_red.words
    none = await site.organiser.get(f"{path}?team=red&state=scored")
    assert "No submission matches" in none.words
    ignored = await site.organiser.get(f"{path}?state=nonsense")
    assert "Two" in ignored.words
    of_blue = await site.red.get(f"{path}?team=blue")
    assert "Two" not in of_blue.words


async def test_a_long_list_is_paged(site: Browsing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vidscore_server.web.site.submissions.PAGE_SIZE", 2)
    await site.hosted.organiser.create_benchmark()
    for number in range(3):
        await site.hosted.red.begin(points({1: HERE}), f"n{number:02}")
        site.hosted.clock.pass_by(seconds=1)
    first = await site.red.get(f"/{BENCHMARK}/submissions")
    assert "N02" in first.words
    assert "N00" not in first.words
    [after] = re.findall(r'href="([^"]+page=[^"]+)"', first.text)
    second = await site.red.get(after.replace("&amp;", "&"))
    assert "N00" in second.words
    assert "Newest" in second.words


async def test_a_team_without_submissions_is_told_how_to_submit(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    page = await site.red.get(f"/{BENCHMARK}/submissions")
    assert "Your team has not submitted yet. Submit detections" in page.words
    assert (await site.viewer.get(f"/{BENCHMARK}/submissions")).status == 403


# --- One submission


async def test_a_page_makes_no_message_of_curves_that_it_does_not_draw(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A report has thousands of curves of labels; the page draws those over everything."""
    message = streets(("car", "bus"))
    message.specification.evaluators[0].name = "map"
    message.policy.visibility = benchmark_pb2.VISIBILITY_LIVE
    message.policy.outcomes = benchmark_pb2.OUTCOMES_SHOWN_OWN
    await site.hosted.organiser.create(message)
    await site.hosted.organiser.upload(things({1: ["car", "bus"]}))
    await site.hosted.red.submit(things({1: ["car", "bus"]}))
    await site.hosted.red.ended()
    written: list[Curve] = []

    def record(curve: Curve) -> report_pb2.Curve:
        written.append(curve)
        return write_curve(curve)

    monkeypatch.setattr("vidscore_server.api.convert.write_curve", record)
    page = await site.red.get(ONE)
    assert 'class="plot"' in page.text
    assert {(curve.domain, curve.label) for curve in written} == {(None, None)}
    written.clear()
    assert (await site.red.agree(f"{ONE}/frames", evaluator="map")).status == 200
    assert written == []
    [report] = json.loads((await site.red.get(f"{ONE}/reports.json")).text)
    assert {curve["label"] for curve in report["curves"]} == {None, "bus", "car"}


async def test_an_open_submission_says_what_is_durable_and_what_comes_next(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(points({1: HERE, 2: []}))
    page = await site.red.get(ONE)
    assert "Receiving. 2 frames are durable." in page.words
    assert "It is sealed on 1 May 2026, 13:00 UTC if nothing more comes." in page.words
    assert 'hx-trigger="every 1s"' in page.text
    part = await site.red.get(f"{ONE}/live?state=receiving", hx_request="true")
    assert "hx-refresh" not in part.headers
    assert "2 frames are durable" in part.words
    assert "<html" not in part.text
    whole = await site.red.get(f"{ONE}/live")
    assert whole.path == ONE


async def test_a_page_that_has_read_enough_leaves_no_open_call(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(points({1: HERE, 2: []}))
    for path in (ONE, f"{ONE}/frames"):
        assert (await site.red.get(path)).status == 200
    writers = [task for task in asyncio.all_tasks() if "Responses._write" in repr(task)]
    await asyncio.gather(*writers)


async def test_a_polled_part_reloads_the_page_in_another_state(site: Browsing) -> None:
    await scored(site)
    part = await site.red.get(f"{ONE}/live?state=scoring", hx_request="true")
    assert part.headers["hx-refresh"] == "true"
    assert "every 1s" not in part.text


async def test_seal_cancel_and_retry_are_buttons_when_they_are_possible(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.begin(TRUTH)
    page = await site.red.get(ONE)
    assert "Seal and score" in page.words
    assert "Cancel submission" in page.words
    assert "Retry" not in page.words
    await site.red.send(page, f"{ONE}/actions/seal")
    await site.hosted.red.ended()
    page = await site.red.get(ONE)
    assert "Seal and score" not in page.words
    assert "Cancel submission" not in page.words
    again = await site.red.post(f"{ONE}/actions/cancel", {"csrf": _key(page.text)})
    assert again.status == 409
    assert "Not done." in again.words


async def test_cancelling_a_submission_shows_its_cost(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(TRUTH)
    page = await site.red.send(await site.red.get(ONE), f"{ONE}/actions/cancel")
    assert "Cancelled." in page.words
    assert "It costs no quota" in page.words
    assert "Detections as CSV" not in page.words


async def test_an_action_needs_the_key_of_its_form(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(TRUTH)
    assert (await site.red.post(f"{ONE}/actions/cancel", {})).status == 403
    assert (await site.red.post(f"{ONE}/actions/nonsense", {})).status == 404
    assert "Receiving" in (await site.red.get(ONE)).words


async def test_another_team_sees_nothing_of_a_submission(site: Browsing) -> None:
    await scored(site)
    for path in PAGES:
        page = await site.blue.get(path)
        assert page.status == 404, path
        absent = await site.blue.get(path.replace("/one", "/absent"))
        assert page.words == absent.words.replace("absent", "one")
        assert (await site.viewer.get(path)).status in {403, 404}
        assert "Sign in" in (await site.nobody.get(path)).words
    key = _key((await site.blue.get(f"/{BENCHMARK}/submissions")).text)
    for action in ("seal", "cancel", "retry"):
        answer = await site.blue.post(f"{ONE}/actions/{action}", {"csrf": key})
        assert answer.status == 404


# --- What each policy shows


@pytest.mark.parametrize(
    ("visibility", "shown", "hidden"),
    [
        ("LADDER", "F1 1.0000", "Everything but the ranking measures: organisers only"),
        ("FINAL", "F1 1.0000", "Other measures, sequences and curves: organisers only"),
    ],
)
async def test_figures_are_shown_as_the_policy_allows_and_the_rest_is_named(
    site: Browsing, visibility: str, shown: str, hidden: str
) -> None:
    await scored(site, visibility=getattr(benchmark_pb2, f"VISIBILITY_{visibility}"))
    page = await site.red.get(ONE)
    assert shown in page.words
    assert all(part in page.words for part in hidden.split(": "))
    assert "MSE 0.0000" in page.words
    assert 'class="hid"' in page.text
    organiser = await site.organiser.get(ONE)
    assert hidden.partition(":")[0] not in organiser.words


async def test_under_live_the_complete_report_is_shown(site: Browsing) -> None:
    await scored(site, visibility=benchmark_pb2.VISIBILITY_LIVE, minimum_frames=1)
    page = await site.red.get(ONE)
    assert "By sequence Sequence True positives" in page.words
    assert "SSE MSE 1 3 0 0" in page.words
    assert "visibility = live" in page.words
    assert "Everything but" not in page.words


async def test_a_warning_of_a_report_is_a_sentence(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.submit(points({1: []}))
    await site.hosted.red.ended()
    page = await site.organiser.get(ONE)
    assert (
        "A doubt about the input. Objects are in the ground truth and no detections" in page.words
    )


async def test_running_scores_are_shown_if_the_policy_is_live(site: Browsing) -> None:
    hosted = site.hosted
    live = benchmark_pb2.VISIBILITY_LIVE
    await hosted.organiser.create_benchmark(visibility=live, minimum_frames=1)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.begin(TRUTH)
    page = await site.red.get(ONE)
    assert "Running scores by spotgeo" in page.words
    assert "it reaches 1.0000 in F1" in page.words, page.words


async def test_only_organisers_see_the_scores_of_the_last_frames(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.begin(points({1: HERE, 2: []}))
    shown = "The last 2 frames with ground truth"
    assert shown in (await site.organiser.get(ONE)).words
    assert shown not in (await site.red.get(ONE)).words
    part = await site.organiser.get(f"{ONE}/live?state=receiving", hx_request="true")
    assert shown in part.words


async def test_hidden_running_scores_are_mentioned(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.red.begin(TRUTH)
    page = await site.red.get(ONE)
    assert "Running scores are not shown while it receives" in page.words


@pytest.mark.slow
@pytest.mark.usefixtures("tracer")
@pytest.mark.parametrize("visibility", mostly_nightly(["LIVE", "LADDER", "FINAL"]))
async def test_planted_truth_is_in_no_byte_of_any_page(tmp_path: Path, visibility: str) -> None:
    public = ALL_PUBLIC if visibility == "LIVE" else ()
    outcomes = "OWN" if visibility == "LIVE" else "NONE"
    async with browsing(tmp_path) as site:
        await _prepare(site.hosted, visibility, public, outcomes)
        forbidden = _forbidden(visibility, public)
        seen = 0
        for path in _every_page():
            for browser in (site.red, site.viewer):
                for page in await _opened(browser, path):
                    seen += page.status == 200
                    headers = [f"{name}: {text}" for name, text in page.headers.items()]
                    _search(path, [page.text, *headers], [page.body], forbidden)
        assert seen > 10
        data = b"sequence,frame,class,x1,y1,x2,y2\nnone,1,car,1,2,3,4\n"
        await _check_upload(site.red, data, forbidden)


def _every_page() -> list[str]:
    found = [f"/{BENCHMARK}/submissions", f"/{BENCHMARK}/submit"]
    for name in ("one", "two", "three", "absent"):
        pages = [path.replace("/one", f"/{name}") for path in PAGES]
        judged = f"/{BENCHMARK}/submissions/{name}"
        found += [*pages, f"{judged}/outcomes?evaluator=tracer"]
        found += [f"{judged}/frames?evaluator=tracer&frame={row}" for row in (1, 2)]
    return found


async def _opened(browser: Browser, path: str) -> list[Page]:
    """A page; if outcomes have a cost, the page after agreeing to it."""
    page = await browser.get(path)
    if page.status != 200 or not path.partition("?")[0].endswith(("/outcomes", "/frames")):
        return [page]
    agreed = await browser.agree(path)
    return [page, agreed, await browser.get(agreed.path.replace("/outcomes?", "/outcomes.csv?"))]


async def _check_upload(browser: Browser, data: bytes, forbidden: list[str]) -> None:
    page = await send_file(browser, data)
    _search("upload", [page.text], [page.body], forbidden)


async def test_a_submission_can_be_chosen_until_the_benchmark_closes(site: Browsing) -> None:
    await split.host(site.hosted)
    await split.submit(site.hosted.red, "one", "ac")
    page = await site.red.send(await site.red.get(ONE), f"{ONE}/actions/choose")
    assert "Undo the choice" in page.words
    site.hosted.clock.pass_by(hours=1)
    page = await site.red.get(ONE)
    assert "Undo the choice" not in page.words
    assert "Chosen as final." in page.words


def _key(text: str) -> str:
    key: str = re.findall(r'name="csrf" value="([0-9a-f]+)"', text)[0]
    return key
