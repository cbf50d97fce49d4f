"""Distances of the objects and detections of a frame: ``hausdorff``, ``emd`` and ``ospa``.

Source: the trustworthiness paper, section 4.2 and appendix 3.2, with the base distances of section
4.1: 1 - IoU, (1 - GIoU)/2, both also extended by confidences, and for points min(1, d/c) with d
the Euclidean distance and c the cut-off in pixels.

Hausdorff distance: eq. 1. Earth mover's distance of any order (Wasserstein distance): eq. 2, with
masses 1/m and 1/n. OSPA, the optimal sub-pattern assignment distance: eq. 3, and appendix 3.2,
eq. 5; not divided by c. How frames and classes are averaged is in `SetDistance`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

import numpy as np

from vidscore_evaluators._report_rows import (
    Figures,
    Scope,
    Total,
    block_of,
    mean,
    named,
    totals_by_part,
    totals_by_scope,
)
from vidscore_evaluators._scene_outcomes import ScoredRows, figures_of_everything
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray, IntArray, batch_by_shape
from vidscore_evaluators.criterion import (
    LEFT_OUT,
    Criterion,
    ExtendedParameters,
    distance_measure,
    left_out_table,
)
from vidscore_evaluators.distances._kernels import (
    cutoff_grid,
    cutoff_parameter,
    emd,
    hausdorff,
    order_parameter,
    ospa,
)
from vidscore_evaluators.distances._plans import (
    Plan,
    ScenePlan,
    plan_emd,
    plan_hausdorff,
    plan_ospa,
)
from vidscore_evaluators.evaluator import Growth, Task, count_measure
from vidscore_evaluators.exact_sums import to_float
from vidscore_evaluators.outcome_table import OperatingPoint, Outcomes
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Block, Number, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.similarity import Similarity, item_similarities
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table

FRAMES, SETS = "frames", "sets"

CLASSES_PER_SEQUENCE = 100
"""Number of classes per sequence that the declared growth of a tally allows for."""

CELLS_PER_PART = 1 << 16
"""Number of base distances that are computed together: few enough for the processor's cache."""

_COUNTS = ("occupied", "references", "predictions")

Frames = Literal["all", "occupied"]


@dataclass(frozen=True)
class SetDistanceParameters(ExtendedParameters):
    """Parameters that all set distances share."""

    frames: Frames = parameter(
        "all",
        "Whether a mean is over all evaluated frames or, for each class, over those with an object "
        "or a detection.",
    )


ParametersType = TypeVar("ParametersType", bound=SetDistanceParameters)


COUNT_MEASURES = (
    count_measure("frames", "Evaluated frames."),
    count_measure("references", "Objects of the truth."),
    count_measure("predictions", "Detections."),
)


class SetDistance(Criterion[ParametersType]):
    """A criterion that is a distance of two sets in each frame and class.

    The paper has one pair of sets. The following readings of this project turn its distances into
    figures of many frames:

    1. In a class (or in all, if classes are ignored), a set is the content of one frame. The figure
       of a class is the mean over frames, of all sequences together: every evaluated frame counts
       once, whatever it holds. The distance of a frame without objects and detections is 0 (section
       4.2). With ``frames = occupied`` such frames are left out of the mean, as eq. 4 leaves out
       instants without tracks; a rare class is then not hidden behind them.
    2. The figure of a domain, of a sequence and of everything is the mean over the classes that are
       present in its reference, each over the frames of that domain or sequence. If its reference
       is empty, the classes of its detections are used instead, so that spurious detections alone
       have the greatest distance; if there is nothing at all, the distance is 0.
    3. If there is no frame, figures are null.
    4. Don't-care is resolved before a set is made: absorbed and forgiven detections, ignored
       objects and crowds are in no set. A class of which nothing remains has a distance of 0.

    A subclass defines `distances` and names them in `parts`; its `plan` uses the same functions to
    say what each element adds to them.

    Attributes:
        parts: Names of the measures that are distances, in the order that `distances` gives them.
    """

    task = Task.DETECTION
    resolves_dont_care = True
    parts: ClassVar[tuple[str, ...]]

    @abstractmethod
    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Distances of sets; pure, and each depends only on its own matrix.

        Args:
            base: (K, m, n) base distances of m references and n predictions; either number may be
                0.

        Returns:
            K distances for each of `parts`.
        """

    @abstractmethod
    def plan(self, base: FloatArray) -> Plan:
        """The plans of sets; pure, and each depends only on its own matrix.

        Args:
            base: As for `distances`.
        """

    @property
    def greatest(self) -> float:
        """The base distance from which elements count as having nothing in common."""
        return 1.0

    @property
    def growth(self) -> Growth:
        """One row per sequence and class, and one per sequence."""
        row = 8 * (3 + len(_COUNTS)) + 64 * len(self.parts)
        return Growth("sequence", row * CLASSES_PER_SEQUENCE + 3 * 8)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Sums of distances by sequence and class, and frames by sequence."""
        scene = self.scene(aligned)
        return {
            SETS: self.set_table(scene),
            FRAMES: frame_table(scene),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """Means of distances."""
        figures = SetFigures(tally.tables, self.parts, self.parameters.frames)
        return Scores(figures.blocks(), warnings=self.scene_warnings(tally))

    def outcomes(self, aligned: Aligned, at: OperatingPoint = OperatingPoint()) -> Outcomes:
        """The partner of each object and detection, and what each adds.

        Two are true positives if each is the other's partner and they are nearer than `greatest`.
        Shares add up exactly to the distance of each frame and class; further columns add up to the
        other `parts`.
        """
        at.check(self.name)
        scene = self.scene(aligned, traced=True)
        plan = ScenePlan.of(scene, self.parts)
        for groups, base in base_distances(scene, self.parameters.similarity):
            plan.add(scene, groups, self.plan(base))
        return plan.outcomes(aligned, scene, self.parameters.similarity, self.greatest)

    def outcome_figures(
        self, outcomes: Outcomes, at: OperatingPoint = OperatingPoint()
    ) -> Mapping[str, Number]:
        """Every measure."""
        del at
        rows = ScoredRows.of(outcomes, separate=self.parameters.classes == "separate")
        tables = {SETS: _sets_of_rows(rows, self.parts), FRAMES: rows.frame_table()}
        figures = SetFigures(tables, self.parts, self.parameters.frames)
        return figures_of_everything(figures.blocks())

    def set_table(self, scene: Scene) -> Table:
        """Distances and counts of the sets of a scene, by sequence and class."""
        sums = np.zeros((len(self.parts), scene.group_count))
        for groups, base in base_distances(scene, self.parameters.similarity):
            sums[:, groups] = self.distances(base)
        counts = (scene.truth.counts, scene.detections.counts)
        distances = dict(zip(self.parts, sums, strict=True))
        return set_table(scene, scene.group_sequences, scene.group_classes, counts, distances)


def set_table(
    scene: Scene,
    sequences: IntArray,
    classes: IntArray,
    counts: tuple[IntArray, IntArray],
    distances: Mapping[str, FloatArray],
) -> Table:
    """Sum K pairs of sets by sequence and class.

    Args:
        scene: The scene with the names of sequences and classes.
        sequences: (K,) sequence of each.
        classes: (K,) class of each.
        counts: (K,) references, and predictions, of each.
        distances: (K,) distances, by part.
    """
    references, predictions = counts
    return build_table(
        TableSchema(("domain", "sequence", "class"), (), _COUNTS, tuple(distances)),
        *scene.text_keys(sequences, classes),
        counts=[(references > 0) | (predictions > 0), references, predictions],
        sums=list(distances.values()),
    )


def _sets_of_rows(rows: ScoredRows, parts: tuple[str, ...]) -> Table:
    """The table that `set_table` makes, for the sets of outcomes."""
    cells = rows.cells_by_frame()
    table = rows.outcomes
    columns = (table.shares, *(table.columns[name] for name in parts[1:]))
    none, one = np.zeros(len(rows.cells), dtype=np.int64), np.ones(len(cells), dtype=np.int64)
    alone = np.zeros_like(one)
    return rows.table(
        np.concatenate([rows.cells, cells]),
        {
            "occupied": np.concatenate([none, one]),
            "references": np.concatenate([rows.truth, alone]),
            "predictions": np.concatenate([~rows.truth, alone]),
        },
        {
            name: np.concatenate([column, np.zeros(len(cells))])
            for name, column in zip(parts, columns, strict=True)
        },
    )


def base_distances(scene: Scene, similarity: Similarity) -> Iterator[tuple[IntArray, FloatArray]]:
    """Base distances of all groups, batched by equal shape.

    Args:
        scene: The scene, of G groups.
        similarity: The similarity whose distance is the base.

    Yields:
        (K,) groups and their (K, m, n) distances; each group once, in batches.
    """
    shapes = batch_by_shape(scene.truth.counts, scene.detections.counts, CELLS_PER_PART)
    for groups, height, width in shapes:
        yield groups, _matrices(scene, similarity, groups, height, width)


def _matrices(
    scene: Scene, similarity: Similarity, groups: IntArray, height: int, width: int
) -> FloatArray:
    """(K, height, width) base distances of groups that all have that shape."""
    truth, detections = scene.truth, scene.detections
    rows = (truth.starts[groups, None] + np.arange(height))[:, :, None]
    columns = (detections.starts[groups, None] + np.arange(width))[:, None, :]
    return similarity.distances(item_similarities(similarity, truth, detections, rows, columns))


def frame_table(scene: Scene) -> Table:
    """Count evaluated frames by sequence."""
    return build_table(
        TableSchema(("domain", "sequence"), counts=("frames",)),
        *scene.text_keys(scene.frame_sequences),
        counts=[np.ones(scene.frame_count, dtype=np.int64)],
    )


class SetFigures:
    """The tables of a tally, summed for every scope that has rows in a report."""

    def __init__(self, tables: Mapping[str, Table], parts: tuple[str, ...], frames: Frames) -> None:
        self._parts = parts
        self._occupied = frames == "occupied"
        self._totals = totals_by_part(tables[SETS], "class")
        totals = totals_by_scope(tables[FRAMES])
        self._frames = {scope: total.counts["frames"] for scope, total in totals.items()}

    def blocks(self) -> tuple[Block, Block]:
        """Everything, domains and sequences; then classes, over all domains and in each."""
        scopes = [self._scope(scope) for scope in self._frames]
        return block_of(scopes), block_of(list(self._classes()))

    def _scope(self, scope: Scope) -> Figures:
        totals = list(self._totals.get(scope, {}).values())
        present = [total for total in totals if total.counts["references"]] or [
            total for total in totals if total.counts["occupied"]
        ]
        return Figures(*scope, self._values(totals, present, self._frames[scope]))

    def _classes(self) -> Iterator[Figures]:
        """Each class that has a name."""
        for scope in [scope for scope in self._frames if scope.sequence is None]:
            totals = self._totals.get(scope, {})
            for label in named(totals):
                total = totals[label]
                # Don't-care may have removed everything in a class.
                present = [total] if total.counts["occupied"] else []
                values = self._values([total], present, self._frames[scope])
                yield Figures(scope.domain, label, None, values)

    def _values(self, totals: list[Total], present: list[Total], frames: int) -> dict[str, Number]:
        """Means over the classes that are present, and counts of all."""
        means = [
            {
                name: to_float(exact, total.counts["occupied"] if self._occupied else frames)
                for name, exact in total.sums.items()
            }
            for total in present
        ]
        nothing = 0.0 if frames else None
        values: dict[str, Number] = {
            name: mean(entry[name] for entry in means) if means else nothing for name in self._parts
        }
        counts = {name: sum(total.counts[name] for total in totals) for name in _COUNTS[1:]}
        return values | {"frames": frames} | counts


@dataclass(frozen=True)
class HausdorffParameters(SetDistanceParameters):
    """Parameters of `Hausdorff`."""


class Hausdorff(SetDistance[HausdorffParameters]):
    """The Hausdorff distance of references and predictions, frame by frame."""

    name = "hausdorff"
    version = "1.3.0"
    title = "Hausdorff distance of the objects and detections of a frame"
    Parameters = HausdorffParameters
    parts = ("hausdorff",)
    measures = (
        distance_measure("hausdorff", "Greatest distance to the nearest one on the other side."),
        *COUNT_MEASURES,
    )
    ranking = ("hausdorff",)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Hausdorff distances."""
        return (hausdorff(base),)

    def plan(self, base: FloatArray) -> Plan:
        """Pair each element with its nearest; the two that decide share the distance."""
        return plan_hausdorff(base)


@dataclass(frozen=True)
class EmdParameters(SetDistanceParameters):
    """Parameters of `Emd`."""

    order: float = order_parameter()


class Emd(SetDistance[EmdParameters]):
    """The earth mover's distance of references and predictions, frame by frame."""

    name = "emd"
    version = "1.3.0"
    title = "Earth mover's distance of the objects and detections of a frame, of any order"
    Parameters = EmdParameters
    parts = ("emd",)
    measures = (
        distance_measure("emd", "Least cost of moving references of equal mass to predictions."),
        *COUNT_MEASURES,
    )
    ranking = ("emd",)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Earth mover's distances."""
        return (emd(base, self.parameters.order),)

    def plan(self, base: FloatArray) -> Plan:
        """Pair each element with the one that most of its mass moves to or from."""
        return plan_emd(base, self.parameters.order)


@dataclass(frozen=True)
class OspaParameters(SetDistanceParameters):
    """Parameters of `Ospa`."""

    cutoff: float = cutoff_parameter()
    order: float = order_parameter()


class Ospa(SetDistance[OspaParameters]):
    """The OSPA distance of references and predictions, frame by frame.

    The parts are those of D. Schuhmacher, B.-T. Vo and B.-N. Vo, "A consistent metric for
    performance evaluation of multi-object filters": with order p, OSPA^p = localisation^p +
    cardinality^p in each frame. How frames and classes are averaged is in
    `vidscore_evaluators.distances.sets`.

    Further notes:

    1. The parts are averaged over frames separately. Their means add up to that of OSPA only for
       p = 1.
    2. If one side is empty, the whole distance, c, is cardinality.
    3. For a similarity threshold t the paper's OSPA_c has the cut-off 1 - t (IoU) or (1 - t)/2
       (GIoU); the grid of `cutoff` is that of the thresholds -1 or 0 to 0.95 in steps of 0.05.
    """

    name = "ospa"
    version = "1.3.0"
    title = "OSPA distance of the objects and detections of a frame, and its two parts"
    Parameters = OspaParameters
    parts = ("ospa", "localisation", "cardinality")
    measures = (
        distance_measure("ospa", "Least mean cost of pairing; a missing partner costs c."),
        distance_measure("localisation", "Part of OSPA due to distances of pairs."),
        distance_measure("cardinality", "Part of OSPA due to missing partners."),
        *COUNT_MEASURES,
    )
    ranking = ("ospa",)

    def grid(self, parameter: str) -> tuple[float, ...]:
        """The cut-offs for thresholds of the base; for other parameters the declared grid."""
        if parameter == "cutoff":
            return cutoff_grid(self.parameters.similarity)
        return super().grid(parameter)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """OSPA distances and their parts."""
        found = ospa(base, self.parameters.cutoff, self.parameters.order)
        return found.distance, found.localisation, found.cardinality

    def plan(self, base: FloatArray) -> Plan:
        """Pair each element as OSPA does."""
        return plan_ospa(base, self.parameters.cutoff, self.parameters.order)

    @property
    def greatest(self) -> float:
        """The cut-off."""
        return self.parameters.cutoff
