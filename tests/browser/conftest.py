"""Pages of the viewer and of the site in Debian's Chromium."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tests.browser.competition import Competition, competition
from tests.browser.exhibits import Exhibits, exhibit
from tests.browser.watched import AXE, Watched
from tests.support.requirements import missing
from tests.support.street import write_street

ARGUMENTS = ("--no-sandbox", "--disable-gpu")
FILES = ("--truth", "truth.csv", "--detections", "falcon.csv", "--detections", "mole.csv")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """The browser."""
    program = shutil.which("chromium")
    has_playwright = find_spec("playwright") is not None
    if program is None or not has_playwright or not AXE.is_file():
        missing("Debian's chromium, and what `make test-browser` installs")
    api: Any = import_module("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the files of a small street."""
    folder = tmp_path_factory.mktemp("street")
    write_street(folder)
    return folder


@pytest.fixture(scope="session")
def address(files: Path) -> Iterator[str]:
    """Address of the served page."""
    command = [sys.executable, "-u", "-m", "vidscore_cli", "view", "f1", "errors", "clear", *FILES]
    command += ["--draws", "20", "--no-browser"]
    with subprocess.Popen(command, cwd=files, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield re.findall(r"http://\S+", process.stdout.readline())[0]
        process.terminate()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Competition]:
    """A competition on a server with its site."""
    with competition(tmp_path_factory.mktemp("site")) as found:
        yield found


@pytest.fixture(scope="session")
def exhibits(site: Competition, chromium: Any) -> Exhibits:
    """The competition, with content on each page."""
    return exhibit(site, chromium)


@pytest.fixture(scope="session")
def written(files: Path) -> str:
    """Address of the written file."""
    command = [sys.executable, "-m", "vidscore_cli", "view", "f1", "errors", "clear", *FILES]
    command += ["--draws", "20", "--output", "report.html"]
    subprocess.run(command, cwd=files, check=True)
    return (files / "report.html").as_uri()


@pytest.fixture
def tab(chromium: Any) -> Iterator[Any]:
    """Opens tabs; at the end none may have reported an error or requested a foreign resource."""
    opened: list[tuple[Any, Watched]] = []

    def open_tab(url: str, **options: Any) -> Watched:
        context = chromium.new_context(**options)
        watched = Watched(context.new_page())
        opened.append((context, watched))
        watched.page.goto(url)
        return watched

    yield open_tab
    for context, watched in opened:
        assert watched.complaints == []
        foreign = re.compile(r"(?!http://127\.0\.0\.1:\d+/|file:///|data:)")
        assert [url for url in watched.requests if foreign.match(url)] == []
        context.close()
