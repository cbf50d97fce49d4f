"""Report: scores out of a tally, as tidy rows, curves, warnings and where they come from.

Rows are kept as blocks of columns, so that a report of 100,000 rows costs no Python object a row
until someone asks for the rows. The JSON form is in `vidscore_evaluators.report_json`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vidscore_evaluators.annotations import SequenceKey, Side

Number = int | float | None
"""A score: a count, a figure, or None where it is undefined."""


class Row(NamedTuple):
    """One score, and what it is of; None stands for "all of them"."""

    domain: str | None
    class_: str | None
    sequence: str | None
    measure: str
    value: Number


@dataclass(frozen=True, slots=True)
class Block:
    """K x M scores: M measures of each of K (domain, class, sequence).

    Attributes:
        domains: K domains, or one for all.
        classes: K classes, or one for all.
        sequences: K sequences, or one for all.
        measures: For each measure its K values.
    """

    measures: Mapping[str, Sequence[Number]]
    domains: Sequence[str | None] = (None,)
    classes: Sequence[str | None] = (None,)
    sequences: Sequence[str | None] = (None,)

    def rows(self) -> Iterator[Row]:
        """Rows, key by key, the measures of a key together."""
        count = len(next(iter(self.measures.values()), ()))
        keys = zip(
            _stretch(self.domains, count),
            _stretch(self.classes, count),
            _stretch(self.sequences, count),
            strict=True,
        )
        for index, (domain, class_, sequence) in enumerate(keys):
            for measure, values in self.measures.items():
                yield Row(domain, class_, sequence, measure, values[index])


@dataclass(frozen=True, slots=True)
class Curve:
    """Points in order, as columns of equal length by name."""

    name: str
    columns: Mapping[str, Sequence[Number]]
    domain: str | None = None
    class_: str | None = None

    def points(self) -> list[dict[str, Number]]:
        """Points as dictionaries."""
        names = list(self.columns)
        return [
            dict(zip(names, values, strict=True))
            for values in zip(*self.columns.values(), strict=True)
        ]


NOTES = frozenset(
    {
        "column_alias",
        "dont_care",
        "dont_care_frames",
        "detections_in_dont_care_frames",
        "detections_in_regions",
        "in_regions",
        "objects_in_regions",
        "sequences_without_detections",
    }
)
"""Codes of warnings that only say how something was read, or what became of it as the ground truth
wants it; nothing needs to be done about them."""


class FrameExample(NamedTuple):
    """A frame of one side in which something is to be seen."""

    side: Side
    sequence: SequenceKey
    frame: int


@dataclass(frozen=True, slots=True)
class ReportWarning:
    """Something a reader of the scores should know.

    Attributes:
        code: A stable code.
        message: A sentence: what, where for example, and what to do.
        count: How often.
        example: The frame that the sentence names, for who can say where it stands in a file; no
            part of the JSON form.
    """

    code: str
    message: str
    count: int = 1
    example: FrameExample | None = field(default=None, compare=False, repr=False)

    @property
    def is_note(self) -> bool:
        """Whether it only says how something was read: no reason to doubt, or to refuse, scores."""
        return self.code in NOTES


@dataclass(frozen=True, slots=True)
class Scores:
    """What an evaluator computes from a tally; a `Report` adds where it comes from."""

    blocks: tuple[Block, ...]
    curves: tuple[Curve, ...] = ()
    warnings: tuple[ReportWarning, ...] = ()


@dataclass(frozen=True)
class Report:
    """Scores of one evaluator, with everything needed to know what they are scores of.

    Attributes:
        evaluator: Name of the evaluator.
        version: Its version.
        parameters: Its resolved parameters.
        truth_digest: Fingerprint of the truth, 32 hexadecimal digits.
        detections_digest: Fingerprint of the detections.
        specification: The benchmark specification in its JSON form.
        software: Versions of vidscore, numpy and scipy.
        scores: Blocks, curves and warnings.
    """

    evaluator: str
    version: str
    parameters: Mapping[str, Any]
    truth_digest: str
    detections_digest: str
    scores: Scores
    specification: Mapping[str, Any] = field(default_factory=dict)
    software: Mapping[str, str] = field(default_factory=dict)

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
        class_: str | None = None,
        sequence: str | None = None,
    ) -> Number:
        """One score; None where it is undefined.

        Raises:
            KeyError: If the report has no such row; the text names the measures it has.
        """
        wanted = (domain, class_, sequence, measure)
        for row in self.rows():
            if row[:4] == wanted:
                return row.value
        known = ", ".join(sorted({row.measure for row in self.rows()}))
        raise KeyError(
            f"no score {measure!r} for domain {domain!r}, class {class_!r}, "
            f"sequence {sequence!r}; measures of this report: {known}"
        )

    def curve(self, name: str, *, domain: str | None = None, class_: str | None = None) -> Curve:
        """One curve.

        Raises:
            KeyError: If the report has no such curve.
        """
        for curve in self.curves:
            if (curve.name, curve.domain, curve.class_) == (name, domain, class_):
                return curve
        raise KeyError(f"no curve {name!r} for domain {domain!r}, class {class_!r}")

    def to_json(self, indent: int | None = 2) -> str:
        """JSON text of the report; equal reports give equal text."""
        # The JSON form is written over this module, so it can only be imported here.
        from vidscore_evaluators.report_json import report_to_json  # noqa: PLC0415 - see above

        return report_to_json(self, indent)


def _stretch(values: Sequence[str | None], count: int) -> Sequence[str | None]:
    return tuple(values) * count if len(values) == 1 else values
