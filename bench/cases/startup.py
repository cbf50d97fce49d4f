"""Processes: the time to start one, to print the help, and to score a small set."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from bench.case import Case, Size
from bench.measuring import Sample
from bench.rows import SHOWN_SHARE, Row, at_most
from bench.scenes import points

HELP_LIMIT_S = 0.3
SCORE_LIMIT_S = 1.0
SMALL_SEQUENCES = 50
REPEATS = 7
MOST_OF_NUMPY = 2.0
LOADING = """
import hashlib, pathlib, time
import vidscore_evaluators.arrays
started = time.perf_counter()
import vidscore_evaluators.kernels
print(time.perf_counter() - started)
"""
"""Prints the additional time in a process that has imported what evaluators need anyway."""


def _processes(size: Size) -> Iterator[Row]:
    vidscore = str(Path(sys.executable).with_name("vidscore"))
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder, name)) for name in ("truth.json", "detections.json")]
        for side, path in zip(points.sparse(SMALL_SEQUENCES), paths, strict=True):
            points.write_json(side, Path(path))
        commands = (
            [vidscore, "--help"],
            [vidscore, "score", "spotgeo", "--truth", paths[0], "--detections", paths[1]],
            [sys.executable, "-c", "import numpy"],
        )
        samples = _measured(commands, Path(folder))
    numpy = samples[2]
    names = ("vidscore --help", f"vidscore score, {SMALL_SEQUENCES} spotGEO sequences")
    goals = (SHOWN_SHARE, at_most(MOST_OF_NUMPY))
    limits = (HELP_LIMIT_S, SCORE_LIMIT_S)
    for name, limit_s, goal, ours in zip(names, limits, goals, samples, strict=False):
        yield Row(f"process: {name}", ours, Sample((limit_s,)), "limit", at_most(1.0))
        yield Row(f"process: {name}", ours, numpy, "python -c 'import numpy'", goal)
    loading = Sample(tuple(_loading_s() for _ in range(size.repeats)))
    yield Row(
        "process: loading the compiled loops",
        loading,
        numpy,
        "python -c 'import numpy'",
        SHOWN_SHARE,
    )


def _loading_s() -> float:
    return float(subprocess.check_output([sys.executable, "-c", LOADING]))


def _measured(commands: Sequence[Sequence[str]], folder: Path) -> list[Sample]:
    """Wall time and processor time of processes, measured in turn.

    All of them find compiled modules, as after an installation.
    """
    own = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    environment = {**os.environ, **own}
    found: list[list[tuple[float, float]]] = [[] for _ in commands]
    for repeat in range(1 + REPEATS):
        for command, samples in zip(commands, found, strict=True):
            begun_s, before_s = time.perf_counter(), _processor_s()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
            if repeat:
                samples.append((time.perf_counter() - begun_s, _processor_s() - before_s))
    return [Sample(*zip(*samples, strict=True)) for samples in found]


def _processor_s() -> float:
    """Processor time of all ended child processes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


CASES = (Case("startup", _processes),)
