"""Comparisons of systems as tables, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vidscore_cli.output import deliver, deliver_json
from vidscore_evaluators.csv_text import csv_text

if TYPE_CHECKING:
    from vidscore_evaluators.report import Number
    from vidscore_evaluators.trust.comparisons import Comparison
    from vidscore_evaluators.trust.differences import Difference, SystemPair
    from vidscore_evaluators.trust.tables import TextTable

COLUMNS = (
    *("evaluator", "first", "second", "domain", "label", "sequence", "frame", "measure"),
    *("first_value", "second_value", "difference", "low", "high", "probability_better"),
    "contribution",
)


def deliver_comparisons(comparisons: Sequence[Comparison], form: str, output: str) -> None:
    """Write comparisons; as JSON, one alone is the object and several are an array.

    Args:
        comparisons: One for each evaluator.
        form: ``table``, ``json`` or ``csv``.
        output: Path of a file, or "-".
    """
    if form == "json":
        documents = [one.to_dict() for one in comparisons]
        deliver_json(documents[0] if len(documents) == 1 else documents, output)
    elif form == "csv":
        deliver(csv_text(COLUMNS, _lines(comparisons)), output)
    else:
        _deliver_tables(comparisons, output)


def comparison_tables(comparisons: Sequence[Comparison]) -> Iterator[TextTable]:
    """Every table of comparisons: scores first, then what made the difference."""
    several = len(comparisons) > 1
    for one in comparisons:
        of = f"{one.evaluator.name}: " if several else ""
        for pair in one.pairs:
            title = f"{of}{pair.second} beside {pair.first}"
            yield _scores_table(title, pair)
            yield from _causes(title, pair, one.top)


def _deliver_tables(comparisons: Sequence[Comparison], output: str) -> None:
    from vidscore_cli.trust_output import deliver_tables

    answers = [answer for one in comparisons for answer in one.answers]
    parts = [
        f"Of a part of the data: {part}"
        for part in dict.fromkeys(
            str(one.evaluator.selection) for one in comparisons if one.evaluator.selection
        )
    ]
    notes = dict.fromkeys(note for one in comparisons for note in one.notes)
    deliver_tables(list(comparison_tables(comparisons)), [*parts, *notes], output, first=answers)


def _scores_table(title: str, pair: SystemPair) -> TextTable:
    """Scores over everything, a line a measure."""
    from vidscore_evaluators.trust.tables import TextTable

    headings = ("measure", pair.first, pair.second, "difference", "interval", "p better")
    table = TextTable(title, headings, leading=1)
    for one in pair.differences:
        if one.domain is one.label is None:
            table.lines.append((one.measure, *_cells(one)))
    return table


def _causes(title: str, pair: SystemPair, top: int) -> Iterator[TextTable]:
    """Labels, domains, sequences and frames that made the difference, each kind if it has any."""
    from vidscore_evaluators.trust.tables import TextTable

    systems = (pair.first, pair.second)
    statistics = (*systems, "difference", "interval", "p better")
    labels, domains = pair.labels(top), pair.domains(top)
    with_domain = any(one.domain is not None for one in labels)
    of_labels = TextTable(
        f"{title}: labels by their difference in {pair.measure}",
        (*(["domain"] * with_domain), "label", *statistics),
        leading=1 + with_domain,
    )
    of_labels.lines.extend(
        (*([one.domain or ""] * with_domain), one.label or "", *_cells(one)) for one in labels
    )
    of_domains = TextTable(
        f"{title}: domains by their difference in {pair.measure}", ("domain", *statistics), 1
    )
    of_domains.lines.extend((one.domain or "", *_cells(one)) for one in domains)
    for table in (of_labels, of_domains, _sequences(title, pair), _frames(title, pair)):
        if table.lines:
            yield table


def _sequences(title: str, pair: SystemPair) -> TextTable:
    from vidscore_evaluators.annotations import sequence_name
    from vidscore_evaluators.trust.tables import TextTable

    table = TextTable(
        f"{title}: sequences by what they contribute to the difference in {pair.measure}",
        ("sequence", pair.first, pair.second, "contribution"),
        leading=1,
    )
    for one in pair.sequences:
        values = (one.first, one.second, one.contribution)
        table.lines.append((sequence_name(one.key), *map(_number, values)))
    return table


def _frames(title: str, pair: SystemPair) -> TextTable:
    from vidscore_evaluators.annotations import sequence_name
    from vidscore_evaluators.trust.tables import TextTable

    table = TextTable(
        f"{title}: frames by their mistakes", ("sequence", "frame", pair.first, pair.second), 2
    )
    for one in pair.frames or ():
        numbers = map(str, (one.frame, one.first, one.second))
        table.lines.append((sequence_name(one.key), *numbers))
    return table


def _cells(one: Difference) -> tuple[str, ...]:
    interval = ""
    if one.low is not None and one.high is not None:
        interval = f"{_number(one.low)} to {_number(one.high)}"
    probability = "" if one.probability_better is None else _number(one.probability_better)
    return (*map(_number, (one.first, one.second, one.value)), interval, probability)


def _number(value: Number) -> str:
    from vidscore_evaluators.report_grids import format_number

    return format_number(value)


def _lines(comparisons: Sequence[Comparison]) -> Iterator[tuple[object, ...]]:
    """A line a score, then those of sequences and frames that made the difference."""
    for comparison in comparisons:
        for pair in comparison.pairs:
            start = (comparison.evaluator.name, pair.first, pair.second)
            for one in pair.differences:
                where = (one.domain, one.label, None, None, one.measure)
                found = (one.first, one.second, one.value, one.low, one.high)
                yield (*start, *where, *found, one.probability_better, None)
            for of in pair.sequences:
                yield (
                    *(*start, of.key.domain, None, of.key.sequence, None, pair.measure),
                    *(of.first, of.second, of.value, None, None, None, of.contribution),
                )
            for frame in pair.frames or ():
                yield (
                    *(*start, frame.key.domain, None, frame.key.sequence, frame.frame, "mistakes"),
                    *(frame.first, frame.second, frame.value, None, None, None, None),
                )
