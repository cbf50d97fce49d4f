# mypy: disable-error-code="empty-body"
# ruff: noqa: PLR0913, PLR0917
"""Kernels that read the bytes of files, declared in the same way as those of the package."""

from __future__ import annotations

from vidscore_evaluators.arrays import FlagArray, FloatArray, IntArray
from vidscore_evaluators.kernels import _kernel

# coco.c


@_kernel
def parse_coco(
    text: FlagArray,
    size: int,
    known: int,
    required: int,
    defaults: FloatArray,
    room: int,
    integers: IntArray,
    numbers: FloatArray,
    part_lengths: IntArray,
    runs: IntArray,
    characters: FlagArray,
    unread: IntArray,
    found: IntArray,
) -> int:
    """Read entries in the form of COCO; returns their number, or -1 if it cannot."""


# png.c


@_kernel
def unfilter_rows(rows: FlagArray, height: int, size: int, step: int) -> int:
    """Undo the filters of PNG rows, in place; returns the first row of unknown filter, or all."""


# text.c


@_kernel
def count_bytes(text: FlagArray, size: int, byte: int) -> int:
    """Number of times that a byte occurs; a tenth of the time of `bytes.count`, without the GIL."""


@_kernel
def parse_rows(
    text: FlagArray,
    kinds: FlagArray,
    column_count: int,
    row_count: int,
    longest_row: int,
    of_empty: FloatArray,
    integer_of_empty: int,
    numbers: FloatArray,
    integers: IntArray,
    starts: IntArray,
    ends: IntArray,
    unread: IntArray,
) -> int:
    """Rows of comma-separated values as columns; returns the number of unread fields, or -1."""


@_kernel
def factorize_strings(
    text: FlagArray,
    starts: IntArray,
    ends: IntArray,
    field_count: int,
    key: int,
    slots: IntArray,
    slot_count: int,
    codes: IntArray,
    first_fields: IntArray,
) -> int:
    """Codes of strings by first appearance; returns the number of distinct strings."""


@_kernel
def parse_spotgeo(
    text: FlagArray,
    size: int,
    sequence_ids: IntArray,
    frames: IntArray,
    counts: IntArray,
    coordinates: FloatArray,
) -> int:
    """Entries of spotGEO JSON as columns; returns their number, or -1 for the slow path."""
