"""What a team sees of its submissions, and why: rows of a table, made of the policy's values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from vidscore_server.web.site.phrases import counted, running_scores_from, time_text

USUAL_STEP = 0.01
"""Step of a policy that names none."""


class Seen(Struct, frozen=True):
    """A row: what, when, and why.

    Attributes:
        what: What there is.
        when: When the team sees it.
        why: Keys of the policy, or the reason.
        key: Whether `why` is a key.
        shown: Whether it is seen at some time.
    """

    what: str
    when: str
    why: str
    key: bool = True
    shown: bool = True


def seen_by_team(benchmark: Mapping[str, Any]) -> list[Seen]:
    """What a team sees of its submissions to a benchmark.

    Args:
        benchmark: The benchmark, as plain values.
    """
    policy = benchmark["policy"]
    step = benchmark.get("ladder_step_in_force") or policy["ladder_step"] or USUAL_STEP
    rows = [*_of_scores(policy, step), *_of_private(benchmark), _of_outcomes(policy)]
    rows.append(
        Seen(
            "Missed objects",
            "never",
            "they would tell where the hidden objects are",
            key=False,
            shown=False,
        )
    )
    rows.append(
        Seen(
            "Ground truth",
            "never",
            "the truth of a hosted benchmark can be read back by organisers alone",
            key=False,
            shown=False,
        )
    )
    board = policy["public_board"] is not False
    rows.append(
        Seen(
            "Submissions of other teams",
            "only what stands on the board" if board else "never",
            f"public_board = {str(board).lower()}",
            shown=board,
        )
    )
    return rows


def hidden_figures(policy: Mapping[str, Any]) -> str:
    """What a report leaves out for a team, and why; empty where nothing is left out."""
    visibility = policy["visibility"] or "ladder"
    if visibility == "live":
        return ""
    if visibility == "final":
        hidden = " and sequences" if policy["release_curves"] else ", sequences and curves"
        return f"Other measures{hidden}: organisers only (visibility = final)"
    return f"Everything but the ranking measures: organisers only (visibility = {visibility})"


def _of_private(benchmark: Mapping[str, Any]) -> list[Seen]:
    count = benchmark.get("private_sequence_count", 0)
    if not count:
        return []
    closes = benchmark["close_time"]
    when = f"after {time_text(closes)}" if closes is not None else "once the benchmark closes"
    what = f"Scores of the {counted(count, 'private sequence')}"
    why = "they decide the final order, so they answer nothing before"
    return [Seen(what, when, why, key=False)]


def _of_scores(policy: Mapping[str, Any], step: float) -> list[Seen]:
    visibility = policy["visibility"] or "ladder"
    why = f"visibility = {visibility}"
    if visibility == "live":
        held_back = f"minimum_frames = {policy['minimum_frames']}"
        return [
            Seen("Running scores", running_scores_from(policy), f"{why}, {held_back}"),
            Seen("The whole report and its curves", "once it is scored", why),
        ]
    while_it_runs = Seen("Scores while it receives", "never", why, shown=False)
    curves = Seen("Curves, and figures of single sequences", "never", why, shown=False)
    if visibility == "final":
        also = ", ".join(policy["released_measures"])
        what = "Ranking measures" + (f", {also}" if also else "")
        rounded = f"once it is scored, rounded to {step:g}"
        rows = [while_it_runs, Seen(what, rounded, f"{why}, ladder_step = {step:g}")]
        if policy["release_curves"]:
            rows.append(Seen("Curves", "once it is scored", f"{why}, release_curves = true"))
            return [*rows, Seen("Figures of single sequences", "never", why, shown=False)]
        return [*rows, curves]
    when = f"once it is scored, and only where they beat your team's best by {step:g}"
    what = "Ranking measures" if visibility == "ladder" else "An estimate of the ranking measures"
    return [
        while_it_runs,
        Seen(what, when, f"{why}, ladder_step = {step:g}"),
        curves,
    ]


def _of_outcomes(policy: Mapping[str, Any]) -> Seen:
    what = "What became of your own detections"
    if policy["outcomes"] == "own":
        return Seen(what, "once it is scored; each score costs one submission", "outcomes = own")
    return Seen(what, "never", "outcomes = none", shown=False)
