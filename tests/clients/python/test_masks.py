"""Masks on their way to the wire, and invalid masks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pycocotools import mask as coco

from vidscore_client import Frames, InputError, Masks
from vidscore_client._encoding import encode_frames
from vidscore_client._outbox import SingleFrame, item_size, join
from vidscore_client._truth import decode_frames

BOX = [0.0, 0.0, 3.0, 2.0]
MASK: dict[str, Any] = {"size": [2, 3], "counts": [1, 2, 3]}
OTHER: dict[str, Any] = {"size": [2, 3], "counts": "06"}


def lists(masks: Masks | None) -> list[Any] | None:
    if masks is None:
        return None
    return [masks.sizes.tolist(), masks.starts.tolist(), masks.runs.tolist()]


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_texts_of_pycocotools_give_its_runs(height: int, width: int, data: st.DataObject) -> None:
    bits = data.draw(st.integers(0, 2 ** (height * width) - 1))
    flat = [bits >> place & 1 for place in range(height * width)]
    theirs: Any = coco.encode(np.array(flat, dtype=np.uint8).reshape(width, height).T)
    masks = Masks.of([theirs, {**theirs, "counts": theirs["counts"].decode()}])
    assert masks.sizes.tolist() == [[height, width]] * 2
    for row in range(2):
        runs = masks.runs[masks.starts[row] : masks.starts[row + 1]]
        assert np.repeat(np.arange(len(runs)) % 2, runs).tolist() == flat


def test_the_largest_differences_are_read() -> None:
    """pycocotools writes the second one with seven characters."""
    runs = [1, 2**31, 1, 1, 2**31]
    text: Any = coco.frPyObjects({"size": [1, 9], "counts": runs}, 1, 9)  # type: ignore[call-overload]
    assert Masks.of([text]).runs.tolist() == runs


def of_frame(frame: int, *masks: dict[str, Any], objects: int | None = None) -> SingleFrame:
    count = len(masks) if objects is None else objects
    return SingleFrame.of(4, "a", frame, [BOX] * count, masks=masks or None)


def test_the_caller_may_reuse_the_columns_of_masks_for_its_next_frame() -> None:
    sizes, starts, runs = np.array([[2, 3]]), np.array([0, 2]), np.array([1, 5])
    frame = SingleFrame.of(4, "a", 0, [BOX], masks=Masks(sizes, starts, runs))
    sizes[:], starts[:], runs[:] = 9, 0, 7
    assert lists(join([frame]).masks) == [[[2, 3]], [0, 2], [1, 5]]


def test_masks_of_single_frames_become_columns_and_back() -> None:
    frames = join([of_frame(0, MASK, OTHER), of_frame(1), of_frame(2, OTHER)])
    message = encode_frames(frames)
    assert list(message.mask_heights) == [2, 2, 2]
    assert list(message.mask_widths) == [3, 3, 3]
    assert list(message.mask_run_counts) == [3, 2, 2]
    assert list(message.mask_runs) == [1, 2, 3, 0, 6, 0, 6]
    assert lists(decode_frames(message).masks) == lists(frames.masks)
    assert lists(frames.part(1, 3).masks) == [[[2, 3]], [0, 2], [0, 6]]


def test_a_batch_of_objects_without_masks_has_none() -> None:
    assert join([of_frame(0), of_frame(1)]).masks is None


def test_the_bytes_of_masks_are_counted() -> None:
    """15 for the sizes and the count of a mask, 5 for a run."""
    plain, masked = of_frame(0, objects=2), of_frame(0, MASK, OTHER)
    assert item_size(masked) - item_size(plain) == 2 * 15 + 5 * 5
    assert item_size(join([masked])) - item_size(join([plain])) == 2 * 15 + 5 * 5


@pytest.mark.parametrize(
    "entry",
    [
        None,
        {},
        {"size": [2, 3]},
        {"size": [2], "counts": [6]},
        {"size": [2, 3], "counts": [6.5]},
        {"size": [2, 3], "counts": [[6]]},
        {"size": [2, 3], "counts": None},
        {"size": [2, 3], "counts": "é"},
        {"size": [2, 3], "counts": "/"},
        {"size": [2, 3], "counts": "V"},
        {"size": [2, 3], "counts": "o" * 9 + "0"},
    ],
    ids=repr,
)
def test_an_invalid_mask_is_named(entry: Any) -> None:
    with pytest.raises(InputError) as error:
        of_frame(0, MASK, entry)
    assert error.value.argument == "masks[1]"


@pytest.mark.parametrize(
    ("columns", "field"),
    [
        (([[2, 3]], [0, 1], [-1]), "masks.runs"),
        (([[2, 3]], [0, 1], [2**32]), "masks.runs"),
        (([[2, 3]], [0, 1], [0.5]), "masks.runs"),
        (([2, 3], [0, 1], [6]), "masks.sizes"),
        (([[2, -3]], [0, 1], [6]), "masks.sizes"),
        (([[2, 3]], [0, 2], [6]), "masks.starts"),
        (([[2, 3]], [1, 1], [6]), "masks.starts"),
        (([[2, 3]], [0], [6]), "masks.starts"),
        (([], [], []), "masks.starts"),
    ],
)
def test_invalid_mask_columns_are_named(columns: Any, field: str) -> None:
    with pytest.raises(InputError) as error:
        Masks(*columns)
    assert error.value.argument == field


def test_masks_of_unsigned_columns_are_joined_with_others() -> None:
    unsigned = Masks(
        np.array([[2, 3]], np.uint64), np.array([0, 3], np.uint64), np.array([1, 2, 3], np.uint64)
    )
    frames = [
        SingleFrame.of(4, "a", 0, [BOX], masks=unsigned),
        SingleFrame.of(4, "a", 1, [BOX], masks=[OTHER]),
    ]
    assert lists(join(frames).masks) == [[[2, 3], [2, 3]], [0, 3, 5], [1, 2, 3, 0, 6]]


def test_the_number_of_masks_must_be_that_of_objects() -> None:
    with pytest.raises(InputError, match="found 1 mask,"):
        SingleFrame.of(4, "a", 0, [BOX, BOX], masks=[MASK])
    with pytest.raises(InputError, match="found 1 mask,"):
        Frames([("", "a")], [0], [0], [0, 2], np.array([BOX, BOX]), masks=Masks.of([MASK]))  # type: ignore[arg-type]
