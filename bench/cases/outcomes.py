"""Time and memory of outcomes, compared with scoring the same data."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import numpy as np
from msgspec.structs import replace

from bench.case import Case, Peer, Size, compare
from bench.measuring import Sample
from bench.memory_probe import peak_of, save
from bench.rows import Row, at_most
from bench.scenes import boxes, neovision2, points
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.jobs import outcomes_in_parts
from vidscore_evaluators.outcome_table import Outcomes, concatenate_outcomes
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_annotations

Sides = tuple[Annotations, Annotations]

POINT_SEQUENCES = 10 * points.SEQUENCES
VIDEOS_PER_DOMAIN = neovision2.SEQUENCES_PER_DOMAIN // 2
BOX_FRAMES, BOXES_PER_FRAME, CLASSES = 40_000, 13, 6
TRACK_FRAMES, TRACKS_PER_FRAME = 25_000, 20
FRAMES_PER_SEQUENCE = 500
"""Each scene has about a million objects and detections. At least a quarter of it is measured;
with less, code would dominate the memory."""


def _of(size: Size, full: int) -> int:
    return size.of(full, full // 4)


def _boxes(size: Size) -> Sides:
    random = np.random.default_rng(8)
    counts = np.full(_of(size, BOX_FRAMES), BOXES_PER_FRAME)
    truth = boxes.random_boxes(random, counts, CLASSES, neovision2.SIDES_PX)
    return _annotated(truth, boxes.detected(random, truth, 0.06, CLASSES))


def _tracks(size: Size) -> Sides:
    random = np.random.default_rng(6)
    frames = _of(size, TRACK_FRAMES)
    return _annotated(*boxes.tracks(random, frames, TRACKS_PER_FRAME, FRAMES_PER_SEQUENCE))


def _annotated(truth: boxes.Boxes, detections: boxes.Boxes) -> Sides:
    count = -(-truth.frame_count // FRAMES_PER_SEQUENCE)
    sequences = [SequenceKey("", f"sequence-{number:03d}") for number in range(count)]
    labels = tuple(f"class-{number}" for number in range(CLASSES))
    return (
        boxes.annotations_of(truth, sequences, labels),
        boxes.annotations_of(detections, sequences, labels),
    )


SCENES: Mapping[str, Callable[[Size], Sides]] = {
    "spotgeo": lambda size: points.sparse(_of(size, POINT_SEQUENCES)),
    "neovision2": lambda size: neovision2.scene(_of(size, VIDEOS_PER_DOMAIN)),
    "f1": _boxes,
    "clear": _tracks,
}
"""The scene of each measured evaluator; another evaluator needs only one more line."""


def _outcomes(name: str, size: Size) -> Iterator[Row]:
    truth, detections = SCENES[name](size)
    evaluator = create_evaluator(name)

    rows = truth.object_count + detections.object_count

    def make() -> Outcomes:
        return concatenate_outcomes(outcomes_in_parts(evaluator, truth, detections), rows)

    def same_figures(table: object, reports: object) -> bool:
        assert isinstance(table, Outcomes)
        assert isinstance(reports, list)
        return _same_figures(evaluator.outcome_figures(table), reports[0])

    scoring = Peer(
        "scoring the same",
        lambda: score_annotations([evaluator], truth, detections),
        at_most(2.0),
        agrees=same_figures,
    )
    yield from compare(f"outcomes, {name}, {rows:,} rows", make, [scoring], size.repeats)
    held = float(make().nbytes + truth.nbytes + detections.nbytes)
    alone = _peak_bytes(name, (_first_frame(truth), _first_frame(detections)))
    yield Row(
        f"memory of outcomes, {name}, {rows:,} rows, columns included",
        Sample((_peak_bytes(name, (truth, detections)) - alone,)),
        Sample((held,)),
        "the columns of both sides and of the outcomes",
        at_most(2.0),
        note=f"without the {alone / 1e6:.0f} MB that outcomes of one frame take, which are code",
        unit="bytes",
    )


def _peak_bytes(name: str, sides: Sides) -> float:
    """Peak memory growth of a process that loads columns and makes their outcomes."""
    with tempfile.TemporaryDirectory() as folder:
        folders = [Path(folder, side) for side in ("truth", "detections")]
        for annotations, path in zip(sides, folders, strict=True):
            save(annotations, path)
        return peak_of("outcomes", *map(str, folders), name)


def _first_frame(side: Annotations) -> Annotations:
    """The first frame, with a table of only its sequence."""
    own = side.frame_run(0, 1)
    sequence = side.sequences[int(own.frame_sequences[0])]
    return replace(own, sequences=(sequence,), frame_sequences=np.zeros(1, dtype=np.int64))


def _same_figures(figures: Mapping[str, object], report: Report) -> bool:
    """Whether the overall figures of the report equal those of the outcomes."""
    whole = {row.measure: row.value for row in report.rows() if row[:3] == (None, None, None)}
    common = whole.keys() & figures.keys()
    return bool(common) and all(figures[name] == whole[name] for name in common)


CASES = tuple(Case(f"outcomes-{name}", partial(_outcomes, name)) for name in SCENES)
