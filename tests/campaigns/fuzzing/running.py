"""A process that fuzzes a target, and what has come of it."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
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
    variables = {**os.environ, **(environment or {})}
    places = [*filter(None, variables.get("PYTHONPATH", "").split(os.pathsep)), str(fuzzer())]
    corpus = folder / "corpus"
    corpus.mkdir(parents=True)
    for path in (KEPT / name).glob("*"):
        shutil.copy(path, corpus)
    began_s = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tests.campaigns.fuzzing.engine", name, str(folder),
         str(seconds), str(inputs), str(SEED)],
        cwd=ROOT,
        env={**variables, "PYTHONPATH": os.pathsep.join(places), "PYTHONHASHSEED": "0"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        timeout=seconds + STARTED_S,
        check=False,
    )  # fmt: skip
    took_s = time.monotonic() - began_s
    findings = [_finding(path) for path in sorted((folder / "findings").glob("*.txt"))]
    # Beside those, libFuzzer keeps the input of a process that has died.
    dead = [path for path in (folder / "findings").glob("*-*") if not path.suffix]
    findings += [f"{path.name}\n{done.stderr[-4000:]}" for path in dead]
    if done.returncode and not findings:
        findings.append(f"the process ended with {done.returncode}\n{done.stderr[-4000:]}")
    kept = folder / "counts"
    given, accepted = COUNTS.unpack(kept.read_bytes()) if kept.exists() else (0, 0)
    return Fuzzed(given, accepted, findings, took_s)


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
