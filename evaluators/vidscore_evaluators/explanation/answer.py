"""The answer in words: the conclusion from the figures of one or two systems."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from vidscore_evaluators.annotations import sequence_name
from vidscore_evaluators.explanation.figures import FigureRow
from vidscore_evaluators.explanation.judgement import Judgement
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.explanation.titles import measure_title
from vidscore_evaluators.figures.markup import MINUS
from vidscore_evaluators.report_grids import LEAST_IN_POWERS, UNDEFINED, format_fraction
from vidscore_evaluators.trust.doubts import doubts_of_draws
from vidscore_evaluators.trust.resampling import Interval

NARROW_SPACE = "\N{NO-BREAK SPACE}"

_LEAST_EXACT_DIGITS = 3

_NUMBERS = [
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
    "twenty",
]

_COSTLY_FRACTION = 0.4
"""Fraction of the mistakes from which on the sequences that have it are named."""

_NOTABLE = 1.25
"""How much more than their number would explain they must have."""

_MOST_NAMED = 3


class Answer(Struct, frozen=True):
    """The conclusion at the top of a page.

    Attributes:
        heading: The answer.
        sentences: Its grounds.
        doubts: Reasons to doubt the intervals, or why there are none.
    """

    heading: str
    sentences: tuple[str, ...]
    doubts: tuple[str, ...]


def answer(
    material: Material,
    rows: Sequence[FigureRow],
    judgement: Judgement | None,
    *,
    pending: bool = False,
) -> Answer:
    """State the conclusion from the figures.

    Args:
        material: One or two systems.
        rows: Their figures; the first row ranks.
        judgement: Outcomes, if an evaluator has some.
        pending: Whether intervals are still being computed.
    """
    systems = material.systems
    heading = _heading(material, rows, judgement, pending=pending)
    said = (*_of_figures(systems, rows), *_of_sequences(systems, judgement))
    sentences = tuple(sentence for sentence in said if sentence != f"{heading}.")
    return Answer(heading, sentences, tuple(doubts_of_draws(material.contest)))


def in_words(count: int) -> str:
    """A count in a sentence: as a word up to twenty, else in digits."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def percent(share: float, digits: int = 0) -> str:
    """``87 %``; rounding never gives exactly 0 or 100 unless that is the value."""
    text = f"{100 * share:.{digits}f}"
    if 0 < share < 1 and float(text) in (0.0, 100.0):
        text = "< 1" if share < 0.5 else "> 99"
    return f"{text}{NARROW_SPACE}%"


def figure(value: float | None, digits: int = 4, *, signed: bool = False) -> str:
    """A figure as a page shows it; ``undefined`` for None.

    As in `format_number`, a fraction never becomes an integer, except in labels of two decimals.
    """
    if value is None:
        return UNDEFINED
    form = f",.{digits}f"
    if isinstance(value, int):
        text = f"{value:,}"
    elif digits >= _LEAST_EXACT_DIGITS or abs(value) >= LEAST_IN_POWERS:
        text = format_fraction(value, form)
    else:
        text = f"{value:{form}}"
    return (f"+{text}" if signed and value > 0 else text).replace("-", MINUS)


def ends(interval: Interval, *, signed: bool = False) -> str:
    """Both ends of an interval; one that is not 0 is never shown as 0.

    Args:
        interval: An interval that has ends.
        signed: Whether an end above 0 has a sign.
    """
    both = [end + 0.0 for end in (interval.low, interval.high) if end is not None]
    digits = next(
        (count for count in range(3, 7) if all(round(end, count) or not end for end in both)), 3
    )
    return " to ".join(figure(end, digits, signed=signed) for end in both)


def _heading(
    material: Material, rows: Sequence[FigureRow], judgement: Judgement | None, *, pending: bool
) -> str:
    systems = material.systems
    if len(systems) == 2 and rows:
        return _comparison(systems, rows[0], judgement, pending=pending)
    if judgement is not None:
        counts = judgement.systems[0].counts.total()
        objects = int(counts.hits[0] + counts.misses[0])
        if objects:
            a_frame = counts.false_alarms[0] / max(1, material.evaluated_frames)
            share = percent(counts.hits[0] / objects)
            alarms = f"{a_frame:.2f} false alarms per frame"
            return f"{systems[0]} finds {share} of the objects, with {alarms}"
    if rows:
        name, value = measure_title(rows[0].measure.name), rows[0].values[0]
        if value is None:
            return f"The {name} of {systems[0]} is undefined"
        return f"{systems[0]} reaches {figure(value, rows[0].digits)} in {name}"
    return f"{systems[0]}, explained"


def _comparison(
    systems: Sequence[str], row: FigureRow, judgement: Judgement | None, *, pending: bool
) -> str:
    if row.difference is None:
        return f"{systems[0]} and {systems[1]} cannot be compared: a figure is undefined"
    if row.told_apart is False:
        few = "" if row.are_enough else " with so few sequences"
        return f"{systems[0]} and {systems[1]} cannot be told apart{few}"
    if row.told_apart is None and pending:
        return f"{systems[0]} and {systems[1]}: the intervals are being computed"
    if row.difference == 0:
        return f"{systems[0]} and {systems[1]} have the same {measure_title(row.measure.name)}"
    ahead, behind = (0, 1) if (row.difference > 0) != row.lower_is_better else (1, 0)
    if judgement is not None:
        hits = [int(one.counts.hits.sum()) for one in judgement.systems]
        alarms = [int(one.counts.false_alarms.sum()) for one in judgement.systems]
        if hits[ahead] > hits[behind] and alarms[ahead] < alarms[behind]:
            return f"{systems[ahead]} finds more than {systems[behind]}, with fewer false alarms"
    return f"{systems[ahead]} is ahead of {systems[behind]} in {measure_title(row.measure.name)}"


def _of_figures(systems: Sequence[str], rows: Sequence[FigureRow]) -> list[str]:
    if not rows:
        return []
    row = rows[0]
    value, interval = row.values[0], row.intervals[0]
    name = measure_title(row.measure.name)
    if value is None:
        return [f"The {name} of {systems[0]} is undefined."]
    lower = ", where lower is better" if row.lower_is_better else ""
    said = f"{systems[0]} reaches {figure(value, row.digits)} in {name}{lower}"
    if row.difference is None and interval is not None and interval.low is not None:
        said += f" (95{NARROW_SPACE}% interval {ends(interval)})"
    if row.difference is not None and row.difference != 0:
        side = "above" if row.difference > 0 else "below"
        said += f", {figure(abs(row.difference), row.digits)} {side} {systems[1]}"
        paired = row.difference_interval
        if paired is not None and paired.low is not None:
            both = ends(paired, signed=True)
            said += f" (95{NARROW_SPACE}% interval of the difference {both})"
    return [f"{said}."]


def _of_sequences(systems: Sequence[str], judgement: Judgement | None) -> list[str]:
    """The few sequences with much of the mistakes, and the most frequent kind of mistake."""
    if judgement is None or len(judgement.frames.sequences) < 2:
        return []
    total = judgement.systems[0].counts.total()
    if not int(total.mistakes[0]):
        objects = int(total.hits[0] + total.misses[0])
        return [f"{systems[0]} makes no mistake." if objects else "There is no object to find."]
    names = [sequence_name(judgement.frames.sequences[row]) for row in judgement.order.tolist()]
    costs = judgement.costs[judgement.order]
    named = 1
    while named < min(_MOST_NAMED, len(names) - 1) and costs[:named].sum() < _COSTLY_FRACTION:
        named += 1
    fraction = float(costs[:named].sum())
    listed = names[0] if named == 1 else f"{', '.join(names[: named - 1])} and {names[named - 1]}"
    count = in_words(named).capitalize()
    kinds = {
        "objects that are missed": int(total.misses[0]),
        "false alarms": int(total.false_alarms[0]),
        "id switches": int(total.id_switches[0]),
    }
    most = max(kinds, key=lambda kind: kinds[kind])
    holds = "holds" if named == 1 else "hold"
    share = percent(fraction)
    if fraction < max(_COSTLY_FRACTION, _NOTABLE * named / len(names)):
        return [f"Its mistakes are spread over the sequences; most of them are {most}."]
    said = f"{count} of {in_words(len(names))} sequences, {listed}, {holds} {share} of its mistakes"
    return [f"{said}; most of all mistakes are {most}."]
