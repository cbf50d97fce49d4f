"""Reports: scores, with everything that identifies their inputs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

Number = int | float | None
"""A score: a count, a figure, or None if it is undefined."""


class Row(NamedTuple):
    """One score and its scope; None means "all of them"."""

    domain: str | None
    label: str | None
    sequence: str | None
    measure: str
    value: Number


@dataclass(frozen=True)
class Curve:
    """Points in order, as columns of equal length by name.

    Attributes:
        name: Name of the curve.
        columns: Coordinates of the points, by name.
        domain: Its domain; None for all.
        label: Its class; None for all.
    """

    name: str
    columns: Mapping[str, tuple[Number, ...]]
    domain: str | None = None
    label: str | None = None

    def points(self) -> list[dict[str, Number]]:
        """Points as dictionaries."""
        names = list(self.columns)
        return [
            dict(zip(names, values, strict=True))
            for values in zip(*self.columns.values(), strict=True)
        ]


@dataclass(frozen=True)
class ReportWarning:
    """A doubt about the scores: a stable code, a sentence, and a count."""

    code: str
    message: str
    count: int = 1


@dataclass(frozen=True)
class Report:
    """Scores of one evaluator.

    Attributes:
        evaluator: Name of the evaluator.
        version: Its version.
        parameters: Every parameter with its value.
        truth_digest: Fingerprint of the truth, 32 hexadecimal digits.
        detections_digest: Fingerprint of the detections.
        software: Versions of the server's software, on which the last bits may depend.
        specification: The specification of the scoring, in its JSON form.
        scores: Every score.
        curves: Every curve.
        warnings: Every warning.
        preset: Name of the evaluator's preset; None without one.
    """

    evaluator: str
    version: str
    parameters: Mapping[str, Any]
    truth_digest: str
    detections_digest: str
    software: Mapping[str, str]
    specification: Mapping[str, Any]
    scores: tuple[Row, ...]
    curves: tuple[Curve, ...]
    warnings: tuple[ReportWarning, ...]
    preset: str | None = None

    def rows(self) -> list[Row]:
        """Every score as a row, ready for ``pandas.DataFrame(report.rows())``."""
        return list(self.scores)

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
            KeyError: If the report has no such row; the text names the measures it has.
        """
        try:
            return self._values[domain, label, sequence, measure]
        except KeyError:
            known = ", ".join(sorted({row.measure for row in self.scores}))
            raise KeyError(
                f"no score {measure!r} for domain {domain!r}, class {label!r}, "
                f"sequence {sequence!r}; measures of this report: {known}"
            ) from None

    def curve(self, name: str, *, domain: str | None = None, label: str | None = None) -> Curve:
        """One curve.

        Raises:
            KeyError: If the report has no such curve.
        """
        for curve in self.curves:
            if (curve.name, curve.domain, curve.label) == (name, domain, label):
                return curve
        raise KeyError(f"no curve {name!r} for domain {domain!r}, class {label!r}")

    def to_dict(self) -> dict[str, Any]:
        """The JSON form: absent dimensions and undefined values are None."""
        return {
            "evaluator": self.evaluator,
            "version": self.version,
            **({} if self.preset is None else {"preset": self.preset}),
            "parameters": dict(self.parameters),
            "truth_digest": self.truth_digest,
            "detections_digest": self.detections_digest,
            "software": dict(self.software),
            "specification": dict(self.specification),
            "scores": [
                dict(zip(("domain", "label", "sequence", "measure", "value"), row, strict=True))
                for row in self.scores
            ],
            "curves": [
                {
                    "domain": curve.domain,
                    "label": curve.label,
                    "name": curve.name,
                    "points": curve.points(),
                }
                for curve in self.curves
            ],
            "warnings": [
                {"code": warning.code, "message": warning.message, "count": warning.count}
                for warning in self.warnings
            ],
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The JSON form as text; equal reports give equal text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    @cached_property
    def _values(self) -> dict[tuple[str | None, str | None, str | None, str], Number]:
        return {
            (row.domain, row.label, row.sequence, row.measure): row.value for row in self.scores
        }


@dataclass(frozen=True, slots=True)
class Coverage:
    """Progress of both sides.

    Attributes:
        paired_frames: Number of frames that both sides have sent.
        frames_waiting_for_detections: Number of truth frames without received detections.
        frames_waiting_for_truth: Number of detection frames without received truth.
    """

    paired_frames: int
    frames_waiting_for_detections: int
    frames_waiting_for_truth: int


@dataclass(frozen=True, slots=True)
class LiveReport:
    """Scores over exactly the frames that both sides have sent.

    Attributes:
        reports: A report for each evaluator, in the order of the request.
        coverage: Progress of both sides.
    """

    reports: tuple[Report, ...]
    coverage: Coverage
