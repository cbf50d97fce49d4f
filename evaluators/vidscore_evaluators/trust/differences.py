"""Differences between systems: whether one is better, and which data made the difference.

Differences of scores have paired bootstrap intervals: sequences are drawn as in
`vidscore_evaluators.trust.resampling`, both systems are scored on the same draw, and the interval
lies between percentiles of the differences, further out for few sequences (see
`vidscore_evaluators.trust.few_sequences`). Source of the method: B. Efron and R. Tibshirani,
"An Introduction to the Bootstrap", 1993, chapter 13; of paired draws for systems: P. Koehn,
"Statistical Significance Tests for Machine Translation Evaluation", 2004.

Readings of this project: a draw in which either score is undefined is left out of an interval. If a
single sequence has a score, as of a label that occurs in no other, draws of it do not differ and it
has no interval. The probability of being better is that of `vidscore_evaluators.trust.tiers`, which
counts at most as many draws as differ, so that none is 0 or 1, and is corrected as intervals are.
With fewer than `LEAST_SEQUENCES`, no system is called better, whatever the interval. The
contribution of a sequence to a difference is the mean of two changes: the rise of the first
system's score if this sequence alone is taken from the second system, and the fall of the second
system's score if it alone is taken from the first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from functools import partial
from itertools import compress
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.jobs import outcomes_in_parts
from vidscore_evaluators.outcome_table import Outcome
from vidscore_evaluators.report import Number
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.draws import (
    Block,
    Draws,
    Key,
    blocks_of_draws,
    score_blocks,
    score_draws,
    scores_by_key,
    sequence_tallies,
)
from vidscore_evaluators.trust.few_sequences import (
    are_enough,
    domain_sizes,
    interval_of,
    probabilities_of,
)
from vidscore_evaluators.trust.parts import drawn_parts
from vidscore_evaluators.trust.resampling import draw_sequences, possible_draws
from vidscore_evaluators.trust.systems import Contest, Drawn
from vidscore_evaluators.trust.tiers import resample_count, smoothed

TOP = 5
"""Number of labels, domains, sequences and frames that are listed."""

Frame = tuple[SequenceKey, int]
"""Sequence and frame number."""

MISTAKES = tuple(
    outcome for outcome in Outcome if outcome not in {Outcome.TRUE_POSITIVE, Outcome.IGNORED}
)


class Verdict(StrEnum):
    """Conclusion about a system compared with another."""

    BETTER = "better"
    WORSE = "worse"
    UNDECIDED = "undecided"
    """The interval contains 0, or there is none, or there are too few sequences."""
    UNDEFINED = "undefined"
    """A score is undefined."""


class Difference(Struct, frozen=True):
    """One score of two systems, and the second minus the first.

    Attributes:
        domain: Domain; None for all.
        label: Label; None for all.
        measure: The measure.
        first: Score of the first system.
        second: Score of the second one.
        low: Lower end of the interval of the difference; None if there is none, as for the score of
            a single sequence.
        high: Upper end.
        probability_better: Probability that the second is better on other sequences; None without
            an interval, or if the measure has no better direction.
    """

    domain: str | None
    label: str | None
    measure: str
    first: Number
    second: Number
    low: float | None = None
    high: float | None = None
    probability_better: float | None = None

    @property
    def value(self) -> Number:
        """The difference; None if either score is undefined."""
        return None if self.first is None or self.second is None else self.second - self.first


class SequenceDifference(Struct, frozen=True):
    """The first ranking measure on one sequence alone, and its contribution to the whole.

    Attributes:
        key: The sequence.
        first: Score of the first system.
        second: Score of the second one.
        contribution: Change of the score over all sequences if this one alone is exchanged; None if
            a score is undefined.
    """

    key: SequenceKey
    first: Number
    second: Number
    contribution: float | None

    @property
    def value(self) -> Number:
        """The difference; None if either score is undefined."""
        return None if self.first is None or self.second is None else self.second - self.first


class FrameDifference(Struct, frozen=True):
    """Number of mistakes in one frame: false positives, false negatives and id switches.

    Attributes:
        key: The sequence.
        frame: Its frame number.
        first: Mistakes of the first system.
        second: Mistakes of the second one.
    """

    key: SequenceKey
    frame: int
    first: int
    second: int

    @property
    def value(self) -> int:
        """Mistakes of the second system minus those of the first."""
        return self.second - self.first


class SystemPair(Struct, frozen=True):
    """A system compared with the first one.

    Attributes:
        first: Name of the first system.
        second: Name of the other one.
        measure: The first ranking measure.
        lower_is_better: Whether lower values of it are better.
        are_enough: Whether there are enough sequences to call a system better.
        differences: Every score over all sequences.
        sequences: Sequences with the greatest contributions, sorted; none if frames were drawn.
        frames: Frames with the greatest differences of mistakes; None if the evaluator has no
            outcomes.
    """

    first: str
    second: str
    measure: str
    lower_is_better: bool
    are_enough: bool
    differences: tuple[Difference, ...]
    sequences: tuple[SequenceDifference, ...]
    frames: tuple[FrameDifference, ...] | None

    @property
    def overall(self) -> Difference:
        """The difference of the first ranking measure."""
        return next(
            one for one in self.differences
            if (one.domain, one.label, one.measure) == (None, None, self.measure)
        )  # fmt: skip

    @property
    def verdict(self) -> Verdict:
        """Whether the second system is better than the first."""
        found = self.overall
        if found.value is None:
            return Verdict.UNDEFINED
        if not self.are_enough or found.low is None or found.high is None:
            return Verdict.UNDECIDED
        if found.low <= 0.0 <= found.high:
            return Verdict.UNDECIDED
        return Verdict.BETTER if (found.high < 0.0) == self.lower_is_better else Verdict.WORSE

    def labels(self, most: int) -> list[Difference]:
        """Labels (of a domain, if the evaluator has no others), sorted by difference."""
        return _greatest(
            (one for one in self.differences if one.label is not None), self.measure, most
        )

    def domains(self, most: int) -> list[Difference]:
        """Domains, sorted by difference."""
        of_domains = (one for one in self.differences if one.domain is not None)
        return _greatest((one for one in of_domains if one.label is None), self.measure, most)


def system_pairs(
    evaluator: Evaluator[Any],
    contest: Contest,
    *,
    draws: int,
    coverage: float,
    seed: int,
    top: int,
    workers: int,
    progress: Progress | None,
) -> tuple[SystemPair, ...]:
    """Compare every later system with the first one.

    Arguments are those of `vidscore_evaluators.trust.comparisons.compare_systems`.
    """
    keys = [part.key for part in drawn_parts(contest)]
    enough = are_enough(domain_sizes(keys))
    tallies = sequence_tallies(evaluator, contest)
    times = draw_sequences(keys, possible_draws(keys, draws), seed)
    drawn = score_draws(
        evaluator,
        list(map(pack_parts, tallies)),
        times,
        drawn=contest.drawn,
        workers=workers,
        progress=progress,
    )
    exchanged = score_blocks(
        evaluator,
        [pack_parts(tallies[0] + later) for later in tallies[1:]],
        _exchanges(len(keys), alone=contest.drawn is Drawn.FRAMES),
        drawn=contest.drawn,
        workers=workers,
        progress=progress,
    )
    first, *rest = (
        _Scored.of(evaluator, contest, name, of_system)
        for name, of_system in zip(contest.systems, drawn, strict=True)
    )
    return tuple(
        _pair(
            evaluator,
            (first, later),
            coverage,
            top,
            _sequences(evaluator, keys, found, top) if contest.drawn is Drawn.SEQUENCES else (),
            partial(_sequences_of_score, keys, found),
            enough=enough,
        )
        for later, found in zip(rest, exchanged, strict=True)
    )


def _exchanges(count: int, *, alone: bool) -> list[Block]:
    """Blocks of the 4 S + 2 draws of S parts of two systems that show what each part does.

    Each part alone; all of the first system, then with one of the second in its place; and the
    reverse. If `alone`, the 2 S first of these.
    """
    draws = blocks_of_draws(2 * count if alone else 4 * count + 2)
    return [partial(_exchange, count, block) for block in draws]


def _exchange(count: int, block: slice) -> IntArray:
    """(D, 2 S) number of times that each part counts in some draws of `_exchanges`."""
    rows = np.arange(block.start, block.stop)
    times = np.zeros((len(rows), 2, count), dtype=np.int64)
    alone = np.flatnonzero(rows < 2 * count)
    times.reshape(len(rows), 2 * count)[alone, rows[alone]] = 1
    for system, first in enumerate((2 * count, 3 * count + 1)):
        own = np.flatnonzero((rows >= first) & (rows <= first + count))
        times[own, system] = 1
        exchanged = own[rows[own] > first]
        part = rows[exchanged] - first - 1
        times[exchanged, system, part] = 0
        times[exchanged, 1 - system, part] = 1
    return times.reshape(len(rows), 2 * count)


def _sequences_of_score(
    sequences: Sequence[SequenceKey], drawn: Draws, key: Key
) -> list[SequenceKey]:
    """The sequences that have a score of their own, by the draws of `_exchanges`."""
    of_both = ~np.isnan(drawn.score(key)[: 2 * len(sequences)]).reshape(2, -1)
    return list(compress(sequences, (of_both[0] | of_both[1]).tolist()))


class _Scored(Struct, frozen=True, eq=False):
    """Scores of one system.

    Attributes:
        name: Its name.
        whole: Its scores over everything.
        draws: Its scores on draws of sequences; empty if no draw could differ.
        mistakes: Its mistakes by frame; None if the evaluator has no outcomes.
    """

    name: str
    whole: Mapping[Key, Number]
    draws: Draws
    mistakes: Mapping[Frame, int] | None

    @classmethod
    def of(cls, evaluator: Evaluator[Any], contest: Contest, name: str, draws: Draws) -> _Scored:
        detections = contest.systems[name]
        whole = scores_by_key(evaluator.scores(evaluator.tally(contest.truth, detections)))
        return cls(name, whole, draws, _mistakes(evaluator, contest.truth, detections))


def _pair(
    evaluator: Evaluator[Any],
    scored: tuple[_Scored, _Scored],
    coverage: float,
    top: int,
    sequences: tuple[SequenceDifference, ...],
    having: Callable[[Key], Sequence[SequenceKey]],
    *,
    enough: bool,
) -> SystemPair:
    first, second = scored
    measure = evaluator.ranking[0]
    directions = {one.name: one.direction for one in evaluator.measures}
    return SystemPair(
        first.name,
        second.name,
        measure,
        directions[measure] is Direction.LOWER,
        enough,
        tuple(
            _difference(key, directions[key[2]], scored, coverage, having(key))
            for key in dict.fromkeys([*first.whole, *second.whole])
        ),
        sequences,
        _frames(first.mistakes, second.mistakes, top),
    )


def _difference(
    key: Key,
    direction: Direction,
    scored: tuple[_Scored, _Scored],
    coverage: float,
    having: Sequence[SequenceKey],
) -> Difference:
    """The difference of one score, with its interval over the draws in which both are defined.

    `having` are the sequences that have this score of their own.
    """
    first, second = scored
    values = (first.whole.get(key), second.whole.get(key))
    drawn = second.draws.score(key) - first.draws.score(key)
    found = drawn[~np.isnan(drawn)]
    if len(found) == 0 or None in values:
        return Difference(*key, *values)
    sizes = domain_sizes(having)
    low, high = interval_of(found, coverage, sizes)
    if low == high and len(having) < 2:
        return Difference(*key, *values)
    probability = None
    if direction is not Direction.NONE:
        better = found > 0.0 if direction is Direction.HIGHER else found < 0.0
        wins = np.count_nonzero(better) + 0.5 * np.count_nonzero(found == 0.0)
        different = min(len(found), resample_count(sizes)) if having else len(found)
        share = smoothed(np.array([wins / len(found)]), different, 2)
        probability = probabilities_of(share, sizes).item()
    return Difference(*key, *values, low, high, probability)


def _sequences(
    evaluator: Evaluator[Any], keys: Sequence[SequenceKey], drawn: Draws, top: int
) -> tuple[SequenceDifference, ...]:
    """The sequences with the greatest contributions, from the draws of `_exchanges`."""
    overall, count = (None, None, evaluator.ranking[0]), len(keys)
    values = [None if math.isnan(value) else value for value in drawn.score(overall).tolist()]
    to_second, to_first = values[2 * count : 3 * count + 1], values[3 * count + 1 :]
    found = [
        SequenceDifference(
            key,
            values[row],
            values[count + row],
            _mean_change(
                (to_second[0], to_second[row + 1]),  # better by the second system's sequence
                (to_first[row + 1], to_first[0]),  # worse by the first system's
            ),
        )
        for row, key in enumerate(keys)
    ]
    ranked = sorted(found, key=lambda one: (-abs(one.contribution or 0.0), one.key))
    return tuple(one for one in ranked if one.contribution)[:top]


def _mean_change(*changes: tuple[Number, Number]) -> float | None:
    """Mean of (before, after) changes; None if a score is undefined."""
    amounts = [
        after - before for before, after in changes if before is not None and after is not None
    ]
    return sum(amounts) / len(amounts) if len(amounts) == len(changes) else None


def _greatest(differences: Iterable[Difference], measure: str, most: int) -> list[Difference]:
    """The greatest differences of a measure; those over all domains, if there are any."""
    of_measure = [one for one in differences if one.measure == measure and one.value]
    everywhere = [one for one in of_measure if one.domain is None]
    return sorted(
        everywhere or of_measure,
        key=lambda one: (-abs(one.value or 0.0), one.domain or "", one.label or ""),
    )[:most]


def _mistakes(
    evaluator: Evaluator[Any], truth: Annotations, detections: Annotations
) -> Mapping[Frame, int] | None:
    """Mistakes of a system in each frame; None if the evaluator has no outcomes."""
    if not evaluator.has_outcomes:
        return None
    found: dict[Frame, int] = {}
    for part in outcomes_in_parts(evaluator, truth, detections):
        # A switch is on rows of both sides, but is one mistake.
        switches = part.id_switches & part.of_side(Side.TRUTH)
        weights: IntArray = part.are(*MISTAKES).astype(np.int64) + switches
        rows = np.flatnonzero(weights)
        places = np.stack([part.sequences[rows].astype(np.int64), part.frames[rows]], axis=1)
        unique, numbers = np.unique(places, axis=0, return_inverse=True)
        counts = np.bincount(numbers.ravel(), weights=weights[rows], minlength=len(unique))
        for (sequence, frame), mistakes in zip(unique.tolist(), counts.tolist(), strict=True):
            found[part.sequence_keys[sequence], frame] = int(mistakes)
    return found


def _frames(
    first: Mapping[Frame, int] | None, second: Mapping[Frame, int] | None, top: int
) -> tuple[FrameDifference, ...] | None:
    """The frames with different numbers of mistakes, sorted by the difference."""
    if first is None or second is None:
        return None
    found = [
        FrameDifference(*place, first.get(place, 0), second.get(place, 0))
        for place in {*first, *second}
        if first.get(place, 0) != second.get(place, 0)
    ]
    found.sort(key=lambda one: (-abs(one.value), one.key, one.frame))
    return tuple(found[:top])
