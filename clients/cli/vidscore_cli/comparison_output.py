"""Comparisons of systems as tables, Markdown, LaTeX, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from vidscore_cli.output import deliver, deliver_json
from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report_grids import Grid, format_number

if TYPE_CHECKING:
    from vidscore_cli.report_parts import Words
    from vidscore_evaluators.trust.comparisons import Comparison
    from vidscore_evaluators.trust.differences import Difference, SystemPair

FORMATS = ("table", "json", "csv", "markdown", "latex")

COLUMNS = (
    *("evaluator", "first", "second", "domain", "label", "sequence", "frame", "measure"),
    *("first_value", "second_value", "difference", "low", "high", "probability_better"),
    "contribution",
)


def deliver_comparisons(comparisons: Sequence[Comparison], form: str, output: str) -> None:
    """Write comparisons; in JSON, a single one is an object, and several are an array.

    Args:
        comparisons: One for each evaluator.
        form: One of `FORMATS`.
        output: Path of a file, or "-".
    """
    from vidscore_cli.report_parts import deliver_parts

    if form == "json":
        documents = [one.to_dict() for one in comparisons]
        deliver_json(documents[0] if len(documents) == 1 else documents, output)
    elif form == "csv":
        deliver(csv_text(COLUMNS, _lines(comparisons)), output)
    else:
        deliver_parts(comparison_parts(comparisons), output, form)


def comparison_parts(comparisons: Sequence[Comparison]) -> Iterator[Words | Grid]:
    """The parts of comparisons, in order, for any output: the answers first."""
    from vidscore_cli.report_parts import Words

    for answer in (answer for one in comparisons for answer in one.answers):
        yield Words(answer, heading=True)
    chosen = (one.evaluator.selection for one in comparisons)
    for part in dict.fromkeys(str(selection) for selection in chosen if selection):
        yield Words(f"of a part of the data: {part}")
    for one in comparisons:
        of = f"{one.evaluator.name}: " if len(comparisons) > 1 else ""
        for pair in one.pairs:
            for grid in (_scores_grid(pair), *_causes(pair, one.top)):
                title = f"{of}{pair.second} beside {pair.first}{grid.title}"
                names = tuple(map(escape_controls, grid.headings))
                yield replace(grid, title=escape_controls(title), headings=names)
    yield Words("")
    for note in dict.fromkeys(note for one in comparisons for note in one.notes):
        yield Words(note)


def _scores_grid(pair: SystemPair) -> Grid:
    """Scores over everything, one line per measure."""
    headings = ("measure", pair.first, pair.second, "difference", "low", "high", "p better")
    lines = [
        (one.measure, *_cells(one)) for one in pair.differences if one.domain is one.label is None
    ]
    return Grid("", headings, 1, lines)


def _causes(pair: SystemPair, top: int) -> Iterator[Grid]:
    """Labels, domains, sequences and frames that made the difference, each kind if it has any."""
    systems = (pair.first, pair.second)
    statistics = (*systems, "difference", "low", "high", "p better")
    labels, of = pair.labels(top), f"in {pair.measure}"
    has_domains = any(one.domain is not None for one in labels)
    grids = (
        Grid(
            f": labels by their difference {of}",
            (*(["domain"] * has_domains), "label", *statistics),
            1 + has_domains,
            [
                (*([_name(one.domain)] * has_domains), _name(one.label), *_cells(one))
                for one in labels
            ],
        ),
        Grid(
            f": domains by their difference {of}",
            ("domain", *statistics),
            1,
            [(_name(one.domain), *_cells(one)) for one in pair.domains(top)],
        ),
        Grid(
            f": sequences by what they contribute to the difference {of}",
            ("sequence", *systems, "contribution"),
            1,
            [
                (
                    _name(sequence_name(one.key)),
                    *map(format_number, (one.first, one.second, one.contribution)),
                )
                for one in pair.sequences
            ],
        ),
        Grid(
            ": frames by their mistakes",
            ("sequence", "frame", *systems),
            2,
            [
                (_name(sequence_name(one.key)), *map(str, (one.frame, one.first, one.second)))
                for one in pair.frames or ()
            ],
        ),
    )
    return (grid for grid in grids if grid.lines)


def _name(name: str | None) -> str:
    return escape_controls(name or "") or "(no name)"


def _cells(one: Difference) -> tuple[str, ...]:
    interval = ("" if end is None else format_number(end) for end in (one.low, one.high))
    probability = "" if one.probability_better is None else format_number(one.probability_better)
    return (*map(format_number, (one.first, one.second, one.value)), *interval, probability)


def _lines(comparisons: Sequence[Comparison]) -> Iterator[tuple[object, ...]]:
    """One line per score, then one per sequence and frame that made the difference."""
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
