"""The tables of a tally: counts by class, of the detection-only score, of frames, and of curves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.protocols.neovision2.class_lists import UNLISTED
from vidscore_evaluators.protocols.neovision2.detection_only import DetectionOnly
from vidscore_evaluators.protocols.neovision2.outcomes import Outcomes
from vidscore_evaluators.protocols.neovision2.preparation import COUNTERS, Scene
from vidscore_evaluators.tally import Table, TableSchema, build_table

COUNTS = ("ground_truth_objects", "true_positives", "false_positives")
CHANGES = ("true_positives", "false_positives")

CLASSES = TableSchema(("domain", "sequence", "class"), counts=COUNTS)
CLASS_POINTS = TableSchema(("domain", "class"), numbers=("threshold",), counts=CHANGES)
DETECTION_ONLY = TableSchema(("domain", "sequence"), counts=COUNTS)
DETECTION_ONLY_POINTS = TableSchema(("domain",), numbers=("threshold",), counts=CHANGES)
FRAMES = TableSchema(("domain", "sequence"), counts=COUNTERS)


def make_tables(
    scene: Scene, classification: Outcomes, detection_only: DetectionOnly
) -> Mapping[str, Table]:
    """Add everything up.

    Every sequence of which the truth lists a frame has a row for each class of its domain,
    without objects and detections too. The tables of points hold, for each threshold, what
    changes there: the numbers at a threshold are the sums from the top down to it.
    """
    return _Tables(scene, classification, detection_only).all()


@dataclass(frozen=True, eq=False)
class _Points:
    """Q points of curves, each with (Q,) changes of true and of false positives."""

    domains: IntArray
    classes: IntArray
    thresholds: FloatArray
    changes: list[IntArray]


class _Tables:
    def __init__(
        self, scene: Scene, classification: Outcomes, detection_only: DetectionOnly
    ) -> None:
        self._scene = scene
        self._classification = classification
        self._detection_only = detection_only
        self._class_count = scene.classes.count
        self._sequence_count = len(scene.sequence_names)
        self._words: list[str] = []
        self._domain_words = self._add_words(scene.domain_names)
        self._sequence_words = self._add_words(scene.sequence_names)
        shape = (len(scene.domain_names), self._class_count)
        self._class_words = np.zeros(shape, dtype=np.int64)
        for domain, names in enumerate(scene.classes.names):
            self._class_words[domain, list(names)] = self._add_words(tuple(names.values()))

    def all(self) -> Mapping[str, Table]:
        """Every table by name."""
        return {
            "classes": self._classes(),
            "class_points": self._class_points(),
            "detection_only": self._sequences(),
            "detection_only_points": self._detection_only_points(),
            "frames": self._frames(),
        }

    def _classes(self) -> Table:
        scene, count = self._scene, self._class_count
        real = ~scene.dont_care & (scene.objects.classes != UNLISTED)
        sequences = scene.selection.sequences[scene.objects.frames[real]]
        objects = np.bincount(
            sequences * count + scene.objects.classes[real],
            minlength=self._sequence_count * count,
        )
        scored = self._scored(self._classification)
        keys = scored.sequences * count + scored.classes
        totals = [objects, *_sums(scored, keys, self._sequence_count * count)]
        listed = scene.selection.listed_sequences[:, np.newaxis]
        rows = np.flatnonzero(listed & scene.classes.listed[scene.domains, :-1])
        sequences, classes = np.divmod(rows, count) if count else (rows, rows)
        domains = scene.domains[sequences]
        codes = (
            self._domain_words[domains],
            self._sequence_words[sequences],
            self._class_words[domains, classes],
        )
        return self._build(CLASSES, codes, [total[rows] for total in totals])

    def _sequences(self) -> Table:
        scored = self._scored(self._detection_only.outcomes)
        totals = [
            self._detection_only.object_counts,
            *_sums(scored, scored.sequences, self._sequence_count),
        ]
        rows = np.flatnonzero(self._scene.selection.listed_sequences)
        codes = (self._domain_words[self._scene.domains[rows]], self._sequence_words[rows])
        return self._build(DETECTION_ONLY, codes, [total[rows] for total in totals])

    def _frames(self) -> Table:
        codes = (self._domain_words[self._scene.domains], self._sequence_words)
        return self._build(FRAMES, codes, [self._scene.counters[name] for name in COUNTERS])

    def _class_points(self) -> Table:
        points = self._points(self._classification)
        words = (
            self._domain_words[points.domains],
            self._class_words[points.domains, points.classes],
        )
        return self._build(CLASS_POINTS, words, points.changes, points.thresholds)

    def _detection_only_points(self) -> Table:
        points = self._points(self._detection_only.outcomes)
        words = (self._domain_words[points.domains],)
        return self._build(DETECTION_ONLY_POINTS, words, points.changes, points.thresholds)

    def _points(self, outcomes: Outcomes) -> _Points:
        """Changes added up by domain, class and level, where a curve has that level."""
        thresholds = self._scene.levels.curve_thresholds
        outcomes = outcomes.take(~np.isnan(thresholds[outcomes.levels]))
        shape = (len(self._scene.domain_names), max(1, self._class_count), len(thresholds))
        keys = (self._scene.domains[outcomes.sequences], outcomes.classes, outcomes.levels)
        cells = np.ravel_multi_index(keys, shape) if len(keys[0]) else keys[0]
        size = int(np.prod(shape))
        if size > len(cells):
            # Few of the cells are in use, so that they are numbered first.
            used, cells = np.unique(cells, return_inverse=True)
            changes = _sums(outcomes, cells, len(used))
        else:
            used = np.flatnonzero(np.bincount(cells, minlength=size))
            changes = [column[used] for column in _sums(outcomes, cells, size)]
        domains, classes, levels = np.unravel_index(used, shape)
        return _Points(domains, classes, thresholds[levels], changes)

    def _scored(self, outcomes: Outcomes) -> Outcomes:
        """What counts in the scores at the chosen confidence threshold."""
        return outcomes.take(outcomes.levels >= self._scene.levels.first_scored)

    def _add_words(self, words: Sequence[str]) -> IntArray:
        """Codes of words that are added to the vocabulary."""
        start = len(self._words)
        self._words.extend(words)
        return np.arange(start, len(self._words), dtype=np.int64)

    def _build(
        self,
        schema: TableSchema,
        codes: Sequence[IntArray],
        counts: Sequence[IntArray],
        *numbers: FloatArray,
    ) -> Table:
        return build_table(schema, self._words, codes, numbers=numbers, counts=counts)


def _sums(outcomes: Outcomes, keys: IntArray, size: int) -> list[IntArray]:
    """(size,) sums of true and of false positives by key."""
    return [
        np.bincount(keys, weights=changes, minlength=size).astype(np.int64)
        for changes in (outcomes.true_positives, outcomes.false_positives)
    ]
