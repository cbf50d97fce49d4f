"""`vidscore benchmark new`, `create` and `update`: the file that describes a benchmark."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.hosted import say_warnings, what_happens
from vidscore_cli.options import server_options
from vidscore_cli.output import STDOUT, check_output, deliver, say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.errors import UnknownEvaluatorError
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_client import SeenScores, TeamView


VIEW_COLUMNS = ("team", "evaluator", "now", "then")


@command(
    "new",
    examples=(
        "vidscore benchmark new spotgeo --title 'Night sky' --file sky.toml",
        "vidscore benchmark new map",
    ),
)
@click.argument("evaluator", metavar="EVALUATOR", shell_complete=complete_evaluator)
@click.option("--title", metavar="TEXT", default="New benchmark", help="Title for people.")
@click.option(
    "--file",
    metavar="FILE",
    type=click.Path(),
    default="-",
    help="Write to this new file instead of standard output.",
)
def new(evaluator: str, title: str, file: str) -> None:
    """Write a benchmark's file, which explains every choice and its default.

    A benchmark can be created from the unchanged file. EVALUATOR may be a preset.
    """
    from vidscore_evaluators.names import string_faults
    from vidscore_server.domain.benchmark_file import template

    faults = string_faults(title, "title")
    if faults:
        raise click.BadParameter(faults[0].description, param_hint="--title")
    try:
        text = template(evaluator, title)
    except UnknownEvaluatorError as error:
        raise click.BadParameter(str(error), param_hint="EVALUATOR") from None
    if file != STDOUT and os.path.lexists(file):
        there = f"{file} already exists; name a new file"
        raise click.BadParameter(there, param_hint="--file")
    check_output(file, "--file")
    deliver(text, file)
    if file != STDOUT:
        say(f"{file} is written; vidscore benchmark create NAME {file} hosts it", err=True)


@command("create", examples=("vidscore benchmark create sky benchmark.toml",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path(readable=False))
@server_options()
def create(server: ServerChoice, benchmark: str, file: str) -> None:
    """Create a benchmark from a TOML file.

    FILE has the keys of a manifest and also description, truth_geometry, detection_geometry,
    open_time, close_time, public_names and the tables policy and live; vidscore benchmark new
    writes one.
    """
    definition = _read_definition(file)
    with open_client(server) as client:
        created = client.benchmarks.create(benchmark, definition)
    say(f"{created.name} is hosted; upload its truth with vidscore benchmark truth")
    say_warnings(created.warnings)


@command(
    "update",
    examples=(
        "vidscore benchmark update sky benchmark.toml",
        "vidscore benchmark update sky benchmark.toml --check",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path(readable=False))
@click.option("--check", is_flag=True, help="Only list what each team sees now and would see.")
@server_options()
def update(server: ServerChoice, benchmark: str, file: str, check: bool) -> None:
    """Change a benchmark to match a TOML file.

    A setting that the file does not name returns to its default; only submissions_in_all and the
    private sequences keep their values. The shapes of objects cannot change. If evaluators or
    specification change, stored submissions are scored again, and the board moves when that is
    done.
    """
    definition = _read_definition(file)
    if check:
        with open_client(server) as client:
            views = client.benchmarks.preview(benchmark, definition, replace=True)
        write_records([_line_of(view) for view in views], VIEW_COLUMNS, "table", STDOUT)
        return
    with open_client(server) as client:
        changed = client.benchmarks.update(benchmark, definition, replace=True)
    say(f"{changed.name} is changed")
    if changed.submissions_to_rescore:
        say(what_happens(changed, "the new rules"))
    say_warnings(changed.warnings)


def _line_of(view: TeamView) -> dict[str, object]:
    """A team's view before and after, as a row."""
    return {
        "team": view.team,
        "evaluator": view.evaluator,
        "now": _seen(view.now),
        "then": _seen(view.then),
    }


def _seen(seen: SeenScores) -> str:
    values = " ".join(
        f"{name}={'undefined' if value is None else f'{value:.4f}'}"
        for name, value in seen.values.items()
    )
    parts = [f"rank {seen.rank}" if seen.rank else "not on the board", values]
    parts += [counted(seen.score_count, "score"), counted(seen.curve_count, "curve")]
    if seen.outcome_submission_count:
        parts.append(f"outcomes of {counted(seen.outcome_submission_count, 'submission')}")
    return ", ".join(filter(None, parts))


def _read_definition(file: str) -> dict[str, Any]:
    """Read a benchmark's file, and check it as far as this side can.

    An evaluator that is not installed here may be a plug-in of the server, which then checks it.

    Raises:
        SpecificationError: With every fault of the file.
    """
    from vidscore_evaluators.formats.manifest import read_document
    from vidscore_server.domain.benchmark_file import check_document

    document, faults = read_document(Path(file))
    check_document(document, file, faults)
    return document
