"""From two aligned sides to what is matched: the steps that come before any matching.

In this order: frames that are not evaluated go; objects become their envelopes; what lies inside
don't-care regions goes, truth, don't-care objects and detections alike; detections that no
threshold lets through go. What went is counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import BOX, Annotations, ObjectFlag
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.geometry import bounding_boxes
from vidscore_evaluators.protocols.neovision2.class_lists import UNLISTED, ClassTable, class_table
from vidscore_evaluators.protocols.neovision2.frame_selection import FrameSelection, select_frames
from vidscore_evaluators.protocols.neovision2.levels import BELOW_ALL, Levels, find_levels
from vidscore_evaluators.protocols.neovision2.parameters import TOLERANCE, Neovision2Parameters
from vidscore_evaluators.regions import Regions, shares_inside
from vidscore_evaluators.shapes import Shapes, boxes_as_shapes, sides_cross
from vidscore_evaluators.specification import BenchmarkSpec


@dataclass(frozen=True, eq=False)
class Side:
    """N objects of one side in F frames.

    Attributes:
        shapes: Their upright boxes; the groups are the frames.
        frames: (N,) frame of each.
        classes: (N,) class code of each, or `UNLISTED`.
    """

    shapes: Shapes
    frames: IntArray
    classes: IntArray

    def take(self, kept: BoolArray) -> Side:
        """Keep some objects, and every frame."""
        starts = starts_from_counts(kept)[self.shapes.group_starts]
        return Side(self.shapes.take(kept, starts), self.frames[kept], self.classes[kept])


@dataclass(frozen=True, eq=False)
class Scene:
    """What is matched, and what is known of everything else.

    Attributes:
        selection: The frames.
        domain_names: D domains.
        domains: (S,) domain of each sequence.
        sequence_names: S sequences.
        classes: The classes of the domains.
        objects: Annotated objects, real and don't-care.
        dont_care: Which of `objects` are don't-care objects.
        detections: Detections.
        confidences: Confidence of each detection.
        levels: Level of each detection.
        counters: (S,) counts of what the matching never sees, by name.
    """

    selection: FrameSelection
    domain_names: tuple[str, ...]
    domains: IntArray
    sequence_names: tuple[str, ...]
    classes: ClassTable
    objects: Side
    dont_care: BoolArray
    detections: Side
    confidences: FloatArray
    levels: Levels
    counters: Mapping[str, IntArray]


COUNTERS = (
    "evaluated_frames",
    "dont_care_frames",
    "received_detections",
    "unevaluated_detections",
    "detections_in_dont_care_frames",
    "objects_in_regions",
    "detections_in_regions",
    "objects_without_area",
    "detections_without_area",
    "crossed_regions",
    "unlisted_objects",
    "unlisted_detections",
)
"""Names of the counters, each a number of things in a sequence."""


def prepare(
    aligned: Aligned, parameters: Neovision2Parameters, specification: BenchmarkSpec
) -> Scene:
    """Take every step that comes before matching."""
    return _Preparation(aligned, parameters, specification).scene()


class _Preparation:
    """One pass over two sides; what is left out on the way is counted by sequence."""

    def __init__(
        self, aligned: Aligned, parameters: Neovision2Parameters, specification: BenchmarkSpec
    ) -> None:
        self._truth, self._detections = aligned.truth, aligned.detections
        self._parameters = parameters
        self._selection = select_frames(
            aligned, specification, fill_gaps=parameters.frames == "all"
        )
        rows = self._selection.table_rows.tolist()
        keys = [self._truth.sequences[row] for row in rows]
        self._domain_names = tuple(sorted({key.domain for key in keys}))
        positions = {name: position for position, name in enumerate(self._domain_names)}
        self._domains = np.array([positions[key.domain] for key in keys], dtype=np.int64)
        self._sequence_names = tuple(key.sequence for key in keys)
        self._classes = class_table(specification, self._domain_names, self._truth.labels)
        self._counters = {
            "evaluated_frames": self._selection.evaluated_counts,
            "dont_care_frames": self._selection.dont_care_counts,
        }

    def scene(self) -> Scene:
        """Take the steps in the order of the protocol's reading."""
        regions = self._regions()
        is_object = (self._truth.flags & ObjectFlag.REGION) == 0
        objects, object_rows = self._side(self._truth, is_object, regions, "objects")
        self._count_unevaluated()
        every = np.ones(self._detections.object_count, dtype=np.bool_)
        detections, rows = self._side(self._detections, every, regions, "detections")
        # Adding 0 leaves one of the two zeros, which as keys would be two.
        confidences = self._detections.confidences[rows] + 0.0
        levels = find_levels(self._parameters, confidences)
        dont_care = (self._truth.flags[object_rows] & ObjectFlag.IGNORE) != 0
        self._count("unlisted_objects", objects.frames[(objects.classes == UNLISTED) & ~dont_care])
        self._count("unlisted_detections", detections.frames[detections.classes == UNLISTED])
        reached = levels.of_detections != BELOW_ALL
        return Scene(
            selection=self._selection,
            domain_names=self._domain_names,
            domains=self._domains,
            sequence_names=self._sequence_names,
            classes=self._classes,
            objects=objects,
            dont_care=dont_care,
            detections=detections.take(reached),
            confidences=confidences[reached],
            levels=replace(levels, of_detections=levels.of_detections[reached]),
            counters=self._counters,
        )

    def _side(
        self, annotations: Annotations, wanted: BoolArray, regions: Regions, name: str
    ) -> tuple[Side, IntArray]:
        """Objects of evaluated frames that are outside the regions, and their rows."""
        frames = annotations.object_frames
        rows = np.flatnonzero(wanted & self._selection.evaluated[frames])
        shapes = boxes_as_shapes(
            np.searchsorted(rows, annotations.frame_starts),
            bounding_boxes(annotations.coordinates.take(rows, axis=0)),
        )
        self._count(f"{name}_without_area", frames[rows[shapes.areas == 0.0]])
        inside = shares_inside(shapes, regions) > self._parameters.region_share + TOLERANCE
        self._count(f"{name}_in_regions", frames[rows[inside]])
        rows = rows[~inside]
        frames = frames[rows]
        domains = self._domains[self._selection.sequences][frames]
        classes = self._classes.codes(domains, annotations.label_indices[rows])
        shapes = shapes.take(~inside, np.searchsorted(rows, annotations.frame_starts))
        return Side(shapes, frames, classes), rows

    def _regions(self) -> Regions:
        """Don't-care regions of the evaluated frames, with four corners each."""
        frames = self._truth.object_frames
        is_region = (self._truth.flags & ObjectFlag.REGION) != 0
        rows = np.flatnonzero(is_region & self._selection.evaluated[frames])
        corners = self._truth.coordinates.take(rows, axis=0)
        if self._truth.arity == BOX:
            x1, y1, x2, y2 = corners.T
            corners = np.stack([x1, y1, x2, y1, x2, y2, x1, y2], axis=1)
        self._count("crossed_regions", frames[rows[sides_cross(corners)]])
        return Regions(np.searchsorted(rows, self._truth.frame_starts), corners)

    def _count_unevaluated(self) -> None:
        """Count detections by what their frames are."""
        frames = self._detections.object_frames
        elsewhere = ~(self._selection.evaluated | self._selection.dont_care)
        self._count("received_detections", frames)
        self._count("unevaluated_detections", frames[elsewhere[frames]])
        self._count("detections_in_dont_care_frames", frames[self._selection.dont_care[frames]])

    def _count(self, name: str, frames: IntArray) -> None:
        """Count things by sequence, given the frame of each."""
        sequences = self._selection.sequences[frames]
        self._counters[name] = np.bincount(sequences, minlength=len(self._sequence_names))
