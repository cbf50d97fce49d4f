"""The front page shows what vidscore prints, and its lists are complete."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run_binary
from tests.docs.pages_of import first_cells, section
from tools.clients import CLIENTS
from tools.docs_examples import Outcome
from tools.docs_pages import ROOT, blocks
from tools.front_picture import front_picture
from tools.refresh_docs import PICTURE

from vidscore_cli.main import SECTIONS
from vidscore_evaluators.formats import FORMATS
from vidscore_evaluators.registry import evaluator_names

README = (ROOT / "README.md").read_text("utf-8")
FIRST_SCREEN = README.partition("\n## ")[0]


@pytest.mark.slow
def test_the_session_of_the_demo_is_the_output_of_the_demo(tmp_path: Path) -> None:
    """Except for the port, the speed, and the progress of the streams when a line was written."""
    [pasted] = [block.text for block in blocks(README) if block.text.startswith("vidscore demo:")]
    folder = tmp_path / "build/demo"
    done = run_binary("demo", "--speed", "1000", "--files", str(folder))
    assert done.returncode == 0, done.stderr
    printed = done.stdout.replace(str(folder), "build/demo")
    printed = re.sub(
        r"(?m)^( +)\S*vidscore (?=score |trust |evaluators)", r"\1.venv/bin/vidscore ", printed
    )
    outcome = Outcome(0, 0, lasting(pasted), lasting(printed))
    assert outcome.matches, printed


def test_the_streaming_example_has_ten_lines() -> None:
    [example] = [block.text for block in blocks(README) if "score_stream" in block.text]
    assert len([line for line in example.splitlines() if line.strip()]) == 10


def test_the_example_of_a_plug_in_has_about_a_hundred_lines() -> None:
    assert "a\nplug-in in about a hundred lines" in README
    page = (ROOT / "docs/adding-an-evaluator.md").read_text("utf-8")
    [module] = [block.text for block in blocks(page) if block.file == "vidscore_alarm/__init__.py"]
    assert 90 <= len([line for line in module.splitlines() if line.strip()]) <= 110


def lasting(text: str) -> str:
    """The part that does not depend on the machine and the moment."""
    text = re.sub(r"127\.0\.0\.1:\d+", "ADDRESS", text)
    text = re.sub(r"\d+ times faster", "N times faster", text)
    return re.sub(r"(?m)^.*/600 frames, .*\n", "", text)


@pytest.mark.parametrize(
    ("heading", "known"),
    [
        ("## Score files", {*FORMATS}),
        ("## Evaluators", {*evaluator_names()}),
        ("## Clients", {client.package for client in CLIENTS.values()}),
    ],
)
def test_a_list_of_the_front_page_is_complete_and_has_nothing_else(
    heading: str, known: set[str]
) -> None:
    assert set(first_cells(section(README, heading))) | packages(heading) == known


def packages(heading: str) -> set[str]:
    """The second cells of the table of clients."""
    if heading != "## Clients":
        return set()
    return set(re.findall(r"^\| \[.*\) \| `(.*)` \|$", section(README, heading), re.MULTILINE))


def test_the_front_page_lists_every_command_and_no_other() -> None:
    known = {name for entries in SECTIONS.values() for name in entries}
    listed = re.findall(r"\[`([a-z]+)`\]\(docs/command-line\.md#vidscore-", README)
    assert (set(listed), len(listed)) == (known, len(known))


def test_the_client_of_each_language_has_a_link_and_each_folder_is_a_client() -> None:
    linked = re.findall(r"\(clients/(\w+)/README\.md\)", section(README, "## Clients"))
    folders = {path.parent.name for path in (ROOT / "clients").glob("*/README.md")}
    assert set(linked) == set(CLIENTS) == folders


def test_the_first_screen_says_what_it_is_names_clients_and_hosting_and_has_one_picture() -> None:
    assert len(FIRST_SCREEN.splitlines()) <= 24
    assert [
        client.language for client in CLIENTS.values() if client.language not in FIRST_SCREEN
    ] == []
    assert "hosts benchmarks" in FIRST_SCREEN
    assert re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README) == [str(PICTURE.relative_to(ROOT))]


@pytest.mark.slow
def test_the_picture_is_generated_by_the_code() -> None:
    text = front_picture()
    assert PICTURE.read_text("utf-8") == text, "run `make docs`"
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"


@pytest.mark.nightly
def test_the_picture_has_its_own_background() -> None:
    """So its dark texts can be read on a dark page as on a light one."""
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', front_picture())
    assert size is not None
    first = re.search(r"<(?:rect|text|circle|path|polygon)[^>]*>", front_picture())
    assert first is not None
    assert first[0].startswith(f'<rect width="{size[1]}" height="{size[2]}"')
    assert 'fill="#f7f9fb"' in first[0]
