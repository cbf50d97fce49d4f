"""Golden reports: small synthetic data whose scores may change only with the evaluator's version.

`tests/golden/neovision2/<version>.json` holds the data, and for several parameters the scores,
curves and warnings, which the oracle confirms. A change of rules needs a new version and a new
file: tests/evaluators/test_goldens.py checks that.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.evaluators.neovision2 import oracle
from tests.support.goldens import golden_of

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations

GOLDEN = golden_of("neovision2")


def read_side(side: str) -> Annotations:
    """One side from entries [domain, sequence, frame, is don't-care, objects]."""
    frames: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    left_out = []
    for domain, sequence, frame, dont_care, objects in GOLDEN[side]:
        things = [
            Thing(tuple(corners), label, sure, -1, flag) for corners, label, sure, flag in objects
        ]
        frames.setdefault((domain, sequence), {})[frame] = things
        if dont_care:
            left_out.append(((domain, sequence), frame))
    return make_annotations(dict(frames), arity=8, dont_care=left_out)


TRUTH, DETECTIONS = read_side("truth"), read_side("detections")


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_the_scores_of_a_version_do_not_change(case: dict[str, Any]) -> None:
    """The golden data gives the golden scores, curves and warnings to the last bit."""
    evaluator = create_evaluator("neovision2", case["parameters"])
    report = evaluator.report(evaluator.tally(TRUTH, DETECTIONS))
    assert [list(row) for row in report.rows()] == case["scores"]
    curves = [
        [curve.domain, curve.label, [list(point.values()) for point in curve.points()]]
        for curve in report.curves
    ]
    assert curves == case["curves"]
    assert {warning.code: warning.count for warning in report.warnings} == case["warnings"]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_the_oracle_confirms_the_golden(case: dict[str, Any]) -> None:
    """Scores and curves equal those of the protocol applied frame by frame."""
    rules = oracle.rules_of(create_evaluator("neovision2", case["parameters"]).parameters)
    expected = oracle.expected_report(TRUTH, DETECTIONS, rules)
    oracle.check_rows({tuple(key): value for *key, value in case["scores"]}, expected)
    curves = {(domain, label): points for domain, label, points in case["curves"]}
    assert curves == {
        key: [list(point.values()) for point in points] for key, points in expected.curves.items()
    }
