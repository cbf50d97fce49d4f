"""Hypothesis strategies for truth and detections that make evaluators stumble.

Coordinates come from a coarse lattice, so that equal distances, equal overlaps, objects that
touch and objects that coincide are common instead of never; now and then any float is among
them, so that the order of an addition shows in the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from vidscore_evaluators.annotations import BOX, POINT, Annotations, ObjectFlag
from vidscore_evaluators.evaluator import Needs
from vidscore_evaluators.testing.examples import Thing, make_annotations

EXTENT_PX = 12
"""Objects start in a square of this side: small, so that most of them have to do with others."""

EDGE_CONFIDENCES = (0.0, -0.0, 0.05, 0.5, 0.95, 1.0)


class Scene(NamedTuple):
    """Truth and detections of the same sequences."""

    truth: Annotations
    detections: Annotations


def lengths(minimum: float, maximum: float) -> SearchStrategy[float]:
    """Lengths in pixels: mostly multiples of a half, sometimes any float."""
    halves = st.integers(int(2 * minimum), int(2 * maximum)).map(lambda number: number / 2)
    return st.one_of(halves, halves, st.floats(minimum, maximum))


def shapes(arity: int, extent_px: float = EXTENT_PX) -> SearchStrategy[tuple[float, ...]]:
    """Points, upright boxes or rectangles in any position, all with some area.

    Args:
        arity: 2, 4 or 8.
        extent_px: Side of the square in which they start.
    """
    start = lengths(0, extent_px)
    if arity == POINT:
        return st.tuples(start, start)
    side = lengths(1, extent_px / 2)
    if arity == BOX:
        return st.builds(lambda x, y, w, h: (x, y, x + w, y + h), start, start, side, side)
    return st.builds(_rectangle, start, start, side, lengths(0, extent_px / 2), side)


def confidences() -> SearchStrategy[float]:
    """Confidences: mostly round ones, on which thresholds lie."""
    return st.one_of(st.sampled_from(EDGE_CONFIDENCES), st.floats(0, 1))


def things(
    arity: int,
    labels: Sequence[str],
    *,
    flags: Sequence[int] = (0,),
    with_confidences: bool = False,
    with_tracks: bool = False,
    extent_px: float = EXTENT_PX,
) -> SearchStrategy[list[Thing]]:
    """The objects of one frame.

    Args:
        arity: Coordinates an object has.
        labels: Labels to choose from.
        flags: Bits of `ObjectFlag` to choose from.
        with_confidences: Whether confidences differ from 1.
        with_tracks: Whether objects carry a track identity, each once in a frame.
        extent_px: Side of the square in which objects start.
    """
    one = st.builds(
        Thing,
        coordinates=shapes(arity, extent_px),
        label=st.sampled_from(labels),
        confidence=confidences() if with_confidences else st.just(1.0),
        track_id=st.integers(0, 5) if with_tracks else st.just(-1),
        flags=st.sampled_from(flags),
    )
    return st.lists(
        one, max_size=4, unique_by=(lambda thing: thing.track_id) if with_tracks else None
    )


@st.composite
def scenes(
    draw: DrawFn,
    needs: Needs,
    *,
    labels: Sequence[str] = ("a", "b", "c"),
    domains: Sequence[str] = ("left", "right"),
    frame_numbers: Sequence[int] = range(6),
    object_flags: Sequence[int] = (0, 0, 0, ObjectFlag.IGNORE),
    dont_care_frames: bool = True,
    extent_px: float = EXTENT_PX,
) -> Scene:
    """Truth and detections as an evaluator needs them.

    Each sequence has a listed frame at least; either side may lack frames that the other has, and
    any frame may be empty.

    Args:
        draw: Given by hypothesis.
        needs: What the evaluator needs.
        labels: Labels of objects.
        domains: Domains of sequences.
        frame_numbers: Frame numbers to choose from.
        object_flags: Bits of `ObjectFlag` that objects of the truth may carry.
        dont_care_frames: Whether frames may be marked don't-care.
        extent_px: Side of the square in which objects start.
    """
    keys = st.tuples(st.sampled_from(domains), st.sampled_from(("s1", "s2")))
    sequences = draw(st.lists(keys, min_size=1, max_size=3, unique=True))
    truth_arity = draw(st.sampled_from(needs.truth_arities))
    detection_arity = draw(st.sampled_from(needs.detection_arities))
    annotated = things(
        truth_arity,
        labels,
        flags=object_flags,
        with_tracks=needs.tracks,
        extent_px=extent_px,
    )
    detected = things(
        detection_arity,
        labels,
        with_confidences=needs.confidences,
        with_tracks=needs.tracks,
        extent_px=extent_px,
    )
    number = st.sampled_from(frame_numbers)
    truth = {
        key: draw(st.dictionaries(number, annotated, min_size=1, max_size=4)) for key in sequences
    }
    detections = {key: draw(st.dictionaries(number, detected, max_size=4)) for key in sequences}
    listed = [(key, number) for key, frames in truth.items() for number in frames]
    left_out = draw(st.sets(st.sampled_from(listed), max_size=2)) if dont_care_frames else ()
    return Scene(
        make_annotations(truth, arity=truth_arity, dont_care=left_out),
        make_annotations(detections, arity=detection_arity),
    )


def seeds() -> SearchStrategy[int]:
    """Seeds for `numpy.random.default_rng`, for orders and cuts that need not shrink."""
    return st.integers(0, 2**32 - 1)


def _rectangle(x: float, y: float, across: float, up: float, height: float) -> tuple[float, ...]:
    """Corners of a rectangle whose first side is the vector (across, up)."""
    scale = height / (across * across + up * up) ** 0.5
    right, down = -up * scale, across * scale
    return (
        *(x, y),
        *(x + across, y + up),
        *(x + across + right, y + up + down),
        *(x + right, y + down),
    )
