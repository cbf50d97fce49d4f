"""Families of scenes whose true order is known, and code shared by all generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import BOX, NO_TRACK, Annotations, SequenceKey, frame_list
from vidscore_evaluators.arrays import AnyArray, FloatArray, IntArray, starts_from_counts

SET_COUNT = 20
"""Number of prediction sets of a family."""

SOUND_SETS = 10
"""Number of prediction sets, the first ones, in which nothing is missed, made up or mistaken."""

CLASS_NAMES = ("Car", "Truck", "Bus", "Person", "Cyclist")
"""Names of the five classes; they are classes of Neovision2 too, so that it can be tested."""

LARGEST_DISTANCE_PX = 200.0
SIZES_PX = (20.0, 40.0)
SIZE_DISTURBANCE_PX = 1.0

FIRST_FRAME = 1


class Draw(Struct, frozen=True):
    """Identity of a family.

    Attributes:
        seed: Seed of the whole test.
        stratum: Index of the part of the range of object numbers, from 0.
        strata: Number of such parts.
        realisation: Index of the family within that stratum, from 0.
    """

    seed: int
    stratum: int
    strata: int
    realisation: int

    def random(self) -> np.random.Generator:
        """A random number generator for this family alone."""
        return np.random.default_rng([self.seed, self.stratum, self.strata, self.realisation])

    def object_count(self, least: int, most: int, random: np.random.Generator) -> int:
        """A number of objects, uniform on this draw's stratum of least..most."""
        share = (self.stratum + random.random()) / self.strata
        return least + min(int(share * (most - least + 1)), most - least)


SanityScene = tuple[Annotations, Annotations]
"""A reference and a prediction set over the same frames."""


class Family(Struct, frozen=True, eq=False):
    """Scenes whose true order is known.

    Attributes:
        scenes: References with their prediction sets, from the truly best to the truly worst.
    """

    scenes: tuple[SanityScene, ...]

    @classmethod
    def of(cls, truth: Annotations, predictions: Iterable[Annotations]) -> Family:
        """Prediction sets of one reference, from the truly best to the truly worst."""
        return cls(tuple((truth, prediction) for prediction in predictions))


Generator = Callable[[Draw], Family]


class Objects(Struct, frozen=True, eq=False):
    """N objects, all in one frame or each in its own.

    Attributes:
        centres: (N, 2) in pixels.
        sizes: (N, 2) width and height in pixels.
        classes: (N,) index of the class.
        confidences: (N,) in (0, 1].
    """

    centres: FloatArray
    sizes: FloatArray
    classes: IntArray
    confidences: FloatArray

    def __len__(self) -> int:
        """Number of objects."""
        return len(self.centres)

    def take(self, rows: AnyArray) -> Objects:
        """Some of the objects.

        Args:
            rows: (N,) boolean mask, or row indices.
        """
        return Objects(
            self.centres[rows], self.sizes[rows], self.classes[rows], self.confidences[rows]
        )

    def boxes(self) -> FloatArray:
        """(N, 4) x1, y1, x2, y2."""
        return np.hstack([self.centres - self.sizes / 2, self.centres + self.sizes / 2])


def draw_objects(count: int, class_count: int, random: np.random.Generator) -> Objects:
    """Objects at any place, of any size and class, with full confidence (appendix 4.1)."""
    return Objects(
        centres=random.uniform(-LARGEST_DISTANCE_PX, LARGEST_DISTANCE_PX, (count, 2)),
        sizes=random.uniform(*SIZES_PX, (count, 2)),
        classes=random.integers(class_count, size=count),
        confidences=np.ones(count),
    )


def join_objects(parts: Sequence[Objects]) -> Objects:
    """Concatenate objects."""
    return Objects(
        centres=np.concatenate([part.centres for part in parts]),
        sizes=np.concatenate([part.sizes for part in parts]),
        classes=np.concatenate([part.classes for part in parts]),
        confidences=np.concatenate([part.confidences for part in parts]),
    )


def dislocations(magnitudes: FloatArray, random: np.random.Generator) -> FloatArray:
    """(N, 2) displacements of (N,) magnitudes in pixels (appendix 4, eq. 6 and 7)."""
    across = random.random(len(magnitudes)) * magnitudes
    along = np.sqrt(magnitudes**2 - across**2)
    signs = np.where(random.random((len(magnitudes), 2)) < 0.5, -1.0, 1.0)
    return np.column_stack([across, along]) * signs


def disturbed_sizes(sizes: FloatArray, random: np.random.Generator) -> FloatArray:
    """(N, 2) widths and heights, each changed by up to a pixel."""
    changed: FloatArray = sizes + random.uniform(
        -SIZE_DISTURBANCE_PX, SIZE_DISTURBANCE_PX, sizes.shape
    )
    return changed


def round_half_up(number: float) -> int:
    """The nearest integer, not below 0."""
    return max(0, int(np.floor(number + 0.5)))


def ascending_poisson(count: int, random: np.random.Generator) -> IntArray:
    """(count,) Poisson numbers with rates 1, 2, ..., count, ascending."""
    numbers: IntArray = np.sort(random.poisson(np.arange(1, count + 1)))
    return numbers


def as_annotations(
    objects: Objects,
    frames: IntArray,
    frame_count: int,
    class_names: tuple[str, ...],
    track_ids: IntArray | None = None,
) -> Annotations:
    """Objects as annotations of one sequence.

    Args:
        objects: N objects.
        frames: (N,) frame of each, from 0.
        frame_count: Number of frames of the sequence; they are numbered from 1.
        class_names: Names of the classes.
        track_ids: (N,) tracks; none by default.
    """
    order = np.argsort(frames, kind="stable")
    untracked = np.full(len(objects), NO_TRACK, dtype=np.int64)
    sequences = (SequenceKey("", "scene"),)
    every_frame = np.arange(frame_count, dtype=np.int64)
    listed = frame_list(sequences, np.zeros_like(every_frame), every_frame + FIRST_FRAME, BOX)
    return Annotations(
        sequences=sequences,
        labels=class_names,
        frame_sequences=listed.frame_sequences,
        frame_numbers=listed.frame_numbers,
        frame_flags=listed.frame_flags,
        frame_starts=starts_from_counts(np.bincount(frames, minlength=frame_count)),
        coordinates=objects.boxes()[order],
        label_indices=objects.classes[order],
        confidences=objects.confidences[order],
        track_ids=untracked if track_ids is None else track_ids[order],
        flags=np.zeros(len(objects), dtype=np.uint8),
    )
