"""Masks in three columns: the size of their image and COCO's compressed string of runs.

A string that many rows share is read once: a small file can describe very many runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import BOX
from vidscore_evaluators.arrays import BoolArray, IntArray, run_starts, starts_from_counts
from vidscore_evaluators.data_frames import Column
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats._arrow_columns import coded_texts, expected_type, holds_texts
from vidscore_evaluators.formats._file_masks import read_good_masks
from vidscore_evaluators.formats._table import EMPTY, Kind, RowChecks, RowTable
from vidscore_evaluators.formats.generic import COORDINATES, MASK_ROW, sequences_of
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.mask_forms import compressed_texts, masks_from_compressed
from vidscore_evaluators.masks import Masks, concatenate_masks

SIZE = ("mask_height", "mask_width")
COUNTS = "mask_counts"
COLUMNS = (*SIZE, COUNTS)

_SIZE_FIELD = "columns " + ", ".join(SIZE)
_NO_MASK = -1


def column_problems(schema: Any, others: Collection[str]) -> Iterator[Fault]:
    """Faults of the columns of masks, of which at least one is present.

    Args:
        schema: The `pyarrow.Schema` of a file.
        others: Its other columns, by the names of the format.
    """
    missing = [name for name in COLUMNS if name not in schema.names]
    for name in missing:
        advice = f"masks are the columns {', '.join(COLUMNS)}"
        yield Fault("missing", "", field=f"column {name}", advice=advice)
    for name in (name for name in SIZE if name not in missing):
        found = schema.field(name).type
        wanted = expected_type(Kind.INTEGER, found)
        if wanted is not None:
            yield Fault(f"type {found}"[:80], wanted, field=f"column {name}")
    if COUNTS not in missing and not holds_texts(schema.field(COUNTS).type):
        found = f"type {schema.field(COUNTS).type}"[:80]
        yield Fault(found, "a column of strings or bytes", field=f"column {COUNTS}")
    given = given_coordinates(others)
    if given and given != set(COORDINATES[BOX]):
        found = f"masks beside the coordinates {', '.join(sorted(given))}"
        expected = f"{', '.join(COORDINATES[BOX])}, or no coordinates"
        yield Fault(found, expected)


def given_coordinates(names: Collection[str]) -> set[str]:
    """The coordinates among some names."""
    return set(names) & set().union(*COORDINATES.values())


class MaskReader(Struct):
    """Reads the masks of batches of rows."""

    limits: ReadLimits
    _parts: list[Masks] = field(default_factory=list)
    _count: int = 0
    _runs: int = 0

    def read(self, counts: Any, table: RowTable, checks: RowChecks) -> RowTable:
        """Read the masks of a batch.

        Args:
            counts: (N,) strings as an array of pyarrow.
            table: Its rows with their sizes.
            checks: Collects their faults.

        Returns:
            The rows with the column `MASK_ROW` in place of the sizes. A row without coordinates
            gets the bounding box of its mask.

        Raises:
            InputError: If the masks so far need more memory than allowed.
        """
        texts, codes = coded_texts(counts)
        sizes = np.stack([table.integers[name] for name in SIZE], axis=1)
        given = np.column_stack([sizes != EMPTY, codes >= 0])
        partly = given.any(axis=1) & ~given.all(axis=1)
        for name, known in zip(COLUMNS, given.T, strict=True):
            checks.refuse(partly & ~known, name, "nothing", "all columns of a mask, or none")
        rows = np.flatnonzero(given.all(axis=1))
        masks, mask_of_row = _distinct_masks(texts, codes, sizes, rows, checks)
        self._hold(masks, mask_of_row, table.sources[0])
        mask_rows = np.where(mask_of_row >= 0, mask_of_row + self._count, _NO_MASK)
        self._count += masks.count
        integers = {name: one for name, one in table.integers.items() if name not in SIZE}
        return replace(
            table,
            integers={**integers, MASK_ROW: mask_rows},
            numbers={**table.numbers, **_boxes(table, masks, mask_of_row)},
        )

    def masks(self) -> Masks:
        """All masks so far."""
        return concatenate_masks(self._parts)

    def _hold(self, masks: Masks, mask_of_row: IntArray, source: str) -> None:
        """Keep masks, if their memory for these rows is within the limit."""
        self._parts.append(masks)
        runs = np.diff(masks.starts)[mask_of_row[mask_of_row >= 0]]
        self._runs += int(runs.sum())
        size = self._runs * masks.runs.itemsize
        if size > self.limits.maximum_unpacked_bytes:
            expected = f"at most maximum_unpacked_bytes = {self.limits.maximum_unpacked_bytes}"
            found, advice = f"masks of {size} bytes", "score it in shards"
            raise InputError(
                [Fault(found, expected, source, field=f"column {COUNTS}", advice=advice)]
            )


def _distinct_masks(
    texts: Any, codes: IntArray, sizes: IntArray, rows: IntArray, checks: RowChecks
) -> tuple[Masks, IntArray]:
    """The distinct masks of some rows, and (N,) the mask of each row, -1 for none."""
    found = np.column_stack([codes[rows], sizes[rows]])
    distinct, kind_of_row = np.unique(found, axis=0, return_inverse=True)
    kind_of_row = kind_of_row.reshape(-1)
    starts = starts_from_counts(np.bincount(kind_of_row, minlength=len(distinct)))
    rows_by_kind = rows[np.argsort(kind_of_row, kind="stable")]

    def make(kinds: IntArray) -> Masks:
        chosen = [texts[code].as_py() for code in distinct[kinds, 0].tolist()]
        return masks_from_compressed(chosen, distinct[kinds, 1:])

    def refuse(kind: int, fault: Fault) -> None:
        named = replace(fault, field=f"column {COUNTS}" if fault.field == "counts" else _SIZE_FIELD)
        for row in rows_by_kind[starts[kind] : starts[kind + 1]].tolist():
            checks.refuse_row(row, named)

    masks, kinds = read_good_masks(make, np.arange(len(distinct)), refuse)
    mask_of_kind = np.full(len(distinct), _NO_MASK, dtype=np.int64)
    mask_of_kind[kinds] = np.arange(len(kinds))
    mask_of_row = np.full(len(codes), _NO_MASK, dtype=np.int64)
    mask_of_row[rows] = mask_of_kind[kind_of_row]
    return masks, mask_of_row


def _boxes(table: RowTable, masks: Masks, mask_of_row: IntArray) -> dict[str, Any]:
    """Columns of boxes; masks' bounding boxes for rows without coordinates."""
    nothing = np.full(len(table), np.nan)
    boxes = np.stack([table.numbers.get(name, nothing) for name in COORDINATES[BOX]], axis=1)
    missing = np.isnan(boxes).all(axis=1) & (mask_of_row >= 0)
    boxes[missing] = masks.boxes()[mask_of_row[missing]]
    return {name: boxes[:, column] for column, name in enumerate(COORDINATES[BOX])}


def check_sizes(table: RowTable, masks: Masks) -> RowChecks:
    """Refuse masks whose size differs from that of the first mask of their frame."""
    checks = RowChecks(table)
    mask_rows = table.integers[MASK_ROW]
    rows = np.flatnonzero(mask_rows >= 0)
    sequences, frames = sequences_of(table)[1][rows], table.integers["frame"][rows]
    order = np.lexsort((frames, sequences))
    begins = run_starts(sequences[order], frames[order])
    counts = np.diff(np.append(begins, len(order)))
    sizes = masks.sizes[mask_rows[rows[order]]]
    first = np.repeat(sizes[begins], counts, axis=0)
    wrong: BoolArray = (sizes != first).any(axis=1)
    for place in np.flatnonzero(wrong).tolist():
        (height, width), (other, another) = sizes[place].tolist(), first[place].tolist()
        expected = f"{other} by {another}, as the first mask of the frame"
        fault = Fault(f"{height} by {width}", expected, field=_SIZE_FIELD)
        checks.refuse_row(int(rows[order[place]]), fault)
    return checks


def columns_of_masks(masks: Masks) -> Mapping[str, Column]:
    """Masks as columns."""
    texts: Sequence[str] = compressed_texts(masks)
    places = np.arange(masks.count, dtype=np.int64)
    sides = {name: Column(side) for name, side in zip(SIZE, masks.sizes.T, strict=True)}
    return {**sides, COUNTS: Column(places, texts=texts)}
