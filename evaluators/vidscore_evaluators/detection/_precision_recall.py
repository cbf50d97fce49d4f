"""Precision, recall, miss rate and false alarms by confidence, and scores per class from them.

Detections of equal confidence form one step: a point of a curve covers all detections at or above a
confidence, so that nothing depends on the order of rows.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

import numpy as np
from msgspec import Struct

from vidscore_evaluators._report_rows import Figures, block_of, mean, ratio, scopes
from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts
from vidscore_evaluators.detection._outcomes import FALSE, TRUE, OutcomeArray, decode
from vidscore_evaluators.kernels import accumulate_outcomes, greatest_precisions, precisions_reached
from vidscore_evaluators.report import Block, Number
from vidscore_evaluators.tally import Table

Interpolation = Literal["all-point", "11-point", "11-point-voc", "11-point-numpy", "101-point"]

LEVELS_11 = np.arange(11) / 10
"""Recall levels of PASCAL VOC 2007, each the nearest number to its decimal."""

LEVELS_11_VOC = np.concatenate([np.arange(5) * 0.1, [0.5], (1.0 - np.arange(5) * 0.1)[::-1]])
"""The same levels as Matlab computes them for 0:0.1:1, from both ends: 0.3 is one ulp too high."""

LEVELS_11_NUMPY = np.arange(0.0, 1.1, 0.1)
"""The same levels as DOTA_devkit computes them: 0.3, 0.6 and 0.7 are one ulp too high."""

LEVELS_101 = np.linspace(0.0, 1.0, 101)
"""Recall levels of COCO, to the bit as in pycocotools: ten are one ulp above the decimal."""

_LEVELS: Mapping[Interpolation, FloatArray] = MappingProxyType(
    {
        "11-point": LEVELS_11,
        "11-point-voc": LEVELS_11_VOC,
        "11-point-numpy": LEVELS_11_NUMPY,
        "101-point": LEVELS_101,
    }
)


def powers_of_ten(quotients: range, divisor: int) -> FloatArray:
    """10**(q / divisor) for each quotient q, rounded to the nearest binary64.

    `numpy.logspace` differs in the last bit between releases, and rates are compared with these.
    """
    return np.array([float(Decimal(10) ** (Decimal(q) / divisor)) for q in quotients])


FPPI_SAMPLES = powers_of_ten(range(-8, 1), 4)
"""False positives per frame at which the log-average miss rate is sampled, from 1e-2 to 1."""

LEAST_MISS_RATE = 1e-10
"""Value that replaces a miss rate of 0 in a mean of logarithms."""


class Ranked(Struct, frozen=True, eq=False, dict=True):
    """Results of a system at each of P confidences and K thresholds.

    Attributes:
        confidences: (P,) descending; each once, unless detections are ranked one by one.
        true: (P, K) true positives among the detections at or above the confidence.
        false: (P, K) false positives among them.
    """

    confidences: FloatArray
    true: IntArray
    false: IntArray

    @property
    def totals(self) -> IntArray:
        """(K,) true positives among all detections."""
        if len(self.confidences) == 0:
            return np.zeros(self.true.shape[1], dtype=np.int64)
        totals: IntArray = self.true[-1]
        return totals

    @cached_property
    def precisions(self) -> FloatArray:
        """(P, K) greatest precision at or below each confidence; 0 if nothing is counted."""
        precisions, (row_count, column_count) = np.empty(self.true.shape), self.true.shape
        greatest_precisions(self.true, self.false, row_count, column_count, precisions)
        return precisions


def ranked(
    confidences: FloatArray,
    outcomes: OutcomeArray,
    detections: IntArray,
    *,
    one_by_one: bool = False,
) -> Ranked:
    """Accumulate outcomes in descending confidence.

    Args:
        confidences: (R,) confidences, in any order.
        outcomes: (R, K) outcomes.
        detections: (R,) number of detections of each row.
        one_by_one: Whether equal confidences are ranked in the order of rows, not in one step.

    Raises:
        ValueError: If the lengths differ.
    """
    if not len(confidences) == len(outcomes) == len(detections):
        lengths = len(confidences), len(outcomes), len(detections)
        raise ValueError(f"columns of different lengths: {lengths}")
    order = np.argsort(-confidences, kind="stable")
    confidences = confidences[order]
    last = np.ones(len(order), dtype=np.bool_)
    last[:-1] = one_by_one | (confidences[1:] != confidences[:-1])
    shape = int(np.count_nonzero(last)), outcomes.shape[1]
    true, false = np.empty(shape, dtype=np.int64), np.empty(shape, dtype=np.int64)
    accumulate_outcomes(
        np.ascontiguousarray(outcomes).view(np.uint8),
        np.ascontiguousarray(detections, dtype=np.int64),
        *(order, last, len(order), shape[1], TRUE, FALSE, true, false),
    )
    return Ranked(confidences[last], true, false)


class Cell(Struct, frozen=True, eq=False):
    """One class of one domain, or of all domains together.

    Attributes:
        domain: The domain; None for all.
        label: The class.
        counts: Integers by name; ``truth`` is the number of real objects.
        ranked: The results of the system.
    """

    domain: str | None
    label: str
    counts: Mapping[str, int]
    ranked: Ranked


def cells_by_scope(outcomes: Table, classes: Table, column_count: int) -> Iterator[list[Cell]]:
    """The classes of all domains together and, if domains have names, of each domain.

    Args:
        outcomes: Table of outcomes.
        classes: Table of counts by domain and class.
        column_count: Thresholds of the outcomes.

    Yields:
        A cell for each class that has an object or a detection, in ascending order.
    """
    decoded = decode(outcomes, column_count)
    confidences, detections = outcomes.number("confidence"), outcomes.count("detections")
    one_by_one = "row" in outcomes.schema.numbers
    outcome_rows, class_rows = _rows_by_key(outcomes), _rows_by_key(classes)
    classes_of: defaultdict[str | None, list[str]] = defaultdict(list)
    for scope, label in class_rows:
        classes_of[scope].append(label)
    for domain in scopes(classes.texts("domain")):
        cells = []
        for label in sorted(classes_of[domain]):
            rows = outcome_rows.get((domain, label), np.zeros(0, dtype=np.int64))
            counts = classes.counts[class_rows[domain, label]].sum(axis=0).tolist()
            cells.append(
                Cell(
                    domain,
                    label,
                    dict(zip(classes.schema.counts, counts, strict=True)),
                    ranked(
                        confidences[rows], decoded[rows], detections[rows], one_by_one=one_by_one
                    ),
                )
            )
        yield cells


def average_precisions(
    found: Ranked, truth: Sequence[int], interpolation: Interpolation
) -> list[float | None]:
    """Area under the precision-recall curve at each threshold.

    Source: section 2 of the paper, with the precision made monotone (the greatest at or beyond a
    recall). All-point: the exact area under that step function. 11-point: PASCAL VOC 2007, at the
    levels as decimals, or to the bit as in its development kit. 101-point: COCO.

    Args:
        found: Results of a system at K thresholds.
        truth: (K,) real objects at each threshold.
        interpolation: Recalls at which precision is taken.

    Returns:
        (K,) values; None if there is no object.
    """
    if interpolation == "all-point":
        return _whole_areas(found, truth)
    levels = _LEVELS[interpolation]
    reached = precisions_at(found.true, found.precisions, truth, levels).tolist()
    return [
        math.fsum(values) / len(levels) if count else None
        for values, count in zip(reached, truth, strict=True)
    ]


def _whole_areas(found: Ranked, truth: Sequence[int]) -> list[float | None]:
    """(K,) exact area under the step function; None if there is no object."""
    if len(found.confidences) == 0:
        return [0.0 if count else None for count in truth]
    gains = np.diff(found.true, axis=0, prepend=0)
    # Sum sequentially: a pairwise sum would depend on the layout of the columns.
    areas = np.cumsum(gains * found.precisions, axis=0)[-1].tolist()
    return [area / count if count else None for area, count in zip(areas, truth, strict=True)]


def precisions_at(
    true: IntArray, precisions: FloatArray, truth: Sequence[int], levels: FloatArray
) -> FloatArray:
    """Monotone precision at recall levels; 0 if a recall is never reached.

    Args:
        true: (P, K) true positives in descending confidence.
        precisions: (P, K) monotone precisions.
        truth: (K,) real objects at each threshold.
        levels: (L,) recalls from 0 to 1.

    Returns:
        (K, L) precisions.

    Raises:
        ValueError: If the shapes differ.
    """
    if not true.shape == precisions.shape == (len(true), len(truth)):
        raise ValueError(f"{true.shape} and {precisions.shape} are not of {len(truth)} thresholds")
    reaching = {count: _reaching(count, levels) for count in dict.fromkeys(truth)}
    wanted = np.stack([reaching[count] for count in truth])
    true, precisions = np.ascontiguousarray(true), np.ascontiguousarray(precisions)
    found = np.empty(wanted.shape)
    precisions_reached(true, precisions, len(true), len(wanted), wanted, len(levels), found)
    return found


def _reaching(truth: int, levels: FloatArray) -> IntArray:
    """(L,) least number of true positives whose rounded recall is at least each level."""
    if truth == 0:
        return np.ones(len(levels), dtype=np.int64)
    counts = np.maximum(np.floor(levels * truth) - 1.0, 0.0)
    for _ in range(3):  # counts starts at most three too low
        counts += counts / truth < levels
    reaching: IntArray = counts.astype(np.int64)
    return reaching


def recalls(found: Ranked, truth: Sequence[int]) -> list[float | None]:
    """(K,) fraction of the real objects that is found at all; None if there are none."""
    totals = found.totals.tolist()
    return [ratio(true, count) for true, count in zip(totals, truth, strict=True)]


def miss_rates_at(
    true: IntArray, false: IntArray, truth: int, frames: int, samples: FloatArray
) -> FloatArray:
    """Miss rate at false positives per frame: that of the last point at or below each sample.

    Args:
        true: (P, K) true positives in descending confidence.
        false: (P, K) false positives in descending confidence.
        truth: Real objects, at least one.
        frames: Frames, at least one.
        samples: (S,) false positives per frame.

    Returns:
        (K, S) miss rates; 1 before any point.
    """
    columns = np.ascontiguousarray((false / frames).T)
    rows = np.array([column.searchsorted(samples, side="right") for column in columns])
    reached = np.vstack([np.zeros_like(true, shape=(1, len(columns))), true])
    missed: FloatArray = (truth - np.take_along_axis(reached, rows.T, axis=0).T) / truth
    return missed


def log_average_miss_rates(found: Ranked, truth: int, frames: int) -> list[float | None]:
    """(K,) geometric mean of the miss rate at nine rates of false positives; None without truth.

    Source: section 2 of the paper. Logarithms to base 10 give the same mean, and make its least
    value exactly `LEAST_MISS_RATE`.
    """
    if truth == 0:
        return [None] * found.true.shape[1]
    sampled = miss_rates_at(found.true, found.false, truth, frames, FPPI_SAMPLES)
    values: list[float | None] = []
    for rates in np.maximum(sampled, LEAST_MISS_RATE).tolist():
        logarithms = list(map(math.log10, rates))
        values.append(float(10.0 ** (math.fsum(logarithms) / len(logarithms))))
    return values


def _rows_by_key(table: Table) -> dict[tuple[str | None, str], IntArray]:
    """Rows of each class in each domain, and in all domains (None), in ascending order."""
    domains, classes = table.codes("domain"), table.codes("class")
    bounds = np.append(run_starts(domains, classes), table.row_count).tolist()
    runs: dict[tuple[str | None, str], list[IntArray]] = {}
    for first, last in pairwise(bounds):
        domain, label = table.vocabulary[domains[first]], table.vocabulary[classes[first]]
        rows = np.arange(first, last, dtype=np.int64)
        runs[domain, label] = [rows]
        runs.setdefault((None, label), []).append(rows)
    return {key: np.concatenate(parts) for key, parts in runs.items()}


Values = list[float | None]
"""A score at each of K thresholds; None if it is undefined."""

Weight = Callable[[Cell], int]
"""Weight of a class in a mean over classes."""


class ClassEntry(Struct, frozen=True, eq=False):
    """A class, or the mean over the classes that are present in the truth.

    Attributes:
        domain: Domain; None for all.
        label: Class; None for the mean over classes.
        values: (K,) score at each threshold.
        cells: The cells of its classes.
    """

    domain: str | None
    label: str | None
    values: Values
    cells: list[Cell]

    def mean_of(self, score: Callable[[Cell], float | None], weight: Weight | None) -> float | None:
        """Mean of a score over its classes; None if it is undefined in all."""
        return mean_of_classes([score(cell) for cell in self.cells], self.cells, weight)

    def mean_curve(self, curve: Callable[[Cell], FloatArray], length: int) -> Values:
        """Mean, point by point, of a curve over the classes that have objects.

        Args:
            curve: Returns a class's `length` values.
            length: Number of values.
        """
        curves = [curve(cell).tolist() for cell in self.cells if cell.counts["truth"]]
        if len(curves) == 1:
            return list(curves[0])
        return [mean(values) for values in zip(*curves, strict=True)] or [None] * length


def mean_of_classes(
    values: Sequence[float | None], cells: Sequence[Cell], weight: Weight | None
) -> float | None:
    """Mean of the defined values of classes, weighted if a weight is given."""
    if weight is None:
        return mean(values)
    pairs = [(value, weight(cell)) for value, cell in zip(values, cells, strict=True)]
    defined = [(value, share) for value, share in pairs if value is not None and share]
    total = sum(share for _, share in defined)
    return math.fsum(value * share for value, share in defined) / total if total else None


def class_entries(
    outcomes: Table,
    classes: Table,
    column_count: int,
    score: Callable[[Cell], Values],
    weight: Weight | None = None,
) -> list[ClassEntry]:
    """Score every class, in all domains together and in each domain with a name.

    Args:
        outcomes: Table of outcomes.
        classes: Table of counts by domain and class.
        column_count: Thresholds K of the outcomes.
        score: Returns a class's (K,) values, None if it has no object.
        weight: Weight of a class in means; equal by default.

    Returns:
        For each domain the mean over classes, then the classes that have a name.
    """
    entries: list[ClassEntry] = []
    for cells in cells_by_scope(outcomes, classes, column_count):
        values = [score(cell) for cell in cells]
        columns = zip(*values, strict=True)
        means = [mean_of_classes(column, cells, weight) for column in columns]
        means = means or [None] * column_count
        domain = cells[0].domain if cells else None
        entries.append(ClassEntry(domain, None, means, cells))
        entries.extend(
            ClassEntry(domain, cell.label, own, [cell])
            for cell, own in zip(cells, values, strict=True)
            if cell.label
        )
    return entries


def class_block(
    cells_of_scopes: Iterable[list[Cell]],
    measures_of: Callable[[Cell], dict[str, Number]],
    together: Callable[[list[dict[str, Number]]], dict[str, Number]],
) -> Block:
    """Rows of each domain (its classes together), and of each class that has a name.

    Args:
        cells_of_scopes: As `cells_by_scope` gives them.
        measures_of: Every measure of a class.
        together: Every measure of several classes together.
    """
    figures: list[Figures] = []
    for cells in cells_of_scopes:
        by_class = [measures_of(cell) for cell in cells]
        domain = cells[0].domain if cells else None
        figures.append(Figures(domain, None, None, together(by_class)))
        figures.extend(
            Figures(domain, cell.label, None, values)
            for cell, values in zip(cells, by_class, strict=True)
            if cell.label
        )
    return block_of(figures)
