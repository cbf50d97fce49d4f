"""Pictures of submissions: timelines and frames, for organisers and for the team."""

from __future__ import annotations

import html
import re
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from tests.server.domain.hosted import BENCHMARK
from tests.server.domain.streets import streets, things
from tests.server.domain.traced import frames, made
from tests.server.web.site.browsing import Browsing, Page

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.jobs import Job, run_outcome_job
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.testing import make_annotations
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, specification_pb2
from vidscore_server.web.site.picture_rows import spans_of

pytestmark = pytest.mark.usefixtures("tracer")

FRAMES = f"/{BENCHMARK}/submissions/one/frames"
TRUTH = (
    frames({1: [("car", 11, 22)], 2: [], 3: [("car", 50, 60)]}),
    frames({1: [("car", 301, 202)], 4: [("car", 5, 6), ("car", 777.25, 888.5)]}, "2"),
)
SENT = (
    frames({1: [("car", 11, 22)], 2: [("car", 900, 700)], 3: [("car", 50, 60)]}),
    frames({1: [("car", 301, 202)], 4: [("car", 600, 6), ("car", 610, 6)]}, "2"),
)
"""First sequence: 2 right, 1 wrong. Second sequence: 1 right, 2 wrong, 2 missed."""


async def scored(site: Browsing, **policy: object) -> None:
    """A scored submission with two sequences, each in its own batch."""
    message = made(**policy)  # type: ignore[arg-type]
    await site.hosted.organiser.create(message, public=("sequences", "labels"))
    await site.hosted.organiser.upload(*TRUTH)
    stream = await site.hosted.red.begin(SENT[0])
    await site.hosted.red.append(stream, 3, SENT[1])
    await site.hosted.red.seal()
    await site.hosted.red.ended()


def link(page: Page, words: str) -> str:
    """The target of the link with this text."""
    found = re.search(rf'<a[^>]*href="([^"]*)"[^>]*>{re.escape(words)}', page.text)
    assert found, words
    return html.unescape(found[1])


def row(page: Page, sequence: str) -> list[str]:
    """Texts of the cells of a sequence after its timeline."""
    [own] = (
        line
        for line in re.findall(r"<tr.*?</tr>", page.text, re.DOTALL)
        if 'class="strips"' in line and re.search(rf"<th.*?>{sequence}</a>", line, re.DOTALL)
    )
    cells = re.findall(r'<td class="n"[^>]*>(.*?)</td>', own, re.DOTALL)
    return [
        re.sub(r"<[^>]*>", "", cell).strip().replace("\N{NO-BREAK SPACE}", " ") for cell in cells
    ]


async def test_organisers_see_each_sequence_with_its_timeline(site: Browsing) -> None:
    await scored(site)
    page = await site.organiser.get(FRAMES)
    assert page.status == 200, page.words
    # Missed, false positives, id switches, score, fraction of mistakes, worst frame. The tracer
    # reports the first match of each frame as an id switch.
    assert row(page, "1") == ["0", "1", "2", "0.8000", "37.5 %", "1"]
    assert row(page, "2") == ["2", "2", "1", "0.3333", "62.5 %", "4"]
    assert page.text.count('class="strip"') == 2


async def test_organisers_start_at_the_worst_frame_with_truth_and_outcomes(site: Browsing) -> None:
    await scored(site)
    page = await site.organiser.get(FRAMES)
    assert "Frame 4 of 2" in page.words
    assert "0 found, 2 missed, 2 false alarms" in page.words
    assert "false negative" in page.words
    before = await site.organiser.get(link(page, "← Frame"))
    assert "Frame 1 of 2" in before.words
    assert "1 found, 0 missed, 0 false alarms, 1 id switch" in before.words
    other = await site.organiser.get(link(page, "Next sequence"))
    assert "Frame 1 of 1" in other.words
    after = await site.organiser.get(link(other, "Frame →"))
    assert "0 found, 0 missed, 1 false alarm" in after.words


async def test_a_team_sees_its_own_detections_right_or_wrong(site: Browsing) -> None:
    await scored(site)
    page = await site.red.agree(FRAMES)
    assert row(page, "1") == ["3", "2", "1"]
    assert row(page, "2") == ["2", "1", "2"]
    assert "Frame 4 of 2" in page.words
    assert page.text.count("wrong</span>") == 2
    assert 'class="o-fp"' in page.text
    before = await site.red.get(link(page, "← Frame"))
    assert "Frame 1 of 2" in before.words
    assert 'class="o-tp"' in before.text
    for text in (page.text, before.text):
        assert "777.25" not in text
        assert "888.5" not in text
        assert "o-fn" not in text
        assert "false negative" not in text


async def test_the_cost_of_outcomes_by_another_evaluator_is_shown_beside_the_link(
    site: Browsing,
) -> None:
    message = streets()
    message.specification.evaluators.add(name="map")
    message.policy.visibility = benchmark_pb2.VISIBILITY_FINAL
    message.policy.outcomes = benchmark_pb2.OUTCOMES_SHOWN_OWN
    await site.hosted.organiser.create(message, public=("sequences", "labels"))
    await site.hosted.organiser.upload(things({1: ["car"]}))
    await site.hosted.red.submit(things({1: ["car"]}))
    await site.hosted.red.ended()
    cost = "counts as one more submission of your team"
    by_one = await site.red.agree(FRAMES)
    assert "Outcomes by map" in by_one.words
    assert cost in by_one.words
    assert cost not in (await site.organiser.get(FRAMES)).words


async def test_each_key_that_a_page_names_is_a_control_of_the_page(site: Browsing) -> None:
    await scored(site)
    steps = {"ArrowLeft", "p", "[", "?"}  # The worst frame is the last one.
    begun = {"ArrowRight", "?"}
    pages = (
        (await site.organiser.get(FRAMES), {*"12345lo", "]"} | steps - {"["}),
        (await site.red.agree(FRAMES), {"]"} | steps - {"["}),
        (await site.red.get(FRAMES), begun),
    )
    for page, keys in pages:
        assert set(re.findall(r'data-key="([^"]+)"', page.text)) == keys
        assert '<script src="/static/keys.js" defer>' in page.text
        assert 'id="keys-off"' in page.text
    assert (await site.nobody.get("/static/keys.js")).status == 200


async def test_a_step_to_another_frame_sends_and_computes_nothing_again(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scored(site)
    path = (await site.red.agree(f"{FRAMES}?sequence=2")).path
    await site.organiser.get(FRAMES)

    async def never(_: object, job: Job, at: OperatingPoint) -> Outcomes:
        assert not job.truth.frame_count, "only the operating point is checked again"
        return run_outcome_job(job, at)

    monkeypatch.setattr("tests.server.running.PlayedWorkers.outcomes", never)
    assert "Frame 1 of 2" in (await site.red.get(f"{path}&frame=1")).words
    assert "Frame 1 of 2" in (await site.organiser.get(f"{FRAMES}?sequence=2&frame=1")).words
    other = await site.red.get(path.replace("sequence=2", "sequence=1"))
    assert other.status == 500, other.words


async def test_cached_pictures_are_shown_only_while_they_may_be(site: Browsing) -> None:
    await scored(site)
    shown = await site.red.agree(f"{FRAMES}?sequence=2")
    assert "Right" in shown.words
    path = shown.path
    assert (await site.blue.get(path)).status == 404
    assert (await site.viewer.get(path)).status == 403
    hidden = made(outcomes=benchmark_pb2.OUTCOMES_SHOWN_NONE)
    await site.hosted.organiser.update(hidden, "policy")
    page = await site.red.get(path)
    assert "Right" not in page.words
    assert 'class="o-own"' in page.text


async def test_frames_stay_visible_while_no_score_follows_the_present_rules(site: Browsing) -> None:
    review = benchmark_pb2.RESCORE_REVIEW
    await scored(site, rescore=review)
    assert "Right" in (await site.red.agree(FRAMES)).words
    changed = made(rescore=review)
    changed.specification.evaluators[0].parameters.append(
        specification_pb2.Parameter(name="reach_px", number=20.0)
    )
    # The board with the new score is not published.
    await site.hosted.organiser.update(changed, "specification")
    page = await site.red.agree(FRAMES)
    assert page.status == 200, page.words
    assert "There is no score by the present rules yet" in page.words
    assert "Right" not in page.words
    assert 'class="o-own"' in page.text


async def test_a_policy_without_outcomes_is_named(site: Browsing) -> None:
    await scored(site, outcomes=benchmark_pb2.OUTCOMES_SHOWN_NONE)
    page = await site.red.agree(FRAMES)
    assert '<span class="hid">Their outcomes</span>' in page.text
    assert "outcomes = none" in page.words
    assert 'class="hid"' not in (await site.organiser.get(FRAMES)).text


async def test_names_that_do_not_exist_are_reported_as_not_found(site: Browsing) -> None:
    await scored(site)
    for query, said in (
        ("sequence=none", "There is no sequence 'none' here."),
        ("sequence=2&frame=999", "There is no frame 999 of 2: its frames are 1 to 4."),
        ("sequence=2&frame=-1", "There is no frame '-1' here."),
        ("frame=1", "Frame 1 has no sequence: an address with a frame must name both."),
        ("evaluator=x", "There is no evaluator 'x' here."),
    ):
        for browser in (site.organiser, site.red):
            page = await browser.agree(f"{FRAMES}?{query}")
            assert page.status == 404, (query, page.words)
            assert said in page.words
    page = await site.red.get(f"{FRAMES}?stream=none")
    assert page.status == 404
    assert "There is no stream 'none' here." in page.words


async def test_a_page_of_sequences_beyond_the_last_leads_to_the_last(site: Browsing) -> None:
    await scored(site)
    for browser in (site.organiser, site.red):
        page = await browser.agree(f"{FRAMES}?first=99")
        assert page.status == 200, page.words


@pytest.mark.slow
async def test_too_many_rows_are_refused_in_words(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vidscore_server.web.site.picture_rows.MOST_ROWS", 3)
    await scored(site)
    page = await site.organiser.get(FRAMES)
    assert page.status == 409
    assert "more than 3 outcomes of this sequence" in page.words


@pytest.mark.parametrize(
    ("count", "visibility", "told"), [(5, "LIVE", False), (6, "LIVE", True), (6, "FINAL", False)]
)
async def test_intervals_are_shown_beside_live_scores_from_six_sequences_on(
    site: Browsing, count: int, visibility: str, told: bool
) -> None:
    batches = [frames({1: [("car", 10, 20)]}, f"s{row}") for row in range(count)]
    shown = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    message = made(("f1",), visibility=shown, minimum_frames=1)
    message.truth_geometry = message.detection_geometry = annotations_pb2.GEOMETRY_BOX
    for batch in batches:
        batch.geometry = annotations_pb2.GEOMETRY_BOX
        batch.coordinates.extend([40, 60])
    await site.hosted.organiser.create(message, public=("sequences", "labels"))
    await site.hosted.organiser.upload(*batches)
    stream = await site.hosted.red.begin(batches[0])
    for offset, batch in enumerate(batches[1:], 1):
        await site.hosted.red.append(stream, offset, batch)
    await site.hosted.red.seal()
    await site.hosted.red.ended()
    page = await site.red.get(FRAMES.removesuffix("/frames"))
    assert ("1.0000 (1.0000 to 1.0000)" in page.words) is told, page.words
    assert ("Mean over sequences" in page.words) is told


class Counted(np.ndarray[Any, Any]):
    """A column that counts how often it is compared."""

    count = 0

    __hash__ = None

    def __eq__(self, other: object) -> Any:
        type(self).count += 1
        return np.asarray(self) == other


def test_the_places_of_all_sequences_are_found_at_once() -> None:
    """For 300,000 frames of 10,000 sequences the server answered nobody for 2.4 s."""
    a, b, c = (SequenceKey("", name) for name in "abc")
    ordered = make_annotations({a: {1: [], 2: []}, b: {1: []}, c: {9: []}}, arity=2)
    part = ordered.take_frames(np.array([0, 2, 3, 1]))  # of a, b, c, a
    part = structs.replace(part, frame_sequences=part.frame_sequences.view(Counted))
    assert spans_of(part, 50) == {a: (50, 54), b: (51, 52), c: (52, 53)}
    assert Counted.count == 0
