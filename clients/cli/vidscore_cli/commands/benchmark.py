"""`vidscore benchmark`: what an organiser does with hosted benchmarks."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import CommandTree, Entry, command
from vidscore_cli.hosted import (
    benchmark_waits_for,
    budget_text,
    clock_text,
    evaluator_names,
    format_for,
    has_default_budget,
    holdings_left,
    private_text,
    quotas_left,
    say_warnings,
    step_text,
    what_happens,
)
from vidscore_cli.inputs import check_format_name
from vidscore_cli.options import (
    format_option,
    image_size_option,
    input_format_option,
    output_option,
    records_options,
    server_options,
    truth_option,
)
from vidscore_cli.output import check_output, deliver, say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import Record, short_names, within, write_record, write_records
from vidscore_cli.remote import open_client, to_frames
from vidscore_cli.reporting import show_source_warnings
from vidscore_cli.sites import ServerChoice
from vidscore_cli.waiting import Breaks
from vidscore_evaluators.names import counted
from vidscore_evaluators.remote_files import data_path

if TYPE_CHECKING:
    from vidscore_client import Benchmark, RescoreProgress
    from vidscore_evaluators.annotations import Annotations

BENCHMARK_COLUMNS = ("name", "title", "evaluators", "open_time", "close_time", "truth_revision")

REVISION_COLUMNS = (
    "revision",
    "create_time",
    "frame_count",
    "object_count",
    "label_count",
    "sequence_count",
    "complete",
    "digest",
    "comment",
)

DIFFERENCE_COLUMNS = (
    "submission",
    "evaluator",
    "measure",
    "before",
    "after",
    "rank_before",
    "rank_after",
)

LABELS_SHOWN = 10

HERE = "vidscore_cli.commands.benchmark"

FILE = "vidscore_server.commands.benchmark_file"
"""Module that reads and writes the file of a benchmark, by the server's rules."""

SECTIONS = {
    "Benchmarks": {
        "new": Entry(f"{FILE}:new"),
        "create": Entry(f"{FILE}:create"),
        "show": Entry(f"{HERE}:show"),
        "list": Entry(f"{HERE}:list_"),
        "update": Entry(f"{FILE}:update"),
        "delete": Entry(f"{HERE}:delete"),
        "checklist": Entry("vidscore_cli.commands.benchmark_checklist:checklist"),
    },
    "Truth and scores": {
        "truth": Entry(f"{HERE}:truth"),
        "revisions": Entry(f"{HERE}:revisions"),
        "read-truth": Entry("vidscore_cli.commands.read_truth:read_truth"),
        "rescore": Entry(f"{HERE}:rescore"),
        "publish": Entry(f"{HERE}:publish"),
    },
}


@click.group("benchmark", cls=CommandTree, sections=SECTIONS)
def benchmark() -> None:
    """Host benchmarks: create, show and change them, upload truth, score again."""


@command(
    "show",
    examples=("vidscore benchmark show sky", "vidscore benchmark show sky --format toml"),
)
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@format_option("table", "json", "toml")
@output_option()
def show(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """Show a benchmark; as TOML, as a file to create it from."""
    from vidscore_evaluators.formats.manifest import write_document

    with open_client(server) as client:
        found = client.benchmarks.get(benchmark)
    if format_ == "toml":
        check_output(output)
        deliver(write_document(found.definition), output)
    else:
        write_record(_all_about(found, format_), format_, output)
    say_warnings(found.warnings)


@command("list", examples=("vidscore benchmark list",))
@server_options()
@records_options()
def list_(server: ServerChoice, format_: str, output: str) -> None:
    """List the benchmarks of a server."""
    with open_client(server) as client:
        found = client.benchmarks.list()
    write_records(
        [_line_of(entry, format_) for entry in found],
        BENCHMARK_COLUMNS,
        format_,
        output,
        empty="there are no benchmarks",
    )


@command("delete", examples=("vidscore benchmark delete sky --force",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.option("--force", is_flag=True, help="Delete it even if it has submissions.")
@server_options()
def delete(server: ServerChoice, benchmark: str, force: bool) -> None:
    """Delete a benchmark with its truth, submissions and scores."""
    with open_client(server) as client:
        client.benchmarks.delete(benchmark, force=force)
    say(f"{short_names(benchmark)} is deleted")


@command(
    "truth",
    examples=(
        "vidscore benchmark truth sky --truth truth.json",
        "vidscore benchmark truth sky --truth truth.json --incomplete --comment 'first night'",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@truth_option()
@input_format_option()
@image_size_option()
@click.option(
    "--merge",
    is_flag=True,
    help="Keep the frames of the newest revision that are not in the upload.",
)
@click.option(
    "--complete/--incomplete",
    default=True,
    show_default=True,
    help="Whether this is all truth, or submissions must wait for more.",
)
@click.option("--comment", metavar="TEXT", default="", help="Reason, for the audit record.")
@server_options()
def truth(
    server: ServerChoice,
    benchmark: str,
    truth: str,
    input_format: str,
    image_size: tuple[int, int] | None,
    merge: bool,
    complete: bool,
    comment: str,
) -> None:
    """Upload a new revision of the truth, which participants can never read back."""
    from vidscore_evaluators.annotations import Side
    from vidscore_evaluators.formats import read_source

    check_format_name(input_format)
    with ProgressBar() as bar, open_client(server) as client:
        bar.stage("reading")
        format_name = format_for(evaluator_names(client, benchmark), input_format)
        source = read_source(
            data_path(truth), Side.TRUTH, format_name=format_name, image_size=image_size
        )
        show_source_warnings(source, Side.TRUTH)
        bar.stage("uploading")
        revision = client.benchmarks.upload_truth(
            benchmark,
            [to_frames(source.annotations)],
            merge=merge,
            complete=complete,
            comment=comment,
        )
        waiting = revision.submissions_to_rescore
        hosted = client.benchmarks.get(benchmark) if waiting or revision.complete else None
    state = "complete" if revision.complete else "not complete yet"
    say(
        f"revision {revision.revision} of the truth of {short_names(benchmark)}: "
        f"{counted(revision.frame_count, 'frame')}, {state}"
    )
    say(f"uploaded: {_truth_summary(source.annotations)}")
    if hosted is not None and waiting:
        hosted = replace(hosted, submissions_to_rescore=waiting)
        say(what_happens(hosted, f"revision {revision.revision}"))
    if hosted is not None and revision.complete:
        say(f"a team may have {budget_text(hosted)} scored in all")
        if hosted.definition.get("policy", {}).get("visibility") != "live":
            say(f"scores are released to a step of {step_text(hosted)}")
        if hosted.private_sequence_count:
            say(f"private until the benchmark closes: {private_text(hosted)}")
        say_warnings(hosted.warnings)


@command("revisions", examples=("vidscore benchmark revisions sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@records_options()
def revisions(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the revisions of a benchmark's truth, newest first."""
    with open_client(server) as client:
        found = client.benchmarks.truth_revisions(benchmark)
    write_records(
        [asdict(revision) for revision in found],
        REVISION_COLUMNS,
        format_,
        output,
        empty="there is no ground truth yet",
    )


@command("rescore", examples=("vidscore benchmark rescore sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@click.argument("submissions", metavar="[SUBMISSION]...", nargs=-1)
@click.option("--comment", metavar="TEXT", default="", help="Reason, for the audit record.")
@server_options()
@records_options()
def rescore(
    server: ServerChoice,
    benchmark: str,
    submissions: tuple[str, ...],
    comment: str,
    format_: str,
    output: str,
) -> None:
    """Score stored detections again, keep the earlier scores, and list the differences.

    The server does so by itself for a newer truth or other rules; use this command to try once
    more, and to wait. Without a SUBMISSION, it scores all that have a score. After an interruption
    it continues on the server.
    """
    check_output(output)
    with ProgressBar() as bar, open_client(server) as client:
        names = [within(benchmark, submission) for submission in submissions]
        rescoring = client.benchmarks.rescore(benchmark, names, comment=comment)
        bar.stage("scoring")

        breaks = Breaks(bar.say)

        def show_progress(progress: RescoreProgress) -> None:
            breaks.over()
            bar.advance(progress.submissions_done, progress.submissions_in_all)

        differences = rescoring.wait(on_progress=show_progress, retry=breaks.retry())
    lines = [asdict(difference) for difference in differences]
    write_records(lines, DIFFERENCE_COLUMNS, format_, output, empty="no score has changed")


@command(
    "publish",
    examples=("vidscore benchmark publish sky --check", "vidscore benchmark publish sky"),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.option("--check", is_flag=True, help="Only list what would change; do not move the board.")
@server_options()
@records_options()
def publish(server: ServerChoice, benchmark: str, check: bool, format_: str, output: str) -> None:
    """Move a board to its new scores, and list the differences.

    With rescore = "review" in its policy a board moves only by this command.
    """
    check_output(output)
    with open_client(server) as client:
        differences = client.benchmarks.publish_leaderboard(benchmark, validate_only=check)
    if not differences:
        say("no score on the board changes", err=True)
    lines = [asdict(difference) for difference in differences]
    write_records(lines, DIFFERENCE_COLUMNS, format_, output)


def _all_about(found: Benchmark, format_: str) -> Record:
    facts = {
        "name": found.name,
        "create_time": found.create_time,
        "update_time": found.update_time,
        "truth_revision": found.truth_revision,
        "truth_digest": found.truth_digest,
        "truth_complete": found.truth_complete,
    }
    if format_ == "json":
        return {
            **facts,
            "submission_budget": {
                "maximum": found.submission_budget,
                "default": has_default_budget(found),
            },
            "ladder_step_in_force": found.ladder_step_in_force,
            "private_sequence_count": found.private_sequence_count,
            "private_sequences": list(found.private_sequences),
            "warnings": list(found.warnings),
            "quotas": [asdict(quota) for quota in found.quotas],
            "definition": found.definition,
        }
    facts |= {"waits_for": benchmark_waits_for(found), "submissions_left": quotas_left(found)}
    facts["truth_revision"] = _revision(found)
    facts["room_left"] = holdings_left(found)
    definition = dict(found.definition)
    policy = definition.pop("policy", {})
    sequences = definition.pop("sequences", [])
    live = definition.pop("live", None)
    return {
        **facts,
        **definition,
        **({} if live is None else {"live": clock_text(live)}),
        "evaluators": _evaluators(found),
        "domains": ", ".join(domain["name"] for domain in definition.get("domains", [])),
        "sequences": len(sequences) or None,
        **{f"policy.{name}": value for name, value in policy.items()},
        "policy.submissions_in_all": budget_text(found),
        "policy.ladder_step": step_text(found),
        "policy.private_sequences": private_text(found),
    }


def _line_of(found: Benchmark, format_: str) -> Record:
    return {
        "name": found.name,
        "title": found.title,
        "evaluators": _evaluators(found),
        "open_time": found.definition.get("open_time"),
        "close_time": found.definition.get("close_time"),
        "truth_revision": found.truth_revision if format_ == "json" else _revision(found),
    }


def _revision(found: Benchmark) -> int | None:
    """The revision for a table; None if there is none, or only organisers may know it."""
    return found.truth_revision or None


def _evaluators(found: Benchmark) -> str:
    return ", ".join(entry["name"] for entry in found.definition.get("evaluators", []))


def _truth_summary(truth: Annotations) -> str:
    """Objects, labels, sequences and frames in one line."""
    import numpy as np

    counts = np.bincount(truth.label_indices, minlength=len(truth.labels)).tolist()
    labels = [(label, count) for label, count in zip(truth.labels, counts, strict=False) if count]
    labels.sort(key=lambda entry: (-entry[1], entry[0]))
    shown = [f"{label} {count}" for label, count in labels[:LABELS_SHOWN] if label]
    more = [f"{len(labels) - LABELS_SHOWN} more"] if len(labels) > LABELS_SHOWN else []
    named = f" ({', '.join([*shown, *more])})" if shown else ""
    sequences = len(np.unique(truth.frame_sequences))
    parts = [
        f"{counted(truth.object_count, 'object', form=',')}{named}",
        counted(sequences, "sequence", form=","),
        counted(truth.frame_count, "frame", form=","),
    ]
    return ", ".join(parts)
