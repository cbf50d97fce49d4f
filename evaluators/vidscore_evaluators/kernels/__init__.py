# mypy: disable-error-code="empty-body"
# ruff: noqa: PLR0913, PLR0917
"""Kernels: loops in C that numpy has no function for, each declared once as a typed function.

The C files are compiled when the project is installed (`hatch_build.py`), into a library that calls
nothing, not even the C library: arrays are passed in, and results are written to arrays. Calls
release the GIL. Each kernel gives the same bits everywhere: binary64, operation by operation.

`reading` has the kernels that read files. `kernels.h` declares the same functions in C. A kernel
refuses arrays of the wrong type or layout; lengths, values and writability are the caller's
responsibility. (ctypes costs 3 us per call with 4 arrays and loads in 2 ms; cffi would take 20 ms
to parse the header.)
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from vidscore_evaluators.arrays import BoolArray, FlagArray, FloatArray, IntArray
from vidscore_evaluators.kernels._library import declared_in, load

HashArray = NDArray[np.uint64]
RunArray = NDArray[np.uint32]

_kernel = declared_in(load(Path(__file__).parent))


# assignment.c


@_kernel
def assign_matrices(
    costs: FloatArray,
    count: int,
    rows: int,
    columns: int,
    numbers: FloatArray,
    places: IntArray,
    chosen: IntArray,
) -> int:
    """Assign the rows of matrices of one shape; returns the number of solved matrices."""


@_kernel
def assign_blocks(
    starts: IntArray,
    rows: IntArray,
    columns: IntArray,
    costs: FloatArray,
    heights: IntArray,
    widths: IntArray,
    others: FloatArray,
    count: int,
    cells: FloatArray,
    numbers: FloatArray,
    places: IntArray,
    longest: int,
    assigned: BoolArray,
) -> int:
    """Assign blocks of pairs; returns the number of solved blocks."""


# few_points.c


@_kernel
def match_few_points(
    left: FloatArray,
    left_starts: IntArray,
    right: FloatArray,
    right_starts: IntArray,
    group_count: int,
    bounds: FloatArray,
    left_rows: IntArray,
    right_rows: IntArray,
    squares: FloatArray,
    counts: IntArray,
) -> int:
    """Match near points of groups that need no solver; returns the number of pairs."""


# geometry.c


@_kernel
def bounding_boxes(corners: FloatArray, count: int, points: int, boxes: FloatArray) -> int:
    """Bounding boxes of objects with `points` points each."""


@_kernel
def sort_points(points: FloatArray, rows: IntArray, starts: IntArray, group_count: int) -> int:
    """Sort the points of each group, and their rows, by x, y and row, in place."""


@_kernel
def near_points(
    left: FloatArray,
    left_starts: IntArray,
    right: FloatArray,
    right_starts: IntArray,
    groups: IntArray,
    group_count: int,
    most: FloatArray,
    place: IntArray,
    capacity: int,
    left_places: IntArray,
    right_places: IntArray,
    squares: FloatArray,
    counts: IntArray,
) -> int:
    """Pairs of near points, from `place` on, up to the capacity; returns their number."""


@_kernel
def touching_pairs(
    left: FloatArray,
    left_starts: IntArray,
    right: FloatArray,
    right_starts: IntArray,
    group_count: int,
    self_pairs: int,
    place: IntArray,
    scratch: IntArray,
    capacity: int,
    left_rows: IntArray,
    right_rows: IntArray,
) -> int:
    """Pairs of touching boxes, from `place` on, up to the capacity; returns their number."""


# keys.c

DIGITS = 1 << 11
"""Number of places that `factorize_keys` needs."""


@_kernel
def factorize_keys(
    keys: IntArray,
    count: int,
    places: IntArray,
    scratch: IntArray,
    more_scratch: IntArray,
    codes: IntArray,
    different: IntArray,
    times: IntArray,
) -> int:
    """Codes of keys, the distinct keys and their counts; returns the number of distinct keys."""


@_kernel
def previous_rows(keys: IntArray, count: int, last: IntArray, previous: IntArray) -> int:
    """Row of the previous occurrence of each key; returns the number of keys."""


@_kernel
def hash_rows(
    row_count: int,
    first: HashArray,
    first_count: int,
    of_first: IntArray,
    second: HashArray,
    second_count: int,
    of_second: IntArray,
    kinds: FlagArray,
    addresses: IntArray,
    strides: IntArray,
    weights: HashArray,
    column_count: int,
    hash_count: int,
    hashes: HashArray,
    totals: HashArray,
) -> int:
    """Hashes of rows of columns at given addresses, and their sums."""


@_kernel
def hash_masks(
    runs: RunArray, starts: IntArray, sizes: IntArray, count: int, hashes: HashArray
) -> int:
    """Hashes of the sizes and runs of masks."""


# masks.c


@_kernel
def normal_runs(
    lengths: IntArray,
    starts: IntArray,
    pixels: IntArray,
    count: int,
    most: int,
    runs: RunArray,
    run_starts: IntArray,
    totals: IntArray,
    states: FlagArray,
) -> int:
    """Masks of given runs, and the fault of each; returns the number of valid masks."""


@_kernel
def read_mask_texts(
    text: FlagArray,
    starts: IntArray,
    pixels: IntArray,
    count: int,
    most: int,
    runs: RunArray,
    run_starts: IntArray,
    totals: IntArray,
    states: FlagArray,
) -> int:
    """Masks of COCO's strings, and the fault of each; returns the number of valid masks."""


@_kernel
def write_mask_texts(
    runs: RunArray, starts: IntArray, count: int, text: FlagArray, text_starts: IntArray
) -> int:
    """COCO's strings of masks; returns their total length."""


@_kernel
def mask_areas(runs: RunArray, starts: IntArray, count: int, areas: FloatArray) -> int:
    """Areas of masks; returns the number of areas above 0."""


@_kernel
def mask_boxes(
    runs: RunArray, starts: IntArray, sizes: IntArray, count: int, boxes: FloatArray
) -> int:
    """Bounding boxes of masks; returns the number of masks with pixels."""


@_kernel
def shared_mask_areas(
    runs: RunArray,
    starts: IntArray,
    rows: IntArray,
    other_runs: RunArray,
    other_starts: IntArray,
    other_rows: IntArray,
    pair_count: int,
    areas: FloatArray,
) -> int:
    """Areas that pairs of masks share; returns the number of areas above 0."""


@_kernel
def span_keys(
    runs: RunArray, starts: IntArray, groups: IntArray, count: int, keys: IntArray
) -> int:
    """Keys of the begins and ends of masks' spans; returns their number."""


@_kernel
def take_runs(runs: RunArray, starts: IntArray, rows: IntArray, count: int, taken: RunArray) -> int:
    """Runs of some masks; returns their number."""


@_kernel
def sort_keys(keys: IntArray, key_count: int) -> int:
    """Sort keys in place; the keys of each group are already adjacent."""


@_kernel
def runs_of_keys(
    keys: IntArray,
    key_count: int,
    pixels: IntArray,
    group_count: int,
    toggled: int,
    runs: RunArray,
    run_starts: IntArray,
) -> int:
    """Masks of groups of sorted keys; returns their number of runs."""


@_kernel
def outline_keys(
    corners: IntArray,
    starts: IntArray,
    sizes: IntArray,
    count: int,
    capacity: int,
    keys: IntArray,
) -> int:
    """Keys of the crossings of outlines and columns, up to the capacity; returns their number."""


# matching.c


@_kernel
def component_labels(
    left: IntArray, right: IntArray, edge_count: int, node_count: int, roots: IntArray
) -> int:
    """The least node of each node's connected component; returns the number of components."""


@_kernel
def preference_order(
    left: IntArray,
    weights: FloatArray,
    second_choice: BoolArray,
    last: FloatArray,
    pair_count: int,
    order: IntArray,
) -> int:
    """Sort pairs of each left object from best to worst; returns -1 if left objects descend."""


@_kernel
def match_greedy(
    detections: IntArray,
    targets: IntArray,
    similarities: FloatArray,
    pair_count: int,
    at_least: FloatArray,
    reusable: BoolArray,
    target_count: int,
    taken: BoolArray,
    chosen: IntArray,
) -> int:
    """Greedy matching in the order of the pairs; returns its size, or -1 for an invalid target."""


@_kernel
def incremental_matching(
    left: IntArray,
    right: IntArray,
    pair_count: int,
    order: IntArray,
    left_count: int,
    right_count: int,
    scratch: IntArray,
    gains: BoolArray,
) -> int:
    """Right objects whose insertion augments the maximum matching; returns its size."""


@_kernel
def dominant_edges(
    left: IntArray,
    right: IntArray,
    weights: FloatArray,
    pair_count: int,
    left_count: int,
    right_count: int,
    numbers: IntArray,
    places: IntArray,
    heavy: FloatArray,
    states: FlagArray,
) -> int:
    """Choose locally dominant pairs; returns the number of open ones, or -1 for an invalid node."""


# outlines.c


@_kernel
def rounded_corners(
    points: FloatArray, starts: IntArray, count: int, most: int, corners: IntArray, spans: IntArray
) -> int:
    """Corners of polygons in fifths of pixels; returns the number of valid polygons."""


# polygons.c


@_kernel
def sides_cross(corners: FloatArray, count: int, crossing: BoolArray) -> int:
    """Whether opposite sides of quadrilaterals cross; returns the number that do."""


@_kernel
def quadrilateral_outlines(corners: FloatArray, count: int, outlines: FloatArray) -> int:
    """Outlines of quadrilaterals; returns the number with an area."""


@_kernel
def outline_areas(outlines: FloatArray, count: int, areas: FloatArray) -> int:
    """Areas of outlines; returns the number of areas above 0."""


@_kernel
def shared_areas(first: FloatArray, second: FloatArray, count: int, areas: FloatArray) -> int:
    """Areas that pairs of outlines share; returns the number of areas above 0."""


# ranking.c


@_kernel
def accumulate_outcomes(
    outcomes: FlagArray,
    detections: IntArray,
    order: IntArray,
    last: BoolArray,
    rank_count: int,
    column_count: int,
    true_code: int,
    false_code: int,
    trues: IntArray,
    falses: IntArray,
) -> int:
    """True and false positives by rank; returns the number of confidences."""


@_kernel
def greatest_precisions(
    trues: IntArray, falses: IntArray, row_count: int, column_count: int, precisions: FloatArray
) -> int:
    """The greatest precision at or below each rank."""


@_kernel
def precisions_reached(
    trues: IntArray,
    precisions: FloatArray,
    row_count: int,
    column_count: int,
    wanted: IntArray,
    level_count: int,
    found: FloatArray,
) -> int:
    """The precision at which `wanted` true positives are found, per column and level."""


# tables.c


@_kernel
def group_rows(
    codes: IntArray,
    code_count: int,
    numbers: FloatArray,
    number_count: int,
    row_count: int,
    scratch: IntArray,
    order: IntArray,
    first: IntArray,
) -> int:
    """Rows sorted by key, and the first row of each key; returns the number of keys."""


@_kernel
def add_exactly(
    values: FloatArray,
    groups: IntArray,
    count: int,
    sums: IntArray,
    of_groups: IntArray,
    shifts: IntArray,
    high: IntArray,
    low: IntArray,
) -> int:
    """Exact sums of values by group, in parts; returns their number, or -1 if not finite."""


# transport.c


@_kernel
def transport_units(
    costs: FloatArray,
    supplies: int,
    demands: int,
    units: int,
    capacity: int,
    numbers: FloatArray,
    places: IntArray,
    flow: IntArray,
) -> int:
    """Units moved to each demand node from each supply node; returns 0 if costs are not finite."""
