"""What the challenge's rules forbid in truth and detections."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from vidscore_evaluators.annotations import Annotations, ObjectFlag, Side
from vidscore_evaluators.arrays import AnyArray, BoolArray
from vidscore_evaluators.errors import Fault
from vidscore_evaluators.protocols.spotgeo.parameters import SpotGeoParameters

FAULTS_A_RULE = 1000
"""Breaches of one rule that are listed; a file of millions must not become as many."""


def input_faults(
    parameters: SpotGeoParameters, side: Side, annotations: Annotations
) -> Iterator[Fault]:
    """Every breach of the rules, up to `FAULTS_A_RULE` a rule.

    Args:
        parameters: The limits.
        side: Which side it is.
        annotations: Points.
    """
    yield from _frame_numbers(parameters, side, annotations)
    extents = (("x", parameters.image_width), ("y", parameters.image_height))
    for axis, (name, size_px) in enumerate(extents):
        yield from _coordinates(side, annotations, axis, name, size_px)
    if side is Side.DETECTIONS:
        yield from _crowded_frames(parameters, annotations)
    else:
        yield from _flagged_objects(annotations)


def _frame_numbers(
    parameters: SpotGeoParameters, side: Side, annotations: Annotations
) -> Iterator[Fault]:
    numbers, last = annotations.frame_numbers, parameters.frames_per_sequence
    for frame in _first((numbers < 1) | (numbers > last)):
        yield Fault(
            source=side.value,
            entry=frame,
            field="frame_numbers",
            found=_frame_name(annotations, frame),
            expected=f"frames 1 to {last}",
        )


def _coordinates(
    side: Side, annotations: Annotations, axis: int, name: str, size_px: int
) -> Iterator[Fault]:
    """Pixel centres are whole numbers, so that the image begins at -0.5."""
    least, greatest = -0.5, size_px - 0.5
    values = annotations.coordinates[:, axis]
    wrong = (values < least) | (values > greatest)
    if not wrong.any():
        return
    frames = annotations.object_frames
    for row in _first(wrong):
        frame = int(frames[row])
        yield Fault(
            source=side.value,
            entry=frame,
            field="coordinates",
            found=f"{name} = {float(values[row])!r} in {_frame_name(annotations, frame)}",
            expected=f"{name} from {least} to {greatest}",
        )


def _crowded_frames(parameters: SpotGeoParameters, annotations: Annotations) -> Iterator[Fault]:
    counts, most = annotations.object_counts, parameters.maximum_detections
    for frame in _first(counts > most):
        yield Fault(
            source=Side.DETECTIONS.value,
            entry=frame,
            field="frame_object_counts",
            found=f"{counts[frame]} detections in {_frame_name(annotations, frame)}",
            expected=f"at most {most}",
        )


def _flagged_objects(annotations: Annotations) -> Iterator[Fault]:
    flagged = annotations.flags != 0
    if not flagged.any():
        return
    frames = annotations.object_frames
    for row in _first(flagged):
        frame = int(frames[row])
        flags = str(ObjectFlag(int(annotations.flags[row])).name).lower().replace("|", ", ")
        yield Fault(
            source=Side.TRUTH.value,
            entry=frame,
            field="object_flags",
            found=f"an object flagged {flags} in {_frame_name(annotations, frame)}",
            expected="no flags: spotGEO has ordinary objects only",
        )


def _first(wrong: BoolArray) -> list[int]:
    rows: AnyArray = np.flatnonzero(wrong)[:FAULTS_A_RULE]
    return [int(row) for row in rows]


def _frame_name(annotations: Annotations, frame: int) -> str:
    key = annotations.sequences[annotations.frame_sequences[frame]]
    sequence = "/".join(filter(None, key))
    return f"frame {annotations.frame_numbers[frame]} of sequence {sequence}"
