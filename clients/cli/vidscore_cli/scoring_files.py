"""`vidscore score`: detections in files against truth in files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vidscore_cli.inputs import InputChoice, read_data, read_specification
from vidscore_cli.output import check_output
from vidscore_cli.progress import ProgressBar
from vidscore_cli.report_table import View
from vidscore_cli.reporting import Presentation, write_reports
from vidscore_cli.selection import create_evaluators, select_evaluators
from vidscore_evaluators.scoring import score_pair


@dataclass(frozen=True)
class FileScoring:
    """What is typed after `vidscore score`; the names are those of the options."""

    evaluators: tuple[str, ...]
    settings: tuple[str, ...]
    manifest: str | None
    truth: str
    detections: str
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None
    on_error: Literal["refuse", "skip"]
    workers: int
    format_: str
    output: str
    sequences: bool
    curves: bool
    strict: bool


def score_files(typed: FileScoring) -> None:
    """Score files and write the reports.

    Raises:
        click.UsageError: If what was typed is wrong.
        VidscoreError: If the files are.
        WarningsRefusedError: If there are warnings, and they are errors.
    """
    check_output(typed.output)
    manifest = read_specification(typed.manifest)
    specification, settings = select_evaluators(typed.evaluators, typed.settings, manifest)
    evaluators = create_evaluators(specification, typed.evaluators, settings)
    choice = InputChoice(
        typed.truth,
        typed.detections,
        typed.input_format,
        typed.image_size,
        typed.on_error,
        typed.confidence_scale,
    )
    with ProgressBar() as bar:
        bar.stage("reading")
        pair = read_data(choice, specification)
        bar.stage("scoring")
        reports = score_pair(
            evaluators, pair, specification, workers=typed.workers, progress=bar.advance
        )
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_reports(
        reports, Presentation(typed.format_, typed.output, view, typed.strict, pair.place_of)
    )
