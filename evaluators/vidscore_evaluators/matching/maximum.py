"""Maximum-cardinality matchings of all frames at once, while one side comes in one by one.

The right objects (detections) are inserted in the order of falling priority (confidence). An
inserted object either makes the maximum matching greater by one, or leaves its size as it was,
and the sum of these gains over any prefix of the order is the size of the maximum matching of
that prefix: sets of detections that can all be matched form a matroid, whose rank grows that way.
So one pass gives the number of matched objects at every confidence threshold.

Objects that decide nothing are taken out first, all frames in step:

* A left object with one partner only. In every prefix that holds the partner, some maximum
  matching has this pair; in every other the left object has no part. So the partner gains, and
  both can go.
* A right object with one partner only, of whose partners it is the first to come. Likewise.

What is left - small knots of mutually overlapping objects - is matched by augmenting paths.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.matching.gating import Pairs


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
    pairs = pairs.take(_insertion_order(pairs, priorities))
    remaining = -1
    while remaining != len(pairs) > 0:
        remaining = len(pairs)
        pairs = _peel_first_right(pairs, gains, left_count, right_count)
        pairs = _peel_lonely_left(pairs, gains, left_count)
    _augment(pairs, gains, priorities)
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


def _insertion_order(pairs: Pairs, priorities: FloatArray | None) -> IntArray:
    """Order by left object and, for each, from its first partner to its last."""
    if priorities is None:
        return np.lexsort((pairs.right, pairs.left))
    return np.lexsort((pairs.right, -priorities[pairs.right], pairs.left))


def _peel_lonely_left(pairs: Pairs, gains: BoolArray, left_count: int) -> Pairs:
    """Match left objects that have one partner; a partner of several is taken by one of them."""
    degrees = np.bincount(pairs.left, minlength=left_count)
    taken = np.zeros(len(gains), dtype=np.bool_)
    taken[pairs.right[degrees[pairs.left] == 1]] = True
    gains |= taken
    return pairs.take(~taken[pairs.right])


def _peel_first_right(pairs: Pairs, gains: BoolArray, left_count: int, right_count: int) -> Pairs:
    """Match right objects that have one partner and are that partner's first."""
    degrees = np.bincount(pairs.right, minlength=right_count)
    first = run_starts(pairs.left)
    lonely = first[degrees[pairs.right[first]] == 1]
    gains[pairs.right[lonely]] = True
    taken = np.zeros(left_count, dtype=np.bool_)
    taken[pairs.left[lonely]] = True
    return pairs.take(~taken[pairs.left])


def _augment(pairs: Pairs, gains: BoolArray, priorities: FloatArray | None) -> None:
    """Insert the right objects of hard pairs one by one, each along an augmenting path."""
    partners: dict[int, list[int]] = {}
    for left, right in zip(pairs.left.tolist(), pairs.right.tolist(), strict=True):
        partners.setdefault(right, []).append(left)
    rights = np.array(sorted(partners), dtype=np.int64)
    if priorities is not None:
        rights = rights[np.argsort(-priorities[rights], kind="stable")]
    matching = _Matching(partners)
    for right in rights.tolist():
        gains[right] = matching.insert(right)


class _Matching:
    """A maximum matching of the right objects that have been inserted.

    Args:
        partners: Left objects of each right one.
    """

    def __init__(self, partners: dict[int, list[int]]) -> None:
        self._partners = partners
        self._right_of: dict[int, int] = {}
        self._left_of: dict[int, int] = {}
        # Left objects from which no free one can be reached: a search that fails adds all that
        # it saw, and no later augmenting path leads through them either.
        self._exhausted: set[int] = set()

    def insert(self, right: int) -> bool:
        """Match one more right object, if there is an augmenting path for it."""
        reached_from: dict[int, int] = {}
        queue = [right]
        for current in queue:
            for left in self._partners[current]:
                if left in reached_from or left in self._exhausted:
                    continue
                reached_from[left] = current
                if left not in self._right_of:
                    self._shift(left, reached_from)
                    return True
                queue.append(self._right_of[left])
        self._exhausted.update(reached_from)
        return False

    def _shift(self, free: int | None, reached_from: dict[int, int]) -> None:
        """Match along the path that ends in a free left object, from its end to its start."""
        while free is not None:
            right = reached_from[free]
            before = self._left_of.get(right)
            self._right_of[free], self._left_of[right] = right, free
            free = before
