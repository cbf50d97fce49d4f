"""The data of a submission's pictures: counts by frame, and the columns of one sequence.

A page asks the server on every visit whether its visitor may see the outcomes; cached rows are not
sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Hashable, Mapping
from contextlib import aclosing
from typing import Any

import numpy as np
from msgspec import Struct

from vidscore_evaluators.annotations import Annotations, SequenceKey, concatenate
from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.figures.frames import FrameCounts, FrameTable
from vidscore_evaluators.outcome_table import Outcome, Outcomes, concatenate_outcomes
from vidscore_server.domain.scores import ReportParts
from vidscore_server.web.site.kept_pictures import (
    MOST_FRAMES,
    MOST_ROWS,
    Overview,
    SequenceRows,
    Span,
    size_of,
)
from vidscore_server.web.site.service import ServiceError
from vidscore_server.web.site.submission_files import MOST_SCORES
from vidscore_server.web.site.visit import Visit

Count = Callable[[Outcomes, FrameTable, IntArray], FrameCounts]


class Reading(Struct, frozen=True):
    """Reads what the visitor may see of a submission.

    Attributes:
        visit: The visit.
        benchmark: The benchmark.
        submission: The submission.
        evaluator: Name of the evaluator.
        with_truth: Whether the visitor is an organiser.
    """

    visit: Visit
    benchmark: Mapping[str, Any]
    submission: Mapping[str, Any]
    evaluator: str
    with_truth: bool

    @property
    def _key(self) -> tuple[Hashable, ...]:
        """Cache key of its data, without the score, which the server must confirm."""
        return (
            self.submission["name"],
            self.submission["create_time"],
            self.benchmark["etag"],
            self.evaluator,
            self.with_truth,
        )

    async def overview(self) -> Overview:
        """The outcomes of each frame, as counts.

        Raises:
            ServiceError: If the visitor may not see it, or it is too large.
        """
        kept = self.visit.site.pictures.overviews
        found = kept.get(self._key)
        if found is None:
            found = await self._read_overview()
            kept.put(self._key, found, len(found.frames))
        return found

    async def sequence(self, overview: Overview, key: SequenceKey) -> SequenceRows | None:
        """The columns of a sequence; None if the score of the overview is no longer the newest.

        Raises:
            ServiceError: If the visitor may not see it, or it is too large.
        """
        site = self.visit.site.pictures
        own_key = (*self._key, key)
        kept = site.sequences.get(own_key)
        known = "" if kept is None else kept.score
        score, outcomes = await self._outcomes(key, known)
        if score != overview.score:
            site.overviews.drop(self._key)
            return None
        if outcomes is None:
            return kept
        detections = await self._side("ReadDetections", overview.sent, key)
        truth = await self._side("ReadTruth", overview.truth, key, revision=overview.revision)
        found = SequenceRows(score, outcomes, detections, truth)
        sides = [size_of(side) for side in (detections, truth) if side is not None]
        site.sequences.put(own_key, found, len(outcomes) + sum(sides))
        return found

    async def _outcomes(self, key: SequenceKey, known: str) -> tuple[str, Outcomes | None]:
        """Score and outcomes of a sequence; None if they are unchanged from the known score."""
        parts: list[Outcomes] = []
        count = 0
        score = ""
        answers = self.visit.ask(
            "SubmissionService/ReadOutcomes",
            submission=self.submission["name"],
            evaluator=self.evaluator,
            sequence=key._asdict(),
            known_score=known,
        )
        async with aclosing(answers) as found:
            async for answer in found:
                score = answer["score"]
                if answer["outcomes"] is None:
                    return score, None
                parts.append(answer["outcomes"])
                count += len(parts[-1])
                _refuse_more(count, MOST_ROWS, "outcomes of this sequence")
        return score, await asyncio.to_thread(concatenate_outcomes, parts)

    async def _side(
        self,
        rpc: str,
        spans: Mapping[tuple[SequenceKey, str], Span],
        key: SequenceKey,
        **request: Any,
    ) -> Annotations | None:
        """Truth or detections of a sequence."""
        parts: list[Annotations] = []
        for (own, stream), (start, stop) in spans.items():
            if own != key:
                continue
            asking = {"stream": stream} if stream else {}
            answers = self._sides(rpc, offset=start, **asking, **request)
            async with aclosing(answers) as found:
                async for _, part, end in found:
                    parts.append(part.take_frames(_of_sequence(part, key)))
                    count = sum(map(size_of, parts))
                    _refuse_more(count, MOST_ROWS, "objects in this sequence")
                    if end >= stop:
                        break
        return await asyncio.to_thread(concatenate, parts) if parts else None

    async def _sides(
        self, rpc: str, **request: Any
    ) -> AsyncGenerator[tuple[str, Annotations, int], None]:
        """Stream, frames and offset after them, of each answer of a call that reads a side."""
        of_truth = rpc == "ReadTruth"
        name = self.benchmark["name"] if of_truth else self.submission["name"]
        about = {"benchmark" if of_truth else "submission": name}
        service = "BenchmarkService" if of_truth else "SubmissionService"
        answers = self.visit.ask(f"{service}/{rpc}", **about, **request)
        async with aclosing(answers) as found:
            async for answer in found:
                part = answer["truth" if of_truth else "detections"]
                if part is not None and part.frame_count:
                    yield answer.get("stream", ""), part, answer["next_offset"]

    async def _read_overview(self) -> Overview:
        revision = await self._revision() if self.with_truth else 0
        sent, frames = await self._places("ReadDetections")
        truth: dict[tuple[SequenceKey, str], Span] = {}
        if revision:
            truth, of_truth = await self._places("ReadTruth", revision=revision)
            frames += of_truth
        table = await asyncio.to_thread(FrameTable.of, frames)
        counting = Counting(table, FrameCounts.of if self.with_truth else own_counts)
        answers = self.visit.ask(
            "SubmissionService/ReadOutcomes",
            submission=self.submission["name"],
            evaluator=self.evaluator,
        )
        async with aclosing(answers) as found:
            async for answer in found:  # there is at least one
                await asyncio.to_thread(counting.add, answer["outcomes"])
        nothing = answer["outcomes"].take(np.arange(0))
        return Overview(answer["score"], table, counting.counts, nothing, sent, truth, revision)

    async def _places(
        self, rpc: str, **request: Any
    ) -> tuple[dict[tuple[SequenceKey, str], Span], list[Annotations]]:
        """The offsets of each sequence, and all frames without their objects."""
        spans: dict[tuple[SequenceKey, str], Span] = {}
        frames: list[Annotations] = []
        count = 0
        async with aclosing(self._sides(rpc, **request)) as found:
            async for stream, part, end in found:
                count += part.frame_count
                _refuse_more(count, MOST_FRAMES, "frames")
                for sequence, span in spans_of(part, end - part.frame_count).items():
                    start, _ = spans.get((sequence, stream), span)
                    spans[sequence, stream] = (start, span[1])
                frames.append(part.take_objects(np.zeros(0, dtype=np.int64)))
        return spans, frames

    async def _revision(self) -> int:
        """Revision of the truth under which the newest score was made."""
        answer = await self.visit.call(
            "SubmissionService/ListScores",
            ReportParts.NONE,
            submission=self.submission["name"],
            page_size=MOST_SCORES,
        )
        named = (
            score["truth_revision"]
            for score in answer["scores"]
            if score["report"]["evaluator"] == self.evaluator
        )
        return next(named, 0)


def spans_of(frames: Annotations, offset: int) -> dict[SequenceKey, Span]:
    """The offsets between which the frames of each sequence are.

    Args:
        frames: The frames.
        offset: The offset of the first.
    """
    rows, first = np.unique(frames.frame_sequences, return_index=True)
    _, behind = np.unique(frames.frame_sequences[::-1], return_index=True)
    stops = offset + frames.frame_count - behind
    return {
        frames.sequences[row]: (start, stop)
        for row, start, stop in zip(
            rows.tolist(), (offset + first).tolist(), stops.tolist(), strict=True
        )
    }


class Counting:
    """Counts outcomes by frame, part by part.

    Args:
        frames: All frames.
        count: Function that counts outcomes.
    """

    def __init__(self, frames: FrameTable, count: Count) -> None:
        self._frames = frames
        self._count = count
        self._places = {key: row for row, key in enumerate(frames.sequences)}
        empty = [np.zeros(len(frames), dtype=np.int64) for _ in range(4)]
        self.counts = FrameCounts(*empty)

    def add(self, outcomes: Outcomes) -> None:
        """Count further outcomes."""
        for row in np.unique(outcomes.sequences).tolist():
            own = outcomes.take(outcomes.sequences == row)
            key = outcomes.sequence_keys[row]
            span = self._frames.span(self._places[key])
            numbers = self._frames.numbers[span]
            table = FrameTable((key,), np.array([0, len(numbers)]), numbers)
            found = self._count(own, table, np.searchsorted(numbers, own.frames))
            for total, column in zip(self.counts.columns(), found.columns(), strict=True):
                total[span] += column


def own_counts(outcomes: Outcomes, frames: FrameTable, rows: IntArray) -> FrameCounts:
    """A team's view: right detections as hits, wrong ones as false alarms.

    Args:
        outcomes: N outcomes of its own detections.
        frames: The frames.
        rows: (N,) frame row of each outcome.
    """
    none = np.zeros(len(frames), dtype=np.int64)
    right, wrong = (
        np.bincount(rows[outcomes.are(outcome)], minlength=len(frames))
        for outcome in (Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE)
    )
    return FrameCounts(hits=right, misses=none, false_alarms=wrong, id_switches=none)


def _of_sequence(side: Annotations, key: SequenceKey) -> IntArray:
    rows = [row for row, own in enumerate(side.sequences) if own == key]
    return np.flatnonzero(np.isin(side.frame_sequences, rows))


def _refuse_more(count: int, most: int, what: str) -> None:
    if count > most:
        text = f"There are more than {most:,} {what}, too many for a page; the CSV has all of them."
        raise ServiceError("FAILED_PRECONDITION", "TOO_LARGE", text)
