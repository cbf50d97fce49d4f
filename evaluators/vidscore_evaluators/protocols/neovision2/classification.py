"""Matching by class: what each detection does to the counts of its class (sections 3.2, 3.7).

In every frame and class, the detections are matched with the real objects of that class and with
every don't-care object of the frame. The matching is one that is maximum over the real objects
and, among those, over all. A don't-care object may take out one detection in each class.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import BoolArray, IntArray
from vidscore_evaluators.matching import match_maximum_in_stages
from vidscore_evaluators.pairs import Pairs
from vidscore_evaluators.protocols.neovision2.class_lists import UNLISTED
from vidscore_evaluators.protocols.neovision2.outcomes import Outcomes
from vidscore_evaluators.protocols.neovision2.parameters import TOLERANCE, Neovision2Parameters
from vidscore_evaluators.protocols.neovision2.preparation import Scene
from vidscore_evaluators.shapes import overlapping_pairs


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
    gains = match_maximum_in_stages(
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
