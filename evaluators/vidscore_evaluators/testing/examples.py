"""Small annotations for tests, written as on paper.

    truth = make_annotations({
        ("Tower", "001"): {
            0: [Thing((0, 0, 10, 10), "Car"), Thing((50, 0, 60, 10), "Bus")],
            1: [],
        },
    })

A sequence maps frame numbers to objects; a frame without objects is an empty list. If only
coordinates matter, an object may be its coordinates alone: ``{0: [(3, 4)]}``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from hypothesis import settings
from msgspec import Struct, field
from msgspec.structs import replace

from vidscore_evaluators.annotations import (
    NO_TRACK,
    Annotations,
    FrameFlag,
    SequenceKey,
    known_times,
)
from vidscore_evaluators.arrays import FloatArray, IntArray, starts_from_counts


class Thing(Struct, frozen=True):
    """One object of a frame.

    Attributes:
        coordinates: Its 2, 4 or 8 coordinates in pixels.
        label: Its class.
        confidence: Confidence, from 0 to 1 if more than the order of confidences matters.
        track_id: Its track, or `NO_TRACK`.
        flags: Bits of `ObjectFlag`.
        columns: Additional numbers by name.
    """

    coordinates: tuple[float, ...]
    label: str = ""
    confidence: float = 1.0
    track_id: int = NO_TRACK
    flags: int = 0
    columns: Mapping[str, float] = field(default_factory=dict)


USUAL_EXAMPLES = 100
"""Number of examples of a property in Hypothesis's default profile."""

Name = TypeVar("Name")

Objects = Sequence[Thing | tuple[float, ...]]
Frames = Mapping[tuple[str, str], Mapping[int, Objects]]
"""Objects by (domain, sequence) and frame number."""


def example_count(usual: int) -> int:
    """Number of examples for a property with its own number, in the loaded profile.

    If the Hypothesis profile asks for a multiple of the default number, so does this. A profile
    that asks for fewer changes nothing, because these numbers are small already.
    """
    return usual * max(1, settings().max_examples // USUAL_EXAMPLES)


def make_annotations(
    frames: Frames,
    *,
    arity: int | None = None,
    dont_care: Iterable[tuple[tuple[str, str], int]] = (),
    times_s: Mapping[tuple[tuple[str, str], int], float] | None = None,
) -> Annotations:
    """Make annotations out of plain Python lists.

    Args:
        frames: Objects by sequence and frame number.
        arity: Number of coordinates of an object; needed only if there are no objects.
        dont_care: (sequence, frame number) of the don't-care frames.
        times_s: Times of frames by (sequence, frame number).

    Raises:
        ValueError: If the arity is unknown, or objects differ in it.
    """
    keys = tuple(SequenceKey(*key) for key in frames)
    cells = [
        (index, number, [_thing(entry) for entry in objects])
        for index, by_number in enumerate(frames.values())
        for number, objects in by_number.items()
    ]
    things = [thing for _, _, objects in cells for thing in objects]
    labels = tuple(dict.fromkeys(thing.label for thing in things))
    left_out = {(SequenceKey(*key), number) for key, number in dont_care}
    flags = [FrameFlag.DONT_CARE * ((keys[row], number) in left_out) for row, number, _ in cells]
    names = dict.fromkeys(name for thing in things for name in thing.columns)
    return Annotations(
        sequences=keys,
        labels=labels,
        frame_sequences=_whole([row for row, _, _ in cells]),
        frame_numbers=_whole([number for _, number, _ in cells]),
        frame_flags=np.array(flags, dtype=np.uint8),
        frame_starts=starts_from_counts(_whole([len(objects) for _, _, objects in cells])),
        coordinates=_coordinates(things, arity),
        label_indices=_whole([labels.index(thing.label) for thing in things]),
        confidences=np.array([thing.confidence for thing in things], dtype=np.float64),
        track_ids=_whole([thing.track_id for thing in things]),
        flags=np.array([thing.flags for thing in things], dtype=np.uint8),
        columns={
            name: np.array([thing.columns.get(name, np.nan) for thing in things]) for name in names
        },
        frame_times_s=_times([(keys[row], number) for row, number, _ in cells], times_s or {}),
    )


def _times(
    places: Sequence[tuple[tuple[str, str], int]],
    times_s: Mapping[tuple[tuple[str, str], int], float],
) -> FloatArray | None:
    return known_times(np.array([times_s.get(place, np.nan) for place in places], dtype=np.float64))


def scored_objects(truth: Annotations) -> Annotations:
    """The truth as a perfect system would detect it: only the objects that are scored.

    By some rules, a detection of a crowd or a distractor may take a nearby object.
    """
    ordinary = truth.flags == 0
    return replace(truth, frame_flags=np.zeros_like(truth.frame_flags)).take_objects(ordinary)


def shuffled(annotations: Annotations, seed: int) -> Annotations:
    """The same content with frames, the objects of each frame, and both tables in another order.

    The tables also get an unused name, which must not matter either.
    """
    random = np.random.default_rng(seed)
    frames = annotations.take_frames(random.permutation(annotations.frame_count))
    objects = np.lexsort((random.random(frames.object_count), frames.object_frames))
    return frames.gather_objects(objects).with_tables(
        _mixed((*annotations.sequences, SequenceKey("unused domain", "unused")), random),
        _mixed((*annotations.labels, "unused label"), random),
    )


def _thing(entry: Thing | tuple[float, ...]) -> Thing:
    return entry if isinstance(entry, Thing) else Thing(tuple(entry))


def _coordinates(things: Sequence[Thing], arity: int | None) -> np.ndarray[tuple[int, int]]:
    arities = {len(thing.coordinates) for thing in things} | ({arity} if arity else set())
    if len(arities) != 1:
        raise ValueError(f"objects of one arity are needed, not {sorted(arities)}")
    rows = [thing.coordinates for thing in things]
    return np.array(rows, dtype=np.float64).reshape(len(things), arities.pop())


def _whole(values: Sequence[int]) -> IntArray:
    return np.array(values, dtype=np.int64)


def _mixed(names: tuple[Name, ...], random: np.random.Generator) -> tuple[Name, ...]:
    return tuple(names[index] for index in random.permutation(len(names)))
