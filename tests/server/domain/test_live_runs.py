"""Live scores from tallies of completed sequences equal batch scores for every prefix."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import numpy as np
import pytest
from tests.server.domain.hosted import BENCHMARK, Hosted, append
from tests.server.domain.test_live import LIVE, NAME
from tests.support.waiting import until

from vidscore_evaluators.alignment import restrict
from vidscore_evaluators.annotations import Annotations, concatenate, empty_annotations
from vidscore_evaluators.report import report_to_dict
from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, specification_pb2
from vidscore_server.api.batches import read_batch
from vidscore_server.domain import live
from vidscore_server.domain.batches import BatchRules
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.live import LiveScore, LiveScores
from vidscore_server.settings import Settings

FRAMES = {"a": 6, "b": 4, "c": 5}
EVALUATED = {"a": range(1, 5), "b": range(1, 5), "c": range(1, 6)}
"""Frames 5 and 6 of a exist, but are not evaluated."""

Frame = tuple[str, int]


def _benchmark() -> benchmark_pb2.Benchmark:
    """f1 scores single frames; clear and hota score whole sequences."""
    evaluators = [specification_pb2.EvaluatorSpec(name=name) for name in ("f1", "clear", "hota")]
    specification = specification_pb2.BenchmarkSpec(title="Tracks", evaluators=evaluators)
    for name, count in FRAMES.items():
        frames = specification_pb2.FrameRangeList(
            ranges=[specification_pb2.FrameRange(first=1, last=EVALUATED[name][-1])]
        )
        specification.sequences.add(name=name, frame_count=count, first_frame=1, frames=frames)
    return benchmark_pb2.Benchmark(
        specification=specification,
        truth_geometry=annotations_pb2.GEOMETRY_BOX,
        detection_geometry=annotations_pb2.GEOMETRY_BOX,
        policy=benchmark_pb2.Policy(visibility=LIVE, minimum_frames=1, unlimited_submissions=True),
    )


def _batch(frames: Iterable[Frame], seed: int) -> annotations_pb2.AnnotationBatch:
    """Frames of one sequence, with up to three tracks; their names determine all values."""
    rows = list(frames)
    [sequence] = {name for name, _ in rows}
    counts, boxes, tracks = [], [], []
    for name, number in rows:
        chance = np.random.default_rng([seed, ord(name), number])
        chosen = np.flatnonzero(chance.random(3) < 0.7).tolist()
        counts.append(len(chosen))
        for track in chosen:
            x, y = 40.0 * track + chance.normal(0, 2), 10.0 * number + chance.normal(0, 2)
            boxes += [float(x), float(y), float(x) + 20, float(y) + 20]
            tracks.append(track + 10 * (seed == 2 and number > 2))
    return annotations_pb2.AnnotationBatch(
        sequences=[annotations_pb2.SequenceKey(sequence=sequence)],
        frame_sequences=[0] * len(rows),
        frame_numbers=[number for _, number in rows],
        frame_object_counts=counts,
        geometry=annotations_pb2.GEOMETRY_BOX,
        coordinates=boxes,
        track_ids=tracks,
    )


def _all(name: str) -> list[Frame]:
    """All frames of a sequence."""
    return [(name, number) for number in range(1, FRAMES[name] + 1)]


def _columns(frames: Iterable[Frame], seed: int) -> Annotations:
    rules = BatchRules(4, Settings())
    return concatenate(
        [
            empty_annotations(4),
            *(read_batch(_batch([frame], seed), "", rules) for frame in sorted(frames)),
        ]
    )


def _completed(sent: Iterable[Frame]) -> frozenset[str]:
    found = set(sent)
    return frozenset(
        name for name, numbers in EVALUATED.items() if found >= {(name, n) for n in numbers}
    )


def _at_once(definition: Definition, shown: Iterable[Frame]) -> list[dict[str, object]]:
    """The batch scores of the completed sequences of some frames."""
    completed, frames = _completed(shown), list(shown)
    truth = _columns([frame for name in completed for frame in _all(name)], 1)
    truth = restrict(definition.specification, truth)
    detections = _columns([frame for frame in frames if frame[0] in completed], 2)
    tallies = [(entry, entry.tally(truth, detections)) for entry in definition.evaluators]
    return [report_to_dict(entry.report(tally)) for entry, tally in tallies]


async def _prepare(hosted: Hosted) -> LiveScores:
    await hosted.organiser.create(_benchmark())
    batches = [
        _batch([(name, n) for n in range(1, count + 1)], 1) for name, count in FRAMES.items()
    ]
    await hosted.organiser.upload(*batches)
    await hosted.red.submission()
    await hosted.red.open(f"{BENCHMARK}/submissions/one", "second")
    return hosted.hosting.live


@pytest.fixture(autouse=True)
def _never_resting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REST_FACTOR", 0)


async def _send(hosted: Hosted, stream: str, offset: int, *frames: Frame) -> None:
    name = f"{BENCHMARK}/submissions/one/streams/{stream}"
    request = append(name, offset, _batch(frames, 2))
    await hosted.red.submissions.AppendBatch(request, metadata=hosted.red.metadata)


def _reports(score: LiveScore | None) -> list[dict[str, object]]:
    assert score is not None
    return [report_to_dict(report) for report in score.reports]


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
async def test_for_every_prefix_a_live_score_equals_the_batch_score(
    hosted: Hosted, seed: int
) -> None:
    """Frames arrive in any order over two streams; the cached tallies are dropped now and then."""
    scores = await _prepare(hosted)
    chance = np.random.default_rng(seed)
    frames = [frame for name in FRAMES for frame in _all(name)]
    order = [frames[row] for row in chance.permutation(len(frames)).tolist()]
    offsets = {"default": 0, "second": 0}
    shown: set[Frame] = set()
    for count, frame in enumerate(order, 1):
        stream = str(chance.choice(list(offsets)))
        await _send(hosted, stream, offsets[stream], frame)
        offsets[stream] += 1
        forgotten = chance.random() < 0.2
        if forgotten:
            scores.forget(NAME)
        sent = set(order[:count])
        if forgotten or _completed(sent) != _completed(shown):
            shown = sent
        score = await scores.newest(NAME)
        if _completed(sent):
            assert score is not None
            assert _reports(score) == _at_once(score.definition, shown)
        else:
            assert _reports(score) == []


async def test_each_frame_is_tallied_once(hosted: Hosted) -> None:
    scores = await _prepare(hosted)
    offset = 0
    for name in ("b", "c"):
        for number in EVALUATED[name]:
            await _send(hosted, "default", offset, (name, number))
            offset += 1
            await scores.newest(NAME)
    tallied = [job.detections.frame_count for job in hosted.workers.jobs]
    assert sum(tallied) == 3 * offset


async def test_new_truth_replaces_the_old_one_completely(hosted: Hosted) -> None:
    scores = await _prepare(hosted)
    await _send(hosted, "default", 0, *(("b", n) for n in EVALUATED["b"]))
    before = await scores.newest(NAME)
    moved = _batch([("b", n) for n in EVALUATED["b"]], 3)
    whole = [_batch(_all(name), 1) for name in ("a", "c")]
    await hosted.organiser.upload(moved, *whole)
    after = await scores.newest(NAME)
    assert before is not None
    assert after is not None
    assert after.revision == before.revision + 1
    scores.forget(NAME)
    assert _reports(after) == _reports(await scores.newest(NAME))
    assert _reports(after) != _reports(before)


async def test_a_watch_that_ends_during_scoring_loses_nothing(hosted: Hosted) -> None:
    scores = await _prepare(hosted)
    await _send(hosted, "default", 0, *(("b", n) for n in EVALUATED["b"]))
    hosted.workers.gate.clear()
    watching = asyncio.create_task(scores.newest(NAME))
    await until(lambda: bool(hosted.workers.jobs))
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)
    hosted.workers.gate.set()
    score = await scores.newest(NAME)
    assert score is not None
    assert _reports(score) == _at_once(score.definition, [("b", n) for n in EVALUATED["b"]])


async def test_data_over_the_memory_limit_is_read_again_with_the_same_scores(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "MAXIMUM_RUN_BYTES", 0)
    scores = await _prepare(hosted)
    await _send(
        hosted,
        "default",
        0,
        *(("b", n) for n in EVALUATED["b"]),
    )
    await scores.newest(NAME)
    await _send(hosted, "default", 4, *(("c", n) for n in EVALUATED["c"]))
    score = await scores.newest(NAME)
    assert score is not None
    sent = [(name, n) for name in ("b", "c") for n in EVALUATED[name]]
    assert _reports(score) == _at_once(score.definition, sent)


async def test_late_frames_of_a_completed_sequence_count_with_the_next_one(hosted: Hosted) -> None:
    """They are not evaluated, but a submission is judged by all frames sent of a sequence."""
    scores = await _prepare(hosted)
    await _send(hosted, "default", 0, *(("a", n) for n in EVALUATED["a"]))
    before = await scores.newest(NAME)
    await _send(hosted, "default", 4, ("a", 5), ("a", 6))
    assert await scores.newest(NAME) is before
    await _send(hosted, "default", 6, *(("b", n) for n in EVALUATED["b"]))
    score = await scores.newest(NAME)
    assert score is not None
    sent = [*_all("a"), *_all("b")]
    assert _reports(score) == _at_once(score.definition, sent)
    assert _reports(score) != _at_once(score.definition, set(sent) - {("a", 5), ("a", 6)})
