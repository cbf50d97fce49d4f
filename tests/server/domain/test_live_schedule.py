"""What a live run shows, and when it is due, on a clock that the test sets."""

from __future__ import annotations

import asyncio

import pytest

from vidscore_evaluators.live import Coverage
from vidscore_server.domain.scoring_session import LatestValue, LiveReporting, LiveSchedule


def _schedule(
    frames: int = 0, time_s: float | None = None, shortest_s: float = 1.0
) -> LiveSchedule:
    return LiveSchedule(LiveReporting(frames, time_s, summary_only=False), shortest_s, now_s=100.0)


def _paired(frames: int) -> Coverage:
    return Coverage(frames, 0, 0)


def test_nothing_is_due_before_anything_has_arrived() -> None:
    assert _schedule(frames=1, time_s=1.0).seconds_until_due(_paired(0), 1000.0) is None


def test_by_frames_a_report_is_due_with_the_last_frame_of_the_interval() -> None:
    schedule = _schedule(frames=5)
    assert schedule.seconds_until_due(_paired(4), 150.0) is None
    assert schedule.seconds_until_due(_paired(5), 150.0) == 0.0
    schedule.reported(_paired(7), 150.0)
    assert schedule.seconds_until_due(_paired(11), 160.0) is None
    assert schedule.seconds_until_due(_paired(12), 160.0) == 0.0


def test_by_time_a_report_is_due_if_the_interval_has_passed_and_something_arrived() -> None:
    schedule = _schedule(time_s=10.0)
    assert schedule.seconds_until_due(_paired(1), 104.0) == pytest.approx(6.0)
    assert schedule.seconds_until_due(_paired(1), 110.0) == 0.0
    schedule.reported(_paired(1), 111.0)
    assert schedule.seconds_until_due(_paired(1), 200.0) is None
    assert schedule.seconds_until_due(Coverage(1, 1, 0), 119.0) == pytest.approx(2.0)


def test_with_both_intervals_the_first_to_pass_counts() -> None:
    schedule = _schedule(frames=5, time_s=10.0)
    assert schedule.seconds_until_due(_paired(4), 104.0) == pytest.approx(6.0)
    assert schedule.seconds_until_due(_paired(5), 104.0) == 0.0


def test_reports_are_never_closer_than_the_minimum_interval() -> None:
    by_frames = _schedule(frames=1, shortest_s=2.0)
    by_frames.reported(_paired(1), 100.0)
    assert by_frames.seconds_until_due(_paired(50), 100.5) == pytest.approx(1.5)
    by_time = _schedule(time_s=0.0, shortest_s=2.0)
    assert by_time.seconds_until_due(_paired(1), 100.5) == pytest.approx(1.5)


# --- A slow consumer gets the newest value and skips the others


async def _take_all(newest: LatestValue[int], taken: list[int], pause: asyncio.Event) -> None:
    async for value in newest:
        taken.append(value)
        await pause.wait()


async def test_values_that_arrive_while_the_consumer_is_busy_are_replaced_by_the_last() -> None:
    newest: LatestValue[int] = LatestValue()
    taken: list[int] = []
    pause = asyncio.Event()
    task = asyncio.create_task(_take_all(newest, taken, pause))
    newest.put(1)
    await asyncio.sleep(0)
    for value in (2, 3, 4):
        newest.put(value)
    pause.set()
    await asyncio.sleep(0)
    newest.close()
    await task
    assert taken == [1, 4]


async def test_closing_ends_the_consumer_and_drops_what_it_has_not_taken() -> None:
    newest: LatestValue[int] = LatestValue()
    newest.put(1)
    newest.close()
    assert [value async for value in newest] == []
