"""Set distances as criteria: on the paper's scenes, averaged by hand, and against plain loops."""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from tests.evaluators.detection.oracle import Cell, Objects, cells_of, iou
from tests.evaluators.distances.test_kernels import ospa_by_definition
from tests.evaluators.matching.test_transport import cost_by_linear_programme

from vidscore_evaluators.annotations import BOX, FrameFlag, ObjectFlag
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.distances import sets
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.jobs import sweep
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.testing import Case, Thing, cases, make_annotations
from vidscore_evaluators.testing.examples import example_count

NAMES = ("ospa", "emd", "hausdorff")
VIDEO = ("", "video")

Frames = dict[int, list[Thing]]
Videos = dict[tuple[str, str], Frames]


def score(name: str, truth: Videos, detections: Videos, **parameters: object) -> Report:
    everything = [*truth.values(), *detections.values()]
    things = [thing for frames in everything for objects in frames.values() for thing in objects]
    arity = len(things[0].coordinates) if things else BOX
    evaluator = create_evaluator(name, parameters)
    return evaluator.report(
        evaluator.tally(
            make_annotations(truth, arity=arity), make_annotations(detections, arity=arity)
        )
    )


def values(truth: list[Thing], detections: list[Thing], **parameters: object) -> list[Number]:
    """OSPA, EMD and Hausdorff of one frame."""
    frames = {VIDEO: {0: truth}}, {VIDEO: {0: detections}}
    return [score(name, frames[0], frames[1], **parameters).value(name) for name in NAMES]


def squares(count: int, shift_px: float = 0.0) -> list[Thing]:
    """10 x 10 squares, 32 px from one to the next, shifted to the left."""
    lefts = [32.0 * index - shift_px for index in range(count)]
    return [Thing((left, 0.0, left + 10, 10.0)) for left in lefts]


def narrowed(count: int, overlap: float) -> list[Thing]:
    """The same squares cut to a width that gives the stated IoU with the whole ones."""
    return [Thing((32.0 * index, 0.0, 32.0 * index + 10 * overlap, 10.0)) for index in range(count)]


# --- the paper -------------------------------------------------------------------------------


def test_paper_figure_3() -> None:
    """A: three people at an IoU of 0.75; B: one at 0.3; C: B and a spurious detection."""
    spurious = Thing((500, 500, 510, 510))
    found = [
        values(squares(3), narrowed(3, 0.75)),
        values(squares(1), narrowed(1, 0.3)),
        values(squares(1), [*narrowed(1, 0.3), spurious]),
    ]
    expected = [(0.25, 0.25, 0.25), (0.70, 0.70, 0.70), (0.85, 0.85, 1.0)]
    for one, figures in zip(found, expected, strict=True):
        assert one == pytest.approx(figures, abs=1e-15)


@pytest.mark.parametrize("scenario", range(1, 11))
def test_paper_figure_11(scenario: int) -> None:
    """2^k squares shifted by s = 2^(-k/2): all three distances are 2s/(10 + s)."""
    shift = 2 ** (-scenario / 2)
    found = values(squares(2**scenario), squares(2**scenario, shift))
    assert found == pytest.approx([2 * shift / (10 + shift)] * 3, abs=1e-12)


def test_confidences_and_gaps_count_on_request() -> None:
    """10 x 10 boxes 5 apart, one with 0.5: IoU 1/3, GIoU 1/3, IoU~ 0.2, GIoU~ 1/30 (Alg. 1)."""
    sides = squares(1), [Thing((5, 0, 15, 10), confidence=0.5)]
    assert values(*sides) == pytest.approx([2 / 3] * 3)
    assert values(*sides, base="giou") == pytest.approx([1 / 3] * 3)
    assert values(*sides, confidence_extended=True) == pytest.approx([0.8] * 3)
    extended = values(*sides, base="giou", confidence_extended=True)
    assert extended == pytest.approx([(1 - 1 / 30) / 2] * 3)


def test_points_have_distances_up_to_the_cutoff() -> None:
    """5 px of 20, and 60 px, which counts as 20: 0.25 and 1."""
    truth = [Thing((0.0, 0.0)), Thing((100.0, 0.0))]
    detections = [Thing((3.0, 4.0)), Thing((160.0, 0.0))]
    found = values(truth, detections, base="euclidean", cutoff_px=20)
    assert found == [0.625, 0.625, 1.0]


# --- means -----------------------------------------------------------------------------------


def frames_of(*distances: float | None) -> tuple[Frames, Frames]:
    """Frames with one box and a detection at a distance, 1 for none; None for an empty frame."""
    truth: Frames = {}
    detections: Frames = {}
    for frame, distance in enumerate(distances):
        truth[frame] = [] if distance is None else squares(1)
        missed = distance is None or distance == 1.0
        detections[frame] = [] if missed else narrowed(1, 1 - (distance or 0.0))
    return truth, detections


@pytest.mark.parametrize("name", NAMES)
def test_every_evaluated_frame_counts_once(name: str) -> None:
    """Frames of all sequences together: (0.5 + 0.25 + 1 + 0 + 0) / 5, and 1.75 / 4 occupied."""
    first, second = frames_of(0.5, 0.25, 1.0), frames_of(0.0, None)
    truth = {("x", "a"): first[0], ("y", "b"): second[0]}
    detections = {("x", "a"): first[1], ("y", "b"): second[1]}
    report = score(name, truth, detections)
    assert report.value(name) == 0.35
    assert report.value(name, domain="x") == report.value(name, domain="x", sequence="a")
    assert report.value(name, domain="x") == pytest.approx(1.75 / 3, abs=1e-15)
    assert report.value(name, domain="y") == 0.0
    assert [report.value(count) for count in ("frames", "references", "predictions")] == [5, 4, 3]
    assert score(name, truth, detections, frames="occupied").value(name) == 1.75 / 4


def test_classes_of_the_reference_are_averaged() -> None:
    """Class a: 0.5 in one of two frames; b: missed in both; c is spurious and in no mean."""

    def of(label: str, things: list[Thing]) -> list[Thing]:
        return [Thing(thing.coordinates, label) for thing in things]

    truth = {VIDEO: {0: of("a", squares(1)) + of("b", squares(1)), 1: of("b", squares(1))}}
    detections = {VIDEO: {0: of("a", narrowed(1, 0.5)) + of("c", squares(1)), 1: []}}
    report = score("ospa", truth, detections)
    assert [report.value("ospa", label=name) for name in "abc"] == [0.25, 1.0, 0.5]
    assert report.value("ospa") == report.value("ospa", sequence="video") == 0.625
    together = score("ospa", truth, detections, classes="ignore")
    # Frame 0: the second detection lies on an object; frame 1: one missed.
    assert together.value("ospa") == ((0.5 + 0.0) / 2 + 1.0) / 2
    by_occupied = score("ospa", truth, detections, frames="occupied")
    assert by_occupied.value("ospa", label="a") == 0.5


def test_means_of_a_reference_that_is_always_empty() -> None:
    """Two empty sides have distance 0, spurious detections 1, and no frame gives null."""
    assert values([], []) == [0.0] * 3
    assert values([], squares(2)) == values(squares(2), []) == [1.0] * 3
    assert [score(name, {}, {}).value(name) for name in NAMES] == [None] * 3
    assert score("ospa", {VIDEO: {0: []}}, {}, frames="occupied").value("ospa") == 0.0


def test_parts_of_ospa_are_averaged_separately() -> None:
    """Frame 0: 0.5 of localisation; frame 1: the cut-off of 0.6 of cardinality."""
    truth, detections = frames_of(0.5, 1.0)
    report = score("ospa", {VIDEO: truth}, {VIDEO: detections}, cutoff=0.6)
    parts = [report.value(name) for name in ("ospa", "localisation", "cardinality")]
    assert parts == pytest.approx([0.55, 0.25, 0.3])


def test_unscored_rows_are_in_no_set() -> None:
    """A detection of an ignored object and one in a region are left out first."""
    ignored = Thing((100, 0, 110, 10), flags=ObjectFlag.IGNORE)
    region = Thing((200, 0, 300, 100), flags=ObjectFlag.REGION)
    detections = [*squares(1), Thing((101, 0, 111, 10)), Thing((210, 10, 220, 20))]
    assert values([*squares(1), ignored, region], detections) == [0.0] * 3


def test_the_cutoffs_of_a_sweep_are_those_of_the_thresholds() -> None:
    """OSPA_c of one pair at 0.3 is min(c, 0.3), for 20 cut-offs of IoU and 40 of GIoU."""
    sides = (
        make_annotations({VIDEO: {0: squares(1)}}),
        make_annotations({VIDEO: {0: narrowed(1, 0.7)}}),
    )
    swept = sweep(create_evaluator("ospa"), "cutoff", *sides)
    assert list(swept) == [step / 20 for step in range(1, 21)]
    for cutoff, scores in swept.items():
        assert scores.blocks[0].measures["ospa"][0] == pytest.approx(min(cutoff, 0.3))
    giou = create_evaluator("ospa", {"base": "giou"})
    assert giou.grid("cutoff") == tuple(step / 40 for step in range(1, 41))


# --- against plain loops ---------------------------------------------------------------------


def cell_distances(objects: Objects) -> dict[str, float]:
    """OSPA, EMD and Hausdorff of one cell by their definitions."""
    real, found = objects.real, [box for _, box in objects.detections]
    if not real or not found:
        return dict.fromkeys(NAMES, 1.0 if real or found else 0.0)
    matrix: FloatArray = np.array([[1 - iou(box, other) for other in found] for box in real])
    lonely = max(*matrix.min(axis=0), *matrix.min(axis=1))
    return {
        "ospa": ospa_by_definition(matrix, 1.0, 1.0),
        "emd": cost_by_linear_programme(matrix),
        "hausdorff": float(lonely),
    }


def expected_distances(cells: dict[Cell, Objects], frames: int) -> dict[str, float]:
    """Means over frames for each class of the reference, and over classes."""
    by_class: defaultdict[str, list[Objects]] = defaultdict(list)
    for (_, _, _, label), objects in cells.items():
        by_class[label].append(objects)
    present = [own for own in by_class.values() if any(objects.real for objects in own)]
    chosen = present or list(by_class.values())
    return {
        name: math.fsum(
            math.fsum(cell_distances(objects)[name] for objects in own) / frames for own in chosen
        )
        / max(1, len(chosen))
        for name in NAMES
    }


@settings(max_examples=example_count(40), deadline=None)
@given(cases(Needs((BOX,), (BOX,), confidences=True), object_flags=(0,)))
def test_figures_are_means_of_distances_by_definition(scene: Case) -> None:
    """Plain loops over frames and classes give the same figures."""
    cared = int(((scene.truth.frame_flags & FrameFlag.DONT_CARE) == 0).sum())
    cells = cells_of(*scene)
    for name in NAMES:
        evaluator = create_evaluator(name)
        value = evaluator.report(evaluator.tally(*scene)).value(name)
        expected = expected_distances(cells, cared)[name] if cared else None
        assert value == (None if expected is None else pytest.approx(expected, abs=1e-9))


def test_groups_are_computed_in_parts_of_bounded_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Dividing the groups of a shape into parts changes no bit."""
    random = np.random.default_rng(5)
    truth: Frames = {}
    detections: Frames = {}
    for frame in range(40):
        truth[frame] = squares(int(random.integers(0, 4)))
        detections[frame] = squares(int(random.integers(0, 4)), float(random.random()))
    sides = {VIDEO: truth}, {VIDEO: detections}
    whole = [score(name, *sides).rows() for name in NAMES]
    monkeypatch.setattr(sets, "CELLS_PER_PART", 8)
    assert [score(name, *sides).rows() for name in NAMES] == whole
