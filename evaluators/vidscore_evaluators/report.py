"""Report: scores as tidy rows, curves and warnings, with provenance; and its JSON form.

Rows are kept as blocks of columns, so that a report of 100,000 rows has no Python object per row
until the rows are asked for. In JSON, undefined scores and absent dimensions are null and counts
are integers; `report_to_dict` and `report_from_dict` are inverse to each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.deferred import Deferred, DeferredField
from vidscore_evaluators.machine_text import json_text
from vidscore_evaluators.names import WantedNames, advice_on_names, advice_on_places

if TYPE_CHECKING:
    from vidscore_evaluators.data_frames import Backend
    from vidscore_evaluators.figures.plots import Axes
    from vidscore_evaluators.figures.report_curves import By
    from vidscore_evaluators.report_frames import Form

Number = int | float | None
"""A score: a count, a figure, or None if it is undefined."""


class Row(NamedTuple):
    """One score; a dimension of None means all domains, classes or sequences."""

    domain: str | None
    label: str | None
    sequence: str | None
    measure: str
    value: Number


_ALL: Deferred[Sequence[str | None]] = Deferred.of((None,))


@dataclass(frozen=True)
class Block:
    """K x M scores: M measures of each of K (domain, class, sequence).

    Attributes:
        domains: K domains, or one for all.
        classes: K classes, or one for all.
        sequences: K sequences, or one for all.
        measures: For each measure its K values.
    """

    measures: DeferredField[Mapping[str, Sequence[Number]]] = DeferredField()
    domains: DeferredField[Sequence[str | None]] = DeferredField(_ALL)
    classes: Sequence[str | None] = (None,)
    sequences: DeferredField[Sequence[str | None]] = DeferredField(_ALL)

    def rows(self) -> Iterator[Row]:
        """Rows, key by key, the measures of a key together."""
        count = len(next(iter(self.measures.values()), ()))
        keys = zip(
            _stretch(self.domains, count),
            _stretch(self.classes, count),
            _stretch(self.sequences, count),
            strict=True,
        )
        for index, (domain, label, sequence) in enumerate(keys):
            for measure, values in self.measures.items():
                yield Row(domain, label, sequence, measure, values[index])

    def find(self, key: tuple[str | None, str | None, str | None], measure: str) -> int | None:
        """Row of a domain, class and sequence; None if the measure or key is absent.

        It searches the columns and makes no row objects, of which there may be 100,000.
        """
        rows: Sequence[int] = range(len(self.measures.get(measure, ())))
        for column, wanted in zip((self.domains, self.classes, self.sequences), key, strict=True):
            if len(column) == 1:
                rows = rows if column[0] == wanted else range(0)
            elif len(rows):
                rows = [row for row in rows if column[row] == wanted]
        return rows[0] if rows else None


_AT_THRESHOLD = re.compile(r"_-?\d+(\.\d+)?$")
"""Suffix of the names of curves that differ only in a threshold."""


class Curve(Struct, frozen=True):
    """Points in order, as columns of equal length by name."""

    name: str
    columns: Mapping[str, Sequence[Number]]
    domain: str | None = None
    label: str | None = None

    @property
    def kind(self) -> str:
        """Name without a threshold at its end: ``precision_recall`` of ``precision_recall_50``."""
        return _AT_THRESHOLD.sub("", self.name)

    def points(self) -> list[dict[str, Number]]:
        """Points as dictionaries."""
        names = list(self.columns)
        return [
            dict(zip(names, values, strict=True))
            for values in zip(*self.columns.values(), strict=True)
        ]


NOTES = frozenset(
    {
        "chosen_frames",
        "column_alias",
        "dont_care",
        "dont_care_frames",
        "detections_in_dont_care_frames",
        "detections_in_regions",
        "in_regions",
        "objects_in_regions",
        "sequences_without_detections",
        "streaming_accuracy",
    }
)
"""Codes of warnings that only report how input was read, or what don't-care rules removed. They
need no action."""


class FrameExample(NamedTuple):
    """A frame that a warning cites."""

    side: Side
    sequence: SequenceKey
    frame: int


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """A warning about the input or the scores.

    Attributes:
        code: A stable code.
        message: A sentence: the problem, an example and the remedy.
        count: Number of occurrences.
        example: The frame that the message cites, to locate it in a file; not in the JSON form.
    """

    code: str
    message: str
    count: int = 1
    example: FrameExample | None = field(default=None, compare=False, repr=False)

    @property
    def is_note(self) -> bool:
        """Whether it is informational: no reason to doubt, or to refuse, scores."""
        return self.code in NOTES


_NO_WARNINGS: Deferred[tuple[ReportWarning, ...]] = Deferred.of(())
_NO_CURVES: Deferred[tuple[Curve, ...]] = Deferred.of(())


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores, curves and warnings of a tally; a `Report` adds provenance.

    Equal scores have the same rows, however these are divided into blocks. Curves, which may take
    longer than all scores, may be computed when they are first read.
    """

    blocks: tuple[Block, ...]
    curves: DeferredField[tuple[Curve, ...]] = DeferredField(_NO_CURVES)
    warnings: DeferredField[tuple[ReportWarning, ...]] = DeferredField(_NO_WARNINGS)

    def __eq__(self, other: object) -> bool:
        """Whether rows, points of curves and warnings are the same, in order."""
        return isinstance(other, Scores) and self._compared() == other._compared()

    __hash__ = None  # type: ignore[assignment]  # as of all that may hold lists

    def _compared(self) -> tuple[object, ...]:
        rows = [row for block in self.blocks for row in block.rows()]
        curves = [(one.name, one.domain, one.label, one.points()) for one in self.curves]
        return rows, curves, self.warnings


@dataclass(frozen=True)
class Report:
    """Scores of one evaluator with their provenance.

    The report of a small input (at most `vidscore_evaluators.jobs.DEFERRED_BYTES`) computes its
    digests and warnings when they are first read, and holds the columns of both sides until then.

    Attributes:
        evaluator: Name of the evaluator.
        version: Its version.
        parameters: Its resolved parameters.
        truth_digest: Fingerprint of the truth, 32 hexadecimal digits.
        detections_digest: Fingerprint of the detections.
        specification: The benchmark specification in its JSON form.
        software: Versions of vidscore, numpy and scipy.
        scores: Blocks, curves and warnings.
        preset: Name of the preset that asked for the evaluator; None if none did.
        selection: The part of the data that was scored, as `vidscore_evaluators.selection` has it;
            empty for all.
    """

    evaluator: str
    version: str
    parameters: Mapping[str, Any]
    truth_digest: DeferredField[str] = DeferredField()
    detections_digest: DeferredField[str] = DeferredField()
    scores: Scores  # type: ignore[misc]  # the two above have no default, which mypy cannot see
    specification: Mapping[str, Any] = field(default_factory=dict)
    software: Mapping[str, str] = field(default_factory=dict)
    preset: str | None = None
    selection: Mapping[str, Any] = field(default_factory=dict)

    def rows(self) -> list[Row]:
        """Every score as a row."""
        return [row for block in self.scores.blocks for row in block.rows()]

    @property
    def curves(self) -> tuple[Curve, ...]:
        """Every curve."""
        return self.scores.curves

    @property
    def warnings(self) -> tuple[ReportWarning, ...]:
        """Every warning."""
        return self.scores.warnings

    def value(
        self,
        measure: str,
        *,
        domain: str | None = None,
        label: str | None = None,
        sequence: str | None = None,
    ) -> Number:
        """One score; None if it is undefined.

        Raises:
            KeyError: If the report has no such row; the message lists the names that it has.
        """
        for block in self.scores.blocks:
            place = block.find((domain, label, sequence), measure)
            if place is not None:
                return block.measures[measure][place]
        rows, asked = self.rows(), (domain, label, sequence)
        places = [
            row[:3]
            for row in rows
            if row.measure == measure
            and all(name in (None, own) for name, own in zip(asked, row, strict=False))
        ]
        wanted: WantedNames = {
            "measures": (measure, [row.measure for row in rows]),
            "domains": (domain, [row.domain for row in rows]),
            "classes": (label, [row.label for row in rows]),
            "sequences": (sequence, [row.sequence for row in rows]),
        }
        raise KeyError(
            f"no score {measure!r} for domain {domain!r}, class {label!r}, "
            f"sequence {sequence!r}; {advice_on_places(places) or advice_on_names(wanted)}"
        )

    def curve(self, name: str, *, domain: str | None = None, label: str | None = None) -> Curve:
        """One curve.

        Raises:
            KeyError: If the report has no such curve; the message lists the names that it has.
        """
        for curve in self.curves:
            if (curve.name, curve.domain, curve.label) == (name, domain, label):
                return curve
        wanted: WantedNames = {
            "curves": (name, [curve.name for curve in self.curves]),
            "domains": (domain, [curve.domain for curve in self.curves]),
            "classes": (label, [curve.label for curve in self.curves]),
        }
        raise KeyError(
            f"no curve {name!r} for domain {domain!r}, class {label!r}; {advice_on_names(wanted)}"
        )

    def frame(self, form: Form = "wide", *, backend: Backend = "pandas") -> Any:
        """The scores as a data frame.

        Args:
            form: ``wide`` for one row per domain, label and sequence with a column per measure,
                ``long`` for one row per score. A null dimension means all of its values; a null
                score is undefined.
            backend: ``pandas``, ``polars`` or ``pyarrow``.

        Returns:
            A `pandas.DataFrame`, `polars.DataFrame` or `pyarrow.Table`.

        Raises:
            MissingExtraError: If the library is not installed.
            ParameterError: If the form or the backend is unknown.
        """
        from vidscore_evaluators.data_frames import data_frame  # noqa: PLC0415 - few need it
        from vidscore_evaluators.report_frames import report_columns  # noqa: PLC0415

        return data_frame(report_columns(self, form), backend)

    def plot(
        self,
        name: str,
        *,
        ax: Axes | None = None,
        domain: str | None = None,
        label: str | None = None,
        by: By | None = None,
        system: str = "",
        **columns: str,
    ) -> Axes:
        """Draw a curve with matplotlib; see `vidscore.plot`, which also takes several reports.

        ``report.plot("roc", by="label")``

        Args:
            name: Name of a curve, or the common name of several that differ in their threshold.
            ax: Axes to draw on; new ones by default.
            domain: The domain; None for the curve over all domains or, without one, a line per
                domain.
            label: The label; likewise.
            by: ``domain`` or ``label`` for one line per value.
            system: Name of this report's lines.
            columns: Columns for the axes ``x`` and ``y``; by default the usual ones.

        Returns:
            The axes that were drawn on.

        Raises:
            MissingExtraError: If matplotlib is not installed.
            ParameterError: If the report has no such curve; the text lists those that it has.
        """
        from vidscore_evaluators.figures.plots import plot  # noqa: PLC0415 - few need it

        return plot({system: self}, name, ax=ax, domain=domain, label=label, by=by, **columns)

    def __repr__(self) -> str:
        """The scores as tables, at most 40 lines."""
        from vidscore_evaluators.report_text import report_text  # noqa: PLC0415 - few need it

        return report_text(self)

    def _repr_html_(self) -> str:
        """The same for a notebook, with curves."""
        from vidscore_evaluators.report_text import report_html  # noqa: PLC0415 - few need it

        return report_html(self)

    def to_json(self, indent: int | None = 2) -> str:
        """JSON text of the report; equal reports give equal text."""
        return report_to_json(self, indent)


def overall_scores(report: Report) -> dict[str, Number]:
    """The scores over everything, by measure."""
    return {
        row.measure: row.value
        for block in report.scores.blocks
        if None in block.domains and None in block.classes and None in block.sequences
        for row in block.rows()
        if row[:3] == (None, None, None)
    }


def with_warnings(report: Report, warnings: Sequence[ReportWarning]) -> Report:
    """The report with further warnings in front of its own."""
    # Warnings about both the files and the specification appear once.
    further = tuple(entry for entry in warnings if entry not in report.scores.warnings)
    if not further:
        return report
    scores = replace(report.scores, warnings=(*further, *report.scores.warnings))
    return replace(report, scores=scores)


def _stretch(values: Sequence[str | None], count: int) -> Sequence[str | None]:
    return tuple(values) * count if len(values) == 1 else values


def report_to_dict(report: Report) -> dict[str, Any]:
    """A report as dictionaries, lists, strings and numbers, in a stable order."""
    return {
        "evaluator": report.evaluator,
        "version": report.version,
        **({} if report.preset is None else {"preset": report.preset}),
        "parameters": dict(report.parameters),
        "truth_digest": report.truth_digest,
        "detections_digest": report.detections_digest,
        "software": dict(report.software),
        "specification": dict(report.specification),
        **({"selection": dict(report.selection)} if report.selection else {}),
        "scores": [
            {
                "domain": row.domain,
                "label": row.label,
                "sequence": row.sequence,
                "measure": row.measure,
                "value": row.value,
            }
            for row in report.rows()
        ],
        "curves": [
            {
                "domain": curve.domain,
                "label": curve.label,
                "name": curve.name,
                "points": curve.points(),
            }
            for curve in report.curves
        ],
        "warnings": [
            {"code": warning.code, "message": warning.message, "count": warning.count}
            for warning in report.warnings
        ],
    }


def report_to_json(report: Report, indent: int | None = 2) -> str:
    """A report as JSON text; equal reports give equal text."""
    return json_text(report_to_dict(report), indent)


def report_from_dict(document: Mapping[str, Any]) -> Report:
    """Inverse of `report_to_dict`.

    Raises:
        KeyError: If a key is missing.
    """
    return Report(
        evaluator=document["evaluator"],
        version=document["version"],
        parameters={
            name: tuple(value) if isinstance(value, list) else value
            for name, value in document["parameters"].items()
        },
        truth_digest=document["truth_digest"],
        detections_digest=document["detections_digest"],
        scores=Scores(
            blocks=row_blocks(map(_row, document["scores"])),
            curves=tuple(_curve(entry) for entry in document["curves"]),
            warnings=tuple(ReportWarning(**entry) for entry in document["warnings"]),
        ),
        specification=document["specification"],
        software=document["software"],
        preset=document.get("preset"),
        selection=document.get("selection", {}),
    )


def row_blocks(rows: Iterable[Row]) -> tuple[Block, ...]:
    """Rows as blocks, in their order: successive keys with the same measures share a block."""
    blocks = []
    for measures, parts in groupby(_by_key(rows), itemgetter(0)):
        _, keys, values = zip(*parts, strict=True)
        columns = dict(zip(measures, zip(*values, strict=True), strict=True))
        blocks.append(Block(columns, *zip(*keys, strict=True)))
    return tuple(blocks)


_Key = tuple[str | None, str | None, str | None]


def _by_key(rows: Iterable[Row]) -> Iterator[tuple[tuple[str, ...], _Key, tuple[Number, ...]]]:
    """Measures, key and values of successive rows with one key, each measure once."""
    for key, own in groupby(rows, lambda row: row[:3]):
        values: dict[str, Number] = {}
        for row in own:
            if row.measure in values:
                yield tuple(values), key, tuple(values.values())
                values = {}
            values[row.measure] = row.value
        yield tuple(values), key, tuple(values.values())


def _label(entry: Mapping[str, Any]) -> str | None:
    """The label of a score or curve; reports of version 0.1 call it ``class``."""
    label: str | None = entry["class"] if "class" in entry else entry["label"]
    return label


def _row(entry: Mapping[str, Any]) -> Row:
    places = (entry["domain"], _label(entry), entry["sequence"])
    return Row(*places, entry["measure"], entry["value"])


def _curve(entry: Mapping[str, Any]) -> Curve:
    points = entry["points"]
    names = list(points[0]) if points else []
    columns = {name: tuple(point[name] for point in points) for name in names}
    return Curve(entry["name"], columns, entry["domain"], _label(entry))
