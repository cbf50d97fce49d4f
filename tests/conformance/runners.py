"""The runners of the languages: building, starting and reading them."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from tests.conformance.comparing import DeviationError, hold
from tools.clients import ROOT, FailedError, check_toolchain, make

COMPLETED = 0
REFUSED = 3
KILLED = frozenset({-9, 9, 137})
"""Exit codes of a process that ended itself: SIGKILL, `_exit(9)`, or either in a shell."""

RUN_TIMEOUT_S = 180.0
"""No command of a runner takes this long; one that hangs is ended."""

Document = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The result of a runner.

    Attributes:
        code: Its exit code.
        document: The last document it printed; None if that was not a JSON object.
        said: The end of its output, for people.
    """

    code: int
    document: Document | None
    said: str

    def result(self) -> Document:
        """The result of a command that succeeded."""
        hold(self.code == COMPLETED, f"ended with {self.code}: {self.said}")
        return self._printed()

    def refusal(self, kind: str) -> Document:
        """The error with which a command ended."""
        hold(self.code == REFUSED, f"ended with {self.code}, not an error: {self.said}")
        document = self._printed()
        found = document.get("error", {}).get("kind")
        hold(found == kind, f"an error of kind {found}, not {kind}: {document}")
        return document

    def _printed(self) -> Document:
        hold(self.document is not None, f"printed no JSON object: {self.said}")
        assert self.document is not None
        return self.document


@dataclass(frozen=True)
class Started:
    """A running runner."""

    process: subprocess.Popen[str]

    @property
    def running(self) -> bool:
        """Whether it has not exited."""
        return self.process.poll() is None

    def wait(self) -> Outcome:
        """Wait until it exits.

        Raises:
            DeviationError: If it hangs.
        """
        try:
            out, err = self.process.communicate(timeout=RUN_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise DeviationError(f"hangs; it said: {_last(out + err)}") from None
        return Outcome(self.process.returncode, _document(out), _last(out + err))

    def end(self) -> None:
        """End it, whatever it is doing."""
        self.process.kill()
        self.process.communicate()


@dataclass(frozen=True)
class Runner:
    """The runner of a language.

    Attributes:
        language: The language.
        program: The command that starts it.
    """

    language: str
    program: Path

    def start(self, command: str, **options: object) -> Started:
        """Start a command; an option that is True is a flag, one that is None is left out."""
        arguments = [str(self.program), command]
        for name, value in options.items():
            if value is None or value is False:
                continue
            arguments.append("--" + name.replace("_", "-"))
            if value is not True:
                arguments.append(str(value))
        return Started(
            subprocess.Popen(
                arguments,
                cwd=self.program.parent,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                encoding="utf-8",
                errors="replace",
            )
        )

    def run(self, command: str, **options: object) -> Outcome:
        """Run a command to its end."""
        return self.start(command, **options).wait()


@cache
def build(language: str) -> Runner:
    """Pack a client, install the package, and build its runner against it, once.

    Raises:
        MissingToolchainError: If the toolchain is not installed.
        DeviationError: If it cannot be built.
    """
    check_toolchain(language)
    try:
        make(language, "runner")
    except FailedError as failure:
        raise DeviationError(str(failure)) from None
    return Runner(language, ROOT / "clients" / language / "build/runner")


def _document(out: str) -> Document | None:
    lines = out.splitlines()
    try:
        document = json.loads(lines[-1]) if lines else None
    except json.JSONDecodeError:
        return None
    return document if isinstance(document, dict) else None


def _last(text: str) -> str:
    return text.strip()[-2000:]
