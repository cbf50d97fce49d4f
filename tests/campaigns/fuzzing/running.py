"""Processes that fuzz targets, and what has come of it."""

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
"""Where `make robustness` puts atheris, which is none of what vidscore is tested with."""

KEPT = Path(__file__).parent / "kept"
"""Every input that has broken the law, in the folder of its target."""

SECONDS = 10 * EFFORT
"""How long a target is given inputs at most."""

INPUTS = 500 if EFFORT == 1 else -1
"""How many it is given at most. The gate gives every change the same ones, as far as its time goes,
so that only what a change does can fail it. By night there is no end."""

STARTED_S = 400.0
"""How long a process may take beside that, on a machine with much else to do."""

COUNTS = struct.Struct("<qq")
"""Inputs that were given, and those of them that were accepted."""


@dataclass(frozen=True)
class Asked:
    """A run that is asked for.

    Attributes:
        name: The target.
        folder: For corpus, findings, counts, and what is said.
        seconds: How long it is given inputs at most.
        inputs: How many it is given at most; -1: no limit.
        seed: What all chance follows from.
    """

    name: str
    folder: str
    seconds: int
    inputs: int
    seed: int


@dataclass(frozen=True)
class Fuzzed:
    """What has come of a run.

    Attributes:
        given: How many inputs there were.
        accepted: How many of them were read without an error.
        findings: What was wrong, a text each, whose first line says it.
        seconds: How long it took.
    """

    given: int
    accepted: int
    findings: list[str]
    seconds: float


def fuzzer() -> Path:
    """The folder of atheris; the test is skipped, or fails, where it is not."""
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
        folder: For its corpus and findings.
        seconds: How long it is given inputs at most.
        inputs: How many it is given at most; -1: no limit.
        environment: Variables beside those of this process.
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
    # Beside those, libFuzzer keeps the input of a process that has died.
    dead = [path for path in (folder / "findings").glob("*-*") if not path.suffix]
    findings += [f"{path.name}\n{said}" for path in dead]
    if status and not findings:
        findings.append(f"the process ended with {status}\n{said}")
    kept = folder / "counts"
    given, accepted = COUNTS.unpack(kept.read_bytes()) if kept.exists() else (0, 0)
    return Fuzzed(given, accepted, findings, took_s)


@cache
def _engine(environment: tuple[tuple[str, str], ...]) -> subprocess.Popen[str]:
    """The process of which every run in this environment is a fork; it ends with this process."""
    variables = {**os.environ, **dict(environment)}
    places = [*filter(None, variables.get("PYTHONPATH", "").split(os.pathsep)), str(fuzzer())]
    fixed = {
        "PYTHONPATH": os.pathsep.join(places),
        "PYTHONHASHSEED": "0",
        "OPENBLAS_NUM_THREADS": "1",  # a process that has threads is no good to fork
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
    """Ask the process of an environment for a run; gives what that ends with."""
    engine = _engine(environment)
    assert engine.stdin is not None
    assert engine.stdout is not None
    with suppress(BrokenPipeError):  # it has ended, which what it answers says as well
        engine.stdin.write(json.dumps(asdict(asked)) + "\n")
        engine.stdin.flush()
    timeout_s = asked.seconds + STARTED_S
    readable, _, _ = select.select([engine.stdout], [], [], timeout_s)
    line = engine.stdout.readline() if readable else ""
    if not line:
        _engine.cache_clear()  # no later run is to get the answer of this one
        with suppress(ProcessLookupError):
            os.killpg(engine.pid, signal.SIGKILL)
        said = "the process has ended" if readable else f"no end within {timeout_s:g} s"
        raise AssertionError(f"a run of {asked.name} has no answer: {said}")
    return int(line)


def _finding(path: Path) -> str:
    """An error and the input that it is of."""
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
