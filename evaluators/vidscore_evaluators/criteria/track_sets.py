"""Set distances of tracks: Hausdorff, earth mover's and OSPA, over whole sequences.

Source: the trustworthiness paper, section 4.3, with the distance of two tracks of eq. 4, and its
appendix 3.2. OSPA over tracks is the OSPA(2) distance over the whole of a sequence.

Readings of this project:

1. A set is what one class has for tracks in one sequence. The figure of a class is the mean over
   the sequences in which either side has one; those of sequences, of domains and of everything
   are means over the classes present in the reference, as for sets of shapes
   (`vidscore_evaluators.criteria.set_distance`).
2. Frames in which neither of two tracks is there do not count, as in eq. 4, also where they lie
   in the middle of a track.
3. With a cut-off c, a frame that has one of two tracks counts as c in their distance, which is
   therefore at most c (appendix 3.2).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.criteria.criterion import (
    ANY_SHAPE,
    LEFT_OUT,
    left_out_table,
)
from vidscore_evaluators.criteria.figures import block_of
from vidscore_evaluators.criteria.parameters import ExtendedParameters
from vidscore_evaluators.criteria.set_distance import (
    FRAMES,
    SETS,
    SetFigures,
    distance_measure,
    frame_table,
    set_table,
)
from vidscore_evaluators.criteria.set_kernels import emd, hausdorff, ospa
from vidscore_evaluators.criteria.set_parameters import (
    cutoff_grid,
    cutoff_parameter,
    order_parameter,
)
from vidscore_evaluators.criteria.track_distances import TrackDistances
from vidscore_evaluators.criteria.tracking import CHAINS_A_SEQUENCE, TrackingCriterion
from vidscore_evaluators.criteria.tracks import Tracks
from vidscore_evaluators.evaluator import Growth, Needs, count_measure
from vidscore_evaluators.report import Scores
from vidscore_evaluators.tally import Table, Tally

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
        """Distances of sets; pure, and each depends on its own matrix alone.

        Args:
            base: (K, m, n) distances of m and n tracks, either of which may be none.

        Returns:
            For each of `parts` K distances.
        """

    @property
    def cutoff(self) -> float:
        """The greatest distance of two tracks."""
        return 1.0

    @property
    def growth(self) -> Growth:
        """One row for each sequence and class, and one for each sequence."""
        row = 8 * 6 + 64 * len(self.parts)
        return Growth("sequence", row * CHAINS_A_SEQUENCE + 3 * 8)

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
        sets = SetFigures(tally, self.parts, "occupied")
        blocks = (block_of(list(sets.scopes())), block_of(list(sets.classes())))
        return Scores(blocks, warnings=self.scene_warnings(tally))

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
    version = "1.1.0"
    title = "Hausdorff distance of the tracks of a sequence"
    Parameters = TrackHausdorffParameters
    parts = ("track_hausdorff",)
    measures = (
        distance_measure("track_hausdorff", "How far the loneliest track is from the other set."),
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
    version = "1.1.0"
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


class TrackOspa(TrackSetDistance[TrackOspaParameters]):
    """The OSPA distance of sets of tracks (eq. 3 and 5), and its two parts."""

    name = "track-ospa"
    version = "1.1.0"
    title = "OSPA distance of the tracks of a sequence, and its two parts"
    Parameters = TrackOspaParameters
    parts = ("track_ospa", "localisation", "cardinality")
    measures = (
        distance_measure("track_ospa", "Least mean cost of pairing tracks, c for a lonely one."),
        distance_measure("localisation", "Part that is due to distances of paired tracks."),
        distance_measure("cardinality", "Part that is due to tracks without a partner."),
        *COUNT_MEASURES,
    )
    ranking = ("track_ospa",)

    @property
    def cutoff(self) -> float:
        """The cut-off c."""
        return self.parameters.cutoff

    def grid(self, parameter: str) -> tuple[float, ...]:
        """The cut-offs that belong to thresholds of the base, and what other parameters declare."""
        if parameter == "cutoff":
            return cutoff_grid(self.parameters.similarity)
        return super().grid(parameter)

    def distances(self, base: FloatArray) -> tuple[FloatArray, ...]:
        """OSPA distances and their parts."""
        found = ospa(base, self.parameters.cutoff, self.parameters.order)
        return found.distance, found.localisation, found.cardinality
