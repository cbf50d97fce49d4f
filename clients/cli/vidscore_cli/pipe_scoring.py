"""Frames on standard input against truth in a file, in this process."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from msgspec.structs import replace

from vidscore_cli.inputs import (
    FileOptions,
    chosen_evaluators,
    read_truth,
)
from vidscore_cli.lines import BadLineError, FrameInput
from vidscore_cli.live import LiveDisplay, RunningScores
from vidscore_cli.reporting import Presentation, View, write_reports
from vidscore_cli.session import ExitCode
from vidscore_cli.thresholds import check_thresholds, parse_thresholds
from vidscore_cli.windows import Alarm, LastFrames, alarm_of
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_evaluators.annotations import Annotations
    from vidscore_evaluators.evaluator import Evaluator
    from vidscore_evaluators.formats import Pair
    from vidscore_evaluators.formats.json_lines import LineBlock
    from vidscore_evaluators.report import FrameExample, Report
    from vidscore_evaluators.specification import BenchmarkSpec

FRAMES_PER_TALLY = 1000
"""Number of frames that are held as columns before they are tallied."""

LEAST_INTERVAL_S = 1.0
MOST_FRACTION = 0.1
"""Maximum fraction of time for running scores, which some evaluators compute anew each time."""


class PipeScoring(FileOptions, frozen=True):
    """Options of `vidscore pipe --score`, by name."""

    on_error: Literal["refuse", "skip"]
    progress: bool
    online: bool
    window: int | None
    hours: bool
    baseline: str | None
    alert: tuple[str, ...]
    alert_url: str | None
    format_: str
    output: str
    sequences: bool
    curves: bool
    strict: bool
    fail_under: tuple[str, ...]


def score_lines(
    typed: PipeScoring,
    stream: BinaryIO,
    *,
    wall_clock: Callable[[], float] = time.time,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Score the frames of a stream, and write the report at its end.

    Args:
        typed: The options.
        stream: The stream, of JSON lines.
        wall_clock: Seconds since 1970, by which frames arrive.
        clock: Monotonic clock, in seconds, for the running scores.

    Returns:
        The exit code.

    Raises:
        BadLineError: If a line breaks a rule, and ends the run.
        InputError: If the truth, or all frames together, break a rule.
    """
    specification, evaluators = chosen_evaluators(typed.evaluators, typed.settings, typed.manifest)
    thresholds = parse_thresholds(typed.fail_under, evaluators)
    with alarm_of(typed.alert, typed.baseline, typed.alert_url, evaluators) as alarm:
        scoring = LiveScoring(typed, evaluators, specification, alarm)
        lines = FrameInput(
            typed.on_error == "skip", scoring.reader, wall_clock if typed.online else None
        )
        _score_as_they_come(scoring, lines.blocks(stream), typed, clock)
        lines.say_skipped()
        reports = scoring.finish(lines.skipped)
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_reports(
        reports, Presentation(typed.format_, typed.output, view, typed.strict, scoring.place_of)
    )
    code = check_thresholds(thresholds, reports)
    return ExitCode.THRESHOLD if alarm.rang else code


def _score_as_they_come(
    scoring: LiveScoring,
    blocks: Iterator[LineBlock],
    typed: PipeScoring,
    clock: Callable[[], float],
) -> None:
    """Add frames, and show running scores if they are wanted."""
    running = RunningScores(scoring.ranking, scoring.frames_text)
    display = LiveDisplay(sys.stderr, running.draw, running.line, clock=clock)
    due_s = clock()
    with display if typed.progress else nullcontext():
        for block in blocks:
            scoring.add(block)
            if typed.progress and clock() >= due_s:
                began_s = clock()
                running.show(*scoring.so_far())
                display.changed()
                ended_s = clock()
                due_s = ended_s + max(LEAST_INTERVAL_S, (ended_s - began_s) / MOST_FRACTION)


class LiveScoring:
    """Scores frames against a truth, as they arrive.

    Args:
        typed: The options.
        evaluators: Evaluators of the specification.
        specification: The specification.
        alarm: Watches the windows.

    Attributes:
        reader: Reads the lines.
    """

    def __init__(
        self,
        typed: PipeScoring,
        evaluators: Sequence[Evaluator[Any]],
        specification: BenchmarkSpec,
        alarm: Alarm,
    ) -> None:
        from vidscore_evaluators.alignment import resolve
        from vidscore_evaluators.formats.json_lines import LineReader
        from vidscore_evaluators.live import DEFAULT_MAXIMUM_WAITING, StreamScorer

        self._typed, self._evaluators, self._specification = typed, evaluators, specification
        self._alarm = alarm
        self._truth = read_truth(
            typed.truth, typed.input_format, specification, image_size=typed.image_size
        )
        truth = self._truth.annotations
        self._evaluated = resolve(specification, truth)
        waiting = truth.frame_count + DEFAULT_MAXIMUM_WAITING
        # Scores by time of arrival are computed at the end, when all answers have arrived.
        running = () if typed.online else evaluators
        self._scorer = StreamScorer(running, specification, waiting)
        self._known = {*truth.sequences, *(one.key for one in specification.sequences)}
        self._add_truth(truth)
        self._last = (
            None if typed.window is None else LastFrames(typed.window, evaluators, self._evaluated)
        )
        self.reader = LineReader()
        self._blocks: list[LineBlock] = []
        self._shapeless: list[LineBlock] = []
        self._pair: Pair | None = None

    @property
    def ranking(self) -> dict[str, Sequence[str]]:
        """For each evaluator the measures by which systems are ranked."""
        return {one.name: one.ranking for one in self._evaluators}

    @property
    def frames_text(self) -> str:
        """Number of received frames of the truth's, in words."""
        coverage = self._scorer.coverage
        others = coverage.waiting_for_truth
        beside = f", {counted(others, 'frame')} that the truth does not have" if others else ""
        frames = counted(self._truth.annotations.frame_count, "frame")
        return f"{coverage.paired} of {frames}{beside}"

    def so_far(self) -> tuple[str, list[Report]]:
        """The frames so far, and the reports over them, or over the window."""
        if self._typed.online:
            return self.frames_text, []
        if self._last is None:
            return self.frames_text, self._scorer.live_reports()
        return f"{self.frames_text}, the last {self._last.size}", self._last.reports()

    def add(self, block: LineBlock) -> None:
        """Add the frames of some lines.

        Raises:
            BadLineError: If they break a rule of an evaluator, or are of an unknown sequence.
        """
        self._blocks.append(block)
        self._shapeless.append(block)
        if self.reader.arity is not None:
            waiting, self._shapeless = self._shapeless, []
            for one in waiting:
                self._add(one)

    def finish(self, skipped: int) -> list[Report]:
        """The reports over all frames.

        Args:
            skipped: Lines that were left out.

        Raises:
            InputError: If all frames together break a rule.
        """
        from vidscore_evaluators.formats import read_pair
        from vidscore_evaluators.formats.json_lines import source_of_blocks
        from vidscore_evaluators.formats.source import with_skipped
        from vidscore_evaluators.preparation import check_sides, scaled, with_listed_names
        from vidscore_evaluators.report import with_warnings
        from vidscore_evaluators.scoring import score_pair

        source = with_skipped(source_of_blocks(self.reader, self._blocks), skipped)
        pair = read_pair(self._truth, source, known=frozenset(self._known))
        pair = replace(pair, detections=scaled(pair.detections, self._typed.confidence_scale))
        self._pair = pair = with_listed_names(pair, self._specification)
        if self._typed.online:
            reports = score_pair(self._evaluators, pair, self._specification, online=True)
            self._alarm.judge(reports, "everything")
            return reports
        sides = (pair.truth.annotations, pair.detections.annotations)
        try:
            check_sides(self._evaluators, *sides, self._specification)
        except InputError as error:
            raise type(error)([pair.locate(fault) for fault in error.faults]) from None
        for block in self._shapeless:  # no line has had an object
            self._add(block)
        reports = [with_warnings(one, pair.warnings) for one in self._scorer.final_reports()]
        if self._typed.hours:
            from vidscore_evaluators.hours import hourly_curves, with_curves

            reports = [
                with_curves(report, hourly_curves(evaluator, self._evaluated, sides[1]))
                for report, evaluator in zip(reports, self._evaluators, strict=True)
            ]
        self._judge_end(reports)
        return reports

    def place_of(self, example: FrameExample) -> str:
        """File and line of a frame that a warning names; empty before the end."""
        return "" if self._pair is None else self._pair.place_of(example)

    def _add(self, block: LineBlock) -> None:
        from vidscore_evaluators.annotations import Side, with_arity
        from vidscore_evaluators.validation import ConfidenceScale

        frames = with_arity(block.frames, self.reader.arity or self._truth.annotations.arity)
        try:
            self._refuse_unknown(frames)
            if self._typed.confidence_scale is not None:
                frames = ConfidenceScale.parse(self._typed.confidence_scale).scaled(frames)
            self._scorer.add(Side.DETECTIONS, frames)
        except InputError as error:
            raise BadLineError(block.at_lines(error.faults)) from None
        if self._scorer.coverage.paired % FRAMES_PER_TALLY < frames.frame_count:
            self._scorer.compact()  # a tally takes less room than the columns that are in it
        if self._last is not None:
            for count in self._last.add(frames):
                first = count - self._last.size + 1
                self._alarm.judge(self._last.reports(), f"frames {first} to {count}")

    def _judge_end(self, reports: Sequence[Report]) -> None:
        if self._last is None or not self._last.frame_count:
            self._alarm.judge(reports, "everything")
        else:
            self._alarm.judge(self._last.reports(), f"the last {counted(self._last.size, 'frame')}")

    def _add_truth(self, truth: Annotations) -> None:
        from vidscore_evaluators.annotations import Side

        try:
            self._scorer.add(Side.TRUTH, truth)
        except InputError as error:
            raise type(error)([self._truth.locate(fault) for fault in error.faults]) from None

    def _refuse_unknown(self, frames: Annotations) -> None:
        from vidscore_evaluators.alignment import unknown_sequences
        from vidscore_evaluators.annotations import frame_keys

        keys = frame_keys(frames)
        faults = unknown_sequences(self._specification, self._known, {key for key, _ in keys})
        if faults:
            first = next(row for row, (key, _) in enumerate(keys) if key in faults)
            raise InputError([replace(faults[keys[first][0]], entry=first)])
