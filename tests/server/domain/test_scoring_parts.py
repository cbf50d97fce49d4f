"""The report is the same to the last bit however a submission is divided for scoring."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tests.server.domain.hosted import hosting
from tests.server.domain.sky import batch, batch_report
from tests.server.domain.sky import truth as sky_truth
from tests.server.scene import report_bytes
from tests.support.varieties import mostly_nightly

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import starts_from_counts
from vidscore_evaluators.evaluator import Unit
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.report import report_to_json
from vidscore_evaluators.specification import BenchmarkSpec
from vidscore_evaluators.tally import merge_tallies
from vidscore_server.api import batches as codec
from vidscore_server.api.batches import write_batch
from vidscore_server.domain.parts import PartPlan, ScoringInput, plan_parts, sides_to_score

BY_FRAME = ("f1", "map", "coco", "neovision2", "errors")
BY_SEQUENCE = ("hota", "clear", "identity", "track-ospa", "ospa2")
SPECIFICATION = BenchmarkSpec()
SEQUENCES = tuple(SequenceKey("d", f"s{row}") for row in range(6))
FRAMES = 12
EVERYTHING = 1 << 40


def _boxes(seed: int, *, sequences: int) -> Annotations:
    """Boxes with labels, confidences and tracks in some sequences, frame after frame."""
    chance = np.random.default_rng(seed)
    rows = np.repeat(np.arange(sequences), FRAMES)
    numbers = np.tile(np.arange(FRAMES), sequences)
    kept = chance.random(len(rows)) < 0.9
    rows, numbers = rows[kept], numbers[kept]
    counts = chance.integers(0, 6, len(rows))
    total = int(counts.sum())
    tracks = np.concatenate([chance.permutation(8)[:count] for count in counts.tolist()])
    corners = 40.0 * tracks[:, None] + chance.normal(0, 3, (total, 2))
    return Annotations(
        sequences=SEQUENCES[:sequences],
        labels=("car", "person"),
        frame_sequences=rows,
        frame_numbers=numbers,
        frame_flags=np.zeros(len(rows), dtype=np.uint8),
        frame_starts=starts_from_counts(counts),
        coordinates=np.hstack([corners, corners + 30.0]),
        label_indices=(tracks % 2).astype(np.int64),
        confidences=chance.random(total),
        track_ids=tracks.astype(np.int64),
        flags=np.zeros(total, dtype=np.uint8),
    )


def _batches(detections: Annotations, order: str) -> list[bytes]:
    """The same frames in batches of given sizes: sequence after sequence, or in any order."""
    chance = np.random.default_rng(3)
    rows = np.arange(detections.frame_count)
    if order == "mixed":
        chance.shuffle(rows)
    cuts = np.sort(chance.choice(len(rows), 20, replace=False))
    return [
        write_batch(detections.take_frames(part)).SerializeToString()
        for part in np.split(rows, cuts)
        if len(part)
    ]


def _pairs(
    stock: PartPlan, batches: list[bytes], truth: Annotations, *, complete: bool
) -> Iterator[tuple[Annotations, Annotations]]:
    meeting = ScoringInput(SPECIFICATION, truth, complete=complete)
    if stock.everything is not None:
        yield meeting.all_at_once(stock.everything)
        return
    assert sum(len(part.rows) for part in stock.parts) >= len(batches)
    for part in stock.parts:
        yield meeting.meet(part, part.read(codec, (batches[row] for row in part.rows), truth.arity))
    rest = meeting.rest(truth.arity)
    if rest is not None:
        yield rest


@pytest.mark.slow
@pytest.mark.parametrize("complete", mostly_nightly([True, False]))
@pytest.mark.parametrize("order", mostly_nightly(["mixed", "in order"]))
@pytest.mark.parametrize("names", [BY_FRAME, BY_SEQUENCE])
def test_parts_of_every_size_give_the_report_of_the_whole(
    names: tuple[str, ...], order: str, *, complete: bool
) -> None:
    """Including truth without detections and detections without truth."""
    truth, detections = _boxes(1, sequences=5), _boxes(2, sequences=6)
    truth = truth.take_frames(truth.frame_sequences != 2)
    detections = detections.take_frames(detections.frame_sequences != 0)
    evaluators = [create_evaluator(name) for name in names]
    whole = sides_to_score(SPECIFICATION, truth, detections, complete=complete)
    expected = [report_to_json(entry.report(entry.tally(*whole))) for entry in evaluators]
    batches = _batches(detections, order)
    by_frame = all(entry.unit is Unit.FRAME for entry in evaluators)
    counts = []
    for maximum_bytes in (1, 300, 1_000, 3_000, 10_000, EVERYTHING):
        stock = plan_parts(codec, batches, 4, maximum_bytes, by_frame=by_frame)
        pairs = list(_pairs(stock, batches, truth, complete=complete))
        counts.append(len(pairs))
        assert stock.frame_count == detections.frame_count
        reports = [
            entry.report(
                merge_tallies([entry.identity_tally, *(entry.tally(*pair) for pair in pairs)])
            )
            for entry in evaluators
        ]
        assert list(map(report_to_json, reports)) == expected
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > 4
    assert counts[-1] == 1


def test_a_part_exceeds_the_bound_only_for_a_single_batch_or_sequence() -> None:
    detections = _boxes(2, sequences=6)
    batches = _batches(detections, "in order")
    bound = detections.nbytes // 4
    stock = plan_parts(codec, batches, 4, bound, by_frame=False)
    parts = [part.read(codec, (batches[row] for row in part.rows), 4) for part in stock.parts]
    assert len(parts) > 3
    assert sum(part.frame_count for part in parts) == detections.frame_count
    assert all(part.nbytes <= 1.1 * bound or len(part.sequences) == 1 for part in parts)


@pytest.mark.parametrize("maximum_bytes", [1_000, 3_000])
async def test_a_server_scores_in_parts_and_stores_the_librarys_report(
    tmp_path: Path, maximum_bytes: int
) -> None:
    frame_count = 60
    async with hosting(tmp_path, maximum_scoring_bytes=maximum_bytes, workers=1) as hosted:
        await hosted.organiser.create_benchmark()
        await hosted.organiser.upload(sky_truth(frame_count))
        stream = await hosted.red.submission()
        order = np.random.default_rng(5).permutation(frame_count).tolist()
        for first in range(0, frame_count, 10):
            await hosted.red.append(stream, first, batch(order[first : first + 10]))
        await hosted.red.seal(frames=frame_count)
        await hosted.red.ended()
        [score] = await hosted.organiser.scores()
    sizes = [job.detections.nbytes for job in hosted.workers.jobs]
    assert max(sizes) <= maximum_bytes + 1_000
    assert report_bytes(score.report) == batch_report(frame_count, range(frame_count))
