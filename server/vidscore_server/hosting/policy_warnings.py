"""What an organiser should know of what a policy gives away of the truth, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from vidscore_server.hosting.budgets import default_budget
from vidscore_server.hosting.definition import Definition
from vidscore_server.hosting.policy import Visibility

RATIO_CHANGE = 2.0
"""By how much the rarest of scores moves with one object of n, times n: F1 by at most 2 / n."""


def policy_warnings(definition: Definition) -> list[str]:
    """What an organiser should know; what needs the size of the truth once that is complete.

    Args:
        definition: The benchmark.
    """
    return [*_without_budget(definition), *_small_truth(definition)]


def _without_budget(definition: Definition) -> Iterator[str]:
    if definition.submission_budget:
        return
    size = definition.truth_size
    default = "" if size is None else f" ({default_budget(size.objects, size.sequences)})"
    yield (
        "a team may have any number of submissions in all: with enough of them it reads the "
        "ground truth out of its scores; submissions_in_all = -1 lets it have as many as the "
        f"ground truth allows{default}"
    )


def _small_truth(definition: Definition) -> Iterator[str]:
    policy, size = definition.policy, definition.truth_size
    if policy.shown is Visibility.LIVE or size is None or not size.objects:
        return
    for evaluator in definition.evaluators:
        first, scale = next(iter(definition.scales(evaluator).items()), (None, None))
        if scale is None:
            continue
        worth = RATIO_CHANGE * scale.span / size.objects
        if worth > policy.ladder_step:
            yield (
                f"one of the {size.objects} objects of the ground truth changes {first} of "
                f"{evaluator.name} by up to {worth:.2g}, more than ladder_step = "
                f"{policy.ladder_step:g}: a team sees in its score whether it has found one more; "
                f"take a ladder_step of {worth:.2g} or more, or rely on submissions_in_all"
            )
