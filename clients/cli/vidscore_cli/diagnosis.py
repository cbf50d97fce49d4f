"""Steps of a diagnosis: what each found, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum

from msgspec import Struct

from vidscore_cli.output import STDOUT, deliver_json, say
from vidscore_cli.session import ExitCode

FREE_DISK_WARNING_BYTES = 10 << 30

FREE_DISK_FAILURE_BYTES = 1 << 30

GIBIBYTE = 1 << 30


class Status(StrEnum):
    """Outcome of a step."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    SKIPPED = "skipped"


class Finding(Struct, frozen=True):
    """Result of a step.

    Attributes:
        step: Name of the step.
        status: Its outcome.
        found: What was found.
        advice: What to do; empty if nothing is to be done.
        exit_code: Exit code of the command if this is the first failed step.
    """

    step: str
    status: Status
    found: str
    advice: str = ""
    exit_code: ExitCode = ExitCode.UNREACHABLE


class Passed(Struct, frozen=True):
    """A step that found no fault, or only a warning.

    Attributes:
        found: What was found.
        status: Its outcome.
        advice: What to do.
    """

    found: str
    status: Status = Status.OK
    advice: str = ""


class Step(Struct, frozen=True):
    """One check.

    Attributes:
        name: Its name.
        check: Runs it.
        needs: Names of steps that must not have failed.
    """

    name: str
    check: Callable[[], Passed]
    needs: tuple[str, ...] = ()


class StepFailedError(Exception):
    """A step found a fault; steps that need it are skipped.

    Attributes:
        found: What was found.
        advice: What to do.
        exit_code: Exit code of the command.
    """

    def __init__(self, found: str, advice: str, exit_code: ExitCode = ExitCode.UNREACHABLE) -> None:
        super().__init__(found)
        self.found = found
        self.advice = advice
        self.exit_code = exit_code


def diagnose(steps: Sequence[Step]) -> list[Finding]:
    """Run every step whose needs are met, in order."""
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


def disk_step(free_bytes: int) -> Passed:
    """Free space on the disk of a store."""
    found = f"{free_bytes / GIBIBYTE:.1f} GiB free"
    advice = "make room: a full disk refuses frames with STORE_FULL until there is some"
    if free_bytes < FREE_DISK_FAILURE_BYTES:
        raise StepFailedError(found, advice, ExitCode.INPUT)
    if free_bytes < FREE_DISK_WARNING_BYTES:
        return Passed(found, Status.WARNING, advice)
    return Passed(found)


def write_findings(findings: Sequence[Finding], format_: str) -> ExitCode:
    """Write findings as text or JSON; return the exit code of the first failed step."""
    if format_ == "json":
        keys = ("step", "status", "found", "advice")
        deliver_json([{key: getattr(one, key) for key in keys} for one in findings], STDOUT)
    else:
        width = max(len(finding.step) for finding in findings)
        for finding in findings:
            say(f"{finding.status:<8} {finding.step:<{width}}  {finding.found}")
            if finding.advice:
                say(f"{'':<{width + 9}}  -> {finding.advice}")
    failed = (one.exit_code for one in findings if one.status is Status.FAILED)
    return next(failed, ExitCode.OK)
