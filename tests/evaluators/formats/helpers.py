"""Helpers for tests of formats: files to write and annotations to compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.formats.source import Source

Row = tuple[str, int, str, tuple[float, ...], float, int, int]
"""Sequence, frame, class, coordinates, confidence, track and flags of an object."""


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def truth_of(path: Path, **options: object) -> Source:
    return read_source(path, Side.TRUTH, **options)  # type: ignore[arg-type]


def detections_of(path: Path, **options: object) -> Source:
    return read_source(path, Side.DETECTIONS, **options)  # type: ignore[arg-type]


def validate_file(path: Path, *, side: Side = Side.TRUTH, **options: object) -> list[Fault]:
    """Every fault of a file or folder; none if it can be read."""
    try:
        read_source(path, side, **options)  # type: ignore[arg-type]
    except InputError as error:
        return list(error.faults)
    return []


def objects_of(side: Annotations) -> list[Row]:
    """Every object, in order."""
    frames = side.object_frames.tolist()
    return [
        (
            side.sequences[side.frame_sequences[frame]].sequence,
            int(side.frame_numbers[frame]),
            side.labels[side.label_indices[row]],
            tuple(side.coordinates[row].tolist()),
            float(side.confidences[row]),
            int(side.track_ids[row]),
            int(side.flags[row]),
        )
        for row, frame in enumerate(frames)
    ]


def frames_of(side: Annotations) -> list[tuple[str, int]]:
    """Sequence and number of every frame, in order."""
    return [
        (side.sequences[sequence].sequence, number)
        for sequence, number in zip(
            side.frame_sequences.tolist(), side.frame_numbers.tolist(), strict=True
        )
    ]


def column(side: Annotations, name: str) -> list[float | None]:
    """A named column, with None for NaN."""
    return [None if np.isnan(value) else value for value in side.columns[name].tolist()]
