"""Run the tests of a module against its mutants, each in a process of its own.

    python -m tests.campaigns.mutation.running < asked > outcomes

Tests are collected once. Each mutant is a fork of the process that has collected them, in which
the code of one function is replaced. It runs only the tests that run the mutant's lines, fastest
first, until one fails. No file is changed.
"""

from __future__ import annotations

import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import pytest
from hypothesis import HealthCheck, Phase, settings
from tests.campaigns.mutation.mutators import Mutant, mutants_of, mutated_code
from tests.campaigns.mutation.observer import Failures, Observer

LEAST_TIMEOUT_S = 10.0
"""Minimum timeout of a mutant, for a loaded machine: tests this short take a second or less."""

TIMES_AS_LONG = 10.0
"""A mutant is taken to hang if its tests take this many times as long as without it."""

LOOK_INTERVAL_S = 0.01

SURVIVED, FOUND, BROKEN = 0, 1, 3
"""Exit statuses of the process of a mutant."""


@dataclass(frozen=True)
class Asked:
    """What to run.

    Attributes:
        module: The module.
        path: Its file.
        files: Files of its tests.
        mutants: Numbers of its mutants.
        folder: A folder for the files and the output of the tests.
        parallel: Number of parallel processes.
    """

    module: str
    path: str
    files: Sequence[str]
    mutants: Sequence[int]
    folder: str
    parallel: int


@dataclass(frozen=True)
class Job:
    """A mutant and the tests to run against it."""

    mutant: Mutant
    tests: list[str]
    timeout_s: float


class Conductor:
    """Replaces pytest's loop over the tests.

    Args:
        asked: What to run.
    """

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._folder = Path(asked.folder)
        self._source = Path(asked.path).read_text("utf-8")
        self._failures = Failures()

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self) -> None:
        """Let property tests repeat the same examples, and not shrink: one failure is enough."""
        steady = settings(
            settings.get_profile("ci"),
            phases=(Phase.explicit, Phase.generate),
            database=None,
            print_blob=False,
            suppress_health_check=list(HealthCheck),
        )
        settings.register_profile("mutation", steady)
        settings.load_profile("mutation")

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests without, then with each mutant; print one line of JSON each."""
        session.config.pluginmanager.register(self._failures)
        code = wait(self._fork("observed", lambda: self._observe(session)), float("inf"))
        if code != SURVIVED:
            _tell({"number": None, "code": code, "tests": session.testscollected})
            return True
        observed = json.loads((self._folder / "observed.json").read_text("utf-8"))
        wanted = set(self._asked.mutants)
        mutants = [one for one in mutants_of(self._source) if one.number in wanted]
        jobs = [_job(mutant, observed) for mutant in mutants]
        for job, code in self._codes(session, jobs):
            _tell({"number": job.mutant.number, "code": code, "tests": len(job.tests)})
        return True

    def _codes(self, session: pytest.Session, jobs: Sequence[Job]) -> Iterator[tuple[Job, int]]:
        """The exit status of each job."""
        waiting = list(reversed(jobs))
        running: dict[int, tuple[Job, float]] = {}
        while waiting or running:
            while waiting and len(running) < self._asked.parallel:
                job = waiting.pop()
                run = _Shown(self._asked.module, self._asked.path, self._source, job)
                process = self._fork(
                    str(job.mutant.number),
                    lambda run=run: run(session, self._failures),  # type: ignore[misc] # mypy cannot type a default of a lambda
                )
                running[process] = job, time.monotonic() + job.timeout_s
            for process, (job, end_s) in list(running.items()):
                if (code := _ended(process, end_s)) is not None:
                    del running[process]
                    shutil.rmtree(self._folder / str(job.mutant.number), ignore_errors=True)
                    yield job, code
            time.sleep(LOOK_INTERVAL_S)

    def _fork(self, name: str, work: Callable[[], int]) -> int:
        """Run work in a process of its own whose output goes to a file; returns the process id."""
        process = os.fork()
        if process:
            return process
        os.setsid()
        room = self._folder / name
        room.mkdir()
        os.environ["PYTEST_DEBUG_TEMPROOT"] = str(room)
        said = os.open(f"{room}.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(said, stream)
        return _leave_with(work)

    def _observe(self, session: pytest.Session) -> int:
        """Record which test runs which lines."""
        observer = Observer(self._asked.path)
        session.config.pluginmanager.register(observer)
        _run(session.items, self._failures)
        lines = {name: sorted(seen) for name, seen in observer.lines.items()}
        found = {"lines": lines, "seconds": observer.seconds}
        (self._folder / "observed.json").write_text(json.dumps(found), encoding="utf-8")
        return FOUND if self._failures.names else SURVIVED


@dataclass(frozen=True)
class _Shown:
    """Runs the tests of a mutant."""

    module: str
    path: str
    source: str
    job: Job

    def __call__(self, session: pytest.Session, failures: Failures) -> int:
        mutant = self.job.mutant
        put_in_place(self.module, mutant, mutated_code(self.source, mutant.number, self.path))
        items = {item.nodeid: item for item in session.items}
        chosen = [items[name] for name in self.job.tests]
        first: dict[Path, int] = {}
        for row, item in enumerate(chosen):
            first.setdefault(item.path, row)
        _run(sorted(chosen, key=lambda item: first[item.path]), failures)
        return FOUND if failures.names else SURVIVED


def put_in_place(module: str, mutant: Mutant, code: CodeType) -> None:
    """Replace the code of a function by that of a mutant.

    Args:
        module: The module.
        mutant: The mutant.
        code: The whole module with the mutant.
    """
    holder: Any = importlib.import_module(module)
    *names, last = mutant.function.split(".")
    for name in names:
        holder = getattr(holder, name)
    function = vars(holder)[last]
    for wrapped in ("fget", "func", "__func__", "__wrapped__"):
        function = getattr(function, wrapped, function)
    assert isinstance(function, FunctionType), mutant.function
    function.__code__ = next(
        found for found in _codes(code) if found.co_qualname == function.__code__.co_qualname
    )


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _job(mutant: Mutant, observed: Any) -> Job:
    """A mutant with the tests that run its lines, fastest first."""
    first, last = mutant.lines
    concerned = [
        name
        for name, lines in observed["lines"].items()
        if any(first <= line <= last for line in lines)
    ]
    seconds = observed["seconds"]
    usual_s = sum(seconds[name] for name in concerned)
    timeout_s = max(LEAST_TIMEOUT_S, TIMES_AS_LONG * usual_s)
    return Job(mutant, sorted(concerned, key=seconds.__getitem__), timeout_s)


def _run(items: Sequence[pytest.Item], failures: Failures) -> None:
    """Run the tests, if any, until one fails."""
    for item, following in zip(items, [*items[1:], None], strict=False):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failures.names:
            return


def _leave_with(work: Callable[[], int]) -> NoReturn:
    """Run work, and end this process with its exit status, whatever happens."""
    code = BROKEN
    try:
        code = work()
    except BaseException:  # noqa: BLE001 - nothing may go on in the parent's place
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def wait(process: int, end_s: float) -> int:
    """Wait for the leader of a process group and end the group; returns the exit status.

    Args:
        process: Its id.
        end_s: Time at which it is killed.
    """
    while (code := _ended(process, end_s)) is None:
        time.sleep(LOOK_INTERVAL_S)
    return code


def _ended(process: int, end_s: float) -> int | None:
    if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
        os.killpg(process, signal.SIGKILL)  # Before another process can get its id.
        return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if time.monotonic() > end_s:
        os.killpg(process, signal.SIGKILL)
    return None


def _tell(outcome: dict[str, Any]) -> None:
    print(json.dumps(outcome), file=_outcomes, flush=True)


_outcomes = sys.stdout


def main() -> None:
    """Do what standard input asks for."""
    global _outcomes  # noqa: PLW0603 - pytest takes standard output for itself
    _outcomes = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    asked = Asked(**json.load(sys.stdin))
    given = ["-q", "-p", "no:cacheprovider", "--capture=no", *asked.files]
    given += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    sys.exit(int(pytest.main(given, plugins=[Conductor(asked)])))


if __name__ == "__main__":
    main()
