"""Detections of one frame as a table and a picture, with outcomes if they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.explanation.answer import figure
from vidscore_evaluators.figures.overlay import Mark, Overlay
from vidscore_server.web.canvas import canvas_size

MOST_MARKS = 400
"""Maximum number of objects of a frame that are drawn and listed."""

KINDS = {"true_positive": "tp", "false_negative": "fn", "ignored": "ig"}
"""Kind of a mark by outcome; all others are false alarms."""


class ObjectLine(Struct, frozen=True):
    """A detection of a frame.

    Attributes:
        number: Its number in the frame, from 1.
        label: Its label.
        confidence: Its confidence.
        place: Its coordinates as a text.
        kind: Its outcome; empty if hidden.
    """

    number: int
    label: str
    confidence: str
    place: str
    kind: str


def object_rows(frame: Annotations, kinds: Mapping[int, str]) -> list[ObjectLine]:
    """Rows of the listed detections.

    Args:
        frame: The detections of a frame.
        kinds: Outcome of each, by its place in the frame.
    """
    listed = frame.take_objects(np.arange(min(MOST_MARKS, frame.object_count)))
    columns = (listed.label_indices, listed.confidences, listed.coordinates)
    return [
        ObjectLine(
            number,
            frame.labels[label],
            figure(confidence),
            ", ".join(f"{value:g}" for value in place),
            kinds.get(number - 1, ""),
        )
        for number, (label, confidence, place) in enumerate(
            zip(*(column.tolist() for column in columns), strict=True), 1
        )
    ]


def picture(
    rows: Sequence[ObjectLine], frame: Annotations, size: tuple[float, float], where: str
) -> tuple[str, str]:
    """A picture of the detections, and a note on it.

    Args:
        rows: The listed detections.
        frame: The detections of the frame.
        size: Width and height of the image.
        where: Frame and sequence, in words.
    """
    marks = [
        Mark(
            row.kind or "own",
            place,
            row.number,
            row.label,
            figure(confidence, 2),
            mask=frame.mask_of(row.number - 1),
        )
        for row, place, confidence in zip(
            rows, frame.coordinates.tolist(), frame.confidences.tolist(), strict=False
        )
    ]
    overlay = Overlay(*size, marks=marks)
    svg = overlay.svg(f"Detections in {where}", "Each is a row of the table below.", "frame")
    return svg, overlay.note


def image_size(
    specification: Mapping[str, Any],
    key: SequenceKey,
    truth: Annotations | None,
    detections: Annotations | None,
) -> tuple[float, float]:
    """Width and height of an image as specified; otherwise large enough for the objects.

    Args:
        specification: The benchmark's specification.
        key: The sequence.
        truth: Objects of the truth; None if they are hidden.
        detections: The detections; None for none.
    """
    for entry in specification["sequences"]:
        own = (entry["domain"], entry["name"])
        if own == tuple(key) and entry["image_width"] and entry["image_height"]:
            return float(entry["image_width"]), float(entry["image_height"])
    return canvas_size(truth, [] if detections is None else [detections])
