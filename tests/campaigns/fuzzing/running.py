"""Start processes that fuzz targets, and read their results."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from tests.campaigns.fuzzing.trees import packed, unpacked
from tests.campaigns.settings import EFFORT, SEED
from tests.support.requirements import missing
from tests.support.tree import ROOT

FUZZER = ROOT / "build/fuzz"
"""Where `make robustness` installs atheris, which is no dependency of the other tests."""

KEPT = Path(__file__).parent / "kept"
"""Every input that has broken the law, in a folder per target."""

SECONDS = 10 * EFFORT
"""Time limit of a target."""

INPUTS = 500 if EFFORT == 1 else -1
"""Upper bound on the inputs of a target; -1: none. The gate gives every change the same inputs,
as far as time allows, so that it fails only because of the change. Nightly runs have no bound.
"""

STARTED_S = 400.0
"""Time that a process may take beyond its limit on a loaded machine."""

COUNTS = struct.Struct("<qq")
"""The number of inputs, and how many of them were accepted."""


@dataclass(frozen=True)
class Asked:
    """A request for a run.

    Attributes:
        name: The target.
        folder: Folder of the corpus, the findings, the counts and the output.
        seconds: Time limit.
        inputs: Upper bound on the inputs; -1: none.
        seed: Seed of all randomness.
    """

    name: str
    folder: str
    seconds: int
    inputs: int
    seed: int


@dataclass(frozen=True)
class Fuzzed:
    """The result of a run.

    Attributes:
        given: The number of inputs.
        accepted: The number of inputs that were read without an error.
        findings: The errors found; the first line of each text summarises it.
        seconds: How long the run took.
    """

    given: int
    accepted: int
    findings: list[str]
    seconds: float


def fuzzer() -> Path:
    """The folder of atheris; without it the test is skipped or fails."""
    if not (FUZZER / "atheris").is_dir():
        missing("atheris: `make build/fuzz/.installed`, where there is one for this Python")
    return FUZZER


def fuzz(
    name: str,
    folder: Path,
    *,
    seconds: int = SECONDS,
    inputs: int = INPUTS,
    environment: Mapping[str, str] | None = None,
) -> Fuzzed:
    """Fuzz a target in a process of its own.

    Args:
        name: The target.
        folder: Folder of its corpus and findings.
        seconds: Time limit.
        inputs: Upper bound on the inputs; -1: none.
        environment: Additional environment variables.
    """
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for path in (KEPT / name).glob("*"):
        shutil.copy(path, corpus)
    began_s = time.monotonic()
    asked = Asked(name, str(folder), seconds, inputs, SEED)
    status = _answer(tuple(sorted((environment or {}).items())), asked)
    took_s = time.monotonic() - began_s
    said = (folder / "said.txt").read_text(errors="replace")[-4000:]
    findings = [_finding(path) for path in sorted((folder / "findings").glob("*.txt"))]
    # libFuzzer also keeps the input on which a process died.
    dead = [path for path in (folder / "findings").glob("*-*") if not path.suffix]
    findings += [f"{path.name}\n{said}" for path in dead]
    if status and not findings:
        findings.append(f"the process ended with {status}\n{said}")
    kept = folder / "counts"
    given, accepted = COUNTS.unpack(kept.read_bytes()) if kept.exists() else (0, 0)
    return Fuzzed(given, accepted, findings, took_s)


@cache
def _engine(environment: tuple[tuple[str, str], ...]) -> subprocess.Popen[str]:
    """The process that forks every run with these variables; it ends with this process."""
    variables = {**os.environ, **dict(environment)}
    places = [*filter(None, variables.get("PYTHONPATH", "").split(os.pathsep)), str(fuzzer())]
    fixed = {
        "PYTHONPATH": os.pathsep.join(places),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",  # A process with threads cannot be forked safely.
    }
    return subprocess.Popen(
        [sys.executable, "-m", "tests.campaigns.fuzzing.engine"],
        cwd=ROOT,
        env={**variables, **fixed},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _answer(environment: tuple[tuple[str, str], ...], asked: Asked) -> int:
    """Ask the process of an environment for a run; returns the exit status of the run."""
    engine = _engine(environment)
    assert engine.stdin is not None
    assert engine.stdout is not None
    with suppress(BrokenPipeError):  # The process has ended, as its answer says too.
        engine.stdin.write(json.dumps(asdict(asked)) + "\n")
        engine.stdin.flush()
    timeout_s = asked.seconds + STARTED_S
    readable, _, _ = select.select([engine.stdout], [], [], timeout_s)
    line = engine.stdout.readline() if readable else ""
    if not line:
        _engine.cache_clear()  # No later run may get the answer of this one.
        with suppress(ProcessLookupError):
            os.killpg(engine.pid, signal.SIGKILL)
        said = "the process has ended" if readable else f"no end within {timeout_s:g} s"
        raise AssertionError(f"a run of {asked.name} has no answer: {said}")
    return int(line)


def _finding(path: Path) -> str:
    """An error and the input that caused it."""
    files = unpacked(path.with_suffix("").read_bytes()) or {}
    shown = "\n".join(f"{name or 'input'}: {content[:300]!r}" for name, content in files.items())
    said = path.read_text()
    return f"{said.splitlines()[-1][:200]}\n{path.with_suffix('')}\n{said[-3000:]}\n{shown}"


def keep(name: str, files: Mapping[str, bytes], title: str) -> Path:
    """Keep an input that has broken the law."""
    path = KEPT / name / title
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(packed(files))
    return path
