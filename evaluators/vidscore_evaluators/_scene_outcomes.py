"""Outcomes of criteria: from a scene to a table of outcomes, and from its rows to their sums.

The way to the table: `unmatched_builder`, then `match_pairs`. The way back: `ScoredRows` groups the
rows by sequence and class, the keys of a criterion's tables. The same functions then make figures
from outcomes as from a tally.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.geometry import squared_lengths
from vidscore_evaluators.keys import factorize
from vidscore_evaluators.outcome_table import CODES, SIDES, Outcome, OutcomeBuilder, Outcomes
from vidscore_evaluators.report import Block, Number
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Candidates, Similarity
from vidscore_evaluators.tally import Table, TableSchema, build_table


def unmatched_builder(aligned: Aligned, scene: Scene) -> OutcomeBuilder:
    """A builder in which everything in a traced scene is unmatched, and all else is ignored."""
    builder = OutcomeBuilder(aligned)
    builder.set(Side.TRUTH, scene.truth.traced, Outcome.FALSE_NEGATIVE)
    builder.set(Side.DETECTIONS, scene.detections.traced, Outcome.FALSE_POSITIVE)
    return builder


def match_pairs(
    builder: OutcomeBuilder, scene: Scene, similarity: Similarity, pairs: Candidates
) -> None:
    """Mark pairs of a traced scene with its truth as true positives."""
    truth, detections = _rows_of(scene, pairs)
    builder.match(truth, detections, **_likeness(scene, similarity, pairs))


def relate_pairs(
    builder: OutcomeBuilder,
    scene: Scene,
    similarity: Similarity,
    pairs: Candidates,
    sides: Collection[Side] = SIDES,
) -> None:
    """Set partners in a traced scene, whatever the outcome, for rows of one side or of both.

    Targets may be truth or absorbers.
    """
    truth, detections = _rows_of(scene, pairs)
    alike = _likeness(scene, similarity, pairs)
    if Side.TRUTH in sides:
        builder.relate(Side.TRUTH, truth, detections, **alike)
    if Side.DETECTIONS in sides:
        builder.relate(Side.DETECTIONS, detections, truth, **alike)


def _rows_of(scene: Scene, pairs: Candidates) -> tuple[IntArray, IntArray]:
    """Rows of pairs on both sides of the input."""
    targets = np.concatenate([scene.truth.traced, scene.absorbers.traced])
    return targets[pairs.targets], scene.detections.traced[pairs.detections]


def _likeness(scene: Scene, similarity: Similarity, pairs: Candidates) -> dict[str, FloatArray]:
    """Similarity of pairs in the form of `OutcomeBuilder`: for points, distances in pixels."""
    if similarity.base != "euclidean":
        return {"similarities": pairs.similarities}
    targets = np.concatenate([scene.truth.coordinates, scene.absorbers.coordinates])
    offsets = targets[pairs.targets] - scene.detections.coordinates[pairs.detections]
    return {"distances_px": np.sqrt(squared_lengths(offsets[:, 0], offsets[:, 1]))}


class ScoredRows(Struct, frozen=True, eq=False):
    """The N rows of outcomes that are not ignored, in the C sequences and classes that have some.

    Attributes:
        outcomes: The rows.
        truth: (N,) whether a row is an object of the truth; else it is a detection.
        cells: (N,) cell of each row: its sequence and class.
        sequences: (C,) sequence of each cell.
        labels: (C,) label of each; 0 if classes are ignored.
        label_names: Names of the labels; one empty name if classes are ignored.
    """

    outcomes: Outcomes
    truth: BoolArray
    cells: IntArray
    sequences: IntArray
    labels: IntArray
    label_names: tuple[str, ...]

    @classmethod
    def of(cls, outcomes: Outcomes, *, separate: bool) -> ScoredRows:
        """Leave out ignored rows.

        Args:
            outcomes: The outcomes of a criterion.
            separate: Whether to keep classes apart.
        """
        scored = outcomes.take(outcomes.outcomes != CODES[Outcome.IGNORED])
        names = outcomes.label_names if separate else ("",)
        width = max(1, len(names))
        keys = scored.sequences.astype(np.int64) * width
        if separate:
            keys += scored.labels
        found, cells, _ = factorize(keys)
        return cls(scored, scored.of_side(Side.TRUTH), cells, found // width, found % width, names)

    def of_label(self, label: str) -> ScoredRows:
        """The rows of one label, in the same cells."""
        kept = np.array([name == label for name in self.label_names])[self.labels][self.cells]
        return replace(
            self,
            outcomes=self.outcomes.take(kept),
            truth=self.truth[kept],
            cells=self.cells[kept],
        )

    @property
    def matched(self) -> BoolArray:
        """(N,) whether each row is a true positive."""
        mask: BoolArray = self.outcomes.outcomes == CODES[Outcome.TRUE_POSITIVE]
        return mask

    @property
    def frame_counts(self) -> IntArray:
        """(C,) evaluated frames of the sequence of each cell."""
        return self._counts_of_sequences()[self.sequences]

    def frame_table(self) -> Table:
        """Numbers of evaluated frames by domain and sequence."""
        counts, keys = self._counts_of_sequences(), self.outcomes.sequence_keys
        some = np.flatnonzero(counts)
        words = [key.domain for key in keys] + [key.sequence for key in keys]
        return build_table(
            TableSchema(("domain", "sequence"), counts=("frames",)),
            words,
            [some, some + len(keys)],
            counts=[counts[some]],
        )

    def _counts_of_sequences(self) -> IntArray:
        counts = self.outcomes.frame_counts
        if counts is None:
            raise ValueError("these outcomes do not know how many frames their sequences have")
        return counts

    def cells_by_frame(self) -> IntArray:
        """(M,) cell of each frame and class that has rows, each once."""
        table, width = self.outcomes, max(1, len(self.sequences))
        frames = np.zeros(len(table), dtype=np.int64)
        frames[run_starts(table.sequences, table.frames)[1:]] = 1
        keys, _, _ = factorize(np.cumsum(frames) * width + self.cells)
        cells: IntArray = keys % width
        return cells

    def count(self, rows: BoolArray) -> IntArray:
        """(C,) number of some rows in each cell."""
        return np.bincount(self.cells[rows], minlength=len(self.sequences))

    def table(
        self,
        cells: IntArray,
        counts: Mapping[str, AnyArray] = {},
        sums: Mapping[str, FloatArray] = {},
    ) -> Table:
        """A table keyed by domain, sequence and class.

        Args:
            cells: (R,) cell of each raw row.
            counts: (R,) integers by column.
            sums: (R,) floats by column.
        """
        keys = self.outcomes.sequence_keys
        words = [key.domain for key in keys] + [key.sequence for key in keys]
        sequences = self.sequences[cells]
        return build_table(
            TableSchema(("domain", "sequence", "class"), (), tuple(counts), tuple(sums)),
            [*words, *self.label_names],
            [sequences, sequences + len(keys), self.labels[cells] + len(words)],
            counts=list(counts.values()),
            sums=list(sums.values()),
        )

    def similarities(self, similarity: Similarity) -> FloatArray:
        """(N,) similarity of each row to its partner; NaN without one."""
        if similarity.base == "euclidean":
            return similarity.of_distances_px(self.outcomes.distances_px)
        return self.outcomes.similarities


def figures_of_everything(blocks: Sequence[Block]) -> dict[str, Number]:
    """The figures of everything: the first row of a criterion's first block."""
    return {name: values[0] for name, values in blocks[0].measures.items()}
