"""Two domains of videos and their CSV files, in the form of the Neovision2 protocol."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from msgspec.structs import replace

from bench.scenes.boxes import Boxes, annotations_of, detected, flagged, random_boxes
from vidscore_evaluators.annotations import QUADRILATERAL, Annotations, ObjectFlag, SequenceKey
from vidscore_evaluators.formats.neovision2 import HEADER

DOMAINS = ("Harbour", "Helicopter")
"""Domains in which all of `CLASSES` are scored, unlike in Tower."""

SEQUENCES_PER_DOMAIN = 60
FRAMES_PER_SEQUENCE = 500
CLASSES = ("Car", "Truck", "Bus", "Person", "Cyclist", "Boat")
OBJECTS_PER_FRAME = 13.0
FALSE_ALARMS_PER_FRAME = 3.0
DONT_CARE = 0.05
SIDES_PX = (30.0, 160.0)
REGIONS_PX = (
    ((0.0, 0.0), (420.0, 20.0), (380.0, 200.0), (10.0, 230.0)),
    ((1500.0, 900.0), (1900.0, 860.0), (1910.0, 1070.0), (1480.0, 1060.0)),
)


def scene(sequences_a_domain: int) -> tuple[Annotations, Annotations]:
    """Truth with two don't-care regions per frame and some don't-care objects, and detections."""
    random = np.random.default_rng(3)
    frame_count = len(DOMAINS) * sequences_a_domain * FRAMES_PER_SEQUENCE
    counts = random.poisson(OBJECTS_PER_FRAME, size=frame_count)
    objects = random_boxes(random, counts, len(CLASSES), SIDES_PX)
    alarms = random.poisson(FALSE_ALARMS_PER_FRAME, size=frame_count)
    false = random_boxes(random, alarms, len(CLASSES), SIDES_PX)
    detections = detected(random, objects, 0.06, len(CLASSES)).join(false)
    ignored = random.random(len(objects.frames)) < DONT_CARE
    truth = flagged(objects, ignored, ObjectFlag.IGNORE)
    sequences = [
        SequenceKey(domain, f"{number:03d}")
        for domain in DOMAINS
        for number in range(sequences_a_domain)
    ]
    return (
        _with_regions(_annotations(truth, sequences)),
        _annotations(detections, sequences),
    )


def _annotations(boxes: Boxes, sequences: list[SequenceKey]) -> Annotations:
    return annotations_of(boxes, sequences, CLASSES, arity=QUADRILATERAL)


def _with_regions(truth: Annotations) -> Annotations:
    """The truth with the regions in front of the objects of each frame."""
    count = len(REGIONS_PX)
    at = np.repeat(truth.frame_starts[:-1], count)
    regions = np.tile(np.array(REGIONS_PX).reshape(count, QUADRILATERAL), (truth.frame_count, 1))
    return replace(
        truth,
        frame_starts=truth.frame_starts + count * np.arange(truth.frame_count + 1),
        coordinates=np.insert(truth.coordinates, at, regions, axis=0),
        label_indices=np.insert(truth.label_indices, at, 0),
        confidences=np.insert(truth.confidences, at, 1.0),
        track_ids=np.insert(truth.track_ids, at, -1),
        flags=np.insert(truth.flags, at, np.uint8(ObjectFlag.REGION)),
    )


def write_csv(annotations: Annotations, root: Path, side: str) -> None:
    """Write ``<root>/<Domain>/<sequence>.csv`` with the columns of Table 4.

    Args:
        annotations: Boxes by four corners.
        root: Folder.
        side: ``truth`` or ``detections``: only the truth has don't-care rows.
    """
    numbers = annotations.frame_numbers[annotations.object_frames].tolist()
    corners = annotations.coordinates.tolist()
    flags = annotations.flags.tolist()
    labels = [annotations.labels[index] for index in annotations.label_indices.tolist()]
    confidences = annotations.confidences.tolist() if side == "detections" else [1] * len(labels)
    rows = [
        f"{number},{','.join(map(str, box))},"
        f"{'DCR' if flag & ObjectFlag.REGION else label},FALSE,"
        f"{'TRUE' if flag & ObjectFlag.IGNORE else 'FALSE'},{confidence},,1.0"
        for number, box, flag, label, confidence in zip(
            numbers, corners, flags, labels, confidences, strict=True
        )
    ]
    bounds = np.searchsorted(annotations.frame_sequences, np.arange(len(annotations.sequences) + 1))
    starts = annotations.frame_starts[bounds].tolist()
    for key, start, stop in zip(annotations.sequences, starts, starts[1:], strict=False):
        path = root / key.domain / f"{key.sequence}.csv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([",".join(HEADER), *rows[start:stop]]) + "\n", encoding="utf-8")
