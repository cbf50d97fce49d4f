"""What the demo shows: two kinds of video and two detectors, one sharp and one hasty."""

from __future__ import annotations

from dataclasses import dataclass

from vidscore_cli.simulation import Detector, Scene, simulate_detections, simulate_truth
from vidscore_evaluators.annotations import Annotations, concatenate
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec

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


@dataclass(frozen=True)
class Show:
    """Videos with an evaluator that judges them.

    Attributes:
        benchmark: Name of the benchmark that hosts them.
        evaluator: Name of the evaluator.
        about: What the videos show.
        rate_fps: Frames a second in real time.
        headline: Measure that is shown while it runs, and by which systems are ranked.
        headline_label: What people call it.
        truth: What is there.
        detections: What each detector says is there, by its name.
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
        """What is known of the benchmark besides its data."""
        return BenchmarkSpec(title=self.about, evaluators=(EvaluatorSpec(self.evaluator),))


def make_shows(seed: int) -> tuple[Show, Show]:
    """Simulate everything that is streamed.

    Args:
        seed: Seed of all chance.
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
