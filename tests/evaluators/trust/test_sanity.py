"""The generators of sanity tests follow appendix 4."""

from __future__ import annotations

import numpy as np
import pytest

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.sanity.families import (
    SET_COUNT,
    SOUND_SETS,
    Draw,
    Family,
    round_half_up,
)

MULTICLASS = SANITY_TESTS["multiclass-detection"].draw_family
SINGLECLASS = SANITY_TESTS["singleclass-detection"].draw_family
TRACKING = SANITY_TESTS["tracking"].draw_family


def centres(side: Annotations) -> FloatArray:
    return (side.coordinates[:, :2] + side.coordinates[:, 2:]) / 2


def sizes(side: Annotations) -> FloatArray:
    return side.coordinates[:, 2:] - side.coordinates[:, :2]


def draws(count: int, strata: int = 40) -> list[Draw]:
    return [Draw(7, stratum, strata, 0) for stratum in range(count)]


@pytest.mark.parametrize("name", list(SANITY_TESTS))
def test_a_family_depends_only_on_its_own_draw(name: str) -> None:
    """The same draw gives the same columns; another seed or realisation gives others."""
    draw_family = SANITY_TESTS[name].draw_family

    def columns(draw: Draw) -> list[list[float]]:
        return [scene[1].coordinates.ravel().tolist() for scene in draw_family(draw).scenes]

    same = columns(Draw(1, 2, 4, 0))
    assert columns(Draw(1, 2, 4, 0)) == same
    if SANITY_TESTS[name].random:
        assert columns(Draw(2, 2, 4, 0)) != same
        assert columns(Draw(1, 2, 4, 1)) != same


def test_forty_strata_have_each_number_of_objects_once() -> None:
    counts = [MULTICLASS(draw).scenes[0][0].object_count for draw in draws(40)]
    assert counts == list(range(1, 41))


def test_object_numbers_keep_to_their_stratum() -> None:
    """In 4 strata the third has 21 to 30 objects."""
    counts = {Draw(seed, 2, 4, 0).object_count(1, 40, np.random.default_rng(seed))
              for seed in range(300)}  # fmt: skip
    assert counts == set(range(21, 31))


@pytest.mark.parametrize("draw_family", [MULTICLASS, SINGLECLASS])
def test_sound_sets_are_displaced_according_to_their_rank(draw_family: object) -> None:
    """Object n of set k is D[k] n / N px away, with D from 10 to 20, and grows by 1 px at most."""
    family: Family = draw_family(draws(30)[-1])  # type: ignore[operator]
    truth = family.scenes[0][0]
    labels = np.arange(1, 31) / 30
    for index in range(SOUND_SETS):
        found = family.scenes[index][1]
        moved = np.hypot(*(centres(found) - centres(truth)).T)
        assert moved == pytest.approx((10 + 10 * index / 19) * labels)
        changed = np.abs(sizes(found) - sizes(truth))
        assert 0.0 < changed.max() <= 1.0


def test_confidences_fall_with_label_and_rank() -> None:
    """Object n of set k has 1 - S[k] n / N, with S from 0.2 to 0.8."""
    family = MULTICLASS(draws(20)[-1])
    labels = np.arange(1, 21) / 20
    for index in range(SOUND_SETS):
        expected = 1 - (0.2 + 0.6 * index / 19) * labels
        assert family.scenes[index][1].confidences == pytest.approx(expected)


def test_a_single_class_has_no_confidences_and_no_other_class() -> None:
    for scene in SINGLECLASS(draws(25)[-1]).scenes:
        assert set(scene[1].confidences.tolist()) <= {1.0, np.nextafter(1.0, 0.0)}
        assert scene[1].labels == ("Car",)


def test_flawed_sets_have_the_numbers_of_mistakes_of_their_fractions() -> None:
    """40 objects: doubled 5 to 50 %, missed and mistaken 5 to 50 % of what is left each time."""
    for draw in [Draw(seed, 39, 40, 0) for seed in range(10)]:
        family = MULTICLASS(draw)
        truth = family.scenes[0][0]
        for index in range(SOUND_SETS, SET_COUNT):
            found = family.scenes[index][1]
            own, missed, doubled = _traced(truth, found, index)
            assert 2 <= doubled <= 20
            assert round_half_up(0.05 * (40 - doubled)) <= missed
            assert missed <= round_half_up(0.5 * (40 - doubled))
            mistaken = sum(
                int(found.label_indices[row] != truth.label_indices[label])
                for label, row in own.items()
            )
            assert mistaken <= round_half_up(0.5 * (40 - doubled - missed))


def _traced(truth: Annotations, found: Annotations, index: int) -> tuple[dict[int, int], int, int]:
    """Objects by label with their row, and how many are missed and doubled, told by confidence.

    A false is a bit less certain than its object, which is never missed.
    """
    expected = 1 - (0.2 + 0.6 * index / 19) * np.arange(1, 41) / 40
    own, doubled = {}, 0
    for label, confidence in enumerate(expected.tolist()):
        rows = np.flatnonzero(np.abs(found.confidences - confidence) < 1e-12)
        assert len(rows) <= 2
        doubled += len(rows) == 2
        if len(rows):
            own[label] = int(rows[np.argmax(found.confidences[rows])])
    return own, truth.object_count - len(own), doubled


def test_mistakes_grow_from_set_to_set() -> None:
    """Over many families, each flawed set has more detections that are no object than the last."""
    numbers = np.array(
        [
            [scene[1].object_count - scene[0].object_count for scene in MULTICLASS(draw).scenes]
            for draw in draws(40)
        ]
    ).mean(axis=0)
    assert (numbers[:SOUND_SETS] == 0).all()
    assert numbers[SOUND_SETS] < numbers[-1]


def test_reference_tracks_move_in_straight_lines_for_fifty_to_a_hundred_frames() -> None:
    """Speeds of 1 to 5 px a frame, heights of 20 px and more, widths that stay."""
    truth = TRACKING(Draw(3, 5, 10, 0)).scenes[0][0]
    assert truth.frame_count == 100
    for track in np.unique(truth.track_ids).tolist():
        rows = np.flatnonzero(truth.track_ids == track)
        frames = truth.object_frames[rows]
        assert 50 <= len(rows) <= 100
        assert (np.diff(frames) == 1).all()
        steps = np.diff(centres(truth)[rows], axis=0)
        assert steps == pytest.approx(np.broadcast_to(steps[0], steps.shape), abs=1e-9)
        assert 1.0 - 1e-9 <= np.hypot(*steps[0]) <= 5.0 + 1e-9
        width, height = sizes(truth)[rows].T
        assert np.ptp(width) == pytest.approx(0.0, abs=1e-9)
        assert height.min() >= 20.0 - 1e-9


def test_each_track_comes_once_in_a_frame() -> None:
    """Swapped identities, falses and random tracks included: the evaluators' own rule."""
    from vidscore_evaluators.annotations import Side

    evaluator = create_evaluator("clear")
    for scene in TRACKING(Draw(3, 9, 10, 0)).scenes:
        assert evaluator.faults(Side.DETECTIONS, scene[1]) == []


@pytest.mark.parametrize("name", ["ospa", "emd", "hausdorff"])
def test_figure_3_has_the_distances_stated_in_the_paper(name: str) -> None:
    """OSPA and EMD 0.25, 0.70, 0.85; Hausdorff 0.25, 0.70, 1."""
    evaluator = create_evaluator(name)
    scenes = SANITY_TESTS["figure-3"].draw_family(Draw(0, 0, 1, 0)).scenes
    found = [evaluator.report(evaluator.tally(*scene)).value(name) for scene in scenes]
    assert found == pytest.approx([0.25, 0.7, 1.0 if name == "hausdorff" else 0.85])


@pytest.mark.parametrize("name", ["ospa", "emd", "hausdorff"])
def test_figure_11_has_distances_of_2_s_over_10_plus_s(name: str) -> None:
    """With s = 2^(-k/2) for the scenarios 10 to 1, in the order from best to worst."""
    evaluator = create_evaluator(name)
    scenes = SANITY_TESTS["figure-11"].draw_family(Draw(0, 0, 1, 0)).scenes
    found = [evaluator.report(evaluator.tally(*scene)).value(name) for scene in scenes]
    shifts = [2 ** (-number / 2) for number in range(10, 0, -1)]
    assert found == pytest.approx([2 * shift / (10 + shift) for shift in shifts])
    assert [scene[0].object_count for scene in scenes] == [2**number for number in range(10, 0, -1)]
