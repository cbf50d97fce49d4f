"""What is waited for and until when, and how many submissions are left, as sentences."""

from __future__ import annotations

from datetime import timedelta

from vidscore_cli.records import time_text
from vidscore_client import Benchmark, Quota, Submission

_WAITS: dict[str, str] = {
    "draft_deleted": "its first frames; without any it is deleted at {time}",
    "sealed_when_quiet": "more frames, or its seal; it is sealed at {time} if nothing comes",
    "cancelled_when_quiet": "more frames, or its seal; it is cancelled at {time} if nothing comes",
    "sealed_at_closing": "more frames, or its seal; it is sealed when the benchmark closes, {time}",
    "cancelled_at_closing": (
        "more frames, or its seal; it is cancelled when the benchmark closes, {time}"
    ),
    "scored_without_all_truth": (
        "ground truth, which is not complete; at {time} it is scored on what is there"
    ),
    "truth_never_came": "ground truth, of which there is none yet; it fails at {time} without",
}
"""What a submission waits for, by what happens when it has waited long enough."""

FROM_TRUTH = -1
"""As `submissions_in_all`: it follows from the ground truth."""

_SPANS = {"submissions_per_day": "today", "submissions_in_all": "in all"}

_HELD = {
    "maximum_team_open_submissions": "open at a time",
    "maximum_team_mebibytes": "MiB of detections",
}
"""What bounds count that are no quotas of submissions."""


def submission_waits_for(submission: Submission) -> str:
    """What moves a submission on, and what happens otherwise; empty where nothing is waited for."""
    sentence = _WAITS.get(submission.due_reason)
    if sentence is None or submission.due_time is None:
        return ""
    return sentence.format(time=f"{time_text(submission.due_time)} UTC")


def benchmark_waits_for(benchmark: Benchmark) -> str:
    """What the submissions of a benchmark wait for; empty where they are scored at once."""
    if benchmark.truth_complete:
        return ""
    policy = benchmark.definition.get("policy", {})
    limit = timedelta(seconds=float(policy.get("truth_timeout_s", 0)))
    return f"complete ground truth; a sealed submission waits for it for at most {limit}"


def budget_text(benchmark: Benchmark) -> str:
    """How many submissions a team may have in all, and whether that is the default."""
    if not benchmark.submission_budget:
        return "any number of submissions"
    noun = "submission" if benchmark.submission_budget == 1 else "submissions"
    text = f"{benchmark.submission_budget} {noun}"
    if not has_default_budget(benchmark):
        return text
    until = "" if benchmark.truth_complete else " until the ground truth is complete"
    return f"{text} (default{until})"


def has_default_budget(benchmark: Benchmark) -> bool:
    """Whether the number of submissions that a team may have in all follows from the truth."""
    policy = benchmark.definition.get("policy", {})
    return bool(policy.get("submissions_in_all") == FROM_TRUTH)


def quotas_left(benchmark: Benchmark) -> str:
    """How many submissions a team has left; empty where there is no limit."""
    return ", ".join(_left(quota) for quota in benchmark.quotas if quota.name not in _HELD)


def holdings_left(benchmark: Benchmark) -> str:
    """How much more a team may hold at a time; empty for whoever is in none."""
    return ", ".join(_left(quota) for quota in benchmark.quotas if quota.name in _HELD)


def _left(quota: Quota) -> str:
    span = {**_SPANS, **_HELD}.get(quota.name, quota.name)
    until = f" (until {time_text(quota.renew_time)} UTC)" if quota.renew_time else ""
    return f"{quota.left} of {quota.maximum} {span}{until}"
