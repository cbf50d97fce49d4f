"""Outcomes of CLEAR, Identity and HOTA: scenes by hand, and motmetrics and trackeval by frame."""

from __future__ import annotations

import gc
import weakref
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from tests.evaluators.tracking.test_rules import ONE, Places, side
from tests.evaluators.tracking.tracking_data import (
    motmetrics_accumulator,
    random_tracking,
    sequence_of,
    trackeval_data,
    tud,
)
from trackeval import metrics

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, Side
from vidscore_evaluators.criterion import Criterion
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.outcome_table import (
    NO_PARTNER,
    OUTCOMES,
    OperatingPoint,
    Outcome,
    Outcomes,
)
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Number
from vidscore_evaluators.testing import Case, Thing, make_annotations
from vidscore_evaluators.tracking._hota_levels import THRESHOLDS
from vidscore_evaluators.tracking.hota import Hota

TP, FP, FN, IGNORED = (
    Outcome.TRUE_POSITIVE,
    Outcome.FALSE_POSITIVE,
    Outcome.FALSE_NEGATIVE,
    Outcome.IGNORED,
)
RULES = ("trackeval", "motmetrics")


def outcomes_of(
    name: str,
    truth: Annotations,
    found: Annotations,
    threshold: float | None = None,
    **parameters: object,
) -> Outcomes:
    evaluator = create_evaluator(name, parameters)
    return evaluator.outcomes(align(truth, found), OperatingPoint(threshold))


def told(table: Outcomes, of: Side) -> list[tuple[int, int, Outcome, int]]:
    """Frame, track, outcome and partner's track of the rows of a side."""
    own = table.take(table.of_side(of))
    return [
        (frame, track, OUTCOMES[code], partner)
        for frame, track, code, partner in zip(
            own.frames.tolist(),
            own.tracks.tolist(),
            own.outcomes.tolist(),
            own.columns["partner_track"].tolist(),
            strict=True,
        )
    ]


def breaks(table: Outcomes) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
    """Frames and tracks of the objects whose match is an id switch, or ends an interruption."""
    own = table.take(table.of_side(Side.TRUTH))
    places = list(zip(own.frames.tolist(), own.tracks.tolist(), strict=True))
    return (
        {places[row] for row in np.flatnonzero(own.id_switches).tolist()},
        {places[row] for row in np.flatnonzero(own.fragmentations).tolist()},
    )


# --- clear ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_the_example_of_clear_by_hand(rule: str) -> None:
    """Person 1 goes from track 5 to 7 in frame 2; person 2 is missed there, and 8 is made up."""
    truth: Places = {frame: {1: 0.0, 2: 100.0} for frame in range(4)}
    found: Places = {
        0: {5: 0.0, 6: 102.5},
        1: {5: 0.0, 6: 102.5},
        2: {7: 0.0},
        3: {7: 0.0, 6: 102.5, 8: 300.0},
    }
    table = outcomes_of("clear", side(truth), side(found), switch_rule=rule)
    assert told(table, Side.TRUTH) == [
        (0, 1, TP, 5),
        (0, 2, TP, 6),
        (1, 1, TP, 5),
        (1, 2, TP, 6),
        (2, 1, TP, 7),
        (2, 2, FN, NO_TRACK),
        (3, 1, TP, 7),
        (3, 2, TP, 6),
    ]
    assert told(table, Side.DETECTIONS) == [
        (0, 5, TP, 1),
        (0, 6, TP, 2),
        (1, 5, TP, 1),
        (1, 6, TP, 2),
        (2, 7, TP, 1),
        (3, 7, TP, 1),
        (3, 6, TP, 2),
        (3, 8, FP, NO_TRACK),
    ]
    assert breaks(table) == ({(2, 1)}, {(3, 2)})
    last = table.take(table.frames == 3)
    assert last.rows.tolist() == [0, 1, 0, 1, 2]
    assert last.partners.tolist() == [0, 1, 0, 1, NO_PARTNER]
    # Boxes of 10 pixels, 2.5 off: 7.5 / 12.5.
    np.testing.assert_array_equal(last.similarities, [1.0, 0.6, 1.0, 0.6, np.nan])
    # Seven matches, of which one is a switch, less one false positive: MOTA is 5 / 8.
    assert table.take(table.of_side(Side.TRUTH)).shares.tolist() == [1, 1, 1, 1, 0, 0, 1, 1]
    assert table.take(table.of_side(Side.DETECTIONS)).shares.tolist() == [0] * 7 + [-1]
    figures = create_evaluator("clear", {"switch_rule": rule}).outcome_figures(table)
    assert [figures[name] for name in ("mota", "id_switches", "fragmentations")] == [5 / 8, 1, 1]
    assert (figures["mostly_tracked"], figures["partially_tracked"]) == (1, 1)
    assert (figures["false_positives_per_frame"], figures["detection_tracks"]) == (0.25, 4)


def test_id_switches_and_fragmentations_depend_on_the_chosen_rule() -> None:
    """Track 7 is lost in frame 1 and near in 2, where 8 lies on the object; 3 has nothing."""
    truth: Places = {frame: {1: 0.0} for frame in range(5)}
    found: Places = {0: {7: 0.0}, 1: {9: 100.0}, 2: {7: 2.0, 8: 0.0}, 3: {}, 4: {7: 0.0}}
    expected: Mapping[str, tuple[list[int], Any]] = {
        # Back at 8 in frame 2, at 7 in 4; frame 3 is passed over.
        "trackeval": ([7, NO_TRACK, 8, NO_TRACK, 7], ({(2, 1), (4, 1)}, {(2, 1)})),
        # 7 all along; missed in 1 and in 3.
        "motmetrics": ([7, NO_TRACK, 7, NO_TRACK, 7], (set(), {(2, 1), (4, 1)})),
    }
    for rule, (partners, broken) in expected.items():
        table = outcomes_of("clear", side(truth), side(found), switch_rule=rule)
        assert [row[3] for row in told(table, Side.TRUTH)] == partners
        assert breaks(table) == broken


def test_unscored_rows_are_ignored() -> None:
    """An ignored object, and the detection matched with it."""
    truth = make_annotations(
        {
            ("", "s"): {
                0: [
                    Thing((50, 0, 60, 10), track_id=2, flags=ObjectFlag.IGNORE),
                    Thing((0, 0, 10, 10), track_id=1),
                ]
            }
        }
    )
    found = side({0: {8: 50.0, 7: 0.0, 9: 90.0}})
    table = outcomes_of("clear", truth, found)
    assert told(table, Side.TRUTH) == [(0, 2, IGNORED, NO_TRACK), (0, 1, TP, 7)]
    assert told(table, Side.DETECTIONS) == [
        (0, 8, IGNORED, NO_TRACK),
        (0, 7, TP, 1),
        (0, 9, FP, NO_TRACK),
    ]
    assert table.partners.tolist() == [NO_PARTNER, 1, NO_PARTNER, 1, NO_PARTNER]


def test_points_have_distances_in_pixels() -> None:
    """5 pixels of 20: a similarity of 0.75, which MOTP is the mean of."""
    truth = make_annotations({("", "s"): {0: [Thing((10.0, 10.0), track_id=1)]}}, arity=2)
    found = make_annotations({("", "s"): {0: [Thing((13.0, 14.0), track_id=7)]}}, arity=2)
    parameters: dict[str, Any] = {"base": "euclidean", "cutoff_px": 20}
    table = outcomes_of("clear", truth, found, **parameters)
    assert table.distances_px.tolist() == [5.0, 5.0]
    assert np.isnan(table.similarities).all()
    assert create_evaluator("clear", parameters).outcome_figures(table)["motp"] == 0.75


@pytest.mark.parametrize("seed", range(4))
def test_every_event_equals_that_of_motmetrics(seed: int) -> None:
    """MATCH, SWITCH, MISS and FP of every frame, with object and track, by motmetrics' rule."""
    scene = random_tracking(seed, sequence_count=1, object_count=9, extent_px=40.0)
    table = outcomes_of("clear", *scene, switch_rule="motmetrics")
    switches, _ = breaks(table)
    found: set[tuple[int, str, int | None, int | None]] = set()
    for frame, track, outcome, partner in told(table, Side.TRUTH):
        kind = "SWITCH" if (frame, track) in switches else "MATCH"
        missed = outcome is FN
        found.add((frame, "MISS", track, None) if missed else (frame, kind, track, partner))
    for frame, track, outcome, _ in told(table, Side.DETECTIONS):
        if outcome is FP:
            found.add((frame, "FP", None, track))
    events = motmetrics_accumulator(scene).mot_events.reset_index()
    expected = {
        (int(row.FrameId), str(row.Type), _id(row.OId), _id(row.HId))
        for row in events.itertuples()
        if row.Type in {"MATCH", "SWITCH", "MISS", "FP"}
    }
    assert {event[1] for event in expected} == {"MATCH", "SWITCH", "MISS", "FP"}
    assert found == expected


def _id(value: float) -> int | None:
    return None if np.isnan(value) else int(value)


@pytest.mark.parametrize("seed", range(3))
def test_every_frame_adds_the_same_counts_as_in_trackeval(seed: int) -> None:
    """CLEAR of the first frames only: the difference per frame is what happens in it."""
    scene = random_tracking(seed, sequence_count=1, object_count=10, extent_px=40.0)
    table = outcomes_of("clear", *scene)
    names = {"CLR_TP": TP, "CLR_FN": FN, "CLR_FP": FP}
    for last in range(1, 41, 3):
        first = Case(*(part.take_frames(part.frame_numbers < last) for part in scene))
        data = trackeval_data(first)
        expected = metrics.CLEAR({"PRINT_CONFIG": False}).eval_sequence(data)
        part = table.take(table.frames < last)
        truth = part.take(part.of_side(Side.TRUTH))
        for name, outcome in names.items():
            side_of = Side.DETECTIONS if outcome is FP else Side.TRUTH
            assert part.count(outcome, side_of) == expected[name], (last, name)
        assert np.count_nonzero(truth.id_switches) == expected["IDSW"]
        assert np.count_nonzero(truth.fragmentations) == expected["Frag"]
        assert np.nansum(truth.similarities) == pytest.approx(expected["MOTP_sum"], abs=1e-9)


# --- identity ------------------------------------------------------------------------------


def test_identity_counts_the_matches_of_the_one_track_of_each_object() -> None:
    """Of tracks 7 and 8, 7 is object 1's for 3 frames and 8 is object 2's for 3, best together."""
    truth: Places = {frame: {1: 0.0, 2: 50.0} for frame in range(7)}
    on_1, on_2 = (7, 7, 7, 8, None, None, None), (8, 8, 8, 7, 7, 7, 7)
    found: Places = {
        frame: {
            track: x for track, x in ((on_1[frame], 0.0), (on_2[frame], 50.0)) if track is not None
        }
        for frame in range(7)
    }
    table = outcomes_of("identity", side(truth), side(found))
    assert told(table, Side.TRUTH) == [
        (frame, track, TP if frame < 3 else FN, partner)
        for frame in range(7)
        for track, partner in ((1, 7), (2, 8))
    ]
    assert told(table, Side.DETECTIONS) == [
        (frame, track, TP if frame < 3 else FP, {7: 1, 8: 2}[track])
        for frame in range(7)
        for track in found[frame]
    ]
    assert table.shares.sum() == 12
    figures = create_evaluator("identity").outcome_figures(table)
    assert figures["idf1"] == 12 / 25
    assert not table.id_switches.any()


@pytest.mark.parametrize(
    ("classes", "id_true_positives", "ass_a"), [("separate", 2, 3 / 4), ("ignore", 1, 1 / 3)]
)
def test_figures_of_a_track_of_two_labels_follow_from_its_outcomes(
    classes: str, id_true_positives: int, ass_a: float
) -> None:
    """A car, then a bus twice; found as 7, as 8, and missed.

    The one track has three frames, of which its best detections have one. Of two tracks each has
    one; the car's is all of it, the bus's a half.
    """
    key, box = ("", "s"), (0.0, 0.0, 10.0, 10.0)
    things = [Thing(box, label, track_id=1) for label in ("car", "bus", "bus")]
    hits = [Thing(box, "car", track_id=7), Thing(box, "bus", track_id=8)]
    truth = make_annotations({key: {n: [thing] for n, thing in enumerate(things)}}, arity=4)
    found = make_annotations({key: {n: [thing] for n, thing in enumerate(hits)}}, arity=4)
    expected = {
        "identity": ("id_true_positives", id_true_positives),
        "hota": ("ass_a", ass_a),
        "clear": ("id_switches", 2 - id_true_positives),
    }
    for name, (measure, value) in expected.items():
        # One threshold, at which all figures of HOTA follow from outcomes.
        chosen = {"classes": classes} | ({"thresholds": [0.5]} if name == "hota" else {})
        evaluator = create_evaluator(name, chosen)
        told = evaluator.outcome_figures(evaluator.outcomes(align(truth, found)))
        report = evaluator.report(evaluator.tally(truth, found))
        assert told[measure] == pytest.approx(value, abs=1e-15)
        names = {measure.name for measure in evaluator.measures} & told.keys()
        assert {name: told[name] for name in names} == {name: report.value(name) for name in names}


def test_a_track_without_a_partner_has_none() -> None:
    """Tracks 7 and 8 are on the one object for 6 and for 4 frames."""
    found: Places = {frame: {7 if frame < 6 else 8: 0.0} for frame in range(10)}
    table = outcomes_of("identity", side(ONE), side(found))
    assert {row[1:] for row in told(table, Side.DETECTIONS)} == {(7, TP, 1), (8, FP, NO_TRACK)}
    assert Counter(row[2] for row in told(table, Side.TRUTH)) == {TP: 6, FN: 4}


# --- hota ----------------------------------------------------------------------------------


def test_a_pair_is_a_match_of_hota_up_to_its_similarity() -> None:
    """IoU 1/3: a match at 0.3; at 0.5, its own threshold, an object and a detection apart."""
    truth, found = side({0: {1: 0.0}}), side({0: {7: 5.0}})
    at_own, at_low = (outcomes_of("hota", truth, found, at) for at in (None, 0.3))
    assert [OUTCOMES[code] for code in at_own.outcomes] == [FN, FP]
    assert [OUTCOMES[code] for code in at_low.outcomes] == [TP, TP]
    for table in (at_own, at_low):
        assert table.partners.tolist() == [0, 0]
        assert table.similarities == pytest.approx([1 / 3, 1 / 3], abs=1e-15)
    assert at_low.shares.tolist() == [1.0, 0.0]
    assert at_own.columns["partner_track"].tolist() == [NO_TRACK, NO_TRACK]


def test_figures_at_a_threshold_without_matches_depend_on_lower_thresholds() -> None:
    """At 0.5, of an IoU of 1/3: no association, and perfect places; of no overlap, neither."""
    evaluator = create_evaluator("hota")
    assert isinstance(evaluator, Hota)
    for x, expected in ((5.0, (0.0, 1.0)), (50.0, (None, None))):
        sides = side({0: {1: 0.0}}), side({0: {7: x}})
        point = evaluator.outcome_point(evaluator.outcomes(align(*sides)))
        curve = evaluator.report(evaluator.tally(*sides)).curve("hota_by_threshold").columns
        at_half = curve["threshold"].index(0.5)
        assert (point["ass_a"], point["loc_a"]) == expected
        assert (curve["ass_a"][at_half], curve["loc_a"][at_half]) == expected


def test_shares_of_hota_measure_how_well_the_two_tracks_belong_together() -> None:
    """Track 7 is on the object for 6 of 10 frames and 8 for 4: A(c) is 6/10 and 4/10."""
    found: Places = {frame: {7 if frame < 6 else 8: 0.0} for frame in range(10)}
    table = outcomes_of("hota", side(ONE), side(found))
    truth = table.take(table.of_side(Side.TRUTH))
    assert truth.shares.tolist() == [0.6] * 6 + [0.4] * 4
    assert truth.columns["ass_re"].tolist() == [0.6] * 6 + [0.4] * 4
    assert truth.columns["ass_pr"].tolist() == [1.0] * 10
    # HOTA squared: (6 * 0.6 + 4 * 0.4) / 10.
    evaluator = create_evaluator("hota", {"thresholds": [0.5]})
    hota = evaluator.outcome_figures(table)["hota"]
    assert hota == pytest.approx(0.52**0.5, abs=1e-15)


def test_hota_uses_a_half_or_the_first_of_its_thresholds() -> None:
    """An IoU of 0.6: none at 0.7, which is the only one; and 0.5 may still be asked for."""
    truth, found = side({0: {1: 0.0}}), side({0: {7: 2.5}})
    seven = outcomes_of("hota", truth, found, thresholds=[0.7, 0.8])
    half = outcomes_of("hota", truth, found, 0.5, thresholds=[0.7, 0.8])
    assert OUTCOMES[seven.outcomes[0]] is FN
    assert OUTCOMES[half.outcomes[0]] is TP


@pytest.mark.parametrize("scene", [random_tracking(3), random_tracking(5, extent_px=40.0), tud()])
def test_outcomes_at_a_threshold_give_the_point_of_the_curve(scene: Case) -> None:
    """Every column, to the last bit, and every measure that the report has there."""
    evaluator = create_evaluator("hota")
    assert isinstance(evaluator, Hota)
    report = evaluator.report(evaluator.tally(*scene))
    curve = report.curve("hota_by_threshold").columns
    for column, threshold in enumerate(THRESHOLDS):
        at = OperatingPoint(threshold)
        table = evaluator.outcomes(align(*scene), at)
        expected = {name: values[column] for name, values in curve.items()}
        assert evaluator.outcome_point(table, at) == expected
        figures = evaluator.outcome_figures(table, at)
        known: dict[str, Number] = {name: expected[name] for name in expected if "_pos" in name}
        known["false_negatives"] = expected["false_negatives"]
        if threshold == 0.05:
            first = ("hota_0", "loc_a_0", "hota_loc_a_0")
            known |= {name: report.value(name) for name in first}
        assert figures == known


@pytest.mark.parametrize("seed", range(2))
def test_hota_has_as_many_matches_as_trackeval(seed: int) -> None:
    scene = random_tracking(seed, sequence_count=1, extent_px=40.0)
    expected = metrics.HOTA().eval_sequence(trackeval_data(sequence_of(scene, "s0")))
    for column, threshold in enumerate(THRESHOLDS):
        table = outcomes_of("hota", *scene, threshold)
        assert table.count(TP, Side.TRUTH) == expected["HOTA_TP"][column]
        assert table.count(FN, Side.TRUTH) == expected["HOTA_FN"][column]
        assert table.count(FP, Side.DETECTIONS) == expected["HOTA_FP"][column]


# --- valid operating points ----------------------------------------------------------------


@pytest.mark.parametrize("name", ["clear", "identity"])
def test_an_evaluator_with_one_threshold_has_only_that_operating_point(name: str) -> None:
    evaluator = create_evaluator(name)
    aligned = align(side(ONE), side(ONE))
    evaluator.outcomes(aligned, OperatingPoint(0.5))
    with pytest.raises(ParameterError) as caught:
        evaluator.outcomes(aligned, OperatingPoint(0.7, 0.1))
    assert [str(fault) for fault in caught.value.faults] == [
        f"at_threshold: found 0.7, expected 0.5 for {name}",
        (
            f"at_confidence: found 0.1, expected none: the outcomes of {name} do not depend on "
            "confidences"
        ),
    ]


@pytest.mark.parametrize("name", ["clear", "identity", "hota"])
def test_no_part_of_an_input_waits_for_the_garbage_collector(name: str) -> None:
    """A part of a large input must be freed before the next one is processed."""
    evaluator = create_evaluator(name)
    assert isinstance(evaluator, Criterion)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        aligned = align(side(ONE), side(ONE))
        evaluator.outcomes(aligned)
        scene = weakref.ref(evaluator.scene(aligned, traced=True))
        del aligned
        assert scene() is None
    finally:
        if was_enabled:
            gc.enable()


def test_the_operating_points_of_hota_are_its_thresholds() -> None:
    with pytest.raises(ParameterError, match=r"found 0\.33, expected 0\.05, 0\.1, .* for hota"):
        outcomes_of("hota", side(ONE), side(ONE), 0.33)


@pytest.mark.parametrize("name", ["track-hausdorff", "track-emd", "track-ospa", "ospa2"])
def test_distances_of_whole_tracks_have_no_outcomes(name: str) -> None:
    evaluator = create_evaluator(name)
    assert not evaluator.has_outcomes
    with pytest.raises(ParameterError, match="outcomes"):
        evaluator.outcomes(align(side(ONE), side(ONE)))
