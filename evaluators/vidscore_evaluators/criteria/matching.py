"""Who is whose: the two ways in which criteria match detections with references.

Greedy (`greedy_matching`): detections choose in descending confidence, each the most similar
target that is still free. Optimal (`most_similar_matching`): the one-to-one matching with the
greatest sum of similarities.

Both work on the pairs of all groups at once, and both are independent of the order of rows: a
tie is broken by the canonical order of the scene, which is one of content. Among equally similar
targets the first in that order is chosen (pycocotools takes the last of its file); among
detections of equal confidence in a group the first chooses first.
"""

from __future__ import annotations

from vidscore_evaluators import matching
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.criteria.candidates import Candidates
from vidscore_evaluators.pairs import Pairs


def preference_order(candidates: Candidates, second_choice: BoolArray) -> IntArray:
    """Sort pairs by detection and, for each detection, from its best target to its worst.

    Args:
        candidates: P pairs, sorted by detection and then by target.
        second_choice: (P,) pairs that only come after all others of their detection.

    Returns:
        (P,) rows of the pairs.
    """
    pairs = Pairs(candidates.detections, candidates.targets)
    return matching.preference_order(pairs, candidates.similarities, second_choice)


def greedy_matching(ordered: Candidates, reusable: BoolArray, at_least: float) -> IntArray:
    """Let each detection, in ascending order of its row, take its first free target.

    Args:
        ordered: P pairs, by detection; within one, from best to worst.
        reusable: (all targets,) targets that may be taken any number of times.
        at_least: Similarity below which a pair does not count.

    Returns:
        Rows of the matched pairs, ascending.
    """
    pairs = Pairs(ordered.detections, ordered.targets)
    return matching.match_greedy(pairs, ordered.similarities, reusable, at_least)


def most_similar_matching(
    candidates: Candidates, weights: FloatArray, detection_count: int, target_count: int
) -> BoolArray:
    """The one-to-one matching with the greatest sum of weights.

    Args:
        candidates: P pairs, in canonical order.
        weights: (P,) weights; a pair whose weight is not above 0 is never matched.
        detection_count: Number of detections.
        target_count: Number of targets.

    Returns:
        (P,) whether the pair is matched.
    """
    pairs = Pairs(candidates.detections, candidates.targets)
    return matching.match_maximum_weight(pairs, weights, detection_count, target_count)
