"""Pages of organisers: benchmarks, truth, submissions, operations, and access."""

from __future__ import annotations

import importlib
from typing import Any

import pytest
from tests.server.domain import test_private_sequences as split
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted
from tests.server.scene import points
from tests.server.web.site.browsing import Browsing

from vidscore_evaluators.plug_ins import contained
from vidscore_protos.v1 import benchmark_pb2
from vidscore_server.web.site.visit import MOST_FORM_BYTES

HERE = f"/organise/{BENCHMARK}"
PAGES = (
    "/organise",
    "/organise/queue",
    "/organise/new",
    HERE,
    f"{HERE}/truth",
    f"{HERE}/truth/1",
    f"{HERE}/policy",
    f"{HERE}/submissions/one/disqualify",
    f"{HERE}/trust",
    "/organise/tokens",
    "/organise/invitations",
    "/organise/audit",
    "/organise/audit.csv",
    "/organise/backup",
    "/organise/backup/site.vidscore-backup",
    f"/organise/backup/{BENCHMARK}.vidscore-backup",
)
WRITES = (
    "/organise/new",
    f"{HERE}/truth",
    f"{HERE}/policy",
    f"{HERE}/submissions/one/disqualify",
    f"{HERE}/rescore",
    f"{HERE}/publish",
    f"{HERE}/trust",
    "/organise/reinstate",
    "/organise/retry",
    "/organise/tokens",
    "/organise/tokens/revoke",
    "/organise/invitations",
    "/organise/invitations/revoke",
)


async def prepare(hosted: Hosted, **policy: Any) -> None:
    """A benchmark with truth, and one scored submission per team."""
    await hosted.organiser.create_benchmark(**policy)
    await hosted.organiser.upload(TRUTH)
    await hosted.red.submit(points({1: [(10.0, 20.0)]}), "one")
    await hosted.blue.submit(points({1: [(10.0, 20.0), (300.0, 200.0)]}), "two")
    for client, name in ((hosted.red, "one"), (hosted.blue, "two")):
        await client.ended(name)


@pytest.mark.slow
async def test_every_page_is_only_for_organisers(site: Browsing) -> None:
    await prepare(site.hosted)
    for path in PAGES:
        assert (await site.organiser.get(path)).status == 200, path
        for browser in (site.red, site.viewer):
            page = await browser.get(path)
            assert page.status == 403, path
            assert b"50.5" not in page.body
        assert "Sign in" in (await site.nobody.get(path)).words


async def test_only_scripts_get_the_queue_as_a_part_of_a_page(site: Browsing) -> None:
    page = await site.organiser.get("/organise/queue")
    assert (page.status, page.path) == (200, "/organise")
    part = await site.organiser.get("/organise/queue", hx_request="true")
    assert "<html" not in part.text
    assert "Nothing waits." in part.words
    assert (await site.red.get("/organise/queue", hx_request="true")).status == 403


async def test_every_form_is_only_for_organisers(site: Browsing) -> None:
    await prepare(site.hosted)
    key = (await site.red.get("/benchmarks")).fields("/sign-out")["csrf"]
    for path in WRITES:
        fields = {
            "csrf": key,
            "name": f"{BENCHMARK}/submissions/one",
            "reason": "no",
            "role": "viewer",
            "teams": "green",
            "benchmark_id": "more",
            "evaluators": "spotgeo",
        }
        if path.endswith("tokens/revoke"):
            fields["name"] = f"tokens/{'0' * 16}"
        if path.endswith("invitations/revoke"):
            fields["name"] = f"invitations/{'0' * 16}"
        assert (await site.red.post(path, fields)).status == 403, path
    assert "Reinstate" not in (await site.organiser.get(HERE)).words


async def test_a_benchmark_is_created_from_the_form(site: Browsing) -> None:
    form = await site.organiser.get("/organise/new")
    page = await site.organiser.send(
        form,
        "/organise/new",
        benchmark_id="sky",
        title="Night sky",
        evaluators="spotgeo",
        truth_geometry="",
        detection_geometry="",
        close_time="2027-01-02T03:04",
        visibility="final",
    )
    assert page.path == "/organise/benchmarks/sky"
    assert "Organise Night sky" in page.words
    assert "2 Jan 2027, 03:04 UTC" in (await site.organiser.get("/organise")).words
    assert "visibility final" in page.words


async def test_a_refused_form_keeps_its_input_and_says_why(site: Browsing) -> None:
    form = await site.organiser.get("/organise/new")
    page = await site.organiser.send(
        form,
        "/organise/new",
        benchmark_id="sky",
        title="Night sky",
        evaluators="spotgoe",
        open_time="yesterday",
        visibility="ladder",
    )
    assert page.status == 400
    assert 'value="Night sky"' in page.text
    assert "did you mean spotgeo" in page.words
    assert 'id="open_time-fault-1"' in page.text
    assert "There are no benchmarks yet." in (await site.organiser.get("/organise")).words


async def test_a_name_that_is_taken_is_reported_beneath_its_field(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark()
    form = await site.organiser.get("/organise/new")
    page = await site.organiser.send(
        form, "/organise/new", benchmark_id="dots", evaluators="spotgeo", visibility="ladder"
    )
    assert page.status == 409
    assert 'id="benchmark_id-fault-1"' in page.text


@pytest.mark.usefixtures("moody")
async def test_an_evaluator_that_cannot_be_used_is_named_in_place_of_its_file(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = importlib.import_module("vidscore_moody").Moody
    monkeypatch.setattr(kind, "useful_range", lambda *_: None)
    contained.cache_clear()
    page = await site.organiser.get("/organise/new?evaluator=moody")
    assert page.status == 200
    assert "the evaluator 'moody' of vidscore_moody cannot be used" in page.words
    contained.cache_clear()


@pytest.mark.parametrize("as_file", [True, False])
async def test_a_benchmark_is_created_from_a_toml_file(site: Browsing, as_file: bool) -> None:
    form = await site.organiser.get("/organise/new?evaluator=spotgeo")
    assert "<option selected>spotgeo</option>" in form.text
    text = 'title = "From a file"\n[[evaluators]]\nname = "spotgeo"\n'
    page = await site.organiser.upload(
        form,
        "/organise/new/toml",
        ("sky.toml", text.encode()) if as_file else ("", b""),
        benchmark_id="sky",
        toml="" if as_file else text,
    )
    assert page.path == "/organise/benchmarks/sky"
    assert "Organise From a file" in page.words


async def test_a_toml_file_with_faults_stays_in_the_page_with_their_places(site: Browsing) -> None:
    form = await site.organiser.get("/organise/new")
    for text, words in (
        ('title = "x"\n[[evaluators]\n', "line 2"),
        ('titel = "x"\n', "did you mean title"),
        ('[[sequences]]\nname = "a"\nvideo = "/etc/passwd"\n', "video"),
    ):
        page = await site.organiser.upload(
            form, "/organise/new/toml", ("", b""), benchmark_id="sky", toml=text
        )
        assert page.status == 400
        assert words in page.words
        assert text.splitlines()[0].replace('"', "&#34;") in page.text


async def test_a_policy_is_previewed_before_it_is_saved(site: Browsing) -> None:
    await prepare(site.hosted)
    form = await site.organiser.get(f"{HERE}/policy")
    wanted = {"visibility": "live", "ladder_step": "0.01", "selection": "best"} | _unchanged()
    page = await site.organiser.send(form, f"{HERE}/policy", **wanted)
    assert page.status == 200
    assert "What it would release" in page.words
    assert "red" in page.words
    before = (await site.organiser.get(HERE)).words
    assert "visibility ladder" in before
    saved = await site.organiser.send(page, f"{HERE}/policy", **wanted, save="yes")
    assert saved.path == HERE
    assert "visibility live" in saved.words


async def test_a_policy_whose_private_sequences_were_drawn_can_be_changed(site: Browsing) -> None:
    await split.host(site.hosted, private_sequences=[], private_share=0.5)
    form = await site.organiser.get(f"{HERE}/policy")
    wanted = {"visibility": "final", "selection": "best"} | _unchanged()
    page = await site.organiser.send(form, f"{HERE}/policy", **wanted)
    assert page.status == 200, page.words
    saved = await site.organiser.send(page, f"{HERE}/policy", **wanted, save="yes")
    assert saved.path == HERE
    assert "visibility final" in saved.words
    assert "private_share 0.5" in saved.words
    assert (await site.hosted.organiser.benchmark()).benchmark.private_sequence_count == 2


async def test_a_policy_changed_by_somebody_else_is_not_overwritten(site: Browsing) -> None:
    await prepare(site.hosted)
    form = await site.organiser.get(f"{HERE}/policy")
    wanted = {"visibility": "final", "ladder_step": "0.02", "selection": "best"} | _unchanged()
    other = await site.organiser.get(f"{HERE}/policy")
    await site.organiser.send(other, f"{HERE}/policy", **wanted, save="yes")
    late = wanted | {"ladder_step": "0.5"}
    page = await site.organiser.send(form, f"{HERE}/policy", **late, save="yes")
    assert page.status == 409
    assert "Somebody else has changed the benchmark" in page.words
    assert 'value="0.5"' in page.text
    assert "The benchmark now has 0.02" in page.words
    assert 'id="visibility-fault-1"' not in page.text  # both want the same
    assert "ladder_step 0.02" in (await site.organiser.get(HERE)).words


async def test_a_policy_that_comes_too_late_keeps_what_was_typed(site: Browsing) -> None:
    """Private sequences stay as they are once there are submissions."""
    await prepare(site.hosted)
    form = await site.organiser.get(f"{HERE}/policy")
    late = _unchanged() | {"visibility": "final", "selection": "best"}
    late |= {"private_sequences": "1", "ladder_step": "0.25"}
    page = await site.organiser.send(form, f"{HERE}/policy", **late, save="yes")
    assert page.status == 409, page.words
    assert "its private sequences stay as they are" in page.words
    typed = page.fields(f"{HERE}/policy")
    assert (typed["private_sequences"], typed["ladder_step"]) == ("1", "0.25")


async def test_faults_of_a_policy_are_shown_beneath_their_fields(site: Browsing) -> None:
    await prepare(site.hosted)
    form = await site.organiser.get(f"{HERE}/policy")
    wrong = _unchanged() | {"visibility": "final", "selection": "best", "ladder_step": "-1"}
    wrong["ranking_measure"] = "nonsense"
    page = await site.organiser.send(form, f"{HERE}/policy", **wrong)
    assert page.status == 400
    assert 'id="ladder_step-fault-1"' in page.text
    wrong["ladder_step"] = "0.01"
    page = await site.organiser.send(form, f"{HERE}/policy", **wrong)
    assert page.status == 400
    assert 'id="ranking_measure-fault-1"' in page.text


def _unchanged() -> dict[str, str]:
    """Values of a form that the tests do not change."""
    return {
        "outcomes": "none",
        "quiet_action": "seal",
        "earlier_first": "false",
        "public_board": "true",
        "rescore": "automatic",
        "submissions_in_all": "0",
    }


async def test_a_submission_is_disqualified_with_a_reason_and_reinstated(site: Browsing) -> None:
    await prepare(site.hosted, visibility=benchmark_pb2.VISIBILITY_FINAL)
    path = f"{HERE}/submissions/two/disqualify"
    form = await site.organiser.get(path)
    refused = await site.organiser.send(form, path, reason="  ")
    assert refused.status == 400
    assert 'id="reason-fault-1"' in refused.text
    page = await site.organiser.send(form, path, reason="trained on the test videos")
    assert "disqualified: trained on the test videos" in page.words
    board = await site.hosted.red.board()
    assert [(row.team, row.rank, row.disqualification) for row in board.rows] == [
        ("red", 1, ""),
        ("blue", 0, "trained on the test videos"),
    ]
    assert (await site.hosted.blue.get("two")).disqualification == "trained on the test videos"
    audit = await site.organiser.get("/organise/audit?action=DisqualifySubmission")
    assert "trained on the test videos" in audit.words
    await site.organiser.send(page, "/organise/reinstate", name=f"{BENCHMARK}/submissions/two")
    board = await site.hosted.red.board()
    assert [(row.team, row.rank) for row in board.rows] == [("blue", 1), ("red", 2)]


async def test_a_form_that_is_too_large_is_refused_before_it_is_read(site: Browsing) -> None:
    form = await site.organiser.get("/organise/new")
    page = await site.organiser.send(form, "/organise/new", title="x" * (MOST_FORM_BYTES + 1))
    assert page.status == 400
    assert "The form has more than 1,048,576 bytes" in page.words
