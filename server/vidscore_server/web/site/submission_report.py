"""The scores of a submission for a page: reports from plain values, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from msgspec import Struct

from vidscore_evaluators.explanation.answer import figure
from vidscore_evaluators.report import Curve, Number, Report, ReportWarning, Row, Scores, row_blocks
from vidscore_evaluators.trust.spread import mean_intervals
from vidscore_server.web.charts import report_charts
from vidscore_server.web.site.phrases import listed

MOST_ROWS = 200
"""Maximum number of parts of a report that are shown; the rest is in its JSON form."""


Ranking = Mapping[str, Sequence[str]]

Place = tuple[str | None, str | None, str | None]
"""Domain, label and sequence of a part; None for all of a kind."""

_KINDS = ("domain", "label", "sequence")


class PartTable(Struct, frozen=True):
    """Figures of parts of one kind that have the same measures.

    Attributes:
        kinds: What its names are, such as ``("domain", "label")``.
        measures: Names of its measures.
        rows: Names of each part, one per kind, with a text for each measure.
    """

    kinds: tuple[str, ...]
    measures: tuple[str, ...]
    rows: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]

    @property
    def title(self) -> str:
        """``By domain and label``."""
        return f"By {listed(self.kinds)}"


class ShownScore(Struct, frozen=True):
    """A score for a page.

    Attributes:
        evaluator: Name and version of its evaluator.
        over: Its part of the data, in words.
        partial: Whether frames without ground truth were left out.
        figures: Measures over everything with their values as texts.
        spreads: For ranking measures, the mean over sequences with its interval, if shown.
        parts: Figures of domains, labels and sequences; the first of them.
        part_count: Number of all parts.
        warnings: Warnings of the report.
        charts: Its curves.
    """

    evaluator: str
    over: str
    partial: bool
    figures: tuple[tuple[str, str], ...]
    spreads: Mapping[str, str]
    parts: tuple[PartTable, ...]
    part_count: int
    warnings: tuple[str, ...]
    charts: Sequence[Mapping[str, Any]]


def report_of(values: Mapping[str, Any]) -> Report:
    """A report from the plain values of its message."""
    return Report(
        evaluator=values["evaluator"],
        version=values["version"],
        parameters={entry["name"]: _parameter(entry) for entry in values["parameters"]},
        truth_digest=values["truth_digest"],
        detections_digest=values["detections_digest"],
        scores=Scores(
            blocks=row_blocks(map(_row, values["scores"])),
            curves=tuple(map(curve_of, values["curves"])),
            warnings=tuple(
                ReportWarning(entry["code"], entry["message"], entry["count"])
                for entry in values["warnings"]
            ),
        ),
        specification=values["specification"],
        software=values["software"],
        preset=values["preset"],
    )


def shown_scores(
    scores: Sequence[Mapping[str, Any]], title: str, ranking: Ranking, *, spread: bool = False
) -> list[ShownScore]:
    """Scores for a page, each followed by its other visible forms.

    These are its part over private sequences, and its score by streaming accuracy.

    Args:
        scores: The plain values of their messages.
        title: Name of the submission on curves.
        ranking: Measures that rank under each evaluator, first one first.
        spread: Whether intervals over sequences are shown.
    """
    found: list[ShownScore] = []

    def add(score: Mapping[str, Any], over: str) -> None:
        charts = sum(len(shown.charts) for shown in found)
        found.append(shown_score(score, title, ranking, over, spread=spread, charts_before=charts))

    for score in scores:
        private = score.get("private_report")
        over = "everything" if private is None else "all sequences that are not private"
        add(score, over)
        if score.get("streaming_report") is not None:
            add({**score, "report": score["streaming_report"]}, f"{over}, by streaming accuracy")
        if private is not None:
            add({**score, "report": private}, "the private sequences")
    return found


def shown_score(
    score: Mapping[str, Any],
    title: str,
    ranking: Ranking,
    over: str = "everything",
    *,
    drawn: bool = True,
    spread: bool = False,
    charts_before: int = 0,
) -> ShownScore:
    """A score for a page.

    Args:
        score: The plain values of its message.
        title: Name of the submission on curves.
        ranking: Measures that rank under each evaluator, first one first.
        over: Its part of the data, in words.
        drawn: Whether its curves are drawn.
        spread: Whether intervals over sequences are shown.
        charts_before: Number of charts that stand before its own on the page.
    """
    report = report_of(score["report"])
    rows = report.rows()
    first = list(ranking.get(report.evaluator, ()))
    places = {name: place for place, name in enumerate(first)}
    over_all = sorted(
        (row for row in rows if row[:3] == (None, None, None)),
        key=lambda row: places.get(row.measure, len(first)),
    )
    of_parts: dict[Place, dict[str, Number]] = {}
    for row in rows:
        if row[:3] != (None, None, None):
            of_parts.setdefault(row[:3], {})[row.measure] = row.value
    return ShownScore(
        evaluator=f"{report.evaluator} {report.version}",
        over=over,
        partial=score["partial"],
        figures=tuple((row.measure, figure(row.value)) for row in over_all),
        spreads=_spreads(report, first) if spread else {},
        parts=tuple(part_tables(islice(of_parts.items(), MOST_ROWS))),
        part_count=len(of_parts),
        warnings=tuple(warning.message for warning in report.warnings),
        charts=report_charts({title: [report]}, charts_before) if drawn else (),
    )


def part_tables(parts: Iterable[tuple[Place, Mapping[str, Number]]]) -> Iterator[PartTable]:
    """Tables of the parts that have the same kind and the same measures."""
    found: dict[tuple[tuple[str, ...], tuple[str, ...]], list[Any]] = {}
    for place, values in parts:
        named = [entry for entry in zip(_KINDS, place, strict=True) if entry[1] is not None]
        if named[0] == ("domain", "") and len(named) > 1:  # that of all data without domains
            del named[0]
        kinds, names = zip(*named, strict=True)
        texts = tuple(map(figure, values.values()))
        found.setdefault((kinds, tuple(values)), []).append((names, texts))
    for (kinds, measures), rows in found.items():
        yield PartTable(kinds, measures, tuple(rows))


def _spreads(report: Report, measures: Sequence[str]) -> dict[str, str]:
    """``0.8123 (0.7655 to 0.8570)`` by measure."""
    return {
        measure: f"{figure(found.value)} ({figure(found.low)} to {figure(found.high)})"
        for measure, found in mean_intervals(report, measures).items()
    }


def _parameter(entry: Mapping[str, Any]) -> Any:
    for name in ("boolean", "integer", "number", "text"):
        if entry[name] is not None:
            return entry[name]
    lists = entry["numbers"] or entry["texts"] or {"values": ()}
    return tuple(lists["values"])


def _row(entry: Mapping[str, Any]) -> Row:
    return Row(
        entry["domain"],
        entry["label"],
        entry["sequence"],
        entry["measure"],
        _value(entry["value"]),
    )


def curve_of(entry: Mapping[str, Any]) -> Curve:
    """A curve from the plain values of its message."""
    columns = {column["name"]: tuple(map(_value, column["values"])) for column in entry["columns"]}
    return Curve(entry["name"], columns, entry["domain"], entry["label"])


def _value(value: Mapping[str, Any] | None) -> Number:
    """A value; None if it is undefined."""
    if value is None:
        return None
    number: Number = value["count"] if value["count"] is not None else value["number"]
    return number
