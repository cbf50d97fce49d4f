"""The search for violations finds those that the paper proves, and none for a metric."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.trust.consistency import (
    IDENTITY,
    SYMMETRY,
    TRIANGLE,
    object_sets,
    search_violations,
)


@pytest.mark.parametrize(
    ("name", "parameters", "greatest"),
    [
        ("f1", {}, 1.0),
        ("map", {"thresholds": (0.5,)}, 1.0),
        ("log-amr", {}, 1.0),
        ("clear", {}, 2.0),
        ("identity", {}, 1.0),
    ],
)
def test_the_counterexamples_of_the_paper_are_found(
    name: str, parameters: Mapping[str, object], greatest: float
) -> None:
    """Appendix 1: x, y and y, z at 0, x, z as far as can be; MOTA's is 2."""
    found = search_violations(create_evaluator(name, parameters), set_count=4).counterexamples
    identity, triangle = found[IDENTITY], found[TRIANGLE]
    assert identity is not None
    assert identity.sets[0] != identity.sets[1]
    assert identity.dissimilarities["d(x, y)"] == pytest.approx(0.0, abs=1e-9)
    assert triangle is not None
    assert [len(objects) for objects in triangle.sets] == [1, 1, 1]
    assert triangle.dissimilarities == pytest.approx(
        {"d(x, z)": greatest, "d(x, y)": 0.0, "d(y, z)": 0.0}, abs=1e-9
    )


def test_hota_breaks_identity_and_the_triangle_inequality_too() -> None:
    """As the mean over thresholds: two shifts that no threshold notices add up to one that does."""
    found = search_violations(create_evaluator("hota"), set_count=4).counterexamples
    identity, triangle = found[IDENTITY], found[TRIANGLE]
    assert identity is not None
    assert triangle is not None
    parts = triangle.dissimilarities
    assert parts["d(x, z)"] > parts["d(x, y)"] + parts["d(y, z)"]


@pytest.mark.parametrize("name", ["log-amr", "clear"])
def test_criteria_that_distinguish_misses_from_false_alarms_are_not_symmetric(name: str) -> None:
    found = search_violations(create_evaluator(name), set_count=10).counterexamples[SYMMETRY]
    assert found is not None
    assert found.dissimilarities["d(x, y)"] != found.dissimilarities["d(y, x)"]


@pytest.mark.nightly
@pytest.mark.parametrize("base", ["iou", "giou"])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("hausdorff", {}),
        ("emd", {}),
        ("ospa", {}),
        ("ospa", {"cutoff": 0.3, "order": 2.0}),
        ("track-hausdorff", {}),
        ("track-emd", {}),
        ("track-ospa", {}),
        ("ospa2", {}),
    ],
)
def test_no_counterexample_is_found_for_a_metric(
    name: str, parameters: Mapping[str, object], base: str
) -> None:
    found = search_violations(create_evaluator(name, {**parameters, "base": base}), seed=3)
    assert found.counterexamples == {IDENTITY: None, SYMMETRY: None, TRIANGLE: None}
    assert found.undefined == 0
    assert found.pairs == 53**2


@pytest.mark.slow
def test_undefined_pairs_are_left_out_and_counted() -> None:
    """AP of an empty reference is undefined, with each of 1 + 12 + 4 sets beside it."""
    found = search_violations(create_evaluator("map"), set_count=4)
    assert found.undefined == 17


@pytest.mark.parametrize("tracks", [False, True])
def test_sets_are_different_and_contain_no_object_twice(tracks: bool) -> None:
    """Tracks are numbered in the order in which they come, so that equal sets are equal."""
    sets = object_sets(30, 1, tracks=tracks)
    assert len(set(sets)) == len(sets) == 43
    for objects in sets:
        assert len({(place.frame, place.track) for place in objects}) == len(objects) or not tracks
        assert len({place.shift_px for place in objects}) == len(objects)
        seen = list(dict.fromkeys(place.track for place in objects))
        assert seen == list(range(len(seen)))
