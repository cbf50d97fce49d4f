"""Processes: what it costs to start one, help it, and score a little."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.case import Case, Size
from bench.measuring import Sample, run_interleaved
from bench.rows import SHOWN_SHARE, Row, at_most
from bench.scenes import points

HELP_LIMIT_S = 0.3
SCORE_LIMIT_S = 1.0
SMALL_SEQUENCES = 50
LOADING = """
import hashlib, pathlib, time
import vidscore_evaluators.arrays
started = time.perf_counter()
import vidscore_evaluators.kernels
print(time.perf_counter() - started)
"""
"""Prints what is added to a process that has what evaluators import anyway."""


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
        samples, _ = run_interleaved(
            [lambda command=command: _run(command) for command in commands],  # type: ignore[misc]
            size.repeats,
        )
    names = ("vidscore --help", f"vidscore score, {SMALL_SEQUENCES} spotGEO sequences")
    for name, limit_s, sample in zip(names, (HELP_LIMIT_S, SCORE_LIMIT_S), samples, strict=False):
        ours = Sample(sample.values)
        yield Row(f"process: {name}", ours, Sample((limit_s,)), "limit", at_most(1.0))
        other = Sample(samples[2].values)
        yield Row(f"process: {name}", ours, other, "python -c 'import numpy'", SHOWN_SHARE)
    loading = Sample(tuple(_loading_s() for _ in range(size.repeats)))
    numpy = Sample(samples[2].values)
    yield Row(
        "process: loading the compiled loops",
        loading,
        numpy,
        "python -c 'import numpy'",
        SHOWN_SHARE,
    )


def _loading_s() -> float:
    return float(subprocess.check_output([sys.executable, "-c", LOADING]))


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


CASES = (Case("startup", _processes),)
