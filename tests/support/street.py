"""Two systems in two videos, small enough to count by hand.

Every frame has a car; frames of Tower/001 also have a person. falcon misses the person once and has
one false alarm; mole never finds the person, misses the car once, and has two false alarms.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.outcome_table import OperatingPoint
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import read, score_annotations
from vidscore_evaluators.trust.systems import Contest

CAR, PERSON, NOTHING = (10, 10, 50, 50), (100, 10, 120, 60), (300, 10, 340, 50)
FRAMES = {"001": 4, "002": 2}

Row = tuple[str, int, str, tuple[int, int, int, int], float, int]
"""Sequence, frame, label, box, confidence and track."""


def truth_rows() -> list[Row]:
    """Ten objects."""
    cars = [(name, frame, "Car", CAR, 1.0, 1) for name, n in FRAMES.items() for frame in range(n)]
    return cars + [("001", frame, "Person", PERSON, 1.0, 2) for frame in range(FRAMES["001"])]


def falcon_rows() -> list[Row]:
    """Nine objects are found; one false alarm."""
    found = [
        (name, frame, label, box, 0.9, track)
        for name, frame, label, box, _, track in truth_rows()
        if (name, frame, label) != ("001", 2, "Person")
    ]
    return [*found, ("001", 3, "Car", NOTHING, 0.2, 9)]


def mole_rows() -> list[Row]:
    """Five objects are found; two false alarms in one frame."""
    found = [
        (name, frame, label, box, 0.8, track)
        for name, frame, label, box, _, track in truth_rows()
        if label == "Car" and (name, frame) != ("002", 1)
    ]
    low = (300, 100, 340, 150)
    return [*found, ("001", 2, "Car", NOTHING, 0.3, 8), ("001", 2, "Person", low, 0.4, 7)]


def csv_of(rows: list[Row], *, confidences: bool) -> str:
    """Rows as generic CSV."""
    header = "domain,sequence,frame,class,x1,y1,x2,y2,track_id"
    lines = [header + (",confidence" if confidences else "")]
    for name, frame, label, box, confidence, track in sorted(rows):
        cells = ["Tower", name, frame, label, *box, track]
        lines.append(",".join(map(str, [*cells, confidence] if confidences else cells)))
    return "\n".join(lines) + "\n"


def write_street(folder: Path) -> None:
    """Write truth.csv, falcon.csv and mole.csv."""
    (folder / "truth.csv").write_text(csv_of(truth_rows(), confidences=False))
    (folder / "falcon.csv").write_text(csv_of(falcon_rows(), confidences=True))
    (folder / "mole.csv").write_text(csv_of(mole_rows(), confidences=True))


def street(
    folder: Path, *evaluators: str, systems: int = 2, at: OperatingPoint = OperatingPoint()
) -> Material:
    """The videos as material of a page.

    Args:
        folder: Folder for the files.
        evaluators: Names of evaluators.
        systems: Number of systems, 1 or 2.
        at: Where to look up evaluators.
    """
    write_street(folder)
    return material_of(folder, ("falcon", "mole")[:systems], *evaluators, at=at)


def scene_of(
    folder: Path,
    truth: list[Row],
    found: list[Row],
    evaluator: str,
    dont_care_frames: Sequence[int] = (),
) -> Material:
    """One system, ``found``, as material of a page.

    Args:
        folder: Folder for the files.
        truth: Rows of the truth.
        found: Rows of the system.
        evaluator: Name of the evaluator.
        dont_care_frames: Don't-care frames of sequence 001.
    """
    lines = csv_of(truth, confidences=False).splitlines()
    lines = [f"{line},{'flags' if not row else ''}" for row, line in enumerate(lines)]
    lines += [f"Tower,001,{frame},,,,,,,dont_care_frame" for frame in dont_care_frames]
    (folder / "truth.csv").write_text("\n".join(lines) + "\n")
    (folder / "found.csv").write_text(csv_of(found, confidences=True))
    return material_of(folder, ("found",), evaluator)


def material_of(
    folder: Path,
    systems: Sequence[str],
    *evaluators: str,
    at: OperatingPoint = OperatingPoint(),
) -> Material:
    """truth.csv of a folder and one CSV per system as material of a page."""
    truth = read(folder / "truth.csv")
    sides: dict[str, Annotations] = {
        name: read(folder / f"{name}.csv", side=Side.DETECTIONS) for name in systems
    }
    created = [create_evaluator(name) for name in evaluators or ("clear",)]
    reports = {name: score_annotations(created, truth, side) for name, side in sides.items()}
    return Material.of(Contest.of(truth, sides), created, reports, at)
