"""The plug-in interface: what an evaluator is. Built-in evaluators and plug-ins use exactly this.

An evaluator is a name, a version, a parameters class, measures, and two pure functions: `tables`
turns whole frames (or whole sequences) of truth and detections into a `Tally`, and `scores` turns
a tally into scores. Alignment, fingerprints, provenance, merging, streaming, workers and the wire
are handled around it.

To add one: subclass `Evaluator`, register it (`vidscore_evaluators.registry`), and run the
contract suite (`vidscore_evaluators.testing`) over it.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import cached_property, partial
from typing import Any, ClassVar, Generic, TypeVar

from msgspec import Struct, structs

from vidscore_evaluators.alignment import Aligned, align
from vidscore_evaluators.annotations import ARITIES, POINT, Annotations, Side, empty_annotations
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.deferred import Deferred, given
from vidscore_evaluators.errors import Fault, GeometryError, ParameterError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.outcome_table import OperatingPoint, Outcome, Outcomes
from vidscore_evaluators.parameters import describe_parameters, parameter_values
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.plausibility.summary import input_summary_of, size_columns
from vidscore_evaluators.plausibility.warnings import input_warnings, with_names
from vidscore_evaluators.report import Number, Report, ReportWarning, Scores
from vidscore_evaluators.selection import ALL, Selection
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import Table, Tally
from vidscore_evaluators.validation import unit_confidence_faults


class Direction(StrEnum):
    """The better direction of a measure."""

    HIGHER = "higher"
    LOWER = "lower"
    NONE = "none"
    """Not a quality on its own, such as a count."""


class Dissimilarity(StrEnum):
    """Conversion of a measure to a dissimilarity: 0 for equal sets, larger for worse ones."""

    NONE = "none"
    VALUE = "value"
    """The measure itself."""
    ONE_MINUS = "one_minus"
    """1 - value."""


class Averaging(StrEnum):
    """How a measure is averaged over many frames."""

    POOLED = "pooled"
    """Computed once from counts or sums over all frames."""
    MEAN = "mean"
    """Mean of the values of smaller parts."""
    MEDIAN = "median"
    """Median of the values of smaller parts."""


class Measure(Struct, frozen=True):
    """One score that an evaluator reports.

    Attributes:
        name: Name in reports, lower case with underscores.
        description: Its meaning, in one sentence.
        unit: ``count``, ``ratio``, ``px``, ``px^2`` ...
        minimum: Lower bound; None if unbounded.
        maximum: Upper bound; None if unbounded.
        direction: The better direction.
        averaging: How it is averaged over many frames.
        dissimilarity: Its conversion to a dissimilarity, for trust analyses.
        of_nothing: Value of a system that detects nothing, if the measure has no bound on its worse
            side; None if it has one, or if the value is unknown.
    """

    name: str
    description: str
    unit: str = "ratio"
    minimum: float | None = 0.0
    maximum: float | None = 1.0
    direction: Direction = Direction.HIGHER
    averaging: Averaging = Averaging.POOLED
    dissimilarity: Dissimilarity = Dissimilarity.NONE
    of_nothing: float | None = None

    @property
    def useful_range(self) -> tuple[float | None, float | None]:
        """Least and greatest value of useful systems; None if unbounded."""
        least, greatest = self.minimum, self.maximum
        if self.direction is Direction.HIGHER and least is None:
            return self.of_nothing, greatest
        if self.direction is Direction.LOWER and greatest is None:
            return least, self.of_nothing
        return least, greatest


def count_measure(name: str, description: str, direction: Direction = Direction.NONE) -> Measure:
    """A measure that is a count: an integer of at least 0."""
    return Measure(name, description, unit="count", maximum=None, direction=direction)


ParametersType = TypeVar("ParametersType")

RankKey = tuple[tuple[bool, float], ...]
"""Sorts ascending from best to worst, undefined scores last."""


class Unit(StrEnum):
    """The smallest part of the input that can be tallied."""

    FRAME = "frame"
    SEQUENCE = "sequence"


class Task(StrEnum):
    """What evaluated systems produce."""

    DETECTION = "detection"
    TRACKING = "tracking"


class Growth(Struct, frozen=True):
    """Upper bound on the size of a tally.

    Attributes:
        by: ``bounded``, ``sequence`` or ``detection``.
        bytes_each: Bytes per sequence; or per detection and per sequence; or, if bounded, in total.
            `Tally.nbytes` counts these, without the strings of keys, and input summaries: at most
            `vidscore_evaluators.plausibility.summary.INPUT_SUMMARY_BYTES`.
    """

    by: str
    bytes_each: int


class Needs(Struct, frozen=True):
    """Requirements of an evaluator on its input.

    Attributes:
        truth_arities: Accepted numbers of coordinates per object of the truth.
        detection_arities: Accepted numbers of coordinates per detection.
        confidences: Whether confidences are used.
        tracks: Whether objects must have a track id.
        unit_confidences: Whether confidences must lie from 0 to 1; else only their order counts.
        ranked: Whether scores depend on the order of confidences.
        labels: How labels are used.
        listed_labels: Whether only the labels of the specification are scored, if it lists any.
        masks: Whether objects must have masks.
        shape_advice: Advice if objects have another shape.
    """

    truth_arities: tuple[int, ...]
    detection_arities: tuple[int, ...]
    confidences: bool = False
    tracks: bool = False
    unit_confidences: bool = False
    ranked: bool = False
    labels: LabelUse = LabelUse.EXACT
    listed_labels: bool = True
    masks: bool = False
    shape_advice: str | None = None


class Evaluator(ABC, Generic[ParametersType]):
    """The rules of one benchmark protocol or criterion, with given parameters.

    Attributes:
        name: Name on the command line, on the wire and in reports.
        version: Raised whenever a score may change; golden files name it.
        title: One line for lists.
        task: What evaluated systems produce.
        Parameters: Frozen dataclass of `vidscore_evaluators.parameters.parameter` fields.
        measures: Every measure that a report may have.
        ranking: Measures that rank systems, in order of precedence.
        outcomes_nest: Whether less confident detections change no outcome, so one sweep suffices.
        needs: Requirements on its input; parameters of an instance may narrow those of its class.
        growth: Upper bound on the size of its tally.
        preset: Name of the preset that asks for it, which its reports repeat; None if none does.
        selection: The part of the data that it scores, which its reports repeat.
    """

    name: ClassVar[str]
    version: ClassVar[str]
    title: ClassVar[str]
    task: ClassVar[Task]
    Parameters: ClassVar[type[Any]]
    measures: ClassVar[tuple[Measure, ...]]
    ranking: ClassVar[tuple[str, ...]]
    outcomes_nest: ClassVar[bool] = False
    needs: Needs
    preset: str | None = None
    selection: Selection = ALL

    def __init__(
        self, parameters: ParametersType, specification: BenchmarkSpec = BenchmarkSpec()
    ) -> None:
        """Take validated parameters and the benchmark's specification."""
        self.parameters = parameters
        # Scores cannot depend on the other evaluators of the benchmark.
        self.specification = dataclasses.replace(specification, evaluators=())

    @property
    def unit(self) -> Unit:
        """The smallest part that can be tallied; may depend on the parameters."""
        return Unit.FRAME

    @property
    def adds_sequences(self) -> bool:
        """Whether scores of several sequences depend only on the sums of their tables."""
        return False

    @property
    @abstractmethod
    def growth(self) -> Growth:
        """Upper bound on the size of the tally; may depend on the parameters."""

    @abstractmethod
    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Tally whole frames, or whole sequences if `unit` says so; pure.

        Args:
            aligned: Both sides in one frame order. Frames that the truth does not list
                (`aligned.listed`) are included because a system has detections in them.

        Returns:
            Tables of fixed names and schemas, even for no frames.
        """

    @abstractmethod
    def scores(self, tally: Tally) -> Scores:
        """Scores of a tally; pure."""

    def grid(self, parameter: str) -> tuple[float, ...]:
        """Values for a sweep of a parameter: those that it declares, unless overridden.

        Args:
            parameter: Name of a parameter; if it has no grid, the result is empty.
        """
        described = {entry.name: entry for entry in describe_parameters(self.Parameters)}
        return described[parameter].bounds.grid

    def grid_scores(self, tally: Tally, parameter: str) -> Mapping[float, Scores]:
        """Scores at other values of a parameter that can be computed from one tally; pure.

        They equal, to the last bit, the scores of an evaluator with that value, without curves.
        Empty unless overridden: `vidscore_evaluators.jobs` then runs once per value.

        Args:
            tally: A tally of this evaluator.
            parameter: Name of a parameter with a grid.
        """
        del tally, parameter
        return {}

    def faults(self, side: Side, annotations: Annotations) -> Sequence[Fault]:
        """Violations of the protocol's own rules in a batch; empty unless overridden.

        A fault's `entry` is the frame's row in the batch.
        """
        del side, annotations
        return ()

    def input_faults(self, side: Side, annotations: Annotations) -> list[Fault]:
        """Violations in a batch: of the evaluator's requirements and the protocol's rules.

        A fault's `entry` is the frame's row in the batch.
        """
        faults = [*self.faults(side, annotations)]
        if self.needs.unit_confidences:
            of_confidences = unit_confidence_faults(self.name, annotations)
            faults.extend(structs.replace(fault, source=side.value) for fault in of_confidences)
        return faults

    @property
    def has_outcomes(self) -> bool:
        """Whether it says what became of each object and detection."""
        return self.offers_outcomes()

    @classmethod
    def offers_outcomes(cls) -> bool:
        """Whether evaluators of this class have outcomes."""
        return cls.outcomes is not Evaluator.outcomes

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """Outcomes of each object and detection; pure. Override it to offer outcomes.

        Args:
            aligned: Both sides of whole frames, or whole sequences if `unit` says so.
            at: The operating point on its curves; an evaluator without curves offers no choice.

        Raises:
            ParameterError: If the evaluator has no outcomes, or none at this point.
        """
        del aligned, at
        raise ParameterError([Fault(self.name, "an evaluator that has outcomes")])

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Measures of the report, counted or summed from outcomes; they equal those of the report.

        The outcomes may be those of one domain, label or sequence. The figures are then those of
        its row, if the report has one. By default, these are the counts with the usual names.

        Args:
            outcomes: Outcomes of this evaluator.
            at: The operating point of the outcomes.
        """
        del at
        counts = {
            "true_positives": outcomes.count(Outcome.TRUE_POSITIVE, Side.DETECTIONS),
            "false_positives": outcomes.count(Outcome.FALSE_POSITIVE, Side.DETECTIONS),
            "false_negatives": outcomes.count(Outcome.FALSE_NEGATIVE, Side.TRUTH),
        }
        declared = {measure.name for measure in self.measures}
        return {name: count for name, count in counts.items() if name in declared}

    def tally(self, truth: Annotations, detections: Annotations) -> Tally:
        """Tally any whole frames (or sequences) of both sides; pure.

        Args:
            truth: Truth; frames without objects are listed as well.
            detections: Detections.

        Raises:
            GeometryError: If a side has coordinates that the evaluator cannot use.
        """
        return tally_many([self], truth, detections)[0]

    def scored_classes(self, domain: str) -> Sequence[str] | None:
        """Labels that are scored in a domain; None for all."""
        return self.specification.classes_of(domain)

    def warnings(
        self, input_summary: Mapping[str, Table], scores: Scores
    ) -> Sequence[ReportWarning]:
        """Warnings about implausible input, and those of the scores."""
        needs = self.needs
        return (
            *input_warnings(input_summary, needs.labels, ranked=needs.ranked, tracked=needs.tracks),
            *with_names(scores.warnings, input_summary, needs.labels, self.scored_classes),
        )

    def report(self, tally: Tally | None) -> Report:
        """Scores with their provenance, of a tally, or with None of no frames; pure."""
        tally = self.identity_tally if tally is None else tally
        scores = self.scores(tally)

        def warned(input_summary: Mapping[str, Table]) -> tuple[ReportWarning, ...]:
            found = self.warnings(input_summary, scores)
            whole = self.unit is Unit.SEQUENCE
            return tuple(self.selection.of_warnings(found, whole_sequences=whole))

        return Report(
            evaluator=self.name,
            version=self.version,
            parameters=parameter_values(self.parameters),
            truth_digest=given(tally, "truth").then(str),
            detections_digest=given(tally, "detections").then(str),
            scores=dataclasses.replace(scores, warnings=given(tally, "input_summary").then(warned)),
            specification=to_dict(self.specification),
            software=software_versions(),
            preset=self.preset,
            selection=to_dict(self.selection),
        )

    def rank_key(self, report: Report) -> RankKey:
        """Key that sorts reports from best to worst; equal keys share a rank."""
        directions = {measure.name: measure.direction for measure in self.measures}
        return tuple(_rank_part(report.value(name), directions[name]) for name in self.ranking)

    def useful_range(self, measure: str) -> tuple[float | None, float | None]:
        """Least and greatest value of a measure for systems that are better than finding nothing.

        Hosted benchmarks show worse values as the end of this range. It is the range of the
        measure, unless it depends on parameters and is overridden.

        Args:
            measure: Name of one of its measures.

        Returns:
            Both ends; None if unbounded.
        """
        return next(entry.useful_range for entry in self.measures if entry.name == measure)

    def check_arity(self, side: Side, arity: int, columns: Iterable[str] = ()) -> None:
        """Refuse coordinates that the evaluator cannot use.

        Args:
            side: The side that has them.
            arity: Coordinates per object.
            columns: Names of the side's further columns, for advice.

        Raises:
            GeometryError: If it cannot use objects of `arity` coordinates on that side.
        """
        allowed = {
            Side.TRUTH: self.needs.truth_arities,
            Side.DETECTIONS: self.needs.detection_arities,
        }[side]
        if arity not in allowed:
            expected = " or ".join(ARITIES[number] for number in allowed)
            found = ARITIES.get(arity, f"{arity} coordinates per object")
            expected = f"{expected} for {self.name}"
            sizes = ", ".join(size_columns(columns) if arity == POINT else ())
            advice = f"give boxes as x1, y1, x2, y2, not as x, y, {sizes}" if sizes else None
            advice = advice or self.needs.shape_advice
            raise GeometryError([Fault(found, expected, source=side.value, advice=advice)])

    @cached_property
    def identity(self) -> str:
        """Name, version and a digest of the configuration: only tallies of equal identity add."""
        configuration = json.dumps(
            [parameter_values(self.parameters), to_dict(self.specification)], sort_keys=True
        )
        digest = hashlib.sha256(configuration.encode()).hexdigest()[:16]
        return f"{self.name} {self.version} {digest}"

    @property
    def identity_tally(self) -> Tally:
        """The tally of no frames, which is neutral in addition."""
        return self.tally(
            empty_annotations(self.needs.truth_arities[0]),
            empty_annotations(self.needs.detection_arities[0]),
        )


def tally_many(
    evaluators: Sequence[Evaluator[Any]],
    truth: Annotations,
    detections: Annotations,
    *,
    defers: bool = False,
) -> list[Tally]:
    """Tally by several evaluators that share intermediate results; pure.

    Args:
        evaluators: The evaluators.
        truth: Truth of whole frames, or sequences; frames without objects are listed as well.
        detections: Detections.
        defers: Whether fingerprints and input summaries are computed when they are first read. The
            tallies, and their reports, hold both sides until then.

    Returns:
        For each evaluator the result of its `Evaluator.tally`, equal to the last bit.

    Raises:
        GeometryError: If a side has coordinates that an evaluator cannot use.
    """
    for evaluator in evaluators:
        evaluator.check_arity(Side.TRUTH, truth.arity, truth.columns)
        evaluator.check_arity(Side.DETECTIONS, detections.arity, detections.columns)
    aligned = align(truth, detections)
    of_truth = Deferred(lambda: fingerprint(truth))
    of_detections = Deferred(lambda: fingerprint(detections))
    # Without the intermediate results of evaluators, so that these are not held.
    bare = dataclasses.replace(aligned)
    input_summaries: dict[int, Deferred[Mapping[str, Table]]] = {}
    tallies = []
    for evaluator in evaluators:
        # By object identity: comparing the sequences of a large specification takes long.
        key = id(evaluator.specification.sequences)
        if key not in input_summaries:
            summarize = partial(input_summary_of, bare, evaluator.specification)
            input_summaries[key] = Deferred(summarize)
        tables = evaluator.tables(aligned)
        tallies.append(
            Tally(evaluator.identity, tables, of_truth, of_detections, input_summaries[key])
        )
    if not defers:
        of_truth.get(), of_detections.get()
        for deferred in input_summaries.values():
            deferred.get()
    return tallies


def _rank_part(value: float | None, direction: Direction) -> tuple[bool, float]:
    if value is None:
        return (True, 0.0)
    return (False, -value if direction is Direction.HIGHER else float(value))
