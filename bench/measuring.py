"""Measure alternatives in one interleaved run, so that what slows one slows the others too."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

Action = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Sample:
    """What was measured of one alternative, in repeated runs.

    Attributes:
        values: The figures, in the order of the runs: seconds, bytes, or whatever the row says.
        cpu_s: Processor seconds of each run; empty where that was not measured.
    """

    values: tuple[float, ...]
    cpu_s: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """Median of the figures."""
        return statistics.median(self.values)

    def scaled(self, factor: float) -> Sample:
        """The sample of so many times the work, where it was measured on a part of it."""
        return Sample(
            tuple(factor * value for value in self.values),
            tuple(factor * value for value in self.cpu_s),
        )


def run_interleaved(
    actions: Sequence[Action], repeats: int, least_s: float = 0.0
) -> tuple[list[Sample], list[object]]:
    """Run each action once to warm up, then all of them in turn, again and again.

    Garbage is collected between runs and not during them, on all sides: a collection in the
    middle falls on whichever side it happens to.

    Args:
        actions: What to run.
        repeats: Measured runs of each.
        least_s: Least time of a run: what takes less is done as often in it as that takes, and
            its figure is the mean, as `timeit` has it. Once, it would be measured by what the
            collection before it has left in the processor's caches.

    Returns:
        A sample for each action, and what each returned in its first run.
    """
    results = [action() for action in actions]
    wall_s: list[list[float]] = [[] for _ in actions]
    cpu_s: list[list[float]] = [[] for _ in actions]
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        counts = [_calls_in(action, least_s) for action in actions]
        for _ in range(repeats):
            for index, (action, count) in enumerate(zip(actions, counts, strict=True)):
                gc.collect()
                cpu, wall = time.process_time(), time.perf_counter()
                for _ in range(count):
                    action()
                wall_s[index].append((time.perf_counter() - wall) / count)
                cpu_s[index].append((time.process_time() - cpu) / count)
    finally:
        if was_enabled:
            gc.enable()
    samples = [Sample(tuple(w), tuple(c)) for w, c in zip(wall_s, cpu_s, strict=True)]
    return samples, results


def _calls_in(action: Action, least_s: float) -> int:
    """How many calls take so long."""
    if not least_s:
        return 1
    begun_s = time.perf_counter()
    action()
    return math.ceil(least_s / (time.perf_counter() - begun_s))
