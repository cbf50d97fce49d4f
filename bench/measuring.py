"""Measure alternatives in one interleaved run, so that what slows one slows the others too."""

from __future__ import annotations

import gc
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


def run_interleaved(actions: Sequence[Action], repeats: int) -> tuple[list[Sample], list[object]]:
    """Run each action once to warm up, then all of them in turn, again and again.

    Garbage is collected between runs and not during them, on all sides: a collection in the
    middle falls on whichever side it happens to.

    Args:
        actions: What to run.
        repeats: Measured runs of each.

    Returns:
        A sample for each action, and what each returned in its first run.
    """
    results = [action() for action in actions]
    wall_s: list[list[float]] = [[] for _ in actions]
    cpu_s: list[list[float]] = [[] for _ in actions]
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for _ in range(repeats):
            for index, action in enumerate(actions):
                gc.collect()
                cpu, wall = time.process_time(), time.perf_counter()
                action()
                wall_s[index].append(time.perf_counter() - wall)
                cpu_s[index].append(time.process_time() - cpu)
    finally:
        if was_enabled:
            gc.enable()
    samples = [Sample(tuple(w), tuple(c)) for w, c in zip(wall_s, cpu_s, strict=True)]
    return samples, results
