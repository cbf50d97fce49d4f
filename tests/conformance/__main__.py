"""Test every client against one contract, described in `docs/conformance.md`.

python -m tests.conformance                       every language whose toolchain is installed
python -m tests.conformance go rust               these
python -m tests.conformance go --scenario rewind  one scenario
python -m tests.conformance --every               including those that the gate has no time for
python -m tests.conformance --default-keepalive   silent connections are detected with defaults

Several scenarios of two languages are played at a time, because they mostly wait; each of the two
has its own servers. The other runners are built meanwhile.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from queue import SimpleQueue

from tests.conformance import (  # noqa: F401 - each puts its scenarios on the list
    fault_scenarios,
    program_scenarios,
    scoring_scenarios,
    scripted_scenarios,
    submission_scenarios,
    transport_scenarios,
)
from tests.conformance.comparing import DeviationError, hold
from tests.conformance.runners import Runner, build
from tests.conformance.site import encrypted_site, site
from tests.conformance.stage import (
    EXCLUSIVE,
    NIGHTLY,
    SCENARIOS,
    Reference,
    Scenario,
    Stage,
    name_of,
    prepare,
)
from tools.clients import LANGUAGES, MissingToolchainError, add_languages, required

MakeStage = Callable[[Runner, str], Stage]
"""Makes a stage from a runner and the name of its submission."""

SHORT_KEEPALIVE = {"keepalive_interval_s": 10, "keepalive_timeout_s": 2}
"""Shorter intervals are refused, as a server would refuse them."""

CONCURRENT_SCENARIOS = 4
"""More are no faster on two cores; fewer wait most of the time."""

CONCURRENT_LANGUAGES = 2
"""One waits for silent connections and restarts of its server, when no other scenario may run."""


def main() -> int:
    """Run the command line; returns whether something failed."""
    arguments = _arguments()
    chosen = _chosen(arguments)
    keepalive = {} if arguments.default_keepalive else SHORT_KEEPALIVE
    languages = arguments.languages or LANGUAGES
    at_once = min(CONCURRENT_LANGUAGES, len(languages))
    with tempfile.TemporaryDirectory(prefix="conformance-") as folder, ExitStack() as open_stages:
        reference = Reference(build("python"), Path(folder))
        free: SimpleQueue[MakeStage] = SimpleQueue()
        for number in range(at_once):
            made = stages(Path(folder, str(number)), reference, keepalive)
            free.put(open_stages.enter_context(made))

        def play(language: str, built: Future[Runner]) -> Verdict:
            make_stage = free.get()
            try:
                return Verdict(language, built, chosen, make_stage)
            finally:
                free.put(make_stage)

        builder = open_stages.enter_context(ThreadPoolExecutor(max_workers=1))
        built = [builder.submit(build, language) for language in languages]
        players = open_stages.enter_context(ThreadPoolExecutor(at_once))
        failed = False
        for verdict in players.map(play, languages, built):
            print(verdict.line, flush=True)
            failed = failed or verdict.failed
    return int(failed)


@contextmanager
def stages(
    folder: Path, reference: Reference, keepalive: Mapping[str, float]
) -> Iterator[MakeStage]:
    """Start servers for one language after the other; yields a function that makes a stage."""
    folder.mkdir()
    with (
        site(folder / "site") as server,
        encrypted_site(folder / "encrypted") as encrypted,
    ):
        prepare(server, reference)
        yield lambda runner, name: Stage(runner, reference, server, encrypted, name, keepalive)


class Verdict:
    """The result of a language.

    Attributes:
        line: The line that is printed for it.
        failed: Whether it failed, or is missing although nothing may be missing.
    """

    def __init__(
        self,
        language: str,
        built: Future[Runner],
        chosen: Sequence[Scenario],
        make_stage: MakeStage,
    ) -> None:
        """Wait for its runner, and play every scenario."""
        self._make_stage = make_stage
        try:
            runner = built.result()
        except MissingToolchainError as missing:
            self.line = f"{language} skip: {missing}"
            self.failed = required()
            return
        except DeviationError as broken:
            failures = [f"build: {broken}"]
        else:
            failures = list(self._failures(runner, chosen))
        self.failed = bool(failures)
        more = f" (and {len(failures) - 1} more)" if len(failures) > 1 else ""
        self.line = f"{language} fail: {failures[0]}{more}" if failures else f"{language} pass"

    def _failures(self, runner: Runner, chosen: Sequence[Scenario]) -> Iterator[str]:
        play = partial(self._play, runner)
        together = [scenario for scenario in chosen if scenario not in EXCLUSIVE]
        with ThreadPoolExecutor(CONCURRENT_SCENARIOS) as players:
            yield from filter(None, players.map(play, together))
        yield from filter(None, map(play, (one for one in chosen if one in EXCLUSIVE)))

    def _play(self, runner: Runner, scenario: Scenario) -> str | None:
        """Play one scenario; returns its error, if any."""
        name = name_of(scenario)
        stage = self._make_stage(runner, f"{runner.language}-{name}")
        began_s = time.monotonic()
        failure = _failure(scenario, stage)
        took = f"{time.monotonic() - began_s:.1f} s"
        _note(f"  {stage.name}: {failure or 'pass'} ({took})")
        return None if failure is None else f"{name}: {failure}"


def _failure(scenario: Scenario, stage: Stage) -> str | None:
    """The error of a scenario, or None."""
    before = len(stage.site.server.incidents())
    try:
        scenario(stage)
        incidents = stage.site.server.incidents()[before:]
        hold(not incidents, f"the server failed: {incidents}")
    except DeviationError as deviation:
        return str(deviation)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other scenarios are played
        return f"the harness failed: {error!r}"
    return None


def _note(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _chosen(arguments: argparse.Namespace) -> list[Scenario]:
    """The scenarios requested by name, or all but the nightly ones."""
    if arguments.scenario:
        return [scenario for scenario in SCENARIOS if name_of(scenario) in arguments.scenario]
    return [scenario for scenario in SCENARIOS if arguments.every or scenario not in NIGHTLY]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="conformance", description="Hold clients to one contract")
    add_languages(parser)
    names = [name_of(scenario) for scenario in SCENARIOS]
    parser.add_argument("--scenario", action="append", choices=names, metavar="NAME")
    parser.add_argument("--every", action="store_true", help="those of the night as well")
    parser.add_argument("--default-keepalive", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
