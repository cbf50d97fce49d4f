"""What an organiser defines: specification, geometries, times and policy of a benchmark.

The dictionary form is one for TOML files and for the store: the keys of a manifest, and
`description`, `truth_geometry`, `detection_geometry`, `open_time`, `close_time`, `public_names` and
the tables `policy` and `live` beside them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from msgspec import Struct, structs

from vidscore_evaluators.annotations import ARITIES, BOX, POINT, QUADRILATERAL, SequenceKey, Side
from vidscore_evaluators.convert import to_dict
from vidscore_evaluators.errors import (
    Fault,
    GeometryError,
    InputError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
)
from vidscore_evaluators.evaluator import Direction, Evaluator
from vidscore_evaluators.names import did_you_mean
from vidscore_evaluators.parameters import parameter_values, parse_parameters
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.presets import create_evaluators, evaluators_of, repeated_evaluators
from vidscore_evaluators.specification import SPECIFICATION_KEYS, BenchmarkSpec, spec_from_dict
from vidscore_server.domain.ladder import Scale
from vidscore_server.domain.live_clock import LiveClock, read_live
from vidscore_server.domain.policy import (
    DEFAULT_PUBLIC_NAMES,
    NameKind,
    Policy,
    TruthSize,
    Visibility,
    budget_of,
    default_step,
    in_order,
)
from vidscore_server.domain.private_part import Draw, Portion, board_portion, is_private

ARITY_OF_NAME = {"point": POINT, "box": BOX, "quadrilateral": QUADRILATERAL}
NAME_OF_ARITY = {arity: name for name, arity in ARITY_OF_NAME.items()}

_GEOMETRIES = {Side.TRUTH: "truth_geometry", Side.DETECTIONS: "detection_geometry"}
TIMES = ("open_time", "close_time")
OWN_KEYS = ("description", *_GEOMETRIES.values(), *TIMES, "public_names", "policy", "live")
"""Keys beside those of a specification."""

KEYS = (*SPECIFICATION_KEYS, *OWN_KEYS)

MAXIMUM_DESCRIPTION_LENGTH = 20_000


class Definition(Struct, frozen=True, dict=True):
    """A benchmark as its organiser defined it, free of faults.

    Attributes:
        specification: Title, evaluators, domains and sequences.
        truth_arity: Coordinates per object of the truth; None if the evaluators accept several
            shapes, and neither the organiser nor any truth has chosen one yet.
        detection_arity: Coordinates per detection; None likewise.
        policy: What participants see, may do, and are ranked by.
        open_time: Submissions may be created from then on; None for at once.
        close_time: Submissions end then; None for never.
        public_names: Kinds of names that participants may know.
        truth_size: Size of the public part of the newest complete truth; None while there is none.
        private_names: Names of the private sequences of the newest complete truth.
        draw: How these were drawn; None before the draw, or if the policy names them.
        description: What it is about, for people, in Markdown.
        live: The clock by which submissions answer; None if the benchmark is not live.
    """

    specification: BenchmarkSpec
    truth_arity: int | None
    detection_arity: int | None
    policy: Policy
    open_time: datetime | None = None
    close_time: datetime | None = None
    public_names: frozenset[NameKind] = DEFAULT_PUBLIC_NAMES
    truth_size: TruthSize | None = None
    description: str = ""
    private_names: tuple[str, ...] = ()
    draw: Draw | None = None
    live: LiveClock | None = None

    @property
    def private_sequence_count(self) -> int:
        """Number of private sequences, as far as it is known."""
        return len(self.private_names or self.policy.private_sequences)

    def is_private(self, key: SequenceKey) -> bool:
        """Whether a sequence is private."""
        return is_private(self.policy, self.draw, key)

    def board_portion(self, now: datetime) -> Portion:
        """The part of the data that the board ranks by."""
        return board_portion(self.policy, self.close_time, now)

    def step(self, evaluator: Evaluator[Any]) -> float:
        """The present step of an evaluator's released scores."""
        return self.policy.ladder_step or self.step_from_truth(evaluator)

    def step_from_truth(self, evaluator: Evaluator[Any]) -> float:
        """The step if the policy sets none."""
        first = next(iter(self.scales(evaluator).values()), None)
        return default_step(self.truth_size, 1.0 if first is None else first.span)

    @property
    def submission_budget(self) -> int:
        """Scored submissions that a team may have in all; 0 for any number."""
        return budget_of(self.policy, self.truth_size)

    @cached_property
    def evaluators(self) -> tuple[Evaluator[Any], ...]:
        """The evaluators, ready to judge, in the specification's order, presets expanded."""
        return tuple(create_evaluators(self.specification))

    @cached_property
    def configurations(self) -> dict[str, str]:
        """By evaluator, all that its scores depend on except the data; not the title."""
        return {
            evaluator.name: type(evaluator)(
                evaluator.parameters, dataclasses.replace(evaluator.specification, title="")
            ).identity
            for evaluator in self.evaluators
        }

    @property
    def listed_labels(self) -> tuple[str, ...]:
        """Labels that the specification or a preset lists."""
        lists = [evaluator.specification.listed_labels for evaluator in self.evaluators]
        return tuple(dict.fromkeys(label for labels in lists for label in labels))

    @property
    def label_use(self) -> LabelUse:
        """Strictest use of labels among the evaluators."""
        found = {evaluator.needs.labels for evaluator in self.evaluators}
        return next((use for use in LabelUse if use in found), LabelUse.EXACT)

    def arity(self, side: Side) -> int:
        """Coordinates that an object of a side has.

        Raises:
            LookupError: If its shape has not been chosen yet.
        """
        arity = self.truth_arity if side is Side.TRUTH else self.detection_arity
        if arity is None:
            raise LookupError(f"the shape of the {side}")
        return arity

    def with_truth_of(self, arity: int | None) -> Definition:
        """The definition once there is truth, which settles open shapes.

        Args:
            arity: Coordinates per object; None if the truth has no batch.

        Raises:
            GeometryError: If truth of that shape does not fit.
        """
        chosen = self.truth_arity or arity or common_arities(self.evaluators, Side.TRUTH)[0]
        if arity not in {None, chosen}:
            found, expected = ARITIES.get(arity or 0, "objects of no known shape"), ARITIES[chosen]
            raise GeometryError([Fault(found, f"{expected}, as in the benchmark", "truth")])
        for evaluator in self.evaluators:
            evaluator.check_arity(Side.TRUTH, chosen)
        usable = common_arities(self.evaluators, Side.DETECTIONS)
        detected = self.detection_arity or (chosen if chosen in usable else usable[0])
        return structs.replace(self, truth_arity=chosen, detection_arity=detected)

    def ranking(self, evaluator: Evaluator[Any]) -> dict[str, Direction]:
        """Ranking measures under an evaluator, in rank order, each with its better direction.

        This is the policy's measure alone, unless the evaluator lacks it or gives it no direction.
        """
        directions = {measure.name: measure.direction for measure in evaluator.measures}
        chosen = self.policy.ranking_measure
        ranks = directions.get(chosen, Direction.NONE) is not Direction.NONE
        names = (chosen,) if ranks else evaluator.ranking
        return {name: directions[name] for name in names}

    def scales(self, evaluator: Evaluator[Any]) -> dict[str, Scale]:
        """The scales of the ranking measures, for the Ladder."""
        return {
            name: Scale(direction, *evaluator.useful_range(name))
            for name, direction in self.ranking(evaluator).items()
        }


def definition_to_dict(definition: Definition) -> dict[str, Any]:
    """A definition as dictionaries, lists, texts and numbers; times as ISO 8601 texts."""
    times = {name: getattr(definition, name) for name in TIMES}
    arities = (definition.truth_arity, definition.detection_arity)
    return {
        **to_dict(definition.specification),
        **({"description": definition.description} if definition.description else {}),
        **{
            field: NAME_OF_ARITY[arity]
            for field, arity in zip(_GEOMETRIES.values(), arities, strict=True)
            if arity is not None
        },
        **{name: time.isoformat() for name, time in times.items() if time is not None},
        "public_names": in_order(definition.public_names),
        "policy": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in parameter_values(definition.policy).items()
        },
        **({} if definition.live is None else {"live": to_dict(definition.live)}),
    }


def definition_from_dict(document: Mapping[str, Any], *, source: str | None = None) -> Definition:
    """Inverse of `definition_to_dict`; times may also be dates with times, as TOML has them.

    Args:
        document: The definition as dictionaries.
        source: Name of the file it came from, for error messages.

    Raises:
        SpecificationError: With every fault.
    """
    faults = [
        Fault(
            "an unknown key",
            "one of " + ", ".join(KEYS),
            source=source,
            field=key,
            advice=did_you_mean(key, KEYS),
        )
        for key in document
        if key not in KEYS
    ]
    rest = {key: document[key] for key in SPECIFICATION_KEYS if key in document}
    specification = _sound_part(rest, source, faults)
    own = {key: document[key] for key in OWN_KEYS if key in document}
    return check_definition(specification, own, source, faults)


def _sound_part(
    document: Mapping[str, Any], source: str | None, faults: list[Fault]
) -> BenchmarkSpec:
    """The specification, or that of its faultless keys, so that the rest is checked too."""
    try:
        return spec_from_dict(document, source=source)
    except SpecificationError as error:
        faults.extend(error.faults)
        wrong = {re.split(r"[.\[]", fault.field or "")[0] for fault in error.faults}
    return spec_from_dict({key: value for key, value in document.items() if key not in wrong})


def check_definition(
    specification: BenchmarkSpec,
    values: Mapping[str, Any],
    source: str | None,
    known_faults: list[Fault] | None,
) -> Definition:
    """Check all keys beside a specification, and that they fit it.

    Args:
        specification: The specification, or its faultless part.
        values: Values of `OWN_KEYS`; missing ones take their default.
        source: Where the values stand, for error messages.
        known_faults: Faults of the specification.

    Raises:
        SpecificationError: With every fault, known ones first.
    """
    checker = _Checker(source)
    description = checker.description(values.get("description", ""))
    given = {side: checker.arity(values, field) for side, field in _GEOMETRIES.items()}
    times = {field: checker.time(values, field) for field in TIMES}
    checker.order(times["open_time"], times["close_time"])
    policy = checker.policy(values.get("policy", {}))
    public = checker.public_names(values.get("public_names"), policy)
    live, live_faults = read_live(values.get("live"), specification, public, source)
    evaluators: list[Evaluator[Any]] = []
    before = len(checker.faults)
    if specification.evaluators or not known_faults:
        evaluators = checker.evaluators(specification)
    if evaluators and len(checker.faults) == before:
        checker.measures(policy, evaluators)
    arities = checker.arities(given, evaluators)
    faults = [*(known_faults or ()), *checker.faults, *live_faults]
    if faults:
        raise SpecificationError(faults)
    return Definition(
        specification,
        arities[Side.TRUTH],
        arities[Side.DETECTIONS],
        policy,
        open_time=times["open_time"],
        close_time=times["close_time"],
        public_names=public,
        description=description,
        live=live,
    )


def _with_share(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a policy; a number as `private_sequences` becomes `private_share`."""
    given = dict(values)
    named = given.get("private_sequences")
    if isinstance(named, int | float) and not isinstance(named, bool):
        given["private_share"] = given.pop("private_sequences")
    return given


def common_arities(evaluators: Iterable[Evaluator[Any]], side: Side) -> list[int]:
    """Shapes of a side that every evaluator can use."""
    usable = [
        evaluator.needs.truth_arities if side is Side.TRUTH else evaluator.needs.detection_arities
        for evaluator in evaluators
    ]
    return [arity for arity in NAME_OF_ARITY if all(arity in arities for arities in usable)]


class _Checker:
    """Checks part after part and collects faults."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self.faults: list[Fault] = []

    def description(self, value: object) -> str:
        if not isinstance(value, str):
            self._fault(repr(value)[:80], "a text in Markdown", "description")
            return ""
        if len(value) > MAXIMUM_DESCRIPTION_LENGTH:
            expected = f"at most {MAXIMUM_DESCRIPTION_LENGTH}"
            self._fault(f"{len(value)} characters", expected, "description")
        return value.replace("\r\n", "\n")

    def arity(self, values: Mapping[str, Any], field: str) -> int | None:
        value = values.get(field)
        if value is None:
            return None
        arity = ARITY_OF_NAME.get(value) if isinstance(value, str) else None
        if arity is None:
            expected = " or ".join(ARITY_OF_NAME)
            advice = did_you_mean(value, ARITY_OF_NAME) if isinstance(value, str) else None
            self._fault(repr(value)[:80], expected, field, advice)
        return arity

    def arities(
        self, given: Mapping[Side, int | None], evaluators: list[Evaluator[Any]]
    ) -> dict[Side, int | None]:
        """Shapes as given or, if the evaluators leave no choice, as they require."""
        arities = dict(given)
        for side, field in _GEOMETRIES.items():
            arity = given[side]
            if arity is not None:
                self._fit(evaluators, side, arity)
                continue
            usable = common_arities(evaluators, side)
            if not usable:
                names = ", ".join(evaluator.name for evaluator in evaluators)
                self._fault(names, "evaluators that can judge the same objects", field)
            arities[side] = usable[0] if len(usable) == 1 else None
        return arities

    def public_names(self, value: object, policy: Policy) -> frozenset[NameKind]:
        if value is None:
            public = DEFAULT_PUBLIC_NAMES
        elif not isinstance(value, list | tuple):
            self._fault(repr(value)[:80], "an array of " + " and ".join(NameKind), "public_names")
            return DEFAULT_PUBLIC_NAMES
        else:
            public = frozenset(filter(None, map(self._name_kind, value)))
        if NameKind.FRAME_COUNTS in public and NameKind.SEQUENCES not in public:
            self._fault("frame_counts alone", "sequences, too", "public_names")
        if policy.shown is Visibility.LIVE and not public >= DEFAULT_PUBLIC_NAMES:
            expected = "sequences and labels: visibility = 'live' reveals them"
            self._fault(", ".join(in_order(public)) or "none", expected, "public_names")
        elif policy.shows_own_outcomes and not public >= DEFAULT_PUBLIC_NAMES:
            expected = "sequences and labels: outcomes = 'own' reveals them"
            self._fault(", ".join(in_order(public)) or "none", expected, "public_names")
        return public

    def _name_kind(self, value: object) -> NameKind | None:
        if isinstance(value, str) and value in set(NameKind):
            return NameKind(value)
        advice = did_you_mean(value, NameKind) if isinstance(value, str) else None
        self._fault(repr(value)[:80], "one of " + ", ".join(NameKind), "public_names", advice)
        return None

    def time(self, values: Mapping[str, Any], field: str) -> datetime | None:
        value = values.get(field)
        if value is None:
            return None
        try:
            time = datetime.fromisoformat(value) if isinstance(value, str) else value
            if isinstance(time, datetime) and time.tzinfo is not None:
                return time.astimezone(UTC)
        except (ValueError, OverflowError):
            pass
        expected = "a date and time with its offset from UTC, such as 2026-05-01T00:00:00Z"
        self._fault(str(value)[:80], expected, field)
        return None

    def order(self, opening: datetime | None, closing: datetime | None) -> None:
        if opening is not None and closing is not None and closing <= opening:
            self._fault(closing.isoformat(), "a time after open_time", "close_time")

    def policy(self, values: object) -> Policy:
        if not isinstance(values, Mapping):
            self._fault(repr(values)[:80], "a table", "policy")
            return Policy()
        try:
            return parse_parameters(Policy, _with_share(values), "setting")
        except ParameterError as error:
            above = "write it above the first [table] of the file"
            faults = [
                structs.replace(fault, advice=above) if fault.field in KEYS else fault
                for fault in error.faults
            ]
            self._move(ParameterError(faults), "policy")
            return Policy()

    def evaluators(self, specification: BenchmarkSpec) -> list[Evaluator[Any]]:
        if not specification.evaluators:
            self._fault("no evaluator", "at least one", "evaluators")
        created: list[Evaluator[Any]] = []
        for index, entry in enumerate(specification.evaluators):
            path = f"evaluators[{index}]"
            try:
                created.extend(evaluators_of(entry, specification))
            except UnknownEvaluatorError as error:
                self._fault(str(error)[:500], "", f"{path}.name")
            except ParameterError as error:
                self._move(error, f"{path}.parameters")
        for fault in repeated_evaluators(created):
            self.faults.append(structs.replace(fault, source=self._source))
        return created

    def measures(self, policy: Policy, evaluators: list[Evaluator[Any]]) -> None:
        known = [measure for evaluator in evaluators for measure in evaluator.measures]
        names = {measure.name for measure in known}
        ranking = {measure.name for measure in known if measure.direction is not Direction.NONE}
        if policy.ranking_measure and policy.ranking_measure not in ranking:
            expected = "a measure that says which way is better: " + ", ".join(sorted(ranking))
            self._fault(policy.ranking_measure[:80], expected, "policy.ranking_measure")
        for name in policy.released_measures:
            if name not in names:
                expected = "a measure of an evaluator: " + ", ".join(sorted(names))
                self._fault(name[:80], expected, "policy.released_measures")

    def _fit(self, evaluators: list[Evaluator[Any]], side: Side, arity: int) -> None:
        for evaluator in evaluators:
            try:
                evaluator.check_arity(side, arity)
            except GeometryError as error:
                self._move(error, _GEOMETRIES[side], whole=True)

    def _fault(self, found: str, expected: str, field: str, advice: str | None = None) -> None:
        self.faults.append(Fault(found, expected, source=self._source, field=field, advice=advice))

    def _move(self, error: InputError, path: str, *, whole: bool = False) -> None:
        for fault in error.faults:
            field = path if whole or fault.field is None else f"{path}.{fault.field}"
            self.faults.append(structs.replace(fault, source=self._source, field=field))
