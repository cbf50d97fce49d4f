"""Masks: the pixels of objects as runs, column by column, as COCO keeps them.

A mask is a list of the lengths of alternating runs of 0s and 1s, beginning with 0s. In the normal
form only the first length may be 0, so equal masks have equal runs; the functions here return this
form only. The area that two masks share is computed from their runs, not pixel by pixel.

`vidscore_evaluators.mask_forms` makes masks from the forms that files and programs use.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, starts_from_counts
from vidscore_evaluators.kernels import RunArray

DigestArray = NDArray[np.uint64]

_Kept = TypeVar("_Kept", bound=AnyArray)

_GROUP_SHIFT = 34
"""Bits of a key below its group: position and end of a span, or position of an outline."""


class Masks(Struct, frozen=True, eq=False):
    """N masks as columns.

    The constructor trusts its arguments; `vidscore_evaluators.mask_forms` checks outside input.

    Attributes:
        sizes: (N, 2) height and width of the images in pixels.
        starts: (N + 1,) offsets into `runs`.
        runs: (R,) lengths of alternating runs of 0s and 1s; each mask begins with 0s.
        kept: Cached results of the masks, by name: N rows each, at most 48 bytes per mask.
    """

    sizes: IntArray
    starts: IntArray
    runs: RunArray
    kept: dict[str, AnyArray] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """Number of masks N."""
        return len(self.sizes)

    @property
    def nbytes(self) -> int:
        """Bytes of all columns together, without cached results."""
        return self.sizes.nbytes + self.starts.nbytes + self.runs.nbytes

    def take(self, rows: AnyArray) -> Masks:
        """Keep some masks, in the order of `rows`.

        Args:
            rows: (N,) boolean mask, or row indices, which may repeat.
        """
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.int64)
        # The lookup of sizes refuses invalid rows.
        sizes = self.sizes.take(chosen, axis=0)
        chosen = np.where(chosen < 0, chosen + self.count, chosen)
        starts = starts_from_counts(self.starts[chosen + 1] - self.starts[chosen])
        runs: RunArray = np.empty(starts[-1], dtype=np.uint32)
        kernels.take_runs(*self.contiguous(), chosen, len(chosen), runs)
        kept = {name: _fixed(values.take(chosen, axis=0)) for name, values in self._kept()}
        return Masks(sizes, starts, runs, kept)

    def run(self, start: int, stop: int) -> Masks:
        """The masks from `start` to `stop`, as views of these columns."""
        starts = self.starts[start : stop + 1]
        first, last = int(starts[0]), int(starts[-1])
        kept = {name: values[start:stop] for name, values in self._kept()}
        return Masks(self.sizes[start:stop], starts - first, self.runs[first:last], kept)

    def areas(self) -> FloatArray:
        """(N,) pixels of each mask; read-only."""

        def work_out() -> FloatArray:
            areas = np.empty(self.count)
            kernels.mask_areas(*self.contiguous(), self.count, areas)
            return areas

        return self._once("areas", work_out)

    def boxes(self) -> FloatArray:
        """(N, 4) boxes around the masks, x1, y1, x2, y2 in pixels; all 0 around an empty mask.

        Read-only.
        """

        def work_out() -> FloatArray:
            boxes = np.empty((self.count, 4))
            sizes = np.ascontiguousarray(self.sizes)
            kernels.mask_boxes(*self.contiguous(), sizes, self.count, boxes)
            return boxes

        return self._once("boxes", work_out)

    def digests(self) -> DigestArray:
        """(N,) digests, each of its mask's size and runs only; read-only.

        Equal masks have equal digests; different masks hardly ever do.
        """

        def work_out() -> DigestArray:
            digests: DigestArray = np.empty(self.count, dtype=np.uint64)
            sizes = np.ascontiguousarray(self.sizes)
            kernels.hash_masks(*self.contiguous(), sizes, self.count, digests)
            return digests

        return self._once("digests", work_out)

    def _once(self, name: str, work_out: Callable[[], _Kept]) -> _Kept:
        """A result of the runs alone, computed at the first call, then cached; read-only.

        Args:
            name: Name of the result.
            work_out: Computes it, (N, ...).
        """
        if name not in self.kept:
            self.kept[name] = _fixed(work_out())
        kept: _Kept = self.kept[name]  # type: ignore[assignment]
        return kept

    def _kept(self) -> list[tuple[str, AnyArray]]:
        """The cached results at this moment; another thread may add to them meanwhile."""
        return list(self.kept.items())

    def pixels(self) -> IntArray:
        """(N,) pixels of the image of each mask."""
        pixels: IntArray = self.sizes[:, 0] * self.sizes[:, 1]
        return pixels

    def contiguous(self) -> tuple[RunArray, IntArray]:
        """Runs and offsets in the form that kernels take."""
        return np.ascontiguousarray(self.runs), np.ascontiguousarray(self.starts)


def _fixed(values: _Kept) -> _Kept:
    """The same array, now read-only, since several hold it."""
    values.setflags(write=False)
    return values


def no_masks() -> Masks:
    """No masks at all."""
    return Masks(
        sizes=np.zeros((0, 2), dtype=np.int64),
        starts=np.zeros(1, dtype=np.int64),
        runs=np.zeros(0, dtype=np.uint32),
    )


def concatenate_masks(parts: Sequence[Masks]) -> Masks:
    """The masks of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 0:
        return no_masks()
    counts = [np.diff(part.starts) for part in parts]
    return Masks(
        sizes=np.concatenate([part.sizes for part in parts]),
        starts=starts_from_counts(np.concatenate(counts)),
        runs=np.concatenate([part.runs for part in parts]),
    )


def shared_areas(
    left: Masks, left_rows: IntArray, right: Masks, right_rows: IntArray
) -> FloatArray:
    """Pixels that pairs of masks share.

    Args:
        left: Masks.
        left_rows: (P,) row in `left` of each pair.
        right: Masks; both masks of a pair have the same size.
        right_rows: (P,) row in `right` of each pair.

    Returns:
        (P,) intersections in pixels.

    Raises:
        IndexError: If a row does not exist.
        ValueError: If the masks of a pair differ in size.
    """
    if len(left_rows) and min(int(left_rows.min()), int(right_rows.min())) < 0:
        raise IndexError("rows of masks are 0 or more")
    if (left.sizes[left_rows] != right.sizes[right_rows]).any():
        raise ValueError("masks of different sizes share no pixels")
    areas = np.empty(len(left_rows))
    kernels.shared_mask_areas(
        *(*left.contiguous(), np.ascontiguousarray(left_rows)),
        *(*right.contiguous(), np.ascontiguousarray(right_rows)),
        *(len(left_rows), areas),
    )
    return areas


def merged(masks: Masks, starts: IntArray) -> Masks:
    """Unite the masks of each group.

    Args:
        masks: The masks; those of a group have the same size.
        starts: (G + 1,) offsets of the groups; no group is empty.

    Returns:
        G masks, each the union of its group.
    """
    counts = np.diff(starts)
    if (counts == 1).all():
        return masks
    groups = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    runs, offsets = masks.contiguous()
    keys = np.empty(len(runs), dtype=np.int64)
    keys = keys[: kernels.span_keys(runs, offsets, groups, masks.count, keys)]
    return masks_of_keys(keys, masks.sizes[starts[:-1]], toggled=False)


def masks_of_spans(groups: IntArray, begins: IntArray, ends: IntArray, sizes: IntArray) -> Masks:
    """Masks from spans of pixels, which may overlap.

    Args:
        groups: (S,) the mask that each span belongs to.
        begins: (S,) its first pixel, counted column by column.
        ends: (S,) the pixel after its last one.
        sizes: (N, 2) height and width of each mask.
    """
    order = np.argsort(groups, kind="stable")
    keys = np.empty((len(groups), 2), dtype=np.int64)
    keys[:, 0] = (groups << _GROUP_SHIFT) | (begins << 1)
    keys[:, 1] = (groups << _GROUP_SHIFT) | (ends << 1) | 1
    keys = keys.take(order, axis=0)
    return masks_of_keys(keys.reshape(-1), sizes, toggled=False)


def masks_of_keys(keys: IntArray, sizes: IntArray, *, toggled: bool) -> Masks:
    """Masks from keys of positions, in the form of `vidscore_evaluators.kernels`.

    Args:
        keys: Keys whose groups ascend; sorted in place.
        sizes: (N, 2) height and width of each mask.
        toggled: Whether each key toggles all pixels after it; else the keys are spans.
    """
    kernels.sort_keys(keys, len(keys))
    made = Masks(sizes, np.empty(len(sizes) + 1, dtype=np.int64), np.empty(0, dtype=np.uint32))
    runs = np.empty(len(keys) + len(sizes), dtype=np.uint32)
    count = kernels.runs_of_keys(
        keys, len(keys), made.pixels(), len(sizes), toggled, runs, made.starts
    )
    return Masks(sizes, made.starts, runs[:count].copy())
