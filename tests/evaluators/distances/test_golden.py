"""Golden reports of the set distances: scores that may change only with an evaluator's version.

`tests/golden/<evaluator>/<version>.json` holds cases of parameters, truth, detections, and the
scores and warnings of the report, which plain loops confirm. A change of scores needs a new version
and a new file: tests/evaluators/test_goldens.py checks that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from tests.evaluators.detection.oracle import iou, solid_iou
from tests.evaluators.distances.test_kernels import ospa_by_definition
from tests.evaluators.matching.test_transport import cost_by_linear_programme
from tests.support.goldens import golden_form, golden_of

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations

NAMES = ("hausdorff", "emd", "ospa")


CASES = [(name, case) for name in NAMES for case in golden_of(name)["cases"]]
each_case = pytest.mark.parametrize(
    ("name", "case"), CASES, ids=[f"{name}-{case['name']}" for name, case in CASES]
)


def read_side(entries: list[dict[str, Any]], arity: int) -> Annotations:
    """Each entry is a frame; an object is its label, its confidence and its coordinates."""
    frames: defaultdict[tuple[str, str], dict[int, list[Thing]]] = defaultdict(dict)
    for entry in entries:
        frames[entry["domain"], entry["sequence"]][entry["frame"]] = [
            Thing(tuple(coordinates), label, confidence)
            for label, confidence, *coordinates in entry["objects"]
        ]
    return make_annotations(frames, arity=arity)


@each_case
def test_the_scores_of_a_version_do_not_change(name: str, case: dict[str, Any]) -> None:
    """The golden data gives the golden scores to the last bit."""
    truth, detections = (read_side(case[side], case["arity"]) for side in ("truth", "detections"))
    evaluator = create_evaluator(name, case["parameters"])
    assert golden_form(evaluator, truth, detections) == case["report"]


Object = Sequence[Any]
"""Label, confidence and coordinates."""


def base_distance(parameters: dict[str, Any], real: Object, found: Object) -> float:
    first, second = tuple(real[2:]), tuple(found[2:])
    if parameters.get("base") == "euclidean":
        return min(1.0, math.dist(first, second) / float(parameters["cutoff_px"]))
    if parameters.get("confidence_extended"):
        return 1 - solid_iou(first, second, found[1])
    return 1 - iou(first, second)


def set_distance(
    name: str, parameters: dict[str, Any], real: list[Object], found: list[Object]
) -> float:
    cutoff, order = parameters.get("cutoff", 1.0), parameters.get("order", 1.0)
    if not real or not found:
        return float(cutoff) if real or found else 0.0
    matrix = np.array([[base_distance(parameters, a, b) for b in found] for a in real])
    if name == "ospa":
        return ospa_by_definition(matrix, cutoff, order)
    if name == "emd":
        return float(cost_by_linear_programme(matrix**order) ** (1 / order))
    return float(max(*matrix.min(axis=0), *matrix.min(axis=1)))


@each_case
def test_plain_loops_confirm_the_golden(name: str, case: dict[str, Any]) -> None:
    """By definition, the figure of each class, over all domains, is the mean over frames."""
    found = {
        (entry["domain"], entry["sequence"], entry["frame"]): entry["objects"]
        for entry in case["detections"]
    }
    rows = {
        (row["domain"], row["class"], row["sequence"]): row["value"]
        for row in case["report"]["scores"]
        if row["measure"] == name
    }
    by_class = []
    for label in sorted({one[0] for entry in case["truth"] for one in entry["objects"]}):
        values = [
            set_distance(
                name,
                case["parameters"],
                [one for one in entry["objects"] if one[0] == label],
                [
                    one
                    for one in found.get((entry["domain"], entry["sequence"], entry["frame"]), [])
                    if one[0] == label
                ],
            )
            for entry in case["truth"]
        ]
        by_class.append(math.fsum(values) / len(values))
        if label:
            assert rows[None, label, None] == pytest.approx(by_class[-1], abs=1e-9)
    assert rows[None, None, None] == pytest.approx(sum(by_class) / len(by_class), abs=1e-9)
