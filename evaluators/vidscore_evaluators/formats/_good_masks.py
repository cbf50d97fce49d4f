"""Masks of many rows at once, of which those that are wrong are left out, each with its fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec.structs import replace

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.masks import Masks


def read_good_masks(
    make: Callable[[IntArray], Masks], rows: IntArray, refuse: Callable[[int, Fault], None]
) -> tuple[Masks, IntArray]:
    """Make the masks of some rows.

    Args:
        make: Makes the masks of rows, as `vidscore_evaluators.mask_forms` does.
        rows: (N,) the rows.
        refuse: Takes a row that is wrong, and what is wrong with it.

    Returns:
        The masks of the rows that can be read, and these rows.

    Raises:
        InputError: If something is wrong that belongs to no row.
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
