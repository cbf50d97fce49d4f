"""The list of benchmarks and the page of one: who sees what, and that its commands work."""

from __future__ import annotations

import asyncio
import os
import shlex
import subprocess
import sys
import tomllib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from google.protobuf import json_format
from google.protobuf.timestamp_pb2 import Timestamp
from tests.server.domain.hosted import TRUTH, Hosted, dots
from tests.server.domain.live_scene import TOLD, live_dots
from tests.server.domain.streets import BOX, streets
from tests.server.domain.test_planted_truth import batch
from tests.server.web.site.browsing import Browser, Browsing, browsing, programs

from vidscore_evaluators.registry import create_evaluator
from vidscore_protos.v1 import benchmark_pb2
from vidscore_protos.v1 import submission_service_pb2 as pb
from vidscore_server.domain.definition import definition_from_dict

PAGE = "/benchmarks/dots"
OF_STREET = batch("", "street", "car", (1, 2, 3), BOX, BOX, BOX)


async def host_streets(hosted: Hosted) -> None:
    message = streets(labels=["car"], sequences={"street": 300})
    message.policy.submissions_per_day = 3
    message.policy.visibility = benchmark_pb2.VISIBILITY_LIVE
    await hosted.organiser.create(message)
    await hosted.organiser.upload(OF_STREET)


async def test_the_list_has_state_teams_and_remaining_quota(site: Browsing) -> None:
    message = dots(submissions_per_day=3)
    closing = datetime(2026, 5, 2, tzinfo=UTC)
    message.close_time.CopyFrom(Timestamp(seconds=int(closing.timestamp())))
    await site.hosted.organiser.create(message)
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.red.submit(TRUTH)
    await site.hosted.red.ended()
    words = (await site.red.get("/benchmarks")).words
    assert "Dots dots open open until 2 May 2026, 00:00 UTC 1" in words
    assert "two of three submissions today" in words
    assert "Your team has left" not in (await site.viewer.get("/benchmarks")).words
    site.hosted.clock.pass_by(days=2)
    assert "closed closed 2 May 2026, 00:00 UTC" in (await site.red.get("/benchmarks")).words


async def test_everybody_reads_that_private_sequences_decide_but_not_which(site: Browsing) -> None:
    message = dots(private_sequences=["harbour", "bridge"], public_board_web=True)
    message.close_time.FromDatetime(site.hosted.clock() + timedelta(hours=1))
    await site.hosted.organiser.create(message)
    for browser in (site.organiser, site.red, site.viewer, site.nobody):
        page = await browser.get(PAGE)
        assert "Two sequences are private" in page.words
        assert "Each team chooses up to two submissions for the final order." in page.words
        assert "harbour" not in page.text


@pytest.mark.slow
async def test_a_long_list_is_paged(site: Browsing) -> None:
    for number in range(51):
        await site.hosted.organiser.create(dots(), f"b{number:02}")
    first = await site.viewer.get("/benchmarks")
    assert "b49" in first.words
    assert "b50" not in first.words
    [link] = [part.split('"')[0] for part in first.text.split('href="') if "?page=" in part[:40]]
    assert "b50" in (await site.viewer.get(link)).words


async def test_the_page_describes_what_is_judged_and_the_rules(site: Browsing) -> None:
    await host_streets(site.hosted)
    words = (await site.red.get(PAGE)).words
    for told in (
        "Streets",
        "1 sequence, 300 frames",
        "upright boxes",
        f"f1 {create_evaluator('f1').version}",
        "Labels: car.",
        "three submissions a day (UTC)",
        "its team sees the whole report",
        "three of three submissions today",
    ):
        assert told in words


async def test_the_description_is_shown_as_text_and_links(site: Browsing) -> None:
    message = dots()
    message.description = (
        "Find <script>alert(1)</script> *dots*.\r\n\r\n[Videos](https://a.example/)"
    )
    await site.hosted.organiser.create(message)
    page = await site.viewer.get(PAGE)
    assert "<script>alert" not in page.text
    assert "<em>dots</em>" in page.text
    assert '<a href="https://a.example/" rel="noreferrer nofollow">Videos</a>' in page.text


async def test_names_from_others_are_escaped(site: Browsing) -> None:
    await host_streets(site.hosted)
    created = pb.CreateSubmissionRequest(
        benchmark="benchmarks/dots", submission_id="one", title="<img src=x>"
    )
    red = site.hosted.red
    await red.submissions.CreateSubmission(created, metadata=red.metadata)
    await red.open("benchmarks/dots/submissions/one")
    await red.append("benchmarks/dots/submissions/one/streams/default", 0, OF_STREET)
    await red.seal()
    await red.ended()
    for path in (PAGE, f"{PAGE}/board"):
        page = await site.blue.get(path)
        assert "<img src=x>" not in page.text
        assert "<img src=x>" in page.words


@pytest.mark.parametrize(
    ("role", "seen", "absent"),
    [
        ("organiser", ["This page as TOML", "Submissions"], []),
        ("red", ["Your submissions", "upload a file"], ["This page as TOML"]),
        ("viewer", ["The whole board"], ["upload a file", "submissions", "This page as TOML"]),
    ],
)
async def test_each_role_sees_only_the_links_that_it_may_follow(
    site: Browsing, role: str, seen: list[str], absent: list[str]
) -> None:
    await site.hosted.organiser.create_benchmark()
    await site.hosted.organiser.upload(TRUTH)
    await site.hosted.blue.submit(TRUTH)
    await site.hosted.blue.ended()
    browser: Browser = getattr(site, role)
    page = await browser.get(PAGE)
    for words in seen:
        assert words in page.words
    for words in absent:
        assert f">{words}" not in page.text


async def test_a_board_that_is_not_shown_says_so(site: Browsing) -> None:
    await site.hosted.organiser.create_benchmark(public_board=False)
    words = (await site.red.get(PAGE)).words
    assert "Only the organisers see the board." in words
    board = await site.red.get(f"{PAGE}/board")
    assert board.status == 403
    assert "Only the organisers see this board." in board.words
    assert (await site.organiser.get(f"{PAGE}/board")).status == 200


async def test_the_file_is_for_organisers_and_makes_the_same_benchmark(site: Browsing) -> None:
    await host_streets(site.hosted)
    file = await site.organiser.get(f"{PAGE}/benchmark.toml")
    assert file.headers["content-type"].startswith("application/toml")
    definition = definition_from_dict(tomllib.loads(file.text))
    assert definition.specification.title == "Streets"
    assert definition.policy.submissions_per_day == 3
    assert (await site.red.get(f"{PAGE}/benchmark.toml")).status == 403


@pytest.mark.parametrize("path", ["/benchmarks/none", "/benchmarks/none/board", "/benchmarks/X%00"])
async def test_a_missing_benchmark_is_not_found(site: Browsing, path: str) -> None:
    assert (await site.red.get(path)).status in {400, 404}


async def test_the_suggested_name_follows_the_last_one(site: Browsing) -> None:
    await host_streets(site.hosted)
    assert "--name red-1" in (await site.red.get(PAGE)).text
    await site.hosted.red.submit(OF_STREET, "red-4")
    assert "--name red-5" in (await site.red.get(PAGE)).text


async def test_a_live_benchmark_is_answered_by_its_clock_and_takes_no_files(site: Browsing) -> None:
    await site.hosted.organiser.create(live_dots(), public=TOLD)
    page = await site.red.get(PAGE)
    assert "The benchmark is live: a clock gives out its frames and waits for nobody" in page.words
    assert [*programs(page)] == ["Command line", "Python"]
    assert f'href="{PAGE}/submit"' not in page.text
    form = await site.red.get(f"{PAGE}/submit")
    assert "Nothing can be submitted now." in form.words
    assert "it takes frames only by its clock" in form.words


@pytest.mark.slow
async def test_the_python_program_of_the_page_runs_unchanged(
    site: Browsing, tmp_path: Path
) -> None:
    await host_streets(site.hosted)
    program = tmp_path / "submit.py"
    program.write_text(programs(await site.red.get(PAGE))["Python"])
    done = await run([sys.executable, str(program)], tmp_path, site.hosted.red.secret)
    assert (done.stdout, done.returncode) == ("scored\n", 0), done.stderr


@pytest.mark.slow
async def test_the_commands_of_the_page_submit_unchanged(site: Browsing, tmp_path: Path) -> None:
    await host_streets(site.hosted)
    (tmp_path / "detections.csv").write_text(
        "sequence,frame,x1,y1,x2,y2,label\nstreet,1,0,0,10,10,car\n"
    )
    commands = programs(await site.red.get(PAGE))
    for name in ("Command that checks a file", "Command line"):
        line = commands[name].replace("TOKEN=…", f"TOKEN={site.hosted.red.secret}")
        tool = f"{shlex.quote(sys.executable)} -m vidscore_cli"
        done = await run(["sh", "-c", line.replace("\nvidscore", f"\n{tool}")], tmp_path, "")
        assert done.returncode == 0, done.stderr
    assert await site.hosted.red.listed() == ["red-1"]


async def test_the_curl_bodies_of_the_page_are_valid_requests(site: Browsing) -> None:
    await host_streets(site.hosted)
    red = site.hosted.red
    requests = {
        "CreateSubmission": pb.CreateSubmissionRequest,
        "OpenStream": pb.OpenStreamRequest,
        "AppendBatch": pb.AppendRequest,
        "SealSubmission": pb.SealSubmissionRequest,
    }
    text = programs(await site.red.get(PAGE))["curl"]
    for line in text.splitlines():
        words = shlex.split(line) if line.startswith("call ") else []
        if words:
            request = json_format.Parse(words[2], requests.pop(words[1])())
            await getattr(red.submissions, words[1])(request, metadata=red.metadata)
    assert not requests
    assert f'"{site.nobody.base}/vidscore.v1.SubmissionService/$1"' in text
    assert (await red.ended("red-1")).submission.state == pb.SUBMISSION_STATE_SCORED


@pytest.mark.parametrize("host", ["127.0.0.1", "[::1]"])
async def test_a_server_that_listens_on_all_addresses_is_named_by_the_host_of_its_site(
    host: str, tmp_path: Path
) -> None:
    flags = {"listen": "[::]:0", "insecure_listen": True, "web": f"{host}:0"}
    async with browsing(tmp_path, **flags) as site:
        await host_streets(site.hosted)
        page = await site.red.get(PAGE)
    server = f"{host}:{site.hosted.address.rpartition(':')[2]}"
    assert f"export VIDSCORE_SERVER={server} " in page.words
    assert page.words.endswith(f"programs find this server at {server}")


async def run(command: list[str], folder: Path, token: str) -> subprocess.CompletedProcess[str]:
    """Run a command while this process serves the pages."""
    variables = {**os.environ, "VIDSCORE_TOKEN": token, "XDG_CONFIG_HOME": str(folder)}
    return await asyncio.to_thread(
        subprocess.run,
        command,
        cwd=folder,
        env=variables,
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
