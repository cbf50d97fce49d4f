"""A benchmark's policy in sentences, so that the rules on its page are what the server does.

Every key of a policy has its sentence here, where it makes a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from vidscore_evaluators.explanation.answer import in_words
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_server.web.site.phrases import (
    counted,
    duration_text,
    listed,
    running_scores_from,
    time_text,
)

Benchmark = Mapping[str, Any]
"""A benchmark as `visit.call` gives it."""


def sentences(benchmark: Benchmark) -> list[str]:
    """The rules of a benchmark, in the order in which a team meets them.

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
            "The benchmark is live: a clock that waits for nobody gives out its frames, and takes "
            "an answer to each. Late answers are scored, too; a submission that answered every "
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
    if policy["submissions_in_all"] == _FROM_TRUTH:
        yield "How many there may be in all follows from the size of the ground truth."


_FROM_TRUTH = -1


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
            "A team sees of each of its own detections whether it is right, wrong or ignored; a "
            "score of which it has seen this counts as one more submission. Nobody sees the "
            "missed objects."
        )
    else:
        yield "Nobody but the organisers sees what became of single detections."


def _private(benchmark: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    count = benchmark.get("private_sequence_count")  # the names are for organisers alone
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
        "Of equal scores the one that was sealed first ranks first."
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
        yield "The organisers alone see the board."


def _waiting(_: Benchmark, policy: Mapping[str, Any]) -> Iterator[str]:
    ends = "cancelled" if policy["quiet_action"] == "cancel" else "sealed and scored"
    yield (
        f"A submission to which nothing is added for {duration_text(policy['quiet_timeout'])} is "
        f"{ends}; so is one that is open at closing. One that waits for ground truth is scored "
        f"after {duration_text(policy['truth_timeout'])} on what is there."
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
