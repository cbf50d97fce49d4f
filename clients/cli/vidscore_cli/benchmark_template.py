"""`vidscore benchmark new`: the file of a benchmark, with every choice explained."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from vidscore_cli.output import STDOUT, say
from vidscore_evaluators.evaluator import Evaluator, Side
from vidscore_evaluators.formats.manifest import write_document
from vidscore_evaluators.parameters import ParameterDescription, describe_parameters
from vidscore_evaluators.registry import create_evaluator
from vidscore_server.domain.definition import NAME_OF_ARITY
from vidscore_server.domain.policy import DEFAULT_PUBLIC_NAMES, NameKind, Policy, in_order

WIDTH = 100

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


def write_template(evaluator: str, title: str, file: str) -> None:
    """Write a file from which a benchmark can be created as it stands.

    Args:
        evaluator: Name of the evaluator that judges.
        title: Title for people.
        file: A file that must not be there, or "-".

    Raises:
        UnknownEvaluatorError: If there is no such evaluator.
        click.BadParameter: If the file is there, or cannot be made.
    """
    text = template(create_evaluator(evaluator), title)
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


def template(evaluator: Evaluator[object], title: str) -> str:
    """A benchmark's file; what is commented out has its default."""
    kinds = ", ".join(f'"{kind}"' for kind in in_order(NameKind))
    lines = [
        "# A benchmark for vidscore: vidscore benchmark create NAME FILE",
        "# Lines that begin with # change nothing; what they set is the default, or an example.",
        "",
        f"title = {_value(title)}",
        "",
        *_geometries(evaluator),
        "",
        *_comment("Dates and times with their offset from UTC. Not said: at once, and never."),
        "# open_time = 2026-05-01T00:00:00Z",
        "# close_time = 2026-06-01T00:00:00Z",
        "",
        *_comment(f"Names that participants may know, and wrong ones are refused for: {kinds}."),
        f"# public_names = {_value(tuple(in_order(DEFAULT_PUBLIC_NAMES)))}",
        "",
        *_comment(f"{evaluator.title}. Further evaluators: further tables [[evaluators]]."),
        "[[evaluators]]",
        f"name = {_value(evaluator.name)}",
        "",
        "[evaluators.parameters]",
        *_settings(describe_parameters(evaluator.Parameters)),
        *_SEQUENCES.splitlines(),
        "",
        "[policy]",
        *_settings(describe_parameters(Policy)),
    ]
    return "\n".join(lines).rstrip() + "\n"


def _geometries(evaluator: Evaluator[object]) -> Iterator[str]:
    needs = evaluator.needs
    usable = {Side.TRUTH: needs.truth_arities, Side.DETECTIONS: needs.detection_arities}
    if all(len(arities) == 1 for arities in usable.values()):
        follows = f"they follow from {evaluator.name}"
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
    """A text as lines of a comment."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) + 3 > WIDTH:
            lines.append("")
        lines[-1] += f" {word}"
    return [f"#{line}" for line in lines]


def _value(value: object) -> str:
    """A value as TOML has it."""
    text = write_document({"value": value}).partition(" = ")[2]
    return " ".join(text.split()).replace("[ ", "[").replace(", ]", "]")
