"""Errors as sentences for people, and the exit code of each."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence

import click

from vidscore_cli.output import say
from vidscore_cli.session import ExitCode, Session
from vidscore_evaluators.errors import (
    Fault,
    InputError,
    MissingExtraError,
    PlugInError,
    VidscoreError,
    fault_lines,
)

FAULTS_SHOWN = 50
"""Number of faults that an error lists, unless all are requested."""

REPORT_TO = "https://github.com/vidscore/vidscore/issues"

_NO_THREAD = "can't start new thread"
"""What Python says, in a RuntimeError, if the system refuses it a thread."""


class ServerUnreachableError(click.ClickException):
    """The server cannot be reached, or does not serve."""

    exit_code = ExitCode.UNREACHABLE


class InputRefusedError(click.ClickException):
    """The server refuses an input."""

    exit_code = ExitCode.INPUT


class AccessRefusedError(click.ClickException):
    """The server requires a token, or another one."""

    exit_code = ExitCode.REFUSED


class NotScoredError(click.ClickException):
    """A submission ended without a score."""

    exit_code = ExitCode.NOT_SCORED


class ServerFailedError(click.ClickException):
    """The server failed, or has another version of the protocol."""

    exit_code = ExitCode.INTERNAL


def explain(error: Exception, session: Session) -> ExitCode:
    """Report an error on stderr, and return the exit code."""
    if isinstance(error, VidscoreError):
        _show(_describe(error, session.all_faults))
        return ExitCode.USAGE if isinstance(error, MissingExtraError) else ExitCode.INPUT
    if isinstance(error, OSError) and error.strerror:
        place = f"{error.filename}: " if error.filename else ""
        _show(f"Error: {place}{error.strerror}")
        return ExitCode.INPUT
    if lacking := _lacking(error):
        _show(f"Error: {lacking}")
        return ExitCode.INPUT
    if isinstance(error, ImportError):
        _show(f"Error: vidscore is not completely installed: {error}")
        return ExitCode.INTERNAL
    _show_internal(error, session.debug)
    return ExitCode.INTERNAL


def _lacking(error: Exception) -> str:
    """What this machine lacks, and what to do; empty for an error of another cause."""
    from concurrent.futures import BrokenExecutor

    if isinstance(error, MemoryError):  # its own text is the size of some array
        return (
            "this needs more memory than this process may have; use a machine with more, raise "
            "its limit (ulimit -v), or score in parts (vidscore score --shard)"
        )
    if isinstance(error, BrokenExecutor):
        return (
            "a worker process was killed, perhaps because memory ran out; use fewer workers, or "
            "score in parts (vidscore score --shard)"
        )
    if isinstance(error, RuntimeError) and str(error) == _NO_THREAD:
        return (
            "the system allows no more threads; raise the limit of processes (ulimit -u; of a "
            "container, --pids-limit)"
        )
    return ""


def lines_of(faults: Sequence[Fault], everything: bool) -> list[str]:
    """Lines for people: the first faults, each kind once, and the number of the rest; or all."""
    if everything:
        return [str(fault) for fault in faults]
    lines = fault_lines(faults, FAULTS_SHOWN)
    if len(lines) < len(faults):
        lines.append("--all-faults lists every one of them")
    return lines


def _describe(error: VidscoreError, everything: bool) -> str:
    if not isinstance(error, InputError):
        return f"Error: {error}"
    lines = lines_of(error.faults, everything)
    if len(lines) == 1:
        return f"Error: {lines[0]}"
    heading = f"Error: {len(error.faults)} faults:"
    return "\n".join([heading, *(f"  {line}" for line in lines)])


def _show_internal(error: Exception, debug: bool) -> None:
    if debug:
        traceback.print_exception(error, file=sys.stderr)
    if isinstance(error, PlugInError):
        bug, report_to = str(error), f"to the authors of {error.distribution}"
    else:
        bug = f"internal error of vidscore ({type(error).__name__}: {error})"
        report_to = f"at\n{REPORT_TO}"
    _show(
        f"Error: {bug}. Please report it {report_to} with the command and "
        + ("the traceback above." if debug else "what it prints when VIDSCORE_DEBUG=1 is set.")
    )


def _show(text: str) -> None:
    say(text, err=True)
