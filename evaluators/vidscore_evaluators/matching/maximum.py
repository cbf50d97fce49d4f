"""Maximum-cardinality matchings of all frames at once, while one side comes in one by one.

The right objects (detections) are inserted in the order of falling priority (confidence). An
inserted object either makes the maximum matching greater by one, or leaves its size as it was,
and the sum of these gains over any prefix of the order is the size of the maximum matching of
that prefix: sets of detections that can all be matched form a matroid, whose rank grows that way.
So one pass gives the number of matched objects at every confidence threshold.

Left objects with one partner only decide nothing: in every prefix that holds the partner, some
maximum matching has this pair; in every other the left object has no part. So the partner gains,
and both are taken out first. What is left - small knots of mutually overlapping objects - is
matched by augmenting paths, in a compiled loop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, marked
from vidscore_evaluators.compiled.library import compiled
from vidscore_evaluators.compiled.numbering import numbered
from vidscore_evaluators.matching.gating import Pairs

_augment = compiled("augment", *(np.int64, np.int64, int, np.int64, int, int, np.int64, np.bool_))


def insertion_gains(
    pairs: Pairs, left_count: int, right_count: int, priorities: FloatArray | None = None
) -> BoolArray:
    """Tell which right objects make the maximum matching greater when they are inserted.

    Args:
        pairs: Pairs that may be matched.
        left_count: Objects on the left side.
        right_count: Objects on the right side.
        priorities: (right_count,) finite; the greatest is inserted first, the smaller row first
            among equal ones. Without them rows are inserted in order.

    Returns:
        (right_count,) gains. Their sum over objects of at least some priority is the size of the
        maximum matching of these; which of several objects of equal priority gains is arbitrary.
    """
    gains = np.zeros(right_count, dtype=np.bool_)
    pairs = _peel_lonely_left(pairs, gains, left_count)
    if len(pairs):
        _insert_contested(pairs, gains, priorities)
    return gains


@dataclass(frozen=True, eq=False)
class TwoStageGains:
    """Gains of (right_count,) right objects.

    Attributes:
        first: In matchings with the left objects of the first stage.
        both: In matchings with those of both stages.
    """

    first: BoolArray
    both: BoolArray


def two_stage_gains(
    pairs: Pairs,
    second: BoolArray,
    left_count: int,
    right_count: int,
    priorities: FloatArray | None = None,
) -> TwoStageGains:
    """Gains in matchings that are maximum over some left objects and, among those, over all.

    Such a matching exists: a maximum matching of the first stage grows along augmenting paths to
    one of all, and these never leave a matched left object without a partner. So both sizes are
    those of independent maximum matchings.

    Args:
        pairs: Pairs that may be matched.
        second: (P,) whether the left object of a pair belongs to the second stage.
        left_count: Objects on the left side.
        right_count: Objects on the right side.
        priorities: As for `insertion_gains`.
    """
    first = insertion_gains(pairs.take(~second), left_count, right_count, priorities)
    if not second.any():
        return TwoStageGains(first, first)
    return TwoStageGains(first, insertion_gains(pairs, left_count, right_count, priorities))


def _peel_lonely_left(pairs: Pairs, gains: BoolArray, left_count: int) -> Pairs:
    """Match left objects that have one partner; a partner of several is taken by one of them."""
    degrees = np.bincount(pairs.left, minlength=left_count)
    taken = marked(len(gains), pairs.right[degrees[pairs.left] == 1])
    gains |= taken
    return pairs.take(~taken[pairs.right])


def _insert_contested(pairs: Pairs, gains: BoolArray, priorities: FloatArray | None) -> None:
    """Insert right objects one by one, each along an augmenting path if there is one."""
    lefts, left, _ = numbered(pairs.left)
    rights, right, _ = numbered(pairs.right)
    order = np.arange(len(rights), dtype=np.int64)
    if priorities is not None:
        order = np.argsort(-priorities[rights], kind="stable")
    found = np.empty(len(rights), dtype=np.bool_)
    counts = (len(lefts), len(rights))
    scratch = np.empty(len(pairs) + 3 * sum(counts) + 2, dtype=np.int64)
    _augment(left, right, len(pairs), order, *counts, scratch, found)
    gains[rights] = found
