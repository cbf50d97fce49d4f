"""The seam: what an evaluator is. Built-in evaluators and plug-ins use exactly this.

An evaluator is a name, a version, a parameters class, and two pure functions: `tables`
turns whole frames (or whole sequences) of truth and detections into a `Tally`, and `scores`
turns a tally into scores. Everything else - alignment, fingerprints, provenance, merging,
streaming, workers, the wire - is done for it, by the functions here and around.

To add one: subclass `Evaluator`, register it (`vidscore_evaluators.registry`), and run the
contract suite (`vidscore_evaluators.testing`) over it.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial
from importlib import metadata
from typing import Any, ClassVar, Generic, TypeVar

from vidscore_evaluators.alignment import Aligned, align
from vidscore_evaluators.annotations import ARITIES, POINT, Annotations, empty_annotations
from vidscore_evaluators.annotations import Side as Side  # noqa: PLC0414 - it is part of the seam, and found here
from vidscore_evaluators.confidences import unit_confidence_faults
from vidscore_evaluators.errors import Fault, GeometryError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.measures import Direction, Measure
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.plausibility.summary import input_summary_of, size_columns
from vidscore_evaluators.plausibility.warnings import LabelUse, input_warnings, with_names
from vidscore_evaluators.report import Report, ReportWarning, Scores
from vidscore_evaluators.specification import BenchmarkSpec, spec_to_dict
from vidscore_evaluators.tally import Table, Tally

ParametersType = TypeVar("ParametersType")

RankKey = tuple[tuple[bool, float], ...]
"""Sorts ascending from best to worst; an undefined score comes last."""


class Unit(StrEnum):
    """What must be complete before it can be tallied."""

    FRAME = "frame"
    SEQUENCE = "sequence"


class Task(StrEnum):
    """What the judged systems do."""

    DETECTION = "detection"
    TRACKING = "tracking"


@dataclass(frozen=True, slots=True)
class Growth:
    """How the size of a tally is bounded.

    Attributes:
        by: ``bounded``, ``sequence`` or ``detection``.
        bytes_each: Bytes for each sequence; or for each detection and each sequence; or, if
            bounded, of the whole. `Tally.nbytes` counts them, without the texts of keys; it adds
            at most `vidscore_evaluators.plausibility.summary.INPUT_SUMMARY_BYTES`.
    """

    by: str
    bytes_each: int


@dataclass(frozen=True, slots=True)
class Needs:
    """What an evaluator needs of its input.

    Attributes:
        truth_arities: Coordinates an object of the truth may have.
        detection_arities: Coordinates a detection may have.
        confidences: Whether confidences play a part.
        tracks: Whether objects must carry a track id.
        unit_confidences: Whether confidences must lie from 0 to 1; else only their order counts.
        ranked: Whether scores depend on the order of confidences.
        labels: What labels are to it.
    """

    truth_arities: tuple[int, ...]
    detection_arities: tuple[int, ...]
    confidences: bool = False
    tracks: bool = False
    unit_confidences: bool = False
    ranked: bool = False
    labels: LabelUse = LabelUse.EXACT


class Evaluator(ABC, Generic[ParametersType]):
    """The rules of one benchmark protocol or criterion, with its parameters chosen.

    Attributes:
        name: Name on the command line, on the wire and in reports.
        version: Goes up whenever a score may change; golden files name it.
        title: One line for lists.
        task: What the judged systems do.
        Parameters: Frozen dataclass of `vidscore_evaluators.parameters.parameter` fields.
        measures: Every measure that may stand in a report.
        ranking: Measures that decide the order of systems, first one first.
        needs: What it needs of its input; an instance may narrow its class's by its parameters.
        growth: How large its tally may become.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    title: ClassVar[str]
    task: ClassVar[Task]
    Parameters: ClassVar[type[Any]]
    measures: ClassVar[tuple[Measure, ...]]
    ranking: ClassVar[tuple[str, ...]]
    needs: Needs

    def __init__(
        self, parameters: ParametersType, specification: BenchmarkSpec = BenchmarkSpec()
    ) -> None:
        """Choose parameters, already validated, and the benchmark's specification."""
        self.parameters = parameters
        # Scores cannot depend on which other evaluators judge beside this one.
        self.specification = replace(specification, evaluators=())

    @property
    def unit(self) -> Unit:
        """What must be complete before it can be tallied; may depend on the parameters."""
        return Unit.FRAME

    @property
    @abstractmethod
    def growth(self) -> Growth:
        """How large the tally may become; may depend on the parameters."""

    @abstractmethod
    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Tally whole frames, or whole sequences where `unit` says so; pure.

        Args:
            aligned: Both sides in one frame order. Frames that the truth does not list
                (`aligned.listed`) are there because a system detected something in them.

        Returns:
            The tables, of fixed names and schemas even for no frames.
        """

    @abstractmethod
    def scores(self, tally: Tally) -> Scores:
        """Scores out of a tally; pure."""

    def grid(self, parameter: str) -> tuple[float, ...]:
        """Values that a sweep of a parameter goes through: those it declares, unless overridden.

        Args:
            parameter: Name of a parameter; one without a grid has none.
        """
        described = {entry.name: entry for entry in describe_parameters(self.Parameters)}
        return described[parameter].bounds.grid

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at other values of a parameter, as far as one tally holds them; pure.

        What is given equals, to the last bit, the scores of an evaluator with that value, and has
        no curves. Nothing unless overridden: `vidscore_evaluators.sweeping` then runs once a value.

        Args:
            tally: A tally of this evaluator.
            parameter: Name of a parameter with a grid.
        """
        del tally, parameter
        return {}

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """What the protocol's own rules forbid in a batch; nothing unless overridden.

        A fault's `entry` is the frame's row in the batch.
        """
        del side, annotations
        return ()

    def input_faults(self, side: Side, annotations: Annotations) -> list[Fault]:
        """Everything that forbids a batch: what the evaluator needs, and the protocol's own rules.

        A fault's `entry` is the frame's row in the batch.
        """
        faults = [*self.faults(side, annotations)]
        if self.needs.unit_confidences:
            of_confidences = unit_confidence_faults(self.name, annotations)
            faults.extend(replace(fault, source=side.value) for fault in of_confidences)
        return faults

    def tally(self, truth: Annotations, detections: Annotations) -> Tally:
        """Tally any whole frames (or sequences) of both sides; pure.

        Args:
            truth: Truth; frames without objects are listed as well.
            detections: Detections.

        Raises:
            GeometryError: If a side has coordinates that the evaluator cannot use.
        """
        return tally_together([self], truth, detections)[0]

    def scored_classes(self, domain: str) -> Sequence[str] | None:
        """Classes that are scored in a domain; None where every label is."""
        return self.specification.classes_of(domain)

    def warnings(
        self, input_summary: Mapping[str, Table], scores: Scores
    ) -> Sequence[ReportWarning]:
        """What does not look right about the input, and what the scores come with."""
        labels = self.needs.labels
        return (
            *input_warnings(input_summary, labels, ranked=self.needs.ranked),
            *with_names(scores.warnings, input_summary, labels, self.scored_classes),
        )

    def report(self, tally: Tally) -> Report:
        """Scores with everything needed to know what they are scores of; pure."""
        scores = self.scores(tally)
        warnings = tuple(self.warnings(tally.input_summary, scores))
        return Report(
            evaluator=self.name,
            version=self.version,
            parameters=parameter_values(self.parameters),
            truth_digest=str(tally.truth),
            detections_digest=str(tally.detections),
            scores=replace(scores, warnings=warnings),
            specification=spec_to_dict(self.specification),
            software=software_versions(),
        )

    def rank_key(self, report: Report) -> RankKey:
        """Key that sorts reports from best to worst; equal keys share a rank."""
        directions = {measure.name: measure.direction for measure in self.measures}
        return tuple(_rank_part(report.value(name), directions[name]) for name in self.ranking)

    def useful_range(self, measure: str) -> tuple[float | None, float | None]:
        """Least and greatest value of a measure for systems that are better than finding nothing.

        What is worse need not be told apart: hosted benchmarks show it as the end of this range.
        It is what the measure declares, unless parameters have a say.

        Args:
            measure: Name of one of its measures.

        Returns:
            Both ends; None where the measure has none.
        """
        return next(entry.useful_range for entry in self.measures if entry.name == measure)

    def check_arity(self, side: Side, arity: int, columns: Iterable[str] = ()) -> None:
        """Refuse coordinates that the evaluator cannot use.

        Args:
            side: Whose coordinates they are.
            arity: Coordinates that an object has.
            columns: Names of its further columns, which may tell why.

        Raises:
            GeometryError: If it cannot use objects of `arity` coordinates on that side.
        """
        allowed = {
            Side.TRUTH: self.needs.truth_arities,
            Side.DETECTIONS: self.needs.detection_arities,
        }[side]
        if arity not in allowed:
            expected = " or ".join(ARITIES[number] for number in allowed)
            found = ARITIES.get(arity, f"{arity} coordinates an object")
            expected = f"{expected} for {self.name}"
            sizes = ", ".join(size_columns(columns) if arity == POINT else ())
            advice = f"give boxes as x1, y1, x2, y2, not as x, y, {sizes}" if sizes else None
            raise GeometryError([Fault(found, expected, source=side.value, advice=advice)])

    @property
    def identity(self) -> str:
        """Name, version and a digest of the configuration: tallies add only within one."""
        configuration = json.dumps(
            [parameter_values(self.parameters), spec_to_dict(self.specification)], sort_keys=True
        )
        digest = hashlib.sha256(configuration.encode()).hexdigest()[:16]
        return f"{self.name} {self.version} {digest}"

    @property
    def identity_tally(self) -> Tally:
        """The tally of nothing, which changes no tally that it is added to."""
        return self.tally(
            empty_annotations(self.needs.truth_arities[0]),
            empty_annotations(self.needs.detection_arities[0]),
        )


def tally_together(
    evaluators: Sequence[Evaluator[Any]], truth: Annotations, detections: Annotations
) -> list[Tally]:
    """Tally by several evaluators, which share what they work out alike; pure.

    Args:
        evaluators: The evaluators.
        truth: Truth of whole frames, or sequences; frames without objects are listed as well.
        detections: Detections.

    Returns:
        For each evaluator what its own `Evaluator.tally` gives, to the last bit.

    Raises:
        GeometryError: If a side has coordinates that an evaluator cannot use.
    """
    for evaluator in evaluators:
        evaluator.check_arity(Side.TRUTH, truth.arity, truth.columns)
        evaluator.check_arity(Side.DETECTIONS, detections.arity, detections.columns)
    aligned = align(truth, detections)
    of_truth, of_detections = fingerprint(truth), fingerprint(detections)

    def input_summary(evaluator: Evaluator[Any]) -> Mapping[str, Table]:
        # Of one benchmark; its sequences may be so many that comparing them would take long.
        key = (input_summary_of, id(evaluator.specification.sequences))
        return aligned.memo.once(key, partial(input_summary_of, aligned, evaluator.specification))

    return [
        Tally(
            evaluator.identity,
            evaluator.tables(aligned),
            of_truth,
            of_detections,
            input_summary(evaluator),
        )
        for evaluator in evaluators
    ]


def software_versions() -> dict[str, str]:
    """Versions that a score's last bits may depend on."""
    return dict(_installed_versions())


@cache
def _installed_versions() -> tuple[tuple[str, str], ...]:
    # Read once: finding them costs more than many a report.
    return tuple((name, metadata.version(name)) for name in ("numpy", "scipy", "vidscore"))


def _rank_part(value: float | None, direction: Direction) -> tuple[bool, float]:
    if value is None:
        return (True, 0.0)
    return (False, -value if direction is Direction.HIGHER else float(value))
