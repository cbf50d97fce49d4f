"""The demo's data as files, and commands to try next."""

from __future__ import annotations

import os
import shlex
import shutil
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from vidscore_cli.demo.scenes import Show
from vidscore_cli.output import write_atomically
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import Source

EXAMPLE_FOLDER = "demo-files"


def write_files(shows: Sequence[Show], folder: Path) -> None:
    """Write the truth and the detections of each show, as generic CSV.

    Args:
        shows: What was shown.
        folder: Where to; made if it is not there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for show in shows:
        _write(show.truth, Side.TRUTH, _file(folder, show, "truth"))
        for system, detections in show.detections.items():
            _write(detections, Side.DETECTIONS, _file(folder, show, system))


def next_steps(shows: Sequence[Show], folder: Path | None) -> list[tuple[str, str]]:
    """Commands that run as they stand, each after what it is for.

    Args:
        shows: What was shown.
        folder: Where its files are; None if none were written.
    """
    program = _program()
    everything = ("List what there is to score by", f"{program} evaluators")
    if folder is None:
        keep = f"{program} demo --speed 100 --files {EXAMPLE_FOLDER}"
        return [("Run the demo again and keep its data as files", keep), everything]
    streets, sky = shows
    truth, mole = (shlex.quote(str(_file(folder, streets, name))) for name in ("truth", "mole"))
    systems = " ".join(
        f"--system {shlex.quote(str(_file(folder, sky, name)))}" for name in sky.detections
    )
    sky_truth = shlex.quote(str(_file(folder, sky, "truth")))
    return [
        (
            "Score the files of mole",
            f"{program} score {streets.evaluator} --truth {truth} --detections {mole}",
        ),
        (
            "Find out whether falcon is ahead of mole by more than chance",
            f"{program} trust ranking {sky.evaluator} --truth {sky_truth} {systems}",
        ),
        everything,
    ]


def _file(folder: Path, show: Show, name: str) -> Path:
    return folder / f"{show.benchmark}-{name}.csv"


def _write(annotations: Annotations, side: Side, file: Path) -> None:
    conversion = convert(Source(annotations, str(file)), "generic-csv", side)
    write_atomically(file, conversion.files[""])


def _program() -> str:
    """The command that starts this vidscore from the current folder."""
    own = Path(sysconfig.get_path("scripts"), "vidscore")
    found = shutil.which("vidscore")
    if found is not None and Path(found).resolve() == own.resolve():
        return "vidscore"
    near = own.is_relative_to(Path.cwd())
    return shlex.quote(os.path.relpath(own) if near else str(own))
