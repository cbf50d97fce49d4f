"""Sweeps of a parameter; that a grid in one tally equals one run a value is in the contract."""

from __future__ import annotations

import pytest

from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.jobs import sweep
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations


def test_values_that_no_tally_holds_are_run_one_by_one() -> None:
    """A sweep mixes grid values, others, and parameters without a held grid."""
    box = Thing((0, 0, 10, 10))
    truth = make_annotations({("", "v"): {0: [box]}})
    detections = make_annotations({("", "v"): {0: [Thing((0, 0, 6.3, 10))]}})
    for name in ("f1", "errors"):
        scores = sweep(create_evaluator(name), "threshold", truth, detections, [0.6, 0.63, 0.64])
        first = [
            entry.blocks[0].measures["f1" if name == "f1" else "ap"][0] for entry in scores.values()
        ]
        assert (list(scores), first) == ([0.6, 0.63, 0.64], [1.0, 1.0, 0.0])


def test_the_grid_is_that_of_the_base() -> None:
    """GIoU starts at -1; a parameter without a grid has none."""
    assert create_evaluator("f1", {"base": "giou"}).grid("threshold")[0] == -1.0
    assert len(create_evaluator("map").grid("thresholds")) == 21
    assert create_evaluator("errors").grid("interpolation") == ()


def test_values_out_of_bounds_are_refused() -> None:
    """A threshold above 1 is an error of the parameter."""
    nothing = make_annotations({}, arity=4)
    with pytest.raises(ParameterError, match="threshold"):
        sweep(create_evaluator("f1"), "threshold", nothing, nothing, [1.5])
