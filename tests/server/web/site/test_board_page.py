"""The board: each view is a URL, as page, CSV and JSON, and shows nothing hidden."""

from __future__ import annotations

import csv
import io
import json
from datetime import datetime

import pytest
from tests.server import scene
from tests.server.domain.hosted import Hosted
from tests.server.domain.streets import BOX, streets
from tests.server.domain.test_planted_truth import _forbidden, _prepare, _search, batch
from tests.server.web.site.browsing import Browsing
from tests.support.varieties import mostly_nightly

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb

BOARD = "/benchmarks/dots/board"
TRUTH = batch("", "street", "car", (1, 2, 3), BOX, BOX, BOX)
TWO = batch("", "street", "car", (1, 2), BOX, BOX)
NOTHING = scene.batch([(("", "street"), 1, [])], geometry=annotations_pb2.GEOMETRY_BOX)
FORMULA = '=HYPERLINK("http://evil.example")'


async def host(hosted: Hosted, visibility: str = "LIVE", **policy: object) -> None:
    """A benchmark with a submission of red's and one of blue's, which is better."""
    message = streets(labels=["car", "bus"])
    message.policy.CopyFrom(
        benchmark_pb2.Policy(
            unlimited_submissions=True,
            visibility=getattr(benchmark_pb2, f"VISIBILITY_{visibility}"),
            **policy,  # type: ignore[arg-type]
        )
    )
    await hosted.organiser.create(message)
    await hosted.organiser.upload(TRUTH)
    request = pb.CreateSubmissionRequest(
        benchmark="benchmarks/dots", submission_id="one", title=FORMULA
    )
    red = hosted.red
    await red.submissions.CreateSubmission(request, metadata=red.metadata)
    await red.open("benchmarks/dots/submissions/one")
    await red.append("benchmarks/dots/submissions/one/streams/default", 0, TWO)
    await red.seal()
    await red.ended()
    await hosted.blue.submit(TRUTH, "two")
    await hosted.blue.ended("two")


async def test_the_board_says_who_leads_and_marks_ones_own_row(site: Browsing) -> None:
    await host(site.hosted)
    page = await site.red.get(BOARD)
    assert "blue leads with 1.0 in F1." in page.words
    assert page.text.count('<tr class="here">') == 1
    assert "red your team" in page.words
    assert '<tr class="here">' not in (await site.viewer.get(BOARD)).text


async def test_csv_and_json_have_all_rows_of_the_view(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vidscore_server.web.site.board.ROWS", 1)
    await host(site.hosted)
    page = await site.viewer.get(f"{BOARD}?label=car")
    assert 'href="/benchmarks/dots/board.csv?label=car"' in page.text
    text = (await site.viewer.get(f"{BOARD}.csv?label=car")).text
    [header, *rows] = list(csv.reader(io.StringIO(text)))
    document = json.loads((await site.viewer.get(f"{BOARD}.json?label=car")).text)
    assert [row[1] for row in rows] == [row["team"] for row in document["rows"]] == ["blue", "red"]
    assert header == list(document["rows"][0])
    assert (document["evaluator"], document["label"]) == ("f1", "car")
    assert rows[1][2] == f"'{FORMULA}"  # Not a formula in a spreadsheet.
    assert document["rows"][1]["title"] == FORMULA
    assert document["rows"][1]["f1"] == 0.8
    assert datetime.fromisoformat(document["rows"][0]["submitted"]).tzinfo is not None


async def test_undefined_values_are_empty_in_csv_and_null_in_json(site: Browsing) -> None:
    message = streets()
    message.specification.evaluators[0].name = "map"
    message.policy.visibility = benchmark_pb2.VISIBILITY_LIVE
    await site.hosted.organiser.create(message)
    await site.hosted.organiser.upload(NOTHING)
    await site.hosted.red.submit(NOTHING)
    await site.hosted.red.ended()
    words = (await site.viewer.get(BOARD)).words
    assert "Undefined , last in every order" in words
    assert "one is undefined" in words
    document = json.loads((await site.viewer.get(f"{BOARD}.json")).text)
    assert document["rows"][0]["ap"] is None
    line = (await site.viewer.get(f"{BOARD}.csv")).text.splitlines()[1]
    assert line.split(",")[3] == ""


async def test_a_board_says_where_lower_values_are_better(site: Browsing) -> None:
    """EMD is a distance, F1 is not."""
    message = streets()
    message.policy.visibility = benchmark_pb2.VISIBILITY_LIVE
    message.specification.evaluators.add(name="emd")
    await site.hosted.organiser.create(message)
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.submit(TWO)
    await site.hosted.red.ended()
    told = [(await site.viewer.get(f"{BOARD}?evaluator={name}")).words for name in ("f1", "emd")]
    said = "One team, truth revision 1. Lower values are better."
    assert [said in words for words in told] == [False, True]


async def test_a_part_without_scores_says_so(site: Browsing) -> None:
    await host(site.hosted)
    words = (await site.viewer.get(f"{BOARD}?label=bus")).words
    assert "No submission has F1 for this part of the data." in words


async def test_an_invalid_view_keeps_the_other_choices(site: Browsing) -> None:
    await host(site.hosted)
    page = await site.viewer.get(f"{BOARD}?label=truck&domain=x")
    assert page.status == 400
    assert 'role="alert"' in page.text
    assert 'value="truck" selected' in page.text
    assert "expected bus or car" in page.words
    assert (await site.viewer.get(f"{BOARD}?evaluator=none")).status == 400
    assert (await site.viewer.get(f"{BOARD}?page=none")).status == 400
    assert (await site.viewer.get(f"{BOARD}.csv?label=truck")).status == 400


@pytest.mark.parametrize("visibility", ["LADDER", "BOOTSTRAP"])
async def test_under_the_ladder_parts_are_not_offered_and_not_shown(
    site: Browsing, visibility: str
) -> None:
    await host(site.hosted, visibility)
    page = await site.red.get(BOARD)
    assert 'name="label"' not in page.text
    assert "Scores of single domains and labels" in page.words
    assert "in steps of 0.5" in page.words  # Two objects of one sequence: see the policy.
    asked = await site.red.get(f"{BOARD}?label=car")
    assert asked.status == 403
    assert "releases no scores of single domains and labels" in asked.words
    assert 'name="label"' in (await site.organiser.get(BOARD)).text


@pytest.mark.slow
@pytest.mark.parametrize(("release", "expected"), [(True, True), (False, False)])
async def test_curves_are_drawn_if_the_policy_releases_them(
    site: Browsing, release: bool, expected: bool
) -> None:
    await host(site.hosted, "FINAL", release_curves=release)
    page = await site.viewer.get(BOARD)
    assert ('id="told"' in page.text) == expected
    assert ("as a table" in page.words) == expected


async def test_the_board_says_how_far_to_trust_it(site: Browsing) -> None:
    await host(site.hosted)
    words = (await site.viewer.get(BOARD)).words
    assert "The scores are over one sequence. So few say little about other videos." in words
    assert "Two submissions count as scored; the busiest team has 1, and there is no limit" in words


async def test_an_empty_board_says_how_to_take_part(site: Browsing) -> None:
    await site.hosted.organiser.create(streets())
    assert (
        "No submission is on this board yet. How to take part" in (await site.red.get(BOARD)).words
    )


# --- Without signing in


async def test_a_public_board_needs_no_sign_in(site: Browsing) -> None:
    await host(site.hosted, public_board_web=True)
    for path in ("/benchmarks", "/benchmarks/dots", BOARD, f"{BOARD}.csv", f"{BOARD}.json"):
        page = await site.nobody.get(path)
        assert (page.status, page.path) == (200, path)
    words = (await site.nobody.get(BOARD)).words
    assert "blue leads" in words
    assert "Sign in" in words


async def test_the_board_without_signing_in_is_that_of_a_viewer(site: Browsing) -> None:
    await host(site.hosted, public_board_web=True)
    for ending in ("csv", "json"):
        path = f"{BOARD}.{ending}"
        assert (await site.nobody.get(path)).body == (await site.viewer.get(path)).body


@pytest.mark.parametrize(
    "path",
    ["/benchmarks", "/benchmarks/dots", BOARD, f"{BOARD}.csv", "/benchmarks/dots/benchmark.toml"],
)
async def test_every_other_page_leads_to_the_sign_in_form_whether_it_exists_or_not(
    site: Browsing, path: str
) -> None:
    await host(site.hosted)
    for asked in (path, path.replace("dots", "none")):
        answer = await site.nobody.ask("GET", asked)
        assert answer.status == 303
        assert answer.headers["location"].startswith("/sign-in?next=")


async def test_a_public_benchmark_does_not_offer_its_file_to_everyone(site: Browsing) -> None:
    await host(site.hosted, public_board_web=True)
    assert (await site.nobody.get("/benchmarks/dots/benchmark.toml")).status == 403


@pytest.mark.slow
@pytest.mark.usefixtures("tracer")
@pytest.mark.parametrize("visibility", mostly_nightly(["LADDER", "FINAL"]))
async def test_planted_truth_is_in_no_byte_of_the_pages(site: Browsing, visibility: str) -> None:
    await _prepare(site.hosted, visibility, ())
    forbidden = _forbidden(visibility, ())
    paths = [
        "/benchmarks",
        "/benchmarks/dots",
        *(f"{BOARD}{ending}{query}" for ending in ("", ".csv", ".json")
          for query in ("", "?label=car", "?domain=x", "?evaluator=tracer", "?evaluator=none")),
    ]  # fmt: skip
    for browser in (site.nobody, site.viewer, site.red):
        for path in paths:
            page = await browser.get(path)
            assert page.status < 500
            _search(path, [page.text, str(page.headers)], [page.body], forbidden)
