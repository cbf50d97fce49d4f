"""What can be wrong with an input, said once and in one shape.

A `Fault` is one thing that is wrong and where; an `InputError` carries all the faults of an
input. Every error class has a `reason`, the stable upper-case word that machines read (the
server sends it as ``ErrorInfo.reason``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

FAULTS_IN_MESSAGE = 20
"""How many faults an error's text lists; the exception itself carries all of them."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong in an input.

    Attributes:
        found: What stands there, in the input's own words; or, where `expected` is empty, the
            whole of what is wrong: ``file not found``.
        expected: What should stand there.
        source: The file, or the side of a stream, that holds it.
        line: Line of a text file, counted from 1.
        entry: Entry of an array (or row of a batch), counted from 0.
        field: Column, key or parameter.
        advice: What to do about it, where that is known: ``did you mean threshold?``.
    """

    found: str
    expected: str
    source: str | None = None
    line: int | None = None
    entry: int | None = None
    field: str | None = None
    advice: str | None = None

    @property
    def place(self) -> str:
        """Where it is: ``truth.csv, line 3, column x``; empty when nothing is known of it."""
        parts = [
            self.source,
            None if self.line is None else f"line {self.line}",
            None if self.entry is None else f"entry {self.entry}",
            self.field,
        ]
        return ", ".join(part for part in parts if part is not None)

    @property
    def description(self) -> str:
        """What is wrong and what to do about it, without the place."""
        problem = f"found {self.found}, expected {self.expected}" if self.expected else self.found
        return f"{problem}; {self.advice}" if self.advice else problem

    def __str__(self) -> str:
        """Say place, problem and advice in one line."""
        return f"{self.place}: {self.description}" if self.place else self.description


class VidscoreError(Exception):
    """Base of every error that a user's input can cause."""

    reason: ClassVar[str] = "UNKNOWN"


class InputError(VidscoreError):
    """An input breaks its rules; `faults` lists every breach that was found."""

    reason: ClassVar[str] = "INVALID_INPUT"

    def __init__(self, faults: Sequence[Fault]) -> None:
        """Keep all faults; the text lists the first ones and counts the rest."""
        self.faults: tuple[Fault, ...] = tuple(faults)
        lines = [str(fault) for fault in self.faults[:FAULTS_IN_MESSAGE]]
        rest = len(self.faults) - len(lines)
        if rest > 0:
            lines.append(f"... and {rest} more")
        super().__init__("\n".join(lines))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...]]]:
        """Survive the way back from a worker process with every fault."""
        return (type(self), (self.faults,))


class ParameterError(InputError):
    """A parameter is unknown, has the wrong type, or lies outside its bounds."""

    reason: ClassVar[str] = "INVALID_PARAMETER"


class SpecificationError(InputError):
    """A benchmark specification contradicts itself or cannot be read."""

    reason: ClassVar[str] = "INVALID_SPECIFICATION"


class GeometryError(InputError):
    """An evaluator was given coordinates of a shape that it cannot use."""

    reason: ClassVar[str] = "UNSUPPORTED_GEOMETRY"


class UnknownEvaluatorError(VidscoreError):
    """No evaluator of that name is registered."""

    reason: ClassVar[str] = "UNKNOWN_EVALUATOR"


class EvaluatorVersionError(VidscoreError):
    """A job names a version of an evaluator that is not the one installed."""

    reason: ClassVar[str] = "EVALUATOR_VERSION_MISMATCH"


class TallyError(VidscoreError):
    """Bytes are no tally, or two tallies do not belong to the same evaluator."""

    reason: ClassVar[str] = "INVALID_TALLY"


class LimitError(VidscoreError):
    """Something that is bounded would grow over its bound; the text names the limit.

    Attributes:
        limit: Name of the limit.
        maximum: Its value.
    """

    reason: ClassVar[str] = "LIMIT_EXCEEDED"

    def __init__(self, found: str, limit: str, maximum: int) -> None:
        """Say what was found, and which limit it would break."""
        self.found = found
        self.limit = limit
        self.maximum = maximum
        super().__init__(f"{found}; the limit {limit} is {maximum}")

    def __reduce__(self) -> tuple[type[LimitError], tuple[str, str, int]]:
        """Survive the way back from a worker process."""
        return (type(self), (self.found, self.limit, self.maximum))
