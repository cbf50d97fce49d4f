"""`vidscore outcomes`: the outcome of each object and each detection, a row each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from vidscore_cli.command_tree import command
from vidscore_cli.inputs import (
    FileOptions,
    check_outcomes,
    chosen_evaluators,
    doubts,
    read_data,
    select_part,
    typed_operating_point,
)
from vidscore_cli.options import (
    all_faults_option,
    data_options,
    evaluator_options,
    on_error_option,
    operating_point_options,
    output_option,
    selection_options,
)
from vidscore_cli.outcome_output import check_outcome_output, open_outcomes
from vidscore_cli.progress import ProgressBar
from vidscore_cli.reporting import show_warnings

if TYPE_CHECKING:
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.outcome_files import OutcomeWriter
    from vidscore_evaluators.outcome_table import OperatingPoint
    from vidscore_evaluators.selection import Selected, Selection


class Tracing(FileOptions, frozen=True):
    """Options of `vidscore outcomes`, by name."""

    detections: str
    on_error: Literal["refuse", "skip"]
    selection: Selection
    at_threshold: float | None
    at_confidence: float | None
    output: str


@command(
    "outcomes",
    examples=(
        "vidscore outcomes spotgeo --truth truth.json --detections detections.json",
        "vidscore outcomes clear --truth gt/ --detections tracks/ --output outcomes.csv",
        "vidscore outcomes f1 --truth gt/ --detections tracks/ --at-threshold 0.75",
    ),
)
@evaluator_options()
@data_options()
@on_error_option()
@selection_options()
@operating_point_options()
@output_option("Its suffix chooses the format: .csv, .parquet or .json.")
@all_faults_option()
def outcomes(**choices: Any) -> None:
    """List the outcome of each object and each detection, one row each.

    A detection is a true_positive, a false_positive or ignored, an object a true_positive, a
    false_negative or ignored; the evaluator errors gives the kind of a false positive. Counted or
    summed, the rows give the figures of `vidscore score`. Without --output they are written to
    standard output as CSV.
    """
    from vidscore_evaluators.outcome_table import OperatingPoint

    typed = Tracing(**choices)
    check_outcome_output(typed.output)
    specification, evaluators = chosen_evaluators(typed.evaluators, typed.settings, typed.manifest)
    check_outcomes(evaluators, typed=bool(typed.evaluators))
    at = OperatingPoint(typed.at_threshold, typed.at_confidence)
    with ProgressBar() as bar:
        bar.stage("reading")
        pair = read_data(typed.choice(typed.detections, typed.on_error), specification)
        part = select_part(typed.selection, evaluators, pair, specification)
        bar.stage("writing")
        with typed_operating_point(), open_outcomes(typed.output) as writer:
            for evaluator in part.evaluators:
                _write(writer, evaluator, part, at, bar)
    show_warnings(tuple(doubts(part)), part.pair.place_of)


def _write(
    writer: OutcomeWriter,
    evaluator: Evaluator[Any],
    part: Selected,
    at: OperatingPoint,
    bar: ProgressBar,
) -> None:
    """Write the rows of one evaluator, part by part."""
    from vidscore_evaluators.scoring import outcomes_of_pair

    tables = outcomes_of_pair(evaluator, part.pair, part.specification, at, progress=bar.advance)
    for table in tables:
        writer.write(evaluator.selection.of_outcomes(table), evaluator.name)
