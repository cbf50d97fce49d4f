"""Simulated videos and simulated detectors for the demo.

Objects move along straight lines through an image; a detector misses some, places the others
slightly wrong, gives some a wrong class, and sees things that are not there. The same seed gives
the same data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from msgspec import Struct, field, structs

from vidscore_evaluators.annotations import (
    POINT,
    QUADRILATERAL,
    Annotations,
    ObjectFlag,
    concatenate,
)
from vidscore_evaluators.arrays import BoolArray, FloatArray, IntArray
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.validation import Columns, build_annotations

UNIT_CORNERS = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
"""Corners of a square of side 1 around (0, 0), in order."""

AMBIGUOUS_FRACTION = 0.05
"""Fraction of the objects of a video that the truth marks as ambiguous."""

Random = np.random.Generator


class Scene(Struct, frozen=True):
    """Videos of one kind.

    Attributes:
        domain: Domain that the videos belong to.
        sequences: Names of the videos.
        frame_count: Frames of each video.
        object_count: Objects that cross each video.
        width_px: Width of the image.
        height_px: Height of the image.
        speed_px: Mean movement of an object from frame to frame.
        first_frame: Number of the first frame.
        lengths_px: Length of an object of each class; empty if objects are points.
    """

    domain: str
    sequences: tuple[str, ...]
    frame_count: int
    object_count: int
    width_px: float
    height_px: float
    speed_px: float
    first_frame: int = 0
    lengths_px: Mapping[str, float] = field(default_factory=dict)

    @property
    def labels(self) -> tuple[str, ...]:
        """Classes that occur."""
        return tuple(self.lengths_px) or ("",)


class Detector(Struct, frozen=True):
    """Quality of a simulated detector.

    Attributes:
        name: Its name.
        miss_rate: Fraction of the objects that it misses.
        position_error_px: Standard deviation of its positions.
        size_error: Standard deviation of its sizes, relative to the size.
        wrong_class_rate: Fraction of the found objects that get a wrong class.
        false_alarms_per_frame: Mean number of detections of nothing.
    """

    name: str
    miss_rate: float
    position_error_px: float
    size_error: float
    wrong_class_rate: float
    false_alarms_per_frame: float


class _Found(Struct, frozen=True):
    """Detections of all frames, in any order: (N,) columns and (N, P, 2) outlines."""

    frames: IntArray
    points: FloatArray
    labels: IntArray
    confidences: FloatArray

    def joined(self, other: _Found) -> _Found:
        """These and other detections, frame by frame."""
        order = np.argsort(np.concatenate([self.frames, other.frames]), kind="stable")
        both = zip(structs.astuple(self), structs.astuple(other), strict=True)
        return _Found(*(np.concatenate(columns)[order] for columns in both))


DETECTORS = (
    Detector(
        "falcon",
        miss_rate=0.06,
        position_error_px=2.0,
        size_error=0.04,
        wrong_class_rate=0.02,
        false_alarms_per_frame=0.15,
    ),
    Detector(
        "mole",
        miss_rate=0.25,
        position_error_px=5.0,
        size_error=0.15,
        wrong_class_rate=0.12,
        false_alarms_per_frame=0.9,
    ),
)

STREETS = tuple(
    Scene(
        domain=domain,
        sequences=("001", "002"),
        frame_count=150,
        object_count=8,
        width_px=1920.0,
        height_px=1080.0,
        speed_px=6.0,
        lengths_px=lengths_px,
    )
    for domain, lengths_px in (
        ("Tower", {"Car": 110.0, "Truck": 170.0, "Bus": 220.0, "Person": 55.0, "Cyclist": 70.0}),
        ("Helicopter", {"Car": 80.0, "Truck": 120.0, "Boat": 140.0, "Plane": 240.0}),
    )
)

SKY = Scene(
    domain="",
    sequences=tuple(str(number) for number in range(1, 49)),
    frame_count=5,
    object_count=3,
    width_px=640.0,
    height_px=480.0,
    speed_px=30.0,
    first_frame=1,
)


class Show(Struct, frozen=True):
    """Videos, with their evaluator.

    Attributes:
        benchmark: Name of the benchmark that hosts them.
        evaluator: Name of the evaluator.
        about: What the videos show.
        rate_fps: Frames per second in real time.
        headline: Measure that is shown while it runs, and by which systems are ranked.
        headline_label: Its name for people.
        truth: The true objects.
        detections: Detections of each detector, by its name.
    """

    benchmark: str
    evaluator: str
    about: str
    rate_fps: float
    headline: str
    headline_label: str
    truth: Annotations
    detections: dict[str, Annotations]

    @property
    def specification(self) -> BenchmarkSpec:
        """Specification of the benchmark."""
        title = self.about[0].upper() + self.about[1:]
        return BenchmarkSpec(title=title, evaluators=(EvaluatorSpec(self.evaluator),))


def simulate_truth(scene: Scene, seed: int) -> Annotations:
    """Simulate the truth of the videos of a scene.

    Args:
        scene: The videos.
        seed: Seed of the random numbers.
    """
    random = np.random.default_rng([seed, *scene.domain.encode()])
    shape = (len(scene.sequences), scene.object_count)
    labels = random.integers(len(scene.labels), size=shape)
    outlines = _outlines(scene, labels, random)
    ambiguous = random.random(shape) < AMBIGUOUS_FRACTION * bool(scene.lengths_px)
    centres = _paths(scene, random)
    inside = _inside(scene, centres)
    # Rows are in order of frames, as a batch requires.
    sequence, _, thing = np.nonzero(inside)
    coordinates = centres[inside][:, None, :] + outlines[sequence, thing]
    return _annotations(
        scene,
        counts=inside.sum(axis=2).reshape(-1),
        coordinates=np.round(coordinates, 2),
        label_indices=labels[sequence, thing],
        object_flags=ambiguous[sequence, thing] * int(ObjectFlag.IGNORE),
        track_ids=thing,
    )


def simulate_detections(
    detector: Detector, scene: Scene, truth: Annotations, seed: int
) -> Annotations:
    """Simulate the detections of a system.

    Args:
        detector: The system.
        scene: The videos.
        truth: Truth of that scene.
        seed: Seed of the random numbers.
    """
    random = np.random.default_rng([seed, *scene.domain.encode(), *detector.name.encode()])
    seen = truth.take_objects(random.random(truth.object_count) >= detector.miss_rate)
    points = seen.coordinates.reshape(seen.object_count, -1, 2)
    centres = points.mean(axis=1, keepdims=True)
    scale = 1.0 + detector.size_error * random.standard_normal((seen.object_count, 1, 2))
    error_px = detector.position_error_px * random.standard_normal((seen.object_count, 1, 2))
    found = _Found(
        frames=seen.object_frames,
        points=(points - centres) * scale + centres + error_px,
        labels=_sometimes_wrong(detector, scene, seen.label_indices, random),
        confidences=_confidences(seen.object_count, 0.85, random),
    )
    return _detections(scene, found.joined(_false_alarms(detector, scene, seen, random)))


def _detections(scene: Scene, found: _Found) -> Annotations:
    edges = np.array([scene.width_px, scene.height_px]) - 0.5
    points = found.points if scene.lengths_px else np.clip(found.points, -0.5, edges)
    frame_total = len(scene.sequences) * scene.frame_count
    return _annotations(
        scene,
        counts=np.bincount(found.frames, minlength=frame_total),
        coordinates=np.round(points, 2),
        label_indices=found.labels,
        confidences=found.confidences,
    )


def _annotations(
    scene: Scene, counts: IntArray, coordinates: FloatArray, **columns: Any
) -> Annotations:
    sequence_count = len(scene.sequences)
    arity = QUADRILATERAL if scene.lengths_px else POINT
    numbers = np.arange(scene.first_frame, scene.first_frame + scene.frame_count)
    return build_annotations(
        Columns(
            arity=arity,
            sequences=[(scene.domain, name) for name in scene.sequences],
            labels=scene.labels,
            frame_sequences=np.repeat(np.arange(sequence_count), scene.frame_count),
            frame_numbers=np.tile(numbers, sequence_count),
            object_counts=counts,
            coordinates=coordinates.reshape(-1, arity),
            **columns,
        ),
        source=f"simulated {scene.domain}",
    )


def _outlines(scene: Scene, labels: IntArray, random: Random) -> FloatArray:
    """(S, M, P, 2) corners around the centre of each object; one point at it without sizes."""
    if not scene.lengths_px:
        return np.zeros((*labels.shape, 1, 2))
    mean_px = np.array(list(scene.lengths_px.values()))[labels]
    length_px = mean_px * random.uniform(0.8, 1.25, labels.shape)
    width_px = length_px * random.uniform(0.4, 0.7, labels.shape)
    turn = random.uniform(-0.3, 0.3, labels.shape)[..., None]
    corners = UNIT_CORNERS * np.stack([length_px, width_px], axis=-1)[..., None, :]
    x, y = corners[..., 0], corners[..., 1]
    cosine, sine = np.cos(turn), np.sin(turn)
    return np.stack([x * cosine - y * sine, x * sine + y * cosine], axis=-1)


def _paths(scene: Scene, random: Random) -> FloatArray:
    """(S, F, M, 2) centres: each object is somewhere in the image halfway through the video."""
    shape = (len(scene.sequences), 1, scene.object_count, 2)
    halfway = random.uniform(0.1, 0.9, shape) * (scene.width_px, scene.height_px)
    steps = scene.speed_px * random.standard_normal(shape)
    time = np.arange(scene.frame_count).reshape(1, -1, 1, 1) - scene.frame_count / 2
    return halfway + steps * time


def _inside(scene: Scene, centres: FloatArray) -> BoolArray:
    edges = np.array([scene.width_px, scene.height_px]) - 1.0
    inside: BoolArray = np.all((centres >= 0.0) & (centres <= edges), axis=-1)
    return inside


def _sometimes_wrong(
    detector: Detector, scene: Scene, labels: IntArray, random: Random
) -> IntArray:
    label_count = len(scene.labels)
    wrong = random.random(len(labels)) < detector.wrong_class_rate
    shift = random.integers(1, max(2, label_count), size=len(labels))
    mixed: IntArray = np.where(wrong, (labels + shift) % label_count, labels)
    return mixed


def _confidences(count: int, middle: float, random: Random) -> FloatArray:
    spread = middle + 0.12 * random.standard_normal(count)
    return np.clip(spread, 0.01, 1.0).round(2)


def _false_alarms(detector: Detector, scene: Scene, seen: Annotations, random: Random) -> _Found:
    """Outlines like those of real objects, anywhere in the image, of low confidence."""
    counts = random.poisson(detector.false_alarms_per_frame, seen.frame_count)
    count = int(counts.sum())
    like = random.integers(seen.object_count, size=count)
    points = seen.coordinates.reshape(seen.object_count, -1, 2)[like]
    places = random.uniform(0.0, 1.0, (count, 1, 2)) * (scene.width_px, scene.height_px)
    return _Found(
        frames=np.repeat(np.arange(seen.frame_count), counts),
        points=points - points.mean(axis=1, keepdims=True) + places,
        labels=random.integers(len(scene.labels), size=count),
        confidences=_confidences(count, 0.45, random),
    )


def make_shows(seed: int) -> tuple[Show, Show]:
    """Simulate all streamed data.

    Args:
        seed: Seed of the random numbers.
    """
    streets = Show(
        benchmark="streets",
        evaluator="neovision2",
        about="four videos of traffic, from a tower and from a helicopter",
        rate_fps=30.0,
        headline="weighted_mean_nmotda",
        headline_label="NMOTDA",
        truth=concatenate([simulate_truth(scene, seed) for scene in STREETS]),
        detections={detector.name: _see(detector, STREETS, seed) for detector in DETECTORS},
    )
    sky = Show(
        benchmark="sky",
        evaluator="spotgeo",
        about=f"{len(SKY.sequences)} short sequences of the night sky with satellites",
        rate_fps=12.0,
        headline="f1",
        headline_label="F1",
        truth=simulate_truth(SKY, seed),
        detections={detector.name: _see(detector, (SKY,), seed) for detector in DETECTORS},
    )
    return streets, sky


def _see(detector: Detector, scenes: tuple[Scene, ...], seed: int) -> Annotations:
    return concatenate(
        [
            simulate_detections(detector, scene, simulate_truth(scene, seed), seed)
            for scene in scenes
        ]
    )
