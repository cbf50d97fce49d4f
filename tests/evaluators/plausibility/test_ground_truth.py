"""Ground truth that contradicts itself gives a warning, and contents are counted."""

from __future__ import annotations

from itertools import accumulate

from msgspec.structs import replace

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.plausibility.inputs import (
    Spread,
    contents_of,
    warnings_of_pair,
    warnings_of_side,
)
from vidscore_evaluators.testing import Thing, make_annotations

CAR = Thing((0.0, 0.0, 10.0, 20.0), "car")
BUS = Thing((50.0, 0.0, 90.0, 20.0), "bus")


def video(*frames: list[Thing]) -> dict[tuple[str, str], dict[int, list[Thing]]]:
    return {("", "north"): dict(enumerate(frames))}


def codes(*frames: list[Thing]) -> dict[str, int]:
    truth = make_annotations(video(*frames), arity=4)
    return {entry.code: entry.count for entry in warnings_of_side(Side.TRUTH, truth)}


def test_ordinary_ground_truth_gives_no_warning() -> None:
    assert codes([CAR, BUS], [CAR], []) == {}


def test_ground_truth_without_objects_gives_a_warning() -> None:
    [warning] = warnings_of_side(Side.TRUTH, make_annotations(video([], []), arity=4))
    assert warning.code == "no_objects"
    assert "check that the right file was given" in warning.message


def test_a_repeated_box_in_a_frame_gives_a_warning_with_its_place() -> None:
    truth = make_annotations(video([CAR], [CAR, BUS, CAR]), arity=4)
    [warning] = warnings_of_side(Side.TRUTH, truth)
    assert (warning.code, warning.count) == ("same_box_twice", 1)
    assert "frame 1 of sequence north" in warning.message


def test_the_same_box_under_another_label_is_another_object() -> None:
    assert codes([CAR, replace(CAR, label="van")]) == {}


def test_boxes_without_area_give_a_warning() -> None:
    assert codes([replace(CAR, coordinates=(5.0, 5.0, 5.0, 9.0))]) == {"boxes_without_area": 1}


def test_four_corners_without_area_or_in_the_wrong_order_give_a_warning() -> None:
    """A slanted line and a bow tie; not the square in either direction."""
    square = (0.0, 0.0, 9.0, 0.0, 9.0, 9.0, 0.0, 9.0)
    line, bow_tie = (
        (0.0, 0.0, 4.0, 4.0, 8.0, 8.0, 6.0, 6.0),
        (0.0, 0.0, 9.0, 9.0, 9.0, 0.0, 0.0, 9.0),
    )
    things = [Thing(shape, "a") for shape in (square, square[::-1], line, bow_tie)]
    truth = make_annotations(video(things), arity=8)
    found = {entry.code: entry.count for entry in warnings_of_side(Side.TRUTH, truth)}
    assert found == {"boxes_without_area": 1, "sides_cross": 1}


def test_a_track_that_jumps_gives_a_warning() -> None:
    """Nine steps of one pixel, and one of five hundred."""
    lefts = [*range(5), *range(500, 505)]
    boxes = [Thing((float(x), 0.0, x + 10.0, 10.0), "car", 1.0, 7) for x in lefts]
    assert codes(*([box] for box in boxes)) == {"tracks_jump": 1}


def test_a_track_that_moves_evenly_does_not_jump() -> None:
    boxes = [Thing((30.0 * x, 0.0, 30.0 * x + 10.0, 10.0), "car", 1.0, 7) for x in range(10)]
    assert codes(*([box] for box in boxes)) == {}


def test_a_ball_that_is_faster_than_its_players_does_not_jump() -> None:
    """Eleven players take a step of one pixel; the ball rests, and is passed for 60 pixels."""
    ball = list(accumulate([1, 1, 60, 60, 1, 60] * 3, initial=0))
    frames = []
    for frame, left in enumerate(ball):
        players = [
            Thing((frame, 40.0 * row, frame + 9.0, 40.0 * row + 30.0), "player", 1.0, row)
            for row in range(11)
        ]
        frames.append([*players, Thing((left, 0.0, left + 10.0, 10.0), "ball", 1.0, 99)])
    assert codes(*frames) == {}


def test_two_objects_with_exchanged_track_ids_jump_there_and_back() -> None:
    """In one frame of ten; each has eight other steps of one pixel."""

    def both(frame: int) -> list[Thing]:
        boxes = [(frame, top, frame + 10.0, top + 10.0) for top in (0.0, 500.0)]
        return [Thing(box, "car", 1.0, row ^ (frame == 5)) for row, box in enumerate(boxes)]

    assert codes(*map(both, range(10))) == {"tracks_jump": 4}


def test_contents_count_labels_sizes_tracks_and_empty_frames() -> None:
    tracked: tuple[list[Thing], ...] = (
        [replace(CAR, track_id=1)],
        [replace(CAR, track_id=1), replace(BUS, track_id=2)],
        [],
    )
    found = contents_of(make_annotations(video(*tracked), arity=4))
    assert found.labels == {"car": 2, "bus": 1}
    assert (found.width_px, found.height_px) == (Spread(10, 10, 40), Spread(20, 20, 20))
    assert (found.tracks, found.track_frames) == (2, Spread(1, 1.5, 2))
    assert found.empty_frames == 1


def test_both_sides_are_compared_with_each_other() -> None:
    truth = make_annotations(video([CAR], [CAR], [CAR]), arity=4)
    found = make_annotations(video(*([replace(CAR, label="Car")] for _ in range(3))), arity=4)
    [warning, _] = warnings_of_pair(truth, found)
    assert warning.code == "labels_written_otherwise"
    assert "'Car' for 'car'" in warning.message


def test_labels_with_differently_composed_letters_count_as_different_spellings() -> None:
    truth, found = (
        make_annotations(video(*([replace(CAR, label=label)] for _ in range(3))), arity=4)
        for label in ("caf\u00e9", "cafe\u0301")
    )
    [warning, *_] = warnings_of_pair(truth, found)
    assert warning.code == "labels_written_otherwise"
    assert r"'cafe\u0301' for 'caf\xe9'" in warning.message
