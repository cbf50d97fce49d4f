"""One score at every threshold, for each class and as the mean over classes, in each domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.criteria.figures import mean
from vidscore_evaluators.criteria.precision_recall import Cell, cells_by_scope
from vidscore_evaluators.tally import Table

Values = list[float | None]


@dataclass(frozen=True, eq=False)
class ClassEntry:
    """A class, or the mean over the classes that are present in the reference.

    Attributes:
        domain: Domain; None for all.
        class_: Class; None for the mean over classes.
        values: (K,) score at each threshold.
        cells: The classes that it is of.
    """

    domain: str | None
    class_: str | None
    values: Values
    cells: list[Cell]

    def mean_curve(self, curve: Callable[[Cell], FloatArray], length: int) -> Values:
        """Mean, point by point, of a curve over the classes that have objects.

        Args:
            curve: Gives a class's `length` values.
            length: Number of values.
        """
        curves = [curve(cell).tolist() for cell in self.cells if cell.counts["truth"]]
        return [mean(values) for values in zip(*curves, strict=True)] or [None] * length


def class_entries(
    outcomes: Table, classes: Table, column_count: int, score: Callable[[Cell], Values]
) -> list[ClassEntry]:
    """Score every class, in all domains together and in each that has a name.

    Args:
        outcomes: Table of outcomes.
        classes: Table of counts by domain and class.
        column_count: Thresholds K of the outcomes.
        score: Gives a class's (K,) values, None where it has no object.

    Returns:
        For each domain the mean over classes, then the classes that have a name.
    """
    entries: list[ClassEntry] = []
    for cells in cells_by_scope(outcomes, classes, column_count):
        values = [score(cell) for cell in cells]
        means = [mean(column) for column in zip(*values, strict=True)] or [None] * column_count
        domain = cells[0].domain if cells else None
        entries.append(ClassEntry(domain, None, means, cells))
        entries.extend(
            ClassEntry(domain, cell.class_, own, [cell])
            for cell, own in zip(cells, values, strict=True)
            if cell.class_
        )
    return entries
