"""A benchmark's state and its evaluators, in words, from a call's plain values."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct

from vidscore_evaluators.errors import VidscoreError
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.presets import create_evaluators
from vidscore_evaluators.specification import SPECIFICATION_KEYS, spec_from_dict
from vidscore_server.web.site.phrases import things, time_text

CLOSED = "closed"
"""State of a benchmark that takes no further submissions."""

Plain = Mapping[str, Any]


# --- Its name and state


def short_name(benchmark: Plain) -> str:
    """The last part of a benchmark's name."""
    return str(benchmark["name"]).removeprefix("benchmarks/")


def title_of(benchmark: Plain) -> str:
    """The title of a benchmark, or its name if it has none."""
    return benchmark["specification"]["title"] or short_name(benchmark)


def state_text(benchmark: Plain, now: datetime) -> str:
    """State of a benchmark in words: whether it takes submissions."""
    opening, closing = benchmark["open_time"], benchmark["close_time"]
    if closing and now >= closing:
        return CLOSED
    return "not open yet" if opening and now < opening else "open"


def when_text(benchmark: Plain, now: datetime) -> str:
    """The date that matters now; empty for none."""
    opening, closing = benchmark["open_time"], benchmark["close_time"]
    if opening and now < opening:
        return f"opens {time_text(opening)}"
    if not closing:
        return ""
    return f"{'closed' if now >= closing else 'open until'} {time_text(closing)}"


# --- Its evaluators in words, with their parameters, labels and frames


class Judge(Struct, frozen=True):
    """An evaluator of a benchmark.

    Attributes:
        name: Its name.
        version: Its version.
        title: Its title.
        gives: Its ranking and released measures.
        chosen: Parameters that differ from the default, in words.
        others: Parameters with their default, in words.
        labels: Labels that it scores, if they are listed.
        lower: Names of the measures of which lower values are better.
    """

    name: str
    version: str
    title: str
    gives: tuple[str, ...]
    chosen: tuple[str, ...]
    others: tuple[str, ...]
    labels: tuple[str, ...]
    lower: frozenset[str]


async def judges_of(benchmark: Plain) -> list[Judge]:
    """The evaluators of a benchmark, presets expanded, the one that ranks first.

    They are made in a thread, because that of a plug-in may take any time.

    Args:
        benchmark: The benchmark as plain values.
    """
    return await asyncio.to_thread(_judges_of, benchmark)


def _judges_of(benchmark: Plain) -> list[Judge]:
    try:
        document = benchmark["document"]
        keys = document.keys() & {*SPECIFICATION_KEYS}
        specification = spec_from_dict({key: document[key] for key in keys})
        evaluators = create_evaluators(specification)
    except VidscoreError:
        return []  # with public names only, the specification may be incomplete
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
        frozenset(one.name for one in evaluator.measures if one.direction is Direction.LOWER),
    )


def _parameters(evaluator: Evaluator[Any]) -> Iterator[tuple[str, bool]]:
    """Each parameter as a sentence, with whether it has its default."""
    values = parameter_values(evaluator.parameters)
    for description in describe_parameters(evaluator.Parameters):
        value = values[description.name]
        shown = ", ".join(map(str, value)) if isinstance(value, tuple | list) else str(value)
        text = description.bounds.description.rstrip(".")
        yield f"{text}: {description.name} = {shown or 'none'}", value == description.default


def labels_of(benchmark: Plain, judges: list[Judge]) -> list[str]:
    """The benchmark's visible labels, without duplicates."""
    specification = benchmark["specification"]
    lists = [entry["classes"] for entry in (specification, *specification["domains"])]
    named = [name for entry in lists if entry is not None for name in entry["names"]]
    listed = [label for judge in judges for label in judge.labels]
    return list(dict.fromkeys([*named, *listed]))


def domains_of(benchmark: Plain) -> list[str]:
    """The benchmark's visible domains, without duplicates."""
    specification = benchmark["specification"]
    names = [entry["name"] for entry in specification["domains"]]
    names += [entry["domain"] for entry in specification["sequences"]]
    return [name for name in dict.fromkeys(names) if name]


def frames_text(benchmark: Plain) -> str:
    """``36 sequences, 21,600 frames``: the visible counts; empty for none."""
    sequences = benchmark["specification"]["sequences"]
    if not sequences:
        return ""
    text = things(len(sequences), "sequence")
    counts = [entry["frame_count"] for entry in sequences]
    return text if None in counts else f"{text}, {things(sum(counts), 'frame')}"
