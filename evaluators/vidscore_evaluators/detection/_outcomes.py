"""Outcomes: the result of each detection at each of many thresholds, as a table that merges.

A detection is *true*, *false* or *not counted* (absorbed or forgiven) at a threshold. Its outcomes
at 33 thresholds are the ternary digits of one integer below 2**53. A row of the table (class,
confidence, outcomes, number of detections) therefore holds a whole grid of thresholds in a few
bytes, and equal rows of different frames add up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace
from numpy.typing import NDArray

from vidscore_evaluators._report_rows import with_every_sequence
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, marked, run_starts
from vidscore_evaluators.matching import match_maximum_weight
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates, Similarity, find_candidates
from vidscore_evaluators.tally import Table, TableSchema, build_table

Assignment = Literal["greedy", "optimal", "best"]

NOT_COUNTED, TRUE, FALSE = 0, 1, 2

OutcomeArray = NDArray[np.int8]

DIGITS = 33
"""Number of ternary digits that one integer holds exactly in binary64: 3**33 < 2**53."""

ROW_BYTES = 256
"""Declared bytes of a tally per detection: a row of outcomes takes 40, and 8 for every 33
thresholds. The rest allows for classes that occur only in the truth."""

_POWERS = 3 ** np.arange(DIGITS, dtype=np.int64)

_DIGITS_AT_ONCE = 6
_DIGITS_OF = (np.arange(3**_DIGITS_AT_ONCE)[:, np.newaxis] // _POWERS[:_DIGITS_AT_ONCE] % 3).astype(
    np.int8
)
"""The first digits of each number below 3**`_DIGITS_AT_ONCE`."""

UNMATCHED = -1
"""Target of a detection without a match."""


class Matches(Struct, frozen=True, eq=False):
    """The match of each of D detections at one threshold, recorded during matching.

    Attributes:
        targets: (D,) rows of the scene's truth or, from len(truth) on, of its absorbers;
            `UNMATCHED` if there is none.
        similarities: (D,) similarity to the target; NaN if there is none.
    """

    targets: IntArray
    similarities: FloatArray

    @classmethod
    def none(cls, count: int) -> Matches:
        """No matches, for `count` detections."""
        return cls(np.full(count, UNMATCHED, dtype=np.int64), np.full(count, np.nan))

    def add(self, pairs: Candidates) -> None:
        """Record (P,) matched pairs."""
        self.targets[pairs.detections] = pairs.targets
        self.similarities[pairs.detections] = pairs.similarities

    def pairs(self, detections: IntArray) -> Candidates:
        """The pairs of (P,) detections, ascending, all of which have a match."""
        return Candidates(detections, self.targets[detections], self.similarities[detections])


def greedy_outcomes(
    scene: Scene,
    candidates: Candidates,
    thresholds: Sequence[float],
    *,
    ignored_truth: BoolArray | None = None,
    forgiven: BoolArray | None = None,
    matches: Matches | None,
) -> OutcomeArray:
    """Match greedily in descending confidence, separately at each threshold.

    A detection takes the most similar free object at or above the threshold; if there is none, the
    most similar free absorber.

    Args:
        scene: The scene, of T objects and D detections.
        candidates: Its pairs, down to the least threshold.
        thresholds: K similarities that a match needs.
        ignored_truth: (T,) objects that only absorb; none if left out.
        forgiven: (D,) detections that are not counted if unmatched; by default the scene's.
        matches: Filled with the matched pairs, if there is one threshold.

    Returns:
        (D, K) outcomes.
    """
    absorbing = np.ones(len(scene.truth) + len(scene.absorbers), dtype=np.bool_)
    absorbing[: len(scene.truth)] = False if ignored_truth is None else ignored_truth
    results = np.where(absorbing, NOT_COUNTED, TRUE).astype(np.int8)
    reusable = scene.reusable_targets
    outcomes = _unmatched(scene.forgiven if forgiven is None else forgiven, len(thresholds))
    isolated = _isolated_edges(candidates)
    sure = candidates.take(isolated)
    enough = sure.similarities[:, None] >= np.array(thresholds)
    alone = outcomes[sure.detections]
    np.copyto(alone, results[sure.targets][:, None], where=enough)
    outcomes[sure.detections] = alone
    if matches is not None:
        matches.add(sure.take(enough[:, 0]))
    candidates = candidates.take(~isolated)
    ordered = candidates.ordered(absorbing[candidates.targets], scene.target_places)
    for column, threshold in enumerate(thresholds):
        rows = ordered.greedily_matched(reusable, threshold)
        outcomes[ordered.detections[rows], column] = results[ordered.targets[rows]]
        if matches is not None:
            matches.add(ordered.take(rows))
    return outcomes


def _isolated_edges(candidates: Candidates) -> BoolArray:
    """(P,) whether neither object of a pair has another pair; if similar enough, they match."""
    isolated: BoolArray = np.bincount(candidates.detections)[candidates.detections] == 1
    isolated &= np.bincount(candidates.targets)[candidates.targets] == 1
    return isolated


def optimal_outcomes(
    scene: Scene,
    similarity: Similarity,
    thresholds: Sequence[float],
    matches: Matches | None = None,
) -> OutcomeArray:
    """Match once, with the greatest sum of similarities in each group, then apply thresholds.

    As many pairs are matched as a group allows. Pairs of the least similarity (under IoU, boxes
    that do not overlap) do not change the sum: the rest of both sides is paired in descending
    confidence, and counts only at thresholds at or below that least value. Detections without a
    match at a threshold go to absorbers, greedily.

    Args:
        scene: The scene, of D detections.
        similarity: The similarity.
        thresholds: K similarities that a true positive needs.
        matches: Filled with the matched pairs, if there is one threshold; also with pairs below it,
            unless an absorber takes the detection.

    Returns:
        (D, K) outcomes.
    """
    candidates = find_candidates(scene, similarity, math.nextafter(similarity.minimum, math.inf))
    real = candidates.targets < len(scene.truth)
    matched = _matched_similarities(scene, candidates.take(real), similarity, matches)
    outcomes = _unmatched(scene.forgiven, len(thresholds))
    absorption = candidates.take(~real)
    absorption = absorption.ordered(np.zeros(len(absorption), dtype=np.bool_))
    for column, threshold in enumerate(thresholds):
        true = matched >= threshold
        free = absorption.take(~true[absorption.detections])
        rows = free.greedily_matched(scene.reusable_targets, threshold)
        outcomes[free.detections[rows], column] = NOT_COUNTED
        outcomes[true, column] = TRUE
        if matches is not None:
            matches.add(_left_over_pairs(scene, matches, true, similarity))
            matches.add(free.take(rows))
    return outcomes


def best_outcomes(
    scene: Scene,
    similarity: Similarity,
    thresholds: Sequence[float],
    matches: Matches | None,
) -> OutcomeArray:
    """Consider only each detection's most similar object, whether taken or not.

    Source: PASCAL VOC's development kit, VOCevaldet.m. Of the detections that share a best object
    and are similar enough, the first is true and all others are false; if the object absorbs
    (``difficult``), none is counted. An object that shares nothing with a detection is never its
    best. Of equally similar objects, the first is the best.

    Args:
        scene: The scene, of D detections.
        similarity: The similarity.
        thresholds: K similarities that a match needs.
        matches: Filled with each detection's best object if it is similar enough, taken or not, if
            there is one threshold.

    Returns:
        (D, K) outcomes.
    """
    candidates = find_candidates(scene, similarity, math.nextafter(similarity.minimum, math.inf))
    places = scene.target_places
    none = np.zeros(len(candidates), dtype=np.bool_)
    ordered = candidates.ordered(none, None if places is None else -places)
    best = ordered.take(run_starts(ordered.detections))
    real = best.targets < len(scene.truth)
    outcomes = _unmatched(scene.forgiven, len(thresholds))
    for column, threshold in enumerate(thresholds):
        enough = best.similarities >= threshold
        outcomes[best.detections[enough & ~real], column] = NOT_COUNTED
        again = best.take(enough & real)
        outcomes[again.detections, column] = FALSE
        # Detections are in descending confidence within a group.
        _, first = np.unique(again.targets, return_index=True)
        outcomes[again.detections[first], column] = TRUE
        if matches is not None:
            matches.add(best.take(enough))
    return outcomes


def assigned_outcomes(
    scene: Scene,
    similarity: Similarity,
    assignment: Assignment,
    thresholds: Sequence[float],
    matches: Matches | None = None,
) -> OutcomeArray:
    """Outcomes by greedy or optimal assignment.

    The optimal assignment and its threshold use the similarity extended by confidences (section 4.1
    and appendix 3.1 of the paper); for points there is no such extension. The best is VOCdevkit's.

    Args:
        scene: The scene, of D detections.
        similarity: The similarity, without confidences.
        assignment: How detections are matched.
        thresholds: K similarities that a match needs.
        matches: Filled with the matched pairs, if there is one threshold.

    Returns:
        (D, K) outcomes.
    """
    if assignment == "greedy":
        above = [threshold for threshold in thresholds if threshold > similarity.minimum]
        candidates = find_candidates(scene, similarity, min(above, default=1.0))
        outcomes = greedy_outcomes(scene, candidates, above, matches=matches if above else None)
        order = np.searchsorted(above, thresholds)
        alike = _all_alike(scene, similarity, None if above else matches)
        with_least = np.column_stack([outcomes, alike])
        return with_least[:, np.where(np.isin(thresholds, above), order, len(above))]
    if assignment == "best":
        return best_outcomes(scene, similarity, thresholds, matches)
    extended = assigned_similarity(similarity, assignment)
    return optimal_outcomes(scene, extended, thresholds, matches)


def assigned_similarity(similarity: Similarity, assignment: Assignment) -> Similarity:
    """The similarity that an assignment uses: an optimal one extends that of boxes."""
    extended = assignment == "optimal" and similarity.base != "euclidean"
    return replace(similarity, confidence_extended=extended)


def outcome_table(
    scene: Scene,
    outcomes: OutcomeArray,
    detections: IntArray | None = None,
    groups: IntArray | None = None,
) -> Table:
    """Count detections by domain, class, confidence and outcomes.

    Args:
        scene: The scene, of D detections.
        outcomes: (R, K) outcomes.
        detections: (R,) detection of each outcome; each detection once by default.
        groups: (R,) group whose class counts it; the detection's by default.
    """
    rows = np.arange(len(scene.detections), dtype=np.int64) if detections is None else detections
    where = scene.detections.groups[rows] if groups is None else groups
    places = scene.detections.places
    vocabulary, texts = domain_and_class(scene, where)
    numbers = [scene.detections.confidences[rows], *encode(outcomes)]
    if places is not None:
        texts.append(scene.group_sequences[where] + len(vocabulary))
        vocabulary.extend(key.sequence for key in scene.sequences)
        frames = scene.frame_numbers[scene.group_frames[where]].astype(np.float64)
        numbers = [frames, places[rows], *numbers]
    return build_table(
        outcome_schema(outcomes.shape[1], by_row=places is not None),
        vocabulary,
        texts,
        numbers=numbers,
        counts=[np.ones(len(rows), dtype=np.int64)],
    )


def outcome_schema(column_count: int, *, by_row: bool = False) -> TableSchema:
    """Columns of a table of outcomes at a number of thresholds.

    With `by_row`, a row is one detection, and rows of a class are sorted by sequence, frame and row
    of the frame.
    """
    codes = (f"outcomes_{index}" for index in range(code_count(column_count)))
    texts, numbers = ("sequence",) if by_row else (), ("frame", "row") if by_row else ()
    return TableSchema(
        texts=("domain", "class", *texts),
        numbers=(*numbers, "confidence", *codes),
        counts=("detections",),
    )


def class_table(scene: Scene, counts: Mapping[str, IntArray]) -> Table:
    """Counts by domain and class; a domain without objects and detections has zeros.

    Args:
        scene: The scene, of G groups.
        counts: (G,) counts by name; ``truth`` is the number of real objects.
    """
    every_group = np.arange(scene.group_count, dtype=np.int64)
    table = build_table(
        TableSchema(texts=("domain", "class"), counts=tuple(counts)),
        *domain_and_class(scene, every_group),
        counts=list(counts.values()),
    )
    return with_every_sequence(table, scene)


def domain_and_class(scene: Scene, groups: IntArray) -> tuple[list[str], list[IntArray]]:
    """Vocabulary and codes of the string keys (domain, class) of (N,) groups."""
    domains = [key.domain for key in scene.sequences]
    classes = scene.group_classes[groups] + len(domains)
    return [*domains, *scene.classes], [scene.group_sequences[groups], classes]


def code_count(column_count: int) -> int:
    """Number of integers that hold the outcomes of `column_count` thresholds."""
    return -(-column_count // DIGITS)


def encode(outcomes: OutcomeArray) -> list[FloatArray]:
    """(D, K) outcomes as integers, with `DIGITS` columns in each."""
    codes = []
    for first in range(0, outcomes.shape[1], DIGITS):
        code = np.zeros(len(outcomes), dtype=np.int64)
        for column, power in zip(
            outcomes.T[first : first + DIGITS], _POWERS.tolist(), strict=False
        ):
            # Widen first: numpy before 2 multiplies an int8 column by a small number in int8.
            code += column.astype(np.int64) * power
        codes.append(code.astype(np.float64))
    return codes


def decode(table: Table, column_count: int) -> OutcomeArray:
    """(K, columns) outcomes of each row of a table of outcomes."""
    outcomes = np.empty((table.row_count, column_count), dtype=np.int8)
    for index in range(code_count(column_count)):
        rest = table.number(f"outcomes_{index}").astype(np.int64)
        end = min(column_count, (index + 1) * DIGITS)
        for column in range(index * DIGITS, end, _DIGITS_AT_ONCE):
            more = rest // len(_DIGITS_OF)
            stop = min(end, column + _DIGITS_AT_ONCE)
            digits = _DIGITS_OF.take(rest - more * len(_DIGITS_OF), axis=0)
            outcomes[:, column:stop] = digits[:, : stop - column]
            rest = more
    return outcomes


def _all_alike(scene: Scene, similarity: Similarity, matches: Matches | None) -> OutcomeArray:
    """(D,) outcomes of greedy matching if every pair of a group is similar enough.

    As long as a target is free, some detection takes it, so ranks alone decide. The exception is a
    crowd, which takes only detections that lie in it. The pairs themselves are only computed if
    `matches` is given.
    """
    groups, ranks = scene.detections.groups, scene.detections.ranks
    real, absorbers = scene.truth.counts[groups], scene.absorbers.counts[groups]
    outcomes = _unmatched(scene.forgiven, 1)[:, 0]
    outcomes[ranks < real + absorbers] = NOT_COUNTED
    outcomes[ranks < real] = TRUE
    crowded = np.zeros(scene.group_count, dtype=np.bool_)
    crowded[scene.absorbers.groups[scene.absorbs_many]] = True
    if matches is not None:
        crowded[:] = True
    if crowded.any():
        part = scene.take_groups(crowded)
        candidates = find_candidates(part, similarity, similarity.minimum)
        outcomes[crowded[groups]] = greedy_outcomes(
            part, candidates, [similarity.minimum], matches=matches
        )[:, 0]
    return outcomes


def _unmatched(forgiven: BoolArray, column_count: int) -> OutcomeArray:
    outcomes = np.full((len(forgiven), column_count), FALSE, dtype=np.int8)
    outcomes[forgiven] = NOT_COUNTED
    return outcomes


def _matched_similarities(
    scene: Scene,
    candidates: Candidates,
    similarity: Similarity,
    matches: Matches | None,
) -> FloatArray:
    """(D,) similarity of each detection to its match; below every threshold if it has none."""
    chosen = match_maximum_weight(
        candidates.pairs,
        candidates.similarities - similarity.minimum,
        len(scene.detections),
        len(scene.truth),
    )
    matched = np.full(len(scene.detections), -np.inf)
    matched[candidates.detections[chosen]] = candidates.similarities[chosen]
    groups = scene.detections.groups
    alone = np.isinf(matched)
    taken = np.bincount(groups[~alone], minlength=scene.group_count)
    free = (scene.truth.counts - taken)[groups]
    places = np.cumsum(alone) - 1
    first = np.searchsorted(np.flatnonzero(alone), scene.detections.starts[groups])
    matched[alone & (places - first < free)] = similarity.minimum
    if matches is not None:
        matches.add(candidates.take(chosen))
    return matched


def _left_over_pairs(
    scene: Scene, matches: Matches, true: BoolArray, similarity: Similarity
) -> Candidates:
    """The pairs of the unmatched rest of both sides, in order within each group.

    Args:
        scene: The scene, of D detections.
        matches: The pairs of more than the least similarity.
        true: (D,) detections that are paired, including those paired with the rest.
        similarity: The similarity.
    """
    alone = matches.targets == UNMATCHED
    detections = np.flatnonzero(true & alone)
    groups = scene.detections.groups[detections]
    free = np.flatnonzero(~marked(len(scene.truth), matches.targets[~alone]))
    ranks = np.arange(len(groups)) - np.searchsorted(groups, groups)
    rows = np.searchsorted(scene.truth.groups[free], groups) + ranks
    return Candidates(detections, free[rows], np.full(len(groups), similarity.minimum))
