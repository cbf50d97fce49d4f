"""Doubts about feeds: each fault that feeds have, and one feed without any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest

from vidscore_evaluators.annotations import BOX
from vidscore_evaluators.feeds import FeedFrame, Schema, Unsaid
from vidscore_evaluators.feeds.blocks import read_block
from vidscore_evaluators.feeds.doubts import HARMLESS, Doubt, FeedWatch, refused
from vidscore_evaluators.feeds.mapping import FrameMap

FRAMES = 20
SIZE = (640.0, 480.0)


def objects(number: int) -> list[dict[str, Any]]:
    box = [number + 0.5, 10.25, number + 40.5, 50.25]
    return [{"label": "car", "box": box, "confidence": 0.5 + number / 100}] if number % 5 else []


def watched(
    numbers: Sequence[int] = range(FRAMES),
    found: Callable[[int], list[dict[str, Any]]] = objects,
    unsaid: frozenset[Unsaid] = frozenset(),
    size_px: tuple[float, float] | None = None,
    *,
    by_time: bool = False,
) -> FeedWatch:
    watch = FeedWatch(by_time, SIZE)
    frames = [
        FeedFrame("cam", number, None, found(number), size_px=size_px, unsaid=unsaid)
        for number in numbers
    ]
    add(watch, frames)
    return watch


def add(watch: FeedWatch, frames: Sequence[FeedFrame]) -> None:
    """Add frames, half of them at a time."""
    for part in (frames[: len(frames) // 2], frames[len(frames) // 2 :]):
        schema = Schema("given", "frames that are given", partial(_given, list(part)))
        watch.add(read_block(schema, FrameMap({"cam": "street"}), [(b"", "")], BOX))


def _given(frames: list[FeedFrame], _data: bytes) -> list[FeedFrame]:
    return frames


def altered(change: Callable[[dict[str, Any]], object]) -> Callable[[int], list[dict[str, Any]]]:
    def found(number: int) -> list[dict[str, Any]]:
        entries = objects(number)
        for entry in entries:
            change(entry)
        return entries

    return found


def scaled(entry: dict[str, Any], factor: float) -> None:
    entry["box"] = [value * factor for value in entry["box"]]


def rounded(entry: dict[str, Any]) -> None:
    entry["box"] = [int(value) for value in entry["box"]]


def test_a_complete_feed_raises_no_doubt() -> None:
    assert watched(size_px=SIZE).findings() == []


FAULTY: dict[Doubt, tuple[FeedWatch, str]] = {
    Doubt.GAPS: (watched(range(0, 600, 30)), "missing between others: 551; only one frame in 30"),
    Doubt.CHANGES_ONLY: (watched(unsaid=frozenset({Unsaid.EVERY_FRAME})), "silent"),
    Doubt.NO_CONFIDENCE: (
        watched(found=altered(lambda entry: entry.pop("confidence"))),
        "16 of 16 objects have none",
    ),
    Doubt.CONSTANT_CONFIDENCE: (
        watched(found=altered(lambda entry: entry.update(confidence=0.75))),
        "every object has 0.75",
    ),
    Doubt.PUBLISHING_TIMES: (
        watched(unsaid=frozenset({Unsaid.FRAME_TIME}), by_time=True),
        "not those of frames",
    ),
    Doubt.NORMALISED_COORDINATES: (
        watched(found=altered(lambda entry: scaled(entry, 0.01))),
        "from -1 to 1",
    ),
    Doubt.RESOLUTION: (watched(size_px=(1920.0, 1080.0)), "have 1920 x 1080 pixels"),
    Doubt.NO_EMPTY_FRAMES: (
        watched(
            found=lambda number: objects(number) or objects(1),
            unsaid=frozenset({Unsaid.EMPTY_FRAMES}),
        ),
        "no frame is without an object",
    ),
    Doubt.INTEGER_COORDINATES: (watched(found=altered(rounded)), "are integers"),
}


@pytest.mark.parametrize("doubt", FAULTY)
def test_exactly_the_fault_of_a_feed_is_found(doubt: Doubt) -> None:
    watch, text = FAULTY[doubt]
    [finding] = watch.findings()
    assert finding.doubt is doubt
    assert text in finding.text


@pytest.mark.parametrize("doubt", FAULTY)
def test_a_fault_that_may_make_a_score_wrong_is_refused_unless_accepted(doubt: Doubt) -> None:
    findings = FAULTY[doubt][0].findings()
    assert bool(refused(findings, [])) == (doubt not in HARMLESS)
    assert refused(findings, [doubt.value]) == []


def test_a_frame_missing_here_and_there_is_reported_and_not_refused() -> None:
    watch = watched(range(10))
    add(watch, [FeedFrame("cam", number, None, objects(number)) for number in range(11, 40)])
    [finding] = watch.findings()
    assert finding.doubt is Doubt.MISSING_FRAMES
    assert refused([finding], []) == []


def test_boxes_far_outside_the_images_suggest_another_resolution() -> None:
    watch = watched(found=altered(lambda entry: scaled(entry, 40.3)))
    assert [finding.doubt for finding in watch.findings()] == [Doubt.RESOLUTION]


def test_frames_in_another_order_are_not_missing() -> None:
    """A partition with the even frames is read before one with the odd ones."""
    watch = watched([*range(0, FRAMES, 2), *range(1, FRAMES, 2)], size_px=SIZE)
    assert watch.findings() == []


def test_a_few_frames_raise_no_doubt_about_gaps_and_confidences() -> None:
    assert watched(range(0, 9, 4), found=altered(rounded)).findings() == []


def test_every_doubt_has_its_test() -> None:
    assert {*FAULTY, Doubt.MISSING_FRAMES} == set(Doubt)
