"""Measure alternatives in one interleaved run, so that other load on the machine affects all."""

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
    """Measurements of one alternative in repeated runs.

    Attributes:
        values: The figures, in the order of the runs, in the unit of the row.
        cpu_s: Processor seconds of each run; empty if not measured.
    """

    values: tuple[float, ...]
    cpu_s: tuple[float, ...] = ()

    @property
    def median(self) -> float:
        """Median of the figures."""
        return statistics.median(self.values)

    def scaled(self, factor: float) -> Sample:
        """The sample with all figures multiplied, for a sample of only a part of the work."""
        return Sample(
            tuple(factor * value for value in self.values),
            tuple(factor * value for value in self.cpu_s),
        )


def run_interleaved(
    actions: Sequence[Action], repeats: int, least_s: float = 0.0
) -> tuple[list[Sample], list[object]]:
    """Run each action once to warm up, then all of them in turn, `repeats` times.

    Garbage is collected between runs and not during them; otherwise a collection would slow down
    an arbitrary side.

    Args:
        actions: The alternatives.
        repeats: Number of measured runs of each.
        least_s: Minimum time of a run. A shorter action is repeated within the run, and its figure
            is the mean, as in `timeit`. A single short call would mostly measure the state of the
            processor's caches after the collection.

    Returns:
        A sample for each action, and the result of each action's first run.
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
    """The number of calls that take at least this time."""
    if not least_s:
        return 1
    begun_s = time.perf_counter()
    action()
    return math.ceil(least_s / (time.perf_counter() - begun_s))
