"""Mathematical consistency: is a dissimilarity a metric, and if not, what is the smallest proof?

Source: the paper, section 3.3 and appendix 1. A metric is 0 for equal sets and no others
(identity), the same both ways (symmetry), and never longer than a detour (triangle inequality).
Every pair of some small sets of objects of one class is compared, and violations are searched for
among all pairs and triples. A search that finds nothing proves nothing; a counterexample is a
proof.

Readings of this project: objects are as certain as a reference, so that either set may be the
reference; pairs with undefined dissimilarity are left out; 1e-9 counts as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray, IntArray
from vidscore_evaluators.evaluator import Evaluator, Measure
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.trust.dissimilarities import Judge, ranking_measures
from vidscore_evaluators.trust.sanity.families import (
    CLASS_NAMES,
    Objects,
    SanityScene,
    as_annotations,
)

SHIFTS_PX = (0.0, 0.25, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 12.0, 18.0, 25.0)
"""Positions of objects along a line: close together, and too far to have anything in common."""

SIDE_PX = 10.0
TOLERANCE = 1e-9
SETS = 40

FRAMES = 2
"""Number of frames of sets of tracks."""

SCENES_AT_ONCE = 200

IDENTITY, SYMMETRY, TRIANGLE = "identity", "symmetry", "triangle inequality"
LAWS = (IDENTITY, SYMMETRY, TRIANGLE)


@dataclass(frozen=True, order=True)
class Place:
    """One object: a square, or the point at its centre.

    Attributes:
        shift_px: Its position along the line.
        frame: Its frame, from 0.
        track: Its track.
    """

    shift_px: float
    frame: int = 0
    track: int = 0


ObjectSet = tuple[Place, ...]


@dataclass(frozen=True)
class Counterexample:
    """Sets that break a law.

    Attributes:
        law: The law.
        sets: Two or three sets, x, y and z.
        dissimilarities: Those of the violation, by names like ``d(x, y)``.
    """

    law: str
    sets: tuple[ObjectSet, ...]
    dissimilarities: Mapping[str, float]


@dataclass(frozen=True)
class Consistency:
    """Result of a search.

    Attributes:
        evaluator: Name of the evaluator.
        measure: The measure.
        counterexamples: The smallest one for each law, None if none was found.
        pairs: Number of pairs of sets that were compared.
        undefined: Number of pairs among them with undefined dissimilarity.
    """

    evaluator: str
    measure: str
    counterexamples: Mapping[str, Counterexample | None]
    pairs: int
    undefined: int


def search_violations(
    evaluator: Evaluator[Any],
    measure: Measure | None = None,
    *,
    set_count: int = SETS,
    seed: int = 1,
    progress: Progress | None = None,
) -> Consistency:
    """Search for the smallest violations of the laws of a metric.

    Args:
        evaluator: The evaluator.
        measure: Its measure; the first ranking one if left out.
        set_count: Number of random sets, besides the empty one and those of one object.
        seed: Seed of the draw.
        progress: Called with (pairs compared, pairs in all).
    """
    chosen = measure or ranking_measures(evaluator)[0]
    sets = object_sets(set_count, seed, tracks=evaluator.needs.tracks)
    table = _compare(evaluator, chosen, sets, progress)
    found = {law: _smallest(law, sets, table) for law in LAWS}
    return Consistency(evaluator.name, chosen.name, found, table.size, int(np.isnan(table).sum()))


def object_sets(count: int, seed: int, *, tracks: bool) -> list[ObjectSet]:
    """The empty set, sets of one object, and random sets of two and three; sorted by size.

    Args:
        count: Number of random sets.
        seed: Seed of the draw.
        tracks: Whether objects move on tracks; sets then have two frames.
    """
    random = np.random.default_rng(seed)
    sets: dict[ObjectSet, None] = {(): None}
    sets.update(((Place(shift),), None) for shift in SHIFTS_PX)
    while len(sets) < 1 + len(SHIFTS_PX) + count:
        size = int(random.integers(2, 4))
        shifts = random.choice(SHIFTS_PX, size, replace=False).tolist()
        if not tracks:
            sets[tuple(sorted(map(Place, shifts)))] = None
            continue
        moments = random.permutation(FRAMES * size)[:size].tolist()
        sets[_named_in_order(zip(moments, shifts, strict=True))] = None
    return sorted(sets, key=lambda entry: (len(entry), entry))


def _named_in_order(objects: Iterable[tuple[int, float]]) -> ObjectSet:
    """Objects sorted by frame; tracks are numbered in order of appearance.

    Sets of tracks that differ only in the numbers of their tracks are equal.
    """
    numbers: dict[int, int] = {}
    by_frame = sorted((moment % FRAMES, shift, moment // FRAMES) for moment, shift in objects)
    return tuple(
        Place(shift, frame, numbers.setdefault(track, len(numbers)))
        for frame, shift, track in by_frame
    )


def describe(objects: ObjectSet, *, tracks: bool) -> str:
    """A set as people write it: ``{0, 3}``, or with frames and tracks."""
    if not tracks:
        return "{" + ", ".join(f"{place.shift_px:g}" for place in objects) + "}"
    places = (f"{place.shift_px:g} (frame {place.frame}, track {place.track})" for place in objects)
    return "{" + ", ".join(places) + "}"


def _compare(
    evaluator: Evaluator[Any],
    measure: Measure,
    sets: Sequence[ObjectSet],
    progress: Progress | None,
) -> FloatArray:
    """(N, N) dissimilarities; the first index is the reference."""
    frame_count = FRAMES if evaluator.needs.tracks else 1
    sides = [_side(objects, frame_count) for objects in sets]
    scenes: list[SanityScene] = [(truth, detections) for truth in sides for detections in sides]
    judge = Judge.of(evaluator, measure, scenes[:: max(1, len(scenes) // 20)])
    values = []
    for first in range(0, len(scenes), SCENES_AT_ONCE):
        values.append(judge.judge(scenes[first : first + SCENES_AT_ONCE]))
        if progress is not None:
            progress(min(first + SCENES_AT_ONCE, len(scenes)), len(scenes))
    return np.concatenate(values).reshape(len(sets), len(sets))


def _side(objects: ObjectSet, frame_count: int) -> Annotations:
    count = len(objects)
    middle = np.array([[place.shift_px, 0.0] for place in objects]).reshape(count, 2)
    return as_annotations(
        Objects(
            centres=middle + SIDE_PX / 2,
            sizes=np.full((count, 2), SIDE_PX),
            classes=np.zeros(count, dtype=np.int64),
            confidences=np.ones(count),
        ),
        np.array([place.frame for place in objects], dtype=np.int64),
        frame_count,
        CLASS_NAMES[:1],
        np.array([place.track for place in objects], dtype=np.int64),
    )


def _smallest(law: str, sets: Sequence[ObjectSet], table: FloatArray) -> Counterexample | None:
    """The violation of a law with the fewest objects; among those, the greatest."""
    violations, excess = _VIOLATIONS[law](table)
    if len(violations) == 0:
        return None
    sizes = np.array([len(objects) for objects in sets])[violations].sum(axis=1)
    # Of equally small and great ones take the first, since rounding orders near values arbitrarily.
    best = np.lexsort((np.arange(len(sizes)), -np.round(excess, 9), sizes))[0]
    indices = violations[best].tolist()
    return Counterexample(
        law, tuple(sets[index] for index in indices), dict(_parts(law, indices, table))
    )


def _parts(law: str, indices: list[int], table: FloatArray) -> Iterator[tuple[str, float]]:
    """The dissimilarities of a violation."""
    names = dict(zip("xyz", indices, strict=False))
    for first, second in _PARTS[law]:
        yield f"d({first}, {second})", float(table[names[first], names[second]])


_PARTS = {
    IDENTITY: (("x", "y"),),
    SYMMETRY: (("x", "y"), ("y", "x")),
    TRIANGLE: (("x", "z"), ("x", "y"), ("y", "z")),
}


def _against_identity(table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Pairs of equal sets with a distance, and of different sets without one."""
    equal = np.eye(len(table), dtype=np.bool_)
    wrong = np.argwhere(np.where(equal, table > TOLERANCE, table <= TOLERANCE))
    return wrong, np.zeros(len(wrong))


def _against_symmetry(table: FloatArray) -> tuple[IntArray, FloatArray]:
    gaps = np.triu(np.abs(table - table.T))
    wrong = np.argwhere(gaps > TOLERANCE)
    return wrong, gaps[tuple(wrong.T)]


def _against_triangle(table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Triples x, y, z with d(x, z) > d(x, y) + d(y, z)."""
    excess = table[:, np.newaxis, :] - table[:, :, np.newaxis] - table[np.newaxis, :, :]
    wrong = np.argwhere(excess > TOLERANCE)
    return wrong, excess[tuple(wrong.T)]


_VIOLATIONS = {
    IDENTITY: _against_identity,
    SYMMETRY: _against_symmetry,
    TRIANGLE: _against_triangle,
}
