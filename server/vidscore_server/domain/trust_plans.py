"""Plans of trust analyses: checks, limits, and their stored form."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Any

import msgspec
from msgspec import Struct, structs

from vidscore_evaluators.alignment import restrict
from vidscore_evaluators.annotations import Annotations, Side, concatenate, empty_annotations
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    SpecificationError,
    UnknownEvaluatorError,
    VidscoreError,
)
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.parameters import parameter_values
from vidscore_evaluators.presets import evaluators_of, repeated_evaluators
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.trust.analyses import RankingAnalysis
from vidscore_evaluators.trust.criterion import Plan, chosen_candidates
from vidscore_evaluators.trust.ranking import Questions
from vidscore_evaluators.trust.sanity import SANITY_TESTS
from vidscore_evaluators.trust.systems import Contest, check_system, with_both_bases
from vidscore_evaluators.trust.systems import Request as EvaluatorRequest
from vidscore_server.domain.batches import (
    BatchRules,
    ReadBatch,
    frame_names,
    placed_in,
    repeated_frames,
    rule_faults,
)
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.scoring_session import PATH
from vidscore_server.settings import Settings
from vidscore_server.store.records import FrameName, OperationRecord, SubmissionRecord

RANKING, CRITERION = "ranking", "criterion"
KINDS = (RANKING, CRITERION)


@dataclass(frozen=True)
class RankingEvaluator:
    """An evaluator that ranks.

    Attributes:
        name: Its name.
        parameters: Every parameter.
        classes: Labels that it scores in domains without a list; None for the specification's.
    """

    name: str
    parameters: Mapping[str, Any]
    classes: tuple[str, ...] | None = None

    def request(self, specification: BenchmarkSpec) -> EvaluatorRequest:
        """A request that creates the evaluator under a benchmark's specification in any process."""
        if self.classes is not None:
            specification = dataclasses.replace(specification, classes=self.classes)
        return EvaluatorRequest(self.name, self.parameters, specification)


@dataclass(frozen=True)
class RankingPlan:
    """An examination of a benchmark's ranking.

    Attributes:
        benchmark: The benchmark.
        revision: Revision of the truth, fixed at the request.
        submissions: The submissions.
        evaluators: The evaluators that rank.
        questions: The questions.
    """

    benchmark: str
    revision: int
    submissions: tuple[str, ...]
    evaluators: tuple[RankingEvaluator, ...]
    questions: Questions


@dataclass(frozen=True)
class CriterionPlan:
    """A sanity test of criteria.

    Attributes:
        test: Name of the test.
        criteria: The criteria; empty for all that the paper tests.
        plan: Number of families of scenes.
    """

    test: str
    criteria: tuple[EvaluatorSpec, ...]
    plan: Plan


TrustPlan = RankingPlan | CriterionPlan


def plan_to_json(plan: TrustPlan) -> str:
    """The stored form of a plan."""
    return json.dumps(dataclasses.asdict(plan))


def read_plan(record: OperationRecord) -> TrustPlan:
    """The plan of an operation."""
    kept = json.loads(record.request)
    if record.kind == RANKING:
        return msgspec.convert(kept, RankingPlan)
    return msgspec.convert(kept, CriterionPlan)


def ranking_evaluators(
    definition: Definition, wanted: Sequence[EvaluatorSpec], path: str = "evaluators"
) -> tuple[RankingEvaluator, ...]:
    """The evaluators that rank: the caller's, completed with the benchmark's settings.

    Args:
        definition: The benchmark.
        wanted: Presets, and evaluators with the parameters that differ from the benchmark's; empty
            for the benchmark's own evaluators.
        path: Their place in the request.

    Raises:
        ExceptionGroup: With an error for every evaluator that is unknown, repeated, or cannot judge
            the benchmark.
    """
    specification = definition.specification
    own = dict(_own_evaluators(specification))
    chosen: list[RankingEvaluator] = []
    ranking: list[Evaluator[Any]] = []
    errors: list[VidscoreError] = []
    entries = wanted or [EvaluatorSpec(entry.name) for entry in specification.evaluators]
    for index, entry in enumerate(entries):
        parameters, scored = own.get(entry.name, ({}, specification))
        try:
            created = evaluators_of(
                EvaluatorSpec(entry.name, {**parameters, **entry.parameters}), scored
            )
            for evaluator, side in product(created, Side):
                with suppress(LookupError):  # before there is truth, its shape may be open
                    evaluator.check_arity(side, definition.arity(side))
        except (InputError, UnknownEvaluatorError) as error:
            errors.extend(_placed(error, f"{path}[{index}]", entry.name))
            continue
        ranking.extend(created)
        chosen.extend(_with_bases(created, entry))
    repeated = [structs.replace(fault, field=path) for fault in repeated_evaluators(ranking)]
    if repeated:
        errors.append(SpecificationError(repeated))
    if errors:
        raise ExceptionGroup("the evaluators cannot be used", errors)
    return tuple(chosen)


def _with_bases(
    created: Iterable[Evaluator[Any]], entry: EvaluatorSpec
) -> Iterator[RankingEvaluator]:
    """The evaluators of an entry, for both bases unless it names one."""
    for evaluator in created:
        for one in [evaluator] if "base" in entry.parameters else with_both_bases(evaluator):
            parameters = parameter_values(one.parameters)
            yield RankingEvaluator(one.name, parameters, one.specification.classes)


def check_criteria(plan: CriterionPlan) -> None:
    """Refuse an unknown test, and criteria that cannot be tested.

    Raises:
        InputError: If there is no such test.
        ExceptionGroup: With an error for every criterion that cannot be tested.
    """
    if plan.test not in SANITY_TESTS:
        raise InputError([Fault(repr(plan.test)[:80], " or ".join(SANITY_TESTS), field="test")])
    errors: list[VidscoreError] = []
    for index, entry in enumerate(plan.criteria):
        try:
            chosen_candidates(plan.test, [entry])
        except (InputError, UnknownEvaluatorError) as error:
            errors.extend(_placed(error, f"criteria[{index}]", entry.name))
    if errors:
        raise ExceptionGroup("the criteria cannot be tested", errors)


def check_limits(
    plan: TrustPlan, submissions: Sequence[SubmissionRecord], settings: Settings
) -> None:
    """Refuse an analysis that would be too large.

    Args:
        plan: The plan.
        submissions: The submissions of a ranking.
        settings: The server's limits.

    Raises:
        LimitError: With the limit that it breaks.
    """
    for found, what, limit in _amounts(plan, submissions):
        settings.check_limit(limit, found, f"{found} {what}")


def _amounts(
    plan: TrustPlan, submissions: Sequence[SubmissionRecord]
) -> Iterator[tuple[int, str, str]]:
    if isinstance(plan, CriterionPlan):
        yield len(plan.criteria), "criteria", "maximum_evaluators"
        families = plan.plan.strata * plan.plan.realisations
        yield families, "families of scenes", "maximum_trust_trials"
        return
    yield len({entry.name for entry in plan.evaluators}), "evaluators", "maximum_evaluators"
    yield len(submissions), "systems", "maximum_trust_systems"
    frame_count = sum(record.frame_count for record in submissions)
    yield frame_count, "frames of all systems", "maximum_trust_frames"
    yield plan.questions.draws, "draws of sequences", "maximum_trust_trials"
    yield plan.questions.trials, "trials with noise", "maximum_trust_trials"


def _placed(error: VidscoreError, path: str, name: str) -> list[VidscoreError]:
    """Add the place in the request to an error."""
    if not isinstance(error, InputError):
        expected = "an evaluator or preset of this server"
        fault = Fault(repr(name)[:80], expected, field=f"{path}.name")
        return [error, InputError([fault])]
    moved = [
        structs.replace(
            fault, source=None, field=f"{path}.parameters.{fault.field}" if fault.field else path
        )
        for fault in error.faults
    ]
    return [type(error)(moved)]


def _own_evaluators(
    specification: BenchmarkSpec,
) -> Iterator[tuple[str, tuple[Mapping[str, Any], BenchmarkSpec]]]:
    """A benchmark's evaluator settings by name, including those of its presets."""
    for entry in specification.evaluators:
        yield entry.name, (entry.parameters, specification)
        with suppress(InputError, UnknownEvaluatorError):  # the error is raised when it is used
            for one in evaluators_of(entry, specification):
                if one.preset is not None:
                    yield one.name, (parameter_values(one.parameters), one.specification)


# --- Uploaded systems: checked, bounded, not stored
#
# The truth is the caller's own, so faults quote it.

NAME_LENGTH = 80
"""Maximum length of a system's name."""


class Examination(Struct, frozen=True):
    """Which systems are compared, and how.

    Attributes:
        definition: Specification and geometries; its policy plays no part.
        evaluators: The evaluators that rank.
        systems: Name of each system.
        questions: The questions.
    """

    definition: Definition
    evaluators: tuple[RankingEvaluator, ...]
    systems: tuple[str, ...]
    questions: Questions


class UploadedContest:
    """Collects truth and the detections of each system for an analysis.

    Args:
        examination: Which systems are compared, and how.
        settings: The server's limits.

    Attributes:
        evaluators: The evaluators.
    """

    def __init__(self, examination: Examination, settings: Settings) -> None:
        self._examination = examination
        self._settings = settings
        self._specification = examination.definition.specification
        self.evaluators = [request.create() for request in self._requests()]
        self._truth = _Frames(Side.TRUTH, examination.definition.arity(Side.TRUTH))
        self._systems = [
            _Frames(Side.DETECTIONS, examination.definition.arity(Side.DETECTIONS))
            for _ in examination.systems
        ]

    def rules(self, side: Side) -> BatchRules:
        """Limits of the batches of a side."""
        return BatchRules(self._examination.definition.arity(side), self._settings)

    def add_truth(self, read: ReadBatch) -> None:
        """Add frames of the truth.

        Raises:
            LimitError: If they, or all frames with them, are more than allowed.
            InputError: With every fault.
        """
        self._add(self._truth, read, "truth")

    def add_detections(self, system: int, read: ReadBatch) -> None:
        """Add frames of a system.

        Args:
            system: Its index among the systems.
            read: Reads the frames.

        Raises:
            LimitError: If they, or all frames with them, are more than allowed.
            InputError: With every fault.
        """
        if not 0 <= system < len(self._systems):
            expected = f"0 to {len(self._systems) - 1}"
            raise InputError([Fault(str(system), expected, field="system")])
        self._add(self._systems[system], read, "detections")

    def analysis(self) -> RankingAnalysis:
        """The analysis of everything received.

        Raises:
            InputError: If a system names a sequence that neither truth nor specification knows.
        """
        truth = self._truth.joined()
        systems = [system.joined() for system in self._systems]
        for index, detections in enumerate(systems):
            with placed_in(f"{PATH}.systems[{index}]"):
                check_system(self.evaluators, truth, detections, self._specification)
        named = dict(zip(self._examination.systems, systems, strict=True))
        with placed_in("truth"):
            contest = Contest.of(truth, named, self._specification)
        return RankingAnalysis(tuple(self._requests()), contest, self._examination.questions)

    def _requests(self) -> Iterator[EvaluatorRequest]:
        for entry in self._examination.evaluators:
            yield entry.request(self._specification)

    def _add(self, frames: _Frames, read: ReadBatch, source: str) -> None:
        batch = read(self.rules(frames.side))
        names = frame_names(batch)
        faults = [
            *rule_faults(self.evaluators, frames.side, batch, source),
            *repeated_frames(names, frames.seen, source),
        ]
        if faults:
            raise InputError(faults)
        if frames.side is Side.TRUTH:
            with placed_in(source):
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
            self._settings.check_limit(limit, found, f"{found} {what}")


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
