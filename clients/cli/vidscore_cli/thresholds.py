"""Thresholds that scores must meet: ``--fail-under``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import click
from msgspec import Struct

from vidscore_cli.options import Decorator
from vidscore_cli.output import say
from vidscore_cli.session import ExitCode
from vidscore_evaluators.names import name_advice

if TYPE_CHECKING:
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.report import Report


FAIL_UNDER = "--fail-under"


class _Measure(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def direction(self) -> str: ...


class Measured(Protocol):
    """An evaluator of this process, or the description of one of a server."""

    @property
    def name(self) -> str:
        """Name by which it is chosen."""

    @property
    def measures(self) -> Sequence[_Measure]:
        """Measures of its reports."""


class Threshold(Struct, frozen=True):
    """The minimum score, or the maximum if lower is better.

    Attributes:
        evaluator: Name of the evaluator.
        measure: The measure, over everything.
        bound: The score.
        is_greatest: Whether lower is better.
    """

    evaluator: str
    measure: str
    bound: float
    is_greatest: bool

    def failure(self, report: Report) -> str | None:
        """Why a report of the evaluator fails; None if it meets the threshold."""
        value = overall_value(report, self.measure)
        if value is not None and (value <= self.bound if self.is_greatest else value >= self.bound):
            return None
        found = "undefined" if value is None else str(value)
        expected = f"at {'most' if self.is_greatest else 'least'} {self.bound}"
        return f"{self.measure} of {self.evaluator} is {found}, expected {expected} ({FAIL_UNDER})"


def overall_value(report: Report, measure: str) -> float | None:
    """A score over everything; None if it is undefined, or there is none."""
    from vidscore_evaluators.report import overall_scores

    return overall_scores(report).get(measure)


def fail_under_option() -> Decorator:
    """``--fail-under``."""
    return click.option(
        FAIL_UNDER,
        metavar="[EVALUATOR.]MEASURE=VALUE",
        multiple=True,
        help="Exit with 6 if this measure over everything is undefined or below the value, "
        "or above it if lower is better; may be repeated.",
    )


def parse_thresholds(typed: Sequence[str], evaluators: Sequence[Evaluator[Any]]) -> list[Threshold]:
    """Parse the values of ``--fail-under``.

    Args:
        typed: Its values as typed.
        evaluators: The evaluators that score.

    Raises:
        click.UsageError: If one is not a measure with a value, or is one of several evaluators.
    """
    return [parse_threshold(text, evaluators, FAIL_UNDER) for text in typed]


def check_thresholds(thresholds: Sequence[Threshold], reports: Sequence[Report]) -> ExitCode:
    """Report thresholds that are not met on standard error, and return the exit code."""
    by_name = {report.evaluator: report for report in reports}
    found = [threshold.failure(by_name[threshold.evaluator]) for threshold in thresholds]
    failures = [line for line in found if line is not None]
    for line in failures:
        say(f"Error: {line}", err=True)
    return ExitCode.THRESHOLD if failures else ExitCode.OK


def parse_threshold(text: str, evaluators: Sequence[Measured], option: str) -> Threshold:
    """Parse a typed measure with a number.

    Args:
        text: The typed text: ``MEASURE=VALUE`` or ``EVALUATOR.MEASURE=VALUE``.
        evaluators: The evaluators that score.
        option: The option, for messages.

    Raises:
        click.UsageError: If it is not a measure with a value, or is one of several evaluators.
    """
    try:
        return _parse(text, evaluators)
    except ValueError as error:
        raise click.UsageError(f"{option} {text}: {error}") from None


def _parse(text: str, evaluators: Sequence[Measured]) -> Threshold:
    left, equals, value = text.partition("=")
    bound = _number(value)
    evaluator_name, _, name = left.rpartition(".")
    if not equals or not name or bound is None:
        raise ValueError("expected MEASURE=VALUE or EVALUATOR.MEASURE=VALUE, such as f1=0.8")
    named = [one for one in evaluators if evaluator_name in {"", one.name}]
    if not named:
        advice = name_advice(evaluator_name, [one.name for one in evaluators])
        raise ValueError(f"{evaluator_name} is not being scored; {advice}")
    having = [(one, measure) for one in named for measure in one.measures if measure.name == name]
    if not having:
        known = dict.fromkeys(measure.name for one in named for measure in one.measures)
        raise ValueError(f"no measure is called {name!r}; {name_advice(name, known)}")
    if len(having) > 1:
        choices = ", ".join(f"{one.name}.{name}" for one, _ in having)
        raise ValueError(f"several evaluators measure it; address one as {choices}")
    [(evaluator, measure)] = having
    return Threshold(evaluator.name, name, bound, _lower_is_better(measure))


def _lower_is_better(measure: _Measure) -> bool:
    from vidscore_evaluators.evaluator import Direction

    if measure.direction == Direction.NONE:
        raise ValueError(f"neither more nor less of {measure.name} is better on its own")
    return measure.direction == Direction.LOWER


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
