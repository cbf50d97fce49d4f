"""Golden reports: small synthetic data whose scores may change only with the evaluator's version.

`tests/golden/spotgeo/<version>.json` holds cases of parameters, truth, detections, and the scores
and warnings of the report, which the oracle confirms. A change of rules needs a new version and a
new file: tests/evaluators/test_goldens.py checks that.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from typing import Any

import pytest
from tests.evaluators.spotgeo.oracle import frame_outcomes
from tests.support.goldens import golden_form, golden_of

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import make_annotations

GOLDEN = golden_of("spotgeo")


def read_side(entries: list[dict[str, Any]]) -> Annotations:
    frames: dict[tuple[str, str], dict[int, list[tuple[float, float]]]] = {}
    for entry in entries:
        key = (entry["domain"], entry["sequence"])
        frames.setdefault(key, {})[entry["frame"]] = [(x, y) for x, y in entry["points"]]
    return make_annotations(dict(frames), arity=2)


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_the_scores_of_a_version_do_not_change(case: dict[str, Any]) -> None:
    """The golden data gives the golden scores to the last bit."""
    evaluator = create_evaluator("spotgeo", case["parameters"])
    truth, detections = read_side(case["truth"]), read_side(case["detections"])
    assert golden_form(evaluator, truth, detections) == case["report"]


@pytest.mark.parametrize("case", GOLDEN["cases"], ids=lambda case: case["name"])
def test_the_oracle_confirms_the_golden(case: dict[str, Any]) -> None:
    """Hits and SSE of each sequence equal those of trying every matching of its frames."""
    given = {"profile": "protocol", "tau": 10.0, "epsilon": 3.0} | case["parameters"]
    found = {
        (entry["domain"], entry["sequence"], entry["frame"]): entry["points"]
        for entry in case["detections"]
    }
    hits: Counter[tuple[str, str]] = Counter()
    sse: defaultdict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for entry in case["truth"]:
        key = (entry["domain"], entry["sequence"])
        detections = found.get((*key, entry["frame"]), [])
        count, errors = frame_outcomes(entry["points"], detections, **given)
        mistakes = len(entry["points"]) + len(detections) - 2 * count
        hits[key] += count
        sse[key] += errors[0] + mistakes * Fraction(given["tau"]) ** 2
    for row in case["report"]["scores"]:
        key = (row["domain"] or "", row["sequence"])
        if row["sequence"] and row["measure"] in {"true_positives", "sse"}:
            expected = hits[key] if row["measure"] == "true_positives" else float(sse[key])
            assert row["value"] == pytest.approx(expected, rel=1e-14)
