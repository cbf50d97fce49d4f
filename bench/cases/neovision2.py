"""Neovision2: scoring, the sweep compared with one threshold, files with a parser of CSV."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from pyarrow import csv as pyarrow_csv

from bench import loops
from bench.case import Case, Peer, Size, compare
from bench.measuring import Action
from bench.rows import SHOWN_SHARE, Row, at_least, at_most, not_yet
from bench.scenes import neovision2 as scenes
from vidscore_evaluators import score
from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.neovision2._input import prepare
from vidscore_evaluators.neovision2.detection_only import merge_and_match
from vidscore_evaluators.neovision2.matching import CountChanges, class_changes, counting_pairs
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Report
from vidscore_evaluators.scoring import score_annotations

FEWEST_SEQUENCES = 12
"""Minimum per domain: with fewer, the fixed costs of files and parts would matter."""

LOOP_FRACTION = 0.01
"""Fraction of the sequences on which the plain loop is timed; all would take minutes."""


def _scoring(truth: Annotations, detections: Annotations) -> Action:
    evaluator = create_evaluator("neovision2")
    return lambda: score_annotations([evaluator], truth, detections)[0]


def _sequences(annotations: Annotations, count: int) -> Annotations:
    """The first sequences."""
    return annotations.take_frames(annotations.frame_sequences < count)


def _scene(size: Size) -> tuple[Annotations, Annotations]:
    return scenes.scene(size.of(scenes.SEQUENCES_PER_DOMAIN, FEWEST_SEQUENCES))


def _beside_loop(size: Size) -> list[Row]:
    truth, detections = _scene(size)
    total = len(truth.sequences)
    few = max(1, round(LOOP_FRACTION * total))
    part = (_sequences(truth, few), _sequences(detections, few))
    report = _scoring(*part)()
    assert isinstance(report, Report)
    counts = loops.neovision2_counts(*part)
    found = sum(
        int(row.value or 0)
        for row in report.rows()
        if row.measure == "true_positives" and row.label and row.sequence
    )
    if found != counts[0]:
        raise ValueError(f"ours has {found} true positives, the plain loop {counts[0]}")
    loop = Peer(
        "linear_sum_assignment for each frame, class and threshold",
        lambda: loops.neovision2_counts(*part),
        at_least(100.0),
        share=few / total,
    )
    name = (
        f"Neovision2 scoring, {truth.frame_count:,} frames, {detections.object_count:,} detections"
    )
    return compare(name, _scoring(truth, detections), [loop], size.repeats)


def _stages(size: Size) -> Iterator[Row]:
    """The ten-threshold sweep compared with one threshold; detection-only with the classes."""
    evaluator = create_evaluator("neovision2")
    parameters = evaluator.parameters
    aligned = align(*_scene(size))

    def sweep() -> object:
        scene = prepare(aligned, parameters, evaluator.specification)
        return class_changes(scene, counting_pairs(scene, parameters))

    def one_threshold() -> object:
        scene = prepare(aligned, parameters, evaluator.specification)
        return loops.matched_at_once(scene, counting_pairs(scene, parameters))

    def same(outcomes: object, matched: object) -> bool:
        assert isinstance(outcomes, CountChanges)
        return int(outcomes.true_positives.sum()) == matched

    once = Peer("one threshold, by scipy's Hopcroft-Karp", one_threshold, at_most(1.2), agrees=same)
    yield from compare("Neovision2, classes at ten thresholds", sweep, [once], size.repeats)
    scene = prepare(aligned, parameters, evaluator.specification)
    pairs = counting_pairs(scene, parameters)
    classes = Peer("the classes, matched", lambda: class_changes(scene, pairs), SHOWN_SHARE)
    yield from compare(
        "Neovision2, detection-only, merged at ten thresholds",
        lambda: merge_and_match(scene, pairs, parameters),
        [classes],
        size.repeats,
    )


def _files(size: Size) -> Iterator[Row]:
    truth, detections = _scene(size)
    with tempfile.TemporaryDirectory() as folder:
        roots = [Path(folder, side) for side in ("truth", "detections")]
        scenes.write_csv(truth, roots[0], "truth")
        scenes.write_csv(detections, roots[1], "detections")
        paths = sorted(Path(folder).rglob("*.csv"))
        megabytes = sum(path.stat().st_size for path in paths) / 1e6
        del truth, detections
        parsed = Peer(
            "pyarrow.csv.read_csv of the files",
            lambda: [pyarrow_csv.read_csv(path) for path in paths],
            not_yet(at_most(1.0)),
        )
        yield from compare(
            f"Neovision2 files to report, {megabytes:.0f} MB of CSV",
            lambda: score("neovision2", *roots),
            [parsed],
            min(size.repeats, 3),
        )


CASES = (
    Case("neovision2", _beside_loop, lambda size: _scoring(*_scene(size))),
    Case("neovision2-stages", _stages),
    Case("neovision2-files", _files),
)
