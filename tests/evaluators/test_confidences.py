"""Scores of any size are confidences if only their order counts; other evaluators need 0 to 1."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vidscore_evaluators import read, score
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.live import StreamScorer
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.trust.systems import Contest
from vidscore_evaluators.validation import ConfidenceScale

LOGITS = (7.25, -1.8, 0.5, -1e300, 3.0)
"""Scores of five detections, the second and fourth of which match no object."""

BOXES = [(100.0 * place, 0.0, 100.0 * place + 50.0, 50.0) for place in range(len(LOGITS))]
_EXTENSIBLE = (
    *("f1", "hausdorff", "emd", "ospa"),
    *("track-hausdorff", "track-emd", "track-ospa", "ospa2"),
)
EXTENDED: dict[str, dict[str, Any]] = {
    **{name: {"confidence_extended": True} for name in _EXTENSIBLE},
    **{name: {"assignment": "optimal"} for name in ("map", "log-amr")},
    "neovision2": {},
}
"""Evaluators that need confidences from 0 to 1, with their parameters."""


def side(confidences: tuple[float, ...], places: tuple[int, ...] = (0, 1, 2, 3, 4)) -> Annotations:
    things = [Thing(BOXES[place], "Car", confidences[place], track_id=place) for place in places]
    return make_annotations({("Tower", "s"): {3: [], 4: things}}, arity=4)


TRUTH = side((1.0,) * 5, (0, 2, 4))
SURE = tuple(1 / (1 + rank) for rank in (0, 3, 2, 4, 1))
"""Confidences from 0 to 1 in the order of the logits."""


CRITERIA = (*(set(EXTENDED) - {"neovision2"}), "coco", "errors", "clear", "identity", "hota")


@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_if_only_order_counts_scores_of_any_size_equal_confidences_in_the_same_order(
    name: str,
) -> None:
    """Every criterion with its default parameters."""
    found, expected = (score(name, TRUTH, side(scores)) for scores in (LOGITS, SURE))
    assert (found.rows(), found.curves) == (expected.rows(), expected.curves)


@pytest.mark.parametrize("name", sorted(CRITERIA))
def test_objects_of_the_truth_have_confidence_1_whatever_the_file_says(name: str) -> None:
    given = side((0.25, 1.0, 0.75, 1.0, 0.5), (0, 2, 4))
    parameters = EXTENDED.get(name, {})
    found, expected = (score(name, truth, side(SURE), **parameters) for truth in (given, TRUTH))
    assert (found.rows(), found.curves) == (expected.rows(), expected.curves)


def test_a_confidence_of_the_truth_does_not_make_a_solid() -> None:
    """Squares of 10 px shifted by 5 px, the detection of confidence 1/2: 25 / (100 + 50 - 25)."""
    truth = make_annotations({("", "s"): {0: [Thing((0, 0, 10, 10), confidence=0.4)]}})
    found = make_annotations({("", "s"): {0: [Thing((5, 0, 15, 10), confidence=0.5)]}})
    report = score("ospa", truth, found, confidence_extended=True)
    assert report.value("ospa") == pytest.approx(1 - 25 / 125, abs=1e-15)


def test_confidences_of_the_truth_do_not_break_ties() -> None:
    """Of two equally similar objects the first by coordinates is taken, at x = 0.

    The second detection has an IoU of 2/3 with it, and shares nothing with the other object.
    """
    objects = [Thing((0, 0, 10, 10), confidence=0.1), Thing((10, 0, 20, 10), confidence=0.9)]
    detections = [Thing((5, 0, 15, 10), confidence=0.9), Thing((-5, 0, 10, 10), confidence=0.5)]
    sides = (make_annotations({("", "s"): {0: things}}) for things in (objects, detections))
    assert score("map", *sides, thresholds=[0.3]).value("ap") == 0.5


@pytest.mark.parametrize("name", EXTENDED)
def test_if_values_count_the_first_place_is_named_and_a_scale_suggested(name: str) -> None:
    """Once for all values out of range."""
    with pytest.raises(InputError) as caught:
        score(name, TRUTH, side(LOGITS), **EXTENDED[name])
    [fault] = caught.value.faults
    assert fault.found == "the confidence 7.25 in frame 4 of sequence Tower/s (and 3 more like it)"
    assert fault.expected == f"a number from 0 to 1 for {name}"
    assert "--confidence-scale sigmoid" in (fault.advice or "")


@pytest.mark.parametrize("name", EXTENDED)
@pytest.mark.parametrize("scale", ["sigmoid", "-1e300,10"])
def test_scaled_scores_are_accepted_everywhere(name: str, scale: str) -> None:
    report = score(name, TRUTH, side(LOGITS), confidence_scale=scale, **EXTENDED[name])
    mapped = ConfidenceScale.parse(scale).scaled(side(LOGITS))
    assert report.rows() == score(name, TRUTH, mapped, **EXTENDED[name]).rows()


def test_confidences_do_not_affect_the_similarity_of_points() -> None:
    """An optimal assignment of points uses only distances, and needs no range."""
    points = make_annotations({("", "s"): {0: [Thing((1.0, 1.0), "", 9.0)]}})
    report = score("map", points, points, base="euclidean", assignment="optimal")
    assert report.value("ap") == 1.0


def test_the_logistic_function_equals_its_formula_and_keeps_the_order() -> None:
    """1 / (1 + exp(-x)), without overflow at either end."""
    scores = (-1e308, -30.0, -1.8, -0.0, 0.5, 7.25, 1e308)
    mapped = ConfidenceScale.parse("sigmoid").scaled(_scored(scores)).confidences.tolist()
    assert mapped == sorted(mapped)
    for value, found in zip(scores[1:-1], mapped[1:-1], strict=True):
        assert found == pytest.approx(1 / (1 + math.exp(-value)), rel=1e-15)
    assert (mapped[0], mapped[-1]) == (0.0, 1.0)


def test_a_scale_maps_each_confidence_independently() -> None:
    """The bits are the same in the whole, in a part and at any place."""
    scores = tuple(np.random.default_rng(1).normal(0, 5, 101).tolist())
    for scale in map(ConfidenceScale.parse, ("sigmoid", "-100,100")):
        whole = scale.scaled(_scored(scores)).confidences
        for start, stop in ((0, 1), (3, 50), (50, 101)):
            part = scale.scaled(_scored(scores[start:stop])).confidences
            assert part.tolist() == whole[start:stop].tolist()


def _scored(scores: tuple[float, ...]) -> Annotations:
    things = [Thing((0.0, 0.0), "", value) for value in scores]
    return make_annotations({("", "s"): {0: things}}, arity=2)


def test_bounds_become_0_and_1() -> None:
    mapped = ConfidenceScale.parse("0,100").scaled(_scored((0.0, 25.0, 100.0))).confidences
    assert mapped.tolist() == [0.0, 0.25, 1.0]


def test_confidences_outside_the_bounds_are_refused_with_their_place() -> None:
    """Clipping would make unequal values equal."""
    with pytest.raises(
        InputError, match=r"the confidence 101 in frame 0 of sequence s .*from 0 to 100"
    ):
        ConfidenceScale.parse("0,100").scaled(_scored((5.0, 101.0, 102.0)))


@pytest.mark.parametrize("text", ["", "logistic", "1", "1,0", "0,0", "0,nan", "0,inf", "0,1,2"])
def test_an_invalid_scale_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="expected sigmoid, or MIN,MAX"):
        ConfidenceScale.parse(text)


def test_a_stream_refuses_the_batch_that_an_evaluator_cannot_use() -> None:
    """With the row of the frame; evaluators that use only the order continue."""
    for name in ("neovision2", "clear"):
        stream = StreamScorer([create_evaluator(name)])
        stream.add(Side.TRUTH, TRUTH)
        if name == "clear":
            stream.add(Side.DETECTIONS, side(LOGITS))
            assert stream.final_reports()[0].value("matches") == 3
            continue
        with pytest.raises(InputError) as caught:
            stream.add(Side.DETECTIONS, side(LOGITS))
        assert [fault.entry for fault in caught.value.faults] == [1]


def test_a_ranking_that_sweeps_a_minimum_confidence_needs_0_to_1() -> None:
    """The sweep goes from 0 to 0.95; evaluators without confidences have none."""
    systems = {"a": side(LOGITS), "b": side(SURE)}
    contest = Contest.of(TRUTH, systems)
    contest.check([create_evaluator("clear")])
    with pytest.raises(InputError, match="for the sweep over confidences; map them with"):
        contest.check([create_evaluator("map")])


def test_the_order_within_a_group_holds_for_any_range_of_confidences() -> None:
    """Detections of many frames from -1e308 to 1e308 rank the same as without the extremes."""
    frames = range(40)
    truth = {frame: [Thing(BOXES[0], "Car", 1.0)] for frame in frames}

    def found(least: float, greatest: float) -> Annotations:
        scores = {0: greatest, 1: least}
        return make_annotations(
            {
                ("", "s"): {
                    frame: [
                        Thing(BOXES[0], "Car", scores.get(frame, 0.5 - frame / 100)),
                        Thing(BOXES[0], "Car", scores.get(frame, 0.5 - frame / 100) / 2),
                        Thing(BOXES[1], "Car", 0.45),
                    ]
                    for frame in frames
                }
            }
        )

    expected, wide = (
        score("map", make_annotations({("", "s"): truth}), found(*ends))
        for ends in ((-5.0, 5.0), (-1e308, 1e308))
    )
    assert wide.rows() == expected.rows()


KITTI_TRUTH = "{frame} {track} Car 0 0 -1.8 {x} 196 {right} 252 1.6 1.6 4.0 -5.8 2.2 20.4 -10\n"
KITTI_FOUND = "{frame} {track} Car -1 -1 -1.8 {x} 196 {right} 252 1.6 1.6 4 -5 2 20 -10 {score}\n"
MOT_TRUTH = "{frame},{track},{x},196,80,56,1,1,1\n"
MOT_FOUND = "{frame},{track},{x},196,80,56,{score},-1,-1,-1\n"


def released(tmp_path: Path, truth: str, found: str, first_frame: int) -> tuple[Path, Path]:
    """Ten frames with two objects, and detections as trackers publish them: scores are logits."""
    random = np.random.default_rng(7)
    texts = {"truth": "", "found": ""}
    for frame in range(first_frame, first_frame + 10):
        for track in (1, 2):
            x = 200 * track + 3 * frame
            values = {"frame": frame, "track": track, "x": x, "right": x + 80}
            texts["truth"] += truth.format(**values)
            texts["found"] += found.format(score=f"{random.normal(0, 4):.4f}", **values)
    paths = (tmp_path / "truth" / "0001.txt", tmp_path / "found" / "0001.txt")
    for path, text in zip(paths, texts.values(), strict=True):
        path.parent.mkdir()
        path.write_text(text, encoding="utf-8")
    return paths[0].parent, paths[1].parent


@pytest.mark.parametrize(
    ("truth", "found", "first_frame"),
    [(KITTI_TRUTH, KITTI_FOUND, 0), (MOT_TRUTH, MOT_FOUND, 1)],
    ids=["kitti", "motchallenge"],
)
def test_released_results_are_scored(
    tmp_path: Path, truth: str, found: str, first_frame: int
) -> None:
    """KITTI's `score` and MOTChallenge's `conf` are logits; evaluators of 0 to 1 name the line."""
    paths = released(tmp_path, truth, found, first_frame)
    perfect = {"clear": "mota", "identity": "idf1", "hota": "hota", "map": "ap", "coco": "ap"}
    for name, measure in perfect.items():
        assert score(name, *paths).value(measure) == 1.0
    for name in ("neovision2", "map"):
        parameters = EXTENDED[name]
        with pytest.raises(InputError) as caught:
            score(name, *paths, **parameters)
        [fault] = caught.value.faults
        assert (fault.source, fault.line) == (str(paths[1] / "0001.txt"), 1)
        assert "--confidence-scale" in str(fault)
        assert score(name, *paths, confidence_scale="sigmoid", **parameters).rows()


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ((-1.0, -1.0), (1.0, 1.0)),
        ((-1.0, 0.25), (1.0, 0.25)),
        ((-1.0, -0.5), (-1.0, -0.5)),
        ((-1.0, 12.5), (-1.0, 12.5)),
    ],
)
def test_minus_one_means_no_confidence_in_mot_files_unless_other_values_are_scores(
    tmp_path: Path, scores: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    """Beside logits, -1 is a logit."""
    rows = [
        MOT_FOUND.format(frame=1, track=track, x=10, score=value)
        for track, value in enumerate(scores)
    ]
    path = tmp_path / "found.txt"
    path.write_text("".join(rows), encoding="utf-8")
    assert read(path, side="detections").confidences.tolist() == list(expected)
