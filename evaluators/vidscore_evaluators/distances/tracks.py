"""Distances of tracks: ``track-hausdorff``, ``track-emd``, ``track-ospa`` and ``ospa2``.

Source: the trustworthiness paper, section 4.3, with the distance of two tracks of eq. 4, and its
appendix 3.2. OSPA over tracks is the OSPA(2) distance over a whole sequence.

Readings of this project:

1. A set contains the tracks of one class in one sequence. The figure of a class is the mean over
   the sequences in which either side has a track. The figures of sequences, of domains and of
   everything are means over the classes present in the truth, as for sets of shapes
   (`vidscore_evaluators.distances.sets`).
2. Frames in which neither of two tracks is present do not count, as in eq. 4, even in the middle of
   a track.
3. With a cut-off c, a frame with only one of two tracks counts as c in their distance, which is
   therefore at most c (appendix 3.2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.criterion import (
    ANY_SHAPE,
    LEFT_OUT,
    ExtendedParameters,
    distance_measure,
    left_out_table,
)
from vidscore_evaluators.deferred import Deferred
from vidscore_evaluators.distances._kernels import (
    cutoff_grid,
    cutoff_parameter,
    emd,
    hausdorff,
    order_parameter,
    ospa,
)
from vidscore_evaluators.distances._track_distances import TrackDistances, WindowSets, window_sets
from vidscore_evaluators.distances.sets import (
    FRAMES,
    SETS,
    SetDistanceParameters,
    SetFigures,
    frame_table,
    set_table,
)
from vidscore_evaluators.evaluator import Growth, Needs, count_measure
from vidscore_evaluators.exact_sums import to_float
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.report import Curve, Scores
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.tally import Table, TableSchema, Tally, build_table, merge_tables
from vidscore_evaluators.tracking._tracks import CHAINS_PER_SEQUENCE, TrackingCriterion, Tracks

ParametersType = TypeVar("ParametersType", bound=ExtendedParameters)

COUNT_MEASURES = (
    count_measure("frames", "Evaluated frames."),
    count_measure("references", "Tracks of the truth."),
    count_measure("predictions", "Tracks of the detections."),
)


class TrackSetDistance(TrackingCriterion[ParametersType]):
    """A criterion that is a distance of the two sets of tracks of each sequence and class.

    Attributes:
        parts: Names of the measures that are distances, in the order that `distances` gives them.
    """

    needs = Needs(ANY_SHAPE, ANY_SHAPE, confidences=True, tracks=True)
    parts: ClassVar[tuple[str, ...]]

    @abstractmethod
    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Distances of sets; pure, and each depends only on its own matrix.

        Args:
            base: (K, m, n) distances of m and n tracks; either number may be 0.

        Returns:
            K distances for each of `parts`.
        """

    @property
    def cutoff(self) -> float:
        """The greatest distance of two tracks."""
        return 1.0

    @property
    def growth(self) -> Growth:
        """One row per sequence and class, and one per sequence."""
        row = 8 * 6 + 64 * len(self.parts)
        return Growth("sequence", row * CHAINS_PER_SEQUENCE + 3 * 8)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Distances by sequence and class, and frames by sequence."""
        scene = self.scene(aligned)
        tracks = Tracks.of(scene)
        found = TrackDistances.of_chains(tracks, self.parameters.similarity, self.cutoff)
        sums = self.of_sets(found)
        return {
            SETS: set_table(
                scene,
                tracks.chain_sequences,
                tracks.chain_classes,
                (found.truth.counts, found.detections.counts),
                dict(zip(self.parts, sums, strict=True)),
            ),
            FRAMES: frame_table(scene),
            LEFT_OUT: left_out_table(scene),
        }

    def scores(self, tally: Tally) -> Scores:
        """Means over the sequences that have tracks, and over classes."""
        figures = SetFigures(tally.tables, self.parts, "occupied")
        return Scores(figures.blocks(), warnings=self.scene_warnings(tally))

    def of_sets(self, found: TrackDistances) -> FloatArray:
        """(parts, K) distances of K pairs of sets."""
        sums = np.zeros((len(self.parts), len(found.truth.counts)))
        for sets, base in found.matrices():
            sums[:, sets] = self.distances(base)
        return sums


@dataclass(frozen=True)
class TrackHausdorffParameters(ExtendedParameters):
    """Parameters of `TrackHausdorff`."""


class TrackHausdorff(TrackSetDistance[TrackHausdorffParameters]):
    """The Hausdorff distance of sets of tracks (eq. 1)."""

    name = "track-hausdorff"
    version = "1.3.0"
    title = "Hausdorff distance of the tracks of a sequence"
    Parameters = TrackHausdorffParameters
    parts = ("track_hausdorff",)
    measures = (
        distance_measure(
            "track_hausdorff", "Greatest distance from a track to the nearest one of the other set."
        ),
        *COUNT_MEASURES,
    )
    ranking = ("track_hausdorff",)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Hausdorff distances."""
        return (hausdorff(base),)


@dataclass(frozen=True)
class TrackEmdParameters(ExtendedParameters):
    """Parameters of `TrackEmd`."""

    order: float = order_parameter()


class TrackEmd(TrackSetDistance[TrackEmdParameters]):
    """The earth mover's distance of sets of tracks (eq. 2)."""

    name = "track-emd"
    version = "1.3.0"
    title = "Earth mover's distance of the tracks of a sequence, of any order"
    Parameters = TrackEmdParameters
    parts = ("track_emd",)
    measures = (
        distance_measure("track_emd", "Least cost of moving the tracks of one set to the other's."),
        *COUNT_MEASURES,
    )
    ranking = ("track_emd",)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """Earth mover's distances."""
        return (emd(base, self.parameters.order),)


@dataclass(frozen=True)
class TrackOspaParameters(ExtendedParameters):
    """Parameters of `TrackOspa`."""

    cutoff: float = cutoff_parameter()
    order: float = order_parameter()


@dataclass(frozen=True)
class Ospa2Parameters(SetDistanceParameters):
    """Parameters of `Ospa2`."""

    window_frames: int = parameter(
        25, "Evaluated frames that a window holds.", unit="frames", minimum=1, maximum=1000
    )
    cutoff: float = cutoff_parameter()
    order: float = order_parameter()


_OspaType = TypeVar("_OspaType", TrackOspaParameters, Ospa2Parameters)


class _OspaOfTracks(TrackSetDistance[_OspaType]):
    """The common parts of OSPA distances: the cut-off, its grid, and three measures."""

    @property
    def cutoff(self) -> float:
        """The cut-off c."""
        return self.parameters.cutoff

    def grid(self, parameter: str) -> tuple[float, ...]:
        """The cut-offs for thresholds of the base; for other parameters the declared grid."""
        if parameter == "cutoff":
            return cutoff_grid(self.parameters.similarity)
        return super().grid(parameter)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """OSPA distances and their parts."""
        found = ospa(base, self.parameters.cutoff, self.parameters.order)
        return found.distance, found.localisation, found.cardinality


class TrackOspa(_OspaOfTracks[TrackOspaParameters]):
    """The OSPA distance of sets of tracks (eq. 3 and 5), and its two parts."""

    name = "track-ospa"
    version = "1.3.0"
    title = "OSPA distance of the tracks of a sequence, and its two parts"
    Parameters = TrackOspaParameters
    parts = ("track_ospa", "localisation", "cardinality")
    measures = (
        distance_measure("track_ospa", "Least mean cost of pairing tracks, c for an unpaired one."),
        distance_measure("localisation", "Part that is due to distances of paired tracks."),
        distance_measure("cardinality", "Part that is due to tracks without a partner."),
        *COUNT_MEASURES,
    )
    ranking = ("track_ospa",)


CURVE = "curve"

FRAMES_PER_SEQUENCE = 10_000
"""Number of frame numbers per sequence and class that the declared growth allows for."""


class Ospa2(_OspaOfTracks[Ospa2Parameters]):
    """OSPA(2): the OSPA distance of tracks over a window that slides through each sequence.

    Source: the trustworthiness paper, section 4.3 and appendix 3.2; M. Beard, B.-T. Vo and B.-N.
    Vo, "A solution for large-scale multi-object tracking", IEEE Transactions on Signal Processing
    68, 2020. At a frame, the two sets are the tracks within the window of the last
    `window_frames` evaluated frames of the sequence, this one included. Their distance is that of
    eq. 4 over the window, and a track outside the window is in no set.

    Readings of this project:

    1. Each evaluated frame is the end of one window, which is shorter at the beginning of a
       sequence. So the figure at a frame depends on no later frame.
    2. The curve has, for each frame number, the mean over all sequences and classes in whose window
       either side has a track; frame numbers without any are not on it.
    3. Means over frames and classes are as for sets of shapes: by default every evaluated frame
       counts, and the distance of an empty window is 0
       (`vidscore_evaluators.distances.sets`).
    4. Tracks, `references` and `predictions`, are counted separately in each window.
    5. With a cut-off c, a frame with only one of two tracks counts as c in their distance, which is
       therefore at most c (appendix 3.2).
    """

    name = "ospa2"
    version = "1.4.0"
    title = "OSPA(2): OSPA distance of tracks over a sliding window, as a curve and its mean"
    Parameters = Ospa2Parameters
    parts = ("ospa2", "localisation", "cardinality")
    measures = (
        distance_measure("ospa2", "Mean over frames of the OSPA distance of tracks in a window."),
        distance_measure("localisation", "Part that is due to distances of paired tracks."),
        distance_measure("cardinality", "Part that is due to tracks without a partner."),
        count_measure("frames", "Evaluated frames; each is the end of one window."),
        count_measure("references", "Tracks of the truth, counted in each window."),
        count_measure("predictions", "Tracks of the detections, counted in each window."),
    )
    ranking = ("ospa2",)

    @property
    def growth(self) -> Growth:
        """Rows by sequence and class, and by frame number and class."""
        by_sequence = 8 * 6 + 64 * len(self.parts)
        by_frame = 8 * 4 + 64
        each = by_sequence + by_frame * FRAMES_PER_SEQUENCE
        return Growth("sequence", each * CHAINS_PER_SEQUENCE + 3 * 8)

    def tables(self, aligned: Aligned) -> Mapping[str, Table]:
        """Distances by sequence and class and by frame number, and frames by sequence."""
        scene = self.scene(aligned)
        tracks = Tracks.of(scene)
        windows = window_sets(
            tracks, self.parameters.similarity, self.cutoff, self.parameters.window_frames
        )
        parts = [self._part(tracks, sets) for sets in windows]
        return {
            SETS: merge_tables([_empty_sets(tracks, self.parts), *(sets for sets, _ in parts)]),
            CURVE: merge_tables([curve for _, curve in parts]),
            FRAMES: frame_table(scene),
            LEFT_OUT: left_out_table(scene),
        }

    def _part(self, tracks: Tracks, sets: WindowSets) -> tuple[Table, Table]:
        """Tables of some windows: by sequence and class, and by frame number."""
        values = self.of_sets(sets.found)
        sequences = tracks.chain_sequences[sets.chains]
        classes = tracks.chain_classes[sets.chains]
        by_sequence = set_table(
            tracks.scene,
            sequences,
            classes,
            (sets.found.truth.counts, sets.found.detections.counts),
            dict(zip(self.parts, values, strict=True)),
        )
        return by_sequence, _curve_table(tracks.scene, sequences, classes, sets.frames, values[0])

    def scores(self, tally: Tally) -> Scores:
        """Means over frames and classes, and the mean at each frame number."""
        figures = SetFigures(tally.tables, self.parts, self.parameters.frames)
        curves = Deferred(lambda: tuple(_curves(tally.tables[CURVE])))
        return Scores(figures.blocks(), curves, self.scene_warnings(tally))


def _empty_sets(tracks: Tracks, parts: tuple[str, ...]) -> Table:
    """A row for each chain: don't-care may have removed every track of one."""
    none = np.zeros(tracks.chain_count, dtype=np.int64)
    sums = dict.fromkeys(parts, np.zeros(tracks.chain_count))
    return set_table(tracks.scene, tracks.chain_sequences, tracks.chain_classes, (none, none), sums)


def _curve_table(
    scene: Scene, sequences: IntArray, classes: IntArray, frames: IntArray, values: FloatArray
) -> Table:
    """Sum distances by domain, class and frame number."""
    domains = [key.domain for key in scene.sequences]
    return build_table(
        TableSchema(("domain", "class"), ("frame",), ("sets",), ("ospa2",)),
        [*domains, *scene.classes],
        [sequences, classes + len(domains)],
        numbers=[scene.frame_numbers[frames].astype(np.float64)],
        counts=[np.ones(len(frames), dtype=np.int64)],
        sums=[values],
    )


def _curves(table: Table) -> Iterator[Curve]:
    """The mean at each frame number: of everything, of each domain, and of each class in them."""
    columns = (
        table.texts("domain"),
        table.texts("class"),
        table.number("frame").tolist(),
        table.count("sets").tolist(),
        table.exact("ospa2"),
    )
    points: dict[tuple[str, str], list[tuple[float, int, int]]] = {("", ""): []}
    for domain, label, *point in zip(*columns, strict=True):
        # A row without a name would count twice in the scope of all names.
        for scope in {("", ""), (domain, ""), ("", label), (domain, label)}:
            points.setdefault(scope, []).append(tuple(point))
    for (domain, label), inside in sorted(points.items()):
        yield _curve(domain or None, label or None, inside)


def _curve(domain: str | None, label: str | None, points: list[tuple[float, int, int]]) -> Curve:
    counts: Counter[int] = Counter()
    totals: Counter[int] = Counter()
    for frame, count, total in points:
        counts[int(frame)] += count
        totals[int(frame)] += total
    frames = sorted(counts)
    means = [to_float(totals[frame], counts[frame]) for frame in frames]
    return Curve("ospa2_by_frame", {"frame": frames, "ospa2": means}, domain, label)
