"""Build and unit-test the client of each language, and print one line per language.

    python -m tools.clients [LANGUAGE]...

A language without its toolchain is reported as skipped; with VIDSCORE_REQUIRE_ALL=1 that is a
failure. The output of a target is kept in build/clients/LANGUAGE-TARGET.log.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LOGS = ROOT / "build/clients"


@dataclass(frozen=True)
class Package:
    """The names of a client.

    Attributes:
        language: Name of the language.
        package: Name of its package.
    """

    language: str
    package: str


CLIENTS = {
    "python": Package("Python", "vidscore-client"),
    "typescript": Package("TypeScript", "@vidscore/client"),
    "go": Package("Go", "github.com/vidscore/vidscore/clients/go"),
    "java": Package("Java", "io.github.vidscore:vidscore-client"),
    "rust": Package("Rust", "vidscore-client"),
    "cpp": Package("C++", "vidscore"),
}
"""The clients by their folder below clients/."""
LANGUAGES = tuple(CLIENTS)
TARGETS = ("check-generated", "build", "test")
"""Targets of each client's Makefile; only clients with committed generated code have the first."""

STEP_TIMEOUT_S = 3600.0


class MissingToolchainError(Exception):
    """The toolchain of a language is not installed; the text says what is missing."""


class FailedError(Exception):
    """A step failed; the text has the end of its output."""


def check_toolchain(language: str) -> None:
    """Require the toolchain of a language.

    Raises:
        MissingToolchainError: If it is not installed.
    """
    if not (ROOT / "clients" / language / "Makefile").is_file():
        raise MissingToolchainError(f"there is no clients/{language}/Makefile")
    done = _run(language, "toolchain")
    if done.returncode:
        said = done.stdout.strip().splitlines() or ["the toolchain is not there"]
        raise MissingToolchainError(said[0])


def make(language: str, target: str) -> None:
    """Run a target of a client's Makefile.

    Raises:
        FailedError: If it fails.
    """
    done = _run(language, target)
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / f"{language}-{target}.log").write_text(done.stdout, encoding="utf-8")
    if done.returncode:
        raise FailedError(f"make -C clients/{language} {target}: {done.stdout.strip()[-1500:]}")


def required() -> bool:
    """Whether a missing toolchain is a failure."""
    return os.environ.get("VIDSCORE_REQUIRE_ALL") == "1"


def add_languages(parser: argparse.ArgumentParser) -> None:
    """Add an argument that names languages; an empty list means all."""
    # Not with `choices`: Python 3.11 would reject the empty list.
    parser.add_argument("languages", nargs="*", type=_language, metavar="LANGUAGE")


def _language(name: str) -> str:
    if name not in LANGUAGES:
        raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(LANGUAGES)}")
    return name


def main() -> int:
    """Run the command line; whether something failed."""
    parser = argparse.ArgumentParser(prog="clients", description="Build and unit-test each client")
    add_languages(parser)
    failed = False
    for language in parser.parse_args().languages or LANGUAGES:
        try:
            check_toolchain(language)
            for target in _targets(language):
                make(language, target)
            line = f"{language} pass"
        except MissingToolchainError as missing:
            line, failed = f"{language} skip: {missing}", failed or required()
        except FailedError as failure:
            line, failed = f"{language} fail: {failure}", True
        print(line, flush=True)
    return int(failed)


def _targets(language: str) -> list[str]:
    makefile = (ROOT / "clients" / language / "Makefile").read_text(encoding="utf-8")
    return [target for target in TARGETS if f"\n{target}:" in makefile]


def _run(language: str, target: str) -> subprocess.CompletedProcess[str]:
    folder = ROOT / "clients" / language
    return subprocess.run(
        ["make", "--no-print-directory", "--silent", "-C", str(folder), target],
        # The jobs and flags of an outer make must not apply here.
        env={name: value for name, value in os.environ.items() if not name.startswith("MAKE")},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
        timeout=STEP_TIMEOUT_S,
    )


if __name__ == "__main__":
    sys.exit(main())
