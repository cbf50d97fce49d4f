"""The content of a frame, and which frames are the worst, as counted by hand."""

from __future__ import annotations

import numpy as np
import pytest
from tests.evaluators.render.scenes import aligned_of, box, outcomes_of, scored

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.render.scored import ScoredFrames, WorstBy
from vidscore_evaluators.render.style import KINDS, Kind
from vidscore_evaluators.selection import Selection

TRUTH = [
    box(1, 0, track_id=5),
    box(2, 4, track_id=5),
    box(2, 100, track_id=6),
    box(4, 12, track_id=5),
    box(9, 0, sequence="alley", track_id=5),
]
"""Aligned, the row of alley comes first."""

DETECTIONS = [
    box(1, 1, track_id=50, confidence=0.5),
    box(2, 5, track_id=51, confidence=0.25),
    box(4, 200, track_id=50, confidence=0.75),
    box(4, 300, track_id=52, confidence=0.75),
    box(9, 500, sequence="alley", track_id=50, confidence=1.0),
]


@pytest.fixture
def frames() -> ScoredFrames:
    """Mistakes: alley 9 two, street 1 none, street 2 a miss and an id switch, street 4 three."""
    return scored(
        aligned_of(TRUTH, DETECTIONS),
        matched=[(1, 1), (2, 2)],
        missed=[0, 3, 4],
        wrong=[0, 3, 4],
        switches=[1],
        shares=np.array([0.0, 7.0, 1.0, 1.0, 3.0]),
    )


def names(frames: ScoredFrames, rows: object) -> list[tuple[str, int]]:
    return [
        (frames.key_of(row).sequence, int(frames.numbers(np.array([row]))[0]))
        for row in np.asarray(rows).tolist()
    ]


def test_frames_with_the_most_mistakes_come_first_and_among_equal_ones_the_earliest(
    frames: ScoredFrames,
) -> None:
    rows = frames.select(Selection())
    worst = frames.worst(rows, 3, WorstBy.MISTAKES)
    assert frames.badness(rows, WorstBy.MISTAKES).tolist() == [2, 0, 2, 3]
    assert names(frames, worst) == [("street", 4), ("alley", 9), ("street", 2)]


def test_by_share_the_frame_that_adds_most_comes_first(frames: ScoredFrames) -> None:
    """Alley 9 adds 0, street 1 adds 7, street 2 adds 1 and 1, street 4 adds 3."""
    worst = frames.worst(frames.select(Selection()), 2, WorstBy.SHARE)
    assert names(frames, worst) == [("street", 1), ("street", 4)]


def test_a_part_of_the_frames_is_selected_by_sequence_and_number(frames: ScoredFrames) -> None:
    chosen = frames.select(Selection(sequences="street", frames="2:8"))
    assert names(frames, chosen) == [("street", 2), ("street", 4)]
    assert [key.sequence for key, _ in frames.groups(chosen)] == ["street"]
    with pytest.raises(ParameterError, match="no frame in the chosen part"):
        frames.select(Selection(frames="100"))


def test_a_view_counts_the_objects_of_its_frame(frames: ScoredFrames) -> None:
    view = frames.view(2)
    assert (view.sequence, view.number) == (SequenceKey("", "street"), 2)
    assert view.counts == {
        Kind.HIT: 1,
        Kind.FALSE_ALARM: 0,
        Kind.MISS: 1,
        Kind.ID_SWITCH: 1,
        Kind.IGNORED: 0,
    }
    truth = view.sides[Side.TRUTH]
    assert truth.coordinates.tolist() == [[4, 10, 14, 20], [100, 10, 110, 20]]
    assert [KINDS[kind] for kind in truth.kinds] == [Kind.ID_SWITCH, Kind.MISS]
    assert truth.names == ("0 car #5", "1 car #6")
    assert view.sides[Side.DETECTIONS].confidences.tolist() == [0.25]
    assert np.isnan(truth.confidences).all()


def test_a_right_to_left_label_is_replaced_by_its_number() -> None:
    """Among the labels of both sides, in order: Car, car, then one in Hebrew and one in Arabic."""
    hebrew, arabic = "\u05e1\u05d9\u05e8\u05d4", "\u0639\u0631\u0628\u0629"
    truth = [{**box(1, 4.0), "class": name} for name in ("car", hebrew, arabic)]
    detections = [{**box(1, 4.0), "class": name} for name in ("Car", hebrew)]
    view = scored(aligned_of(truth, detections), [(1, 1)], [0, 2], [0]).view(0)
    assert view.sides[Side.TRUTH].names == ("0 car", "1 label 2", "2 label 3")
    assert view.sides[Side.DETECTIONS].names == ("0 Car", "1 label 2")


def test_a_tail_has_the_centres_of_the_track_and_gaps_where_it_was_not_seen(
    frames: ScoredFrames,
) -> None:
    """Track 50 is in frames 1 and 4, not in 2; track 5 of the truth is in all, but not of alley."""
    view = frames.view(3, tail_frames=3)
    detections, truth = view.sides[Side.DETECTIONS], view.sides[Side.TRUTH]
    assert detections.tails.tolist() == [[6, 15], [205, 15], [305, 15]]
    assert detections.tail_of.tolist() == [0, 0, 1]
    assert detections.tail_breaks.tolist() == [True, True, True]
    assert truth.tails.tolist() == [[5, 15], [9, 15], [17, 15]]
    assert truth.tail_breaks.tolist() == [True, False, False]


def test_a_tail_has_a_maximum_length_in_frames(frames: ScoredFrames) -> None:
    truth = frames.view(3, tail_frames=2).sides[Side.TRUTH]
    assert truth.tails.tolist() == [[9, 15], [17, 15]]
    assert len(frames.view(3, tail_frames=0).sides[Side.TRUTH].tails) == 1


def test_objects_without_an_outcome_are_not_drawn() -> None:
    aligned = aligned_of(TRUTH, DETECTIONS)
    some = scored(aligned, matched=[(1, 1)], missed=[], wrong=[])
    assert some.view(0).counts[Kind.IGNORED] == 2  # Named, and ignored.
    table = outcomes_of(aligned, [(1, 1)], [], [])
    fewer = ScoredFrames(aligned, table.take(table.sides == 0))
    assert fewer.view(0).counts[Kind.IGNORED] == 1


def test_the_extent_is_that_of_one_sequence(frames: ScoredFrames) -> None:
    assert frames.extent(SequenceKey("", "street")).tolist() == [310, 20]
    assert frames.extent(SequenceKey("", "alley")).tolist() == [510, 20]
