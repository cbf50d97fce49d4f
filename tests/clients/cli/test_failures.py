"""Errors become sentences on stderr and exit codes, never tracebacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures.process import BrokenProcessPool
from typing import NoReturn

import click
import pytest
from click.testing import Result
from tests.clients.cli.helpers import BINARY, runner

from vidscore_cli.command_tree import command
from vidscore_cli.failures import ServerUnreachableError
from vidscore_cli.main import cli
from vidscore_cli.options import all_faults_option
from vidscore_evaluators.errors import Fault, InputError, VidscoreError


def run_raising(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, *arguments: str, **env: str
) -> Result:
    """Run the whole command line with one command, which raises."""

    @command("fail", examples=("vidscore fail",))
    @all_faults_option()
    def fail() -> NoReturn:
        raise error

    finder: Callable[[object, str], click.Command] = lambda _, __: fail  # noqa: E731
    monkeypatch.setattr(cli, "get_command", finder)
    monkeypatch.setattr(cli, "_own", {"fail": fail})
    return runner().invoke(cli, [*arguments], prog_name="vidscore", env=env)


def many_faults(count: int) -> InputError:
    return InputError(
        [
            Fault("'x'", "a number", source="a.csv", line=line, field=f"x{line}")
            for line in range(count)
        ]
    )


def test_one_fault_is_one_line_with_its_place_and_what_was_expected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = run_raising(many_faults(1), monkeypatch, "fail")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr == "Error: a.csv, line 0, x0: found 'x', expected a number\n"


def test_fifty_faults_are_all_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run_raising(many_faults(50), monkeypatch, "fail").stderr.splitlines()
    assert lines[0] == "Error: 50 faults:"
    assert len(lines) == 51
    assert lines[-1] == "  a.csv, line 49, x49: found 'x', expected a number"


def test_of_more_faults_the_first_fifty_are_listed_and_the_rest_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = run_raising(many_faults(73), monkeypatch, "fail").stderr.splitlines()
    assert lines[0] == "Error: 73 faults:"
    assert len(lines) == 53
    assert lines[-2:] == ["  ... and 23 more", "  --all-faults lists every one of them"]


def test_a_fault_of_many_rows_is_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    error = InputError([Fault("-1", "a track", source="a.csv", line=line) for line in range(1, 68)])
    assert run_raising(error, monkeypatch, "fail").stderr.splitlines() == [
        "Error: 67 faults:",
        "  67 times, first at a.csv, line 1: found -1, expected a track",
        "  --all-faults lists every one of them",
    ]


def test_all_faults_lists_every_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = run_raising(many_faults(73), monkeypatch, "fail", "--all-faults").stderr.splitlines()
    assert len(lines) == 74


@pytest.mark.parametrize(
    ("error", "code", "text"),
    [
        (VidscoreError("too much"), 1, "Error: too much\n"),
        (ServerUnreachableError("no server"), 3, "Error: no server\n"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 1,
         "Error: a.csv: No such file or directory\n"),
        (KeyboardInterrupt(), 130, "\n"),
    ],
)  # fmt: skip
def test_each_kind_of_error_has_its_exit_code(
    error: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run_raising(error, monkeypatch, "fail")
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", text)


def test_an_internal_error_says_how_to_report_it(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run_raising(ZeroDivisionError("division by zero"), monkeypatch, "fail")
    assert result.exit_code == 70
    assert "ZeroDivisionError: division by zero" in result.stderr
    assert "VIDSCORE_DEBUG=1" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError("Unable to allocate 3.52 MiB"), "needs more memory"),
        (RuntimeError("can't start new thread"), "allows no more threads"),
        (BrokenProcessPool("terminated abruptly"), "a worker process was killed"),
    ],
)
def test_a_limit_of_the_machine_is_not_an_internal_error(
    error: Exception, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run_raising(error, monkeypatch, "fail")
    assert result.exit_code == 1
    [line] = result.stderr.splitlines()
    assert said in line


def test_a_python_without_threads_says_so_in_the_words_that_are_recognised() -> None:
    """They are Python's own, and may change."""
    code = (
        "import resource, threading;"
        "resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30));"
        "threading.stack_size(1 << 30);"
        "threading.Thread(target=print).start()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "RuntimeError: can't start new thread" in done.stderr


def test_an_incomplete_installation_is_not_an_internal_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    result = run_raising(ImportError("loops.so is missing; install again"), monkeypatch, "fail")
    assert result.exit_code == 70
    assert (
        result.stderr
        == "Error: vidscore is not completely installed: loops.so is missing; install again\n"
    )


@pytest.mark.parametrize(
    ("arguments", "env"), [(["--debug", "fail"], {}), (["fail"], {"VIDSCORE_DEBUG": "1"})]
)
def test_debugging_shows_the_traceback_of_an_internal_error(
    arguments: list[str], env: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    result = run_raising(ZeroDivisionError(), monkeypatch, *arguments, **env)
    assert result.exit_code == 70
    assert "Traceback (most recent call last)" in result.stderr


def test_a_reader_that_stops_reading_is_not_an_error() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [BINARY, "completion", "fish"],
        stdout=writer,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
