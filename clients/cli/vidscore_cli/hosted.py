"""Benchmarks and submissions of a server as sentences and reports for people."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from vidscore_cli.failures import NotScoredError
from vidscore_cli.output import say
from vidscore_cli.records import short_names, time_text
from vidscore_cli.remote import to_reports
from vidscore_cli.reporting import Presentation, write_reports
from vidscore_cli.waiting import Breaks
from vidscore_evaluators.names import counted, escape_controls

if TYPE_CHECKING:
    from vidscore_cli.progress import ProgressBar
    from vidscore_client import (
        Benchmark,
        Client,
        EvaluatorDescription,
        LeaderboardRow,
        OnlineRecord,
        Quota,
        Submission,
        SubmissionScore,
        SubmissionUpdate,
    )
    from vidscore_evaluators.report import Report

_WAITS: dict[str, str] = {
    "draft_deleted": "its first frames; without any it is deleted at {time}",
    "sealed_when_quiet": "more frames, or its seal; it is sealed at {time} if nothing comes",
    "cancelled_when_quiet": "more frames, or its seal; it is cancelled at {time} if nothing comes",
    "sealed_at_closing": "more frames, or its seal; it is sealed when the benchmark closes, {time}",
    "cancelled_at_closing": (
        "more frames, or its seal; it is cancelled when the benchmark closes, {time}"
    ),
    "scored_without_all_truth": (
        "ground truth, which is not complete; at {time} it is scored with the truth so far"
    ),
    "truth_never_came": "ground truth, of which there is none yet; without it, it fails at {time}",
}
"""What a submission waits for, by the event at the end of the wait."""

FROM_TRUTH = -1
"""Value of `submissions_in_all` if the ground truth determines it."""

_SPANS = {"submissions_per_day": "today", "submissions_in_all": "in all"}

_HELD = {
    "maximum_team_open_submissions": "open at a time",
    "maximum_team_mebibytes": "MiB of detections",
}
"""Quotas that do not count submissions, with their units."""

ORGANISERS_TEAM = "organiser"
"""Team of submissions that organisers make."""

_BY_STEPS = {"ladder", "bootstrap"}
"""Policies under which a score is released only if it is better by a step."""

_SHOWN_AGAIN = "; its own score is not better by a step, so the one released last is shown again"


class Outcome(Struct, frozen=True):
    """Outcome of a submission.

    Attributes:
        submission: The submission.
        scores: The newest scores, in the order of the benchmark's evaluators.
        ranking: Measures that rank under each evaluator, first one first.
    """

    submission: Submission
    scores: Sequence[SubmissionScore]
    ranking: Mapping[str, Sequence[str]]


def submission_waits_for(submission: Submission) -> str:
    """What a submission waits for, and what happens at its deadline; empty if it does not wait."""
    sentence = _WAITS.get(submission.due_reason)
    if sentence is None or submission.due_time is None:
        return ""
    return sentence.format(time=time_text(submission.due_time))


def benchmark_waits_for(benchmark: Benchmark) -> str:
    """What the submissions of a benchmark wait for; empty if they are scored at once."""
    if benchmark.truth_complete:
        return ""
    policy = benchmark.definition.get("policy", {})
    limit = timedelta(seconds=float(policy.get("truth_timeout_s", 0)))
    return f"complete ground truth; a sealed submission waits for it for at most {limit}"


def budget_text(benchmark: Benchmark) -> str:
    """Total number of submissions that a team may have, and whether that is the default."""
    if not benchmark.submission_budget:
        return "any number of submissions"
    text = counted(benchmark.submission_budget, "submission")
    if not has_default_budget(benchmark):
        return text
    until = "" if benchmark.truth_complete else " until the ground truth is complete"
    return f"{text} (default{until})"


def step_text(benchmark: Benchmark) -> str:
    """The step to which scores are released, and whether that is the default."""
    step = f"{benchmark.ladder_step_in_force:g}"
    if benchmark.definition.get("policy", {}).get("ladder_step"):
        return step
    until = "" if benchmark.truth_complete else " until the ground truth is complete"
    return f"{step} (default{until})"


def private_text(benchmark: Benchmark) -> str:
    """Private sequences: their number and, if visible, their names."""
    names = ", ".join(benchmark.private_sequences)
    count = benchmark.private_sequence_count
    if not count:
        share = benchmark.definition.get("policy", {}).get("private_sequences")
        return f"{share:g} of them, drawn once the ground truth is complete" if share else ""
    return f"{count}: {names}" if names else str(count)


def has_default_budget(benchmark: Benchmark) -> bool:
    """Whether the total number of submissions of a team follows from the truth."""
    policy = benchmark.definition.get("policy", {})
    return bool(policy.get("submissions_in_all") == FROM_TRUTH)


def quotas_left(benchmark: Benchmark) -> str:
    """Number of submissions that a team has left; empty if there is no limit."""
    return ", ".join(_left(quota) for quota in benchmark.quotas if quota.name not in _HELD)


def holdings_left(benchmark: Benchmark) -> str:
    """How much more a team may store at a time; empty for callers without a team."""
    return ", ".join(_left(quota) for quota in benchmark.quotas if quota.name in _HELD)


def _left(quota: Quota) -> str:
    span = {**_SPANS, **_HELD}.get(quota.name, quota.name)
    until = f" (until {time_text(quota.renew_time)})" if quota.renew_time else ""
    return f"{quota.left} of {quota.maximum} {span}{until}"


def say_warnings(texts: Sequence[str], told: Sequence[str] = ()) -> None:
    """Write a server's warnings to standard error.

    Args:
        texts: The warnings of a benchmark or submission.
        told: Those that were written before.
    """
    for text in texts:
        if text not in told:
            say(f"Warning: {escape_controls(text)}", err=True)


def what_happens(benchmark: Benchmark, to: str) -> str:
    """What happens to the leaderboard after a change of the truth or the rules."""
    waiting = counted(benchmark.submissions_to_rescore, "scored submission")
    if benchmark.definition.get("policy", {}).get("rescore") == "review":
        name = short_names(benchmark.name)
        moves = f"vidscore benchmark publish {name} then shows what changes"
    else:
        moves = "the board moves when that is done"
    return f"{waiting} will be scored again under {to}; {moves}"


def wait_for_score(client: Client, submission: Submission, bar: ProgressBar) -> Submission:
    """Wait for the end of a submission; say once what it waits for.

    Raises:
        NotScoredError: If it fails or is cancelled.
    """
    from vidscore_client import SubmissionState

    bar.stage("waiting")
    said: set[str] = set()
    breaks = Breaks(bar.say)

    def show(update: SubmissionUpdate) -> None:
        breaks.over()
        present = update.submission
        bar.stage(present.state.replace("_", " "))
        waits_for = submission_waits_for(present)
        if present.state is SubmissionState.WAITING_FOR_TRUTH and waits_for not in said:
            said.add(waits_for)
            bar.say(f"{short_names(present.name)} waits for {waits_for}")

    ended = client.submissions.wait(submission.name, on_change=show, retry=breaks.retry())
    refuse_unscored(ended)
    return ended


def look_up(client: Client, submission: Submission) -> Outcome:
    """Look up the outcome of a submission, as far as the policy shows it."""
    benchmark = client.benchmarks.get(submission.benchmark)
    chosen = benchmark.definition.get("policy", {}).get("ranking_measure")
    ranking = {entry.name: entry.ranking for entry in described_evaluators(client, benchmark)}
    order = list(ranking)
    scores = [score for score in client.submissions.scores(submission.name) if score.current]
    scores.sort(key=lambda score: [name != score.report.evaluator for name in order])
    if chosen:
        ranking = {name: (chosen, *measures) for name, measures in ranking.items()}
    return Outcome(submission, scores, ranking)


def described_evaluators(client: Client, benchmark: Benchmark) -> list[EvaluatorDescription]:
    """The evaluators of a benchmark in its order, as the server describes them."""
    described = {entry.name: entry for entry in client.evaluators()}
    named = [entry["name"] for entry in benchmark.definition["evaluators"]]
    order = named if described.keys() >= set(named) else _expanded(client, named)
    return [described[name] for name in order if name in described]


def with_other_reports(outcome: Outcome, name: str) -> Outcome:
    """The scores with other reports, as far as they are shown.

    Args:
        outcome: The outcome.
        name: Field of a score with the other report, such as ``private_report``.
    """
    reports = [(score, getattr(score, name)) for score in outcome.scores]
    scores = [
        dataclasses.replace(score, report=other) for score, other in reports if other is not None
    ]
    return structs.replace(outcome, scores=scores)


def evaluator_names(client: Client, benchmark: str) -> list[str]:
    """Evaluators and presets of a benchmark.

    Raises:
        click.ClickException: If there is no such benchmark, or the server cannot be reached.
    """
    listed = client.benchmarks.get(benchmark).definition.get("evaluators", ())
    return [entry["name"] for entry in listed]


def format_for(evaluators: Sequence[str], typed: str) -> str:
    """Format of a benchmark's files: the typed one, or else that of its preset."""
    from vidscore_evaluators.presets import format_of
    from vidscore_evaluators.specification import EvaluatorSpec

    return format_of([EvaluatorSpec(name) for name in evaluators], typed)


def _expanded(client: Client, names: Sequence[str]) -> list[str]:
    """Evaluators of a benchmark in its order, those of presets in theirs."""
    presets = {preset.name: [name for name, _ in preset.evaluators] for preset in client.presets()}
    return [one for name in names for one in presets.get(name, [name])]


def standing(client: Client, submission: Submission) -> list[str]:
    """Rank of a scored submission, and the submissions that its team has left."""
    benchmark = client.benchmarks.get(submission.benchmark)
    left = quotas_left(benchmark)
    return [_rank(client, submission, benchmark), *([f"submissions left: {left}"] if left else [])]


def write_outcome(outcome: Outcome, wanted: Presentation) -> None:
    """Write scores, and notes about them on standard error."""
    if not outcome.scores:
        say(f"{summary(outcome.submission)}: no scores are shown", err=True)
    if any(score.partial for score in outcome.scores):
        say("the truth was not complete: frames without truth are left out", err=True)
    online = next((score.online for score in outcome.scores if score.online), None)
    if online is not None:
        say(f"online: {online_text(online)}", err=True)
    if outcome.scores:
        reports = to_reports(score.report for score in outcome.scores)
        if wanted.format == "table":
            reports = [_ranking_first(report, outcome.ranking) for report in reports]
        write_reports(reports, wanted)


def refuse_unscored(submission: Submission) -> None:
    """Refuse a submission that ended without a score.

    Raises:
        NotScoredError: If it did.
    """
    from vidscore_client import SubmissionState

    if submission.state == SubmissionState.CANCELLED:
        raise NotScoredError(summary(submission))
    if submission.state == SubmissionState.FAILED:
        again = f"vidscore submission retry {short_names(submission.name)}"
        raise NotScoredError(
            f"{summary(submission)}; nothing is lost: once the cause is gone, use {again}"
        )


def summary(submission: Submission) -> str:
    """State and number of frames of a submission, and why it is in this state."""
    why = escape_controls(submission.state_message) or submission.state_reason.replace("_", " ")
    reason = f" ({why})" if why and why != submission.state else ""
    state = submission.state.replace("_", " ")
    frames = counted(submission.frame_count, "frame")
    return f"{short_names(submission.name)} is {state}{reason}, {frames}"


def _ranking_first(report: Report, ranking: Mapping[str, Sequence[str]]) -> Report:
    """A report with the measures that rank before the others."""
    from vidscore_evaluators.report import row_blocks

    names = list(ranking.get(report.evaluator, ()))
    ranks = {name: names.index(name) for name in names}
    rows = sorted(report.rows(), key=lambda row: ranks.get(row.measure, len(names)))
    return dataclasses.replace(
        report, scores=dataclasses.replace(report.scores, blocks=row_blocks(rows))
    )


def _rank(client: Client, submission: Submission, benchmark: Benchmark) -> str:
    """Rank of a submission, if the leaderboard is visible."""
    from vidscore_client import ConflictError

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
            again = _SHOWN_AGAIN if _is_shown_again(row, submission, benchmark) else ""
            return f"{name} is scored; {stands} stands for its team, at rank {row.rank}{again}"
    if board.newest_truth_revision > board.truth_revision > 0:
        revision = board.newest_truth_revision
        return (
            f"{name} is scored; it is on the board once the board moves to revision {revision} "
            "of the truth"
        )
    return f"{name} is scored; it is not on the board"


def _is_shown_again(row: LeaderboardRow, submission: Submission, benchmark: Benchmark) -> bool:
    """Whether a team sees, for this submission, the score of its earlier one on the board."""
    by_steps = benchmark.definition.get("policy", {}).get("visibility") in _BY_STEPS
    if not by_steps or submission.team == ORGANISERS_TEAM:
        return False
    stands, sealed = row.seal_time, submission.seal_time
    return stands is not None and sealed is not None and stands < sealed


LIVE_STREAM = "live"
"""The append stream of the answers of a live submission."""


def online_of(client: Client, submission: Submission) -> OnlineRecord | None:
    """How a scored submission answered online; None if it did not answer a live benchmark."""
    if submission.stream(LIVE_STREAM) is None:
        return None
    found = (score.online for score in client.submissions.scores(submission.name))
    return next(filter(None, found), None)


def online_text(online: OnlineRecord) -> str:
    """Certified or why not, latencies, and where the frames came from."""
    counts = f"{online.in_time_count} of {counted(online.frame_count, 'frame')} in time"
    why = counts if online.certified else escape_controls(online.message)
    parts = [f"{'certified' if online.certified else 'not certified'}: {why}"]
    latencies = {
        "50 %": online.latency_50_s,
        "90 %": online.latency_90_s,
        "99 %": online.latency_99_s,
        "worst": online.latency_worst_s,
    }
    known = [f"{value:.3f} s ({name})" for name, value in latencies.items() if value is not None]
    if known:
        parts.append("latency " + ", ".join(known))
    parts.append(f"frames: {escape_controls(online.frames)}")
    return "; ".join(parts)


def clock_text(live: Mapping[str, Any]) -> str:
    """Frame rate of the clock of a live benchmark, and where the frames come from."""
    own = len(live.get("sequences", ()))
    rate = live.get("frame_rate")
    parts = [
        *([] if rate is None else [f"{counted(rate, 'frame', form='g')} per second"]),
        *([f"{counted(own, 'sequence')} with times of their own"] if own else []),
        f"frames: {live.get('frames', 'held by the participant')}",
    ]
    return "; ".join(parts)
