"""Commands, options, variables and exit codes that pages name all exist."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from tests.docs.pages_of import code_of, page, section
from tools.docs_pages import ROOT, headings, pages

from conformance.arguments import add_commands
from vidscore_cli.main import cli
from vidscore_cli.session import ExitCode
from vidscore_server.settings import ENVIRONMENT_PREFIX, setting_names

COMMANDS = set(cli.leaves(click.Context(cli)))
GROUPS = {path.rpartition(" ")[0] for path in COMMANDS} - {""}
VARIABLES = {
    *(f"{ENVIRONMENT_PREFIX}{name.upper()}" for name in setting_names()),
    *(
        "VIDSCORE_SERVER",
        "VIDSCORE_TOKEN",
        "VIDSCORE_DEBUG",
        "VIDSCORE_SERVER_",
        "VIDSCORE_REQUIRE_ALL",
    ),
}
RUNNER_COMMANDS = add_commands(ArgumentParser())
RUNNER_OPTIONS = {
    option
    for parser in RUNNER_COMMANDS.values()
    for option in parser.format_usage().replace("[", " ").replace("]", " ").split()
    if option.startswith("--")
}
OPTIONS_OF_OTHERS = {
    "conformance.md": RUNNER_OPTIONS,
    "deployment.md": {"--build-arg"},
    "hidden-truth.md": {"--no-dashboard"},
    "server.md": {"--network", "--health-cmd"},
    "without-a-client.md": {"--cacert"},
}
"""Options of other programs that pages name: runners of clients, Docker, Dask, buf."""


def options_of(command: str) -> set[str]:
    found = cli.find(command)
    assert found is not None
    parameters = found.get_params(click.Context(cli))
    names = {name for entry in parameters for name in (*entry.opts, *entry.secondary_opts)}
    return names | {"--help"}


ALL_OPTIONS = {option for command in ("", *COMMANDS) for option in options_of(command)}


def named_pages() -> list[Path]:
    return pages()


@pytest.mark.parametrize("path", named_pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_options_that_a_page_names_exist(path: Path) -> None:
    unknown = []
    for code in code_of(path.read_text("utf-8")):
        for command, words in vidscore_calls(code):
            wrong = command not in COMMANDS | GROUPS | {""}
            known = {"--help"} if wrong else options_of(command)
            unknown += [code] if wrong else [word for word in words if word not in known]
        if code.startswith("--"):
            known = ALL_OPTIONS | OPTIONS_OF_OTHERS.get(path.name, set())
            unknown += [word for word in re.findall(r"^--[a-z][a-z-]*", code) if word not in known]
    assert unknown == []


def test_the_page_of_the_runners_names_every_command_and_option() -> None:
    named = set(code_of(page("conformance.md")))
    assert sorted({*RUNNER_COMMANDS, *RUNNER_OPTIONS} - named) == []


def vidscore_calls(code: str) -> Iterator[tuple[str, list[str]]]:
    """Command and options of each call of vidscore in a piece of code."""
    for call in re.findall(r"(?:^|(?<=[|&;] ))vidscore( [^|&;>]*)?", code):
        words = call.partition(" -- ")[0].split()  # The rest belongs to another program.
        names = words[: 2 if words and words[0] in GROUPS else 1]
        command = " ".join(name for name in names if re.fullmatch(r"[a-z][a-z-]*", name))
        options = [word.partition("=")[0] for word in words if word.startswith("--")]
        if words and words[0] in {"...", "COMMAND"}:
            continue
        yield command, options


@pytest.mark.parametrize("path", named_pages(), ids=lambda path: str(path.relative_to(ROOT)))
def test_environment_variables_that_a_page_names_exist(path: Path) -> None:
    found = set(re.findall(r"\bVIDSCORE_[A-Z_]+", path.read_text("utf-8")))
    assert found - VARIABLES == set()


def test_every_command_has_a_heading() -> None:
    found = headings(page("command-line.md"))
    assert [name for name in COMMANDS if f"vidscore {name}" not in found] == []


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_the_section_of_a_command_names_all_its_options_and_no_others(command: str) -> None:
    """In its own table, among the shared options, or by a link to those of the connection."""
    text = page("command-line.md")
    [made] = re.findall(rf"<!-- generated: options {command} -->\n(.*?)<!-- end", text, re.DOTALL)
    named = set(re.findall(r"`(--[a-z-]+)", made))
    if "(#connection)" in made:
        named |= set(re.findall(r"^\| `(--[a-z-]+)", section(text, "### Connection"), re.MULTILINE))
    settings = [name.replace("_", "-") for name in setting_names()] if command == "serve" else []
    elsewhere = {f"--{spelling}{name}" for name in settings for spelling in ("", "no-")}
    taken = {name for name in options_of(command) if name.startswith("--")}
    assert named == taken - elsewhere - {"--help"}


def test_an_option_of_many_commands_is_described_once() -> None:
    """A row is on the page at most twice, unless it is about a required option."""
    rows = re.findall(r"^\| `--(?!.*\| required \|).*$", page("command-line.md"), re.MULTILINE)
    assert [row for row in set(rows) if rows.count(row) > 2] == []


def test_the_table_of_exit_codes_is_complete() -> None:
    table = section(page("command-line.md"), "## Exit codes")
    codes = [int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)]
    assert codes == [int(code) for code in ExitCode]


def make_targets(folder: Path) -> set[str]:
    """The targets of the Makefile of a folder; none without a Makefile."""
    makefile = folder / "Makefile"
    text = makefile.read_text("utf-8") if makefile.is_file() else ""
    return set(re.findall(r"^([a-z-]+):", text, re.MULTILINE))


def test_make_targets_that_a_page_names_exist() -> None:
    """In the Makefile that is named by -C, in that beside the page, or in that of the root."""
    unknown = []
    for path in pages():
        for code in code_of(path.read_text("utf-8")):
            for folder, target in re.findall(r"^make (?:-C (\S+) )?([a-z][a-z-]*)", code):
                known = make_targets(ROOT / folder) | make_targets(path.parent)
                if "{" not in folder and target not in known:
                    unknown.append(f"{path.relative_to(ROOT)}: {code}")
    assert unknown == []


def test_every_make_target_for_people_is_in_the_table_of_contributing() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    described = set(re.findall(r"^([a-z-]+):.*## (?!campaign:)", makefile, re.MULTILINE))
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    named = set(re.findall(r"`make ([a-z-]+)", contributing))
    assert described - {"help", "venv", "clean"} <= named
