"""Matching by class: what each detection does to the counts of its class (sections 3.2, 3.7).

In every frame and class, the detections are matched with the real objects of that class and with
every don't-care object of the frame. The matching is one that is maximum over the real objects
and, among those, over all. A don't-care object may take out one detection in each class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.geometry.shapes import overlapping_pairs
from vidscore_evaluators.matching.gating import Pairs
from vidscore_evaluators.matching.maximum import two_stage_gains
from vidscore_evaluators.neovision2._scene import TOLERANCE, UNLISTED, Neovision2Parameters, Scene


def counting_pairs(scene: Scene, parameters: Neovision2Parameters) -> Pairs:
    """Pairs of an annotated object and a detection whose overlap counts (section 3.1, eq. 1).

    Classes play no part yet.
    """
    least = parameters.overlap_threshold - TOLERANCE
    return overlapping_pairs(
        scene.objects.shapes, scene.detections.shapes, lambda ratios: ratios >= least
    )


def classification_outcomes(scene: Scene, pairs: Pairs) -> Outcomes:
    """What each detection of a listed class does to the counts of its class.

    Args:
        scene: What is matched.
        pairs: The pairs that count, whatever their classes.
    """
    classes = scene.detections.classes
    spared = scene.dont_care[pairs.left]
    wanted = classes[pairs.right]
    fits = spared | (scene.objects.classes[pairs.left] == wanted)
    kept = np.flatnonzero(fits & (wanted != UNLISTED))
    pairs, spared = pairs.take(kept), spared[kept]
    left, left_count = _one_for_each_class(scene, pairs, spared)
    gains = two_stage_gains(
        Pairs(left, pairs.right), spared, left_count, len(classes), scene.confidences
    )
    listed = classes != UNLISTED
    return Outcomes(
        sequences=scene.selection.sequences[scene.detections.frames],
        classes=classes,
        levels=scene.levels.of_detections,
        true_positives=gains.first.astype(np.int64),
        false_positives=1 - gains.both.astype(np.int64),
    ).take(listed)


def _one_for_each_class(scene: Scene, pairs: Pairs, spared: BoolArray) -> tuple[IntArray, int]:
    """Left objects in which every don't-care object stands once for each class it meets."""
    left = pairs.left.copy()
    count = len(scene.dont_care)
    keys = pairs.left[spared] * scene.classes.count + scene.detections.classes[pairs.right[spared]]
    copies, copy_of_pair = np.unique(keys, return_inverse=True)
    left[spared] = count + copy_of_pair
    return left, count + len(copies)


# --- Outcomes: how true and false positives change from one confidence level to the next.


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
