"""Make a scene: evaluated frames, scored classes, real truth, and what absorbs or forgives."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators._dont_care import DontCareRule, box_heights, resolve_dont_care
from vidscore_evaluators._inside_regions import inside_regions
from vidscore_evaluators._scene_masks import SideMasks, with_mask_rows, with_mask_shapes
from vidscore_evaluators.alignment import Aligned
from vidscore_evaluators.annotations import (
    BOX,
    BOX_AREA,
    POINT,
    QUADRILATERAL,
    Annotations,
    FrameFlag,
    ObjectFlag,
    are_flagged,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray, expand_runs
from vidscore_evaluators.geometry import are_areas, bounding_boxes, box_areas
from vidscore_evaluators.keys import factorize
from vidscore_evaluators.masks import Masks
from vidscore_evaluators.quadrilaterals import outline_areas, outlines_of
from vidscore_evaluators.scene import (
    GIVEN_AREA,
    ROW,
    SOURCE,
    Items,
    Scene,
    canonical_items,
    unique_groups,
)
from vidscore_evaluators.similarity import Base, Similarity
from vidscore_evaluators.specification import BenchmarkSpec

Classes = Literal["separate", "ignore"]

_DONT_CARE_BASES: Mapping[Base, Base] = {
    "euclidean": "euclidean",
    "iou": "iou",
    "giou": "iou",
    "polygon": "polygon",
    "mask": "mask",
}
"""Base that the matching for don't-care uses, for each base of a criterion."""


class AsGiven(Struct, frozen=True):
    """Which properties of the input's form a criterion uses, besides its content.

    Attributes:
        row_order: Whether the remaining ties between objects of a frame are broken by their rows.
        box_areas: Whether the area of a box is the column `BOX_AREA`, if there is one.
        sources: Whether items know their row in the input, for outcomes; changes nothing else.
    """

    row_order: bool = False
    box_areas: bool = False
    sources: bool = False


def make_scene(
    aligned: Aligned,
    rule: DontCareRule,
    similarity: Similarity,
    *,
    classes: Classes = "separate",
    specification: BenchmarkSpec = BenchmarkSpec(),
    resolve_first: bool = False,
    as_given: AsGiven = AsGiven(),
) -> Scene:
    """Bring both sides into the form that criteria work on.

    Frames that the truth does not list and don't-care frames are left out, and so are objects of
    classes that the specification does not score or that the rule excludes from scoring.

    Args:
        aligned: Both sides in one frame order.
        rule: What happens to detections of input that is not scored.
        similarity: The criterion's similarity; its arity must be that of the coordinates.
        classes: Match within a class, or ignore classes.
        specification: Lists the classes that a domain scores.
        resolve_first: Whether to resolve absorbers and forgiven detections before the criterion
            sees the scene, because it has no threshold at which they could be matched.
        as_given: Properties of rows, besides their content, that count.

    Returns:
        The scene; `Scene.left_out` counts the detections that are not scored.
    """
    evaluated = aligned.listed & ~are_flagged(aligned.truth.frame_flags, FrameFlag.DONT_CARE)
    traced = with_sources(aligned) if as_given.sources else aligned
    of_masks = None
    if similarity.base == "mask":
        traced, of_masks = with_mask_rows(traced, evaluated)
    kept = traced.take_frames(evaluated)
    if as_given != AsGiven():
        kept = dataclasses.replace(
            kept,
            truth=_as_given(kept.truth, as_given),
            detections=_as_given(kept.detections, as_given),
        )
    if of_masks is not None:
        kept = with_mask_shapes(kept, of_masks)
    outlined = similarity.arity == QUADRILATERAL
    objects = select_objects(kept, rule, specification, outlined=outlined, masks=of_masks)
    resolves = resolve_first or rule.absorption == "before"
    if not resolves:
        objects = objects.without_competitors()
    scene, competes = _Grouping(objects, rule, classes == "separate", of_masks).scene()
    in_dont_care = int(aligned.detections.object_counts[aligned.listed & ~evaluated].sum())
    elsewhere = aligned.detections.object_count - kept.detections.object_count - in_dont_care
    left_out = {
        "frames_not_evaluated": elsewhere,
        "detections_in_dont_care_frames": in_dont_care,
        "classes_not_scored": kept.detections.object_count - objects.scored_detections,
        "in_regions": objects.scored_detections - len(scene.detections),
    }
    if resolves:
        base = Similarity(_DONT_CARE_BASES[similarity.base], cutoff_px=similarity.cutoff_px)
        resolved = resolve_dont_care(scene, rule, base, competes)
        left_out["dont_care"] = len(scene.detections) - len(resolved.detections)
        scene = resolved
    return dataclasses.replace(
        scene, left_out={key: number for key, number in left_out.items() if number}
    )


class SceneObjects(Struct, frozen=True, eq=False):
    """Objects of the evaluated frames by their role in a don't-care rule, in order of rows.

    All but regions are points, upright boxes or outlines.

    Attributes:
        truth: Real objects of scored classes.
        absorbers: Objects that absorb detections, and those that compete for them.
        everywhere: (absorbers,) whether an object meets detections of every class.
        competes: (absorbers,) whether an object absorbs nothing, but takes part in the matching
            that resolves don't-care beforehand.
        detections: Detections of scored classes that are not removed.
        forgiven: (detections,) whether each lies in a region, or is too small to count.
        scored_detections: Detections of scored classes, removed ones included.
    """

    truth: Annotations
    absorbers: Annotations
    everywhere: BoolArray
    competes: BoolArray
    detections: Annotations
    forgiven: BoolArray
    scored_detections: int

    def without_competitors(self) -> SceneObjects:
        """The same objects, for a matching without competitors."""
        if not self.competes.any():
            return self
        return structs.replace(
            self,
            absorbers=self.absorbers.take_objects(~self.competes),
            everywhere=self.everywhere[~self.competes],
            competes=self.competes[~self.competes],
        )


def select_objects(
    kept: Aligned,
    rule: DontCareRule,
    specification: BenchmarkSpec = BenchmarkSpec(),
    *,
    outlined: bool = False,
    masks: SideMasks | None = None,
) -> SceneObjects:
    """Classify the objects of evaluated frames by a rule, and leave out those that it removes.

    Args:
        kept: Both sides, in evaluated frames only.
        rule: Defines what absorbs, what regions do, and how much of an object must lie in them.
        specification: Lists the classes that a domain scores.
        outlined: Whether boxes and quadrilaterals become outlines; else bounding boxes.
        masks: The masks of both sides, if objects are compared by them; None for boxes.
    """
    truth, detections = (_shaped(side, outlined=outlined) for side in (kept.truth, kept.detections))
    # Whatever the input says: Algorithm 1 of the paper has references of confidence 1.
    truth = _limited(structs.replace(truth, confidences=np.ones(truth.object_count)), rule)
    scored = _scored_labels(truth, rule, specification)
    part = _parts(truth, rule, _is_scored(truth, scored))
    regions = kept.truth.take_objects(part.region)
    of_truth = None if masks is None else (masks.truth, masks.truth)
    of_detections = None if masks is None else (masks.detections, masks.truth)
    absorbers, real = truth.take_objects(part.standby), truth.take_objects(part.real)
    everywhere, competes = part.everywhere[part.standby], part.competes[part.standby]
    inside = inside_regions(detections, regions, rule, of_detections)
    if not rule.regions_forgive:
        detections = _renumbered(detections, ~inside)
    of_scored = _is_scored(detections, scored)
    detections, inside = detections.take_objects(of_scored), inside[of_scored]
    scored_count = detections.object_count
    if not rule.regions_forgive:
        detections, inside = detections.take_objects(~inside), np.zeros_like(inside[~inside])
    if rule.forgiven_height_px > 0.0:
        inside |= box_heights(detections) <= rule.forgiven_height_px + rule.tolerance
    if rule.regions_cover_truth:
        real = real.take_objects(~inside_regions(real, regions, rule, of_truth))
        outside = ~inside_regions(absorbers, regions, rule, of_truth)
        absorbers = absorbers.take_objects(outside)
        everywhere, competes = everywhere[outside], competes[outside]
    return SceneObjects(real, absorbers, everywhere, competes, detections, inside, scored_count)


class _Parts(Struct, frozen=True, eq=False):
    """(N,) role of each object of the truth in a rule.

    Attributes:
        region: A region.
        real: Scored.
        standby: Absorbs detections, or competes for them.
        competes: Absorbs nothing, but takes part in the matching.
        everywhere: Meets detections of every class.
    """

    region: BoolArray
    real: BoolArray
    standby: BoolArray
    competes: BoolArray
    everywhere: BoolArray


def _parts(truth: Annotations, rule: DontCareRule, scored: BoolArray) -> _Parts:
    """Classify the objects of the truth; `scored` says whether each one's label is scored."""
    region = are_flagged(truth.flags, ObjectFlag.REGION)
    ignored = are_flagged(truth.flags, ObjectFlag.IGNORE)
    absorbs = (truth.flags & rule.absorbing) != 0
    everywhere = are_flagged(truth.flags, ObjectFlag.DISTRACTOR)
    if rule.unscored_labels:
        absorbs |= _has_label(truth, rule.unscored_labels)
        everywhere |= _has_label(truth, rule.distractor_classes)
    if rule.ignored_labels == "any":
        everywhere |= ignored
    dropped = ignored if rule.ignored_objects == "drop" else np.zeros_like(ignored)
    real = scored & ~(region | absorbs | dropped)
    competes = np.zeros_like(region)
    if rule.match_unscored_classes:
        # An object whose own label is not scored absorbs only by a rule for other labels.
        beside = _has_label(truth, tuple(label for label, _ in rule.neighbours))
        competes = ~(region | real | (absorbs & (scored | everywhere | beside)))
        everywhere |= competes & ~scored
    return _Parts(region, real, (absorbs | competes) & ~region, competes, everywhere)


def _limited(truth: Annotations, rule: DontCareRule) -> Annotations:
    """The same truth, with objects beyond the limits of a rule flagged as ignored."""
    beyond = rule.limits.broken_by(truth, rule.tolerance)
    if not beyond.any():
        return truth
    flags = np.where(beyond, truth.flags | ObjectFlag.IGNORE, truth.flags).astype(np.uint8)
    return structs.replace(truth, flags=flags)


class _Grouping(Struct, frozen=True, eq=False):
    """Objects to be grouped and sorted.

    Attributes:
        objects: The objects.
        rule: The rule.
        separate: Whether to keep classes apart.
        masks: Masks of both sides; None if boxes count.
    """

    objects: SceneObjects
    rule: DontCareRule
    separate: bool
    masks: SideMasks | None = None

    def scene(self) -> tuple[Scene, BoolArray]:
        """Group and sort everything; the mask marks the absorbers that only compete."""
        truth, detections = self.objects.truth, self.objects.detections
        truth_keys, detection_keys = self._keys(truth), self._keys(detections)
        absorber_rows, absorber_keys = self._absorbers(detection_keys)
        each = (truth_keys, detection_keys, absorber_keys)
        keys, numbers, _ = factorize(np.concatenate(each))
        groups = np.split(numbers, np.cumsum(list(map(len, each[:2]))))

        def items(
            side: Annotations, rows: IntArray, of_rows: IntArray, masks: Masks | None
        ) -> tuple[Items, IntArray]:
            areas = _areas(side) if side is detections else _annotated_areas(side)
            return canonical_items(side, rows, of_rows, len(keys), areas, masks)

        of_truth, of_detections = self._masks
        real, _ = items(truth, _rows(truth), groups[0], of_truth)
        detected, order = items(detections, _rows(detections), groups[1], of_detections)
        standby = self.objects.absorbers
        absorbers, absorber_order = items(standby, absorber_rows, groups[2], of_truth)
        ordered = absorber_rows[absorber_order]
        scene = Scene(
            sequences=truth.sequences,
            frame_sequences=truth.frame_sequences,
            frame_numbers=truth.frame_numbers,
            classes=truth.labels if self.separate else ("",),
            group_frames=keys // self._class_count,
            group_classes=keys % self._class_count,
            truth=real,
            absorbers=absorbers,
            absorbs_many=self._absorbs_many[ordered],
            detections=detected,
            forgiven=self.objects.forgiven[order],
        )
        return scene, self.objects.competes[ordered]

    @property
    def _masks(self) -> tuple[Masks | None, Masks | None]:
        return (None, None) if self.masks is None else (self.masks.truth, self.masks.detections)

    @property
    def _class_count(self) -> int:
        return max(1, len(self.objects.truth.labels)) if self.separate else 1

    @property
    def _absorbs_many(self) -> BoolArray:
        flags = ObjectFlag.CROWD | (ObjectFlag.IGNORE if self.rule.ignored_absorb_many else 0)
        many: BoolArray = (self.objects.absorbers.flags & flags) != 0
        return many & ~self.objects.competes

    def _keys(self, side: Annotations) -> IntArray:
        """(N,) group key of each object: its frame, and its class if classes are separate."""
        if not self.separate:
            return side.object_frames
        return side.object_frames * self._class_count + side.label_indices

    def _absorbers(self, detection_keys: IntArray) -> tuple[IntArray, IntArray]:
        """Row and group key of every absorber, once per group where it may absorb something."""
        side = self.objects.absorbers
        own = _rows(side)
        keys = self._keys(side)
        if not self.separate:
            return own, keys
        anywhere = self.objects.everywhere
        keys = keys + _neighbour_shift(side, self.rule)
        rows, spread = self._in_every_group(np.flatnonzero(anywhere), detection_keys)
        here = ~anywhere & np.isin(keys, detection_keys)
        return np.concatenate([own[here], rows]), np.concatenate([keys[here], spread])

    def _in_every_group(
        self, rows: IntArray, detection_keys: IntArray
    ) -> tuple[IntArray, IntArray]:
        """Repeat absorbers for each group of their frame that holds detections."""
        groups = unique_groups(detection_keys)
        frames = self.objects.absorbers.object_frames[rows]
        first = np.searchsorted(groups, frames * self._class_count)
        counts = np.searchsorted(groups, (frames + 1) * self._class_count) - first
        return np.repeat(rows, counts), groups[expand_runs(first, counts)]


def with_sources(aligned: Aligned) -> Aligned:
    """Both sides, with each object's row as the column `SOURCE`, for outcomes."""
    truth, detections = (
        structs.replace(side, columns={**side.columns, SOURCE: _rows(side).astype(np.float64)})
        for side in (aligned.truth, aligned.detections)
    )
    return dataclasses.replace(aligned, truth=truth, detections=detections)


def _as_given(side: Annotations, as_given: AsGiven) -> Annotations:
    """One side with the columns that canonical items look for."""
    columns = dict(side.columns)
    if as_given.row_order:
        rows = _rows(side) - np.repeat(side.frame_starts[:-1], side.object_counts)
        columns[ROW] = rows.astype(np.float64)
    if as_given.box_areas and BOX_AREA in columns and side.arity == BOX:
        own, given = box_areas(side.coordinates), columns[BOX_AREA]
        columns[GIVEN_AREA] = np.where(are_areas(given, own), given, own)
    return structs.replace(side, columns=columns)


def _renumbered(side: Annotations, kept: BoolArray) -> Annotations:
    """One side whose rows, if they count, are renumbered among those that are kept."""
    if ROW not in side.columns:
        return side
    before: IntArray = np.cumsum(kept) - kept
    first = np.append(before, 0)[side.frame_starts[:-1]]
    places = (before - np.repeat(first, side.object_counts)).astype(np.float64)
    return structs.replace(side, columns={**side.columns, ROW: places})


def _shaped(side: Annotations, *, outlined: bool) -> Annotations:
    """The same annotations, with each box and quadrilateral as its outline or bounding box."""
    if side.arity == POINT:
        return side
    shape = outlines_of if outlined else bounding_boxes
    return structs.replace(side, coordinates=shape(side.coordinates))


def _neighbour_shift(side: Annotations, rule: DontCareRule) -> IntArray:
    """Shift of the group key of each object whose label is a neighbour of a scored one."""
    shift = np.zeros(len(side.labels), dtype=np.int64)
    position = {label.casefold(): index for index, label in enumerate(side.labels)}
    for label, neighbour in rule.neighbours:
        if label.casefold() in position and neighbour.casefold() in position:
            here = position[label.casefold()]
            shift[here] = position[neighbour.casefold()] - here
    return shift[side.label_indices]


def _scored_labels(
    side: Annotations, rule: DontCareRule, specification: BenchmarkSpec
) -> BoolArray:
    """(sequences, labels) whether the domain of a sequence scores a label.

    The specification's class lists are compared without regard to case.
    """
    scored = np.ones((len(side.sequences), max(1, len(side.labels))), dtype=np.bool_)
    for row, (domain, _) in enumerate(side.sequences):
        listed = specification.classes_of(domain)
        if listed is not None:
            scored[row] = _named(side, listed)
    return scored & ~_named(side, rule.unscored_labels)


def _is_scored(side: Annotations, scored: BoolArray) -> BoolArray:
    """(N,) whether an object's label is scored in its domain."""
    return scored[side.frame_sequences[side.object_frames], side.label_indices]


def _has_label(side: Annotations, names: tuple[str, ...]) -> BoolArray:
    """(N,) whether an object has one of some labels."""
    return _named(side, names)[side.label_indices]


def _named(side: Annotations, names: tuple[str, ...]) -> BoolArray:
    """(labels,) whether each label of the table is among some names, ignoring case."""
    folded = {name.casefold() for name in names}
    return np.array([label.casefold() in folded for label in side.labels] or [False])


def _areas(side: Annotations) -> FloatArray:
    """(N,) areas of the shapes; points: 0."""
    if side.arity == QUADRILATERAL:
        own = outline_areas(side.coordinates)
    else:
        own = box_areas(side.coordinates) if side.arity == BOX else np.zeros(side.object_count)
    return side.columns.get(GIVEN_AREA, own)


def _annotated_areas(truth: Annotations) -> FloatArray:
    """(N,) the named column ``area`` if an object has one, else its shape's area.

    For the truth only: a system could state any area, and so leave the range that is judged.
    """
    own, column = _areas(truth), truth.columns.get("area")
    return own if column is None else np.where(np.isnan(column), own, column)


def _rows(side: Annotations) -> IntArray:
    return np.arange(side.object_count, dtype=np.int64)
