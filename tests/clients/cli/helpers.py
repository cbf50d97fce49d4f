"""What the tests of the command line share."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from pathlib import Path

from click.testing import CliRunner, Result

import vidscore_client
from vidscore_cli.main import cli
from vidscore_client import reports as remote
from vidscore_evaluators.report import Block, Curve, Report, ReportWarning, Scores

BENCHMARK = """
title = "Night sky"
truth_geometry = "point"
detection_geometry = "point"

[[evaluators]]
name = "spotgeo"

[policy]
visibility = "final"
ladder_step = 0.01
"""
"""The file of a benchmark."""

Call = Callable[..., Result]
"""Runs a command with somebody's token."""


class Chunks(io.BytesIO):
    """A pipe that delivers texts one by one.

    Args:
        texts: The texts.
        on_read: Called before each of them, and before the end.
    """

    def __init__(self, texts: Iterable[str], on_read: Callable[[], object] = lambda: None) -> None:
        super().__init__()
        self._texts = iter(texts)
        self._on_read = on_read

    def read1(self, size: int | None = -1, /) -> bytes:
        """The next text."""
        del size
        self._on_read()
        return next(self._texts, "").encode()


class Ticking:
    """A clock that advances by 0.4 s per tick."""

    def __init__(self) -> None:
        self._now_s = 100.0

    def tick(self) -> None:
        """Advance."""
        self._now_s += 0.4

    def __call__(self) -> float:
        """Seconds since a fixed moment."""
        return self._now_s


BINARY = Path(sysconfig.get_path("scripts")) / "vidscore"


def runner() -> CliRunner:
    """A runner that separates stderr from stdout; before click 8.2 this had to be requested."""
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    return CliRunner(**apart)  # type: ignore[arg-type]


def run(*arguments: str, env: Mapping[str, str] | None = None, input_: str | None = None) -> Result:
    """Run a command in this process, with a text on its standard input."""
    environment = dict(env or {})
    return runner().invoke(cli, arguments, input_, environment, prog_name="vidscore")


def well(result: Result) -> str:
    """The output of a command that must succeed."""
    assert result.exit_code == 0, result.stderr
    text: str = result.stdout
    return text


def write_sides(folder: Path, truth: str, detections: str) -> list[str]:
    """Write a CSV file for each side; returns the options that name them."""
    (folder / "truth.csv").write_text(truth)
    (folder / "detections.csv").write_text(detections)
    return [
        "--truth", str(folder / "truth.csv"), "--detections", str(folder / "detections.csv"),
    ]  # fmt: skip


def run_binary(
    *arguments: str, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the installed command."""
    return subprocess.run(
        [str(BINARY), *arguments],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )


def signalled(
    arguments: Sequence[str], number: signal.Signals, *, after: str, on_error: bool = False
) -> tuple[int, str]:
    """Run the installed command, and send all its processes a signal, as a terminal does.

    Args:
        arguments: Arguments of the command.
        number: The signal.
        after: Text of the line of output after which it is sent.
        on_error: Whether the line is on standard error.

    Returns:
        The exit status, and the rest of standard error.
    """
    with subprocess.Popen(
        [str(BINARY), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
    ) as process:
        lines = process.stderr if on_error else process.stdout
        assert lines is not None
        assert any(after in line for line in lines)
        os.killpg(process.pid, number)
        try:
            _, stderr = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, stderr


def run_python(source: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a fresh interpreter."""
    return subprocess.run(
        [sys.executable, "-c", source], capture_output=True, encoding="utf-8", timeout=120
    )


def example_report() -> Report:
    """A report with every kind of row, curve and warning."""
    per_class = Block(
        measures={
            "ground_truth_objects": (4, 0, 9),
            "true_positives": (3, 0, 9),
            "nmotda": (0.75, None, 0.99999),
        },
        domains=("Tower", "Tower", "Helicopter"),
        classes=("Car", "Bus", "Car"),
    )
    per_domain = Block({"mean_nmotda": (0.75, 0.99999)}, domains=("Tower", "Helicopter"))
    every_domain = Block({"mean_nmotda": (0.875,)})
    across_domains = Block({"mean_nmotda": (0.875, None)}, classes=("Car", "Bus"))
    per_sequence = Block(
        {"nmotda": (0.5, 1.0)}, domains=("Tower",), classes=("Car",), sequences=("001", "Été")
    )
    roc = Curve("roc", {"threshold": (0.95, 0.85), "detection_rate": (0.5, None)}, "Tower", "Car")
    return Report(
        evaluator="neovision2",
        version="1",
        parameters={"overlap_threshold": 0.2, "shape": "box"},
        truth_digest="0" * 32,
        detections_digest="1" * 32,
        scores=Scores(
            blocks=(per_class, per_domain, every_domain, across_domains, per_sequence),
            curves=(roc,),
            warnings=(ReportWarning("unlisted", "A label is on no list.", 3),),
        ),
    )


def as_remote(report: Report) -> vidscore_client.Report:
    """The same report as the SDK returns it."""
    return vidscore_client.Report(
        evaluator=report.evaluator,
        version=report.version,
        parameters=report.parameters,
        truth_digest=report.truth_digest,
        detections_digest=report.detections_digest,
        software=report.software,
        specification=report.specification,
        scores=tuple(remote.Row(*row) for row in report.rows()),
        curves=tuple(
            remote.Curve(curve.name, {k: tuple(v) for k, v in curve.columns.items()},
                         curve.domain, curve.label)
            for curve in report.curves
        ),
        warnings=tuple(
            remote.ReportWarning(entry.code, entry.message, entry.count)
            for entry in report.warnings
        ),
    )  # fmt: skip
