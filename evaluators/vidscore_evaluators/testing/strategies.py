"""Hypothesis strategies for truth and detections with difficult cases.

Coordinates come from a coarse lattice, so that equal distances, equal overlaps, and touching or
coinciding objects are common; the lattice is scaled, so that the order of an addition affects the
last bit. Hypothesis draws and shrinks the sizes of a case. Its contents come from a seed, which
costs a tenth of the time.
"""

from __future__ import annotations

import multiprocessing
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from typing import NamedTuple

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy
from msgspec import Struct, structs

from vidscore_evaluators.annotations import (
    BOX,
    NO_TRACK,
    POINT,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
    concatenate,
    frame_keys,
)
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.evaluator import Needs, Unit
from vidscore_evaluators.plausibility.labels import LabelUse
from vidscore_evaluators.testing.examples import Frames, Thing, make_annotations

EDGE_CONFIDENCES = (0.0, -0.0, 0.05, 0.15, 0.5, 0.95, 1.0)
"""Confidences that are equal to thresholds."""

SCORES = (-7.5, -1.0, 3.25, 1e300)
"""Confidences of which only the order is meaningful."""

SCALES = (1.0, 1.0, 1 / 3, 0.7)
"""Scales of the lattice: with one of them all arithmetic is exact, with some none is."""


class Case(NamedTuple):
    """Truth and detections of the same sequences."""

    truth: Annotations
    detections: Annotations


def seeds() -> SearchStrategy[int]:
    """Seeds for `numpy.random.default_rng`, for orders and splits that need not shrink."""
    return st.integers(0, 2**32 - 1)


@st.composite
def cases(
    draw: DrawFn,
    needs: Needs,
    *,
    labels: Sequence[str] = ("a", "b", "c"),
    domains: Sequence[str] = ("left", "right"),
    frame_numbers: Sequence[int] = range(6),
    object_flags: Sequence[int] = (0, 0, 0, ObjectFlag.IGNORE),
    dont_care_frames: bool = True,
    extent_px: float = 12,
) -> Case:
    """Truth and detections as an evaluator needs them.

    Each sequence has at least one listed frame; either side may lack frames of the other, and any
    frame may be empty. All boxes and quadrilaterals have an area. Some frames have a time.

    Args:
        draw: Provided by Hypothesis.
        needs: What the evaluator needs.
        labels: Labels of objects.
        domains: Domains of sequences.
        frame_numbers: Frame numbers to choose from.
        object_flags: Bits of `ObjectFlag` that objects of the truth may have.
        dont_care_frames: Whether frames may be marked as don't-care.
        extent_px: Side of the square in which objects start: small, so that most objects interact.
    """
    truth_arity = draw(st.sampled_from(needs.truth_arities))
    detection_arity = draw(st.sampled_from(needs.detection_arities))
    sequence_count = draw(st.integers(1, 3))
    frame_count = draw(st.integers(1, 4))
    object_count = draw(st.integers(0, 4))
    scale = draw(st.sampled_from(SCALES))
    random = np.random.default_rng(draw(seeds()))

    artist = _Artist(random, tuple(labels), scale, extent_px, needs.tracks)
    keys = [(domain, name) for domain in domains for name in ("s1", "s2")]
    sequences = [keys[index] for index in random.permutation(len(keys))[:sequence_count]]

    def side(fewest: int, draw_object: Callable[[int], Thing]) -> Frames:
        return {
            key: {
                frame: [draw_object(place) for place in range(random.integers(object_count + 1))]
                for frame in _some(random, frame_numbers, fewest, frame_count)
            }
            for key in sequences
        }

    confidences: tuple[float, ...] = EDGE_CONFIDENCES if needs.confidences else ()
    if confidences and not needs.unit_confidences:
        confidences = (*confidences, *SCORES)
    truth = side(1, lambda place: artist.object_of(truth_arity, place, flags=object_flags))
    detections = side(
        0, lambda place: artist.object_of(detection_arity, place, confidences=confidences)
    )
    listed = [(key, frame) for key, frames in truth.items() for frame in frames]
    left_out = [place for place in listed if dont_care_frames and random.random() < 0.1]
    times_of_truth, times_of_detections = (_times(random, side) for side in (truth, detections))
    return Case(
        make_annotations(truth, arity=truth_arity, dont_care=left_out, times_s=times_of_truth),
        make_annotations(detections, arity=detection_arity, times_s=times_of_detections),
    )


def _times(random: np.random.Generator, frames: Frames) -> dict[tuple[tuple[str, str], int], float]:
    """Times for no, some or all frames, at 25 per second, exactly or almost."""
    share = (0.0, 0.0, 0.5, 1.0)[int(random.integers(4))]
    return {
        (key, number): number / 25 + float(random.integers(2)) / 1000
        for key, numbers in frames.items()
        for number in numbers
        if random.random() < share
    }


def _some(random: np.random.Generator, numbers: Sequence[int], fewest: int, most: int) -> list[int]:
    """Some of the frame numbers, in any order."""
    count = int(random.integers(fewest, min(most, len(numbers)) + 1))
    return [numbers[index] for index in random.permutation(len(numbers))[:count]]


class _Artist(Struct, frozen=True):
    """Draws objects on a lattice."""

    random: np.random.Generator
    labels: tuple[str, ...]
    scale: float
    extent_px: float
    tracks: bool

    def object_of(
        self,
        arity: int,
        place: int,
        *,
        flags: Sequence[int] = (0,),
        confidences: Sequence[float] = (),
    ) -> Thing:
        """One object; `place` is its position in the frame and its track."""
        return Thing(
            coordinates=tuple(self.scale * number for number in self._shape(arity)),
            label=self.labels[self.random.integers(len(self.labels))],
            confidence=self._confidence(confidences) if confidences else 1.0,
            track_id=place if self.tracks else NO_TRACK,
            flags=flags[int(self.random.integers(len(flags)))],
        )

    def _shape(self, arity: int) -> tuple[float, ...]:
        x, y = self._halves(0, self.extent_px), self._halves(0, self.extent_px)
        if arity == POINT:
            return x, y
        width, height = self._halves(1, self.extent_px / 2), self._halves(1, self.extent_px / 2)
        if arity == BOX:
            return x, y, x + width, y + height
        # A rectangle whose first side is (width, rise); it is upright if the rise is 0.
        rise = self._halves(0, 2) * (self.random.random() < 0.3)
        across, down = -rise * height / width, height
        return (
            *(x, y),
            *(x + width, y + rise),
            *(x + width + across, y + rise + down),
            *(x + across, y + down),
        )

    def _halves(self, least: float, most: float) -> float:
        return int(self.random.integers(int(2 * least), int(2 * most) + 1)) / 2

    def _confidence(self, special: Sequence[float]) -> float:
        if self.random.random() < 0.6:
            return special[int(self.random.integers(len(special)))]
        return float(self.random.random())


Batches = list[tuple[Side, IntArray]]


def interleaving(case: Case, random: np.random.Generator) -> Batches:
    """Both sides' frames in small batches, in any order; each batch is (side, frame rows)."""
    batches: Batches = []
    for side, annotations in sides(case).items():
        rows = random.permutation(annotations.frame_count)
        cuts = np.flatnonzero(random.random(max(0, len(rows) - 1)) < 0.5) + 1
        batches.extend((side, part) for part in np.split(rows, cuts))
    return [batches[index] for index in random.permutation(len(batches))]


def common_frames(case: Case, sent: Mapping[Side, IntArray]) -> Case:
    """The sent frames that both sides have."""
    came = {side: annotations.take_frames(sent[side]) for side, annotations in sides(case).items()}
    keys = {side: frame_keys(annotations) for side, annotations in came.items()}
    common = set(keys[Side.TRUTH]) & set(keys[Side.DETECTIONS])
    truth, detections = (
        came[side].take_frames(np.array([key in common for key in keys[side]], dtype=np.bool_))
        for side in (Side.TRUTH, Side.DETECTIONS)
    )
    return Case(truth, detections)


def parts(case: Case, unit: Unit, random: np.random.Generator) -> list[Case]:
    """Up to three parts of complete frames, or of complete sequences if the unit requires it."""
    part_of: dict[object, int] = {}

    def part_rows(annotations: Annotations) -> IntArray:
        keys = frame_keys(annotations)
        units = [key if unit is Unit.FRAME else key[0] for key in keys]
        chosen = [part_of.setdefault(name, int(random.integers(3))) for name in units]
        return np.array(chosen, dtype=np.int64)

    truth_parts, detection_parts = part_rows(case.truth), part_rows(case.detections)
    return [
        Case(
            case.truth.take_frames(truth_parts == part),
            case.detections.take_frames(detection_parts == part),
        )
        for part in range(3)
    ]


def joined_case(strategy: SearchStrategy[Case], count: int) -> Case:
    """Join up to `count` cases into one, the same in each run; each has its own sequences."""
    found: list[Case] = []

    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(case: Case) -> None:
        found.append(case)

    collect()
    shapes = [(case.truth.arity, case.detections.arity) for case in found]
    most = max(shapes, key=shapes.count)
    alike = [case for case, shape in zip(found, shapes, strict=True) if shape == most]
    return Case(
        concatenate([_renamed(case.truth, index) for index, case in enumerate(alike)]),
        concatenate([_renamed(case.detections, index) for index, case in enumerate(alike)]),
    )


def long_case(case: Case) -> Case:
    """All frames of a case in one long sequence for each of its domains.

    Args:
        case: Frames of many short sequences.
    """
    rows: dict[str, int] = {}
    lengths: Counter[int] = Counter()
    places: dict[tuple[SequenceKey, int], tuple[int, int]] = {}
    for key in sorted({key for side in case for key in frame_keys(side)}):
        row = rows.setdefault(key[0].domain, len(rows))
        places[key] = row, lengths[row]
        lengths[row] += 1
    names = tuple(SequenceKey(domain, "long") for domain in rows)

    def moved(side: Annotations) -> Annotations:
        found = np.array([places[key] for key in frame_keys(side)], dtype=np.int64).reshape(-1, 2)
        sequences, numbers = found.T
        return structs.replace(
            side, sequences=names, frame_sequences=sequences, frame_numbers=numbers
        )

    return Case(moved(case.truth), moved(case.detections))


def with_empty_dont_care_frames(case: Case) -> Case:
    """The case without the objects and detections of don't-care frames."""
    flagged = (case.truth.frame_flags & FrameFlag.DONT_CARE) != 0
    left_out = {key for key, is_one in zip(frame_keys(case.truth), flagged, strict=True) if is_one}

    def emptied(side: Annotations) -> Annotations:
        kept = np.array([key not in left_out for key in frame_keys(side)], dtype=np.bool_)
        return side.take_objects(kept[side.object_frames])

    return Case(emptied(case.truth), emptied(case.detections))


def with_other_extras(needs: Needs, case: Case, seed: int) -> Case:
    """A case with other confidences, track ids and labels, where these are not needed.

    Args:
        needs: The declared needs.
        case: Truth and detections.
        seed: Determines what is chosen.
    """
    random = np.random.default_rng(seed)
    truth, detections = case
    if not needs.confidences:
        confidences = random.random(detections.object_count)
        detections = structs.replace(detections, confidences=confidences)
    if not needs.tracks:
        truth, detections = (
            structs.replace(side, track_ids=random.permutation(side.object_count))
            for side in (truth, detections)
        )
    if needs.labels is LabelUse.IGNORED:
        truth, detections = (
            structs.replace(side, label_indices=random.permutation(side.label_indices))
            for side in (truth, detections)
        )
    return Case(truth, detections)


@cache
def two_workers() -> ProcessPoolExecutor:
    """Two new processes for all evaluators, because starting them takes longest."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def sides(case: Case) -> dict[Side, Annotations]:
    """The case by side."""
    return {Side.TRUTH: case.truth, Side.DETECTIONS: case.detections}


def sequence_count(case: Case) -> int:
    """Number of sequences that have a frame on either side."""
    used: set[SequenceKey] = set()
    for annotations in case:
        used.update(key for key, _ in frame_keys(annotations))
    return len(used)


def _renamed(annotations: Annotations, index: int) -> Annotations:
    names = tuple(
        SequenceKey(key.domain, f"{key.sequence}-{index}") for key in annotations.sequences
    )
    return structs.replace(annotations, sequences=names)
