"""Generated tables are up to date, and on the pages that need them."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest
from tools.docs_pages import ROOT, pages
from tools.docs_tables import TABLES
from tools.refresh_docs import with_fresh_tables

from vidscore_cli.main import cli
from vidscore_evaluators.registry import evaluator_names

COMMANDS = cli.leaves(click.Context(cli))
PROTOS = sorted(path.name for path in (ROOT / "protos/vidscore/v1").glob("*.proto"))

EVALUATOR_COLUMNS = ("facts", "parameters", "measures")
WANTED = {
    "README.md": [
        "clients",
        "command-sections docs/command-line.md",
        "evaluators docs/evaluators/",
        "formats docs/formats.md",
    ],
    "docs/evaluators/README.md": ["evaluators"],
    "docs/command-line.md": [
        "commands",
        "options",
        "shared-options",
        "connection-options",
        *(f"options {name}" for name in COMMANDS),
    ],
    "docs/presets/README.md": ["presets"],
    "docs/hosting.md": ["policy"],
    "docs/server.md": ["setting-spellings", "settings", "roles"],
    "docs/robustness.md": ["campaigns", "faults", "promises"],
    "docs/wire-protocol.md": ["rpcs", "errors"],
    "docs/wire-messages.md": [f"messages {name}" for name in PROTOS],
    **{
        f"docs/evaluators/{name}.md": [f"{kind} {name}" for kind in EVALUATOR_COLUMNS]
        for name in evaluator_names()
    },
}
"""The tables that a page must have."""


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_tables_of_a_page_are_up_to_date(page: Path) -> None:
    text = page.read_text("utf-8")
    assert with_fresh_tables(text) == text, "run `make docs`"


@pytest.mark.parametrize("page", WANTED)
def test_a_page_has_the_tables_that_it_must_have(page: str) -> None:
    assert (ROOT / page).is_file(), f"there is no {page}"
    found = re.findall(r"<!-- generated: (.+?) -->", (ROOT / page).read_text("utf-8"))
    assert [wanted for wanted in WANTED[page] if wanted not in found] == []


def test_every_table_is_used() -> None:
    text = "".join(page.read_text("utf-8") for page in pages())
    assert [name for name in TABLES if not re.search(rf"<!-- generated: {name}\b", text)] == []


def test_every_opened_marker_is_closed() -> None:
    for page in pages():
        text = page.read_text("utf-8")
        assert text.count("<!-- generated: ") == text.count("<!-- end of generated -->"), page
