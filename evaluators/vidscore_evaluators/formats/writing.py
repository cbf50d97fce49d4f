"""What files of a format can hold, and what becomes of the rest.

A format writes one side as a few files, whose content is a pure function of the annotations. What
a format cannot hold is dropped beforehand, and each kind of loss is one sentence. What is not
scored never becomes scored by that: an object whose flags a format cannot hold is left out as a
whole, and so is a don't-care frame.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from vidscore_evaluators.annotations import (
    ARITIES,
    BOX,
    NO_TRACK,
    POINT,
    Annotations,
    FrameFlag,
    ObjectFlag,
    SequenceKey,
    Side,
)
from vidscore_evaluators.errors import Fault, GeometryError, InputError
from vidscore_evaluators.geometry import bounding_boxes

Files = Mapping[str, bytes]
"""Content by relative path; a format of a single file has the one path ``""``."""

NO_FLAG = ObjectFlag(0)
EVERY_FLAG = ObjectFlag.IGNORE | ObjectFlag.CROWD | ObjectFlag.REGION | ObjectFlag.DISTRACTOR


@dataclass(frozen=True, slots=True)
class Capacity:
    """What one side of a format can hold.

    Attributes:
        arities: Coordinates an object may have.
        domains: Whether sequences have domains.
        empty_frames: Whether a frame without objects can be listed.
        dont_care_frames: Whether a frame can be marked.
        classes: Whether objects have classes.
        confidences: Whether objects have confidences.
        tracks: Whether objects have track ids.
        flags: Flags that objects can have.
        columns: Named columns; None for any.
    """

    arities: tuple[int, ...] = (BOX,)
    domains: bool = False
    empty_frames: bool = True
    dont_care_frames: bool = False
    classes: bool = True
    confidences: bool = True
    tracks: bool = False
    flags: ObjectFlag = NO_FLAG
    columns: frozenset[str] | None = frozenset()


@dataclass(frozen=True, slots=True)
class Numbers:
    """Where the numbers that stand for images and classes come from.

    Attributes:
        truth: Annotations whose frames and classes are numbered; None for those that are written.
        image_size: Width and height of every image in pixels; None where it is not known.
    """

    truth: Annotations | None = None
    image_size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Writer:
    """How a format is written.

    Attributes:
        folder: Whether it is a folder of files rather than one file.
        capacity: What each side can hold.
        write: Gives the content of the files, for annotations that the capacity holds.
        remarks: Says what else becomes of such annotations.
    """

    folder: bool
    capacity: Mapping[Side, Capacity]
    write: Callable[[Annotations, Side, Numbers], Files]
    remarks: Callable[[Annotations, Side], tuple[str, ...]] = lambda _annotations, _side: ()


@dataclass
class _Fitting:
    """Annotations on their way into a capacity, and what was lost so far."""

    annotations: Annotations
    losses: list[str] = field(default_factory=list)

    def lose(self, count: int, one: str, many: str, what: str) -> None:
        """Say what is lost of so many, if there are any."""
        if count:
            self.losses.append(f"{count} {one if count == 1 else many} {what}")


def fit(annotations: Annotations, capacity: Capacity) -> tuple[Annotations, tuple[str, ...]]:
    """Drop what a format cannot hold.

    Args:
        annotations: Anything.
        capacity: What the format can hold.

    Returns:
        What is left, in ascending order of sequences and frames, and a sentence for each kind of
        loss.

    Raises:
        GeometryError: If the format cannot hold the shape at all.
    """
    fitting = _Fitting(annotations)
    _fit_shapes(fitting, capacity)
    _fit_frames(fitting, capacity)
    _fit_flags(fitting, capacity)
    _fit_columns(fitting, capacity)
    if not capacity.domains:
        _join_domains(fitting)
    if not capacity.empty_frames:
        kept = fitting.annotations
        empty = kept.object_counts == 0
        fitting.lose(int(empty.sum()), "frame", "frames", "without objects not listed")
        fitting.annotations = kept.take_frames(~empty)
    return in_order(fitting.annotations), tuple(fitting.losses)


def in_order(annotations: Annotations) -> Annotations:
    """The same with frames in ascending order of domain, sequence and number."""
    ranks = {key: rank for rank, key in enumerate(sorted(set(annotations.sequences)))}
    rank = np.array([ranks[key] for key in annotations.sequences], dtype=np.int64)
    order = np.lexsort((annotations.frame_numbers, rank[annotations.frame_sequences]))
    return annotations.take_frames(order)


def file_name(name: str, what: str) -> str:
    """A name that is safe as the name of a file.

    Raises:
        InputError: If it is not.
    """
    if not name or name.startswith(".") or set(name) & set('/\\:*?"<>|\0\n\r\t'):
        expected = "a name that a file can have"
        raise InputError([Fault(repr(name), expected, field=what)])
    return name


def _fit_shapes(fitting: _Fitting, capacity: Capacity) -> None:
    side = fitting.annotations
    if side.arity in capacity.arities:
        return
    if side.arity == POINT or BOX not in capacity.arities:
        expected = " or ".join(ARITIES[arity] for arity in capacity.arities)
        raise GeometryError([Fault(ARITIES[side.arity], expected)])
    boxes = bounding_boxes(side.coordinates)
    corners = boxes[:, [0, 1, 2, 1, 2, 3, 0, 3]]
    changed = int((np.sort(corners, axis=1) != np.sort(side.coordinates, axis=1)).any(axis=1).sum())
    fitting.lose(changed, "object", "objects", "with four corners became the box around them")
    fitting.annotations = replace(side, coordinates=boxes)


def _fit_frames(fitting: _Fitting, capacity: Capacity) -> None:
    side = fitting.annotations
    marked = (side.frame_flags & FrameFlag.DONT_CARE) != 0
    if not capacity.dont_care_frames and marked.any():
        fitting.lose(int(marked.sum()), "don't-care frame", "don't-care frames", "left out")
        fitting.annotations = side.take_frames(~marked)


def _fit_flags(fitting: _Fitting, capacity: Capacity) -> None:
    for flag in ObjectFlag:
        side = fitting.annotations
        marked = (side.flags & flag) != 0
        if not capacity.flags & flag and marked.any():
            name = str(flag.name).lower()
            fitting.lose(int(marked.sum()), "object", "objects", f"flagged {name} left out")
            fitting.annotations = side.take_objects(~marked)


def _fit_columns(fitting: _Fitting, capacity: Capacity) -> None:
    side, count = fitting.annotations, fitting.annotations.object_count
    if not capacity.classes and len(set(side.label_indices.tolist())) > 1:
        used = np.unique(side.label_indices)
        fitting.losses.append(f"{len(used)} classes became one")
    if not capacity.confidences:
        unsure = int((side.confidences != 1.0).sum())
        fitting.lose(unsure, "confidence", "confidences", "not written")
        fitting.annotations = side = replace(side, confidences=np.ones(count))
    if not capacity.tracks:
        tracked = int((side.track_ids != NO_TRACK).sum())
        fitting.lose(tracked, "track id", "track ids", "not written")
        fitting.annotations = side = replace(side, track_ids=np.full(count, NO_TRACK))
    kept = capacity.columns
    if kept is not None:
        for name in sorted(set(side.columns) - kept):
            known = int((~np.isnan(side.columns[name])).sum())
            fitting.lose(known, "value", "values", f"of the column {name} not written")
        columns = {name: column for name, column in side.columns.items() if name in kept}
        fitting.annotations = replace(side, columns=columns)


def _join_domains(fitting: _Fitting) -> None:
    """Make domains part of the names of their sequences."""
    side = fitting.annotations
    joined = tuple(SequenceKey("", "-".join(filter(None, key))) for key in side.sequences)
    if joined == side.sequences:
        return
    if len(set(joined)) < len(joined):
        expected = "names that differ when domain and sequence are joined by -"
        raise InputError([Fault("sequences of one name", expected)])
    fitting.losses.append("domains became part of the names of sequences")
    fitting.annotations = replace(side, sequences=joined)
