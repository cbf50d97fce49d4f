"""The evaluator agrees with a slow and exact reading of the protocol, on difficult scenes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.evaluators.neovision2 import oracle

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.neovision2 import Neovision2
from vidscore_evaluators.neovision2._input import Neovision2Parameters
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing.examples import Thing, example_count, make_annotations

pytestmark = pytest.mark.slow

LABELS = ("Car", "car", "BUS", "Boat", "DCR", "Ambiguous")
CONFIDENCES = (0.0, 0.04999, 0.05, 0.15, 0.5, 0.55, 0.949999, 0.95, 1.0)
FLAGS = (0, 0, 0, 0, ObjectFlag.IGNORE, ObjectFlag.REGION)


def corners() -> st.SearchStrategy[tuple[float, ...]]:
    """Quadrilaterals on a coarse lattice: mostly upright, some rotated, crossed or flat."""
    number = st.integers(0, 8).map(float)
    side = st.integers(0, 6).map(float)
    upright = st.builds(
        lambda x, y, w, h: (x, y, x + w, y, x + w, y + h, x, y + h), number, number, side, side
    )
    return st.one_of(upright, upright, upright, st.tuples(*[number] * 8))


def frames(*, is_truth: bool) -> st.SearchStrategy[dict[int, list[Thing]]]:
    thing = st.builds(
        Thing,
        coordinates=corners(),
        label=st.sampled_from(LABELS),
        confidence=st.just(1.0) if is_truth else st.sampled_from(CONFIDENCES),
        flags=st.sampled_from(FLAGS) if is_truth else st.just(0),
    )
    things = st.lists(thing, max_size=5).filter(_has_few_regions)
    return st.dictionaries(st.integers(0, 3), things, min_size=1, max_size=2)


def _has_few_regions(things: list[Thing]) -> bool:
    """Inclusion and exclusion over many regions would take the oracle too long."""
    return sum(thing.flags == ObjectFlag.REGION for thing in things) <= 2


@st.composite
def scenes(draw: st.DrawFn) -> tuple[Annotations, Annotations]:
    keys = draw(
        st.lists(
            st.tuples(st.sampled_from(("Tower", "helicopter F", "")), st.sampled_from("ab")),
            min_size=1,
            max_size=2,
            unique=True,
        )
    )
    truth = {key: draw(frames(is_truth=True)) for key in keys}
    detections = {key: draw(frames(is_truth=False)) for key in keys}
    listed = [(key, number) for key in keys for number in truth[key]]
    left_out = draw(st.lists(st.sampled_from(listed), max_size=1))
    return (
        make_annotations(truth, arity=8, dont_care=left_out),
        make_annotations(detections, arity=8),
    )


def parameters() -> st.SearchStrategy[Neovision2Parameters]:
    return st.builds(
        Neovision2Parameters,
        overlap_threshold=st.sampled_from((0.2, 0.2, 0.25, 0.5, 1.0)),
        region_share=st.sampled_from((0.2, 0.2, 0.5, 0.0, 1.0)),
        c_m=st.sampled_from((1.0, 0.1, 0.0)),
        c_f=st.sampled_from((1.0, 0.3, 0.0)),
        confidence_threshold=st.sampled_from((0.0, 0.0, 0.05, 0.5, 1.0)),
        frames=st.sampled_from(("listed", "all")),
        merged_shape=st.sampled_from(("box", "union")),
        thresholds=st.sampled_from(("ten", "all")),
        az_limit=st.sampled_from((1.0, 0.4, 10.0)),
    )


def score(chosen: Any, truth: Annotations, detections: Annotations) -> Report:
    evaluator = Neovision2(chosen)
    return evaluator.report(evaluator.tally(truth, detections))


@settings(max_examples=example_count(40))
@given(scene=scenes(), chosen=parameters())
def test_every_row_and_curve_equals_the_protocol_applied_frame_by_frame(
    scene: tuple[Annotations, Annotations], chosen: Any
) -> None:
    truth, detections = scene
    report = score(chosen, truth, detections)
    expected = oracle.expected_report(truth, detections, oracle.rules_of(chosen))
    rows = {row[:4]: row.value for row in report.rows()}
    assert len(report.rows()) == len(rows)
    oracle.check_rows(rows, expected)
    curves = {(curve.domain, curve.label): curve.points() for curve in report.curves}
    assert curves == expected.curves
