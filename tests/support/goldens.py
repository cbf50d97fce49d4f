"""Golden files, and the part of a report that they hold: what is computed from a tally.

Every report also has warnings about the input, and names of frames and labels in warnings. These
are not part of an evaluator's version.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.support.tree import ROOT

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.registry import evaluator_class
from vidscore_evaluators.report import Report, report_to_dict


def golden_of(name: str) -> dict[str, Any]:
    """The golden file of the present version of an evaluator."""
    path = ROOT / "tests/golden" / name / f"{evaluator_class(name).version}.json"
    golden: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return golden


def golden_form(
    evaluator: Evaluator[Any], truth: Annotations, detections: Annotations
) -> dict[str, Any]:
    """Scores and warnings in their JSON form."""
    tally = evaluator.tally(truth, detections)
    report = replace(evaluator.report(tally), scores=evaluator.scores(tally))
    return sealed_form(report, "scores", "warnings")


def sealed_form(report: Report, *keys: str) -> dict[str, Any]:
    """Parts of a report as golden files hold them: labels are classes, so seals stay valid."""

    def as_sealed(entry: dict[str, Any]) -> dict[str, Any]:
        return {"class" if key == "label" else key: value for key, value in entry.items()}

    document = report_to_dict(report)
    return {key: [as_sealed(entry) for entry in document[key]] for key in keys}
