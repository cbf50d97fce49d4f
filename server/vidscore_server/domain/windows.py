"""Scores over the last frames of a submission, for watching an endless stream.

They are for organisers only: a window that moves by one frame reveals the truth of that frame.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict

from msgspec import Struct

from vidscore_evaluators.alignment import frames_in
from vidscore_evaluators.annotations import Annotations, Side, concatenate, empty_annotations
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.hours import with_curves
from vidscore_evaluators.report import Report
from vidscore_server.domain.access import Caller
from vidscore_server.domain.batches import unpacked
from vidscore_server.domain.context import Context
from vidscore_server.domain.live import REST_FACTOR
from vidscore_server.domain.live_run import State
from vidscore_server.domain.names import SubmissionName
from vidscore_server.domain.scorer import Scorer, Sides
from vidscore_server.errors import PermissionDeniedError
from vidscore_server.store import Reader

MAXIMUM_WINDOW_FRAMES = 10_000
"""Maximum number of frames per stream that are scored together at each change."""

MAXIMUM_KEPT = 100
"""Maximum number of cached windows; others are computed at each request."""


class ScoreWindow(Struct, frozen=True, eq=False):
    """Scores over the last frames of a submission.

    Attributes:
        frame_count: Number of scored frames, which have truth.
        reports: A report for each evaluator, with curves of the ranking measures by hour.
    """

    frame_count: int
    reports: tuple[Report, ...]


def check_window(caller: Caller, size: int) -> None:
    """Refuse a window that is not allowed.

    Args:
        caller: The caller.
        size: Its number of frames; 0 for none.

    Raises:
        InputError: If it is too large.
        PermissionDeniedError: If the caller is not an organiser.
    """
    if size and not caller.is_organiser:
        raise PermissionDeniedError(
            "only organisers may watch a window: it would reveal the truth of each new frame; "
            "leave window_frames out",
            field="window_frames",
        )
    if not 0 <= size <= MAXIMUM_WINDOW_FRAMES:
        expected = f"0 for none, or at most {MAXIMUM_WINDOW_FRAMES} frames"
        raise InputError([Fault(str(size), expected, field="window_frames")])


class _Kept(Struct):
    """The newest window of a submission, and the earliest time of the next."""

    lock: asyncio.Lock
    window: ScoreWindow | None = None
    state: State | None = None
    next_time_s: float = 0.0


class Windows:
    """Scores the last frames of the submissions of a site, while somebody watches."""

    def __init__(self, context: Context, scorer: Scorer) -> None:
        self._context = context
        self._scorer = scorer
        self._kept: OrderedDict[tuple[SubmissionName, int], _Kept] = OrderedDict()

    async def newest(self, name: SubmissionName, size: int) -> ScoreWindow | None:
        """Scores over the last frames of each stream; None if none of them has truth.

        The same object is returned until something changes, or while the last window rests.

        Args:
            name: The submission.
            size: Number of frames of each of its streams, with or without truth.

        Raises:
            LookupError: If the submission is gone.
        """
        kept = self._kept.setdefault((name, size), _Kept(asyncio.Lock()))
        self._kept.move_to_end((name, size))
        while len(self._kept) > MAXIMUM_KEPT:
            self._kept.popitem(last=False)
        async with kept.lock:
            clock = asyncio.get_running_loop().time
            began_s = clock()
            if began_s >= kept.next_time_s:
                state = await self._context.read(lambda reader: _state(reader, name))
                if state != kept.state:
                    kept.window = None if state is None else await self._made(name, size)
                    kept.state = state
                    kept.next_time_s = clock() + REST_FACTOR * (clock() - began_s)
        return kept.window

    async def _made(self, name: SubmissionName, size: int) -> ScoreWindow | None:
        sides = await self._context.read(lambda reader: self._last(reader, name, size))
        if sides is None:
            return None
        evaluators = sides.definition.evaluators
        truth, detections = await asyncio.to_thread(_with_truth, sides)
        if not truth.frame_count:
            return None
        tallies = await self._scorer.tallies(evaluators, truth, detections)
        reports = await self._scorer.bounded_reports(evaluators, tallies)
        curves = await self._scorer.hourly_curves(evaluators, truth, detections)
        return ScoreWindow(truth.frame_count, tuple(map(with_curves, reports, curves)))

    def _last(self, reader: Reader, name: SubmissionName, size: int) -> Sides | None:
        """Both sides, with the detections of the last frames of each stream."""
        benchmark = reader.benchmark(name.benchmark)
        if benchmark is None or not benchmark.truth_revision:
            return None
        nowhere = {entry.stream: entry.next_offset for entry in reader.streams(*name)}
        sides, _ = self._scorer.sides_from(reader, name, benchmark.truth_revision, nowhere)
        arity = sides.definition.arity(Side.DETECTIONS)
        parts = [empty_annotations(arity)]
        for stream, end in nowhere.items():
            first = reader.batch_at(*name, stream, max(0, end - size))
            if first is not None:
                payloads = reader.payloads_from(*name, stream, first.first_offset)
                frames = self._context.codec.read_stored_batches(unpacked(payloads), arity)
                parts.append(
                    frames.frame_run(max(0, frames.frame_count - size), frames.frame_count)
                )
        return Sides(sides.definition, sides.truth, concatenate(parts), sides.revision, True)


def _state(reader: Reader, name: SubmissionName) -> State | None:
    """The inputs of a window; None if there can be none."""
    return State.of(reader.benchmark(name.benchmark), reader.submission(*name))


def _with_truth(sides: Sides) -> tuple[Annotations, Annotations]:
    """Both sides of the frames with truth, as evaluators get them."""
    truth, detections = sides.to_score(complete=False)
    return (
        truth.take_frames(frames_in(truth, detections)),
        detections.take_frames(frames_in(detections, truth)),
    )
