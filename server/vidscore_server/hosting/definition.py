"""What an organiser defines: specification, geometries, times and policy of a benchmark.

The dictionary form is one for TOML files and for the store: the keys of a manifest, and
`truth_geometry`, `detection_geometry`, `open_time`, `close_time` and a table `policy` beside them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL
from vidscore_evaluators.errors import (
    Fault,
    GeometryError,
    InputError,
    ParameterError,
    SpecificationError,
    UnknownEvaluatorError,
)
from vidscore_evaluators.evaluator import Evaluator, Side
from vidscore_evaluators.measures import Direction
from vidscore_evaluators.parameters import parameter_values, parse_parameters
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.specification import BenchmarkSpec, spec_to_dict
from vidscore_evaluators.specification_reading import spec_from_dict
from vidscore_server.hosting.policy import Policy

ARITY_OF_NAME = {"point": POINT, "box": BOX, "quadrilateral": QUADRILATERAL}
NAME_OF_ARITY = {arity: name for name, arity in ARITY_OF_NAME.items()}

_GEOMETRIES = {Side.TRUTH: "truth_geometry", Side.DETECTIONS: "detection_geometry"}
_TIMES = ("open_time", "close_time")
_OWN_KEYS = {*_GEOMETRIES.values(), *_TIMES, "policy"}


@dataclass(frozen=True)
class Definition:
    """A benchmark as its organiser defined it, free of faults.

    Attributes:
        specification: Title, evaluators, domains and sequences.
        truth_arity: Coordinates that an object of the truth has.
        detection_arity: Coordinates that a detection has.
        policy: What is shown, allowed and ranked.
        open_time: Submissions may be created from then on; None for at once.
        close_time: Submissions end then; None for never.
    """

    specification: BenchmarkSpec
    truth_arity: int
    detection_arity: int
    policy: Policy
    open_time: datetime | None = None
    close_time: datetime | None = None

    @cached_property
    def evaluators(self) -> tuple[Evaluator[Any], ...]:
        """The evaluators, ready to judge, in the specification's order."""
        return tuple(
            create_evaluator(entry.name, entry.parameters, self.specification)
            for entry in self.specification.evaluators
        )

    @cached_property
    def configurations(self) -> dict[str, str]:
        """By evaluator all that its scores follow from but the data: the title is no part of it."""
        untitled = dataclasses.replace(self.specification, title="")
        return {
            evaluator.name: type(evaluator)(evaluator.parameters, untitled).identity
            for evaluator in self.evaluators
        }

    def ranking(self, evaluator: Evaluator[Any]) -> dict[str, Direction]:
        """Measures that rank under an evaluator, first one first, each with its better side."""
        directions = {measure.name: measure.direction for measure in evaluator.measures}
        chosen = self.policy.ranking_measure
        names = (chosen,) if chosen in directions else evaluator.ranking
        return {name: directions[name] for name in names}


def definition_to_dict(definition: Definition) -> dict[str, Any]:
    """A definition as dictionaries, lists, texts and numbers; times as ISO 8601 texts."""
    times = {name: getattr(definition, name) for name in _TIMES}
    return {
        **spec_to_dict(definition.specification),
        "truth_geometry": NAME_OF_ARITY[definition.truth_arity],
        "detection_geometry": NAME_OF_ARITY[definition.detection_arity],
        **{name: time.isoformat() for name, time in times.items() if time is not None},
        "policy": {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in parameter_values(definition.policy).items()
        },
    }


def definition_from_dict(document: Mapping[str, Any], *, source: str | None = None) -> Definition:
    """Inverse of `definition_to_dict`; times may also be dates with times, as TOML has them.

    Args:
        document: The definition as dictionaries.
        source: Name of the file it came from, for error messages.

    Raises:
        SpecificationError: With every fault.
    """
    rest = {key: value for key, value in document.items() if key not in _OWN_KEYS}
    faults: list[Fault] = []
    try:
        specification = spec_from_dict(rest, source=source)
    except SpecificationError as error:
        faults.extend(error.faults)
        specification = BenchmarkSpec()
    return check_definition(
        specification, {key: document[key] for key in _OWN_KEYS & document.keys()}, source, faults
    )


def check_definition(
    specification: BenchmarkSpec,
    values: Mapping[str, Any],
    source: str | None = None,
    known_faults: list[Fault] | None = None,
) -> Definition:
    """Check everything that surrounds a specification, and how it fits.

    Args:
        specification: The specification, or an empty one where it has faults.
        values: `truth_geometry`, `detection_geometry`, `open_time`, `close_time` and `policy`.
        source: Where the values stand, for error messages.
        known_faults: What is wrong with the specification.

    Raises:
        SpecificationError: With every fault, those that were known first.
    """
    checker = _Checker(source)
    arities = {side: checker.arity(values, field) for side, field in _GEOMETRIES.items()}
    times = {field: checker.time(values, field) for field in _TIMES}
    checker.order(times["open_time"], times["close_time"])
    policy = checker.policy(values.get("policy", {}))
    if not known_faults:
        evaluators = checker.evaluators(specification, arities)
        if len(evaluators) == len(specification.evaluators):
            checker.measures(policy, evaluators)
    faults = [*(known_faults or ()), *checker.faults]
    if faults:
        raise SpecificationError(faults)
    return Definition(specification, arities[Side.TRUTH], arities[Side.DETECTIONS], policy, **times)


class _Checker:
    """Checks part after part and collects what is wrong."""

    def __init__(self, source: str | None) -> None:
        self._source = source
        self.faults: list[Fault] = []

    def arity(self, values: Mapping[str, Any], field: str) -> int:
        value = values.get(field)
        arity = ARITY_OF_NAME.get(value) if isinstance(value, str) else None
        if arity is None:
            found = "no geometry" if value is None else repr(value)[:80]
            self._fault(found, " or ".join(ARITY_OF_NAME), field)
        return arity or 0

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
            return parse_parameters(Policy, values)
        except ParameterError as error:
            self._move(error, "policy")
            return Policy()

    def evaluators(
        self, specification: BenchmarkSpec, arities: Mapping[Side, int]
    ) -> list[Evaluator[Any]]:
        if not specification.evaluators:
            self._fault("no evaluator", "at least one", "evaluators")
        created = []
        for index, entry in enumerate(specification.evaluators):
            path = f"evaluators[{index}]"
            try:
                evaluator = create_evaluator(entry.name, entry.parameters, specification)
            except UnknownEvaluatorError as error:
                self._fault(entry.name[:80], str(error), f"{path}.name")
                continue
            except ParameterError as error:
                self._move(error, f"{path}.parameters")
                continue
            created.append(evaluator)
            self._fit(evaluator, arities)
        return created

    def measures(self, policy: Policy, evaluators: list[Evaluator[Any]]) -> None:
        directions = {
            measure.name: measure.direction
            for evaluator in evaluators
            for measure in evaluator.measures
        }
        ranking = {name for name, way in directions.items() if way is not Direction.NONE}
        if policy.ranking_measure and policy.ranking_measure not in ranking:
            expected = "a measure that says which way is better: " + ", ".join(sorted(ranking))
            self._fault(policy.ranking_measure[:80], expected, "policy.ranking_measure")
        for name in policy.released_measures:
            if name not in directions:
                expected = "a measure of an evaluator: " + ", ".join(sorted(directions))
                self._fault(name[:80], expected, "policy.released_measures")

    def _fit(self, evaluator: Evaluator[Any], arities: Mapping[Side, int]) -> None:
        for side, field in _GEOMETRIES.items():
            if arities[side]:
                try:
                    evaluator.check_arity(side, arities[side])
                except GeometryError as error:
                    self._move(error, field, whole=True)

    def _fault(self, found: str, expected: str, field: str) -> None:
        self.faults.append(Fault(found, expected, source=self._source, field=field))

    def _move(self, error: InputError, path: str, *, whole: bool = False) -> None:
        for fault in error.faults:
            field = path if whole or fault.field is None else f"{path}.{fault.field}"
            self.faults.append(dataclasses.replace(fault, source=self._source, field=field))
