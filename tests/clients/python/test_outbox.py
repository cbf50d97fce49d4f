"""When frames become batches, and how much may wait; with a test clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.clients.python.streaming import frames

from vidscore_client import Batching, Frames, Side
from vidscore_client._encoding import encode_frames
from vidscore_client._outbox import FRAME_BYTES, OBJECT_BYTES, Outbox, SingleFrame, join

BOX_BYTES = FRAME_BYTES + OBJECT_BYTES + 4 * 8
"""The bytes that are counted for a frame with one box."""


def frame(number: int, objects: int = 1) -> SingleFrame:
    """A frame of sequence a."""
    return SingleFrame.of(4, "a", number, np.ones((objects, 4)))


def outbox(**settings: Any) -> Outbox:
    """An empty outbox."""
    return Outbox(Batching(**{"batch_interval_s": 1.0, **settings}))


def numbers(box: Outbox, now_s: float) -> list[tuple[Side, list[int]]]:
    """Everything that is due: side and frame numbers of each batch."""
    taken: list[tuple[Side, list[int]]] = []
    while True:
        batch = box.take(now_s)
        if batch is None:
            return taken
        taken.append((batch.side, batch.frames.frame_numbers.tolist()))


def due_s(box: Outbox) -> float | None:
    """The time when something is due."""
    return box.due_s


def test_a_frame_is_due_when_its_interval_is_over_and_not_before() -> None:
    box = outbox()
    assert due_s(box) is None
    assert box.offer("truth", frame(0), now_s=10.0)
    assert due_s(box) == 11.0
    assert box.take(10.999) is None
    assert numbers(box, 11.0) == [("truth", [0])]
    assert due_s(box) is None


def test_the_first_frame_of_a_batch_decides_when_it_is_due() -> None:
    box = outbox()
    box.offer("truth", frame(0), now_s=10.0)
    box.offer("truth", frame(1), now_s=10.9)
    assert numbers(box, 11.0) == [("truth", [0, 1])]
    box.offer("truth", frame(2), now_s=11.5)
    assert due_s(box) == 12.5


def test_each_side_has_its_own_interval() -> None:
    box = outbox()
    box.offer("truth", frame(0), now_s=10.0)
    box.offer("detections", frame(0), now_s=10.5)
    assert due_s(box) == 11.0
    assert numbers(box, 11.0) == [("truth", [0])]
    assert due_s(box) == 11.5
    assert numbers(box, 11.5) == [("detections", [0])]


def test_a_batch_of_the_maximum_number_of_frames_is_due_at_once() -> None:
    box = outbox(batch_frames=3)
    for number in range(7):
        box.offer("truth", frame(number), now_s=10.0)
    assert due_s(box) == float("-inf")
    assert numbers(box, 10.0) == [("truth", [0, 1, 2]), ("truth", [3, 4, 5])]
    assert numbers(box, 11.0) == [("truth", [6])]


def test_a_batch_is_closed_before_it_would_get_too_large() -> None:
    box = outbox(batch_bytes=2 * BOX_BYTES)
    for number in range(3):
        box.offer("truth", frame(number), now_s=10.0)
    assert numbers(box, 10.0) == [("truth", [0, 1])]


def test_a_frame_larger_than_a_batch_is_sent_alone() -> None:
    box = outbox(batch_bytes=2 * BOX_BYTES)
    for number, objects in enumerate([1, 50, 1]):
        box.offer("truth", frame(number, objects), now_s=10.0)
    assert numbers(box, 11.0) == [("truth", [0]), ("truth", [1]), ("truth", [2])]


def test_frames_with_and_without_masks_are_in_separate_messages() -> None:
    """Frames 0, 3 and 4 have masks, 1 has none, 2 has no objects."""
    mask = [{"size": [1, 1], "counts": [1]}]
    box = outbox()
    for number in range(5):
        boxes = [] if number == 2 else [[0.0, 0.0, 1.0, 1.0]]
        masks = mask if number in {0, 3, 4} else None
        box.offer("truth", SingleFrame.of(4, "a", number, boxes, masks=masks), 0.0)
    box.flush()
    assert numbers(box, 0.0) == [("truth", [0]), ("truth", [1, 2]), ("truth", [3, 4])]


def test_whole_batches_do_not_wait_and_stay_in_order_after_single_frames() -> None:
    box = outbox()
    box.offer("truth", frame(100), now_s=10.0)
    box.offer("truth", frames(2), now_s=10.0)
    assert numbers(box, 10.0) == [("truth", [100]), ("truth", [0, 1])]


def test_whole_batches_are_split_by_frames_and_by_bytes() -> None:
    box = outbox(batch_frames=4, batch_bytes=3 * BOX_BYTES)
    box.offer("truth", frames(7), now_s=10.0)
    assert numbers(box, 10.0) == [("truth", [0, 1, 2]), ("truth", [3, 4, 5]), ("truth", [6])]


def test_a_server_can_make_batches_smaller_but_not_larger() -> None:
    box = outbox(batch_frames=4)
    box.limit({"maximum_batch_frames": 100, "maximum_message_bytes": 2 * 2 * BOX_BYTES})
    box.offer("truth", frames(5), now_s=10.0)
    assert numbers(box, 10.0) == [("truth", [0, 1]), ("truth", [2, 3]), ("truth", [4])]
    box.limit({"maximum_batch_frames": 1, "maximum_message_bytes": 2 * 1000 * BOX_BYTES})
    box.offer("truth", frames(2), now_s=10.0)
    assert numbers(box, 10.0) == [("truth", [0]), ("truth", [1])]


def test_flush_makes_everything_due() -> None:
    box = outbox()
    box.offer("truth", frame(0), now_s=10.0)
    box.offer("detections", frame(1), now_s=10.0)
    box.flush()
    assert numbers(box, 10.0) == [("truth", [0]), ("detections", [1])]


def test_a_full_queue_accepts_nothing_until_something_is_taken_out() -> None:
    box = outbox(queue_frames=3, batch_frames=2)
    assert all(box.offer("truth", frame(number), now_s=10.0) for number in range(3))
    assert not box.offer("detections", frame(0), now_s=10.0)
    assert box.frames == 3
    assert box.take(10.0) is not None
    assert box.frames == 1
    assert box.offer("detections", frame(0), now_s=10.0)


def test_a_queue_is_full_by_bytes_too() -> None:
    box = outbox(queue_bytes=2 * BOX_BYTES)
    assert box.offer("truth", frame(0), now_s=10.0)
    assert box.offer("truth", frame(1), now_s=10.0)
    assert not box.offer("truth", frame(2), now_s=10.0)


def test_an_empty_queue_accepts_a_frame_larger_than_itself() -> None:
    box = outbox(queue_frames=3)
    assert box.offer("truth", frames(10), now_s=10.0)
    assert not box.offer("truth", frame(10), now_s=10.0)
    assert numbers(box, 10.0) == [("truth", list(range(10)))]


@given(
    st.lists(
        st.tuples(st.sampled_from(["truth", "detections"]), st.booleans(), st.integers(0, 5)),
        max_size=30,
    ),
    st.integers(1, 6),
    st.integers(1, 500),
)
def test_every_frame_leaves_once_in_order_and_the_queue_is_empty_again(
    items: list[tuple[Any, bool, int]], batch_frames: int, batch_bytes: int
) -> None:
    box = outbox(batch_frames=batch_frames, batch_bytes=batch_bytes)
    given_numbers: dict[str, list[int]] = {"truth": [], "detections": []}
    taken: dict[str, list[int]] = {"truth": [], "detections": []}
    for now, (side, single, count) in enumerate(items):
        item = frame(count, objects=count) if single else frames(count)
        if single or count:
            assert box.offer(side, item, now_s=float(now))
            given_numbers[side] += [count] if single else list(range(count))
        for taken_side, batch in numbers(box, float(now)):
            taken[taken_side] += batch
    box.flush()
    for taken_side, batch in numbers(box, 1e9):
        assert len(batch) <= batch_frames
        taken[taken_side] += batch
    assert taken == given_numbers
    assert box.frames == 0
    assert due_s(box) is None
    assert box.offer("truth", frames(5000), now_s=0.0)


def test_the_counted_bytes_are_an_upper_bound_on_the_sent_bytes() -> None:
    """With columns of the longest encodings, without the tables of names."""
    count = 200
    largest = [
        SingleFrame.of(
            8,
            "a",
            2**62 + number,
            np.full((count, 8), 0.1),
            labels=["x"] * count,
            confidences=[0.3] * count,
            track_ids=[-1] * (count - 1) + [2**62],
            flags=[8] * count,
            dont_care=True,
        )
        for number in range(3)
    ]
    joined = join(largest)
    message = encode_frames(joined)
    counted = FRAME_BYTES * 3 + (OBJECT_BYTES + 8 * 8) * 3 * count
    assert message.ByteSize() <= counted


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("batch_frames", 0),
        ("batch_bytes", 0),
        ("queue_frames", -1),
        ("queue_bytes", 0),
        ("batch_interval_s", -0.1),
        ("batch_interval_s", float("nan")),
        ("policy", "drop"),
        ("block_timeout_s", -1.0),
    ],
)
def test_outbox_settings_that_would_send_nothing_are_refused(setting: str, value: Any) -> None:
    with pytest.raises(ValueError, match=setting):
        Batching(**{setting: value})


def test_offsets_of_few_bits_count_their_bytes_in_full() -> None:
    box = outbox(batch_bytes=10 * BOX_BYTES)
    zeros, numbers_of, starts = np.zeros(100, int), np.arange(100), np.arange(101, dtype=np.uint8)
    box.offer("truth", Frames([("", "a")], zeros, numbers_of, starts, np.ones((100, 4))), 0.0)
    assert [len(batch) for _, batch in numbers(box, 0.0)] == [10] * 10
