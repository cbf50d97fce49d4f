"""Whether a submission answered online depends on the order of events; worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from msgspec.structs import replace

from vidscore_evaluators.specification import SequenceSpec
from vidscore_server.domain.live_clock import FrameSource, LiveClock, Timeline, timeline_of
from vidscore_server.domain.online import OnlineRecord, online_record, percentiles
from vidscore_server.store.errors import StoreDamagedError
from vidscore_server.store.records import LiveClockRecord, LiveFrameRecord

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


def clock(count: int) -> Timeline:
    """One frame per second."""
    return timeline_of(LiveClock(frame_rate=1.0), [SequenceSpec("a", frame_count=count)])


def given(position: int, event: int, time_s: float, *answer: float) -> LiveFrameRecord:
    """A frame that was given out by an event at a time; `answer` is the same of its answer."""
    time = START + timedelta(seconds=time_s)
    if not answer:
        return LiveFrameRecord(position, event, time)
    number, answer_s = answer
    return LiveFrameRecord(
        position, event, time, int(number), START + timedelta(seconds=answer_s), position
    )


def record(
    *frames: LiveFrameRecord, count: int, end: int | None = None, stored: int | None = None
) -> OnlineRecord:
    answers = sum(frame.answer_event is not None for frame in frames)
    run = LiveClockRecord("", START, 99, frames[-1].position if frames else -1, end)
    return online_record(clock(count), run, frames, answers if stored is None else stored)


def test_an_answer_before_the_next_event_of_the_clock_is_in_time() -> None:
    """Give 1, answer 2, give 3, answer 4, end 5: both in time, latencies 0.25 and 0.75 s."""
    found = record(given(0, 1, 0.0, 2, 0.25), given(1, 3, 1.0, 4, 1.75), count=2, end=5)
    assert found == OnlineRecord(
        frames=FrameSource.PARTICIPANT,
        frame_count=2,
        in_time_count=2,
        late_count=0,
        missing_count=0,
        passed_count=0,
        outside_count=0,
        latencies_s=(0.25, 0.75, 0.75, 0.75),
        delay_worst_s=0.0,
    )
    assert found.certified
    assert not found.message


def test_an_answer_after_the_next_frame_is_late_whatever_the_times_are() -> None:
    """Give 1, give 2, answer 3 to the first: late, whatever its time is."""
    found = record(given(0, 1, 0.0, 3, 1.0), given(1, 2, 1.0, 4, 1.5), count=2, end=5)
    assert (found.in_time_count, found.late_count) == (1, 1)
    assert not found.certified
    assert found.message == "1 of 2 frames answered after the next one was given out"


def test_an_answer_after_the_end_is_late() -> None:
    found = record(given(0, 1, 0.0, 3, 1.5), count=1, end=2)
    assert (found.in_time_count, found.late_count) == (0, 1)


def test_the_last_answer_of_a_clock_without_a_recorded_end_is_in_time() -> None:
    """The submission was sealed while its last frame was current."""
    assert record(given(0, 1, 0.0, 2, 0.5), count=1).certified


def test_unanswered_frames_are_missing_and_those_not_given_out_are_counted() -> None:
    """Of four frames the first and the last are given out, and the last is answered."""
    found = record(given(0, 1, 0.0), given(3, 2, 3.25, 3, 3.5), count=4, end=4)
    assert (found.in_time_count, found.missing_count, found.passed_count) == (1, 3, 2)
    assert found.delay_worst_s == 0.25
    assert found.message == (
        "3 of 4 frames without an answer, 2 of them never given out "
        "(no call was open, or the server was behind)"
    )


def test_frames_that_are_not_answers_are_reported() -> None:
    found = record(given(0, 1, 0.0, 2, 0.5), count=1, end=3, stored=2)
    assert not found.certified
    assert found.message == "1 frame of the submission sent outside the clock"


def test_a_clock_that_has_not_started_has_nothing_to_certify() -> None:
    found = online_record(clock(2), None, (), 0)
    assert not found.certified
    assert (found.missing_count, found.passed_count, found.latencies_s) == (2, 2, ())
    assert found.delay_worst_s is None


@pytest.mark.parametrize("positions", [(0, 2), (-1, 1), (1, 0)])
def test_a_frame_that_the_clock_lacks_is_damage(positions: tuple[int, int]) -> None:
    """The clock has the frames 0 and 1."""
    frames = [given(position, row, float(row)) for row, position in enumerate(positions)]
    with pytest.raises(StoreDamagedError):
        record(*frames, count=2)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], ()),
        ([4.0], (4.0, 4.0, 4.0, 4.0)),
        ([3.0, 1.0], (1.0, 3.0, 3.0, 3.0)),
        (list(range(1, 11)), (5, 9, 10, 10)),
        (list(range(200, 0, -1)), (100, 180, 198, 200)),
    ],
)
def test_percentiles_are_observed_values(values: list[float], expected: tuple[float, ...]) -> None:
    """The smallest value that at least the given percentage does not exceed."""
    assert percentiles(values) == expected


@pytest.mark.parametrize("seed", range(50))
def test_the_record_agrees_with_a_walk_through_the_events(seed: int) -> None:
    """An oracle without arithmetic: it replays the events in order."""
    random = Random(seed)
    count = random.randint(1, 8)
    frames: dict[int, LiveFrameRecord] = {}
    now, in_time, late = -1, 0, 0
    end: int | None = None
    for event in range(1, 30):
        unanswered = [place for place, frame in frames.items() if frame.answer_event is None]
        if unanswered and random.random() < 0.5:
            place = random.choice(unanswered)
            frames[place] = replace(frames[place], answer_event=event, answer_time=START)
            if place == now and end is None:
                in_time += 1
            else:
                late += 1
        elif end is None and (following := [*range(now + 1, count), None]):
            chosen = random.choice(following)
            if chosen is None:
                end = event
            else:
                now = chosen
                frames[now] = LiveFrameRecord(now, event, START)
    run = LiveClockRecord("", START, 29, now, end)
    found = online_record(clock(count), run, list(frames.values()), in_time + late)
    assert (found.in_time_count, found.late_count) == (in_time, late)
    assert found.missing_count == count - in_time - late
    assert found.certified == (in_time == count)
