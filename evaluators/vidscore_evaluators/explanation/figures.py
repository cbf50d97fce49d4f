"""The figures of systems with their uncertainty, one row per measure."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Direction, Evaluator, Measure
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.report import Number, overall_scores
from vidscore_evaluators.report_grids import format_fraction
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.drawn_tallies import pack_parts
from vidscore_evaluators.trust.draws import Key, score_draws, scores_by_key, sequence_tallies
from vidscore_evaluators.trust.few_sequences import are_enough, domain_sizes
from vidscore_evaluators.trust.resampling import (
    COVERAGE,
    Interval,
    draw_sequences,
    percentile_intervals,
    possible_draws,
)

MOST_MEASURES = 4
"""Maximum number of measures shown per evaluator; ranking ones come first."""

DRAWS = 200
SEED = 1


class FigureRow(Struct, frozen=True):
    """A measure of all systems.

    Attributes:
        evaluator: Name of the evaluator.
        measure: The measure.
        values: For each system; None if undefined.
        intervals: For each system; None if unknown, or not yet known.
        difference_interval: Interval of the first system minus the second, scored on the same
            draws; None if unknown.
        are_enough: Whether there are enough sequences to tell systems apart.
    """

    evaluator: str
    measure: Measure
    values: tuple[Number, ...]
    intervals: tuple[Interval | None, ...]
    difference_interval: Interval | None
    are_enough: bool

    @property
    def difference(self) -> float | None:
        """First system minus the second; None unless there are two, both defined."""
        if len(self.values) != 2 or self.values[0] is None or self.values[1] is None:
            return None
        return float(self.values[0]) - float(self.values[1])

    @property
    def told_apart(self) -> bool | None:
        """Whether there are enough sequences and the interval of the difference excludes zero.

        None if there are enough, but no interval.
        """
        if not self.are_enough:
            return False
        interval = self.difference_interval
        if interval is None or interval.low is None or interval.high is None:
            return None
        return not interval.low <= 0.0 <= interval.high

    @property
    def lower_is_better(self) -> bool:
        """Whether lower values are better, which readers of most measures do not expect."""
        return self.measure.direction is Direction.LOWER

    @property
    def digits(self) -> int:
        """Decimals that distinguish the systems: four, or more if they are close."""
        if self.measure.unit == "count":
            return 0
        return telling_digits([value for value in self.values if value is not None])


def telling_digits(values: Sequence[float]) -> int:
    """Decimals that distinguish different values: four, or more if they are close."""
    for digits in range(4, 12):
        if len({format_fraction(value, f".{digits}f") for value in values}) == len(set(values)):
            return digits
    return 12


class Uncertainty:
    """Bootstraps of evaluators, computed one by one while others read the results.

    Args:
        material: Truth and systems.
        draws: Number of draws of the sequences; 0 for no intervals, as if no draw could differ.
    """

    def __init__(self, material: Material, draws: int = DRAWS) -> None:
        self.draws = possible_draws(material.contest.sequences, draws)
        self._material = material
        self._found: dict[str, Drawn] = {}
        self._done = threading.Event()
        if self.draws == 0:
            self._done.set()

    @property
    def pending(self) -> bool:
        """Whether intervals are still being computed."""
        return not self._done.is_set()

    @cached_property
    def times(self) -> IntArray | None:
        """(draws, S) number of times that each sequence of the frames is drawn; None without draws.

        Only sequences of the truth are drawn.
        """
        if self.draws == 0:
            return None
        contest = self._material.contest
        drawn = set(contest.sequences)
        among = [key in drawn for key in self._material.frames.sequences]
        times = np.zeros((self.draws, len(among)), dtype=np.int64)
        times[:, among] = draw_sequences(contest.sequences, self.draws, SEED)
        return times

    def compute(self, progress: Progress | None = None) -> None:
        """Bootstrap every evaluator.

        Args:
            progress: Called with (evaluators done, evaluators in all).
        """
        evaluators = self._material.evaluators if self.draws else ()
        for index, evaluator in enumerate(evaluators):
            self._found[evaluator.name] = self._draw(evaluator, index)
            if progress is not None:
                progress(index + 1, len(evaluators))
        self._done.set()

    def start(self) -> None:
        """Compute in a thread that does not keep the process alive."""
        threading.Thread(target=self.compute, name="uncertainty", daemon=True).start()

    def of(self, evaluator: str) -> Drawn | None:
        """The intervals of an evaluator; None if there are none, or none yet."""
        return self._found.get(evaluator)

    def _draw(self, evaluator: Evaluator[Any], index: int) -> Drawn:
        contest = self._material.contest
        times = draw_sequences(contest.sequences, self.draws, SEED)
        tallies = list(map(pack_parts, sequence_tallies(evaluator, contest)))
        drawn = score_draws(evaluator, tallies, times)
        overall = [
            scores_by_key(self._material.reports[system][index].scores)
            for system in self._material.systems
        ]
        intervals = tuple(
            percentile_intervals(values, own.score, COVERAGE, contest)
            for values, own in zip(overall, drawn, strict=True)
        )
        if len(drawn) != 2:
            return Drawn(intervals, {})
        one, other = drawn
        differences = percentile_intervals(
            _less(*overall),
            lambda key: one.score(key) - other.score(key),
            COVERAGE,
            contest,
        )
        return Drawn(intervals, differences)


class Drawn(Struct, frozen=True, eq=False):
    """Intervals by one evaluator.

    Attributes:
        systems: For each system, an interval for each score.
        differences: An interval for each difference of two systems.
    """

    systems: tuple[Mapping[Key, Interval], ...]
    differences: Mapping[Key, Interval]


def _less(first: Mapping[Key, Number], second: Mapping[Key, Number]) -> dict[Key, Number]:
    """First minus second, if both are defined."""
    found: dict[Key, Number] = {}
    for key, value in first.items():
        other = second.get(key)
        found[key] = None if value is None or other is None else value - other
    return found


def figure_rows(material: Material, uncertainty: Uncertainty) -> list[FigureRow]:
    """The measures of every evaluator, over everything.

    Args:
        material: Reports.
        uncertainty: Intervals, as far as they are known.
    """
    rows = []
    enough = are_enough(domain_sizes(material.contest.sequences))
    for index, evaluator in enumerate(material.evaluators):
        reports = [material.reports[system][index] for system in material.systems]
        overall = [overall_scores(report) for report in reports]
        found = uncertainty.of(evaluator.name)
        for measure in _shown(evaluator, overall[0]):
            key = (None, None, measure.name)
            intervals = tuple(
                None if found is None else found.systems[system].get(key)
                for system in range(len(reports))
            )
            paired = None if found is None else found.differences.get(key)
            values = tuple(values.get(measure.name) for values in overall)
            rows.append(FigureRow(evaluator.name, measure, values, intervals, paired, enough))
    return rows


def all_figures(material: Material) -> Iterator[tuple[object, ...]]:
    """Every score of every report: evaluator, domain, label, sequence, measure, values."""
    for index, evaluator in enumerate(material.evaluators):
        by_place: dict[tuple[str | None, ...], dict[str, Number]] = {}
        for system in material.systems:
            for row in material.reports[system][index].rows():
                by_place.setdefault(row[:4], {})[system] = row.value
        for place, values in by_place.items():
            yield (evaluator.name, *place, *(values.get(system) for system in material.systems))


def _shown(evaluator: Evaluator[Any], overall: Mapping[str, Number]) -> Sequence[Measure]:
    """Ranking measures, then other measures of quality, up to the maximum."""
    ranked = [name for name in evaluator.ranking if name in overall]
    others = [
        measure.name
        for measure in evaluator.measures
        if measure.name in overall
        and measure.name not in ranked
        and measure.unit != "count"
        and measure.direction is not Direction.NONE
        and overall[measure.name] is not None
    ]
    chosen = [*ranked, *others][: max(MOST_MEASURES, len(ranked))]
    by_name = {measure.name: measure for measure in evaluator.measures}
    return [by_name[name] for name in chosen]
