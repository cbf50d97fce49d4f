"""Segmentations of COCO's entries: values from a parser, or columns from a compiled loop."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from itertools import chain, repeat
from operator import is_, itemgetter
from typing import Any, Protocol

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.arrays import (
    AnyArray,
    BoolArray,
    FlagArray,
    FloatArray,
    IntArray,
    expand_runs,
)
from vidscore_evaluators.mask_forms import (
    masks_from_characters,
    masks_from_compressed,
    masks_from_coordinates,
    masks_from_counts,
    masks_from_polygons,
    masks_from_runs,
)
from vidscore_evaluators.masks import Masks, no_masks


class Form(IntEnum):
    """Form of a segmentation, with the same numbers as in the compiled loop."""

    NOTHING = 0
    POLYGONS = 1
    RUNS = 2
    TEXT = 3


class Segmentations(Protocol):
    """N segmentations.

    Attributes:
        forms: (N,) the `Form` of each.
        own_sizes: (N, 2) height and width stated by runs and strings.
    """

    @property
    def forms(self) -> IntArray: ...

    @property
    def own_sizes(self) -> IntArray: ...

    def __getitem__(self, rows: BoolArray) -> Segmentations: ...

    def with_forms(self, forms: IntArray) -> Segmentations: ...

    def masks(self, rows: IntArray, sizes: IntArray) -> Masks:
        """Masks of rows that all have one form.

        Args:
            rows: (M,) the rows.
            sizes: (M, 2) height and width of each mask.

        Raises:
            InputError: As for `vidscore_evaluators.mask_forms`.
        """


class ListedSegmentations(Struct, frozen=True, eq=False):
    """Segmentations as values from a parser.

    Attributes:
        contents: N polygons, lists of runs, or strings.
    """

    contents: AnyArray
    forms: IntArray
    own_sizes: IntArray

    @classmethod
    def of(cls, values: list[Any]) -> ListedSegmentations:
        """Classify values that have a form of COCO."""
        forms = np.full(len(values), Form.NOTHING, dtype=np.int64)
        has_runs = _are_of(dict, values)
        runs = [value for value in values if type(value) is dict]
        own_sizes = np.zeros((len(values), 2), dtype=np.int64)
        sides = chain.from_iterable(map(itemgetter("size"), runs))
        own_sizes[has_runs] = np.fromiter(sides, np.int64, 2 * len(runs)).reshape(-1, 2)
        contents = np.empty(len(values), dtype=object)
        contents[:] = [value["counts"] if type(value) is dict else value for value in values]
        forms[has_runs] = np.where(_are_of(str, contents[has_runs]), Form.TEXT, Form.RUNS)
        polygons = np.flatnonzero(~has_runs)
        has_part = [any(values[row] or ()) for row in polygons.tolist()]
        forms[polygons[np.array(has_part, dtype=np.bool_)]] = Form.POLYGONS
        return cls(contents, forms, own_sizes)

    def with_forms(self, forms: IntArray) -> ListedSegmentations:
        """The same with other forms."""
        return replace(self, forms=forms)

    def __getitem__(self, rows: BoolArray) -> ListedSegmentations:
        """Keep some."""
        return ListedSegmentations(self.contents[rows], self.forms[rows], self.own_sizes[rows])

    def masks(self, rows: IntArray, sizes: IntArray) -> Masks:
        """Masks of rows that all have one form."""
        chosen: list[Any] = self.contents[rows].tolist()
        if len(rows) == 0:
            return no_masks()
        if self.forms[rows[0]] == Form.POLYGONS:
            return masks_from_polygons(chosen, sizes)
        if self.forms[rows[0]] == Form.RUNS:
            return masks_from_counts(chosen, sizes)
        return masks_from_compressed(chosen, sizes)


def _are_of(kind: type, values: Sequence[Any] | AnyArray) -> BoolArray:
    """(N,) whether each value is of a type."""
    found: BoolArray = np.fromiter(
        map(is_, map(type, values), repeat(kind)), dtype=np.bool_, count=len(values)
    )
    return found


class FlatSegmentations(Struct, frozen=True, eq=False):
    """Segmentations as columns.

    Attributes:
        starts: (N,) start of the parts, runs or characters of each, by its form.
        lengths: (N,) their number.
        coordinates: Coordinates of all parts.
        part_starts: Start of the coordinates of each part.
        part_lengths: Number of coordinates of each part.
        runs: All runs.
        characters: All characters.
    """

    forms: IntArray
    own_sizes: IntArray
    starts: IntArray
    lengths: IntArray
    coordinates: FloatArray
    part_starts: IntArray
    part_lengths: IntArray
    runs: IntArray
    characters: FlagArray

    def with_forms(self, forms: IntArray) -> FlatSegmentations:
        """The same with other forms."""
        return replace(self, forms=forms)

    def __getitem__(self, rows: BoolArray) -> FlatSegmentations:
        """Keep some."""
        return replace(
            self,
            forms=self.forms[rows],
            own_sizes=self.own_sizes[rows],
            starts=self.starts[rows],
            lengths=self.lengths[rows],
        )

    def masks(self, rows: IntArray, sizes: IntArray) -> Masks:
        """Masks of rows that all have one form."""
        if len(rows) == 0:
            return no_masks()
        starts, lengths = self.starts[rows], self.lengths[rows]
        if self.forms[rows[0]] == Form.RUNS:
            return masks_from_runs(_runs_of(self.runs, starts, lengths), lengths, sizes)
        if self.forms[rows[0]] == Form.TEXT:
            return masks_from_characters(_runs_of(self.characters, starts, lengths), lengths, sizes)
        part_starts = _runs_of(self.part_starts, starts, lengths)
        part_lengths = _runs_of(self.part_lengths, starts, lengths)
        coordinates = _runs_of(self.coordinates, part_starts, part_lengths)
        return masks_from_coordinates(coordinates, part_lengths, lengths, sizes)


def _runs_of(values: AnyArray, starts: IntArray, lengths: IntArray) -> AnyArray:
    """Some pieces of a column, one after the other; a view if they are contiguous."""
    if (starts[1:] == starts[:-1] + lengths[:-1]).all():
        return values[starts[0] : starts[-1] + lengths[-1]] if len(starts) else values[:0]
    return values[expand_runs(starts, lengths)]
