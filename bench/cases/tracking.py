"""CLEAR, Identity and HOTA compared with trackeval and motmetrics, and OSPA with Stone Soup."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import motmetrics
import numpy as np
import trackeval
from stonesoup.metricgenerator.ospametric import OSPAMetric
from stonesoup.types.state import State

from bench import loops
from bench.case import Case, Peer, Size, compare
from bench.measuring import Action, Sample
from bench.memory_probe import peak_of
from bench.rows import Goal, Row, at_least, at_most, not_yet
from bench.scenes import boxes, points
from vidscore_evaluators import score
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.arrays import FloatArray
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.scoring import score_annotations
from vidscore_evaluators.specification import EvaluatorSpec

SEQUENCES = 10
FRAMES_PER_SEQUENCE = 1000
OBJECTS_PER_FRAME = 20
TRACKER = "tracker"
CUTOFF_PX = 10.0
OSPA_SPREAD_PX = 60.0
SMALL_FRAMES = 50
"""Frames of small scenes, for which much of the time is fixed."""

CROWD = 200
CROWD_FRAMES, FEWEST_CROWD_FRAMES = 3400, 1700
CROWD_LIFETIME = 170
"""Number of frames of each object of the crowd: in all 680,000 boxes of over 4,000 objects."""

TOLERANCE = 2.0**-52
"""The tolerance of trackeval below a threshold. Our default is wider: with it, pairs of the crowd
whose IoU equals a threshold except for rounding would count for us and not for trackeval."""

NAMES = ("clear", "identity", "hota")
ALL = [EvaluatorSpec(name, {"threshold_tolerance": TOLERANCE}) for name in NAMES]


def _write(
    root: Path,
    sequence_count: int,
    frame_count: int,
    object_count: int,
    lifetime: int | None = None,
) -> list[str]:
    """Write MOTChallenge files in the layout that trackeval needs."""
    random = np.random.default_rng(6)
    names = [f"seq-{number:02d}" for number in range(sequence_count)]
    for name in names:
        truth, tracked = boxes.tracks(random, frame_count, object_count, lifetime)
        _write_rows(root / "gt" / name / "gt" / "gt.txt", truth, "1,1,1")
        _write_rows(root / TRACKER / TRACKER / "data" / f"{name}.txt", tracked, "-1,-1,-1")
    return names


def _write_files(root: Path, size: Size) -> list[str]:
    # With fewer, much of our time would be fixed cost.
    count = size.of(SEQUENCES, SEQUENCES)
    return _write(root, count, FRAMES_PER_SEQUENCE, OBJECTS_PER_FRAME)


def _write_rows(path: Path, side: boxes.Boxes, rest: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    corners = np.round(
        np.hstack([side.corners[:, :2], side.corners[:, 2:] - side.corners[:, :2]]), 2
    )
    rows = zip(side.frames.tolist(), side.tracks.tolist(), corners.tolist(), strict=True)
    lines = [
        f"{frame + 1},{track},{','.join(map(str, box))},{rest}\n" for frame, track, box in rows
    ]
    path.write_text("".join(lines), encoding="utf-8")


def _by_trackeval(root: Path, names: list[str], frame_count: int) -> dict[str, float]:
    """MOTA, IDF1 and HOTA of all sequences together."""
    quiet = {"PRINT_CONFIG": False}
    with contextlib.redirect_stdout(io.StringIO()):
        judge = trackeval.Evaluator(
            quiet
            | dict.fromkeys(("PRINT_RESULTS", "OUTPUT_SUMMARY", "OUTPUT_DETAILED"), False)
            | {"PLOT_CURVES": False, "TIME_PROGRESS": False, "BREAK_ON_ERROR": True}
        )
        dataset = trackeval.datasets.MotChallenge2DBox(
            quiet
            | {
                "GT_FOLDER": str(root / "gt"),
                "TRACKERS_FOLDER": str(root / TRACKER),
                "TRACKERS_TO_EVAL": [TRACKER],
                "SEQ_INFO": dict.fromkeys(names, frame_count),
                "SKIP_SPLIT_FOL": True,
                "DO_PREPROC": False,
            }
        )
        metrics = [
            trackeval.metrics.HOTA(),
            trackeval.metrics.CLEAR(quiet),
            trackeval.metrics.Identity(quiet),
        ]
        results, _ = judge.evaluate([dataset], metrics)
    found = results["MotChallenge2DBox"][TRACKER]["COMBINED_SEQ"]["pedestrian"]
    return {
        "mota": float(found["CLEAR"]["MOTA"]),
        "idf1": float(found["Identity"]["IDF1"]),
        "hota": float(np.mean(found["HOTA"]["HOTA"])),
    }


def _by_motmetrics(root: Path, names: list[str]) -> dict[str, float]:
    """MOTA and IDF1 of all sequences together."""
    accumulators = []
    for name in names:
        accumulator = motmetrics.MOTAccumulator()
        truth = _frames(root / "gt" / name / "gt" / "gt.txt")
        tracked = _frames(root / TRACKER / TRACKER / "data" / f"{name}.txt")
        for number, (ids, corners) in truth.items():
            other_ids, other_corners = tracked.get(number, ([], np.zeros((0, 4))))
            # motmetrics' own distances need a function that numpy 2 has removed.
            distances = 1.0 - loops.overlaps(corners, other_corners)
            distances[distances > 0.5] = np.nan
            accumulator.update(ids, other_ids, distances, frameid=number)
        accumulators.append(accumulator)
    host = motmetrics.metrics.create()
    table = host.compute_many(
        accumulators, metrics=["mota", "idf1"], names=names, generate_overall=True
    )
    return {name: float(table.loc["OVERALL", name]) for name in ("mota", "idf1")}


def _frames(path: Path) -> dict[int, tuple[list[int], FloatArray]]:
    """Track ids and boxes by frame, read with motmetrics."""
    table = motmetrics.io.loadtxt(path, fmt="mot16")
    low = table[["X", "Y"]].to_numpy()
    corners = np.hstack([low, low + table[["Width", "Height"]].to_numpy()])
    frames = table.index.get_level_values(0).to_numpy()
    ids = table.index.get_level_values(1).to_numpy()
    found, first = np.unique(frames, return_index=True)
    bounds = [*first.tolist(), len(frames)]
    return {
        number: (ids[start:stop].tolist(), corners[start:stop])
        for number, start, stop in zip(found.tolist(), bounds, bounds[1:], strict=False)
    }


def _figures(reports: object) -> dict[str, float | None]:
    assert isinstance(reports, list)
    # In the order of ALL; there may be fewer.
    return {
        name: report.value(name)
        for report, name in zip(reports, ("mota", "idf1", "hota"), strict=False)
    }


def _agree(ours: object, theirs: object) -> bool:
    assert isinstance(theirs, dict)
    found = _figures(ours)
    return all(
        value is not None and abs((found[name] or 0.0) - value) < 1e-9
        for name, value in theirs.items()
    )


def _same_identity(ours: object, theirs: object) -> bool:
    """Compare only IDF1: motmetrics counts identity switches differently, so MOTA differs."""
    assert isinstance(theirs, dict)
    return bool(abs((_figures(ours)["idf1"] or 0.0) - theirs["idf1"]) < 1e-9)


def _sides(root: Path) -> tuple[Path, Path]:
    """Folders of the truth and of the tracker's files."""
    return root / "gt", root / TRACKER / TRACKER / "data"


def _files(size: Size) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        names = _write_files(root, size)
        sides = _sides(root)
        what = f"files to figures, {len(names)} x {FRAMES_PER_SEQUENCE:,} frames"
        by_trackeval = Peer(
            "trackeval",
            lambda: _by_trackeval(root, names, FRAMES_PER_SEQUENCE),
            at_least(20.0),
            agrees=_agree,
        )
        by_motmetrics = Peer(
            "motmetrics",
            lambda: _by_motmetrics(root, names),
            not_yet(at_least(50.0)),
            agrees=_same_identity,
        )
        for title, evaluators, peer in (
            ("CLEAR, Identity and HOTA", ALL, by_trackeval),
            ("CLEAR and Identity", ALL[:2], by_motmetrics),
        ):
            yield from compare(
                f"{title}, {what}",
                partial(score, evaluators, *sides),
                [peer],
                min(size.repeats, 3),
            )


def _crowd(size: Size) -> Iterator[Row]:
    """One sequence with thousands of identities, whose number dominates trackeval's time."""
    whole, small = size.of(CROWD_FRAMES, FEWEST_CROWD_FRAMES), size.of(SMALL_FRAMES, SMALL_FRAMES)
    once = "measured once, after a warm-up: the whole crowd takes trackeval over a minute"
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        yield from _crowd_beside_trackeval(root, whole, at_least(50.0), 1, once)
        peak_bytes = peak_of("files", *map(str, _sides(root)), *NAMES)
    yield Row(
        f"memory of scoring a crowd of {whole * CROWD:,} boxes, reading included",
        Sample((peak_bytes,)),
        Sample((float(1 << 30),)),
        "limit",
        at_most(1.0),
        unit="bytes",
    )
    with tempfile.TemporaryDirectory() as folder:
        goal, repeats = not_yet(at_least(50.0)), min(size.repeats, 3)
        yield from _crowd_beside_trackeval(Path(folder), small, goal, repeats)


def _crowd_beside_trackeval(
    root: Path, frames: int, goal: Goal, repeats: int, note: str = ""
) -> list[Row]:
    names = _write(root, 1, frames, CROWD, CROWD_LIFETIME)
    peer = Peer("trackeval", lambda: _by_trackeval(root, names, frames), goal, agrees=_agree)
    name = f"CLEAR, Identity and HOTA, a crowd of {frames * CROWD:,} boxes, files to figures"
    ours = partial(score, ALL, *_sides(root))
    return compare(name, ours, [peer], repeats, note=note)


def _ospa_scene(size: Size) -> tuple[Annotations, Annotations]:
    return points.crowded(size.of(FRAMES_PER_SEQUENCE, FRAMES_PER_SEQUENCE), OSPA_SPREAD_PX)


def _ospa_alone(truth: Annotations, detections: Annotations) -> Action:
    evaluator = create_evaluator("ospa", {"base": "euclidean", "cutoff_px": CUTOFF_PX})
    return lambda: score_annotations([evaluator], truth, detections)[0].value("ospa")


def _ospa(size: Size) -> Iterator[Row]:
    small = points.crowded(size.of(SMALL_FRAMES, SMALL_FRAMES), OSPA_SPREAD_PX)
    yield from _ospa_rows(*_ospa_scene(size), at_least(500.0), size)
    yield from _ospa_rows(*small, not_yet(at_least(500.0)), size)


def _ospa_rows(
    truth: Annotations, detections: Annotations, goal: Goal, size: Size
) -> Iterator[Row]:
    """Both average over frames; Stone Soup's OSPA is in pixels, ours a fraction of the cut-off."""
    states, true_states = _states(detections), _states(truth)
    metric = OSPAMetric(c=CUTOFF_PX, p=1)

    def by_stone_soup() -> float:
        found = metric.compute_over_time(states, [], true_states, [])  # needs no identities
        return float(np.mean([entry.value for entry in found.value]))

    def agree(ours: object, theirs: object) -> bool:
        assert isinstance(ours, float)
        assert isinstance(theirs, float)
        return abs(CUTOFF_PX * ours - theirs) < 1e-9

    peer = Peer("Stone Soup", by_stone_soup, goal, agrees=agree)
    name = f"OSPA, {truth.frame_count:,} frames of {points.CROWD} objects"
    note = "the mean over all frames; digests and warnings are computed when read"
    yield from compare(name, _ospa_alone(truth, detections), [peer], min(size.repeats, 3), note)


def _states(side: Annotations) -> list[State]:
    first = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
    frames = side.object_frames.tolist()
    return [
        State(coordinates, timestamp=first + dt.timedelta(seconds=frame))
        for frame, coordinates in zip(frames, side.coordinates, strict=True)
    ]


def _files_alone(size: Size) -> Action:
    folder = tempfile.TemporaryDirectory()
    _write_files(Path(folder.name), size)
    # The folder exists as long as the action.
    return lambda: score(ALL, *_sides(Path(folder.name)))


CASES = (
    Case("tracking", _files, _files_alone),
    Case("tracking-crowd", _crowd),
    Case("ospa", _ospa, lambda size: _ospa_alone(*_ospa_scene(size))),
)
