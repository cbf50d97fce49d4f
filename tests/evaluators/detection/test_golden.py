"""Golden reports of the detection criteria: they change only with an evaluator's version.

`tests/golden/<evaluator>/<version>.json` holds parameters and the scores of the report on
`golden_scene.json`, a small synthetic scene with ties, ignored objects, a crowd and a region.
Oracles check correctness elsewhere; this test makes sure that a change is intended.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.support.goldens import golden_form, golden_of

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations

NAMES = ("f1", "map", "coco", "log-amr", "errors")
SCENE: dict[str, Any] = json.loads(Path(__file__).with_name("golden_scene.json").read_text("utf-8"))


def side(name: str) -> Annotations:
    frames: dict[tuple[str, str], dict[int, list[Thing]]] = {}
    for entry in SCENE[name]:
        things = [
            Thing(
                tuple(thing["coordinates"]), thing["label"], thing["confidence"], -1, thing["flags"]
            )
            for thing in entry["objects"]
        ]
        frames.setdefault((entry["domain"], entry["sequence"]), {})[entry["frame"]] = things
    return make_annotations(dict(frames), arity=4)


@pytest.mark.parametrize("name", NAMES)
def test_the_scores_of_a_version_do_not_change(name: str) -> None:
    """The scene gives the golden scores to the last bit, for each of its parameters."""
    for case in golden_of(name)["cases"]:
        evaluator = create_evaluator(name, case["parameters"])
        assert golden_form(evaluator, side("truth"), side("detections")) == case["report"]
