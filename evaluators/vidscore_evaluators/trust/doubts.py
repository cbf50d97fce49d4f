"""Doubts about draws of sequences, or frames: how little few of them mean, and what to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from vidscore_evaluators.names import counted, first_of
from vidscore_evaluators.trust.few_sequences import LEAST_SEQUENCES, domain_sizes
from vidscore_evaluators.trust.parts import drawn_parts
from vidscore_evaluators.trust.systems import Contest, Drawn

FEW_SEQUENCES = 10
"""Number of sequences below which intervals say little about other sequences."""

_MOST_NAMES = 5


def doubts_of_draws(contest: Contest, labels: Collection[str] = ()) -> list[str]:
    """Doubts about intervals over draws, or why there are none.

    Args:
        contest: The systems, and the truth whose sequences or frames are drawn.
        labels: The labels whose scores have intervals.
    """
    sizes = domain_sizes([part.key for part in drawn_parts(contest)])
    compared = len(contest.systems) > 1
    if max(sizes, default=0) <= 1:
        return [_no_interval(sizes, contest.drawn, compared=compared)]
    few = _doubt_of_few(sizes, contest.drawn, compared=compared)
    sizes_of_labels = {name: contest.label_sizes.get(name, 0) for name in labels}
    rare = _doubt_of_labels(sizes_of_labels, sum(sizes), contest.drawn)
    frames = _OTHER_SEQUENCES if contest.drawn is Drawn.FRAMES else None
    return list(filter(None, (few, rare, _doubt_of_copies(contest.copies), frames)))


_OTHER_SEQUENCES = "Draws of frames say how far other frames would differ, not other sequences."


def _no_interval(sizes: Sequence[int], drawn: Drawn, *, compared: bool) -> str:
    found = "Each domain has" if len(sizes) > 1 else "There is"
    better = f", and no system is called better. {_advice(sizes)}" if compared else "."
    images = (
        " If frames are independent images, as in COCO, draw them: vidscore compare --draw frames."
        if compared and drawn is Drawn.SEQUENCES
        else ""
    )
    rest = f"so nothing can be said about others: no interval{better}{images}"
    return f"{found} only one {drawn.noun}, {rest}"


def _doubt_of_few(sizes: Sequence[int], drawn: Drawn, *, compared: bool) -> str | None:
    # The smallest domain counts: n of its sequences say little about others, however many domains
    # there are.
    fewest = min(sizes)
    if fewest >= FEW_SEQUENCES:
        return None
    place = " in a domain" if len(sizes) > 1 else ""
    found = f"{counted(fewest, drawn.noun)}{place} {'is' if fewest == 1 else 'are'}"
    if fewest >= LEAST_SEQUENCES or not compared:
        return f"{found} few: {_little(drawn)}"
    return (
        f"{found} too few to call a system better. {_advice(sizes)} {_little(drawn).capitalize()}"
    )


def _little(drawn: Drawn) -> str:
    return (
        f"intervals from fewer than {FEW_SEQUENCES} say little about other {drawn}, "
        "and are too narrow if a few are unlike the rest."
    )


def _advice(sizes: Sequence[int]) -> str:
    """What to do if domains of so many sequences are too small to tell systems apart."""
    if len(sizes) > 1:
        return (
            f"At least {LEAST_SEQUENCES} in each domain are needed: add some, or leave out the "
            "domains with fewer."
        )
    return f"At least {LEAST_SEQUENCES} are needed: add some."


def _doubt_of_labels(sizes: Mapping[str, int], part_count: int, drawn: Drawn) -> str | None:
    """A doubt about labels that few sequences have; where all have one, it is not about labels."""
    rare = sorted(
        (size, name) for name, size in sizes.items() if 0 < size < min(FEW_SEQUENCES, part_count)
    )
    if not rare:
        return None
    names = first_of([f"{name or '(no name)'} ({size})" for size, name in rare], _MOST_NAMES)
    noun = "label" if len(rare) == 1 else "labels"
    return f"Few {drawn} have the {noun} {names}: {_little(drawn)}"


def _doubt_of_copies(copies: Sequence[Sequence[str]]) -> str | None:
    if not copies:
        return None
    names = first_of(copies[0], _MOST_NAMES)
    others = f" (likewise {counted(len(copies) - 1, 'other group')})" if len(copies) > 1 else ""
    return (
        f"{names} have the same ground truth{others}: draws take copies of a video for other "
        "videos, so intervals are too narrow; choose one of each."
    )
