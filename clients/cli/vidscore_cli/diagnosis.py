"""Steps of a diagnosis: what each found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from vidscore_cli.exit_codes import ExitCode


class Status(StrEnum):
    """How a step went."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Finding:
    """What a step found.

    Attributes:
        step: What was looked at.
        status: How it went.
        found: What is so.
        advice: What to do; empty where nothing is to be done.
        exit_code: What the command line ends with where this is the first step that failed.
    """

    step: str
    status: Status
    found: str
    advice: str = ""
    exit_code: ExitCode = ExitCode.UNREACHABLE


class StepFailedError(Exception):
    """A step found something wrong; those that build on it are skipped.

    Attributes:
        found: What is so.
        advice: What to do.
        exit_code: What the command line ends with.
    """

    def __init__(self, found: str, advice: str, exit_code: ExitCode = ExitCode.UNREACHABLE) -> None:
        """Keep what was found."""
        super().__init__(found)
        self.found = found
        self.advice = advice
        self.exit_code = exit_code


@dataclass(frozen=True)
class Passed:
    """A step that found nothing wrong, or nothing that hinders.

    Attributes:
        found: What is so.
        status: How it went.
        advice: What to do.
    """

    found: str
    status: Status = Status.OK
    advice: str = ""


@dataclass(frozen=True)
class Step:
    """One thing to look at.

    Attributes:
        name: What is looked at.
        check: Looks.
        needs: Names of steps that must not have failed.
    """

    name: str
    check: Callable[[], Passed]
    needs: tuple[str, ...] = ()


def diagnose(steps: Sequence[Step]) -> list[Finding]:
    """Take every step that can be taken, in order."""
    findings: list[Finding] = []
    broken: set[str] = set()
    for step in steps:
        missing = [name for name in step.needs if name in broken]
        if missing:
            broken.add(step.name)
            findings.append(Finding(step.name, Status.SKIPPED, f"needs {missing[0]}"))
            continue
        try:
            passed = step.check()
        except StepFailedError as failure:
            broken.add(step.name)
            findings.append(
                Finding(step.name, Status.FAILED, failure.found, failure.advice, failure.exit_code)
            )
        else:
            findings.append(Finding(step.name, passed.status, passed.found, passed.advice))
    return findings


def exit_code_of(findings: Sequence[Finding]) -> ExitCode:
    """What the command line ends with: the code of the first step that failed."""
    failed = [finding for finding in findings if finding.status is Status.FAILED]
    return failed[0].exit_code if failed else ExitCode.OK
