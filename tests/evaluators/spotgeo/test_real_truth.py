"""The challenge's published truth, scored against itself."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tests.support.tree import ROOT

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.validation import Columns, build_annotations

TRUTH = ROOT.parent / "shared" / "data" / "spotgeo" / "train_anno.json"


@pytest.mark.parametrize("profile", ["protocol", "kelvins"])
def test_the_truth_is_valid_and_scores_perfectly_against_itself(profile: str) -> None:
    """F1 = 1 and MSE = 0 over 1280 sequences of five frames."""
    if not TRUTH.exists():
        # We may not ship it, so its absence is a failure nowhere.
        pytest.skip("the challenge's truth is not on this machine")
    entries = json.loads(TRUTH.read_text(encoding="utf-8"))
    names = list(dict.fromkeys(str(entry["sequence_id"]) for entry in entries))
    truth = build_annotations(
        Columns(
            arity=2,
            sequences=[("", name) for name in names],
            frame_sequences=[names.index(str(entry["sequence_id"])) for entry in entries],
            frame_numbers=[entry["frame"] for entry in entries],
            object_counts=[entry["num_objects"] for entry in entries],
            coordinates=np.array([xy for entry in entries for xy in entry["object_coords"]]),
        )
    )
    evaluator = create_evaluator("spotgeo", {"profile": profile})
    assert evaluator.faults(Side.TRUTH, truth) == ()
    [report] = score_annotations([evaluator], truth, truth)
    assert report.value("true_positives") == truth.object_count > 0
    assert (report.value("f1"), report.value("mse")) == (1.0, 0.0)
    assert {row.value for row in report.rows() if row.measure == "sse"} == {0.0}
    assert report.warnings == ()
