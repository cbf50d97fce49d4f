"""Outcomes: how true and false positives change from one confidence level to the next.

Both scores come as such changes, a detection or a group of merged detections at a time, so that
one addition serves the score at a threshold and the whole curve.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Outcomes:
    """R changes.

    Attributes:
        sequences: (R,) sequence of each.
        classes: (R,) class code of each; 0 throughout where classes play no part.
        levels: (R,) confidence level from which on it holds.
        true_positives: (R,) change of the number of true positives.
        false_positives: (R,) change of the number of false positives.
    """

    sequences: IntArray
    classes: IntArray
    levels: IntArray
    true_positives: IntArray
    false_positives: IntArray

    def take(self, rows: BoolArray) -> Outcomes:
        """Keep some changes."""
        return Outcomes(*(column[rows] for column in vars(self).values()))


def join_outcomes(first: Outcomes, second: Outcomes) -> Outcomes:
    """The changes of both."""
    pairs = zip(vars(first).values(), vars(second).values(), strict=True)
    return Outcomes(*(np.concatenate(pair) for pair in pairs))
