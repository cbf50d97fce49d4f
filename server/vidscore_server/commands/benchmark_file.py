"""`vidscore benchmark new`, `create` and `update`: the file that describes a benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vidscore_cli.command_tree import command
from vidscore_cli.hosted import (
    say_warnings,
    what_happens,
)
from vidscore_cli.options import (
    complete_evaluator,
    server_options,
)
from vidscore_cli.output import STDOUT, say
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.errors import SpecificationError

if TYPE_CHECKING:
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.parameters import ParameterDescription

WIDTH = 100

_EVALUATOR_NAME = re.compile(r"evaluators\[\d+\]\.name")

_SEQUENCES = """\
# Sequences, where the truth alone does not say enough about them.
# [[sequences]]
# name = "one"
# frame_count = 900       # or: video = "one.mp4", to count its frames
# image_width = 1920
# image_height = 1080

# Labels that are scored, where not all of the truth's are; one list for each domain.
# [[domains]]
# name = ""
# classes = ["car", "bus"]
"""

_LIVE = """\
# The clock of a live benchmark: each frame is answered before the next one is given out. It needs
# the sequences with their frame_count, and public_names with sequences and frame_counts.
# [live]
# frame_rate = 25         # frames a second
# frames = "held by the participant"  # or "sent by the organiser"
"""


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
    """Write the file of a benchmark, with every choice and its default explained.

    A benchmark can be created from it as it stands. EVALUATOR may be a preset.
    """
    text = template(evaluator, title)
    if file == STDOUT:
        click.echo(text, nl=False)
        return
    try:
        with Path(file).open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise click.BadParameter(f"{file} is there already; name a new file") from None
    except OSError as error:
        raise click.BadParameter(f"{file} cannot be made: {error.strerror}") from None
    say(f"{file} is written; vidscore benchmark create NAME {file} hosts it", err=True)


@command("create", examples=("vidscore benchmark create sky benchmark.toml",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path())
@server_options()
def create(server: ServerChoice, benchmark: str, file: str) -> None:
    """Create a benchmark from a TOML file.

    FILE has the keys of a manifest and, beside them, truth_geometry, detection_geometry,
    open_time, close_time, public_names and the tables policy and live; vidscore benchmark new
    writes one.
    """
    definition = _read_definition(file)
    with open_client(server) as client:
        created = client.benchmarks.create(benchmark, definition)
    say(f"{created.name} is hosted; upload its truth with vidscore benchmark truth")
    say_warnings(created.warnings)


@command("update", examples=("vidscore benchmark update sky benchmark.toml",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("file", metavar="FILE", type=click.Path())
@server_options()
def update(server: ServerChoice, benchmark: str, file: str) -> None:
    """Make a benchmark what a TOML file says.

    What the file does not name goes back to its default, but submissions_in_all, which stays. The
    shapes of objects cannot change.
    Where evaluators or specification change, what is stored is scored again, and the board moves
    when that is done.
    """
    definition = _read_definition(file)
    with open_client(server) as client:
        changed = client.benchmarks.update(benchmark, definition, replace=True)
    say(f"{changed.name} is changed")
    if changed.submissions_to_rescore:
        say(what_happens(changed, "the new rules"))
    say_warnings(changed.warnings)


def _read_definition(file: str) -> dict[str, Any]:
    """A benchmark's file, in which nothing is wrong as far as this side knows.

    An evaluator that is not installed here may be a plug-in of the server, which then judges.

    Raises:
        SpecificationError: With every fault of the file.
    """
    from vidscore_evaluators.formats.manifest import read_document
    from vidscore_server.domain.definition import definition_from_dict

    document = read_document(Path(file))
    try:
        definition_from_dict(document, source=file)
    except SpecificationError as error:
        if not all(_EVALUATOR_NAME.fullmatch(fault.field or "") for fault in error.faults):
            raise
    return document


def template(name: str, title: str) -> str:
    """A benchmark's file for an evaluator or a preset; what is commented out has its default."""
    from vidscore_evaluators.parameters import describe_parameters
    from vidscore_evaluators.presets import evaluators_of, preset_of
    from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
    from vidscore_server.domain.policy import DEFAULT_PUBLIC_NAMES, NameKind, Policy, in_order

    evaluators = evaluators_of(EvaluatorSpec(name), BenchmarkSpec())
    preset = preset_of(name)
    what = evaluators[0].title if preset is None else preset.title
    settings = (
        ()
        if preset is not None
        else (
            "[evaluators.parameters]",
            *_settings(describe_parameters(evaluators[0].Parameters)),
        )
    )
    kinds = ", ".join(f'"{kind}"' for kind in in_order(NameKind))
    lines = [
        "# A benchmark for vidscore: vidscore benchmark create NAME FILE",
        "# Lines that begin with # change nothing; what they set is the default, or an example.",
        "",
        f"title = {_value(title)}",
        "",
        *_geometries(name, evaluators),
        "",
        *_comment("Dates and times with their offset from UTC. Not said: at once, and never."),
        "# open_time = 2026-05-01T00:00:00Z",
        "# close_time = 2026-06-01T00:00:00Z",
        "",
        *_comment(f"Names that participants may know, and wrong ones are refused for: {kinds}."),
        f"# public_names = {_value(tuple(in_order(DEFAULT_PUBLIC_NAMES)))}",
        "",
        *_comment(f"{what}. Further evaluators: further tables [[evaluators]]."),
        "[[evaluators]]",
        f"name = {_value(name)}",
        "",
        *settings,
        *_SEQUENCES.splitlines(),
        "",
        *_LIVE.splitlines(),
        "",
        "[policy]",
        *_settings(describe_parameters(Policy)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _geometries(name: str, evaluators: Sequence[Evaluator[Any]]) -> Iterator[str]:
    from vidscore_evaluators.annotations import Side
    from vidscore_server.domain.definition import NAME_OF_ARITY, common_arities

    usable = {side: common_arities(evaluators, side) for side in Side}
    if all(len(arities) == 1 for arities in usable.values()):
        follows = f"they follow from {name}"
    else:
        follows = "not said, they follow from the truth that is uploaded"
    yield from _comment(f"Shapes of objects: {follows}.")
    for field, side in (("truth_geometry", Side.TRUTH), ("detection_geometry", Side.DETECTIONS)):
        names = [NAME_OF_ARITY[arity] for arity in usable[side] if arity in NAME_OF_ARITY]
        others = f"  # or {' or '.join(names[1:])}" if len(names) > 1 else ""
        yield f"# {field} = {_value(names[0])}{others}"


def _settings(parameters: tuple[ParameterDescription, ...]) -> Iterator[str]:
    for parameter in parameters:
        choices = f" One of {', '.join(parameter.choices)}." if parameter.choices else ""
        yield from _comment(parameter.bounds.description + choices)
        yield f"# {parameter.name} = {_value(parameter.default)}"
        yield ""


def _comment(text: str) -> list[str]:
    """Lines of a TOML comment."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 3 > WIDTH:
            lines.append("")
        lines[-1] += f" {word}"
    return [f"#{line}" for line in lines]


def _value(value: object) -> str:
    """A value in TOML."""
    from vidscore_evaluators.formats.manifest import write_document

    text = write_document({"value": value}).partition(" = ")[2]
    return " ".join(text.split()).replace("[ ", "[").replace(", ]", "]")
