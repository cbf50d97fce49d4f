"""`vidscore pipe`: frames of a running program on standard input, scored here or on a server."""

from __future__ import annotations

import sys
from typing import Any

import click
from click.core import ParameterSource

from vidscore_cli.command_tree import command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.options import (
    ANYWHERE,
    all_faults_option,
    confidence_scale_option,
    format_option,
    image_size_option,
    input_format_option,
    manifest_option,
    on_error_option,
    online_option,
    output_option,
    server_options,
    settings_option,
    strict_option,
    truth_option,
    view_options,
)
from vidscore_cli.output import check_output, deliver
from vidscore_cli.pipe_scoring import PipeScoring, score_lines
from vidscore_cli.pipe_submission import PipeSubmission, submit_lines
from vidscore_cli.thresholds import fail_under_option
from vidscore_cli.windows import alert_options

_HOSTED = ("submission", "title", "replay", "acknowledged")
_HERE = (
    *("settings", "manifest", "truth", "input_format", "image_size", "online", "window", "hours"),
    *("baseline", "alert", "alert_url", "strict", "fail_under"),
)


def _print_schema(ctx: click.Context, _parameter: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        from vidscore_evaluators.formats.json_lines import schema_text

        deliver(schema_text(), "-")
        ctx.exit()


@command(
    "pipe",
    examples=(
        "vidscore pipe --schema",
        "vidscore pipe --score spotgeo --truth truth.json",
        "vidscore pipe --score spotgeo --truth truth.json --format json",
        "vidscore pipe sky",
        "vidscore pipe sky --submission falcon --replay --acknowledged",
    ),
)
@click.argument("benchmark", metavar="[BENCHMARK]", required=False)
@click.option(
    "--score",
    "evaluators",
    metavar="EVALUATOR",
    multiple=True,
    shell_complete=complete_evaluator,
    help="Score in this process with this evaluator or preset; may be repeated.",
)
@settings_option()
@manifest_option()
@truth_option(required=False, help_=f"Ground truth for --score: {ANYWHERE}.")
@input_format_option()
@image_size_option()
@confidence_scale_option()
@click.option(
    "--submission",
    metavar="NAME",
    help="Submission to begin or to continue; by default a new one with a random name.",
)
@click.option("--title", metavar="TEXT", default="", help="Title of a new submission.")
@click.option(
    "--replay",
    is_flag=True,
    help="The input starts again at the first frame: leave out the frames that are durable.",
)
@click.option(
    "--acknowledged",
    is_flag=True,
    help="Write the offset before which all frames are durable to standard output, as "
    "JSON, whenever it grows.",
)
@on_error_option()
@click.option(
    "--progress/--no-progress",
    default=True,
    show_default=True,
    help="Whether to show running scores on standard error, at most once a second.",
)
@online_option()
@click.option(
    "--window",
    metavar="FRAMES",
    type=click.IntRange(1, 10_000_000),
    help="Compute running scores and alerts over this many last frames.",
)
@click.option("--hours", is_flag=True, help="Add curves of the scores by hour of time_s.")
@alert_options()
@server_options()
@format_option("table", "json", "csv", "markdown", "latex")
@output_option()
@view_options()
@strict_option()
@fail_under_option()
@all_faults_option()
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Write the JSON Schema of a line, and exit.",
)
def pipe(**choices: Any) -> int:
    """Score frames that a running program writes to standard input, one per line, as JSON.

    {"sequence": "a", "frame": 12, "objects": [{"label": "car", "box": [10, 10, 50, 50],
    "confidence": 0.9}]} is a line. With BENCHMARK the frames go into a submission to it, which is
    sealed at the end of the input; with --score they are scored in this process, and the report
    equals that of `vidscore score`, to the last bit. The exit code is 0 only if every frame is
    durable, and 6 if a threshold or an --alert is not met.
    """
    ctx = click.get_current_context()
    typed = [
        name for name in choices if ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE
    ]
    _check(choices, typed)
    check_output(choices["output"])
    if choices["benchmark"] is None:
        score_lines_of = {name: choices[name] for name in PipeScoring.__struct_fields__}
        return score_lines(PipeScoring(**score_lines_of), sys.stdin.buffer)
    submitted = {name: choices[name] for name in PipeSubmission.__struct_fields__}
    submit_lines(PipeSubmission(**submitted), sys.stdin.buffer)
    return 0


def _check(choices: dict[str, Any], typed: list[str]) -> None:
    """Refuse options that exclude each other or are missing.

    Raises:
        click.UsageError: If there are any.
    """
    here = choices["benchmark"] is None
    if here and not (choices["evaluators"] or choices["manifest"]):
        raise click.UsageError("name a BENCHMARK, or an evaluator with --score and its --truth")
    if not here and choices["evaluators"]:
        raise click.UsageError("BENCHMARK and --score exclude each other")
    for name in _HOSTED if here else _HERE:
        if name in typed:
            option = {"settings": "set"}.get(name, name).replace("_", "-")
            other = "a BENCHMARK" if here else "--score"
            raise click.UsageError(f"--{option} needs {other}")
    if here and choices["truth"] is None:
        raise click.UsageError("--score needs --truth")
    if choices["truth"] == "-":
        raise click.UsageError("--truth -: standard input has the lines; give the truth as a file")
    for name in ("window", "hours"):
        if choices["online"] and choices[name]:
            raise click.UsageError(f"--online and --{name} exclude each other")
