"""Submitting a file in a browser: checked first, then sent over the streams of every client."""

from __future__ import annotations

import asyncio
import gzip
import io
import re
import zipfile
from pathlib import Path

import pytest
from tests.server.domain import hosted
from tests.server.domain.hosted import BENCHMARK, TRUTH
from tests.server.domain.streets import streets, things
from tests.server.scene import points
from tests.server.web.site.browsing import Browser, Browsing, Page, browsing
from tests.server.web.site.uploading import DOTS, WRONG, dots, only_submission, send_file

from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.web.site.service import ServiceError

FIRST_FRAMES = points({1: [(10.0, 20.0), (300.0, 200.0)], 2: []})
"""The first two frames of the dots as in the file."""


# --- The normal path


async def test_a_valid_file_is_summarised_and_submitted_by_one_button(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS, title="Falcon 1")
    assert page.status == 200
    assert "The file can be submitted" in page.words
    assert "Frames 5" in page.words
    assert "Detections 3" in page.words
    assert await site.hosted.organiser.listed() == []
    answer = await site.red.post(page.path, page.fields(page.path))
    assert answer.status == 303
    found = await only_submission(site.hosted)
    assert answer.headers["location"] == f"/{found.name}"
    assert (found.title, found.team, found.frame_count) == ("Falcon 1", "red", 5)
    await site.hosted.red.ended(found.name.rpartition("/")[2])
    [score] = await site.hosted.organiser.scores(found.name.rpartition("/")[2])
    assert {row.measure: row.value.number for row in score.report.scores}["f1"] == 1.0


async def test_frames_without_detections_need_no_shape_and_are_submitted(site: Browsing) -> None:
    """JSON lines have no shape if nothing was detected; the dots are points."""
    await dots(site)
    lines = [f'{{"sequence": "1", "frame": {frame}, "objects": []}}' for frame in range(1, 6)]
    page = await send_file(site.red, "\n".join(lines).encode(), "nothing.jsonl")
    assert "The file can be submitted" in page.words
    assert (await site.red.post(page.path, page.fields(page.path))).status == 303
    assert (await only_submission(site.hosted)).frame_count == 5


async def test_an_invalid_file_is_reported_line_by_line_and_keeps_the_input(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, WRONG, "wrong.csv", title="My title", name="falcon")
    assert "wrong.csv was refused. Nothing was submitted." in page.words
    assert "wrong.csv, line 2, column y" in page.words
    assert "'twenty'" in page.words
    assert "wrong.csv, line 4, column x" in page.words
    fields = page.fields(f"/{BENCHMARK}/submit")
    assert (fields["title"], fields["name"]) == ("My title", "falcon")
    assert await site.hosted.organiser.listed() == []


async def test_a_breach_of_a_rule_is_reported_with_the_line_of_its_frame(site: Browsing) -> None:
    """Frames have two detections each, so rows of frames and of detections differ."""
    await dots(site)
    rows = "".join(f"Rome,{number},{x},1\n" for number in range(1, 5) for x in (1, 2))
    data = f"sequence,frame,x,y\n{rows}Rome,5,5000,1\n".encode()
    page = await send_file(site.red, data)
    assert "dots.csv, line 10 x = 5000.0 in frame 5 of sequence Rome" in page.words


async def test_many_faults_of_one_cause_are_reported_once_with_their_number(site: Browsing) -> None:
    await dots(site)
    rows = "".join(f"Straße,{number},1,1\n" for number in range(1, 80))
    data = f"sequence,frame,x,y\n{rows}a,none,1,1\n".encode("latin-1")
    page = await send_file(site.red, data)
    assert "2 faults:" in page.words
    assert (
        "79 times, first at dots.csv, line 2, column sequence "
        "bytes that are not valid UTF-8 text in UTF-8" in page.words
    )
    assert page.words.count("UTF-8") == 2
    assert "dots.csv, line 81, column frame" in page.words


async def test_no_page_shows_where_the_server_stores_a_file(site: Browsing) -> None:
    await dots(site)
    for data in (WRONG, DOTS, b"\x00\x01", b"PK\x03\x04broken"):
        page = await send_file(site.red, data)
        assert "vidscore-uploads" not in page.text
        assert "/tmp" not in page.text


async def test_advice_names_fields_of_the_form_and_not_options_of_the_command_line(
    site: Browsing,
) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS.replace(b",", b";"))
    assert "columns separated by semicolons" in page.words
    assert "“Format” chooses another format" in page.words
    assert "--" not in page.words


async def test_names_that_the_benchmark_lacks_are_reported_with_their_line(site: Browsing) -> None:
    await site.hosted.organiser.create(streets(["car"], {"street": None}))
    await site.hosted.organiser.upload(things({1: ["car"]}))
    data = (
        b"sequence,frame,class,x1,y1,x2,y2\n"
        b"street,2,car,10,10,30,30\n"
        b"street,1,cab,10,10,30,30\n"
        b"strete,1,car,10,10,30,30\n"
    )
    page = await send_file(site.red, data)
    assert "dots.csv, line 3 label 'cab' a label of the benchmark" in page.words
    assert re.search(r"dots\.csv, line 4 sequence '?strete", page.words), page.words
    assert "did you mean street?" in page.words


async def test_warnings_must_be_accepted_by_a_tick(site: Browsing) -> None:
    await site.hosted.organiser.create(streets(), public=("sequences", "labels"))
    await site.hosted.organiser.upload(things({1: ["car"]}))
    data = b"sequence,frame,class,confidence,x1,y1,x2,y2\nstreet,1,cab,0.5,10,10,30,30\n"
    page = await send_file(site.red, data)
    assert "label 'cab' is not in the benchmark's ground truth" in page.words
    refused = await site.red.post(page.path, page.fields(page.path))
    assert refused.status == 400
    assert "Nothing was submitted. Tick this" in refused.words
    assert await site.hosted.organiser.listed() == []
    await site.red.post(page.path, page.fields(page.path) | {"accept": "yes"})
    assert (await only_submission(site.hosted)).frame_count == 1


async def test_for_a_name_that_is_taken_another_is_requested(site: Browsing) -> None:
    await dots(site)
    await site.hosted.blue.begin(TRUTH, "falcon")
    page = await send_file(site.red, DOTS, name="falcon", title="Mine")
    refused = await site.red.post(page.path, page.fields(page.path))
    assert refused.status == 409
    assert "Nothing was submitted." in refused.words
    assert refused.fields(page.path)["title"] == "Mine"
    again = await site.red.post(page.path, page.fields(page.path) | {"name": "kestrel"})
    assert again.headers["location"] == f"/{BENCHMARK}/submissions/kestrel"


async def test_a_folder_is_sent_as_zip_and_a_file_as_gzip(site: Browsing) -> None:
    await dots(site)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/dots.csv", DOTS)
    for name, data in (("dots.zip", packed.getvalue()), ("dots.csv.gz", gzip.compress(DOTS))):
        assert "Frames 5" in (await send_file(site.red, data, name)).words


async def test_a_used_up_quota_is_shown_before_a_file_is_chosen(site: Browsing) -> None:
    await dots(site, submissions_per_day=1)
    page = await site.red.get(f"/{BENCHMARK}/submit")
    assert "one more time today" in page.words
    await site.hosted.red.submit(TRUTH, "one")
    page = await site.red.get(f"/{BENCHMARK}/submit")
    assert "Nothing can be submitted now." in page.words
    assert 'type="file"' not in page.text


# --- Into the submission


async def test_the_same_file_continues_at_the_end_of_its_stream(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS, name="falcon")
    name = f"{BENCHMARK}/submissions/falcon"
    stream = await _stream_name(site, page)
    client = site.hosted.red
    await client.submissions.CreateSubmission(
        pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="falcon"),
        metadata=client.metadata,
    )
    await client.open(name, stream)
    await client.append(f"{name}/streams/{stream}", 0, FIRST_FRAMES)
    assert (await client.get("falcon")).frame_count == 2
    await site.red.post(page.path, page.fields(page.path))
    ended = await client.ended("falcon")
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    assert ended.submission.frame_count == 5
    assert [one.next_offset for one in ended.submission.streams] == [5]


async def test_a_file_continues_although_no_further_submission_may_begin(site: Browsing) -> None:
    await dots(site, submissions_per_day=1)
    page = await send_file(site.red, DOTS, name="falcon")
    stream = await _stream_name(site, page)
    client = site.hosted.red
    await client.submissions.CreateSubmission(
        pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="falcon"),
        metadata=client.metadata,
    )
    name = f"{BENCHMARK}/submissions/falcon"
    await client.open(name, stream)
    await client.append(f"{name}/streams/{stream}", 0, FIRST_FRAMES)
    told = await site.red.get(f"/{name}")
    assert "it goes on after frame 2" in told.words
    page = await send_file(site.red, DOTS)
    await site.red.post(page.path, page.fields(page.path))
    ended = await client.ended("falcon")
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    assert ended.submission.frame_count == 5
    closed = await site.red.get(f"/{BENCHMARK}/submit")
    assert "Nothing can be submitted now." in closed.words


async def test_a_file_that_was_submitted_before_leads_to_its_submission(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    first = await site.red.post(page.path, page.fields(page.path))
    await site.hosted.red.ended(first.headers["location"].rpartition("/")[2])
    page = await send_file(site.red, DOTS)
    second = await site.red.post(page.path, page.fields(page.path))
    assert second.headers["location"] == first.headers["location"]


async def test_going_back_shows_that_the_file_was_submitted(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    await site.red.post(page.path, page.fields(page.path))
    found = await only_submission(site.hosted)
    await site.hosted.red.ended(found.name.rpartition("/")[2])
    again = await site.red.get(page.path)
    assert "it was submitted, made a revision or removed" in again.words
    assert "Choose it again if you still need it" in again.words


@pytest.mark.slow
async def test_a_restarted_server_has_every_frame_that_it_acknowledged(tmp_path: Path) -> None:
    async with browsing(tmp_path) as site:
        await dots(site)
        page = await send_file(site.red, DOTS, name="falcon")
        stream = await _stream_name(site, page)
        secret = site.hosted.red.secret
        await site.hosted.red.submissions.CreateSubmission(
            pb.CreateSubmissionRequest(benchmark=BENCHMARK, submission_id="falcon"),
            metadata=site.hosted.red.metadata,
        )
        name = f"{BENCHMARK}/submissions/falcon"
        await site.hosted.red.open(name, stream)
        await site.hosted.red.append(f"{name}/streams/{stream}", 0, FIRST_FRAMES)
        gone, base = page.path, site.red
    assert base.cookies
    async with browsing(tmp_path) as site:
        browser = Browser(site.nobody.base)
        await browser.sign_in(secret)
        page = await browser.get(gone)
        assert page.status == 404
        assert "Choose it again" in page.words
        assert page.fields(f"/{BENCHMARK}/submit"), "the form to do so is beside it"
        assert (
            await browser.post(gone, {"csrf": page.fields(f"/{BENCHMARK}/submit")["csrf"]})
        ).status == 404
        page = await send_file(browser, DOTS, name="falcon")
        await browser.post(page.path, page.fields(page.path))
        ended = await site.hosted.client(secret).ended("falcon")
        assert ended.submission.frame_count == 5


async def test_a_refused_submission_leaves_nothing(site: Browsing) -> None:
    await dots(site, submissions_per_day=1)
    page = await send_file(site.red, DOTS)
    await site.hosted.red.submit(TRUTH, "one")
    refused = await site.red.post(page.path, page.fields(page.path))
    assert refused.status == 429
    assert "Nothing was submitted." in refused.words
    assert "submissions_per_day" in refused.words
    assert await site.hosted.organiser.listed() == ["one"]


@pytest.mark.parametrize(
    ("sequences", "advice"),
    [((), "list the frames without detections, as JSON lines do"), (("1",), "--allow-empty")],
)
async def test_a_file_without_a_row_gets_advice_that_works(
    site: Browsing, sequences: tuple[str, ...], advice: str
) -> None:
    """The command sends an empty frame of each sequence that the specification names."""
    benchmark = hosted.dots()
    for name in sequences:
        benchmark.specification.sequences.add(name=name)
    await site.hosted.organiser.create(benchmark)
    await site.hosted.organiser.upload(TRUTH)
    page = await send_file(site.red, b"sequence,frame,x,y\n", "nothing.csv")
    assert "no row" in page.words
    assert advice in page.words


@pytest.mark.parametrize(("reason", "open_count"), [("QUOTA_EXCEEDED", 0), ("EPOCH_STALE", 1)])
async def test_a_draft_whose_first_frames_are_refused_is_discarded_unless_others_send_to_it(
    site: Browsing, monkeypatch: pytest.MonkeyPatch, reason: str, open_count: int
) -> None:
    """Nobody sees it, and it would count among the open submissions of the team for an hour."""
    await dots(site)
    page = await send_file(site.red, DOTS, name="falcon")

    async def refuse(*_: object) -> None:
        raise ServiceError("RESOURCE_EXHAUSTED", reason, "not now")

    with monkeypatch.context() as patch:
        patch.setattr("vidscore_server.web.site.submit.send_frames", refuse)
        refused = await site.red.post(page.path, page.fields(page.path))
    assert "Not now." in refused.words
    holdings = await site.hosted.hosting.context.read(lambda reader: reader.holdings("dots", "red"))
    assert holdings.open_count == open_count
    again = await site.red.post(page.path, page.fields(page.path))
    assert again.headers["location"] == f"/{BENCHMARK}/submissions/falcon"


async def test_an_internal_error_is_shown_on_the_page_of_the_submission(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS, name="falcon")

    async def broken(*_: object) -> None:
        raise KeyError("something")

    monkeypatch.setattr("vidscore_server.web.site.submit.seal", broken)
    answer = await site.red.post(page.path, page.fields(page.path))
    await _work_is_done(site)
    stopped = await site.red.get(answer.headers["location"])
    assert "The server failed; its log has details under incident" in stopped.words
    assert "something" not in stopped.words


async def test_a_button_pressed_twice_submits_once(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    fields = page.fields(page.path)
    first, second = await asyncio.gather(*(site.red.post(page.path, fields) for _ in range(2)))
    found = await only_submission(site.hosted)
    assert first.headers["location"] == f"/{found.name}"
    assert second.status == 404 or second.headers["location"] == f"/{found.name}"
    ended = await site.hosted.red.ended(found.name.rpartition("/")[2])
    assert ended.submission.frame_count == 5


async def test_interrupted_sending_says_so_and_can_continue(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS, name="falcon")

    async def broken(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "DRAINING", "the server is stopping")

    monkeypatch.setattr("vidscore_server.web.site.submit.seal", broken)
    answer = await site.red.post(page.path, page.fields(page.path))
    await _work_is_done(site)
    path = answer.headers["location"]
    stopped = await site.red.get(path)
    assert "Sending dots.csv stopped. The server is stopping." in stopped.words
    assert "5 durable frames stay." in stopped.words
    monkeypatch.undo()
    again = await site.red.get(page.path)
    assert "Sending stopped." in again.words
    await site.red.send(again, page.path)
    ended = await site.hosted.red.ended("falcon")
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    assert ended.submission.frame_count == 5


async def test_a_file_with_too_many_frames_is_refused_before_it_is_sent(tmp_path: Path) -> None:
    async with browsing(tmp_path, maximum_frames=4) as site:
        await site.hosted.organiser.create_benchmark()
        page = await send_file(site.red, DOTS)
        assert "5 frames at most maximum_frames = 4" in page.words


async def _work_is_done(site: Browsing) -> None:
    """Wait until nothing is being sent."""
    assert site.hosted.server._site is not None
    uploads = site.hosted.server._site._spool._uploads.values()
    await asyncio.gather(*(upload.work["send"] for upload in uploads))


async def _stream_name(site: Browsing, page: Page) -> str:
    """Name of the stream to which a file is sent."""
    del page
    assert site.hosted.server._site is not None
    spool = site.hosted.server._site._spool
    [upload] = spool._uploads.values()
    return str(upload.work["check"].result().stream)
