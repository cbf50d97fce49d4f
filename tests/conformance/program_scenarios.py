"""Programs shown on pages, built against the packed clients; that of a benchmark's page is run."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from pathlib import Path

from tests.conformance.comparing import DeviationError, equal, hold
from tests.conformance.readme_programs import readme_programs
from tests.conformance.runners import RUN_TIMEOUT_S
from tests.conformance.site import wait_until
from tests.conformance.stage import PROGRAMS, Stage, exclusive, nightly, scenario
from tests.server.web.site.browsing import Browser, programs
from tools.clients import CLIENTS, ROOT, FailedError, make

from vidscore_client import Role
from vidscore_server.web.site import take_part

FILES = {
    "python": "submit.py",
    "typescript": "submit.ts",
    "go": "submit.go",
    "java": "Submit.java",
    "rust": "submit.rs",
    "cpp": "submit.cpp",
}

SHOWN = "shown"
"""The program of the page; its folder stands beside those of `other_programs`."""


@scenario
def page_programs(stage: Stage) -> None:
    """The program of a benchmark's page submits unchanged."""
    language = stage.runner.language
    team = f"page-{language}"
    token = stage.site.organiser.tokens.create(Role.PARTICIPANT, team=team).secret
    text = asyncio.run(_of_the_page(stage, token))[CLIENTS[language].language]
    _compile(language, {SHOWN: text})
    done = subprocess.run(
        [_folder(language) / SHOWN / "run"],
        env={**os.environ, "VIDSCORE_TOKEN": token},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=RUN_TIMEOUT_S,
        check=False,
    )
    hold(done.returncode == 0, f"the program ended with {done.returncode}: {done.stderr[-1500:]}")
    equal(done.stdout.strip().lower(), "scored", "what the program says")  # SCORED in Java.
    found = stage.site.organiser.submissions.get(f"{PROGRAMS}/{team}-1")
    equal((found.state, found.frame_count), ("scored", 300), "the submission")


@nightly
@exclusive  # It is compiled where the program of the page is compiled and run.
@scenario
def more_programs(stage: Stage) -> None:
    """Programs of pages of other benchmarks, and those of the README, compile."""
    language = stage.runner.language
    title = CLIENTS[language].language
    _compile(language, other_programs(title) | readme_programs(language))


def _compile(language: str, texts: dict[str, str]) -> None:
    """Compile programs against the packed client only."""
    _write(_folder(language), FILES[language], texts)
    try:
        make(language, "programs")
    except FailedError as failure:
        raise DeviationError(str(failure)) from None


def _folder(language: str) -> Path:
    return ROOT / "clients" / language / "build/programs"


async def _of_the_page(stage: Stage, token: str) -> dict[str, str]:
    """The programs that the page of the benchmark shows the team, by language."""
    server = stage.site.server
    wait_until(lambda: server.site_address, "the site")
    browser = Browser(server.site_address)
    await browser.sign_in(token)
    return programs(await browser.get(f"/benchmarks/{PROGRAMS}"))


def other_programs(title: str) -> dict[str, str]:
    """Programs for other benchmarks: other shapes and a name with quotes, encrypted, no label."""
    found = {}
    for shape, tls in (("point", True), ("quadrilateral", False)):
        entry = take_part.Entry(
            server="scores.example.org:443",
            site="https://scores.example.org",
            tls=tls,
            benchmark="streets",
            submission="red-1",
            shape=shape,
            sequence='a "street"',
        )
        [found[shape]] = [one.text for one in take_part.programs(entry) if one.title == title]
    return found


def _write(folder: Path, file: str, texts: dict[str, str]) -> None:
    """Write each program into its own folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in texts.items():
        (folder / name).mkdir(parents=True)
        (folder / name / file).write_text(text, encoding="utf-8")
