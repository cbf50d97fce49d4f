"""Scores of Neovision2 from a tally, computed from integers only, and its warnings.

NMOTDA (section 3.2, eq. 2) and its averages (section 3.4), ROC curves and the area under them
(sections 3.5 and 3.6).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from statistics import median

import numpy as np
from msgspec import Struct

from vidscore_evaluators.arrays import FloatArray, IntArray, run_starts
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.neovision2._input import CURVE_THRESHOLDS, Neovision2Parameters
from vidscore_evaluators.report import Block, Curve, Number, ReportWarning, Scores
from vidscore_evaluators.tally import Table, Tally

COUNTS = ("ground_truth_objects", "true_positives", "false_positives")
CHANGES = ("true_positives", "false_positives")

Key = tuple[str, ...]

DETECTION_ONLY = "detection_only_"
"""Prefix of the names of the detection-only measures."""


def make_scores(tally: Tally, parameters: Neovision2Parameters) -> Scores:
    """Every score of the protocol, with the counts behind it."""
    return _Scores(tally, parameters).all()


class _Scores:
    def __init__(self, tally: Tally, parameters: Neovision2Parameters) -> None:
        self._tables = tally.tables
        self._parameters = parameters
        self._costs = Costs(parameters.c_m, parameters.c_f)
        self._sequence_frames = _frames(tally.tables["frames"])
        frames = tally.tables["frames"].grouped("domain")
        self._domain_frames = _frames(frames)
        self._classes = _counts_by_key(tally.tables["classes"].grouped("domain", "class"))
        self._domains = _counts_by_key(tally.tables["detection_only"].grouped("domain"))

    def all(self) -> Scores:
        """Rows from the whole down to single sequences, then curves and warnings."""
        class_points = self._points("class_points", self._classes)
        domain_points = self._points("detection_only_points", self._domains)
        blocks = (
            Block(_transposed([averages(list(self._classes.values()), self._costs)])),
            self._classes_over_domains(),
            self._domain_rows(domain_points),
            self._class_rows(class_points),
            self._sequence_rows(),
            self._sequence_class_rows(),
        )
        return Scores(
            blocks=blocks,
            curves=Deferred(
                lambda: (
                    *self._curves(self._domains, domain_points),
                    *self._curves(self._classes, class_points),
                )
            ),
            warnings=report_warnings(self._tables["frames"]),
        )

    def _classes_over_domains(self) -> Block:
        """Averages of each class over the domains that score it."""
        names: dict[str, str] = {}
        gathered: defaultdict[str, list[ClassCounts]] = defaultdict(list)
        for (_, label), counts in self._classes.items():
            name = names.setdefault(label.casefold(), label)
            gathered[name].append(counts)
        ordered = sorted(gathered)
        measures = [averages(gathered[name], self._costs) for name in ordered]
        return Block(_transposed(measures), classes=ordered)

    def _domain_rows(self, points: Mapping[Key, OperatingPoints]) -> Block:
        gathered: defaultdict[str, list[ClassCounts]] = defaultdict(list)
        for (domain, _), counts in self._classes.items():
            gathered[domain].append(counts)
        measures = [
            averages(gathered[domain], self._costs)
            | self._measures(counts, DETECTION_ONLY)
            | {f"{DETECTION_ONLY}az": self._area(points[domain,], counts, domain)}
            for (domain,), counts in self._domains.items()
        ]
        return Block(_transposed(measures), domains=[domain for (domain,) in self._domains])

    def _class_rows(self, points: Mapping[Key, OperatingPoints]) -> Block:
        measures = [
            self._measures(counts)
            | {
                "evaluated_frames": self._domain_frames[domain,],
                "az": self._area(points[domain, label], counts, domain),
            }
            for (domain, label), counts in self._classes.items()
        ]
        domains, classes = _split_keys(self._classes, 2)
        return Block(_transposed(measures), domains=domains, classes=classes)

    def _sequence_rows(self) -> Block:
        table = _counts_by_key(self._tables["detection_only"])
        measures = [self._measures(counts, DETECTION_ONLY) for counts in table.values()]
        domains, sequences = _split_keys(table, 2)
        return Block(_transposed(measures), domains=domains, sequences=sequences)

    def _sequence_class_rows(self) -> Block:
        table = _counts_by_key(self._tables["classes"])
        measures = [
            self._measures(counts) | {"evaluated_frames": self._sequence_frames[domain, sequence]}
            for (domain, sequence, _), counts in table.items()
        ]
        domains, sequences, classes = _split_keys(table, 3)
        return Block(_transposed(measures), domains, classes, sequences)

    def _points(self, name: str, keys: Iterable[Key]) -> dict[Key, OperatingPoints]:
        """Operating points of every key, including keys without any detection."""
        table = self._tables[name]
        found = _rows_by_key(table)
        points = {}
        for key in keys:
            rows = found.get(key, slice(0, 0))
            changes = (table.count(column)[rows] for column in CHANGES)
            points[key] = points_from_changes(table.number("threshold")[rows], *changes)
        if self._parameters.thresholds == "ten":
            points = {key: at_curve_thresholds(changed) for key, changed in points.items()}
        return points

    def _curves(
        self, table: Mapping[Key, ClassCounts], points: Mapping[Key, OperatingPoints]
    ) -> list[Curve]:
        return [
            roc_curve(points[key], counts.objects, self._domain_frames[key[:1]], *key)
            for key, counts in table.items()
        ]

    def _area(self, points: OperatingPoints, counts: ClassCounts, domain: str) -> float | None:
        frames = self._domain_frames[domain,]
        return area_under_curve(points, counts.objects, frames, self._parameters.az_limit)

    def _measures(self, counts: ClassCounts, prefix: str = "") -> dict[str, Number]:
        return count_measures(counts, self._costs, prefix)


def _counts_by_key(table: Table) -> dict[Key, ClassCounts]:
    columns = (table.count(name).tolist() for name in COUNTS)
    return {
        key: ClassCounts(*row)
        for key, row in zip(_keys(table), zip(*columns, strict=True), strict=True)
    }


def _frames(table: Table) -> dict[Key, int]:
    return dict(zip(_keys(table), table.count("evaluated_frames").tolist(), strict=True))


def _rows_by_key(table: Table) -> dict[Key, slice]:
    """Rows of each string key; they are contiguous, because a table is sorted."""
    first = run_starts(*table.text_codes.T).tolist()
    keys = _keys(table)
    ends = [*first, table.row_count][1:]
    return {keys[start]: slice(start, end) for start, end in zip(first, ends, strict=True)}


def _keys(table: Table) -> list[Key]:
    return list(zip(*(table.texts(name) for name in table.schema.texts), strict=True))


def _transposed(rows: Sequence[Mapping[str, Number]]) -> dict[str, list[Number]]:
    """Convert rows that all have the same names to columns by name."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _split_keys(keys: Iterable[Key], width: int) -> list[list[str]]:
    """Columns of keys; also if there are no keys."""
    listed = list(keys)
    return [[key[position] for key in listed] for position in range(width)]


class ClassCounts(Struct, frozen=True):
    """The counts behind a score.

    Attributes:
        objects: Ground-truth objects.
        true_positives: The detected ones among them.
        false_positives: False positives.
    """

    objects: int
    true_positives: int
    false_positives: int

    @property
    def missed(self) -> int:
        """Missed detections."""
        return self.objects - self.true_positives


class Costs:
    """The costs c_m of a missed detection and c_f of a false positive, as exact fractions."""

    def __init__(self, c_m: float, c_f: float) -> None:
        """Put both over one denominator, so that scores are quotients of integers."""
        missed, false = Fraction(c_m), Fraction(c_f)
        self._unit = math.lcm(missed.denominator, false.denominator)
        self._missed = int(missed * self._unit)
        self._false = int(false * self._unit)

    def nmotda(self, counts: ClassCounts) -> float | None:
        """Eq. 2, rounded once; None without ground-truth objects."""
        return self.weighted_mean([counts])

    def weighted_mean(self, several: Sequence[ClassCounts]) -> float | None:
        """Mean of the defined NMOTDA values, each weighted with its ground-truth objects.

        The weights cancel the denominators of eq. 2, so this is also a single quotient of integers.
        None if no value is defined.
        """
        defined = [counts for counts in several if counts.objects]
        objects = self._unit * sum(counts.objects for counts in defined)
        cost = sum(
            self._missed * counts.missed + self._false * counts.false_positives
            for counts in defined
        )
        return (objects - cost) / objects if defined else None


def count_measures(counts: ClassCounts, costs: Costs, prefix: str = "") -> dict[str, Number]:
    """Counts and NMOTDA, with a prefix before their names."""
    return {
        f"{prefix}ground_truth_objects": counts.objects,
        f"{prefix}true_positives": counts.true_positives,
        f"{prefix}missed_detections": counts.missed,
        f"{prefix}false_positives": counts.false_positives,
        f"{prefix}nmotda": costs.nmotda(counts),
    }


def averages(several: Sequence[ClassCounts], costs: Costs) -> dict[str, Number]:
    """Weighted mean, mean and median of the NMOTDA values that are defined.

    Returns:
        The measures by name; None if no value is defined.
    """
    values = [value for counts in several if (value := costs.nmotda(counts)) is not None]
    return {
        "weighted_mean_nmotda": costs.weighted_mean(several),
        # Summed without rounding, so that the order of the values does not matter.
        "mean_nmotda": math.fsum(values) / len(values) if values else None,
        "median_nmotda": float(median(values)) if values else None,
    }


class OperatingPoints(Struct, frozen=True, eq=False):
    """Q operating points, from the highest threshold down.

    Attributes:
        thresholds: (Q,) confidence thresholds, falling.
        true_positives: (Q,) true positives at each.
        false_positives: (Q,) false positives at each.
    """

    thresholds: FloatArray
    true_positives: IntArray
    false_positives: IntArray


def points_from_changes(
    thresholds: FloatArray, true_positives: IntArray, false_positives: IntArray
) -> OperatingPoints:
    """Sum changes from the highest threshold down.

    Args:
        thresholds: (Q,) thresholds, ascending, each once.
        true_positives: (Q,) change of the true positives at each.
        false_positives: (Q,) change of the false positives at each.
    """
    return OperatingPoints(
        thresholds[::-1], np.cumsum(true_positives[::-1]), np.cumsum(false_positives[::-1])
    )


def at_curve_thresholds(points: OperatingPoints) -> OperatingPoints:
    """The points at each of the protocol's ten thresholds, even if nothing changes there."""
    thresholds = np.array(CURVE_THRESHOLDS)
    # Number of points whose threshold is at least that of the curve; a 0 is prepended to the sums.
    reached = np.searchsorted(-points.thresholds, -thresholds, side="right")
    return OperatingPoints(
        thresholds,
        np.append(0, points.true_positives)[reached],
        np.append(0, points.false_positives)[reached],
    )


def roc_curve(
    points: OperatingPoints, objects: int, frames: int, domain: str, label: str | None = None
) -> Curve:
    """The curve in the form of a report.

    Args:
        points: Operating points.
        objects: Ground-truth objects; without any the detection rate is undefined.
        frames: Evaluated frames; without any the false positives per frame are undefined.
        domain: Domain of the curve.
        label: Class of the curve, None for detection-only.
    """
    detected, false = points.true_positives.tolist(), points.false_positives.tolist()
    columns = {
        "threshold": points.thresholds.tolist(),
        "detection_rate": [count / objects if objects else None for count in detected],
        "false_positives_per_frame": [count / frames if frames else None for count in false],
        "true_positives": detected,
        "false_positives": false,
    }
    return Curve("roc", columns, domain, label)


def area_under_curve(
    points: OperatingPoints, objects: int, frames: int, limit: float
) -> float | None:
    """Az: the area under the straight lines through the points, divided by its width.

    The lines go in order of false positives per frame, from (0, 0) unless a point has none. Of
    points that share an x, the best counts. After the last point the curve is level.

    Args:
        points: Operating points.
        objects: Ground-truth objects.
        frames: Evaluated frames.
        limit: False positives per frame up to which the area is taken.

    Returns:
        The area in [0, 1], rounded once; None without ground-truth objects.
    """
    if objects == 0:
        return None
    # In units of (one false positive) x (one true positive), in which every corner is an integer.
    end = Fraction(limit) * frames
    doubled: int | Fraction = 0
    x, y = 0, 0
    for next_x, next_y in _best_by_false_positives(points):
        if next_x > end:
            height = y + Fraction(next_y - y, next_x - x) * (end - x)
            return float((doubled + (end - x) * (y + height)) / (2 * end * objects))
        doubled += (next_x - x) * (y + next_y)
        x, y = next_x, next_y
    return float((doubled + (end - x) * 2 * y) / (2 * end * objects))


def _best_by_false_positives(points: OperatingPoints) -> list[tuple[int, int]]:
    """For each number of false positives, ascending, the most true positives."""
    order = np.lexsort((points.true_positives, points.false_positives))
    false, true = points.false_positives[order], points.true_positives[order]
    last = np.flatnonzero(np.append(false[1:] != false[:-1], len(false) > 0))
    return list(zip(false[last].tolist(), true[last].tolist(), strict=True))


_MESSAGES = {
    "unevaluated_detections": "detections in frames that are not evaluated are not scored",
    "dont_care_frames": "don't-care frames are left out of every count and average",
    "detections_in_dont_care_frames": "detections in don't-care frames are not scored",
    "objects_in_regions": "annotated objects are left out, because more of their area than "
    "region_share lies inside don't-care regions",
    "detections_in_regions": "detections are left out, because more of their area than "
    "region_share lies inside don't-care regions",
    "objects_without_area": "annotated boxes have no area and can never be matched",
    "detections_without_area": "detected boxes have no area and can never be matched",
    "crossed_regions": "don't-care regions have sides that cross; their convex hulls are used",
    "unlisted_objects": "annotated objects have labels that their domain does not score; they "
    "take part in the detection-only score alone",
    "unlisted_detections": "detections have labels that their domain does not score; they take "
    "part in the detection-only score alone",
}
_SILENT_SEQUENCES = "sequences have no detections at all; all of their objects count as missed"


def report_warnings(frames: Table) -> tuple[ReportWarning, ...]:
    """Warnings from the counters, each with its stable code and number of occurrences.

    Args:
        frames: The table of frames, one row per sequence.
    """
    counts = {code: int(frames.count(code).sum()) for code in _MESSAGES}
    silent = (frames.count("received_detections") == 0) & (frames.count("evaluated_frames") > 0)
    counted = [(code, _MESSAGES[code], count) for code, count in counts.items()]
    counted.append(("sequences_without_detections", _SILENT_SEQUENCES, int(silent.sum())))
    return tuple(ReportWarning(*entry) for entry in counted if entry[2])
