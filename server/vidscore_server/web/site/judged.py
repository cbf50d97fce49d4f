"""What a benchmark judges, in words: evaluators, their parameters, labels and frames."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.presets import create_evaluators
from vidscore_evaluators.specification import spec_from_dict
from vidscore_server.web.site.benchmark_document import specification_of
from vidscore_server.web.site.phrases import things

Plain = Mapping[str, Any]


class Judge(Struct, frozen=True):
    """An evaluator of a benchmark.

    Attributes:
        name: Its name.
        version: Its version.
        title: What it is.
        gives: Measures that rank under it, or are released.
        chosen: Parameters that are not the default, in words.
        others: Parameters that are, in words.
        labels: Labels that it scores, where they are listed.
    """

    name: str
    version: str
    title: str
    gives: tuple[str, ...]
    chosen: tuple[str, ...]
    others: tuple[str, ...]
    labels: tuple[str, ...]


def judges_of(benchmark: Plain) -> list[Judge]:
    """The evaluators of a benchmark, presets expanded, the one that ranks first.

    Args:
        benchmark: The benchmark as plain values.
    """
    try:
        specification = spec_from_dict(specification_of(benchmark["specification"]))
        evaluators = create_evaluators(specification)
    except VidscoreError:
        return []  # public names alone may not make a whole specification
    return [_judge(evaluator, benchmark["policy"]) for evaluator in evaluators]


def _judge(evaluator: Evaluator[Any], policy: Plain) -> Judge:
    known = {measure.name for measure in evaluator.measures}
    chosen = policy["ranking_measure"]
    ranking = (chosen,) if chosen in known else evaluator.ranking
    given = dict.fromkeys([*ranking, *filter(known.__contains__, policy["released_measures"])])
    parameters = list(_parameters(evaluator))
    return Judge(
        evaluator.name,
        evaluator.version,
        evaluator.title,
        tuple(measure_title(name) for name in given),
        tuple(text for text, is_default in parameters if not is_default),
        tuple(text for text, is_default in parameters if is_default),
        tuple(evaluator.specification.listed_labels),
    )


def _parameters(evaluator: Evaluator[Any]) -> Iterator[tuple[str, bool]]:
    """Each parameter as a sentence, and whether it has its default."""
    values = parameter_values(evaluator.parameters)
    for description in describe_parameters(evaluator.Parameters):
        value = values[description.name]
        shown = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        text = description.bounds.description.rstrip(".")
        yield f"{text}: {description.name} = {shown or 'none'}", value == description.default


def labels_of(benchmark: Plain, judges: list[Judge]) -> list[str]:
    """Labels that the benchmark tells, each once."""
    specification = benchmark["specification"]
    lists = [entry["classes"] for entry in (specification, *specification["domains"])]
    named = [name for entry in lists if entry is not None for name in entry["names"]]
    listed = [label for judge in judges for label in judge.labels]
    return list(dict.fromkeys([*named, *listed]))


def domains_of(benchmark: Plain) -> list[str]:
    """Domains that the benchmark tells, each once."""
    specification = benchmark["specification"]
    names = [entry["name"] for entry in specification["domains"]]
    names += [entry["domain"] for entry in specification["sequences"]]
    return [name for name in dict.fromkeys(names) if name]


def frames_text(benchmark: Plain) -> str:
    """``36 sequences, 21,600 frames``: as far as the benchmark tells them; empty for nothing."""
    sequences = benchmark["specification"]["sequences"]
    if not sequences:
        return ""
    text = things(len(sequences), "sequence")
    counts = [entry["frame_count"] for entry in sequences]
    return text if None in counts else f"{text}, {things(sum(counts), 'frame')}"
