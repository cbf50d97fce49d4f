"""Scoring many scenes: the dissimilarity that an evaluator declares, at values of a grid.

Many scenes are scored in one tally, each in its own domain. If an evaluator has no figures per
domain, those of the domain's one sequence are used; if these also differ from the scene's score
alone, each scene is scored in a run of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from typing import Any

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.annotations import (
    ARITIES,
    BOX,
    POINT,
    Annotations,
    SequenceKey,
    concatenate,
)
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.errors import Fault, GeometryError, InputError, ParameterError
from vidscore_evaluators.evaluator import Dissimilarity, Evaluator, Measure
from vidscore_evaluators.jobs import sweep, with_parameter
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.report import Number, Scores
from vidscore_evaluators.trust.sanity.families import SanityScene

_NONE = Dissimilarity.NONE


class Level(StrEnum):
    """The rows of a report of many scenes that have the figures of single scenes."""

    DOMAIN = "domain"
    SEQUENCE = "sequence"
    ALONE = "alone"


def ranking_measures(evaluator: Evaluator[Any]) -> tuple[Measure, ...]:
    """The ranking measures with a dissimilarity form, or else the first measure that has one.

    Raises:
        InputError: If no measure has one.
    """
    usable = [measure for measure in evaluator.measures if measure.dissimilarity != _NONE]
    if not usable:
        found = f"{evaluator.name}, which has no dissimilarity measure"
        raise InputError([Fault(found, "an evaluator that declares one")])
    ranking = tuple(measure for measure in usable if measure.name in evaluator.ranking)
    return ranking or (usable[0],)


def declared_measure(evaluator: Evaluator[Any], name: str) -> Measure:
    """A measure by name.

    Raises:
        InputError: If there is none of that name, or it has no dissimilarity form.
    """
    for measure in evaluator.measures:
        if measure.name == name and measure.dissimilarity != _NONE:
            return measure
    known = [entry.name for entry in evaluator.measures if entry.dissimilarity != _NONE]
    expected = "one that is a dissimilarity: " + ", ".join(known)
    raise InputError([Fault(f"measure {name} of {evaluator.name}", expected)])


def swept_parameters(evaluator: Evaluator[Any]) -> tuple[str, ...]:
    """Names of the parameters that declare a grid."""
    return tuple(
        name for name in parameter_values(evaluator.parameters) if usable_grid(evaluator, name)
    )


def usable_grid(evaluator: Evaluator[Any], parameter: str) -> tuple[float, ...]:
    """The values of a parameter's grid that are compatible with the other parameters."""
    return tuple(
        value for value in evaluator.grid(parameter) if _is_usable(evaluator, parameter, value)
    )


def _is_usable(evaluator: Evaluator[Any], parameter: str, value: float) -> bool:
    try:
        with_parameter(evaluator, parameter, value)
    except ParameterError:
        return False
    return True


class Judge(Struct, frozen=True):
    """One measure of an evaluator, as a dissimilarity of scenes.

    Attributes:
        evaluator: The evaluator.
        measure: Its measure, which has a dissimilarity form.
        level: The rows that have the figures of single scenes.
    """

    evaluator: Evaluator[Any]
    measure: Measure
    level: Level

    @classmethod
    def of(
        cls, evaluator: Evaluator[Any], measure: Measure, examples: Sequence[SanityScene]
    ) -> Judge:
        """Find the rows that have the figures of single scenes.

        Args:
            evaluator: The evaluator.
            measure: Its measure.
            examples: Scenes; each must have the same figure there as alone.
        """
        alone = cls(evaluator, measure, Level.ALONE)
        expected = alone.judge(examples)
        for level in (Level.DOMAIN, Level.SEQUENCE):
            judge = cls(evaluator, measure, level)
            if np.array_equal(judge.judge(examples), expected, equal_nan=True):
                return judge
        return alone

    def judge(self, scenes: Sequence[SanityScene]) -> FloatArray:
        """(K,) dissimilarities of K scenes; NaN if undefined."""

        def scored(truth: Annotations, detections: Annotations) -> list[Scores]:
            return [self.evaluator.scores(self.evaluator.tally(truth, detections))]

        judged: FloatArray = self._judged(scenes, scored)[0]
        return judged

    def judge_grid(self, scenes: Sequence[SanityScene], parameter: str) -> FloatArray:
        """(V, K) dissimilarities of K scenes at the V values of a parameter's usable grid."""
        values = usable_grid(self.evaluator, parameter)

        def scored(truth: Annotations, detections: Annotations) -> list[Scores]:
            return list(sweep(self.evaluator, parameter, truth, detections, values).values())

        return self._judged(scenes, scored)

    def _judged(
        self,
        scenes: Sequence[SanityScene],
        scored: Callable[[Annotations, Annotations], list[Scores]],
    ) -> FloatArray:
        """(V, K) dissimilarities from V scorings of all scenes together."""
        if self.level is Level.ALONE:
            values = [
                [_overall(scores, self.measure.name) for scores in scored(*self._fitted(scene))]
                for scene in scenes
            ]
            judged: FloatArray = self._dissimilarities(values).T
            return judged
        everything = scored(*self._fitted(join_scenes(scenes)))
        by_domain = [_by_domain(scores, self.measure.name, self.level) for scores in everything]
        names = domain_names(len(scenes))
        return self._dissimilarities([[values.get(name) for name in names] for values in by_domain])

    def _dissimilarities(self, values: Sequence[Sequence[Number]]) -> FloatArray:
        table = np.array(
            [[np.nan if value is None else float(value) for value in row] for row in values]
        )
        one_minus = self.measure.dissimilarity is Dissimilarity.ONE_MINUS
        return 1.0 - table if one_minus else table

    def _fitted(self, scene: SanityScene) -> SanityScene:
        needs = self.evaluator.needs
        return fitted(scene[0], needs.truth_arities), fitted(scene[1], needs.detection_arities)


def domain_names(count: int) -> list[str]:
    """Names of the domains of `count` scenes."""
    return [f"scene-{index:06d}" for index in range(count)]


def join_scenes(scenes: Sequence[SanityScene]) -> SanityScene:
    """All scenes as one, each in its own domain."""
    names = domain_names(len(scenes))
    truth, detections = (
        concatenate(
            [_in_domain(scene[side], name) for scene, name in zip(scenes, names, strict=True)]
        )
        for side in (0, 1)
    )
    return truth, detections


def fitted(annotations: Annotations, arities: Sequence[int]) -> Annotations:
    """The same objects in a shape that an evaluator can use.

    Args:
        annotations: Upright boxes, or any shape that the evaluator can use.
        arities: Accepted numbers of coordinates per object; if only points are, these are the
            centres of the boxes.
    """
    if annotations.arity in arities:
        return annotations
    if annotations.arity == BOX and POINT in arities:
        corners = annotations.coordinates
        return structs.replace(annotations, coordinates=(corners[:, :2] + corners[:, 2:]) / 2)
    found, expected = ARITIES[annotations.arity], " or ".join(ARITIES[arity] for arity in arities)
    raise GeometryError([Fault(found, expected)])


def _in_domain(annotations: Annotations, domain: str) -> Annotations:
    keys = tuple(SequenceKey(domain, key.sequence) for key in annotations.sequences)
    return structs.replace(annotations, sequences=keys)


def _overall(scores: Scores, measure: str) -> Number:
    """A score over everything."""
    for domain, label, sequence, value in _entries(scores, measure):
        if domain is None and label is None and sequence is None:
            return value
    return None


def _by_domain(scores: Scores, measure: str, level: Level) -> dict[str | None, Number]:
    """A score by domain: that of the domain, or of its sequence."""
    return {
        domain: value
        for domain, label, sequence, value in _entries(scores, measure)
        if label is None and (sequence is None) == (level is Level.DOMAIN)
    }


def _entries(
    scores: Scores, measure: str
) -> Iterator[tuple[str | None, str | None, str | None, Number]]:
    """Domain, class, sequence and value of every row of one measure."""
    for block in scores.blocks:
        if measure in block.measures:
            alone = dataclasses.replace(block, measures={measure: block.measures[measure]})
            for row in alone.rows():
                yield row.domain, row.label, row.sequence, row.value
