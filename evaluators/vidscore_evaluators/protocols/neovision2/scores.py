"""From a tally to the rows, curves and warnings of a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from vidscore_evaluators.arrays import run_starts
from vidscore_evaluators.protocols.neovision2.averages import Costs, Counts, averages
from vidscore_evaluators.protocols.neovision2.curves import (
    Points,
    area_under_curve,
    at_curve_thresholds,
    points_from_changes,
    roc_curve,
)
from vidscore_evaluators.protocols.neovision2.parameters import Neovision2Parameters
from vidscore_evaluators.protocols.neovision2.report_warnings import report_warnings
from vidscore_evaluators.protocols.neovision2.tally_tables import CHANGES, COUNTS
from vidscore_evaluators.report import Block, Curve, Number, Scores
from vidscore_evaluators.tally import Table, Tally

Key = tuple[str, ...]

DETECTION_ONLY = "detection_only_"
"""What the names of the detection-only measures begin with."""


def make_scores(tally: Tally, parameters: Neovision2Parameters) -> Scores:
    """Every score of the protocol, with the counts that it is made of."""
    return _Scores(tally, parameters).all()


class _Scores:
    def __init__(self, tally: Tally, parameters: Neovision2Parameters) -> None:
        self._tables = tally.tables
        self._parameters = parameters
        self._costs = Costs(parameters.c_m, parameters.c_f)
        self._sequence_frames = _column(tally.tables["frames"], "evaluated_frames")
        frames = tally.tables["frames"].grouped("domain")
        self._domain_frames = _column(frames, "evaluated_frames")
        self._classes = _counts(tally.tables["classes"].grouped("domain", "class"))
        self._domains = _counts(tally.tables["detection_only"].grouped("domain"))

    def all(self) -> Scores:
        """Rows from the whole down to the single sequence, then curves and warnings."""
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
            curves=(
                *self._curves(self._domains, domain_points),
                *self._curves(self._classes, class_points),
            ),
            warnings=report_warnings(self._tables["frames"]),
        )

    def _classes_over_domains(self) -> Block:
        """Averages of each class over the domains that score it."""
        names: dict[str, str] = {}
        gathered: defaultdict[str, list[Counts]] = defaultdict(list)
        for (_, class_), counts in self._classes.items():
            name = names.setdefault(class_.casefold(), class_)
            gathered[name].append(counts)
        ordered = sorted(gathered)
        measures = [averages(gathered[name], self._costs) for name in ordered]
        return Block(_transposed(measures), classes=ordered)

    def _domain_rows(self, points: Mapping[Key, Points]) -> Block:
        gathered: defaultdict[str, list[Counts]] = defaultdict(list)
        for (domain, _), counts in self._classes.items():
            gathered[domain].append(counts)
        measures = [
            averages(gathered[domain], self._costs)
            | self._measures(counts, DETECTION_ONLY)
            | {f"{DETECTION_ONLY}az": self._area(points[domain,], counts, domain)}
            for (domain,), counts in self._domains.items()
        ]
        return Block(_transposed(measures), domains=[domain for (domain,) in self._domains])

    def _class_rows(self, points: Mapping[Key, Points]) -> Block:
        measures = [
            self._measures(counts)
            | {
                "evaluated_frames": self._domain_frames[domain,],
                "az": self._area(points[domain, class_], counts, domain),
            }
            for (domain, class_), counts in self._classes.items()
        ]
        domains, classes = _split_keys(self._classes, 2)
        return Block(_transposed(measures), domains=domains, classes=classes)

    def _sequence_rows(self) -> Block:
        table = _counts(self._tables["detection_only"])
        measures = [self._measures(counts, DETECTION_ONLY) for counts in table.values()]
        domains, sequences = _split_keys(table, 2)
        return Block(_transposed(measures), domains=domains, sequences=sequences)

    def _sequence_class_rows(self) -> Block:
        table = _counts(self._tables["classes"])
        measures = [
            self._measures(counts) | {"evaluated_frames": self._sequence_frames[domain, sequence]}
            for (domain, sequence, _), counts in table.items()
        ]
        domains, sequences, classes = _split_keys(table, 3)
        return Block(_transposed(measures), domains, classes, sequences)

    def _points(self, name: str, keys: Iterable[Key]) -> dict[Key, Points]:
        """Operating points of every key, those without any detection included."""
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

    def _curves(self, table: Mapping[Key, Counts], points: Mapping[Key, Points]) -> list[Curve]:
        return [
            roc_curve(points[key], counts.objects, self._domain_frames[key[:1]], *key)
            for key, counts in table.items()
        ]

    def _area(self, points: Points, counts: Counts, domain: str) -> float | None:
        frames = self._domain_frames[domain,]
        return area_under_curve(points, counts.objects, frames, self._parameters.az_limit)

    def _measures(self, counts: Counts, prefix: str = "") -> dict[str, Number]:
        return {
            f"{prefix}ground_truth_objects": counts.objects,
            f"{prefix}true_positives": counts.true_positives,
            f"{prefix}missed_detections": counts.missed,
            f"{prefix}false_positives": counts.false_positives,
            f"{prefix}nmotda": self._costs.nmotda(counts),
        }


def _counts(table: Table) -> dict[Key, Counts]:
    columns = (table.count(name).tolist() for name in COUNTS)
    return {
        key: Counts(*row) for key, row in zip(_keys(table), zip(*columns, strict=True), strict=True)
    }


def _column(table: Table, name: str) -> dict[Key, int]:
    return dict(zip(_keys(table), table.count(name).tolist(), strict=True))


def _rows_by_key(table: Table) -> dict[Key, slice]:
    """Rows of each text key; they lie together, because a table is sorted."""
    first = run_starts(*table.text_codes.T).tolist()
    keys = _keys(table)
    ends = [*first, table.row_count][1:]
    return {keys[start]: slice(start, end) for start, end in zip(first, ends, strict=True)}


def _keys(table: Table) -> list[Key]:
    return list(zip(*(table.texts(name) for name in table.schema.texts), strict=True))


def _transposed(rows: Sequence[Mapping[str, Number]]) -> dict[str, list[Number]]:
    """Columns by name out of rows that all have the same names."""
    return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}


def _split_keys(keys: Iterable[Key], width: int) -> list[list[str]]:
    """Columns of keys; of none at all too."""
    listed = list(keys)
    return [[key[position] for key in listed] for position in range(width)]
