"""The file that describes a benchmark: its template, and its check.

It works on texts and dictionaries only, so that the command line and the pages share it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import Fault, SpecificationError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats.manifest import write_document
from vidscore_evaluators.parameters import ParameterDescription, describe_parameters
from vidscore_evaluators.presets import evaluators_of, preset_of
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_server.domain.definition import NAME_OF_ARITY, common_arities, definition_from_dict
from vidscore_server.domain.policy import DEFAULT_PUBLIC_NAMES, NameKind, Policy, in_order

WIDTH = 100

_EVALUATOR_NAME = re.compile(r"evaluators\[\d+\]\.name")

_LIVE = """\
# The clock of a live benchmark: each frame is answered before the next one is given out. It needs
# the sequences with their frame_count, and public_names with sequences and frame_counts.
# [live]
# frame_rate = 25         # frames per second
# frames = "held by the participant"  # or "sent by the organiser"
"""

_SEQUENCES = """\
# Sequences, if the truth alone does not say enough about them.
# [[sequences]]
# name = "one"
# frame_count = 900       # or: video = "one.mp4", to count its frames
# image_width = 1920
# image_height = 1080

# Labels that are scored, if not all labels of the truth are; one list for each domain.
# [[domains]]
# name = ""
# classes = ["car", "bus"]
"""


def check_document(document: Mapping[str, Any], source: str, found: Sequence[Fault] = ()) -> None:
    """Check a benchmark's file.

    An evaluator that is not installed here may be a plug-in of the server, which then checks it.

    Args:
        document: The file as dictionaries.
        source: Its name, for error messages.
        found: Faults that its reader has found.

    Raises:
        SpecificationError: With every fault of the file.
    """
    faults = list(found)
    try:
        definition_from_dict(document, source=source)
    except SpecificationError as error:
        faults.extend(error.faults)
    if not all(_EVALUATOR_NAME.fullmatch(fault.field or "") for fault in faults):
        raise SpecificationError(faults)


def template(name: str, title: str) -> str:
    """A benchmark's file for an evaluator or a preset; lines with defaults are commented out."""
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
        *_comment("Dates and times with their offset from UTC. By default: at once, and never."),
        "# open_time = 2026-05-01T00:00:00Z",
        "# close_time = 2026-06-01T00:00:00Z",
        "",
        *_comment(f"Kinds of names that participants may know; wrong ones are refused: {kinds}."),
        f"# public_names = {_value(tuple(in_order(DEFAULT_PUBLIC_NAMES)))}",
        "",
        *_comment(f"{what}. For more evaluators, add more tables [[evaluators]]."),
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
    usable = {side: common_arities(evaluators, side) for side in Side}
    if all(len(arities) == 1 for arities in usable.values()):
        follows = f"they follow from {name}"
    else:
        follows = "by default, they follow from the truth that is uploaded"
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
    text = write_document({"value": value}).partition(" = ")[2]
    return " ".join(text.split()).replace("[ ", "[").replace(", ]", "]")
