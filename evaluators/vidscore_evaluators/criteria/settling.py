"""Settle don't-care before a criterion sees the scene.

Source: the preprocessing of MOTChallenge and KITTI tracking, as trackeval does it: detections
are matched with all objects, real and ignored, by the greatest sum of similarities among the
pairs that are similar enough, and those matched with an ignored one are taken out.
"""

from __future__ import annotations

import numpy as np

from vidscore_evaluators.arrays import IntArray, marked
from vidscore_evaluators.criteria.candidates import Candidates, find_candidates
from vidscore_evaluators.criteria.dont_care import DontCareRule
from vidscore_evaluators.criteria.matching import most_similar_matching
from vidscore_evaluators.criteria.scene import Scene
from vidscore_evaluators.criteria.similarity import Similarity


def settle(scene: Scene, rule: DontCareRule, similarity: Similarity) -> Scene:
    """Take out what is absorbed, and what is forgiven and matched with nothing.

    Args:
        scene: A scene.
        rule: Says how similar a pair must be.
        similarity: IoU for boxes, whatever the criterion's own similarity is.

    Returns:
        The scene with real truth and the detections that remain, and nothing else.
    """
    if len(scene.absorbers) == 0 and not scene.forgiven.any():
        return scene.without_absorbers()
    candidates = find_candidates(scene, similarity, rule.threshold - rule.tolerance)
    many = scene.reusable_targets[candidates.targets]
    matched = _matched_targets(scene, candidates.take(~many))
    absorbed = matched >= len(scene.truth)
    alone = matched < 0
    taken_by_many = marked(len(scene.detections), candidates.detections[many])
    out = absorbed | (alone & (taken_by_many | scene.forgiven))
    return scene.take_detections(~out).without_absorbers()


def _matched_targets(scene: Scene, candidates: Candidates) -> IntArray:
    """(D,) target that each detection is matched with, or -1."""
    target_count = len(scene.truth) + len(scene.absorbers)
    chosen = most_similar_matching(
        candidates, candidates.similarities, len(scene.detections), target_count
    )
    targets = np.full(len(scene.detections), -1, dtype=np.int64)
    targets[candidates.detections[chosen]] = candidates.targets[chosen]
    return targets
