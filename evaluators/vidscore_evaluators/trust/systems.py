"""Systems that are ranked: their detections beside one truth, and their order by any scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from vidscore_evaluators.alignment import resolve
from vidscore_evaluators.annotations import Annotations, SequenceKey, Side
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.evaluator import Evaluator, RankKey
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report, Scores
from vidscore_evaluators.scoring import check_sides
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.trust.criterion_test import BASES
from vidscore_evaluators.validation import unit_confidence_faults


@dataclass(frozen=True)
class Contest:
    """Systems whose order is in question.

    Attributes:
        truth: Truth, restricted to the evaluated frames.
        systems: Detections of each system, by its name.
        specification: The benchmark's specification.
    """

    truth: Annotations
    systems: Mapping[str, Annotations]
    specification: BenchmarkSpec = BenchmarkSpec()

    @classmethod
    def of(
        cls,
        truth: Annotations,
        systems: Mapping[str, Annotations],
        specification: BenchmarkSpec = BenchmarkSpec(),
    ) -> Contest:
        """Restrict the truth to the evaluated frames.

        Raises:
            InputError: If a frame lies outside its video.
        """
        return cls(resolve(specification, truth), systems, specification)

    def check(self, evaluators: Sequence[Evaluator[Any]]) -> None:
        """Check everything before anything is scored.

        Raises:
            InputError: If there are fewer than two systems, or an input breaks a rule.
        """
        if len(self.systems) < 2:
            raise InputError([Fault(f"{len(self.systems)} system", "at least two to be ranked")])
        for detections in self.systems.values():
            check_system(evaluators, self.truth, detections, self.specification)

    @property
    def sequences(self) -> list[SequenceKey]:
        """Sequences of the truth that have a frame, in ascending order."""
        used = np.unique(self.truth.frame_sequences).tolist()
        return sorted(self.truth.sequences[row] for row in used)


def check_system(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    specification: BenchmarkSpec,
) -> None:
    """Refuse a system that no evaluator should see, or whose confidences cannot be swept.

    Raises:
        GeometryError: If an evaluator cannot use the coordinates of a side.
        InputError: With every fault.
    """
    check_sides(evaluators, truth, detections, specification)
    if any(evaluator.needs.confidences for evaluator in evaluators):
        faults = unit_confidence_faults("the sweep over confidences", detections)
        if faults:
            raise InputError([replace(fault, source=Side.DETECTIONS.value) for fault in faults])


@dataclass(frozen=True)
class Request:
    """An evaluator that can be made anew in any process.

    Attributes:
        evaluator: Its name.
        parameters: Its parameters.
        specification: The benchmark's specification.
    """

    evaluator: str
    parameters: Mapping[str, Any]
    specification: BenchmarkSpec

    @classmethod
    def of(cls, evaluator: Evaluator[Any]) -> Request:
        """Describe an evaluator."""
        values = parameter_values(evaluator.parameters)
        return cls(evaluator.name, values, evaluator.specification)

    def create(self) -> Evaluator[Any]:
        """Make it."""
        return create_evaluator(self.evaluator, self.parameters, self.specification)


def with_both_bases(evaluator: Evaluator[Any]) -> list[Evaluator[Any]]:
    """The evaluator with IoU and with GIoU, where it has that choice; else the evaluator alone."""
    described = {entry.name: entry for entry in describe_parameters(evaluator.Parameters)}
    present = parameter_values(evaluator.parameters)
    if "base" not in described or present["base"] not in BASES:
        return [evaluator]
    return [
        create_evaluator(evaluator.name, {**present, "base": base}, evaluator.specification)
        for base in BASES
        if base in described["base"].choices
    ]


def title_of(evaluator: str, parameters: Mapping[str, Any]) -> str:
    """Name of an evaluator, with its base where it has one."""
    base = parameters.get("base")
    return f"{evaluator} ({base})" if base else evaluator


def bare_report(evaluator: Evaluator[Any], scores: Scores) -> Report:
    """A report of nothing but scores: all that an order of systems needs."""
    values = parameter_values(evaluator.parameters)
    return Report(evaluator.name, evaluator.version, values, "", "", scores)


def rank_reports(evaluator: Evaluator[Any], reports: Sequence[Report]) -> IntArray:
    """(K,) rank of each system, 1 for the best; equal ones share the least rank of theirs."""
    return ranks_of_keys([evaluator.rank_key(report) for report in reports])


def ranks_of_keys(keys: Sequence[RankKey]) -> IntArray:
    """(K,) rank of each key, 1 for the least; equal ones share the least rank of theirs."""
    ordered = sorted(keys)
    return np.array([1 + ordered.index(key) for key in keys], dtype=np.int64)


def only_sequence(side: Annotations, key: SequenceKey) -> Annotations:
    """The frames of one sequence."""
    rows = [row for row, own in enumerate(side.sequences) if own == key]
    taken = side.take_frames(np.isin(side.frame_sequences, rows))
    return replace(taken, sequences=(key,), frame_sequences=np.zeros_like(taken.frame_sequences))
