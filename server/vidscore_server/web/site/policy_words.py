"""A benchmark's policy in sentences and rows, so that the rules on a page match the server.

Every key of a policy that makes a difference has its sentence here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from vidscore_evaluators.explanation.answer import in_words
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_server.domain.policy import FROM_TRUTH
from vidscore_server.web.site.phrases import (
    counted,
    duration_text,
    listed,
    running_scores_from,
    time_text,
)

Benchmark = Mapping[str, Any]
"""A benchmark from `visit.call`."""


def sentences(benchmark: Benchmark) -> list[str]:
    """The rules of a benchmark, in the order in which they matter to a team.

    Args:
        benchmark: The benchmark as plain values.
    """
    policy = benchmark["policy"]
    return [sentence for say in _SAID for sentence in say(benchmark, policy) if sentence]


def dates(benchmark: Benchmark) -> Iterator[str]:
    """When submissions may be made."""
    opening, closing = benchmark["open_time"], benchmark["close_time"]
    if opening and closing:
        yield f"Submissions are taken from {time_text(opening)} to {time_text(closing)}."
    elif opening:
        yield f"Submissions are taken from {time_text(opening)} on."
    elif closing:
        yield f"Submissions are taken until {time_text(closing)}."


def _clock(benchmark: Benchmark) -> Iterator[str]:
    if benchmark.get("live"):
        yield (
            "The benchmark is live: a clock gives out its frames and waits for nobody, and every "
            "frame needs an answer. Late answers are scored, too; a submission that answered every "
            "frame before the next one was given out is certified."
        )


def _budget(benchmark: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    a_day, in_all = policy["submissions_per_day"], benchmark["submission_budget"]
    limits = []
    if a_day:
        limits.append(f"{counted(a_day, 'submission')} a day (UTC)")
    if in_all:
        limits.append(f"{in_words(in_all)} in all" if a_day else counted(in_all, "submission"))
    if not limits:
        yield "A team may have any number of submissions."
        return
    yield (
        f"A team may have {' and '.join(limits)}. One that fails or is cancelled before a score "
        "was shown costs nothing."
    )
    if policy["submissions_in_all"] == FROM_TRUTH:
        yield "How many there may be in all follows from the size of the ground truth."


def _scores(benchmark: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    step = benchmark.get("ladder_step_in_force") or policy["ladder_step"]
    if policy["visibility"] == "live":
        yield (
            "While a submission is received, its team sees running scores over the sequences that "
            f"are complete, {running_scores_from(policy)}."
        )
        yield "Once it is scored, its team sees the whole report."
    elif policy["visibility"] == "final":
        yield (
            "Once a submission is scored, its team sees the measures that rank"
            f"{_released(policy)}, rounded to {step:g}; nothing of single sequences."
        )
    elif policy["visibility"] == "bootstrap":
        yield (
            "Once a submission is scored, its team sees an estimate of the measures that rank, "
            f"which holds some noise, and only where it beats the team's best by {step:g} or more."
        )
    else:
        yield (
            "Once a submission is scored, its team sees the measures that rank over everything, "
            f"rounded to {step:g}, and only where they beat the team's best by {step:g} or more."
        )


def _released(policy: Mapping[str, Any]) -> str:
    names = [measure_title(name) for name in policy["released_measures"]]
    return f", and {listed(names)}" if names else ""


def _curves(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    if policy["visibility"] == "live" or policy["release_curves"]:
        yield "A team sees the curves of its scores; the board shows those of the best systems."


def _outcomes(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    if policy["outcomes"] == "own":
        yield (
            "A team may see whether each of its own detections is right, wrong or ignored; each "
            "score for which it looks at this counts as one more submission. Nobody sees the "
            "missed objects."
        )
    else:
        yield "Nobody but the organisers sees what became of single detections."


def _private(benchmark: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    count = benchmark.get("private_sequence_count")  # only organisers see the names
    if not count and not policy.get("private_share"):
        return
    which = counted(count, "sequence").capitalize() if count else "Some sequences"
    verb = "is" if count == 1 else "are"
    yield (
        f"{which} {verb} private: no score over them is shown before the benchmark closes, and "
        "they decide the final order."
    )
    final = policy.get("final_submissions")
    if final:
        yield f"Each team chooses up to {counted(final, 'submission')} for the final order."


def _order(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    chosen = "newest" if policy["selection"] == "latest" else "best"
    measure = policy["ranking_measure"]
    by = f" by {measure_title(measure)}" if measure else ""
    ties = (
        "If scores are equal, the submission that was sealed first ranks first."
        if policy["earlier_first"]
        else "Teams with equal scores share a rank."
    )
    yield f"The board ranks the {chosen} submission of each team{by}. {ties}"


def _watchers(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    if policy["public_board_web"]:
        yield "Everyone sees this page and the board, without signing in."
    elif policy["public_board"]:
        yield "Participants and viewers see the board."
    else:
        yield "Only the organisers see the board."


def _waiting(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    ends = "cancelled" if policy["quiet_action"] == "cancel" else "sealed and scored"
    yield (
        f"A submission to which nothing is added for {duration_text(policy['quiet_timeout'])} is "
        f"{ends}; so is one that is open at closing. One that waits for ground truth is scored "
        f"after {duration_text(policy['truth_timeout'])} with the truth so far."
    )


def _rescoring(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    moves = (
        "the board moves once an organiser has looked at the differences"
        if policy["rescore"] == "review"
        else "the board moves when all of them are"
    )
    yield f"When the ground truth or the rules change, submissions are scored again, and {moves}."


_SAID: tuple[Callable[[Benchmark, Mapping[str, Any]], Iterator[str]], ...] = (
    lambda benchmark, _: dates(benchmark),
    lambda benchmark, _: _clock(benchmark),
    _budget,
    _scores,
    _curves,
    _outcomes,
    _private,
    _order,
    _watchers,
    _waiting,
    _rescoring,
)


# --- What a team sees of its submissions, and why: rows of a table

USUAL_STEP = 0.01
"""Step of a policy that names none."""


class Seen(Struct, frozen=True):
    """A row: what, when, and why.

    Attributes:
        what: The information.
        when: When the team sees it.
        why: A key of the policy, or a reason.
        key: Whether `why` is a key.
        shown: Whether the team ever sees it.
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
            "only organisers can read back the truth of a hosted benchmark",
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
    """What a team's report omits, and why; empty if nothing."""
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
    why = "they decide the final order, so they are not shown before"
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
    while_it_runs = Seen("Scores while it is received", "never", why, shown=False)
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
