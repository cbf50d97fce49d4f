"""The input of Neovision2's matching: frames, classes, confidence levels, and boxes of both sides.

The steps before any matching, in this order: drop frames that are not evaluated; replace objects by
their envelopes; drop what lies inside don't-care regions (truth, don't-care objects and detections
alike); drop detections below every threshold. What is dropped is counted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators._dont_care import RULES
from vidscore_evaluators._scene_builder import SceneObjects, select_objects
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import QUADRILATERAL, Annotations, ObjectFlag
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.neovision2._frames import FrameSelection, select_frames
from vidscore_evaluators.parameters import parameter
from vidscore_evaluators.scene import SOURCE
from vidscore_evaluators.shapes import (
    MergedShape,
    Shapes,
    boxes_as_shapes,
    join_groups,
    sides_cross,
)
from vidscore_evaluators.similarity import TOLERANCE
from vidscore_evaluators.specification import BenchmarkSpec

CURVE_THRESHOLDS = tuple(percent / 100 for percent in range(95, 0, -10))
"""Confidence thresholds of the ROC curve, from 0.95 down to 0.05 (section 3.5)."""


@dataclass(frozen=True, slots=True)
class Neovision2Parameters:
    """Settings that the protocol leaves to its user, and points on which readings of it differ."""

    overlap_threshold: float = parameter(
        0.2,
        "Least overlap ratio of a match (section 3.1); boxes that overlap by more are merged "
        "in the detection-only score.",
        exclusive_minimum=0.0,
        maximum=1.0,
        grid=tuple(step / 20 for step in range(1, 20)),
    )
    region_share: float = parameter(
        0.2,
        "Boxes with more than this fraction of their area in don't-care regions are removed "
        "(section 3.7).",
        minimum=0.0,
        maximum=1.0,
    )
    c_m: float = parameter(
        1.0, "Cost of a missed detection (section 3.2, eq. 2).", minimum=0.0, maximum=1e9
    )
    c_f: float = parameter(
        1.0, "Cost of a false positive (section 3.2, eq. 2).", minimum=0.0, maximum=1e9
    )
    confidence_threshold: float = parameter(
        0.0,
        "Least confidence of a scored detection; curves have their own thresholds.",
        minimum=0.0,
        maximum=1.0,
    )
    frames: Literal["listed", "all"] = parameter(
        "listed",
        "Evaluated frames: those that the truth lists, or all from 0 to the last listed one.",
    )
    merged_shape: MergedShape = parameter(
        "box",
        "How the detection-only score merges overlapping boxes: into their enclosing box, or the "
        "union of their areas.",
    )
    thresholds: Literal["ten", "all"] = parameter(
        "ten",
        "Points of the ROC curve: the protocol's ten thresholds, or every confidence that occurs.",
    )
    az_limit: float = parameter(
        1.0,
        "False positives per frame up to which the area under the ROC curve is taken.",
        unit="false positives per frame",
        exclusive_minimum=0.0,
        maximum=1e6,
    )


class ObjectBoxes(Struct, frozen=True, eq=False):
    """N objects of one side in F evaluated frames.

    Attributes:
        shapes: Their upright boxes; the groups are the frames.
        frames: (N,) frame of each.
        classes: (N,) class code of each, or `UNLISTED`.
        sources: (N,) row of each on its side of the input; None if it is not traced.
    """

    shapes: Shapes
    frames: IntArray
    classes: IntArray
    sources: IntArray | None = None

    def take(self, kept: BoolArray) -> ObjectBoxes:
        """Keep some objects, and every frame."""
        starts = starts_from_counts(kept)[self.shapes.group_starts]
        sources = None if self.sources is None else self.sources[kept]
        shapes = self.shapes.take(kept, starts)
        return ObjectBoxes(shapes, self.frames[kept], self.classes[kept], sources)

    @property
    def traced(self) -> IntArray:
        """`sources` of objects that are known to be traced."""
        if self.sources is None:
            raise ValueError("these objects were made without their sources")
        return self.sources


class ProtocolInput(Struct, frozen=True, eq=False):
    """The input of the matching, and counts of everything else.

    Attributes:
        frame_sequences: (F,) sequence of each evaluated frame, in 0..S - 1.
        listed_sequences: (S,) whether the truth lists a frame of the sequence.
        domain_names: D domains.
        domains: (S,) domain of each sequence.
        sequence_names: S sequences.
        classes: The classes of the domains.
        objects: Annotated objects, real and don't-care.
        dont_care: Which of `objects` are don't-care objects.
        detections: Detections.
        confidences: Confidence of each detection.
        levels: Level of each detection.
        counters: (S,) counts of what is dropped before matching, by name.
    """

    frame_sequences: IntArray
    listed_sequences: BoolArray
    domain_names: tuple[str, ...]
    domains: IntArray
    sequence_names: tuple[str, ...]
    classes: ClassTable
    objects: ObjectBoxes
    dont_care: BoolArray
    detections: ObjectBoxes
    confidences: FloatArray
    levels: ConfidenceLevels
    counters: Mapping[str, IntArray]

    def at_scores(self) -> ProtocolInput:
        """The same, with only the detections that count in the scores."""
        scored = self.levels.of_detections >= self.levels.first_scored
        return replace(
            self,
            detections=self.detections.take(scored),
            confidences=self.confidences[scored],
            levels=replace(self.levels, of_detections=self.levels.of_detections[scored]),
        )


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
"""Names of the counters; each is a number per sequence."""

_RULE = replace(RULES["neovision2"], absorbing_flags=ObjectFlag.IGNORE, tolerance=TOLERANCE)
"""The rule without crowds and distractors, which the protocol does not have."""


def prepare(
    aligned: Aligned, parameters: Neovision2Parameters, specification: BenchmarkSpec
) -> ProtocolInput:
    """Take every step before matching."""
    selection = select_frames(aligned, specification, fill_gaps=parameters.frames == "all")
    kept = aligned.take_frames(selection.evaluated)
    chosen = select_objects(kept, replace(_RULE, region_share=parameters.region_share))
    keys = [aligned.truth.sequences[row] for row in selection.table_rows.tolist()]
    domain_names = tuple(sorted({key.domain for key in keys}))
    positions = {name: position for position, name in enumerate(domain_names)}
    domains = np.array([positions[key.domain] for key in keys], dtype=np.int64)
    classes = class_table(specification, domain_names, aligned.truth.labels)
    frame_sequences = selection.sequences[selection.evaluated]
    frame_domains = domains[frame_sequences]
    real, spared, detections = (
        _boxes(side, frame_domains, classes)
        for side in (chosen.truth, chosen.absorbers, chosen.detections)
    )
    counters = _count_left_out(aligned, selection, kept, chosen)
    for name, side in (("unlisted_objects", real), ("unlisted_detections", detections)):
        unlisted = frame_sequences[side.frames[side.classes == UNLISTED]]
        counters[name] = np.bincount(unlisted, minlength=len(keys))
    objects, dont_care = _joined(real, spared)
    for name, side in (("objects", objects), ("detections", detections)):
        flat = frame_sequences[side.frames[side.shapes.areas == 0.0]]
        counters[f"{name}_without_area"] = np.bincount(flat, minlength=len(keys))
    # Adding 0 turns -0.0 into 0.0: as keys they would differ.
    confidences = chosen.detections.confidences + 0.0
    levels = find_confidence_levels(parameters, confidences)
    reached = levels.of_detections != BELOW_ALL
    return ProtocolInput(
        frame_sequences=frame_sequences,
        listed_sequences=selection.listed_sequences,
        domain_names=domain_names,
        domains=domains,
        sequence_names=tuple(key.sequence for key in keys),
        classes=classes,
        objects=objects,
        dont_care=dont_care,
        detections=detections.take(reached),
        confidences=confidences[reached],
        levels=replace(levels, of_detections=levels.of_detections[reached]),
        counters=counters,
    )


def _boxes(side: Annotations, frame_domains: IntArray, classes: ClassTable) -> ObjectBoxes:
    frames = side.object_frames
    codes = classes.codes(frame_domains[frames], side.label_indices)
    sources = side.columns.get(SOURCE)
    return ObjectBoxes(
        boxes_as_shapes(side.frame_starts, side.coordinates),
        frames,
        codes,
        None if sources is None else sources.astype(np.int64),
    )


def _joined(real: ObjectBoxes, spared: ObjectBoxes) -> tuple[ObjectBoxes, BoolArray]:
    """Real and don't-care objects frame by frame, and a mask of the don't-care ones."""
    shapes, order = join_groups(real.shapes, spared.shapes)
    frames = np.concatenate([real.frames, spared.frames])[order]
    classes = np.concatenate([real.classes, spared.classes])[order]
    sources = None
    if real.sources is not None:
        sources = np.concatenate([real.sources, spared.traced])[order]
    return ObjectBoxes(shapes, frames, classes, sources), order >= len(real.frames)


def _count_left_out(
    aligned: Aligned, selection: FrameSelection, kept: Aligned, chosen: SceneObjects
) -> dict[str, IntArray]:
    """Count, by sequence, what frames and regions remove."""
    counted = aligned.detections.object_counts
    evaluated, dont_care = selection.evaluated, selection.dont_care
    regions = np.flatnonzero(kept.truth.flags & ObjectFlag.REGION)
    frames = kept.truth.object_frames[regions]
    crossed = np.zeros(len(regions), dtype=np.bool_)
    if kept.truth.arity == QUADRILATERAL:
        crossed = sides_cross(kept.truth.coordinates.take(regions, axis=0))
    objects = kept.truth.object_counts - np.bincount(frames, minlength=kept.truth.frame_count)
    left = chosen.truth.object_counts + chosen.absorbers.object_counts

    def by_sequence(counts: IntArray, frames: BoolArray | None = None) -> IntArray:
        """(S,) sums of (F,) counts; floats are exact up to 2**53."""
        sequences = selection.sequences if frames is None else selection.sequences[frames]
        sums = np.bincount(sequences, weights=counts, minlength=len(selection.table_rows))
        return sums.astype(np.int64)

    return {
        "evaluated_frames": selection.evaluated_counts,
        "dont_care_frames": selection.dont_care_counts,
        "received_detections": by_sequence(counted),
        "unevaluated_detections": by_sequence(counted * ~(evaluated | dont_care)),
        "detections_in_dont_care_frames": by_sequence(counted * dont_care),
        "objects_in_regions": by_sequence(objects - left, evaluated),
        "detections_in_regions": by_sequence(
            kept.detections.object_counts - chosen.detections.object_counts, evaluated
        ),
        "crossed_regions": np.bincount(
            selection.sequences[evaluated][frames[crossed]], minlength=len(selection.table_rows)
        ),
    }


ALL_CLASSES = (
    *("Car", "Truck", "Tractor-Trailer", "Bus", "Container"),
    *("Boat", "Plane", "Helicopter", "Person", "Cyclist"),
)
TOWER_CLASSES = ("Car", "Truck", "Bus", "Person", "Cyclist")

UNLISTED = -1
"""Class code of an object whose label is not on its domain's list."""


def classes_of_domain(specification: BenchmarkSpec, domain: str) -> tuple[str, ...]:
    """Classes that are scored in a domain: those of the specification, else of the protocol."""
    given = specification.classes_of(domain)
    if given is not None:
        return given
    return TOWER_CLASSES if domain.casefold().startswith("tower") else ALL_CLASSES


class ClassTable(Struct, frozen=True, eq=False):
    """Classes of D domains, and their L labels.

    Attributes:
        names: (D) for each domain its classes by code, as written in its list.
        count: Number of class codes C.
        code_of_label: (L,) code of each label, `UNLISTED` if no domain lists it.
        listed: (D, C + 1) whether a domain lists a class; the last column is false, which is where
            `UNLISTED` points as an index.
    """

    names: tuple[dict[int, str], ...]
    count: int
    code_of_label: IntArray
    listed: BoolArray

    def codes(self, domains: IntArray, labels: IntArray) -> IntArray:
        """Class codes of objects.

        Args:
            domains: (N,) domain of each object.
            labels: (N,) label of each object.

        Returns:
            (N,) codes, `UNLISTED` if the domain does not list the label.
        """
        codes = self.code_of_label[labels]
        return np.where(self.listed[domains, codes], codes, UNLISTED)


def class_table(
    specification: BenchmarkSpec, domains: Sequence[str], labels: Sequence[str]
) -> ClassTable:
    """Build the table of the classes of some domains.

    Args:
        specification: The benchmark's specification.
        domains: D domains.
        labels: L labels.
    """
    lists = [classes_of_domain(specification, domain) for domain in domains]
    folded = sorted({name.casefold() for names in lists for name in names})
    code_of = {name: code for code, name in enumerate(folded)}
    names = tuple({code_of[name.casefold()]: name for name in reversed(given)} for given in lists)
    listed = np.zeros((len(domains), len(folded) + 1), dtype=np.bool_)
    for domain, by_code in enumerate(names):
        listed[domain, list(by_code)] = True
    codes = [code_of.get(label.casefold(), UNLISTED) for label in labels]
    return ClassTable(names, len(folded), np.array(codes, dtype=np.int64), listed)


BELOW_ALL = -1
"""Level of a detection that is below every threshold."""


class ConfidenceLevels(Struct, frozen=True, eq=False):
    """L levels, ascending.

    Attributes:
        first_scored: The first level that counts in the scores; L if none does.
        curve_thresholds: (L,) threshold of the curve at which a level counts; NaN below the least.
        of_detections: (N,) level of each detection, or `BELOW_ALL`.
    """

    first_scored: int
    curve_thresholds: FloatArray
    of_detections: IntArray


def find_confidence_levels(
    parameters: Neovision2Parameters, confidences: FloatArray
) -> ConfidenceLevels:
    """Find the levels that the parameters require.

    Args:
        parameters: Parameters of the evaluator.
        confidences: (N,) confidences of the detections.
    """
    if parameters.thresholds == "all":
        values, of_detections = np.unique(confidences, return_inverse=True)
        thresholds = values
    else:
        values = np.unique([*CURVE_THRESHOLDS, parameters.confidence_threshold])
        of_detections = np.searchsorted(values, confidences, side="right") - 1
        thresholds = _floors(values)
    first_scored = np.searchsorted(values, parameters.confidence_threshold, side="left")
    return ConfidenceLevels(int(first_scored), thresholds, of_detections)


def _floors(values: FloatArray) -> FloatArray:
    """The greatest threshold of the curve that does not exceed each value."""
    thresholds = np.array([np.nan, *sorted(CURVE_THRESHOLDS)])
    floors: FloatArray = thresholds[np.searchsorted(thresholds[1:], values, side="right")]
    return floors
