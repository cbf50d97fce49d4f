"""How cost grows: with frames, objects and classes; corners that might not be linear; memory."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from bench.case import Case, Size
from bench.measuring import Sample, run_interleaved
from bench.memory_probe import save
from bench.rows import SHOWN_SHARE, Goal, Row, at_most
from bench.scenes import neovision2
from bench.scenes.boxes import Boxes, annotations_of, detected, random_boxes
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations

DETECTIONS = 10_000_000
SMALLEST_DETECTIONS = 20_000
LINEAR = at_most(1.5)
"""A detection of the largest run may cost so many times one of the smallest."""

OBJECTS_A_FRAME = 13
FRAMES_A_SEQUENCE = 500
CORNER_BOXES = 10_000
CHAINS_PX = 4.0
BYTES = 1 << 30
EVALUATORS = ("neovision2", "f1")
Sides = tuple[Annotations, Annotations]


def _sides(frame_count: int, objects: int, class_count: int) -> Sides:
    """Boxes of the density of Neovision2's, however many a frame has."""
    random = np.random.default_rng(8)
    largest_px = 160.0 * (OBJECTS_A_FRAME / max(objects, OBJECTS_A_FRAME)) ** 0.5
    truth = random_boxes(
        random, np.full(frame_count, objects), class_count, (largest_px / 5, largest_px)
    )
    return _annotated(truth, detected(random, truth, 0.06, class_count), class_count)


def _annotated(truth: Boxes, detections: Boxes, class_count: int) -> Sides:
    count = max(1, truth.frame_count // FRAMES_A_SEQUENCE)
    sequences = [SequenceKey("domain", f"sequence-{number}") for number in range(count)]
    labels = ("Car", "Truck", "Bus", "Person", "Cyclist", "Boat", "Plane", "Helicopter")
    names = (*labels, *(f"class-{number}" for number in range(class_count)))[:class_count]
    return (
        annotations_of(truth, sequences, names),
        annotations_of(detections, sequences, names),
    )


def _chain(box_count: int) -> Sides:
    """One frame with a chain of boxes, each of which overlaps the next by half."""
    low = np.arange(box_count) * CHAINS_PX
    corners = np.column_stack(
        [low, np.zeros(box_count), low + 2 * CHAINS_PX, np.full(box_count, 9)]
    )
    whole = np.zeros(box_count, dtype=np.int64)
    confidences = np.linspace(0.0, 1.0, box_count)
    chain = Boxes(1, whole, corners, whole, confidences, np.arange(box_count), whole)
    return _annotated(chain, chain, 1)


def _seconds_a_detection(name: str, sides: Sequence[Sides], repeats: int) -> list[Sample]:
    evaluator = create_evaluator(name)

    def action(truth: Annotations, detections: Annotations) -> Callable[[], object]:
        return lambda: score_annotations([evaluator], truth, detections)

    samples, _ = run_interleaved([action(*pair) for pair in sides], repeats)
    return [
        sample.scaled(1.0 / pair[1].object_count)
        for sample, pair in zip(samples, sides, strict=True)
    ]


def _grown(scenes: Sequence[tuple[str, Sides]], size: Size, goal: Goal = LINEAR) -> Iterator[Row]:
    """A row for each scene beside the first one, for each evaluator."""
    names, sides = [name for name, _ in scenes], [pair for _, pair in scenes]
    for name in EVALUATORS:
        first, *others = _seconds_a_detection(name, sides, min(size.repeats, 3))
        for what, sample in zip(names[1:], others, strict=True):
            yield Row(f"{name}, time a detection: {what}", sample, first, names[0], goal)


def _growth(size: Size) -> Iterator[Row]:
    smallest = SMALLEST_DETECTIONS // OBJECTS_A_FRAME
    most = max(4 * smallest, size.of(DETECTIONS) // OBJECTS_A_FRAME)
    steps = np.unique(np.geomspace(smallest, most, 4).astype(int)).tolist()
    yield from _grown(
        [(f"{frames:,} frames", _sides(frames, OBJECTS_A_FRAME, 6)) for frames in steps], size
    )
    total = size.of(400_000)
    yield from _grown(
        [
            (f"{objects} objects a frame", _sides(max(1, total // objects), objects, 6))
            for objects in (OBJECTS_A_FRAME, 50, 200)
        ],
        size,
    )
    frames = max(1, total // OBJECTS_A_FRAME)
    yield from _grown(
        [(f"{classes} classes", _sides(frames, OBJECTS_A_FRAME, classes)) for classes in (2, 4, 8)],
        size,
    )


def _corners(size: Size) -> Iterator[Row]:
    boxes = max(500, size.of(CORNER_BOXES))
    common = _sides(max(1, boxes // OBJECTS_A_FRAME), OBJECTS_A_FRAME, 6)
    scenes = [
        (f"{boxes:,} boxes in many frames", common),
        (f"{boxes:,} boxes in one frame", _sides(1, boxes, 6)),
        (f"a chain of {boxes:,} overlapping boxes", _chain(boxes)),
    ]
    yield from _grown(scenes, size, SHOWN_SHARE)


def _memory(size: Size) -> Iterator[Row]:
    a_sequence = sum(side.nbytes for side in neovision2.scene(1)) / len(neovision2.DOMAINS)
    wanted = max(1, round(size.of(BYTES) / a_sequence / len(neovision2.DOMAINS)))
    with tempfile.TemporaryDirectory() as folder:
        for side, annotations in zip(
            ("truth", "detections"), neovision2.scene(wanted), strict=True
        ):
            save(annotations, Path(folder), side)
        printed = subprocess.run(
            [sys.executable, "-m", "bench.memory_probe", folder],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    columns_bytes, peak_bytes = (float(number) for number in printed.split())
    yield Row(
        "memory of scoring, Neovision2, columns included",
        Sample((peak_bytes,)),
        Sample((columns_bytes,)),
        "the columns' own size",
        at_most(2.0),
        unit="bytes",
    )


CASES = (Case("growth", _growth), Case("corners", _corners), Case("memory", _memory))
