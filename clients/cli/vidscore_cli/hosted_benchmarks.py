"""What `vidscore benchmark` and `vidscore leaderboard` do."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from vidscore_cli.inputs import check_format_name
from vidscore_cli.names import short_names, within
from vidscore_cli.output import check_output, deliver, say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import Record, write_record, write_records
from vidscore_cli.remote import open_client, to_frames
from vidscore_cli.report_layout import UNDEFINED
from vidscore_cli.server_choice import ServerChoice
from vidscore_cli.truth_files import summary_of
from vidscore_cli.waiting import (
    benchmark_waits_for,
    budget_text,
    has_default_budget,
    holdings_left,
    quotas_left,
)
from vidscore_cli.warning_lines import show_source_warnings
from vidscore_client import Benchmark, Leaderboard, RescoreProgress
from vidscore_evaluators.errors import SpecificationError
from vidscore_evaluators.evaluator import Side
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.manifest import read_document, write_document
from vidscore_evaluators.names import escape_controls
from vidscore_server.domain.definition import definition_from_dict

_EVALUATOR_NAME = re.compile(r"evaluators\[\d+\]\.name")

BENCHMARK_COLUMNS = ("name", "title", "evaluators", "open_time", "close_time", "truth_revision")
BASIS_COLUMNS = ("truth_revision", "evaluator_version", "apart")
REVISION_COLUMNS = ("revision", "create_time", "frame_count", "complete", "digest", "comment")
DIFFERENCE_COLUMNS = (
    "submission",
    "evaluator",
    "measure",
    "before",
    "after",
    "rank_before",
    "rank_after",
)


@dataclass(frozen=True)
class TruthUpload:
    """What is typed after `vidscore benchmark truth`; the names are those of the options."""

    server: ServerChoice
    benchmark: str
    truth: str
    input_format: str
    merge: bool
    complete: bool
    comment: str


@dataclass(frozen=True)
class Rescore:
    """What is typed after `vidscore benchmark rescore`; the names are those of the options."""

    server: ServerChoice
    benchmark: str
    submissions: tuple[str, ...]
    comment: str
    format_: str
    output: str


@dataclass(frozen=True)
class Publishing:
    """What is typed after `vidscore benchmark publish`; the names are those of the options."""

    server: ServerChoice
    benchmark: str
    check: bool
    format_: str
    output: str


@dataclass(frozen=True)
class BoardQuery:
    """What is typed after `vidscore leaderboard`; the names are those of the options."""

    server: ServerChoice
    benchmark: str
    evaluator: str
    domain: str | None
    class_: str | None
    format_: str
    output: str


def create(server: ServerChoice, benchmark: str, file: str) -> None:
    """Create a benchmark from a TOML file."""
    definition = _read_definition(file)
    with open_client(server) as client:
        created = client.benchmarks.create(benchmark, definition)
    say(f"{created.name} is hosted; upload its truth with vidscore benchmark truth")
    _warn(created)


def update(server: ServerChoice, benchmark: str, file: str) -> None:
    """Make a benchmark what a TOML file says."""
    definition = _read_definition(file)
    with open_client(server) as client:
        changed = client.benchmarks.update(benchmark, definition, replace=True)
    say(f"{changed.name} is changed")
    if changed.submissions_to_rescore:
        say(_what_happens(changed, "the new rules"))
    _warn(changed)


def show(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """Show a benchmark; as TOML it can be created from what is shown."""
    with open_client(server) as client:
        found = client.benchmarks.get(benchmark)
    if format_ == "toml":
        check_output(output)
        deliver(write_document(found.definition), output)
    else:
        write_record(_all_about(found, format_), format_, output)
    _warn(found)


def list_all(server: ServerChoice, format_: str, output: str) -> None:
    """List the benchmarks."""
    with open_client(server) as client:
        found = client.benchmarks.list()
    write_records(
        [_line_of(entry) for entry in found],
        BENCHMARK_COLUMNS,
        format_,
        output,
        empty="there are no benchmarks",
    )


def delete(server: ServerChoice, benchmark: str, *, force: bool) -> None:
    """Delete a benchmark."""
    with open_client(server) as client:
        client.benchmarks.delete(benchmark, force=force)
    say(f"{short_names(benchmark)} is deleted")


def upload_truth(typed: TruthUpload) -> None:
    """Upload a file or folder as a new revision of the truth."""
    check_format_name(typed.input_format)
    with ProgressBar() as bar, open_client(typed.server) as client:
        bar.stage("reading")
        source = read_source(Path(typed.truth), Side.TRUTH, format_name=typed.input_format)
        show_source_warnings(source, Side.TRUTH)
        bar.stage("uploading")
        revision = client.benchmarks.upload_truth(
            typed.benchmark,
            [to_frames(source.annotations)],
            merge=typed.merge,
            complete=typed.complete,
            comment=typed.comment,
        )
        waiting = revision.submissions_to_rescore
        hosted = client.benchmarks.get(typed.benchmark) if waiting or revision.complete else None
    complete = "complete" if revision.complete else "not complete yet"
    say(
        f"revision {revision.revision} of the truth of {short_names(typed.benchmark)}: "
        f"{revision.frame_count} frames, {complete}"
    )
    say(f"uploaded: {summary_of(source.annotations)}")
    if hosted is not None and waiting:
        hosted = replace(hosted, submissions_to_rescore=waiting)
        say(_what_happens(hosted, f"revision {revision.revision}"))
    if hosted is not None and revision.complete:
        say(f"a team may have {budget_text(hosted)} scored in all")
        _warn(hosted)


def show_revisions(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the revisions of a benchmark's truth."""
    with open_client(server) as client:
        found = client.benchmarks.truth_revisions(benchmark)
    write_records(
        [asdict(revision) for revision in found],
        REVISION_COLUMNS,
        format_,
        output,
        empty="there is no ground truth yet",
    )


def rescore(typed: Rescore) -> None:
    """Score stored detections again, wait, and list what that changed."""
    check_output(typed.output)
    with ProgressBar() as bar, open_client(typed.server) as client:
        names = [within(typed.benchmark, submission) for submission in typed.submissions]
        rescoring = client.benchmarks.rescore(typed.benchmark, names, comment=typed.comment)
        bar.stage("scoring")

        def show_progress(progress: RescoreProgress) -> None:
            bar.advance(progress.submissions_done, progress.submissions_in_all)

        differences = rescoring.wait(on_progress=show_progress)
    lines = [asdict(difference) for difference in differences]
    write_records(
        lines, DIFFERENCE_COLUMNS, typed.format_, typed.output, empty="no score has changed"
    )


def publish(wanted: Publishing) -> None:
    """Move a board to the scores that wait for it, or only list what that would change."""
    check_output(wanted.output)
    with open_client(wanted.server) as client:
        differences = client.benchmarks.publish_leaderboard(
            wanted.benchmark, validate_only=wanted.check
        )
    if not differences:
        say("no score on the board changes", err=True)
    lines = [asdict(difference) for difference in differences]
    write_records(lines, DIFFERENCE_COLUMNS, wanted.format_, wanted.output)


def show_board(typed: BoardQuery) -> None:
    """Show the submissions in rank order."""
    with open_client(typed.server) as client:
        board = client.benchmarks.leaderboard(
            typed.benchmark, evaluator=typed.evaluator, domain=typed.domain, class_=typed.class_
        )
    measures = tuple(dict.fromkeys([*board.ranking, *_measures(row.scores for row in board.rows)]))
    basis = BASIS_COLUMNS[:1] if typed.format_ == "table" else BASIS_COLUMNS
    columns = ("rank", "team", "title", *measures, *basis, "seal_time", "submission")
    missing = UNDEFINED if typed.format_ == "table" else None
    records: list[Record] = [
        {
            **asdict(row),
            "rank": missing if row.apart else row.rank,
            **{name: _shown(row.scores.get(name), missing) for name in measures},
        }
        for row in board.rows
    ]
    write_records(records, columns, typed.format_, typed.output, empty="the board is empty")
    for line in _about_board(board):
        say(line, err=True)


def _about_board(board: Leaderboard) -> Iterator[str]:
    """What a reader should know of a board beside its rows."""
    apart = sum(row.apart for row in board.rows)
    if apart:
        yield (
            f"{_counted(apart, 'row')} without a rank: could not be scored again under revision "
            f"{board.truth_revision} of the truth and the present rules"
        )
    if board.submissions_to_rescore:
        yield f"{_counted(board.submissions_to_rescore, 'submission')} still to be scored again"
    if board.publishable:
        yield "the board can be moved: vidscore benchmark publish"
    if board.newest_truth_revision > board.truth_revision > 0:
        yield (
            f"the board shows revision {board.truth_revision} of the truth until it moves to "
            f"revision {board.newest_truth_revision}"
        )


def _warn(benchmark: Benchmark) -> None:
    """Tell on standard error what the policy gives away."""
    for text in benchmark.warnings:
        say(f"Warning: {escape_controls(text)}", err=True)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _what_happens(benchmark: Benchmark, to: str) -> str:
    """What becomes of the board of a benchmark whose truth or rules have changed."""
    waiting = _counted(benchmark.submissions_to_rescore, "scored submission")
    if benchmark.definition.get("policy", {}).get("rescore") == "review":
        name = short_names(benchmark.name)
        moves = f"vidscore benchmark publish {name} then shows what changes"
    else:
        moves = "the board moves when that is done"
    return f"{waiting} will be scored again under {to}; {moves}"


def _read_definition(file: str) -> dict[str, Any]:
    """A benchmark's file, in which nothing is wrong as far as this side knows.

    An evaluator that is not installed here may be a plug-in of the server, which then judges.

    Raises:
        SpecificationError: With every fault of the file.
    """
    document = read_document(Path(file))
    try:
        definition_from_dict(document, source=file)
    except SpecificationError as error:
        if not all(_EVALUATOR_NAME.fullmatch(fault.field or "") for fault in error.faults):
            raise
    return document


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
            "warnings": list(found.warnings),
            "quotas": [asdict(quota) for quota in found.quotas],
            "definition": found.definition,
        }
    facts |= {"waits_for": benchmark_waits_for(found), "submissions_left": quotas_left(found)}
    facts["room_left"] = holdings_left(found)
    definition = dict(found.definition)
    policy = definition.pop("policy", {})
    sequences = definition.pop("sequences", [])
    return {
        **facts,
        **definition,
        "evaluators": _evaluators(found),
        "domains": ", ".join(domain["name"] for domain in definition.get("domains", [])),
        "sequences": len(sequences),
        **{f"policy.{name}": value for name, value in policy.items()},
        "policy.submissions_in_all": budget_text(found),
    }


def _line_of(found: Benchmark) -> Record:
    return {
        "name": found.name,
        "title": found.title,
        "evaluators": _evaluators(found),
        "open_time": found.definition.get("open_time"),
        "close_time": found.definition.get("close_time"),
        "truth_revision": found.truth_revision,
    }


def _evaluators(found: Benchmark) -> str:
    return ", ".join(entry["name"] for entry in found.definition.get("evaluators", []))


def _measures(scores: Any) -> Sequence[str]:
    return [name for row in scores for name in row]


def _shown(value: float | None, missing: str | None) -> float | str | None:
    return missing if value is None else value
