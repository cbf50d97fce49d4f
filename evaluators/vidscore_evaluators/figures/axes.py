"""Axes: a range that includes all values, round ticks, and positions on the picture."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.figures.markup import MINUS

_LARGEST = 1e300
"""Values beyond it are not drawn, because their differences could be infinite."""

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_INTERVALS = 4
"""Approximate number of intervals of an axis."""

_MOST_DECADES = 6
"""A logarithmic axis over more powers of ten has ticks at only some of them."""


class Axis(Struct, frozen=True):
    """What an axis shows.

    Attributes:
        label: What the values are, with their unit.
        covers: Values that the axis always includes, such as 0 and 1.
        logarithmic: Whether powers of ten are equally far apart; values of 0 or less are gaps.
    """

    label: str
    covers: tuple[float, ...] = ()
    logarithmic: bool = False


class Scale(Struct, frozen=True):
    """An axis on the picture.

    Attributes:
        start: Position of the lower end.
        end: Position of the upper end.
        ticks: Values of the ticks, ascending; the first and the last are the ends.
        texts: Their texts.
        logarithmic: As for the axis.
    """

    start: float
    end: float
    ticks: tuple[float, ...]
    texts: tuple[str, ...]
    logarithmic: bool

    def positions(self, values: FloatArray) -> FloatArray:
        """(N,) positions of (N,) values; NaN if a value cannot be drawn."""
        low, high = self.ticks[0], self.ticks[-1]
        usable = drawable(values, logarithmic=self.logarithmic)
        if self.logarithmic:
            low, high, usable = math.log10(low), math.log10(high), np.log10(usable)
        positions: FloatArray = self.start + (usable - low) / (high - low) * (self.end - self.start)
        return positions


def drawable(values: FloatArray, *, logarithmic: bool) -> FloatArray:
    """(N,) values, with NaN in place of each that an axis cannot show."""
    outside = ~(np.abs(values) <= _LARGEST)
    if logarithmic:
        outside |= ~(values >= 1 / _LARGEST)
    return np.where(outside, np.nan, values)


def scale_of(axis: Axis, values: Sequence[FloatArray], start: float, end: float) -> Scale:
    """The scale of an axis that includes all values.

    Args:
        axis: The axis.
        values: Arrays of values; those that cannot be drawn are skipped.
        start: Position of the lower end.
        end: Position of the upper end.
    """
    every = np.concatenate([*values, np.array(axis.covers, dtype=np.float64)])
    known = drawable(every, logarithmic=axis.logarithmic)
    known = known[~np.isnan(known)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    ticks, texts = _decades(low, high) if axis.logarithmic else _round_ticks(low, high)
    return Scale(start, end, ticks, texts, axis.logarithmic)


def _round_ticks(low: float, high: float) -> tuple[tuple[float, ...], tuple[str, ...]]:
    if 0.0 <= low <= high / 2 or high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1 / _LARGEST:  # for numbers this small, a step has no digits
        low, high = 0.0, 1.0
    wanted = (high - low) / _INTERVALS
    power = 10.0 ** math.floor(math.log10(wanted))
    # With a tolerance, because 0.1 + 0.2 may need a wider step than 0.3.
    step = next(part * power for part in _STEPS if part * power >= wanted * (1 - 1e-9))
    numbers = range(math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9) + 1)
    ticks = tuple(number * step for number in numbers)
    return ticks, tuple(_tick_text(tick, step) for tick in ticks)


def _tick_text(value: float, step: float) -> str:
    largest = max(abs(value), step)
    if largest >= 1e9 or step < 1e-6:
        text = f"{value:.3g}"
    else:
        decimals = next(count for count in range(9) if _is_whole(step * 10.0**count))
        text = f"{value:,.{decimals}f}"
        text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "0") else text.replace("-", MINUS)


def _is_whole(value: float) -> bool:
    return abs(value - round(value)) < 1e-6 * value


def _decades(low: float, high: float) -> tuple[tuple[float, ...], tuple[str, ...]]:
    if low <= 0.0:
        low, high = 0.1, 1.0
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    every = math.ceil(max(last - first, 1) / _MOST_DECADES)
    # The last tick may lie beyond the data, because both ends have a tick.
    powers = range(first, max(last, first + 1) + every, every)
    exact = [power for power in powers if power - every < max(last, first + 1)]
    ticks = tuple(10.0**power for power in exact)
    return ticks, tuple(f"{tick:g}".replace("-", MINUS) for tick in ticks)
