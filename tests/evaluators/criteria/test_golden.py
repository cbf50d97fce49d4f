"""Golden reports of the detection criteria: they change only with an evaluator's version.

`tests/golden/<evaluator>/<version>.json` holds parameters and the scores of the report on
`golden_scene.json`, a small made-up scene with ties, ignored objects, a crowd and a
region. What is right is held elsewhere, by oracles; here a change must be meant. A change of rules
brings a new version, a new file and a new digest; a digest that stands here is never edited.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from tests.support.tree import ROOT

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report_json import report_to_dict
from vidscore_evaluators.testing import Thing, make_annotations

FOLDER = ROOT / "tests" / "golden"
DIGESTS = {
    "f1": "58c5bf39cadec2f34391af01ba2688c7e7fdbb6e6780d327dc99a0fc15e4595f",
    "map": "1d8975af73f75e93b8bf1ff623bdbea6bbcf8498298da2b6ce8146fe788d1f78",
    "coco": "337ee2af9d7def2a792c0ae6cd7c3b5cf8e92fc8e5d9481553ed664d53c81339",
    "log-amr": "0b57ee108e306460ff7bfa9dd39fbcc30ab60127bf7060ae6406a37748f76a41",
    "errors": "a58451949a1d05394f1e123e8eab0ee107ca638a232c36366497bb373b0eea7c",
}
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


@pytest.mark.parametrize("name", DIGESTS)
def test_the_scores_of_a_version_do_not_change(name: str) -> None:
    """The scene gives the golden's scores to the last bit, for each of its parameters."""
    path = FOLDER / name / f"{create_evaluator(name).version}.json"
    golden = json.loads(path.read_text("utf-8"))
    for case in golden["cases"]:
        evaluator = create_evaluator(name, case["parameters"])
        found = report_to_dict(evaluator.report(evaluator.tally(side("truth"), side("detections"))))
        assert {key: found[key] for key in ("scores", "warnings")} == case["report"]


@pytest.mark.parametrize("name", DIGESTS)
def test_a_golden_changes_only_with_the_version(name: str) -> None:
    """The file names the version that it holds for, and is the one that this version began with."""
    version = create_evaluator(name).version
    path = FOLDER / name / f"{version}.json"
    golden = json.loads(path.read_text("utf-8"))
    assert (golden["evaluator"], golden["version"]) == (name, version)
    assert hashlib.sha256(path.read_bytes()).hexdigest() == DIGESTS[name]
