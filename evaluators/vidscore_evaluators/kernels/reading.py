# mypy: disable-error-code="empty-body"
# ruff: noqa: PLR0913, PLR0917
"""Kernels that read the bytes of files, declared as those of the package are."""

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
    """Read entries in the form of COCO; returns how many there are, -1 where it cannot."""


# png.c


@_kernel
def unfilter_rows(rows: FlagArray, height: int, size: int, step: int) -> int:
    """Undo the filters of rows of PNG, in place; returns the first of no known filter, or all."""


# text.c


@_kernel
def count_bytes(text: FlagArray, size: int, byte: int) -> int:
    """How often a byte is in a text: a tenth of the time of `bytes.count`, and without the GIL."""


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
    """Rows of comma-separated values as columns; returns how many fields are unread, or -1."""


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
    """Codes of strings by first appearance; returns how many are distinct."""


@_kernel
def parse_spotgeo(
    text: FlagArray,
    size: int,
    sequence_ids: IntArray,
    frames: IntArray,
    counts: IntArray,
    coordinates: FloatArray,
) -> int:
    """Entries of spotGEO JSON as columns; returns how many, or -1 for the slow path."""
