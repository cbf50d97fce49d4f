"""What `vidscore submission` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from vidscore_cli.failures import NotScoredError
from vidscore_cli.names import short_names
from vidscore_cli.output import check_output, say
from vidscore_cli.records import time_text, write_record, write_records
from vidscore_cli.remote import open_client, to_reports
from vidscore_cli.report_layout import format_number
from vidscore_cli.reporting import Presentation, write_reports
from vidscore_cli.server_choice import ServerChoice
from vidscore_cli.waiting import quotas_left, submission_waits_for
from vidscore_client import (
    Client,
    ConflictError,
    Submission,
    SubmissionScore,
    SubmissionState,
    SubmissionUpdate,
)
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.report import Report, row_block

COLUMNS = ("name", "team", "title", "state", "frame_count", "create_time", "seal_time")


def show(server: ServerChoice, submission: str, format_: str, output: str) -> None:
    """Show a submission."""
    with open_client(server) as client:
        found = client.submissions.get(submission)
    tell_warnings(found)
    record = asdict(found)
    record["changes"] = record.pop("revision")  # of the submission; that of the truth is another
    if format_ == "table":
        streams = [f"{entry.stream} ({entry.next_offset} frames)" for entry in found.streams]
        record = {**record, "streams": ", ".join(streams), "waits_for": submission_waits_for(found)}
        record["warnings"] = len(found.warnings)
        record = {name: value for name, value in record.items() if not name.startswith("due_")}
    write_record(record, format_, output)


def list_all(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the submissions that may be seen."""
    with open_client(server) as client:
        found = client.submissions.list(benchmark)
    write_records(
        [asdict(entry) for entry in found],
        COLUMNS,
        format_,
        output,
        empty="there are no submissions",
    )


def seal(server: ServerChoice, submission: str, expected_frames: int | None) -> None:
    """Seal a submission."""
    with open_client(server) as client:
        sealed = client.submissions.seal(submission, expected_frames)
    say(_summary(sealed))


def cancel(server: ServerChoice, submission: str) -> None:
    """Give a submission up."""
    with open_client(server) as client:
        cancelled = client.submissions.cancel(submission)
    say(_summary(cancelled))


def retry(server: ServerChoice, submission: str) -> None:
    """Have a failed submission scored again."""
    with open_client(server) as client:
        sealed = client.submissions.retry(submission)
    say(_summary(sealed))


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
            say(f"{time_text(last.state_time)}  {', '.join(parts)}")
    if last is not None:
        refuse_unscored(last)


@dataclass(frozen=True)
class Outcome:
    """What became of a submission.

    Attributes:
        submission: The submission.
        scores: Its newest scores, in the order of the benchmark's evaluators.
        ranking: Measures that rank under each evaluator, first one first.
    """

    submission: Submission
    scores: Sequence[SubmissionScore]
    ranking: Mapping[str, Sequence[str]]


def show_scores(server: ServerChoice, submission: str, wanted: Presentation) -> None:
    """Write the newest scores of a submission, one for each evaluator."""
    check_output(wanted.output)
    with open_client(server) as client:
        outcome = look_up(client, client.submissions.get(submission))
    write_outcome(outcome, wanted)


def look_up(client: Client, submission: Submission) -> Outcome:
    """Find out what became of a submission, as far as the policy shows it."""
    benchmark = client.benchmarks.get(submission.benchmark)
    order = [entry["name"] for entry in benchmark.definition["evaluators"]]
    chosen = benchmark.definition.get("policy", {}).get("ranking_measure")
    ranking = {entry.name: entry.ranking for entry in client.evaluators()}
    scores = [score for score in client.submissions.scores(submission.name) if score.current]
    scores.sort(key=lambda score: [name != score.report.evaluator for name in order])
    if chosen:
        ranking = {name: (chosen, *measures) for name, measures in ranking.items()}
    return Outcome(submission, scores, ranking)


def standing(client: Client, submission: Submission) -> list[str]:
    """Where a scored submission stands on the board, and what its team has left."""
    left = quotas_left(client.benchmarks.get(submission.benchmark))
    return [_rank(client, submission), *([f"submissions left: {left}"] if left else [])]


def write_outcome(outcome: Outcome, wanted: Presentation) -> None:
    """Write scores; say on standard error what a reader should know of them."""
    if not outcome.scores:
        say(f"{_summary(outcome.submission)}: no scores are shown", err=True)
    if any(score.partial for score in outcome.scores):
        say("the truth was not complete: frames without truth are left out", err=True)
    if outcome.scores:
        reports = to_reports(score.report for score in outcome.scores)
        if wanted.format == "table":
            reports = [_ranking_first(report, outcome.ranking) for report in reports]
        write_reports(reports, wanted)


def _ranking_first(report: Report, ranking: Mapping[str, Sequence[str]]) -> Report:
    """A report with the measures that rank before the others."""
    names = list(ranking.get(report.evaluator, ()))
    ranks = {name: names.index(name) for name in names}
    rows = sorted(report.rows(), key=lambda row: ranks.get(row.measure, len(names)))
    return replace(report, scores=replace(report.scores, blocks=tuple(map(row_block, rows))))


def _rank(client: Client, submission: Submission) -> str:
    """Where a submission stands on the board, if the board is shown."""
    name = short_names(submission.name)
    try:
        board = client.benchmarks.leaderboard(submission.benchmark)
    except ConflictError:
        return f"{name} is scored; the board is not public"
    ranked = [row for row in board.rows if row.rank]
    for row in ranked:
        if row.submission == submission.name:
            return f"{name} has rank {row.rank} of {len(ranked)} on the board"
    for row in ranked:
        if row.team == submission.team:
            stands = short_names(row.submission)
            return f"{name} is scored; {stands} stands for its team, at rank {row.rank}"
    return f"{name} is scored; it is not on the board"


def tell_warnings(submission: Submission, told: Sequence[str] = ()) -> None:
    """Say on standard error what is doubtful about a submission.

    Args:
        submission: The submission.
        told: What was said before.
    """
    for text in submission.warnings:
        if text not in told:
            say(f"Warning: {escape_controls(text)}", err=True)


def refuse_unscored(submission: Submission) -> None:
    """Make a submission that ended without a score an error.

    Raises:
        NotScoredError: If it did.
    """
    if submission.state in {SubmissionState.FAILED, SubmissionState.CANCELLED}:
        raise NotScoredError(_summary(submission))


def _summary(submission: Submission) -> str:
    why = escape_controls(submission.state_message) or submission.state_reason.replace("_", " ")
    reason = f" ({why})" if why and why != submission.state else ""
    state = submission.state.replace("_", " ")
    return f"{short_names(submission.name)} is {state}{reason}, {submission.frame_count} frames"


def _ranking_scores(update: SubmissionUpdate, ranking: dict[str, tuple[str, ...]]) -> list[str]:
    """The scores over everything by which systems are ranked, as far as they are shown."""
    return [
        f"{score.report.evaluator} {row.measure} {format_number(row.value)}"
        for score in update.scores
        for row in score.report.rows()
        if row[:3] == (None, None, None) and row.measure in ranking.get(score.report.evaluator, ())
    ]
