"""Masks in files: of many rows, without faulty ones; and of the objects of JSON lines.

In JSON lines, a mask is an object with the size of the image, and runs or COCO's string of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._json import show_value
from vidscore_evaluators.mask_forms import masks_from_compressed, masks_from_counts
from vidscore_evaluators.masks import Masks, concatenate_masks

_KEYS = {"size", "counts"}
_LARGEST = (1 << 32) - 1


def masks_of_entries(entries: Sequence[Any]) -> Masks:
    """Masks of objects with ``size`` and ``counts``, in their order.

    Raises:
        InputError: If one is invalid; for a single entry, `field` is the invalid part.
    """
    for entry in entries:
        _check_entry(entry)
    sizes = np.array([entry["size"] for entry in entries], dtype=np.int64).reshape(-1, 2)
    is_text: BoolArray = np.array([type(entry["counts"]) is str for entry in entries], np.bool_)
    texts, lists = np.flatnonzero(is_text), np.flatnonzero(~is_text)
    read = concatenate_masks(
        [
            masks_from_compressed([entries[row]["counts"] for row in texts.tolist()], sizes[texts]),
            masks_from_counts([entries[row]["counts"] for row in lists.tolist()], sizes[lists]),
        ]
    )
    places = np.empty(len(entries), dtype=np.int64)
    places[np.concatenate([texts, lists])] = np.arange(len(entries))
    return read.take(places)


def _check_entry(entry: Any) -> None:
    if not isinstance(entry, dict) or entry.keys() != _KEYS:
        raise InputError([Fault(show_value(entry), "an object with size and counts")])
    size, counts = entry["size"], entry["counts"]
    if (
        type(size) is not list
        or len(size) != 2
        or not all(type(length) is int and 0 <= length <= _LARGEST for length in size)
    ):
        raise InputError([Fault(show_value(size), "[height, width] in pixels", field="size")])
    if type(counts) not in {str, list}:
        raise InputError([Fault(show_value(counts), "an array of runs, or a text", field="counts")])


def read_good_masks(
    make: Callable[[IntArray], Masks], rows: IntArray, refuse: Callable[[int, Fault], None]
) -> tuple[Masks, IntArray]:
    """Make the masks of some rows.

    Args:
        make: Makes the masks of rows, as `vidscore_evaluators.mask_forms` does.
        rows: (N,) the rows.
        refuse: Receives an invalid row and its fault.

    Returns:
        The masks of the valid rows, and these rows.

    Raises:
        InputError: If a fault belongs to no row.
    """
    while True:
        try:
            return make(rows), rows
        except InputError as error:
            wrong = np.zeros(len(rows), dtype=np.bool_)
            for fault in error.faults:
                if fault.entry is None:
                    raise
                wrong[fault.entry] = True
                refuse(int(rows[fault.entry]), replace(fault, entry=None))
            rows = rows[~wrong]
