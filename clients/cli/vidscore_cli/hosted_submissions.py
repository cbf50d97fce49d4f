"""What `vidscore submission` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

import click

from vidscore_cli.failures import NotScoredError
from vidscore_cli.output import check_output
from vidscore_cli.records import Record, time_text, write_record, write_records
from vidscore_cli.remote import open_client, to_reports
from vidscore_cli.report_layout import format_number
from vidscore_cli.reporting import Presentation, write_reports
from vidscore_cli.server_choice import ServerChoice
from vidscore_client import (
    Submission,
    SubmissionScore,
    SubmissionState,
    SubmissionUpdate,
)

COLUMNS = ("name", "team", "title", "state", "frame_count", "create_time", "seal_time")


def show(server: ServerChoice, submission: str, format_: str, output: str) -> None:
    """Show a submission."""
    with open_client(server) as client:
        found = client.submissions.get(submission)
    tell_warnings(found)
    record: Record = asdict(found)
    if format_ == "table":
        streams = [f"{entry.stream} ({entry.next_offset} frames)" for entry in found.streams]
        record = {**record, "streams": ", ".join(streams), "warnings": len(found.warnings)}
    write_record(record, format_, output)


def list_all(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the submissions that may be seen."""
    with open_client(server) as client:
        found = client.submissions.list(benchmark)
    write_records([asdict(entry) for entry in found], COLUMNS, format_, output)


def seal(server: ServerChoice, submission: str, expected_frames: int | None) -> None:
    """Seal a submission."""
    with open_client(server) as client:
        sealed = client.submissions.seal(submission, expected_frames)
    click.echo(_summary(sealed))


def cancel(server: ServerChoice, submission: str) -> None:
    """Give a submission up."""
    with open_client(server) as client:
        cancelled = client.submissions.cancel(submission)
    click.echo(_summary(cancelled))


def watch(server: ServerChoice, submission: str) -> None:
    """Write a line for every change of a submission, until it has ended.

    Raises:
        NotScoredError: If it fails or is cancelled.
    """
    last = None
    with open_client(server) as client:
        ranking = {entry.name: entry.ranking for entry in client.evaluators()}
        for update in client.submissions.watch(submission):
            last = update.submission
            parts = [_summary(last), *_ranking_scores(update, ranking)]
            click.echo(f"{time_text(last.state_time)}  {', '.join(parts)}")
    if last is not None:
        refuse_unscored(last)


def show_scores(server: ServerChoice, submission: str, wanted: Presentation) -> None:
    """Write the newest scores of a submission, one for each evaluator."""
    check_output(wanted.output)
    with open_client(server) as client:
        found = client.submissions.get(submission)
        scores = client.submissions.scores(submission)
    write_scores(found, scores, wanted)


def write_scores(
    submission: Submission, scores: Sequence[SubmissionScore], wanted: Presentation
) -> None:
    """Write the newest scores; say on standard error what a reader should know of them."""
    current = [score for score in scores if score.current]
    if not current:
        click.echo(f"{_summary(submission)}: no scores are shown", err=True)
        return
    if any(score.partial for score in current):
        click.echo("the truth was not complete: frames without truth are left out", err=True)
    write_reports(to_reports(score.report for score in current), wanted)


def tell_warnings(submission: Submission, told: Sequence[str] = ()) -> None:
    """Say on standard error what is doubtful about a submission.

    Args:
        submission: The submission.
        told: What was said before.
    """
    for text in submission.warnings:
        if text not in told:
            click.echo(f"Warning: {text}", err=True)


def refuse_unscored(submission: Submission) -> None:
    """Make a submission that ended without a score an error.

    Raises:
        NotScoredError: If it did.
    """
    if submission.state in {SubmissionState.FAILED, SubmissionState.CANCELLED}:
        raise NotScoredError(_summary(submission))


def _summary(submission: Submission) -> str:
    why = submission.state_message or submission.state_reason.replace("_", " ")
    reason = f" ({why})" if why and why != submission.state else ""
    state = submission.state.replace("_", " ")
    return f"{submission.name} is {state}{reason}, {submission.frame_count} frames"


def _ranking_scores(update: SubmissionUpdate, ranking: dict[str, tuple[str, ...]]) -> list[str]:
    """The scores over everything by which systems are ranked, as far as they are shown."""
    return [
        f"{score.report.evaluator} {row.measure} {format_number(row.value)}"
        for score in update.scores
        for row in score.report.rows()
        if row[:3] == (None, None, None) and row.measure in ranking.get(score.report.evaluator, ())
    ]
