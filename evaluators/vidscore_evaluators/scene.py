"""Scene: the input as a criterion sees it, in groups; objects match only within a group."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.alignment import Cache
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray, run_starts
from vidscore_evaluators.masks import Masks

ROW, GIVEN_AREA, SOURCE = " row", " box_area", " source"
"""Columns of an object's row in its frame, of the area of its box as the format gives it, and of
its row on its side. The leading blank keeps them apart from columns of files."""

MASK_ROW, MASK_DIGEST = " mask_row", " mask_digest"
"""Columns of an object's mask row on its side, and of 53 bits of the mask's digest."""

WIDEST_STRETCH = 2.0**900
"""Greatest spread of values at which the line of all groups stays below infinity."""


class Items(Struct, frozen=True, eq=False):
    """N objects of one kind in G groups, in canonical order.

    Groups ascend. Within a group, confidences descend; equal ones are sorted by coordinates, track
    ids, areas and flags. This order depends on content, never on rows. Objects that are equal in
    all of these are interchangeable.

    Attributes:
        coordinates: (N, 2 | 4 | 8) points, upright boxes or outlines, in pixels.
        confidences: (N,) confidences; from 0 to 1 if they extend the similarity.
        track_ids: (N,) track identities, -1 if there is none.
        areas: (N,) areas in square pixels: of the truth, the named column ``area``, else the
            shape's own.
        groups: (N,) group of each object.
        starts: (G + 1,) offsets: group g is rows ``starts[g]:starts[g + 1]``.
        places: (N,) position of each object among those of its side and frame that no region
            removes, from
        0. If given, equally confident objects are sorted by it; None if rows do not matter.
        box_areas: (N,) areas of the boxes as their format gives them, or of the masks; None to
            compute them from the corners.
        sources: (N,) row of each object on its side of the input; None if it is not traced.
        masks: Masks of their side, which are not copied; None if masks are not compared. If given,
            the coordinates are the masks' boxes.
        mask_rows: (N,) mask of each object.
    """

    coordinates: FloatArray
    confidences: FloatArray
    track_ids: IntArray
    areas: FloatArray
    groups: IntArray
    starts: IntArray
    places: FloatArray | None = None
    box_areas: FloatArray | None = None
    sources: IntArray | None = None
    masks: Masks | None = None
    mask_rows: IntArray | None = None

    def __len__(self) -> int:
        """Number of objects N."""
        return len(self.groups)

    @property
    def counts(self) -> IntArray:
        """(G,) objects in each group."""
        return np.diff(self.starts)

    @property
    def ranks(self) -> IntArray:
        """(N,) position of each object in its group, from 0."""
        return np.arange(len(self), dtype=np.int64) - self.starts[self.groups]

    def take(self, rows: BoolArray | IntArray) -> Items:
        """Keep some objects (a mask, or ascending rows), and every group."""
        groups = self.groups[rows]
        return Items(
            coordinates=self.coordinates[rows],
            confidences=self.confidences[rows],
            track_ids=self.track_ids[rows],
            areas=self.areas[rows],
            groups=groups,
            starts=group_starts(groups, len(self.starts) - 1),
            places=None if self.places is None else self.places[rows],
            box_areas=None if self.box_areas is None else self.box_areas[rows],
            sources=None if self.sources is None else self.sources[rows],
            masks=self.masks,
            mask_rows=None if self.mask_rows is None else self.mask_rows[rows],
        )

    @property
    def traced(self) -> IntArray:
        """`sources` of items that are known to be traced."""
        if self.sources is None:
            raise ValueError("these items were made without their sources")
        return self.sources


@dataclass(frozen=True, eq=False)
class Scene:
    """F evaluated frames and G groups, with their objects.

    Attributes:
        sequences: Table of sequence names, sorted.
        frame_sequences: (F,) index into `sequences`, ascending.
        frame_numbers: (F,) frame numbers, ascending within a sequence.
        classes: Table of class names, sorted; one empty name where classes are ignored.
        group_frames: (G,) frame of each group, ascending; no group is empty.
        group_classes: (G,) index into `classes`, ascending within a frame.
        truth: Real objects, T of them.
        absorbers: A objects that absorb detections after everything real, one by one.
        absorbs_many: (A,) whether an absorber takes any number, by the fraction of each inside it.
        detections: Detections, D of them.
        forgiven: (D,) whether a detection is not counted if it has no match.
        left_out: Detections that are not scored, by reason.
        cache: Results that criteria have computed from it.
    """

    sequences: tuple[SequenceKey, ...]
    frame_sequences: IntArray
    frame_numbers: IntArray
    classes: tuple[str, ...]
    group_frames: IntArray
    group_classes: IntArray
    truth: Items
    absorbers: Items
    absorbs_many: BoolArray
    detections: Items
    forgiven: BoolArray
    left_out: Mapping[str, int] = field(default_factory=dict)
    cache: Cache = field(default_factory=Cache, init=False, repr=False)

    @property
    def frame_count(self) -> int:
        """Number of evaluated frames F."""
        return len(self.frame_numbers)

    @property
    def group_count(self) -> int:
        """Number of groups G."""
        return len(self.group_frames)

    @property
    def group_sequences(self) -> IntArray:
        """(G,) sequence of each group."""
        return self.frame_sequences[self.group_frames]

    @property
    def reusable_targets(self) -> BoolArray:
        """(T + A,) whether truth, then absorbers, may be matched any number of times."""
        return np.concatenate([np.zeros(len(self.truth), dtype=np.bool_), self.absorbs_many])

    @property
    def target_places(self) -> FloatArray | None:
        """(T + A,) `Items.places` of truth, then absorbers; None if rows do not matter."""
        truth, absorbers = self.truth.places, self.absorbers.places
        return None if truth is None or absorbers is None else np.concatenate([truth, absorbers])

    def text_keys(
        self, sequences: IntArray, classes: IntArray | None = None
    ) -> tuple[list[str], list[IntArray]]:
        """Vocabulary and codes of the string keys domain, sequence and, if given, class of N rows.

        Args:
            sequences: (N,) index into `sequences` of each row.
            classes: (N,) index into `classes` of each.
        """
        words = [key.domain for key in self.sequences] + [key.sequence for key in self.sequences]
        codes = [sequences, sequences + len(self.sequences)]
        if classes is not None:
            codes.append(classes + len(words))
            words.extend(self.classes)
        return words, codes

    def take_detections(self, rows: BoolArray) -> Scene:
        """Keep some detections, given as a mask."""
        return dataclasses.replace(
            self, detections=self.detections.take(rows), forgiven=self.forgiven[rows]
        )

    def take_groups(self, kept: BoolArray) -> Scene:
        """Keep the content of some groups, given as a (G,) mask; the others become empty."""
        of_absorbers = kept[self.absorbers.groups]
        return dataclasses.replace(
            self.take_detections(kept[self.detections.groups]),
            truth=self.truth.take(kept[self.truth.groups]),
            absorbers=self.absorbers.take(of_absorbers),
            absorbs_many=self.absorbs_many[of_absorbers],
        )

    def by_frame(self) -> Scene:
        """The same objects in the same rows, with each frame as one group."""

        def regrouped(items: Items) -> Items:
            frames = self.group_frames[items.groups]
            return structs.replace(
                items, groups=frames, starts=group_starts(frames, self.frame_count)
            )

        return dataclasses.replace(
            self,
            classes=("",),
            group_frames=np.arange(self.frame_count, dtype=np.int64),
            group_classes=np.zeros(self.frame_count, dtype=np.int64),
            truth=regrouped(self.truth),
            absorbers=regrouped(self.absorbers),
            detections=regrouped(self.detections),
        )

    def without_absorbers(self) -> Scene:
        """The same scene with only real truth and detections."""
        none = np.zeros(len(self.absorbers), dtype=np.bool_)
        return dataclasses.replace(
            self,
            absorbers=self.absorbers.take(none),
            absorbs_many=self.absorbs_many[none],
            forgiven=np.zeros(len(self.detections), dtype=np.bool_),
        )


def group_starts(groups: IntArray, group_count: int) -> IntArray:
    """(G + 1,) offsets of the runs of ascending (N,) group numbers; groups may be empty."""
    return np.searchsorted(groups, np.arange(group_count + 1)).astype(np.int64)


def canonical_items(
    side: Annotations,
    rows: IntArray,
    groups: IntArray,
    group_count: int,
    areas: FloatArray,
    masks: Masks | None,
) -> tuple[Items, IntArray]:
    """Bring objects into canonical order.

    Args:
        side: Annotations with points, upright boxes or outlines.
        rows: (N,) rows of the objects; may repeat.
        groups: (N,) group of each.
        group_count: Number of groups.
        areas: Area of every object of `side`.
        masks: The masks that the column `MASK_ROW` of `side` refers to.

    Returns:
        The items, and for each its position in `rows`.
    """
    coordinates = side.coordinates.take(rows, axis=0)
    # 0.0 and -0.0 are equal confidences; adding 0.0 turns both into 0.0.
    confidences = side.confidences[rows] + 0.0
    tracks = side.track_ids[rows]
    ties = [*coordinates.T, tracks, areas[rows], side.flags[rows]]
    mask_rows, digests = (side.columns.get(name) for name in (MASK_ROW, MASK_DIGEST))
    if digests is not None:
        ties.append(digests[rows])
    places, box_areas, sources = (side.columns.get(name) for name in (ROW, GIVEN_AREA, SOURCE))
    if places is not None:
        places = places[rows]
        ties = [places]
    order = _canonical_order(groups, confidences, ties)
    sorted_groups = groups[order]
    items = Items(
        coordinates=coordinates.take(order, axis=0),
        confidences=confidences[order],
        track_ids=tracks[order],
        areas=areas[rows][order],
        groups=sorted_groups,
        starts=group_starts(sorted_groups, group_count),
        places=None if places is None else places[order],
        box_areas=None if box_areas is None else box_areas[rows][order],
        sources=None if sources is None else sources[rows][order].astype(np.int64),
        masks=masks,
        mask_rows=None if mask_rows is None else mask_rows[rows][order].astype(np.int64),
    )
    return items, order


def _canonical_order(groups: IntArray, confidences: FloatArray, ties: list[AnyArray]) -> IntArray:
    """Sort by group and descending confidence, and then by `ties`.

    All groups are sorted at once along one line, which is fast if rows are already sorted by group.
    Only rows at the same point of the line are sorted by all columns.
    """
    alike = len(confidences) == 0 or confidences.min() == confidences.max()
    line = _line(groups, ties[0] if alike else -confidences)
    order = np.argsort(line, kind="stable")
    line = line[order]
    same = np.zeros(len(order) + 1, dtype=np.bool_)
    same[1:-1] = line[1:] == line[:-1]
    tied = np.flatnonzero(same[1:] | same[:-1])
    if len(tied):
        rows = order[tied]
        columns = (*ties[::-1], -confidences, groups)
        # Points of the line ascend with group and first column, so this keeps their order.
        order[tied] = rows[np.lexsort([column[rows] for column in columns])]
    return order


def _line(groups: IntArray, values: FloatArray) -> FloatArray:
    """(N,) points that ascend with group and, within a group, with value, except for rounding.

    Rounding may merge points but never changes their order: each group has a stretch of the line
    whose length is a power of two, so its multiples are exact.
    """
    if len(values) == 0:
        return values
    with np.errstate(over="ignore"):
        spread, least = float(values.max() - values.min()), values.min()
    if not spread < WIDEST_STRETCH:
        return groups.astype(np.float64)  # all values of a group coincide
    _, exponent = math.frexp(spread)
    line: FloatArray = groups * math.ldexp(1.0, exponent) + (values - least)
    return line


def unique_groups(keys: IntArray) -> IntArray:
    """The distinct group keys, ascending."""
    # A stable sort exploits runs that are already sorted.
    ascending = np.sort(keys, kind="stable")
    return ascending[run_starts(ascending)]
