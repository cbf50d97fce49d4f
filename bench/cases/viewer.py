"""The page of `vidscore view` with a million frames: the time that a browser waits for its HTML."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.case import Case, Size
from bench.measuring import Sample, run_interleaved
from bench.rows import Row, at_most
from bench.scenes import boxes
from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.explanation.figures import Uncertainty
from vidscore_evaluators.explanation.material import Material
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.trust.systems import Contest
from vidscore_server.web.view import View
from vidscore_server.web.viewer import Viewer

FRAMES, FRAMES_PER_SEQUENCE, BOXES_PER_FRAME, CLASSES = 1_000_000, 20_000, 1, 3
SIDES_PX = (20.0, 200.0)
PAGE_LIMIT_S = 1.0
FRAME_LIMIT_S = 0.2
CHANGED_EVERY = 7919
"""Distance of the requested frames; a prime, so that they are spread over the sequences."""


def _viewer(size: Size) -> Viewer:
    """The viewer as `vidscore view` serves it, with the data of the first page computed."""
    random = np.random.default_rng(3)
    counts = np.full(size.of(FRAMES), BOXES_PER_FRAME)
    real = boxes.random_boxes(random, counts, CLASSES, SIDES_PX)
    truth, detections = map(_annotated, (real, boxes.detected(random, real, 0.1, CLASSES)))
    evaluator = create_evaluator("f1")
    reports = {"system": score_annotations([evaluator], truth, detections)}
    material = Material.of(Contest.of(truth, {"system": detections}), [evaluator], reports)
    viewer = Viewer(material, Uncertainty(material, 0))
    viewer.context(View())
    return viewer


def _annotated(side: boxes.Boxes) -> Annotations:
    sequences = [
        SequenceKey("", f"video-{number:02d}")
        for number in range(-(-side.frame_count // FRAMES_PER_SEQUENCE))
    ]
    return boxes.annotations_of(side, sequences, tuple(f"class-{n}" for n in range(CLASSES)))


def _pages(size: Size) -> Iterator[Row]:
    viewer = _viewer(size)
    count = len(viewer.material.frames)
    asked = iter(range(CHANGED_EVERY, CHANGED_EVERY * 1000, CHANGED_EVERY))

    def another_frame() -> str:
        sequence, number = viewer.place(next(asked) % count)
        return viewer.frame(View(sequence=sequence, frame=number))

    actions = [lambda: viewer.page(View()), another_frame]
    samples, _ = run_interleaved(actions, size.repeats)
    limits = {"the page": PAGE_LIMIT_S, "another frame of it": FRAME_LIMIT_S}
    for (name, limit_s), sample in zip(limits.items(), samples, strict=True):
        yield Row(
            f"vidscore view, {count:,} frames: {name}",
            sample,
            Sample((limit_s,)),
            "limit",
            at_most(1.0),
        )


CASES = (Case("viewer", _pages),)
