"""Faults of an input, in one form.

A `Fault` is one thing that is wrong, and where; an `InputError` carries all faults of an input.
Every error class has a `reason`, the stable upper-case word that programs read (the server sends it
as ``ErrorInfo.reason``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct

FAULTS_IN_MESSAGE = 20
"""Maximum number of lines in an error's text; the exception itself carries all faults."""

FAULTS_PER_KIND = 3
"""Maximum number of faults of one kind that are told one by one; more are told once, with their
count."""

_INDEX = re.compile(r"\[[0-9]+\]")


class Fault(Struct, frozen=True):
    """One thing that is wrong in an input.

    Attributes:
        found: What was found, quoted from the input. If `expected` is empty, the whole problem:
            ``file not found``.
        expected: What was expected.
        source: The file, or the side of a stream, that has the fault.
        line: Line of a text file, counted from 1.
        entry: Entry of an array (or row of a batch), counted from 0.
        field: Column, key or parameter.
        advice: What to do about it, if known: ``did you mean threshold?``.
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
        """Where it is: ``truth.csv, line 3, column x``; empty if unknown."""
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
        """Place, problem and advice in one line."""
        return f"{self.place}: {self.description}" if self.place else self.description

    @property
    def kind(self) -> tuple[str | None, ...]:
        """Key that is equal for the faults that one cause makes in many rows of a file."""
        field = None if self.field is None else _INDEX.sub("[]", self.field)
        return (self.source, field, self.expected or self.found, self.advice)


def fault_lines(faults: Sequence[Fault], most: int) -> list[str]:
    """Faults for people to read; many of one kind are told once, with the place of the first.

    Args:
        faults: The faults.
        most: Maximum number of lines; a further line counts the faults that are left out.
    """
    told = told_faults(faults)
    lines = [
        f"{told_place(fault, count)}: {fault.description}" if count > 1 else str(fault)
        for fault, count in told[:most]
    ]
    left_out = sum(count for _, count in told[most:])
    return [*lines, f"... and {left_out} more"] if left_out else lines


def told_faults(faults: Sequence[Fault]) -> list[tuple[Fault, int]]:
    """Faults to be told, each with the number of faults that it stands for, itself included."""
    counts = Counter(fault.kind for fault in faults)
    told: set[tuple[str | None, ...]] = set()
    found = []
    for fault in faults:
        count = counts[fault.kind]
        if count <= FAULTS_PER_KIND:
            found.append((fault, 1))
        elif fault.kind not in told:
            told.add(fault.kind)
            found.append((fault, count))
    return found


def told_place(fault: Fault, count: int) -> str:
    """Place of a fault that stands for several."""
    if count == 1:
        return fault.place
    return f"{count} times, first at {fault.place}" if fault.place else f"{count} times, first"


class VidscoreError(Exception):
    """Base of every error that a user's input can cause."""

    reason: ClassVar[str] = "UNKNOWN"


class InputError(VidscoreError):
    """An input is invalid; `faults` lists every fault."""

    reason: ClassVar[str] = "INVALID_INPUT"

    def __init__(self, faults: Sequence[Fault]) -> None:
        """Keep all faults; the text tells those of the first kinds and counts the rest."""
        self.faults: tuple[Fault, ...] = tuple(faults)
        super().__init__("\n".join(fault_lines(self.faults, FAULTS_IN_MESSAGE)))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...]]]:
        """Keep every fault when pickled, as on the way back from a worker process."""
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
    """A job needs another version of an evaluator than the installed one."""

    reason: ClassVar[str] = "EVALUATOR_VERSION_MISMATCH"


class TallyError(VidscoreError):
    """Bytes are not a tally, or two tallies are of different evaluators."""

    reason: ClassVar[str] = "INVALID_TALLY"


class LimitError(VidscoreError):
    """A limit is exceeded; the text names it.

    Attributes:
        limit: Name of the limit.
        maximum: Its value.
    """

    reason: ClassVar[str] = "LIMIT_EXCEEDED"

    def __init__(self, found: str, limit: str, maximum: int) -> None:
        """Say what was found, and which limit it would exceed."""
        self.found = found
        self.limit = limit
        self.maximum = maximum
        super().__init__(f"{found}; the limit {limit} is {maximum}")

    def __reduce__(self) -> tuple[type[LimitError], tuple[str, str, int]]:
        """Keep the fields when pickled, as on the way back from a worker process."""
        return (type(self), (self.found, self.limit, self.maximum))


class MissingExtraError(VidscoreError):
    """An optional package is not installed; the text says how to install it."""

    reason: ClassVar[str] = "MISSING_EXTRA"

    def __init__(self, what: str, package: str, extra: str | None) -> None:
        """Say what needs the package, and which extra of vidscore installs it, if one does."""
        self.arguments = (what, package, extra)
        wanted = package if extra is None else f"'vidscore[{extra}]'"
        super().__init__(f"{what} need {package}: pip install {wanted}")

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str | None]]:
        """Keep the fields when pickled, as on the way back from a worker process."""
        return (type(self), self.arguments)


class PlugInError(Exception):
    """Code of another distribution failed, or returned what it must not: a bug there.

    It is no `VidscoreError`, because no input of a user is at fault.

    Attributes:
        what: What failed.
        distribution: Whose it is.
    """

    def __init__(self, what: str, distribution: str, problem: str) -> None:
        """Say what failed, whose it is, and how; the problem may quote the input."""
        self.what = what
        self.distribution = distribution
        self._problem = problem
        super().__init__(f"{what} of {distribution} failed: {problem}")

    def __reduce__(self) -> tuple[type[PlugInError], tuple[str, str, str]]:
        """Keep the fields when pickled, as on the way back from a worker process."""
        return (type(self), (self.what, self.distribution, self._problem))
