"""The types of `import vidscore`, with the parameters of each built-in evaluator.

`score` takes the parameters of an evaluator by name, which no hand-written signature can express.
The stub has an overload for each evaluator, so that editors complete its parameters and type
checkers reject others. It also has overloads for presets, which have no parameters and give one
report or several. For other evaluators and presets it accepts any string; the parameters of a
plug-in go into an `EvaluatorSpec`.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator
from pathlib import Path

import vidscore_evaluators
from vidscore_evaluators.parameters import describe_parameters
from vidscore_evaluators.presets import find_preset, is_built_in, preset_names
from vidscore_evaluators.registry import evaluator_class, evaluator_names, is_evaluator

STUB = Path(__file__).resolve().parents[1] / "evaluators/vidscore/__init__.pyi"

_HEAD = '''\
# Written by `make docs` from the registry of evaluators. Do not edit.
"""The library of vidscore: read files, score detections against truth, in one call each."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from os import PathLike
from typing import Any, Literal, TypedDict, Unpack, overload

from numpy.typing import NDArray

{imports}
from vidscore_evaluators.formats.plain_arrays import DataFrame

__all__ = [
{exports}
]

_Data = str | PathLike[str] | Annotations | Mapping[str, Any] | DataFrame

class _Options(TypedDict, total=False):
    specification: BenchmarkSpec | None
    """Facts that the data cannot give: frames, classes, don't-care frames."""
    manifest: str | PathLike[str] | None
    """The same, as a TOML file."""
    format: str
    """Name of the files' format; ``auto``: the preset's, or detected from their content."""
    on_error: Literal["refuse", "skip"]
    """Whether a faulty row makes the call fail, or is skipped."""
    confidence_scale: str | None
    """How to map confidences to numbers from 0 to 1: ``sigmoid``, or ``MIN,MAX``."""
    select: Selection
    """The part of the data to score; all by default."""
    online: bool
    """Whether frames are judged against the last answer that had arrived by their time."""
    workers: int
    """Processes to use; the scores do not depend on it."""
    executor: Executor | None
    """Scores in place of this process; only for paths."""
    shards: int
    """Number of parts for the executor; the scores do not depend on it."""
    progress: Callable[[int, int], None] | None
    """Called with the number of frames done and in all; with an executor, of shards."""
'''

_PARAMETERS = """
class {type_name}({base}, total=False):
{fields}
"""

_OVERLOAD = '''
@overload
def score({remark}
    evaluator: {evaluator},
    truth: _Data,
    detections: _Data,
    **options: Unpack[{options}],
) -> {result}:
    """Score detections against truth."""
'''


def library_types() -> str:
    """The text of the stub."""
    names = vidscore_evaluators.__all__
    imports = "\n".join(
        f"from vidscore_evaluators import {name} as {name}" for name in names if name != "score"
    )
    exports = "\n".join(f'    "{name}",' for name in names)
    text = [_HEAD.format(imports=imports, exports=exports)]
    overloads = []
    written: dict[type, str] = {object: "_Options"}
    for name in _built_in():
        parameters = evaluator_class(name).Parameters
        text += _parameter_types(parameters, written)
        overloads.append((f'Literal["{name}"]', written[parameters], "Report"))
    single, several = _presets()
    overloads.append((f"Literal[{single}]", "_Options", "Report"))
    overloads.append((f"Literal[{several}]", "_Options", "tuple[Report, ...]"))
    # A name that the type checker does not know may be a preset of several evaluators.
    overloads.append(("str | EvaluatorSpec", "_Options", "Report | Any"))
    overloads.append(("Sequence[str | EvaluatorSpec]", "_Options", "list[Report]"))
    for evaluator, options, result in overloads:
        # A string is a sequence of strings as well; the overload before the last takes it.
        remark = "" if result == "list[Report]" else "  # type: ignore[overload-overlap]"
        text.append(
            _OVERLOAD.format(remark=remark, evaluator=evaluator, options=options, result=result)
        )
    return "".join(text)


def _built_in() -> list[str]:
    """Names of the evaluators that every installation has."""
    own = f"{vidscore_evaluators.__name__}."
    return [name for name in evaluator_names() if evaluator_class(name).__module__.startswith(own)]


def _presets() -> tuple[str, str]:
    """Built-in presets that give one report, and built-in presets that give several."""
    own = [
        preset
        for preset in (find_preset(name) for name in preset_names() if is_built_in(name))
        if not is_evaluator(preset.name)
    ]
    single = ", ".join(f'"{preset.name}"' for preset in own if len(preset.evaluators) == 1)
    several = ", ".join(f'"{preset.name}"' for preset in own if len(preset.evaluators) > 1)
    return single, several


def _parameter_types(parameters: type, written: dict[type, str]) -> Iterator[str]:
    """Types of a class of parameters and of its first bases, except those already written.

    Parameters of a second base are written out: type checkers reject two bases with a common one.
    """
    if parameters in written:
        return
    base = parameters.__bases__[0]
    yield from _parameter_types(base, written)
    written[parameters] = f"_{parameters.__name__}"
    fields = "\n".join(_fields(parameters, base)) or "    pass"
    yield _PARAMETERS.format(type_name=written[parameters], base=written[base], fields=fields)


def _fields(parameters: type, base: type) -> Iterator[str]:
    """Fields of a class of parameters that its base lacks or defines differently."""
    hints = typing.get_type_hints(parameters)
    inherited = () if base is object else describe_parameters(base)
    for entry in describe_parameters(parameters):
        if entry not in inherited:
            yield f"    {entry.name}: {_type_text(hints[entry.name])}"
            yield f'    """{entry.bounds.description} [default: {entry.default!r}]"""'


def _type_text(hint: object) -> str:
    """A type as callers may pass it: any sequence or array in place of a tuple."""
    if typing.get_origin(hint) is tuple:
        return f"Sequence[{_type_text(typing.get_args(hint)[0])}] | NDArray[Any]"
    if typing.get_origin(hint) is typing.Literal:
        return f"Literal[{', '.join(map(repr, typing.get_args(hint)))}]"
    assert isinstance(hint, type)
    return hint.__name__
