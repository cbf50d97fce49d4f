"""Distances of sets of tracks against their definitions, by hand, and as metrics."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.distances import track_oracle as oracle
from tests.evaluators.distances.track_oracle import Box, Track

from vidscore_evaluators.annotations import Annotations, ObjectFlag
from vidscore_evaluators.distances import _track_distances
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count

FRAME_COUNT = 12
KEY = ("", "s")


def side(tracks: list[Track], frame_count: int = FRAME_COUNT) -> Annotations:
    """Annotations with the given tracks that list every frame."""
    frames: dict[int, list[Thing | Box]] = {frame: [] for frame in range(frame_count)}
    for number, track in enumerate(tracks):
        for frame, box in track.items():
            frames[frame].append(Thing(box, track_id=number))
    return make_annotations({KEY: frames}, arity=4)


def report_of(name: str, first: list[Track], second: list[Track], **parameters: object) -> Report:
    evaluator = create_evaluator(name, parameters)
    return evaluator.report(evaluator.tally(side(first), side(second)))


def distance(name: str, first: list[Track], second: list[Track], **parameters: object) -> float:
    value = report_of(name, first, second, **parameters).value(name.replace("-", "_"))
    assert value is not None
    return value


def still(frames: range, x: float = 0.0) -> Track:
    """A track that stays where it is: a box of 10 x 10."""
    return dict.fromkeys(frames, (x, 0.0, x + 10.0, 10.0))


def wandering(seed: int) -> list[Track]:
    """Up to four tracks that come, go, come back and cross, some of them one frame long."""
    random = np.random.default_rng(seed)
    tracks = []
    for _ in range(random.integers(0, 5)):
        x, y = random.integers(0, 20, 2).tolist()
        track: Track = {}
        for frame in range(FRAME_COUNT):
            x, y = x + int(random.integers(-2, 3)), y + int(random.integers(-2, 3))
            if random.random() < 0.6:
                track[frame] = (x, y, x + 10.0, y + 8.0)
        if track:
            tracks.append(track)
    return tracks


METRICS: list[tuple[str, dict[str, object]]] = [
    ("track-hausdorff", {}),
    ("track-emd", {}),
    ("track-emd", {"order": 2.0}),
    ("track-ospa", {}),
    ("track-ospa", {"cutoff": 0.6, "order": 2.0}),
    ("ospa2", {"window_frames": 4}),
    ("ospa2", {"window_frames": 5, "cutoff": 0.7, "order": 3.0}),
    ("track-ospa", {"base": "giou"}),
    ("track-emd", {"base": "giou"}),
]

seeds = st.integers(0, 2**32 - 1)


# --- definitions ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_distances_equal_their_definitions(seed: int) -> None:
    """Up to four tracks a side, against permutations and linear programmes."""
    first, second = wandering(seed), wandering(seed + 1000)
    found = distance("track-hausdorff", first, second)
    assert found == pytest.approx(oracle.hausdorff(first, second), abs=1e-9)
    for order in (1.0, 2.0):
        found = distance("track-emd", first, second, order=order)
        assert found == pytest.approx(oracle.emd(first, second, order), abs=1e-9)
        for cutoff in (1.0, 0.4):
            found = distance("track-ospa", first, second, order=order, cutoff=cutoff)
            assert found == pytest.approx(oracle.ospa(first, second, cutoff, order), abs=1e-9)


@pytest.mark.parametrize("window_frames", [1, 3, 5, 100])
@pytest.mark.parametrize("seed", range(8))
def test_ospa2_is_the_ospa_of_the_content_of_each_window(seed: int, window_frames: int) -> None:
    """At every frame that has tracks, and in the mean over all frames."""
    first, second = wandering(seed), wandering(seed + 1000)
    expected = expected_curve(first, second, window_frames)
    report = report_of("ospa2", first, second, window_frames=window_frames, cutoff=0.8)
    curve = report.curve("ospa2_by_frame").columns
    assert curve["frame"] == list(expected)
    assert curve["ospa2"] == pytest.approx(list(expected.values()), abs=1e-9)
    mean = sum(expected.values()) / FRAME_COUNT
    assert report.value("ospa2") == pytest.approx(mean, abs=1e-9)


def expected_curve(first: list[Track], second: list[Track], window_frames: int) -> dict[int, float]:
    """OSPA with a cut-off of 0.8 of the window of each frame, if it has tracks."""
    expected = {}
    for frame in range(FRAME_COUNT):
        low = frame - window_frames + 1
        cut = [oracle.within(tracks, low, frame) for tracks in (first, second)]
        if cut[0] or cut[1]:
            expected[frame] = oracle.ospa(cut[0], cut[1], 0.8, 1.0)
    return expected


@pytest.mark.parametrize("objects_per_chunk", [1, _track_distances.WINDOW_OBJECTS_PER_CHUNK])
def test_windows_do_not_reach_into_another_sequence_or_class(
    objects_per_chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Track ids are the same in all; cars and buses of two domains have the same curves as
    alone.
    """
    monkeypatch.setattr(_track_distances, "WINDOW_OBJECTS_PER_CHUNK", objects_per_chunk)
    parts = [(domain, label) for domain in ("x", "y") for label in ("bus", "car")]
    sides = []
    for first_seed in (11, 1011):
        sequences: dict[tuple[str, str], dict[int, list[Thing]]] = {
            (domain, "s"): {frame: [] for frame in range(FRAME_COUNT)} for domain in ("x", "y")
        }
        for seed, (domain, label) in enumerate(parts, first_seed):
            for number, track in enumerate(wandering(seed)):
                for frame, box in track.items():
                    thing = Thing(box, label, track_id=number)
                    sequences[domain, "s"][frame].append(thing)
        sides.append(make_annotations(sequences, arity=4))
    evaluator = create_evaluator("ospa2", {"window_frames": 4, "cutoff": 0.8})
    report = evaluator.report(evaluator.tally(*sides))
    for seed, (domain, label) in enumerate(parts):
        expected = expected_curve(wandering(11 + seed), wandering(1011 + seed), 4)
        assert expected
        curve = report.curve("ospa2_by_frame", domain=domain, label=label).columns
        assert curve["frame"] == list(expected)
        assert curve["ospa2"] == pytest.approx(list(expected.values()), abs=1e-9)
        value = report.value("ospa2", domain=domain, label=label)
        assert value == pytest.approx(sum(expected.values()) / FRAME_COUNT, abs=1e-9)


def test_windows_of_a_long_sequence_do_not_depend_on_how_they_are_chunked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One window at a time gives the bits of all at once."""
    first, second = wandering(3), wandering(4)
    whole = report_of("ospa2", first, second, window_frames=5)
    monkeypatch.setattr(_track_distances, "WINDOW_OBJECTS_PER_CHUNK", 1)
    apart = report_of("ospa2", first, second, window_frames=5)
    assert apart.rows() == whole.rows()
    assert apart.curves == whole.curves


# --- by hand -------------------------------------------------------------------------------


def test_two_fragmented_tracks_are_averaged_over_frames_with_either() -> None:
    """Frames 0-4 and 3-7, each alone in three frames, together in two at 1 - IoU = 0: 6/8."""
    found = distance("track-ospa", [still(range(5))], [still(range(3, 8))])
    assert found == pytest.approx(6 / 8, abs=1e-15)


def test_the_distance_of_a_shifted_track_is_the_mean_of_its_frames() -> None:
    """10 x 10 boxes shifted by 5: IoU 1/3, so 2/3 in each frame, and so in the mean."""
    shifted = [still(range(4), x=5.0)]
    for name in ("track-hausdorff", "track-emd", "track-ospa"):
        assert distance(name, [still(range(4))], shifted) == pytest.approx(2 / 3, abs=1e-15)


def test_a_dropped_track_costs_less_if_it_is_regained_with_its_identity() -> None:
    """Ten frames, two missed: 2/10 with one identity; with two, (6/10 + 1) / 2 = 0.8."""
    truth = [still(range(10))]
    same = [still(range(4)) | still(range(6, 10))]
    other = [still(range(4)), still(range(6, 10))]
    assert distance("track-ospa", truth, same) == pytest.approx(0.2, abs=1e-15)
    assert distance("track-ospa", truth, other) == pytest.approx(0.8, abs=1e-15)
    one_identity, two_identities = (
        report_of("ospa2", truth, found, window_frames=10).curve("ospa2_by_frame").columns["ospa2"]
        for found in (same, other)
    )
    assert (one_identity[9], two_identities[9]) == pytest.approx((0.2, 0.8), abs=1e-15)
    assert one_identity[:6] == two_identities[:6]
    later = zip(one_identity[6:10], two_identities[6:10], strict=True)
    assert all(less is not None and more is not None and less < more for less, more in later)


@pytest.mark.parametrize("name", ["track-ospa", "ospa2"])
def test_a_frame_with_one_of_two_tracks_counts_as_the_cutoff(name: str) -> None:
    """Four frames, exact in one, alone in one, apart by 2/3, over c, in two: (0 + 3 c) / 4."""
    truth = [still(range(4))]
    found = [still(range(1)) | still(range(2, 4), x=5.0)]
    report = report_of(name, truth, found, cutoff=0.4)
    if name == "track-ospa":
        assert report.value("track_ospa") == pytest.approx(0.3, abs=1e-15)
    else:
        last = report.curve("ospa2_by_frame").columns["ospa2"][3]
        assert last == pytest.approx(0.3, abs=1e-15)


def test_two_tracks_that_swap_identities_halfway_cost_half() -> None:
    """Each truth track is covered for half of its frames by its partner: distance 1/2 each."""
    truth = [still(range(10)), still(range(10), x=50.0)]
    swapped = [
        still(range(5)) | still(range(5, 10), x=50.0),
        still(range(5), x=50.0) | still(range(5, 10)),
    ]
    for name in ("track-hausdorff", "track-emd", "track-ospa"):
        # A frame in which the two are apart counts 1, so 5 of 10 do.
        assert distance(name, truth, swapped) == pytest.approx(0.5, abs=1e-15)


def test_one_side_without_tracks_has_the_maximum_distance() -> None:
    """1 for Hausdorff and EMD, the cut-off for OSPA, whose distance is then all cardinality."""
    track = [still(range(3))]
    assert distance("track-hausdorff", track, []) == 1.0
    assert distance("track-emd", [], track) == 1.0
    report = report_of("track-ospa", track, [], cutoff=0.3)
    assert [report.value(name) for name in ("track_ospa", "localisation", "cardinality")] == [
        0.3,
        0.0,
        0.3,
    ]


def test_two_empty_sides_have_no_distance() -> None:
    for name, parameters in METRICS:
        assert distance(name, [], [], **parameters) == 0.0


@pytest.mark.parametrize("name", ["track-hausdorff", "track-emd", "track-ospa", "ospa2"])
def test_a_class_that_dont_care_empties_has_its_row(name: str) -> None:
    """The only bus is ignored, and absorbs the only detection of a bus."""
    box = (0.0, 0.0, 10.0, 10.0)
    car, bus = Thing(box, "car", track_id=1), Thing(box, "bus", track_id=2)
    ignored = replace(bus, flags=ObjectFlag.IGNORE)
    evaluator = create_evaluator(name)
    report = evaluator.report(
        evaluator.tally(
            make_annotations({KEY: {0: [car, ignored]}}), make_annotations({KEY: {0: [car, bus]}})
        )
    )
    measure = evaluator.measures[0].name
    assert [
        report.value(each, label="bus") for each in (measure, "frames", "references", "predictions")
    ] == [0.0, 1, 0, 0]
    assert report.value(measure) == 0.0


def test_sequences_count_equally_whatever_their_length() -> None:
    """One sequence is perfect in 2 frames, one has nothing found in 8: (0 + 1) / 2."""
    perfect, missed = still(range(2)), still(range(8))

    def annotations(second: Track) -> Annotations:
        return make_annotations(
            {
                ("", "a"): {frame: [Thing(box, track_id=1)] for frame, box in perfect.items()},
                ("", "b"): {
                    frame: [Thing(second[frame], track_id=1)] if frame in second else []
                    for frame in missed
                },
            }
        )

    evaluator = create_evaluator("track-ospa")
    report = evaluator.report(evaluator.tally(annotations(missed), annotations({})))
    assert report.value("track_ospa") == 0.5
    assert report.value("track_ospa", sequence="a") == 0.0
    assert report.value("track_ospa", sequence="b") == 1.0


# --- metrics -------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), METRICS)
def test_a_set_of_tracks_has_no_distance_from_itself(
    name: str, parameters: dict[str, object]
) -> None:
    """Another set has a distance above 0."""
    for seed in range(10):
        tracks = wandering(seed)
        assert distance(name, tracks, tracks, **parameters) == 0.0
        changed = [*tracks, still(range(2), x=90.0)]
        assert distance(name, tracks, changed, **parameters) > 0.0


@pytest.mark.slow
@pytest.mark.parametrize(("name", "parameters"), METRICS)
def test_distances_are_symmetric_and_satisfy_the_triangle_inequality(
    name: str, parameters: dict[str, object]
) -> None:
    @settings(max_examples=example_count(10), deadline=None)
    @given(seeds)
    def law(seed: int) -> None:
        x, y, z = (wandering(seed + place) for place in range(3))
        there = distance(name, x, y, **parameters)
        assert distance(name, y, x, **parameters) == pytest.approx(there, abs=1e-12)
        onward = distance(name, y, z, **parameters)
        assert distance(name, x, z, **parameters) <= there + onward + 1e-12

    law()
