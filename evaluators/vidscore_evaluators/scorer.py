"""Scorer: scores in one process, frame after frame, as detectors give their objects.

It is a `vidscore_evaluators.live.StreamScorer` to which both sides of a frame come together, so
that its reports are at any time those of `vidscore_evaluators.scoring.score` over the same frames.
"""

from __future__ import annotations

from typing import Any

from vidscore_evaluators._frame_objects import Labels, frame_annotations
from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.arguments import check_arguments
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.live import StreamScorer
from vidscore_evaluators.names import counted
from vidscore_evaluators.presets import evaluators_of
from vidscore_evaluators.report import Number, Report
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, checked_spec

FRAMES_PER_TALLY = 1000
"""Frames whose columns are held before they are tallied."""


class Scorer:
    """Scores frames as they come.

    ``scorer.update(7, truth={"boxes": t, "labels": a}, detections={"boxes": d, "scores": s})``

    Args:
        evaluator: Name of an evaluator or preset; an `EvaluatorSpec` carries parameters too.
        labels: Name of each class number, as a list or by number; its digits by default.
        sequence: Sequence of frames for which none is given.
        domain: Domain of frames for which none is given.
        specification: What the data lacks: labels, frames, don't-care frames.
        parameters: Parameters of the evaluator; a preset takes none.

    Raises:
        ParameterError: With every fault of the parameters.
        SpecificationError: With every fault of the specification.
        UnknownEvaluatorError: If the evaluator is unknown.
    """

    def __init__(
        self,
        evaluator: str | EvaluatorSpec,
        *,
        labels: Labels | None = None,
        sequence: str = "",
        domain: str = "",
        specification: BenchmarkSpec | None = None,
        **parameters: Any,
    ) -> None:
        check_arguments(
            evaluator=evaluator,
            labels=labels,
            sequence=sequence,
            domain=domain,
            specification=specification,
        )
        if not isinstance(evaluator, str | EvaluatorSpec):
            raise ParameterError([Fault(repr(evaluator), "one evaluator", field="evaluator")])
        scene = checked_spec(specification)
        given = EvaluatorSpec(evaluator) if isinstance(evaluator, str) else evaluator
        wanted = EvaluatorSpec(given.name, {**given.parameters, **parameters})
        self._evaluators = evaluators_of(wanted, scene, files=True)
        self._labels = labels
        self._key = SequenceKey(domain, sequence)
        self._stream = StreamScorer(self._evaluators, scene)
        needs = self._evaluators[0].needs
        self._arities = {
            Side.TRUTH: needs.truth_arities[0],
            Side.DETECTIONS: needs.detection_arities[0],
        }
        self._reports: list[Report] | None = None

    def update(
        self,
        frame: int,
        *,
        truth: Any,
        detections: Any,
        sequence: str | None = None,
        domain: str | None = None,
    ) -> None:
        """Add a frame.

        Each side is an (N, 4) array of boxes x1, y1, x2, y2 in pixels ((N, 2) of points, (N, 8) of
        corners); or a mapping to arrays, with ``boxes`` and, as far as there are such, ``scores``,
        ``labels`` (class numbers or names), ``track_ids``, ``iscrowd``, ``ignore`` and ``area``,
        as torchmetrics has them; or supervision's ``Detections``; or None for no objects.

        Args:
            frame: Its number, at least 0, each once in a sequence.
            truth: The objects that are there.
            detections: The detections.
            sequence: Its sequence; the scorer's by default.
            domain: Its domain; the scorer's by default.

        Raises:
            GeometryError: If the evaluator cannot use the coordinates, or frames differ in them.
            InputError: With every fault, or if the frame was given before. Nothing is changed.
        """
        key = SequenceKey(
            self._key.domain if domain is None else domain,
            self._key.sequence if sequence is None else sequence,
        )
        given = {Side.TRUTH: truth, Side.DETECTIONS: detections}
        sides = {
            side: frame_annotations(side, (key, frame), objects, self._labels, self._arities[side])
            for side, objects in given.items()
        }
        self._stream.add_both(sides[Side.TRUTH], sides[Side.DETECTIONS])
        self._arities = {side: batch.arity for side, batch in sides.items()}
        self._reports = None
        if self.frame_count % FRAMES_PER_TALLY == 0:
            self._stream.compact()

    @property
    def frame_count(self) -> int:
        """Number of frames so far."""
        return self._stream.coverage.paired

    def report(self) -> Report | Any:
        """The report of the frames so far; of a preset of several evaluators, a tuple of reports.

        An evaluator with rules on whole sequences scores all frames anew for each report after an
        update, any other one only the frames since the last one.
        """
        reports = self._live()
        return reports[0] if len(reports) == 1 else tuple(reports)

    def value(
        self,
        measure: str,
        *,
        domain: str | None = None,
        label: str | None = None,
        sequence: str | None = None,
    ) -> Number:
        """One score of the frames so far; None where it is undefined.

        Args:
            measure: The measure; of several evaluators, the first one that has it gives it.
            domain: Of this domain alone.
            label: Of this label alone.
            sequence: Of this sequence alone.

        Raises:
            KeyError: If there is no such score; the message lists the measures.
        """
        reports = self._live()
        having = [
            report
            for report, evaluator in zip(reports, self._evaluators, strict=True)
            if measure in {one.name for one in evaluator.measures}
        ]
        [report, *_] = [*having, *reports]
        return report.value(measure, domain=domain, label=label, sequence=sequence)

    def __repr__(self) -> str:
        """The evaluators, and how many frames there are."""
        names = ", ".join(evaluator.name for evaluator in self._evaluators)
        return f"<Scorer {names}: {counted(self.frame_count, 'frame')}>"

    def _live(self) -> list[Report]:
        if self._reports is None:
            self._reports = self._stream.live_reports()
        return self._reports
