"""Thresholds that a criterion evaluates at once, and means over them.

Source: the paper's section 5 and the caption of its Table 3. *M-partial* is the mean of a score
over the thresholds 0.5, 0.55, ..., 0.95, *M-full* that over the whole grid of a similarity but
its two extremes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Any

from vidscore_evaluators.criteria.figures import mean
from vidscore_evaluators.criteria.similarity import GRID_STEPS, Similarity

PARTIAL = tuple(step / GRID_STEPS for step in range(GRID_STEPS // 2, GRID_STEPS))
"""0.5, 0.55, ..., 0.95: the thresholds of M-partial, and COCO's."""

THRESHOLD: Mapping[str, Any] = MappingProxyType(
    {"minimum": -1.0, "maximum": 1.0, "grid": Similarity().grid}
)
"""Bounds of a parameter that is a similarity. Its declared grid is IoU's and that of points; an
evaluator's `grid` gives GIoU's where that is its base."""


@dataclass(frozen=True)
class ThresholdGrid:
    """The thresholds whose outcomes a tally holds, and what to make of a score at each.

    Attributes:
        thresholds: K thresholds, ascending, each once.
        full: Those that M-full takes the mean over.
    """

    thresholds: tuple[float, ...]
    full: tuple[float, ...]

    @classmethod
    def of(cls, similarity: Similarity, chosen: Iterable[float]) -> ThresholdGrid:
        """The grid of a similarity, M-partial's thresholds, and those that a user chose."""
        grid = similarity.grid
        return cls(tuple(sorted({*grid, *PARTIAL, *chosen})), grid[1:-1])

    def columns(self, thresholds: Sequence[float]) -> list[int]:
        """Where thresholds stand."""
        return [self._places[threshold] for threshold in thresholds]

    @cached_property
    def _places(self) -> dict[float, int]:
        return {threshold: column for column, threshold in enumerate(self.thresholds)}

    @cached_property
    def _marginals(self) -> tuple[list[int], list[int]]:
        """Columns of M-partial and of M-full; looked up once for many scores."""
        return self.columns(PARTIAL), self.columns(self.full)

    def means(self, values: Sequence[float | None]) -> tuple[float | None, float | None]:
        """M-partial and M-full of a score.

        Args:
            values: (K,) the score at each threshold.
        """
        partial, full = (mean([values[column] for column in chosen]) for chosen in self._marginals)
        return partial, full

    def curve(
        self, name: str, values: Sequence[float | None]
    ) -> Mapping[str, Sequence[float | None]]:
        """Columns of a curve of a score over the thresholds."""
        return {"threshold": list(self.thresholds), name: list(values)}
