"""CLEAR, Identity and HOTA by hand: switches, fragmentations, gaps, and refused inputs."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from vidscore_evaluators.annotations import NO_TRACK, Annotations, ObjectFlag, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Task, Unit
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.tracking.clear import Clear

NAMES = ("clear", "identity", "hota", "track-hausdorff", "track-emd", "track-ospa", "ospa2")
Places = Mapping[int, Mapping[int, float]]
"""Where tracks are: x by track id, by frame number. All boxes are 10 x 10."""


def side(places: Places) -> Annotations:
    frames = {
        frame: [Thing((x, 0.0, x + 10.0, 10.0), track_id=track) for track, x in tracks.items()]
        for frame, tracks in places.items()
    }
    return make_annotations({("", "s"): frames}, arity=4)


def report_of(name: str, truth: Places, found: Places, **parameters: object) -> Report:
    evaluator = create_evaluator(name, parameters)
    return evaluator.report(evaluator.tally(side(truth), side(found)))


def clear(truth: Places, found: Places, rule: str = "trackeval") -> dict[str, float | None]:
    report = report_of("clear", truth, found, switch_rule=rule)
    return {measure.name: report.value(measure.name) for measure in Clear.measures}


ONE: Places = {frame: {1: 0.0} for frame in range(10)}
"""One object that stays where it is for ten frames."""


@pytest.mark.parametrize("rule", ["trackeval", "motmetrics"])
def test_a_track_that_takes_over_is_one_switch(rule: str) -> None:
    """Track 7 for five frames, track 8 for five: nothing missed, 1 switch, MOTA 1 - 1/10."""
    found = {frame: {7 if frame < 5 else 8: 0.0} for frame in range(10)}
    scores = clear(ONE, found, rule)
    assert (scores["id_switches"], scores["fragmentations"]) == (1, 0)
    assert scores["mota"] == pytest.approx(0.9, abs=1e-15)
    identity = report_of("identity", ONE, found)
    # One of the two tracks is the object's: 5 of 10 frames, and 5 of 10 detections.
    assert [identity.value(name) for name in ("idf1", "idp", "idr")] == [0.5, 0.5, 0.5]
    hota = report_of("hota", ONE, found)
    # All is found; each match has 5 frames together of 10 in union.
    assert [hota.value(name) for name in ("det_a", "ass_a", "loc_a")] == [1.0, 0.5, 1.0]
    assert hota.value("hota") == pytest.approx(0.5**0.5, abs=1e-15)


@pytest.mark.parametrize("rule", ["trackeval", "motmetrics"])
def test_a_gap_with_the_same_identity_is_a_fragmentation_and_no_switch(rule: str) -> None:
    """Frames 4 and 5 are missed; a false positive elsewhere keeps the frames from being empty."""
    found = {frame: {7: 100.0 if frame in {4, 5} else 0.0} for frame in range(10)}
    scores = clear(ONE, found, rule)
    assert (scores["id_switches"], scores["fragmentations"]) == (0, 1)
    assert (scores["misses"], scores["false_positives"], scores["matches"]) == (2, 2, 8)
    assert scores["mota"] == pytest.approx(1 - 4 / 10, abs=1e-15)


def test_a_frame_without_any_detection_interrupts_only_for_motmetrics() -> None:
    """trackeval skips frames that have objects on one side only."""
    found: Places = {frame: {} if frame in {4, 5} else {7: 0.0} for frame in range(10)}
    assert clear(ONE, found, "trackeval")["fragmentations"] == 0
    assert clear(ONE, found, "motmetrics")["fragmentations"] == 1


def test_an_object_that_leaves_and_returns_is_fragmented_only_for_trackeval() -> None:
    """It is never missed; another object keeps the frames between from being empty."""
    truth: Places = {
        frame: ({2: 50.0} if frame in {4, 5} else {1: 0.0, 2: 50.0}) for frame in range(10)
    }
    assert clear(truth, truth, "trackeval")["fragmentations"] == 1
    assert clear(truth, truth, "motmetrics")["fragmentations"] == 0


def test_an_object_regained_by_another_track_after_a_gap_is_a_switch() -> None:
    """The last match counts however long ago it was; coming back to the first is another switch."""
    found: Places = {0: {7: 0.0}, 1: {9: 100.0}, 2: {8: 0.0}, 3: {9: 100.0}, 4: {7: 0.0}}
    truth: Places = {frame: {1: 0.0} for frame in range(5)}
    for rule in ("trackeval", "motmetrics"):
        assert clear(truth, found, rule)["id_switches"] == 2


def test_a_match_is_kept_although_another_track_is_nearer() -> None:
    """In frame 1 track 8 lies on the object, but 7 (IoU 6/14 to 8/12) is still near enough."""
    found: Places = {0: {7: 0.0}, 1: {7: 2.0, 8: 0.0}}
    truth: Places = {0: {1: 0.0}, 1: {1: 0.0}}
    for rule in ("trackeval", "motmetrics"):
        scores = clear(truth, found, rule)
        assert (scores["id_switches"], scores["false_positives"]) == (0, 1)
        assert scores["motp"] == pytest.approx((1 + 8 / 12) / 2, abs=1e-15)


def test_after_a_gap_motmetrics_remembers_and_trackeval_does_not() -> None:
    """Frame 1 loses the object; in frame 2 its old track 7 is near and the new 8 is on it."""
    found: Places = {0: {7: 0.0}, 1: {9: 100.0}, 2: {7: 2.0, 8: 0.0}}
    truth: Places = {frame: {1: 0.0} for frame in range(3)}
    assert clear(truth, found, "trackeval")["id_switches"] == 1
    assert clear(truth, found, "motmetrics")["id_switches"] == 0


def test_two_objects_that_remember_one_track_are_distinguished_by_track_id() -> None:
    """Both were last matched with track 7; in frame 2 it fits object 2 better, and 1 keeps it."""
    truth: Places = {0: {1: 0.0}, 1: {2: 0.0}, 2: {1: 2.0, 2: 0.0}}
    found: Places = {frame: {7: 0.0} for frame in range(3)}
    scores = clear(truth, found, "motmetrics")
    assert scores["motp"] == pytest.approx((1 + 1 + 8 / 12) / 3, abs=1e-15)
    assert scores["misses"] == 1


@pytest.mark.parametrize(
    ("found_frames", "trackeval", "motmetrics"),
    [
        (9, "mostly_tracked", "mostly_tracked"),
        (8, "partially_tracked", "mostly_tracked"),
        (2, "partially_tracked", "partially_tracked"),
        (1, "mostly_lost", "mostly_lost"),
    ],
)
def test_eighty_percent_is_mostly_tracked_only_for_motmetrics(
    found_frames: int, trackeval: str, motmetrics: str
) -> None:
    found: Places = {frame: {7: 0.0} if frame < found_frames else {} for frame in range(10)}
    for rule, expected in (("trackeval", trackeval), ("motmetrics", motmetrics)):
        scores = clear(ONE, found, rule)
        kinds = ("mostly_tracked", "partially_tracked", "mostly_lost")
        assert {kind for kind in kinds if scores[kind]} == {expected}


def test_identity_gives_every_object_the_one_track_that_is_best_overall() -> None:
    """Track 7 is on object 1 for 3 frames and on 2 for 4; 8 on 1 for 1 and on 2 for 3.

    Greedily 7 would go to object 2 (4 + 1); together 7 to 1 and 8 to 2 are better (3 + 3).
    """
    truth: Places = {frame: {1: 0.0, 2: 50.0} for frame in range(7)}
    on_object_1 = (7, 7, 7, 8, None, None, None)
    on_object_2 = (8, 8, 8, 7, 7, 7, 7)
    found: Places = {
        frame: {
            track: x
            for track, x in ((on_object_1[frame], 0.0), (on_object_2[frame], 50.0))
            if track is not None
        }
        for frame in range(7)
    }
    report = report_of("identity", truth, found)
    names = ("id_true_positives", "id_false_positives", "id_false_negatives")
    assert [report.value(name) for name in names] == [6, 5, 8]
    assert report.value("idf1") == 12 / 25


def test_a_pair_below_the_threshold_counts_for_hota_only_at_lower_thresholds() -> None:
    """IoU 5/15: matched at 0.05 to 0.30, at which HOTA is 1, and not from 0.35 on."""
    report = report_of("hota", {0: {1: 0.0}}, {0: {7: 5.0}})
    curve = report.curve("hota_by_threshold").columns
    assert curve["hota"] == [1.0] * 6 + [0.0] * 13
    assert report.value("hota") == pytest.approx(6 / 19, abs=1e-15)
    assert curve["loc_a"] == pytest.approx([1 / 3] * 6 + [1.0] * 13, abs=1e-15)
    assert report_of("clear", {0: {1: 0.0}}, {0: {7: 5.0}}).value("matches") == 0


def test_hota_prefers_the_track_that_fits_over_time() -> None:
    """In frame 2 track 8 is nearer, but 7 has been on the object before and stays with it."""
    truth: Places = {frame: {1: 0.0} for frame in range(3)}
    found: Places = {0: {7: 0.0}, 1: {7: 0.0}, 2: {7: 2.0, 8: 1.0}}
    report = report_of("hota", truth, found)
    curve = report.curve("hota_by_threshold").columns
    # Pair (1, 7): all three of its frames, one union of three; 8 is a false positive.
    assert curve["ass_a"][0] == 1.0
    assert curve["det_a"][0] == 3 / 4
    assert curve["loc_a"][0] == pytest.approx((1 + 1 + 8 / 12) / 3, abs=1e-15)


def test_an_identity_does_not_reach_beyond_its_class() -> None:
    """Track 7 is a car on the car and a bus on the bus: two perfect tracks of one number."""
    both = {
        0: [Thing((0, 0, 10, 10), "car", track_id=7), Thing((50, 0, 60, 10), "bus", track_id=7)]
    }
    annotations = make_annotations({("", "s"): both})
    for name in ("clear", "identity", "hota"):
        evaluator = create_evaluator(name)
        report = evaluator.report(evaluator.tally(annotations, annotations))
        measure = evaluator.ranking[0]
        for label in (None, "bus", "car"):
            assert report.value(measure, label=label) == 1.0


def test_detections_of_distractors_are_removed_as_in_motchallenge() -> None:
    """A static person is not an object, and the track on it is not a false positive."""
    truth = make_annotations(
        {
            ("", "s"): {
                0: [
                    Thing((0, 0, 10, 10), "pedestrian", track_id=1),
                    Thing((50, 0, 60, 10), "static_person", track_id=2),
                ]
            }
        }
    )
    found = make_annotations(
        {
            ("", "s"): {
                0: [
                    Thing((0, 0, 10, 10), "pedestrian", track_id=7),
                    Thing((51, 0, 61, 10), "pedestrian", track_id=8),
                    Thing((90, 0, 99, 10), "pedestrian", track_id=9),
                ]
            }
        }
    )
    evaluator = create_evaluator("clear", {"dont_care": "motchallenge"})
    report = evaluator.report(evaluator.tally(truth, found))
    names = ("matches", "misses", "false_positives")
    assert [report.value(name) for name in names] == [1, 0, 1]
    assert [(warning.code, warning.count) for warning in report.warnings] == [("dont_care", 1)]


# --- input ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_tracking_needs_whole_sequences_and_track_ids(name: str) -> None:
    evaluator = create_evaluator(name)
    assert evaluator.unit is Unit.SEQUENCE
    assert evaluator.task is Task.TRACKING
    assert evaluator.needs.tracks


@pytest.mark.parametrize("name", NAMES)
def test_objects_without_a_track_and_tracks_that_repeat_are_faults(name: str) -> None:
    """Both sides, all at once, with frame and track; flagged objects need no track."""
    truth = make_annotations(
        {
            ("d", "s"): {
                3: [
                    Thing((0, 0, 10, 10), "car", track_id=NO_TRACK),
                    Thing((0, 0, 10, 10), "car", track_id=NO_TRACK, flags=ObjectFlag.REGION),
                    Thing((0, 0, 10, 10), "car", track_id=NO_TRACK, flags=ObjectFlag.IGNORE),
                ]
            }
        }
    )
    found = make_annotations(
        {
            ("d", "s"): {
                2: [],
                3: [
                    Thing((0, 0, 10, 10), "car", track_id=5),
                    Thing((20, 0, 30, 10), "bus", track_id=5),
                    Thing((40, 0, 50, 10), "car", track_id=5),
                    Thing((60, 0, 70, 10), "car", track_id=6),
                ],
            }
        }
    )
    with pytest.raises(InputError) as caught:
        score_annotations([create_evaluator(name)], truth, found, BenchmarkSpec())
    assert [str(fault) for fault in caught.value.faults] == [
        f"{place}, track_ids: found {found_} in frame 3 of sequence d/s, expected {expected}"
        for place, found_, expected in (
            ("truth, entry 0", "an object without a track", "a track id of 0 or more"),
            ("detections, entry 1", "track 5 again", "each track once in a frame and class"),
        )
    ]


def test_if_classes_are_ignored_a_track_may_occur_once_per_frame() -> None:
    things = [Thing((0, 0, 10, 10), label, track_id=5) for label in ("bus", "car")]
    annotations = make_annotations({("", "s"): {0: list(things)}})
    faults = create_evaluator("clear", {"classes": "ignore"}).faults(Side.TRUTH, annotations)
    assert [fault.expected for fault in faults] == ["each track once in a frame"]
    assert not create_evaluator("clear").faults(Side.TRUTH, annotations)


def test_labels_of_distractors_need_no_track() -> None:
    annotations = make_annotations({("", "s"): {0: [Thing((0, 0, 10, 10), "Static_Person")]}})
    rule = {"dont_care": "motchallenge"}
    assert not create_evaluator("identity", rule).faults(Side.TRUTH, annotations)
    assert create_evaluator("identity").faults(Side.TRUTH, annotations)


def test_track_ids_may_be_as_large_as_they_get() -> None:
    """The maximum of 64 bits beside 0: two tracks, not one."""
    places: Places = {frame: {0: 0.0, 2**63 - 1: 50.0} for frame in range(3)}
    assert report_of("clear", places, places).value("mota") == 1.0
    assert report_of("identity", places, places).value("idf1") == 1.0
    assert report_of("track-ospa", places, places).value("track_ospa") == 0.0
