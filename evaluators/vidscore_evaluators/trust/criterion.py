"""Sanity tests of criteria: does a criterion rank systems as its purpose intends?

Source: the paper, section 5 and appendices 2 and 4. A test draws families of scenes with a known
true order; a criterion scores every scene, and its order is compared with the true one.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct, field

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator, Task
from vidscore_evaluators.parameters import PARTIAL, describe_parameters, parameter
from vidscore_evaluators.registry import create_evaluator, evaluator_class
from vidscore_evaluators.runtime import Progress, map_in_order
from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.trust.dissimilarities import (
    Judge,
    Level,
    declared_measure,
    ranking_measures,
    swept_parameters,
    usable_grid,
)
from vidscore_evaluators.trust.paper import (
    BASES,
    CRITERIA,
    M_FULL,
    M_PARTIAL,
    OPTIMUM,
    PaperCriterion,
    Setting,
)
from vidscore_evaluators.trust.sanity import SANITY_TESTS, SanityTest
from vidscore_evaluators.trust.sanity.families import Draw, SanityScene
from vidscore_evaluators.trust.systems import Indicators, indicators, ranking_errors

MOST_SEED = 2**32 - 1

_DIGITS = 9
"""Number of decimals of a threshold that is computed from a cut-off."""


class Candidate(Struct, frozen=True):
    """A criterion that is tested: one measure of an evaluator, at one or many parameter values.

    Attributes:
        name: Its name in tables.
        base: Its base similarity; None if the evaluator has no such choice.
        evaluator: Name of the evaluator.
        parameters: Parameters that differ from their defaults.
        measure: The measure.
        swept: Parameter that is swept over its grid; None for fixed parameters.
        settings: The threshold that each value of the grid corresponds to, in order.
    """

    name: str
    base: str | None
    evaluator: str
    measure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    swept: str | None = None
    settings: tuple[float, ...] = ()

    def create(self) -> Evaluator[Any]:
        """The evaluator with these parameters."""
        return create_evaluator(self.evaluator, self.parameters)


@dataclass(frozen=True)
class Plan:
    """Number of families to draw, and the seed; `parse_parameters` checks values from outside.

    Attributes:
        strata: Number of parts of the range of object numbers.
        realisations: Number of families per stratum.
        seed: Seed of all random draws.
    """

    strata: int = parameter(40, "Parts of the range of object numbers.", minimum=1, maximum=1000)
    realisations: int = parameter(5, "Families of each stratum.", minimum=1, maximum=1000)
    seed: int = parameter(1, "Seed of all random draws.", minimum=0, maximum=MOST_SEED)

    def draws(self, test: SanityTest) -> list[Draw]:
        """Every family; a single one if nothing is random."""
        if not test.random:
            return [Draw(self.seed, 0, 1, 0)]
        return [
            Draw(self.seed, stratum, self.strata, realisation)
            for stratum in range(self.strata)
            for realisation in range(self.realisations)
        ]


class ErrorRow(Struct, frozen=True):
    """Ranking error of a criterion at a setting, over all families.

    Attributes:
        setting: Value of the swept parameter, name of an aggregate over values, or None.
        mean: Mean of the normalised Kendall tau error, from 0 to 1.
        deviation: Its standard deviation over families; None if there is only one.
    """

    setting: Setting
    mean: float
    deviation: float | None


class Outcome(Struct, frozen=True, eq=False):
    """Dissimilarities of all families by one criterion.

    Attributes:
        candidate: The criterion.
        dissimilarities: (V, F, K) at V values of the swept parameter, or 1 if none is swept, of the
            K scenes of F families, from the truly best to the truly worst.
    """

    candidate: Candidate
    dissimilarities: FloatArray

    def error_rows(self) -> list[ErrorRow]:
        """Ranking errors at each value, at the best value, and of means over values."""
        errors = ranking_errors(self.dissimilarities)
        settings = self.candidate.settings
        if not settings:
            return [_error_row(None, errors[0])]
        best = int(np.argmin(errors.mean(axis=1)))
        rows = [_error_row(value, row) for value, row in zip(settings, errors, strict=True)]
        rows.append(_error_row(OPTIMUM, errors[best]))
        for setting, chosen in _marginals(settings).items():
            rows.append(_error_row(setting, ranking_errors(_means(self.dissimilarities[chosen]))))
        return rows

    def indicators(self, seed: int) -> Indicators | None:
        """Indicators of each family (appendix 2); None if no parameter is swept."""
        if not self.candidate.settings:
            return None
        return indicators(self.dissimilarities.transpose(1, 0, 2), seed)


def paper_candidates(test: str, names: Collection[str] | None = None) -> list[Candidate]:
    """The paper's criteria for a test, with both base similarities.

    Args:
        test: Name of the test.
        names: Names of the criteria to take; all if left out.
    """
    return [
        _paper_candidate(name, base, criterion)
        for name, criterion in CRITERIA[test].items()
        if names is None or name in names
        for base in BASES
    ]


def chosen_candidates(test: str, criteria: Sequence[EvaluatorSpec]) -> list[Candidate]:
    """Criteria by the names that people use.

    Args:
        test: Name of the test.
        criteria: Criteria of the paper by name, or any evaluators, with parameters that differ from
            their defaults; empty for all criteria of the paper.

    Raises:
        InputError: If a name is neither, or an evaluator declares no dissimilarity.
    """
    of_paper = {one.name for one in criteria if not one.parameters} & {*CRITERIA[test]}
    candidates = paper_candidates(test, of_paper if criteria else None)
    for one in criteria:
        if one.parameters or one.name not in of_paper:
            candidates.extend(declared_candidates(one.name, one.parameters))
    return candidates


def declared_candidates(evaluator: str, parameters: Mapping[str, Any]) -> list[Candidate]:
    """Candidates of any evaluator: its ranking measures, unswept and swept over each grid.

    Args:
        evaluator: Name of the evaluator.
        parameters: Parameters that differ from their defaults; every `base` is tried unless given.

    Raises:
        InputError: If it declares no dissimilarity.
    """
    described = {
        entry.name: entry for entry in describe_parameters(evaluator_class(evaluator).Parameters)
    }
    choices = described["base"].choices if "base" in described else ()
    bases = [base for base in BASES if base in choices]
    wanted: list[str | None] = [*bases]
    if "base" in parameters or not bases:
        wanted = [parameters.get("base")]
    candidates: list[Candidate] = []
    for base in wanted:
        own = {**parameters} if base is None else {**parameters, "base": base}
        candidates.extend(_declared(evaluator, base, own))
    return candidates


def _declared(
    evaluator: str, base: str | None, parameters: Mapping[str, Any]
) -> Iterator[Candidate]:
    """Each measure unswept, and swept over each parameter with a grid."""
    instance = create_evaluator(evaluator, parameters)
    measures = ranking_measures(instance)
    for measure in measures:
        name = evaluator if len(measures) == 1 else f"{evaluator} {measure.name}"
        yield Candidate(name, base, evaluator, measure.name, parameters)
        for swept in swept_parameters(instance):
            yield Candidate(
                f"{name} by {swept}",
                base,
                evaluator,
                measure.name,
                parameters,
                swept,
                usable_grid(instance, swept),
            )


def run_criterion_test(
    test: str,
    candidates: Sequence[Candidate],
    plan: Plan = Plan(),
    *,
    workers: int = 1,
    progress: Progress | None = None,
) -> list[Outcome]:
    """Let criteria score every family of a test.

    Args:
        test: Name of a test of `SANITY_TESTS`.
        candidates: The criteria.
        plan: The number of families.
        workers: Processes to use; the result does not depend on it.
        progress: Called with (steps done, steps in all).

    Raises:
        InputError: If a criterion cannot score the scenes of the test.
    """
    sanity_test = SANITY_TESTS[test]
    draws = plan.draws(sanity_test)
    # Every fifth scene is enough, flawed ones included: each is scored alone and with the others.
    examples = sanity_test.draw_family(draws[len(draws) // 2]).scenes[::5]
    levels = [_level(candidate, sanity_test, examples) for candidate in candidates]
    size = sanity_test.families_at_once
    jobs = [
        _FamiliesJob(test, tuple(draws[first : first + size]), tuple(candidates), tuple(levels))
        for first in range(0, len(draws), size)
    ]
    judged = map_in_order(_judge, jobs, workers=workers, progress=progress)
    return [
        Outcome(candidate, np.concatenate(parts, axis=1))
        for candidate, parts in zip(candidates, zip(*judged, strict=True), strict=True)
    ]


class _FamiliesJob(Struct, frozen=True):
    """Some families, to be scored by every criterion at once."""

    test: str
    draws: tuple[Draw, ...]
    candidates: tuple[Candidate, ...]
    levels: tuple[Level, ...]


def _judge(job: _FamiliesJob) -> list[FloatArray]:
    """(V, F, K) dissimilarities by each criterion."""
    draw_family = SANITY_TESTS[job.test].draw_family
    scenes = [scene for draw in job.draws for scene in draw_family(draw).scenes]
    judged = []
    for candidate, level in zip(job.candidates, job.levels, strict=True):
        evaluator = candidate.create()
        judge = Judge(evaluator, declared_measure(evaluator, candidate.measure), level)
        values = (
            judge.judge_grid(scenes, candidate.swept)
            if candidate.swept is not None
            else judge.judge(scenes)[np.newaxis]
        )
        judged.append(values.reshape(len(values), len(job.draws), -1))
    return judged


def _level(candidate: Candidate, test: SanityTest, examples: Sequence[SanityScene]) -> Level:
    evaluator = candidate.create()
    if evaluator.needs.tracks and test.task is not Task.TRACKING:
        found = f"{candidate.evaluator}, which needs tracks"
        raise InputError([Fault(found, "an evaluator of detections, or the test `tracking`")])
    measure = declared_measure(evaluator, candidate.measure)
    return Judge.of(evaluator, measure, examples).level


def _paper_candidate(name: str, base: str, criterion: PaperCriterion) -> Candidate:
    parameters = {**criterion.parameters, "base": base}
    settings: tuple[float, ...] = ()
    if criterion.swept is not None:
        grid = create_evaluator(criterion.evaluator, parameters).grid(criterion.swept)
        width = 2.0 if base == "giou" else 1.0
        settings = (
            tuple(round(1.0 - width * cutoff, _DIGITS) for cutoff in grid)
            if criterion.by_cutoff
            else grid
        )
    return Candidate(
        name, base, criterion.evaluator, criterion.measure, parameters, criterion.swept, settings
    )


def _error_row(setting: Setting, errors: FloatArray) -> ErrorRow:
    several = len(errors) > 1
    return ErrorRow(setting, float(errors.mean()), float(errors.std(ddof=1)) if several else None)


def _marginals(settings: Sequence[float]) -> dict[str, list[int]]:
    """Rows of the values whose means are M-partial and M-full, as far as they exist."""
    chosen = {M_PARTIAL: PARTIAL, M_FULL: _inner(settings)}
    return {
        name: [settings.index(value) for value in values]
        for name, values in chosen.items()
        if values and set(values) <= set(settings)
    }


def _inner(settings: Sequence[float]) -> tuple[float, ...]:
    """All thresholds but the two extremes; 1, which corresponds to no cut-off, is one of those."""
    ordered = sorted(settings)
    return tuple(ordered[1:] if ordered[-1] == PARTIAL[-1] else ordered[1:-1])


def _means(dissimilarities: FloatArray) -> FloatArray:
    """Means over the first axis, rounded once, so that equal values tie in any order."""
    count = len(dissimilarities)
    columns = dissimilarities.reshape(count, -1).T.tolist()
    means = [math.fsum(column) / count for column in columns]
    return np.array(means).reshape(dissimilarities.shape[1:])
