"""The definition alone decides the current frame; all faults of a clock are reported at once."""

from __future__ import annotations

from typing import Any

import pytest

from vidscore_evaluators.annotations import SequenceKey
from vidscore_evaluators.errors import SpecificationError
from vidscore_server.domain.definition import definition_from_dict, definition_to_dict
from vidscore_server.domain.live_clock import (
    FrameSource,
    Timeline,
    timeline_from_json,
    timeline_of,
    timeline_to_json,
)

SEQUENCES: list[dict[str, Any]] = [
    {"name": "a", "frame_count": 3, "first_frame": 1},
    {"domain": "night", "name": "b", "frame_count": 2},
]
TOLD = ["sequences", "labels", "frame_counts"]


def definition(live: object, **more: object) -> dict[str, Any]:
    return {
        "evaluators": [{"name": "spotgeo"}],
        "sequences": SEQUENCES,
        "public_names": TOLD,
        "live": live,
        **more,
    }


def timeline(live: object, **more: object) -> Timeline:
    found = definition_from_dict(definition(live, **more))
    assert found.live is not None
    return timeline_of(found.live, found.specification.sequences)


def faults(live: object, **more: object) -> list[str]:
    with pytest.raises(SpecificationError) as caught:
        definition_from_dict(definition(live, **more))
    return [str(fault) for fault in caught.value.faults]


# --- the current frame -----------------------------------------------------------------------


def test_sequences_follow_each_other_at_the_frame_rate() -> None:
    """Ten per second: a1 at 0, a2 at 0.1, a3 at 0.2, night/b0 at 0.3, night/b1 at 0.4, end 0.5."""
    clock = timeline({"frame_rate": 10})
    assert clock.due_us.tolist() == [0, 100_000, 200_000, 300_000, 400_000]
    assert (len(clock), clock.end_us) == (5, 500_000)
    a, b = SequenceKey("", "a"), SequenceKey("night", "b")
    frames = [clock.frame(position) for position in range(5)]
    assert frames == [(a, 1), (a, 2), (a, 3), (b, 0), (b, 1)]


@pytest.mark.parametrize(
    ("elapsed_us", "position"),
    [(-5, 0), (0, 0), (99_999, 0), (100_000, 1), (250_000, 2), (499_999, 4), (500_000, None)],
)
def test_a_frame_is_current_from_its_time_to_that_of_the_next(
    elapsed_us: int, position: int | None
) -> None:
    assert timeline({"frame_rate": 10}).position_at(elapsed_us) == position


def test_the_last_frame_of_a_sequence_with_times_lasts_as_long_as_the_one_before() -> None:
    clock = timeline(
        {
            "frame_rate": 4,
            "sequences": [{"name": "a", "frame_times_s": [0, 0.5, 0.7]}],
        }
    )
    assert clock.due_us.tolist() == [0, 500_000, 700_000, 900_000, 1_150_000]
    assert clock.end_us == 1_400_000
    assert [clock.over_at(position) for position in (0, 2, 4)] == [500_000, 900_000, 1_400_000]


def test_a_period_that_is_not_an_integer_of_microseconds_does_not_drift() -> None:
    """At 30 frames per second frame 3,000 is due after 100 s, not after 3,000 rounded periods."""
    clock = timeline(
        {"frame_rate": 30}, sequences=[{"name": "a", "frame_count": 3_001, "first_frame": 0}]
    )
    assert clock.due_at(1) == 33_333
    assert clock.due_at(2) == 66_667
    assert clock.due_at(3_000) == 100_000_000


def test_sequences_without_frames_are_left_out() -> None:
    clock = timeline(
        {"frame_rate": 1},
        sequences=[{"name": "none", "frame_count": 0}, {"name": "one", "frame_count": 1}],
    )
    assert [clock.frame(position) for position in range(len(clock))] == [(("", "one"), 0)]


@pytest.mark.parametrize(
    "times",
    [[0.0, 0.999, 1.0, 1.001], [0.0, 60.0, 120.0, 180.0], [0.0, 0.003, 60.003, 120.003]],
)
def test_frames_may_be_a_millisecond_to_a_minute_apart(times: list[float]) -> None:
    """Whatever the difference as a binary number: 1.001 - 1.0 is slightly less."""
    clock = timeline(
        {"sequences": [{"name": "a", "frame_times_s": times}]},
        sequences=[{"name": "a", "frame_count": 4}],
    )
    assert clock.due_us.tolist() == [round(time * 1e6) for time in times]


@pytest.mark.parametrize(("rate", "second_us"), [(1000, 1_000), (1 / 60, 60_000_000)])
def test_a_rate_may_be_a_frame_per_millisecond_or_per_minute(rate: float, second_us: int) -> None:
    assert timeline({"frame_rate": rate}).due_at(1) == second_us


def test_a_clock_may_have_a_million_frames() -> None:
    clock = timeline({"frame_rate": 5}, sequences=[{"name": "a", "frame_count": 1_000_000}])
    assert (len(clock), clock.end_us) == (1_000_000, 200_000_000_000)


def test_a_stored_clock_gives_the_same_timeline() -> None:
    live = {
        "frame_rate": 4,
        "frames": "sent by the organiser",
        "sequences": [{"domain": "night", "name": "b", "frame_times_s": [0, 0.25]}],
    }
    found = definition_from_dict(definition(live))
    assert found.live is not None
    before = timeline_of(found.live, found.specification.sequences)
    after = timeline_from_json(timeline_to_json(found.live, found.specification.sequences))
    assert after.due_us.tolist() == before.due_us.tolist()
    assert (after.keys, after.first_frames) == (before.keys, before.first_frames)
    assert after.source is FrameSource.ORGANISER


def test_an_impossible_stored_clock_is_refused() -> None:
    """The stored clock needs a rate, which was lost."""
    kept = '{"live": {}, "sequences": [{"name": "a", "frame_count": 3}]}'
    with pytest.raises(SpecificationError, match=r"live\.frame_rate: found missing"):
        timeline_from_json(kept)


def test_a_definition_keeps_its_clock() -> None:
    live = {"frame_rate": 4.0, "sequences": [{"name": "a", "frame_times_s": [0.0, 0.5, 0.75]}]}
    found = definition_from_dict(definition(live))
    written = definition_to_dict(found)
    assert written["live"] == live
    assert definition_from_dict(written) == found


# --- invalid clocks --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("live", "told"),
    [
        ([], "live"),
        ({"frame_rate": 0}, "live.frame_rate: found 0, expected frames per second"),
        ({"frame_rate": 1001}, "from 1/60 to 1000"),
        ({"frame_rate": True}, "live.frame_rate"),
        ({"frame_rate": float("nan")}, "live.frame_rate"),
        ({"frame_rate": 5, "frames": "ours"}, "'held by the participant' or 'sent by the organ"),
        ({"frame_rate": 5, "frames": []}, "'held by the participant' or 'sent by the organ"),
        ({"framerate": 5}, "live.framerate: unknown key; did you mean frame_rate?"),
        ({}, "live.frame_rate: found missing, expected one for a, here or in an entry of"),
        ({"frame_rate": 0.016}, "from 1/60 to 1000"),
        ({"frame_rate": 5, "sequences": [{"name": "c", "frame_rate": 1}]}, "a sequence of the"),
        (
            {"frame_rate": 5, "sequences": [{"name": "aa", "frame_rate": 1}]},
            "a sequence of the specification; did you mean a?",
        ),
        *(
            (
                {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": times}]},
                "an array of seconds, one for each frame",
            )
            for times in ([], "012", [0, True, 2], [0, "1", 2])
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": [0]}]},
            "found one time, expected frame_rate",
        ),
        ({"frame_rate": 5, "sequences": [{"name": "a"}]}, "found neither, expected frame_rate or"),
        (
            {"sequences": [{"name": "a", "frame_rate": 1, "frame_times_s": [0, 1, 2]}]},
            "found both, expected frame_rate or frame_times_s",
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": [0, 1]}]},
            "found 2 times, expected 3, the sequence's frame_count",
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": [1, 2, 3]}]},
            "seconds from the first frame, which is at 0",
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": [0, 2, 1]}]},
            "times in order",
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": [0, 0.0009, 2]}]},
            "each from 0.001 to 60 s after the one before",
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_times_s": [0, 2, 62.0001]}]},
            "each from 0.001 to 60 s after the one before",
        ),
        (
            {"frame_rate": 5, "sequences": [{"name": "a", "frame_rate": 1}] * 2},
            "a unique name",
        ),
    ],
)
def test_an_invalid_clock_is_refused(live: object, told: str) -> None:
    assert any(told in fault for fault in faults(live)), faults(live)


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (
            {"public_names": ["sequences", "labels"]},
            "sequences and frame_counts, because",
        ),
        ({"public_names": []}, "public_names: found none, expected sequences and frame_counts"),
        ({"sequences": []}, "sequences: found none, expected the sequences that the clock"),
        ({"sequences": [{"name": "a"}]}, "sequences[0].frame_count: found missing"),
        ({"sequences": [{"name": "a", "frame_count": 0}]}, "found 0 frames in all, expected 1 to"),
        (
            {"sequences": [{"name": "a", "frame_count": 1_000_001}]},
            "found 1000001 frames in all, expected 1 to 1000000",
        ),
    ],
)
def test_a_benchmark_without_usable_frames_cannot_have_a_clock(more: Any, told: str) -> None:
    found = faults({"frame_rate": 5}, **more)
    assert any(told in fault for fault in found), found


def test_all_faults_are_reported_at_once() -> None:
    found = faults(
        {"sequences": [{"name": "x", "frame_rate": 1}]}, sequences=[{"name": "a"}], open_time="no"
    )
    assert len(found) == 4
