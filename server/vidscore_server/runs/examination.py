"""Systems that are uploaded for their ranking to be examined: checked, bounded, kept by nobody.

The truth is the caller's own, so faults say what was found in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from vidscore_evaluators.alignment import restrict
from vidscore_evaluators.annotations import Annotations, Side, concatenate, empty_annotations
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    LimitError,
    ParameterError,
    SpecificationError,
    VidscoreError,
)
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec, FrameRanges
from vidscore_evaluators.trust.analyses import RankingAnalysis
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.systems import Contest, check_system
from vidscore_evaluators.trust.systems import Request as EvaluatorRequest
from vidscore_protos.v1 import annotations_pb2, ranking_service_pb2
from vidscore_server.codec.annotations_codec import (
    ARITY_OF_GEOMETRY,
    BatchRules,
    geometry_name,
    read_batch,
)
from vidscore_server.codec.specification_codec import read_evaluators, read_specification
from vidscore_server.codec.trust_codec import read_questions
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.payloads import frame_names, repeated_frames
from vidscore_server.hosting.policy import Policy
from vidscore_server.hosting.trust_plans import ranking_evaluators
from vidscore_server.runs.configuration import GEOMETRY_FIELDS, PATH, SPECIFICATION_PATH
from vidscore_server.settings import Settings
from vidscore_server.store.records import FrameName

NAME_LENGTH = 80
"""Most characters of a system's name."""


@dataclass(frozen=True)
class Examination:
    """Which systems are compared, and how.

    Attributes:
        definition: Specification and geometries; its policy plays no part.
        evaluators: Who ranks, with every parameter that is not the default.
        systems: Name of each system.
        questions: What is asked.
    """

    definition: Definition
    evaluators: tuple[EvaluatorSpec, ...]
    systems: tuple[str, ...]
    questions: Questions


def read_examination(
    message: ranking_service_pb2.ExaminationConfiguration, settings: Settings
) -> Examination:
    """Check a configuration.

    Raises:
        ExceptionGroup: Of every error, each with every fault.
    """
    errors: list[VidscoreError] = []
    specification, questions = BenchmarkSpec(), Questions()
    wanted: tuple[EvaluatorSpec, ...] = ()
    try:
        specification = read_specification(message.specification, SPECIFICATION_PATH)
    except SpecificationError as error:
        errors.append(error)
    try:
        wanted = read_evaluators(message.evaluators, f"{PATH}.evaluators")
    except InputError as error:
        errors.append(error)
    try:
        questions = read_questions(message.questions, f"{PATH}.questions")
    except ParameterError as error:
        errors.append(error)
    faults = [*_geometry_faults(message), *_name_faults(message.systems)]
    if not message.evaluators and not message.specification.evaluators:
        faults.append(Fault("no evaluator", "at least one", field=f"{PATH}.evaluators"))
    errors += [InputError(faults)] if faults else []
    errors.extend(_limit_errors(message, specification, questions, settings))
    if errors:
        raise ExceptionGroup("the configuration cannot be used", errors)
    truth_arity, detection_arity = (
        ARITY_OF_GEOMETRY[getattr(message, field)] for field in GEOMETRY_FIELDS.values()
    )
    definition = Definition(specification, truth_arity, detection_arity, Policy())
    place = f"{PATH}.evaluators" if wanted else f"{SPECIFICATION_PATH}.evaluators"
    evaluators = ranking_evaluators(definition, wanted, place)
    return Examination(definition, evaluators, tuple(message.systems), questions)


def _geometry_faults(
    message: ranking_service_pb2.ExaminationConfiguration,
) -> Iterator[Fault]:
    for field in GEOMETRY_FIELDS.values():
        geometry = getattr(message, field)
        if geometry not in ARITY_OF_GEOMETRY:
            yield Fault(geometry_name(geometry), "a geometry", source=PATH, field=field)


def _name_faults(names: Sequence[str]) -> Iterator[Fault]:
    if len(names) < 2:
        yield Fault(f"{len(names)} named", "at least two", source=PATH, field="systems")
    for index, name in enumerate(names):
        field = f"systems[{index}]"
        if not 0 < len(name) <= NAME_LENGTH:
            expected = f"a name of 1 to {NAME_LENGTH} characters"
            yield Fault(f"{len(name)} characters", expected, source=PATH, field=field)
        elif name in names[:index]:
            yield Fault(f"{name!r} again", "each name once", source=PATH, field=field)


def _limit_errors(
    message: ranking_service_pb2.ExaminationConfiguration,
    specification: BenchmarkSpec,
    questions: Questions,
    settings: Settings,
) -> Iterator[LimitError]:
    evaluated = [entry.evaluated_frames or FrameRanges() for entry in specification.sequences]
    for found, what, limit in (
        (len(message.evaluators or message.specification.evaluators), "evaluators",
         "maximum_evaluators"),
        (sum(map(len, evaluated)), "evaluated frames", "maximum_frames"),
        (len(message.systems), "systems", "maximum_trust_systems"),
        (questions.draws, "draws of sequences", "maximum_trust_trials"),
        (questions.trials, "trials with noise", "maximum_trust_trials"),
    ):  # fmt: skip
        maximum = getattr(settings, limit)
        if found > maximum:
            yield LimitError(f"{found} {what}", limit, maximum)


class UploadedContest:
    """Truth and the detections of each system, on their way into an analysis.

    Args:
        examination: Which systems are compared, and how.
        settings: The server's limits.
    """

    def __init__(self, examination: Examination, settings: Settings) -> None:
        """Start with nothing."""
        self._examination = examination
        self._settings = settings
        self._specification = examination.definition.specification
        self._evaluators = [request.create() for request in self._requests()]
        self._truth = _Frames(Side.TRUTH, examination.definition.arity(Side.TRUTH))
        self._systems = [
            _Frames(Side.DETECTIONS, examination.definition.arity(Side.DETECTIONS))
            for _ in examination.systems
        ]

    def add_truth(self, message: annotations_pb2.AnnotationBatch) -> None:
        """Take in frames of the truth.

        Raises:
            LimitError: If they, or all frames with them, are more than allowed.
            InputError: With every fault.
        """
        self._add(self._truth, message, "truth")

    def add_detections(self, system: int, message: annotations_pb2.AnnotationBatch) -> None:
        """Take in frames of a system.

        Args:
            system: Its place among the systems.
            message: The frames.

        Raises:
            LimitError: If they, or all frames with them, are more than allowed.
            InputError: With every fault.
        """
        if not 0 <= system < len(self._systems):
            expected = f"0 to {len(self._systems) - 1}"
            raise InputError([Fault(str(system), expected, field="system")])
        self._add(self._systems[system], message, "detections")

    def analysis(self) -> RankingAnalysis:
        """What is to be computed of everything that has come.

        Raises:
            InputError: If a system names a sequence that neither truth nor specification knows.
        """
        truth = self._truth.joined()
        systems = [system.joined() for system in self._systems]
        for index, detections in enumerate(systems):
            with _placed_in(f"{PATH}.systems[{index}]"):
                check_system(self._evaluators, truth, detections, self._specification)
        named = dict(zip(self._examination.systems, systems, strict=True))
        with _placed_in("truth"):
            contest = Contest.of(truth, named, self._specification)
        return RankingAnalysis(tuple(self._requests()), contest, self._examination.questions)

    def _requests(self) -> Iterator[EvaluatorRequest]:
        for entry in self._examination.evaluators:
            yield EvaluatorRequest(entry.name, entry.parameters, self._specification)

    def _add(self, frames: _Frames, message: annotations_pb2.AnnotationBatch, source: str) -> None:
        batch = read_batch(message, source, BatchRules(frames.arity, self._settings))
        names = frame_names(batch)
        faults = [
            *_rule_faults(self._evaluators, frames.side, batch, source),
            *repeated_frames(names, frames.seen, source),
        ]
        if faults:
            raise InputError(faults)
        if frames.side is Side.TRUTH:
            with _placed_in(source):
                restrict(self._specification, batch)  # refuses frames outside a video
        frames.add(names, batch)
        self._refuse_too_much()

    def _refuse_too_much(self) -> None:
        of_systems = sum(len(system.seen) for system in self._systems)
        held = sum(frames.held_bytes for frames in (self._truth, *self._systems))
        for found, what, limit in (
            (len(self._truth.seen), "frames of truth", "maximum_frames"),
            (of_systems, "frames of all systems", "maximum_trust_frames"),
            (held, "bytes of truth and detections", "maximum_buffered_bytes"),
        ):
            maximum = getattr(self._settings, limit)
            if found > maximum:
                raise LimitError(f"{found} {what}", limit, maximum)


class _Frames:
    """Frames of the truth, or of one system.

    Args:
        side: Whether they are truth or detections.
        arity: Coordinates that an object has.
    """

    def __init__(self, side: Side, arity: int) -> None:
        self.side = side
        self.arity = arity
        self.seen: set[FrameName] = set()
        self.held_bytes = 0
        self._parts: list[Annotations] = []

    def add(self, names: Iterable[FrameName], batch: Annotations) -> None:
        self.seen.update(names)
        self.held_bytes += batch.held_bytes
        self._parts.append(batch)

    def joined(self) -> Annotations:
        return concatenate([empty_annotations(self.arity), *self._parts])


def _rule_faults(
    evaluators: Sequence[Evaluator[Any]], side: Side, batch: Annotations, source: str
) -> Iterable[Fault]:
    return dict.fromkeys(
        replace(fault, source=source, field=fault.field or "frame_numbers")
        for evaluator in evaluators
        for fault in evaluator.input_faults(side, batch)
    )


@contextmanager
def _placed_in(source: str) -> Iterator[None]:
    """Give the faults of an input error their place in the request."""
    try:
        yield
    except InputError as error:
        raise type(error)([replace(fault, source=source) for fault in error.faults]) from None
