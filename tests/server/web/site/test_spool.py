"""Uploads in pieces, hostile files, and the folder of waiting files."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from tests.server.domain.hosted import BENCHMARK
from tests.server.web.site.browsing import Browsing, browsing
from tests.server.web.site.uploading import DOTS, begin, dots, put, send_file, send_parts, settled

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

# --- Pieces


async def test_pieces_are_accepted_by_offset_and_resume_after_a_break(site: Browsing) -> None:
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


async def test_a_signed_out_uploader_is_told_to_sign_in_without_technical_details(
    site: Browsing,
) -> None:
    await dots(site)
    said = "You are not signed in, or your session has ended."
    by_script = await site.nobody.post(f"/{BENCHMARK}/uploads", {})
    assert by_script.status == 401
    assert json.loads(by_script.text)["message"].startswith(said)
    by_form = await site.nobody.post(f"/{BENCHMARK}/submit", {})
    assert said in by_form.words
    assert "metadata" not in by_form.words


async def test_a_changed_file_of_the_same_size_starts_again(site: Browsing) -> None:
    await dots(site)
    begun = await begin(site.red, DOTS)
    await put(site.red, begun, 0, DOTS[:20])
    changed = await begin(site.red, DOTS, modified="2")
    assert changed["offset"] == 0
    assert changed["path"] != begun["path"]


async def test_more_bytes_than_announced_are_refused(site: Browsing) -> None:
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


async def test_only_the_browser_that_sent_a_file_can_see_it(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    assert "Sign in" in (await site.nobody.get(page.path)).words
    for browser in (site.blue, site.organiser):
        assert (await browser.get(page.path)).status == 404
    for browser in (site.blue, site.organiser, site.nobody):
        answer = await browser.post(page.path, page.fields(page.path))
        assert answer.status in {401, 403, 404}
    assert await site.hosted.organiser.listed() == []


async def test_viewers_and_strangers_cannot_upload(site: Browsing) -> None:
    await dots(site)
    assert (await site.viewer.get(f"/{BENCHMARK}/submit")).status == 403
    assert "token" in (await site.nobody.get(f"/{BENCHMARK}/submit")).fields("/sign-in")
    form = await site.red.get(f"/{BENCHMARK}/submit")
    fields = form.fields(f"/{BENCHMARK}/submit")
    fields.pop("file")
    assert (await send_parts(site.viewer, fields, "dots.csv", DOTS)).status == 403
    assert (await send_parts(site.nobody, fields, "dots.csv", DOTS)).status in {401, 403}


async def test_a_waiting_file_can_be_removed(site: Browsing) -> None:
    await dots(site)
    page = await send_file(site.red, DOTS)
    listed = await site.red.get(f"/{BENCHMARK}/submit")
    assert "Remove dots.csv" in listed.words
    await site.red.send(listed, f"{page.path}/discard")
    assert (await site.red.get(page.path)).status == 404


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
    yield "nested.zip", _archive(a=_archive(b=DOTS)), "was refused"
    yield "cut.zip", _archive(a=DOTS)[:-30], "was refused"
    yield "picture.png", b"\x89PNG\r\n\x1a\n" + bytes(100), "was refused"
    yield "page.html", b"<html><script>alert(1)</script></html>", "was refused"
    yield "cut.csv", DOTS[:10], "was refused"
    yield "deep.json", b"[" * 100_000, "was refused"
    yield "utf16.csv", DOTS.decode().encode("utf-16"), "was refused"
    yield "many.zip", _archive(**{f"{row}.txt": b"" for row in range(20_001)}), "maximum_files"


def _of_many_rows() -> Iterator[tuple[str, bytes]]:
    rows = 3_000_000
    yield "many.zip", _archive(a=b"sequence,frame,x,y\n" + b"1,1,10,10\n" * rows)
    columns = {name: np.ones(rows, np.int64) for name in ("frame", "x", "y")}
    table = pa.table({"sequence": pa.array(["1"] * rows).dictionary_encode(), **columns})
    parquet.write_table(table, file := io.BytesIO())
    yield "many.parquet", file.getvalue()


@pytest.mark.slow
async def test_a_small_file_of_very_many_rows_takes_bounded_memory(tmp_path: Path) -> None:
    async with browsing(tmp_path, maximum_reading_bytes=128 << 20) as site:
        await dots(site)
        for name, data in _of_many_rows():
            assert len(data) < 1 << 20
            page = await send_file(site.red, data, name)
            assert "at most maximum_reading_bytes = 134217728" in page.words, page.words
        page = await send_file(site.red, _archive(a=DOTS), "dots.zip")
        assert "Frames 5" in page.words


async def test_a_team_reads_one_file_at_a_time_without_blocking_others() -> None:
    spool = Spool()
    async with spool.reader("red"):
        waiting = asyncio.create_task(_read_once(spool, "red"))
        await _read_once(spool, "blue")
        assert not waiting.done()
    await waiting


async def _read_once(spool: Spool, team: str) -> None:
    async with spool.reader(team):
        await asyncio.sleep(0)


@pytest.mark.slow
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
def test_names_of_files_cannot_lead_out_of_the_folder(name: str, expected: str) -> None:
    assert safe_name(name) == expected


async def test_the_content_of_a_file_is_not_markup_of_the_page(site: Browsing) -> None:
    await dots(site)
    data = b"sequence,frame,x,y\n<b>x</b>,1,1,<script>alert(1)</script>\n"
    page = await send_file(site.red, data, "<img src=x>.csv")
    assert "<script>alert" not in page.text
    assert "<img src" not in page.text


# --- The spool


def _facts(size: int = 10) -> FileFacts:
    return FileFacts("a.csv", size, "")


def test_the_number_of_waiting_files_of_a_team_is_limited() -> None:
    spool = Spool(UploadLimits(100))
    for _ in range(MOST_OF_TEAM):
        spool.begin("me", "red", BENCHMARK, _facts(), Typed())
    with pytest.raises(ServiceError, match="8 files of your team wait"):
        spool.begin("me", "red", BENCHMARK, _facts(), Typed())
    with pytest.raises(ServiceError, match="8 files of your team wait"):
        spool.begin("my other browser", "red", BENCHMARK, _facts(), Typed())
    spool.begin("you", "blue", BENCHMARK, _facts(), Typed())
    asyncio.run(spool.stop())


def test_the_bytes_of_waiting_files_of_a_team_are_limited() -> None:
    spool = Spool(UploadLimits(100))
    for _ in range(2):
        spool.begin("me", "red", BENCHMARK, _facts(100), Typed())
    with pytest.raises(ServiceError, match="with 200 bytes"):
        spool.begin("me", "red", BENCHMARK, _facts(1), Typed())
    asyncio.run(spool.stop())


def test_a_waiting_file_is_kept_for_a_day() -> None:
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
