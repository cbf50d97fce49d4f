"""`vidscore submission`: follow, seal, retry and cancel submissions."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial

import click

from vidscore_cli.command_tree import CommandTree, Entry, command
from vidscore_cli.completions import complete_evaluator
from vidscore_cli.hosted import (
    described_evaluators,
    look_up,
    online_of,
    online_text,
    refuse_unscored,
    say_warnings,
    submission_waits_for,
    summary,
    with_other_reports,
    write_outcome,
)
from vidscore_cli.live import ranking_scores
from vidscore_cli.options import (
    format_option,
    operating_point_options,
    output_option,
    records_options,
    server_options,
    view_options,
)
from vidscore_cli.outcome_output import check_outcome_output, open_outcomes
from vidscore_cli.output import SECRET_MODE, check_output, say
from vidscore_cli.records import short_names, time_text, write_record, write_records
from vidscore_cli.remote import open_client, to_outcomes, to_reports
from vidscore_cli.reporting import Presentation, View
from vidscore_cli.session import ExitCode
from vidscore_cli.sites import ServerChoice
from vidscore_cli.waiting import Breaks
from vidscore_cli.windows import alarm_of, alert_options
from vidscore_evaluators.names import counted

COLUMNS = ("name", "team", "title", "state", "frame_count", "create_time", "seal_time")

HERE = "vidscore_cli.commands.submission"

SECTIONS = {
    "Submissions": {
        "list": Entry(f"{HERE}:list_"),
        "show": Entry(f"{HERE}:show"),
        "scores": Entry(f"{HERE}:scores"),
        "outcomes": Entry(f"{HERE}:outcomes"),
        "watch": Entry(f"{HERE}:watch"),
        "seal": Entry(f"{HERE}:seal"),
        "cancel": Entry(f"{HERE}:cancel"),
        "retry": Entry(f"{HERE}:retry"),
        "choose": Entry(f"{HERE}:choose"),
        "disqualify": Entry(f"{HERE}:disqualify"),
        "reinstate": Entry(f"{HERE}:reinstate"),
    },
}


@click.group("submission", cls=CommandTree, sections=SECTIONS)
def submission() -> None:
    """Follow, seal, retry, choose and cancel submissions; SUBMISSION is BENCHMARK/NAME."""


@command("list", examples=("vidscore submission list sky",))
@click.argument("benchmark", metavar="BENCHMARK")
@server_options()
@records_options()
def list_(server: ServerChoice, benchmark: str, format_: str, output: str) -> None:
    """List the submissions that you may see, newest first."""
    with open_client(server) as client:
        found = client.submissions.list(benchmark)
    write_records(
        [asdict(entry) for entry in found],
        COLUMNS,
        format_,
        output,
        empty="there are no submissions",
    )


@command("show", examples=("vidscore submission show sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
@format_option("table", "json")
@output_option()
def show(server: ServerChoice, submission: str, format_: str, output: str) -> None:
    """Show the state of a submission, and the reason."""
    with open_client(server) as client:
        found = client.submissions.get(submission)
        online = online_of(client, found)
    say_warnings(found.warnings)
    record = {**asdict(found), "online": None if online is None else asdict(online)}
    record["changes"] = record.pop("revision")  # the submission's; the truth has another revision
    if format_ == "table":
        streams = ", ".join(
            f"{entry.stream} ({counted(entry.next_offset, 'frame')})" for entry in found.streams
        )
        record = {**record, "streams": streams, "waits_for": submission_waits_for(found)}
        record["warnings"] = len(found.warnings)
        record["online"] = None if online is None else online_text(online)
        left_out = {"due_time", "due_reason", *([] if online else ["online"])}
        record = {name: value for name, value in record.items() if name not in left_out}
    write_record(record, format_, output)


@command("scores", examples=("vidscore submission scores sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@click.option(
    "--private", is_flag=True, help="Show the scores over the benchmark's private sequences."
)
@click.option("--online", is_flag=True, help="Show the streaming accuracy of a live submission.")
@server_options()
@format_option("table", "json", "csv")
@output_option()
@view_options()
def scores(
    server: ServerChoice,
    submission: str,
    private: bool,
    online: bool,
    format_: str,
    output: str,
    sequences: bool,
    curves: bool,
) -> None:
    """Show a submission's newest scores, as far as the benchmark's policy releases them.

    If there are private sequences, the scores cover the others, and for organisers everything.
    """
    check_output(output)
    if private and online:
        raise click.UsageError("--private and --online exclude each other")
    with open_client(server) as client:
        outcome = look_up(client, client.submissions.get(submission))
    if private:
        outcome = with_other_reports(outcome, "private_report")
    if online:
        outcome = with_other_reports(outcome, "streaming_report")
    view = View(sequences=sequences, curves=curves)
    write_outcome(outcome, Presentation(format_, output, view))


@command(
    "outcomes",
    examples=(
        "vidscore submission outcomes sky/falcon",
        "vidscore submission outcomes sky/falcon --evaluator spotgeo",
    ),
)
@click.argument("submission", metavar="SUBMISSION")
@click.option(
    "--evaluator",
    metavar="EVALUATOR",
    default="",
    help="An evaluator of the benchmark. [default: its first]",
    shell_complete=complete_evaluator,
)
@operating_point_options("organisers only")
@server_options()
@output_option("Its suffix chooses the format: .csv, .parquet or .json.")
def outcomes(
    server: ServerChoice,
    submission: str,
    evaluator: str,
    at_threshold: float | None,
    at_confidence: float | None,
    output: str,
) -> None:
    """List the outcome of each object and detection of a scored submission, one row each.

    Organisers see everything. Participants see their own detections, each as a true_positive, a
    false_positive or ignored, if the benchmark's policy allows it; the first time for each score
    counts as one more submission. Without --output the rows are written to standard output as CSV;
    a file may contain hidden truth, so only you can read it.
    """
    check_outcome_output(output)
    retry = Breaks(partial(say, err=True)).retry()
    with open_client(server) as client, open_outcomes(output, SECRET_MODE) as writer:
        name = client.submissions.get(submission).name  # fails at once if no server answers
        for part in client.submissions.outcomes(
            name, evaluator, threshold=at_threshold, confidence=at_confidence, retry=retry
        ):
            writer.write(to_outcomes(part), part.evaluator)


@command(
    "watch",
    examples=(
        "vidscore submission watch sky/falcon",
        "vidscore submission watch sky/falcon --baseline last.json --alert f1=0.05",
    ),
)
@click.argument("submission", metavar="SUBMISSION")
@click.option(
    "--window",
    metavar="FRAMES",
    type=click.IntRange(1, 10_000),
    help="Score the last frames of each stream, too, and judge alerts by them. Organisers only.",
)
@alert_options()
@server_options()
def watch(
    server: ServerChoice,
    submission: str,
    window: int | None,
    baseline: str | None,
    alert: tuple[str, ...],
    alert_url: str | None,
) -> int:
    """Write a line for every change of a submission, until it ends.

    The exit code is 5 if it fails or is cancelled, and 6 if a shown score has dropped below the
    baseline by more than an --alert allows.
    """
    last, told, breaks = None, "", Breaks(partial(say, err=True))
    with open_client(server) as client:
        watched = client.submissions.get(submission)
        described = described_evaluators(client, client.benchmarks.get(watched.benchmark))
        ranking = {entry.name: entry.ranking for entry in described}
        with alarm_of(alert, baseline, alert_url, described) as alarm:
            for update in client.submissions.watch(
                submission, window_frames=window or 0, retry=breaks.retry()
            ):
                breaks.over()
                last = update.submission
                reports = to_reports(score.report for score in update.scores)
                parts = [summary(last), *ranking_scores(reports, ranking)]
                over = f"the last {counted(update.window_frame_count, 'frame')}"
                if update.window_reports:
                    reports = to_reports(update.window_reports)
                    parts += [over, *ranking_scores(reports, ranking)]
                line = f"{time_text(last.state_time)}  {', '.join(parts)}"
                if line != told:  # each call begins with the present scores
                    say(line)
                told = line
                if window is None or update.window_reports:
                    alarm.judge(reports, over if window else "what is shown")
    if last is not None:
        refuse_unscored(last)
    return ExitCode.THRESHOLD if alarm.rang else ExitCode.OK


@command("seal", examples=("vidscore submission seal sky/falcon --expected-frames 5",))
@click.argument("submission", metavar="SUBMISSION")
@click.option(
    "--expected-frames",
    metavar="COUNT",
    type=click.IntRange(0, 1_000_000_000),
    help="Seal only if exactly this many frames are durable, in all streams together.",
)
@server_options()
def seal(server: ServerChoice, submission: str, expected_frames: int | None) -> None:
    """Accept no more frames, and have the submission scored."""
    with open_client(server) as client:
        retry = Breaks(partial(say, err=True)).retry()
        sealed = client.submissions.seal(submission, expected_frames, retry=retry)
    say(summary(sealed))


@command("cancel", examples=("vidscore submission cancel sky/mole",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
def cancel(server: ServerChoice, submission: str) -> None:
    """Cancel a submission."""
    with open_client(server) as client:
        cancelled = client.submissions.cancel(submission)
    say(summary(cancelled))


@command("retry", examples=("vidscore submission retry sky/falcon",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
def retry(server: ServerChoice, submission: str) -> None:
    """Have a failed submission scored again, without using the quota again."""
    with open_client(server) as client:
        sealed = client.submissions.retry(submission)
    say(summary(sealed))


@command(
    "disqualify",
    examples=("vidscore submission disqualify sky/mole --reason 'trained on the test videos'",),
)
@click.argument("submission", metavar="SUBMISSION")
@click.option(
    "--reason",
    metavar="TEXT",
    required=True,
    help="Reason, for everybody who sees the leaderboard.",
)
@server_options()
def disqualify(server: ServerChoice, submission: str, reason: str) -> None:
    """Remove a submission from the ranking; reinstate undoes it. For organisers."""
    with open_client(server) as client:
        found = client.submissions.disqualify(submission, reason)
    say(f"{short_names(found.name)} is disqualified")


@command("reinstate", examples=("vidscore submission reinstate sky/mole",))
@click.argument("submission", metavar="SUBMISSION")
@server_options()
def reinstate(server: ServerChoice, submission: str) -> None:
    """Undo a disqualification. For organisers."""
    with open_client(server) as client:
        found = client.submissions.reinstate(submission)
    say(f"{short_names(found.name)} may be ranked again")


@command(
    "choose",
    examples=(
        "vidscore submission choose sky/falcon",
        "vidscore submission choose sky/falcon --undo",
    ),
)
@click.argument("submission", metavar="SUBMISSION")
@click.option("--undo", is_flag=True, help="Undo the choice.")
@server_options()
def choose(server: ServerChoice, submission: str, undo: bool) -> None:
    """Choose a submission for the final order of a benchmark with private sequences.

    Until the benchmark closes, a team may choose as many as the benchmark's policy says
    (final_submissions); if it chooses none, its best by the public sequences count.
    """
    with open_client(server) as client:
        found = client.submissions.choose(submission, undo=undo)
    counts = "counts for the final order" if found.chosen else "is not chosen any more"
    say(f"{short_names(found.name)} {counts}")
