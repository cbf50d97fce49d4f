"""Every example of the documentation runs, and prints what its page shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools.docs_examples import DocsServer, PageRun, commands
from tools.docs_pages import ROOT, Block, blocks, example_pages

PAGES = [
    page
    for page in example_pages()
    if any(block.language in {"console", "python"} for block in blocks(page.read_text("utf-8")))
]

NOT_RUN = re.compile(
    r"vidscore view (?!.*--output)|docker |make |pip install |vidscore serve\b|createdb "
    r"|vidscore health --tls-root |gh attestation verify "
    # Engines that are not installed, and a cluster; other tests run what these run.
    r"|kubectl |parallel |sbatch |\.venv/bin/python -m pytest |vidscore score .* --dask "
    # An object store; tests/clients/cli/test_object_store.py runs these.
    r"|vidscore .*s3://"
    r"|vidscore (init --store|store copy|restore) .*postgresql://"
    # Deployment, as its page says: root, systemd, and another machine.
    r"|(systemctl|systemd-run|install) -|systemctl |/opt/vidscore/bin/pip |python3 -m venv /opt/"
    r"|\(umask 077; |export VIDSCORE_SERVER=scores\.example\.org|vidscore .* --tls-root ca\.pem"
)
"""The only commands that may be left out of the run."""


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_examples_of_a_page_print_what_it_shows(
    page: Path, server: DocsServer, tmp_path: Path
) -> None:
    wrong = [
        f"line {outcome.line}: expected\n{outcome.expected}\nprinted\n{outcome.printed}"
        for outcome in PageRun(tmp_path, *server).run(page.read_text("utf-8"))
        if not outcome.matches
    ]
    assert not wrong, "\n".join(["`make docs` may mend this:", *wrong])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_only_examples_that_cannot_be_run_are_left_out(page: Path) -> None:
    for block in left_out(page):
        assert block.language == "console", f"line {block.line}"
        for command, _, _ in commands(block):
            assert NOT_RUN.match(command), command


@pytest.mark.parametrize("page", example_pages(), ids=name_of)
def test_no_code_evades_the_run_by_its_language(page: Path) -> None:
    """Commands are console blocks, and a text block is an output or a drawing."""
    escaping = {"sh", "shell", "bash", "py", "pycon", ""}
    found = [block.line for block in blocks(page.read_text("utf-8")) if block.language in escaping]
    assert not found, f"lines {found}"


NEEDS_TOKEN = re.compile(
    r"^\$ vidscore (benchmark (?!new)|submi|leaderboard|queue|token|invitation|audit|backup|live )",
    re.MULTILINE,
)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_says_where_the_token_is_kept_before_a_command_needs_it(page: Path) -> None:
    """The server of these tests has set it in the environment; that of a reader has not."""
    text = page.read_text("utf-8")
    first = NEEDS_TOKEN.search(text)
    if first is not None:
        assert re.search("VIDSCORE_TOKEN|vidscore login", text[: first.start()])


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_the_commands_of_a_page_can_be_typed_from_start_to_end(page: Path) -> None:
    """Here each command has its own shell, and all files of the page exist from the start."""
    typed = ""
    for block in blocks(page.read_text("utf-8")):
        if block.file is not None:
            needed = re.search(rf"(?<![\w/.]){re.escape(block.file)}(?!\w)", typed)
            assert needed is None, f"line {block.line}: {block.file} was needed before"
        elif block.language == "console" and "norun" not in block.words:
            typed += block.text
    assert "$ export " not in typed


def left_out(page: Path) -> list[Block]:
    return [block for block in blocks(page.read_text("utf-8")) if "norun" in block.words]
