"""Growth of cost with frames, objects and classes; special cases; warnings; memory."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.case import Case, Size
from bench.measuring import Sample, run_interleaved
from bench.memory_probe import peak_of, save
from bench.rows import Point, Row, at_most, not_yet
from bench.scenes import neovision2
from bench.scenes.boxes import Boxes, annotations_of, detected, random_boxes
from vidscore_evaluators.alignment import Aligned, align
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.plausibility.summary import input_summary_of
from vidscore_evaluators.plausibility.warnings import input_warnings
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score, score_annotations
from vidscore_evaluators.specification import BenchmarkSpec

DETECTIONS = 10_000_000
SMALLEST_DETECTIONS = 20_000
LINEAR = at_most(1.5)
"""Bound on the cost of a detection in the largest run, relative to the smallest run."""

OBJECTS_PER_FRAME = 13
FRAMES_OF_OBJECTS = 8000
FRAMES_OF_CLASSES = 5000
FRAMES_PER_SEQUENCE = 500
CORNER_BOXES = 10_000
CHAINS_PX = 4.0
CHAIN = "a chain of {:,} overlapping boxes"
WARNED_OBJECTS = 100_000
"""From so many on, warnings may take a twentieth of scoring; below, 10 ms."""

BYTES, FEWEST_BYTES = 1 << 30, 1 << 28
EVALUATORS = ("neovision2", "f1")
Sides = tuple[Annotations, Annotations]
ArrayColumns = dict[str, np.ndarray[Any, Any]]


def _sides(frame_count: int, objects: int, class_count: int) -> Sides:
    """Boxes with the density of Neovision2 for any number per frame."""
    random = np.random.default_rng(8)
    largest_px = 160.0 * (OBJECTS_PER_FRAME / max(objects, OBJECTS_PER_FRAME)) ** 0.5
    truth = random_boxes(
        random, np.full(frame_count, objects), class_count, (largest_px / 5, largest_px)
    )
    return _annotated(truth, detected(random, truth, 0.06, class_count), class_count)


def _annotated(truth: Boxes, detections: Boxes, class_count: int) -> Sides:
    count = max(1, truth.frame_count // FRAMES_PER_SEQUENCE)
    sequences = [SequenceKey("domain", f"sequence-{number}") for number in range(count)]
    labels = ("Car", "Truck", "Bus", "Person", "Cyclist", "Boat", "Plane", "Helicopter")
    names = (*labels, *(f"class-{number}" for number in range(class_count)))[:class_count]
    return (
        annotations_of(truth, sequences, names),
        annotations_of(detections, sequences, names),
    )


def _chain(box_count: int) -> Sides:
    """One frame with a chain of boxes; each overlaps the next one by half."""
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


@dataclass(frozen=True, slots=True)
class _Scene:
    """A scene of a series in which one quantity grows.

    Attributes:
        name: Its name in the row.
        size: Value of the quantity.
        sides: Truth and detections.
    """

    name: str
    size: int
    sides: Sides


def _grown(scenes: Sequence[_Scene], size: Size, panel: str = "") -> Iterator[Row]:
    """A row for each other scene compared with the first, per evaluator; drawn if in a panel."""
    first, *others = scenes
    for name in EVALUATORS:
        samples = _seconds_a_detection(
            name, [scene.sides for scene in scenes], min(size.repeats, 3)
        )
        points = [
            Point(panel, name, scene.size, sample.median * scene.sides[1].object_count)
            for scene, sample in zip(scenes, samples, strict=True)
        ]
        for scene, sample, point in zip(others, samples[1:], points[1:], strict=True):
            yield Row(
                f"{name}, time a detection: {scene.name}",
                sample,
                samples[0],
                first.name,
                LINEAR,
                points=(points[0], point) if panel else (),
            )


def _growth(size: Size) -> Iterator[Row]:
    smallest = SMALLEST_DETECTIONS // OBJECTS_PER_FRAME
    most = max(4 * smallest, size.of(DETECTIONS) // OBJECTS_PER_FRAME)
    steps = np.unique(np.geomspace(smallest, most, 4).astype(int)).tolist()
    scenes = [
        _Scene(f"{frames:,} frames", frames, _sides(frames, OBJECTS_PER_FRAME, 6))
        for frames in steps
    ]
    yield from _grown(scenes, size, f"frames of {OBJECTS_PER_FRAME} objects")
    frames = max(1, size.of(FRAMES_OF_OBJECTS))
    scenes = [
        _Scene(f"{objects} objects a frame", objects, _sides(frames, objects, 6))
        for objects in (OBJECTS_PER_FRAME, 50, 200)
    ]
    yield from _grown(scenes, size, f"objects a frame, {frames:,} frames")
    frames = max(1, size.of(FRAMES_OF_CLASSES))
    scenes = [
        _Scene(f"{classes} classes", classes, _sides(frames * classes, OBJECTS_PER_FRAME, classes))
        for classes in (2, 4, 8)
    ]
    yield from _grown(scenes, size, f"classes, each in {frames:,} frames more")


def _corners(size: Size) -> Iterator[Row]:
    boxes = size.of(CORNER_BOXES, CORNER_BOXES)
    common = _sides(max(1, boxes // OBJECTS_PER_FRAME), OBJECTS_PER_FRAME, 6)
    scenes = [
        _Scene(f"{boxes:,} boxes in many frames", boxes, common),
        _Scene(f"{boxes:,} boxes in one frame", boxes, _sides(1, boxes, 6)),
        _Scene(CHAIN.format(boxes), boxes, _chain(boxes)),
    ]
    for row in _grown(scenes, size):
        # Neovision2 merges the chain of boxes round by round.
        is_chain = row.name.startswith("neovision2") and row.name.endswith(CHAIN.format(boxes))
        yield replace(row, goal=not_yet(row.goal)) if is_chain else row


def _warnings(size: Size) -> Iterator[Row]:
    """The look for implausible input, as a part of all that scoring of columns does."""
    needs = create_evaluator("f1").needs
    for objects in (5, OBJECTS_PER_FRAME, 400):
        truth, detections = sides = _sides(WARNED_OBJECTS // objects, objects, 6)
        columns = tuple(map(_columns, sides))

        aligned = align(truth, detections)  # as scoring does anyway

        def warnings(aligned: Aligned = aligned) -> object:
            # Without the intermediate results of the call before.
            summary = input_summary_of(replace(aligned), BenchmarkSpec())
            return input_warnings(summary, needs.labels, ranked=needs.ranked, tracked=needs.tracks)

        def whole(columns: tuple[ArrayColumns, ...] = columns) -> object:
            return score("f1", *columns).warnings

        (ours, other), _ = run_interleaved([warnings, whole], size.repeats)
        yield Row(
            f"warnings, {WARNED_OBJECTS:,} objects, {objects} a frame",
            ours,
            other,
            "f1 of columns, warnings included",
            at_most(0.05),
        )


def _columns(side: Annotations) -> ArrayColumns:
    """Columns as a program hands them over."""
    names = np.array([key.sequence for key in side.sequences])
    return {
        "sequence": names[side.frame_sequences[side.object_frames]],
        "frame": side.frame_numbers[side.object_frames],
        "label": np.array(side.labels)[side.label_indices],
        "confidence": side.confidences,
        **dict(zip(("x1", "y1", "x2", "y2"), side.coordinates.T, strict=True)),
    }


def _memory(size: Size) -> Iterator[Row]:
    a_sequence = sum(side.nbytes for side in neovision2.scene(1)) / len(neovision2.DOMAINS)
    wanted = max(1, round(size.of(BYTES, FEWEST_BYTES) / a_sequence / len(neovision2.DOMAINS)))
    sides = neovision2.scene(wanted)
    columns_bytes = float(sum(side.nbytes for side in sides))
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder, name) for name in ("truth", "detections")]
        for annotations, path in zip(sides, folders, strict=True):
            save(annotations, path)
        peak_bytes = peak_of("columns", *map(str, folders), "neovision2")
    yield Row(
        "memory of scoring, Neovision2, columns included",
        Sample((peak_bytes,)),
        Sample((columns_bytes,)),
        "the columns' own size",
        at_most(2.0),
        unit="bytes",
    )


CASES = (
    Case("growth", _growth),
    Case("corners", _corners),
    Case("warnings", _warnings),
    Case("memory", _memory),
)
