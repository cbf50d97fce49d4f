"""spotGEO: scoring compared with the released scorer's method, files with only the JSON parser."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from bench import loops
from bench.case import Case, Peer, Size, compare
from bench.measuring import Action
from bench.rows import SHOWN_TIMES, Goal, Row, at_least, at_most
from bench.scenes import points
from vidscore_evaluators import score
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import Number
from vidscore_evaluators.scoring import score_annotations

SPREADS_PX = (10.0, 25.0, 60.0)
SMALL_SEQUENCES = 256
FIGURES = ("true_positives", "false_negatives", "false_positives", "f1", "mse")
DEFERRED = "only figures of the whole set; digests, warnings and rows are computed when read"


def _scoring(truth: Annotations, detections: Annotations) -> Callable[[], list[Number]]:
    """The figures that the loop computes, read from our report."""
    evaluator = create_evaluator("spotgeo")

    def figures() -> list[Number]:
        report = score_annotations([evaluator], truth, detections)[0]
        return [report.value(name) for name in FIGURES]

    return figures


def _scoring_everything(truth: Annotations, detections: Annotations) -> Callable[[], list[Number]]:
    """The same figures, with everything else that a report contains."""
    evaluator = create_evaluator("spotgeo")

    def figures() -> list[Number]:
        report = score_annotations([evaluator], truth, detections)[0]
        for part in (report.rows(), report.truth_digest, report.detections_digest):
            assert part
        assert not report.warnings
        return [report.value(name) for name in FIGURES]

    return figures


def _same_counts(ours: object, loop: object) -> bool:
    assert isinstance(ours, list)
    assert isinstance(loop, tuple)
    return ours[:3] == list(loop[:3])


def _beside_loop(
    name: str,
    ours: Action,
    sides: tuple[Annotations, Annotations],
    goal: Goal,
    size: Size,
    note: str = "",
) -> list[Row]:
    truth, detections = (points.frame_lists(side) for side in sides)
    loop = Peer(
        "cdist and linear_sum_assignment, frame by frame",
        lambda: loops.spotgeo_counts(truth, detections),
        goal,
        agrees=_same_counts,
    )
    return compare(name, ours, [loop], size.repeats, note)


def _whole(size: Size) -> tuple[Annotations, Annotations]:
    """Always the full data: it takes only a moment; with less, the fixed cost would dominate."""
    return points.sparse(size.of(points.SEQUENCES, points.SEQUENCES))


def _crowd(size: Size, spread_px: float) -> tuple[Annotations, Annotations]:
    return points.crowded(size.of(points.CROWDED_FRAMES, points.CROWDED_FRAMES), spread_px)


def _small(size: Size) -> tuple[Annotations, Annotations]:
    """A small set, for which most of the cost is fixed."""
    return points.sparse(size.of(SMALL_SEQUENCES, SMALL_SEQUENCES))


def _sparse(size: Size) -> Iterator[Row]:
    for sides, goal in ((_whole(size), at_least(25.0)), (_small(size), at_least(20.0))):
        name = f"spotGEO scoring, {sides[0].frame_count:,} frames"
        yield from _beside_loop(name, _scoring(*sides), sides, goal, size, DEFERRED)
        whole = f"{name}, with each row, digest and warning"
        yield from _beside_loop(whole, _scoring_everything(*sides), sides, SHOWN_TIMES, size)


def _crowded(size: Size) -> Iterator[Row]:
    for spread_px in SPREADS_PX:
        sides = _crowd(size, spread_px)
        name = (
            f"spotGEO scoring, crowded: {sides[0].frame_count:,} frames of {points.CROWD}"
            f" objects, spread {spread_px:g} px"
        )
        yield from _beside_loop(name, _scoring(*sides), sides, at_least(2.0), size, DEFERRED)


def _files(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("truth.json", "detections.json")]
        for side, path in zip(_whole(size), paths, strict=True):
            points.write_json(side, path)
        contents = [path.read_bytes() for path in paths]
        megabytes = sum(map(len, contents)) / 1e6
        parse = Peer(
            "orjson.loads of both files' bytes",
            lambda: [orjson.loads(content) for content in contents],
            at_most(1.5),
        )
        yield from compare(
            f"spotGEO files to report, {megabytes:.1f} MB of JSON",
            lambda: score("spotgeo", *paths),
            [parse],
            size.repeats,
        )


CASES = (
    Case("spotgeo", _sparse, lambda size: _scoring(*_whole(size))),
    Case(
        "spotgeo-crowded",
        _crowded,
        lambda size: _scoring(*_crowd(size, SPREADS_PX[1])),
    ),
    Case("spotgeo-files", _files),
)
