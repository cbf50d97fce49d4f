"""Submitting a file in a browser: checked first, resumable, and safe from hostile files."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted
from tests.server.domain.streets import streets, things
from tests.server.scene import points
from tests.server.web.site.browsing import Browser, Browsing, Page, browsing
from tests.support.waiting import TIMEOUT_S

from vidscore_protos.v1 import annotations_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.web.site import submit
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.spool import (
    FOLDER_PREFIX,
    KEPT_S,
    LOCK,
    MOST_OF_TEAM,
    FileFacts,
    Spool,
    Typed,
    UploadLimits,
    safe_name,
)

DOTS = b"sequence,frame,x,y\n1,1,10,20\n1,1,300,200\n1,2,,\n1,3,50.5,60.5\n1,4,,\n1,5,,\n"
"""The truth of the dots, all of it found."""

WRONG = b"sequence,frame,x,y\n1,1,10,twenty\n1,2,5,5\n1,3,,7\n"


async def dots(site: Browsing, **policy: object) -> None:
    await site.hosted.organiser.create_benchmark(**policy)  # type: ignore[arg-type]
    await site.hosted.organiser.upload(TRUTH)


async def send_file(browser: Browser, data: bytes, name: str = "dots.csv", /, **typed: str) -> Page:
    """Send a file as a browser without a script does, and open what it leads to."""
    form = await browser.get(f"/{BENCHMARK}/submit")
    fields = form.fields(f"/{BENCHMARK}/submit") | typed
    fields.pop("file", None)
    answer = await send_parts(browser, fields, name, data)
    if answer.status == 303:
        return await settled(browser, answer.headers["location"])
    return answer


async def send_parts(browser: Browser, fields: dict[str, str], name: str, data: bytes) -> Page:
    mark = "xxxxxxxxxxxxxxxxxxxxxxx"
    parts = [
        f'--{mark}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{text}\r\n'.encode()
        for key, text in fields.items()
    ]
    head = f'Content-Disposition: form-data; name="file"; filename="{name}"\r\n'
    parts.append(f"--{mark}\r\n{head}Content-Type: text/csv\r\n\r\n".encode() + data + b"\r\n")
    parts.append(f"--{mark}--\r\n".encode())
    kind = f"multipart/form-data; boundary={mark}"
    path = f"/{BENCHMARK}/submit"
    return await browser.ask("POST", path, b"".join(parts), content_type=kind, origin=browser.base)


async def settled(browser: Browser, path: str) -> Page:
    """A page of a file once it is checked."""
    async with asyncio.timeout(TIMEOUT_S):
        while True:
            page = await browser.get(path)
            if "is being read" not in page.words:
                return page


async def begin(browser: Browser, data: bytes, **fields: str) -> dict[str, object]:
    """Begin to send a file as the script does."""
    form = await browser.get(f"/{BENCHMARK}/submit")
    sent = {
        "csrf": form.fields(f"/{BENCHMARK}/submit")["csrf"],
        "file_name": "dots.csv",
        "size": str(len(data)),
        "modified": "1",
    }
    answer = await browser.post(f"/{BENCHMARK}/uploads", sent | fields)
    found: dict[str, object] = json.loads(answer.body)
    found["status"], found["csrf"] = answer.status, sent["csrf"]
    return found


async def put(browser: Browser, begun: dict[str, object], offset: int, data: bytes) -> Page:
    path = f"{begun['path']}?offset={offset}"
    key = str(begun["csrf"])
    return await browser.ask("PUT", path, data, origin=browser.base, x_form_key=key)


async def only_submission(hosted: Hosted) -> pb.Submission:
    request = pb.ListSubmissionsRequest(benchmark=BENCHMARK)
    client = hosted.organiser
    answer = await client.submissions.ListSubmissions(request, metadata=client.metadata)
    [found] = answer.submissions
    return found


# --- The way through


async def test_a_right_file_is_summed_up_and_submitted_by_one_button(site: Browsing) -> None:
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


async def test_a_wrong_file_is_told_line_by_line_and_nothing_typed_is_lost(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, WRONG, "wrong.csv", title="My title", name="falcon")
    assert "wrong.csv was not taken. Nothing was submitted." in page.words
    assert "wrong.csv, line 2, column y" in page.words
    assert "'twenty'" in page.words
    assert "wrong.csv, line 4, column x" in page.words
    fields = page.fields(f"/{BENCHMARK}/submit")
    assert (fields["title"], fields["name"]) == ("My title", "falcon")
    assert await site.hosted.organiser.listed() == []


async def test_no_page_tells_where_the_server_keeps_a_file(site: Browsing) -> None:
    await dots(site)
    for data in (WRONG, DOTS, b"\x00\x01", b"PK\x03\x04broken"):
        page = await send_file(site.red, data)
        assert "vidscore-uploads" not in page.text
        assert "/tmp" not in page.text


async def test_what_the_benchmark_does_not_have_is_told_with_its_line(site: Browsing) -> None:
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


async def test_doubts_must_be_accepted_by_a_tick(site: Browsing) -> None:
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


async def test_a_name_that_is_taken_is_asked_for_again(site: Browsing) -> None:
    await dots(site)
    await site.hosted.blue.begin(TRUTH, "falcon")
    page = await send_file(site.red, DOTS, name="falcon", title="Mine")
    refused = await site.red.post(page.path, page.fields(page.path))
    assert refused.status == 409
    assert "Nothing was submitted." in refused.words
    assert refused.fields(page.path)["title"] == "Mine"
    again = await site.red.post(page.path, page.fields(page.path) | {"name": "kestrel"})
    assert again.headers["location"] == f"/{BENCHMARK}/submissions/kestrel"


async def test_a_folder_comes_as_zip_and_a_file_as_gzip(site: Browsing) -> None:
    await dots(site)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("folder/dots.csv", DOTS)
    for name, data in (("dots.zip", packed.getvalue()), ("dots.csv.gz", gzip.compress(DOTS))):
        assert "Frames 5" in (await send_file(site.red, data, name)).words


async def test_a_used_up_quota_is_said_before_a_file_is_chosen(site: Browsing) -> None:
    await dots(site, submissions_per_day=1)
    page = await site.red.get(f"/{BENCHMARK}/submit")
    assert "one more time today" in page.words
    await site.hosted.red.submit(TRUTH, "one")
    page = await site.red.get(f"/{BENCHMARK}/submit")
    assert "Nothing can be submitted now." in page.words
    assert 'type="file"' not in page.text


# --- Pieces


async def test_pieces_are_taken_by_offset_and_go_on_after_a_break(site: Browsing) -> None:
    await dots(site)
    begun = await begin(site.red, DOTS)
    assert begun["offset"] == 0
    assert json.loads((await put(site.red, begun, 0, DOTS[:20])).body) == {"offset": 20}
    again = await put(site.red, begun, 0, DOTS[:20])
    assert (again.status, json.loads(again.body)) == (409, {"offset": 20})
    gap = await put(site.red, begun, 30, DOTS[30:])
    assert (gap.status, json.loads(gap.body)) == (409, {"offset": 20})
    page = await site.red.get(str(begun["path"]))
    assert f"20 of {len(DOTS)} bytes are here" in page.words
    anew = await begin(site.red, DOTS)
    assert (anew["path"], anew["offset"]) == (begun["path"], 20)
    await put(site.red, anew, 20, DOTS[20:])
    assert "Frames 5" in (await settled(site.red, str(begun["path"]))).words


async def test_a_changed_file_of_the_same_size_begins_anew(site: Browsing) -> None:
    await dots(site)
    begun = await begin(site.red, DOTS)
    await put(site.red, begun, 0, DOTS[:20])
    changed = await begin(site.red, DOTS, modified="2")
    assert changed["offset"] == 0
    assert changed["path"] != begun["path"]


async def test_more_bytes_than_were_announced_are_refused(site: Browsing) -> None:
    await dots(site)
    begun = await begin(site.red, DOTS)
    answer = await put(site.red, begun, 0, DOTS + b"x")
    assert answer.status == 400
    assert "more bytes" in json.loads(answer.body)["message"].lower()


async def test_a_piece_needs_the_key_of_the_session(site: Browsing) -> None:
    await dots(site)
    begun = await begin(site.red, DOTS)
    path, key = f"{begun['path']}?offset=0", str(begun["csrf"])
    for origin, given in ((site.red.base, ""), (site.red.base, "0" * 64), ("https://evil", key)):
        answer = await site.red.ask("PUT", path, DOTS, origin=origin, x_form_key=given)
        assert answer.status == 403
    page = await site.red.get(str(begun["path"]))
    assert f"0 of {len(DOTS)} bytes" in page.words


async def test_a_file_is_known_to_the_browser_that_sent_it_alone(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    for browser in (site.blue, site.organiser, site.nobody):
        assert (await browser.get(page.path)).status in {401, 404}
        answer = await browser.post(page.path, page.fields(page.path))
        assert answer.status in {401, 403, 404}
    assert await site.hosted.organiser.listed() == []


async def test_viewers_and_strangers_can_send_nothing(site: Browsing) -> None:
    await dots(site)
    assert (await site.viewer.get(f"/{BENCHMARK}/submit")).status == 403
    assert "token" in (await site.nobody.get(f"/{BENCHMARK}/submit")).fields("/sign-in")
    form = await site.red.get(f"/{BENCHMARK}/submit")
    fields = form.fields(f"/{BENCHMARK}/submit")
    fields.pop("file")
    assert (await send_parts(site.viewer, fields, "dots.csv", DOTS)).status == 403
    assert (await send_parts(site.nobody, fields, "dots.csv", DOTS)).status in {401, 403}


async def test_a_file_that_waits_can_be_removed(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    listed = await site.red.get(f"/{BENCHMARK}/submit")
    assert "Remove dots.csv" in listed.words
    await site.red.send(listed, f"{page.path}/discard")
    assert (await site.red.get(page.path)).status == 404


# --- Into the submission


async def test_the_same_file_goes_on_where_its_stream_ends(site: Browsing) -> None:
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
    await client.append(f"{name}/streams/{stream}", 0, _first_frames(2))
    assert (await client.get("falcon")).frame_count == 2
    await site.red.post(page.path, page.fields(page.path))
    ended = await client.ended("falcon")
    assert ended.submission.state == pb.SUBMISSION_STATE_SCORED
    assert ended.submission.frame_count == 5
    assert [one.next_offset for one in ended.submission.streams] == [5]


async def test_a_file_that_was_submitted_before_leads_to_its_submission(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    first = await site.red.post(page.path, page.fields(page.path))
    await site.hosted.red.ended(first.headers["location"].rpartition("/")[2])
    page = await send_file(site.red, DOTS)
    second = await site.red.post(page.path, page.fields(page.path))
    assert second.headers["location"] == first.headers["location"]


async def test_a_server_that_starts_again_has_every_frame_that_it_acknowledged(
    tmp_path: Path,
) -> None:
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
        await site.hosted.red.append(f"{name}/streams/{stream}", 0, _first_frames(2))
        gone, base = page.path, site.red
    assert base.cookies
    async with browsing(tmp_path) as site:
        browser = Browser(site.nobody.base)
        await browser.sign_in(secret)
        page = await browser.get(gone)
        assert page.status == 404
        assert "Choose it once more" in page.words
        page = await send_file(browser, DOTS, name="falcon")
        await browser.post(page.path, page.fields(page.path))
        ended = await site.hosted.client(secret).ended("falcon")
        assert ended.submission.frame_count == 5


async def test_what_is_refused_when_it_is_submitted_leaves_nothing(site: Browsing) -> None:
    await dots(site, submissions_per_day=1)
    page = await send_file(site.red, DOTS)
    await site.hosted.red.submit(TRUTH, "one")
    refused = await site.red.post(page.path, page.fields(page.path))
    assert refused.status == 429
    assert "Nothing was submitted." in refused.words
    assert "submissions_per_day" in refused.words
    assert await site.hosted.organiser.listed() == ["one"]


async def test_sending_that_stops_says_so_and_can_go_on(
    site: Browsing, monkeypatch: pytest.MonkeyPatch
) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS, name="falcon")
    whole = submit.seal

    async def broken(*_: object) -> None:
        raise ServiceError("UNAVAILABLE", "DRAINING", "the server is stopping")

    monkeypatch.setattr(submit, "seal", broken)
    answer = await site.red.post(page.path, page.fields(page.path))
    await _work_is_done(site)
    path = answer.headers["location"]
    stopped = await site.red.get(path)
    assert "Sending dots.csv stopped. the server is stopping" in stopped.words
    assert "The 5 frames that are durable stay." in stopped.words
    monkeypatch.setattr(submit, "seal", whole)
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


# --- Hostile files


def _archive(**entries: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name.replace("__", "/"), content)
    return data.getvalue()


def _hostile() -> Iterator[tuple[str, bytes, str]]:
    yield "empty.csv", b"", "The file is empty"
    yield "bomb.zip", _archive(a=b"0" * 9_000_000), "maximum_unpacked_bytes"
    yield "bomb.csv.gz", gzip.compress(b"0" * 9_000_000), "maximum_file_bytes"
    yield "outside.zip", _archive(**{"..__..__etc__passwd": DOTS}), "leads out of the archive"
    yield "nested.zip", _archive(a=_archive(b=DOTS)), "was not taken"
    yield "cut.zip", _archive(a=DOTS)[:-30], "was not taken"
    yield "picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "was not taken"
    yield "page.html", b"<html><script>alert(1)</script></html>", "was not taken"
    yield "cut.csv", DOTS[:10], "was not taken"
    yield "deep.json", b"[" * 100_000, "was not taken"
    yield "utf16.csv", DOTS.decode().encode("utf-16"), "was not taken"
    yield "many.zip", _archive(**{f"{row}.txt": b"" for row in range(20_001)}), "maximum_files"


async def test_hostile_files_are_refused_in_words(tmp_path: Path) -> None:
    async with browsing(tmp_path, maximum_web_upload_bytes=2_000_000) as site:
        await dots(site)
        for name, data, expected in _hostile():
            page = await send_file(site.red, data, name)
            assert page.status in {200, 400}, name
            assert expected in page.words, f"{name}: {page.words}"
            for waiting in re.findall(r'action="([^"]+)/discard"', page.text):
                await site.red.send(page, f"{waiting}/discard")
            listed = await site.red.get(f"/{BENCHMARK}/submit")
            for waiting in re.findall(r'action="([^"]+)/discard"', listed.text):
                await site.red.send(listed, f"{waiting}/discard")
        assert await site.hosted.organiser.listed() == []


async def test_a_file_above_the_limit_is_refused_before_it_is_read(tmp_path: Path) -> None:
    async with browsing(tmp_path, maximum_web_upload_bytes=1000) as site:
        await dots(site)
        begun = await begin(site.red, DOTS, size="1001")
        assert begun["status"] == 400
        assert "maximum_web_upload_bytes" in str(begun["message"])
        fields = {"csrf": str(begun["csrf"])}
        answer = await send_parts(site.red, fields, "large.csv", bytes(70_000))
        assert answer.status == 400


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\files\\my dots.csv", "my dots.csv"),
        ("..", "detections"),
        (".hidden", "hidden"),
        ("a\nb\x00.csv", "a_b_.csv"),
        ("", "detections"),
        ("é" * 100 + ".csv", "é" * 56 + ".csv"),
    ],
)
def test_names_of_files_lead_nowhere(name: str, expected: str) -> None:
    assert safe_name(name) == expected


async def test_what_is_in_a_file_is_no_markup_of_the_page(site: Browsing) -> None:
    await dots(site)
    data = b"sequence,frame,x,y\n<b>x</b>,1,1,<script>alert(1)</script>\n"
    page = await send_file(site.red, data, "<img src=x>.csv")
    assert "<script>alert" not in page.text
    assert "<img src" not in page.text


# --- The spool


def _facts(size: int = 10, modified: str = "") -> FileFacts:
    return FileFacts("a.csv", size, modified)


def test_a_team_can_keep_only_so_many_files_waiting() -> None:
    spool = Spool(UploadLimits(100))
    for _ in range(MOST_OF_TEAM):
        spool.begin("me", "red", BENCHMARK, _facts(), Typed())
    with pytest.raises(ServiceError, match="8 files of your team wait"):
        spool.begin("me", "red", BENCHMARK, _facts(), Typed())
    with pytest.raises(ServiceError, match="8 files of your team wait"):
        spool.begin("my other browser", "red", BENCHMARK, _facts(), Typed())
    spool.begin("you", "blue", BENCHMARK, _facts(), Typed())
    asyncio.run(spool.stop())


def test_a_team_can_keep_only_so_many_bytes_waiting() -> None:
    spool = Spool(UploadLimits(100))
    for _ in range(2):
        spool.begin("me", "red", BENCHMARK, _facts(100), Typed())
    with pytest.raises(ServiceError, match="with 200 bytes"):
        spool.begin("me", "red", BENCHMARK, _facts(1), Typed())
    asyncio.run(spool.stop())


def test_a_file_waits_for_a_day() -> None:
    now = 5.0
    spool = Spool(UploadLimits(100), lambda: now)
    upload = spool.begin("me", "red", BENCHMARK, _facts(), Typed())
    now += KEPT_S
    assert spool.find(upload.upload, "me", BENCHMARK) is upload
    now += 1
    with pytest.raises(ServiceError, match="a day has passed"):
        spool.find(upload.upload, "me", BENCHMARK)
    assert not upload.path.exists()
    asyncio.run(spool.stop())


def test_the_folder_is_removed_at_stop_and_that_of_a_dead_process_at_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    left = tmp_path / f"{FOLDER_PREFIX}left"
    left.mkdir()
    (left / LOCK).touch()
    spool, other = Spool(), Spool()
    spool.begin("me", "red", BENCHMARK, _facts(), Typed())
    other.start()
    [held] = tmp_path.iterdir()
    assert held != left
    asyncio.run(spool.stop())
    assert list(tmp_path.iterdir()) == []


def _first_frames(count: int) -> annotations_pb2.AnnotationBatch:
    """The first frames of the dots as the file has them."""
    found = points({1: [(10.0, 20.0), (300.0, 200.0)], 2: []})
    assert len(found.frame_numbers) == count
    return found


async def _work_is_done(site: Browsing) -> None:
    """Wait until nothing is being sent."""
    assert site.hosted.server._site is not None
    uploads = site.hosted.server._site._spool._uploads.values()
    await asyncio.gather(*(upload.work["send"] for upload in uploads))


async def _stream_name(site: Browsing, page: Page) -> str:
    """Name of the stream that a file goes into."""
    del page
    assert site.hosted.server._site is not None
    spool = site.hosted.server._site._spool
    [upload] = spool._uploads.values()
    return str(upload.work["check"].result().stream)
