"""Frames on standard input into a submission to a hosted benchmark."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, BinaryIO, Literal

import click
from msgspec import Struct

from vidscore_cli.hosted import look_up, say_warnings, standing, wait_for_score, write_outcome
from vidscore_cli.lines import BadLineError, FrameInput
from vidscore_cli.live import LINE_INTERVAL_S, LiveDisplay, RunningScores
from vidscore_cli.output import say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import short_names
from vidscore_cli.remote import detection_arity, open_client, to_frames, to_reports
from vidscore_cli.reporting import Presentation, View
from vidscore_cli.stopping import interrupted_by_signals
from vidscore_cli.waiting import seal, told_while_waiting
from vidscore_evaluators.names import counted

if TYPE_CHECKING:
    from vidscore_cli.sites import ServerChoice
    from vidscore_client import Client, Submission, SubmissionStream
    from vidscore_evaluators.formats.json_lines import LineBlock
    from vidscore_evaluators.report import Report

STREAM = "pipe"
"""Name of the stream of the submission that this command writes."""


class PipeSubmission(Struct, frozen=True):
    """Options of `vidscore pipe BENCHMARK`, by name."""

    server: ServerChoice
    benchmark: str
    submission: str | None
    title: str
    replay: bool
    acknowledged: bool
    confidence_scale: str | None
    on_error: Literal["refuse", "skip"]
    progress: bool
    format_: str
    output: str
    sequences: bool
    curves: bool


def submit_lines(
    typed: PipeSubmission, stream: BinaryIO, *, clock: Callable[[], float] = time.monotonic
) -> None:
    """Submit the frames of a stream, seal the submission at its end, and write the outcome.

    Args:
        typed: The options.
        stream: The stream, of JSON lines.
        clock: Monotonic clock, in seconds, for the running scores.

    Raises:
        BadLineError: If a line breaks a rule, and ends the run; the frames before it are durable.
        click.ClickException: If something else is wrong, or not everything is durable.
    """
    with open_client(typed.server) as client:
        lines = _lines_of(client, typed)
        submission = _sealed(client, typed, lines, stream, clock)
        lines.say_skipped()
        told = submission.warnings
        say_warnings(told)
        with ProgressBar() as bar:
            submission = wait_for_score(client, submission, bar)
        say_warnings(submission.warnings, told)
        outcome, ranks = look_up(client, submission), standing(client, submission)
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_outcome(outcome, Presentation(typed.format_, typed.output, view))
    for line in ranks:
        say(line, err=True)


def _lines_of(client: Client, typed: PipeSubmission) -> FrameInput:
    from vidscore_evaluators.formats.json_lines import LineReader

    arity = detection_arity(client.benchmarks.get(typed.benchmark))
    return FrameInput(typed.on_error == "skip", LineReader(arity=arity))


def _sealed(
    client: Client,
    typed: PipeSubmission,
    lines: FrameInput,
    stream: BinaryIO,
    clock: Callable[[], float],
) -> Submission:
    """Send every frame, and seal; if that ends early, say what is durable and how to continue."""
    from vidscore_client import Batching, Delivery, VidscoreError

    opened = client.submit(
        typed.benchmark,
        typed.submission,
        stream=STREAM,
        title=typed.title,
        replay=typed.replay,
        # However long the server is away, frames wait for it, and the source waits for them.
        batching=Batching(block_timeout_s=None),
        delivery=Delivery(on_acknowledged=_say_offset if typed.acknowledged else None),
    )
    with opened, interrupted_by_signals(), told_while_waiting(opened, partial(say, err=True)):
        name = short_names(opened.submission)
        say(f"{name}: {counted(opened.next_offset, 'frame')} durable before", err=True)
        try:
            _send(client, typed, lines.blocks(stream), opened, clock)
            return seal(client, opened, partial(say, err=True))
        except (KeyboardInterrupt, BadLineError, VidscoreError) as error:
            if not isinstance(error, VidscoreError):  # after one, nothing can be delivered
                _say_waiting(opened)
                opened.close()
            durable = counted(opened.acknowledged_frames, "frame")
            going_on = (
                f"{name} is not sealed; {durable} durable. Go on with:\n"
                f"  vidscore pipe {typed.benchmark} --submission {name.rpartition('/')[2]}\n"
                "and the frames that follow, or all of them from the first one on with --replay"
            )
            say(going_on, err=True)
            if isinstance(error, KeyboardInterrupt):
                raise click.Abort from None
            raise


def _send(
    client: Client,
    typed: PipeSubmission,
    blocks: Iterator[LineBlock],
    opened: SubmissionStream,
    clock: Callable[[], float],
) -> None:
    from vidscore_evaluators.errors import InputError
    from vidscore_evaluators.validation import ConfidenceScale

    ranking = {entry.name: entry.ranking for entry in client.evaluators()}
    running = RunningScores(ranking, "0 frames durable")
    display = LiveDisplay(sys.stderr, running.draw, running.line, clock=clock)
    scale = typed.confidence_scale and ConfidenceScale.parse(typed.confidence_scale)
    due_s = clock() + LINE_INTERVAL_S
    with display if typed.progress else nullcontext():
        for block in blocks:
            try:
                frames = scale.scaled(block.frames) if scale else block.frames
            except InputError as error:
                raise BadLineError(block.at_lines(error.faults)) from None
            opened.send_batch(to_frames(frames))
            if typed.progress and clock() >= due_s:
                durable = counted(opened.acknowledged_frames, "frame")
                running.show(f"{durable} durable", _scores_so_far(client, opened.submission))
                display.changed()
                due_s = clock() + LINE_INTERVAL_S


def _scores_so_far(client: Client, name: str) -> list[Report]:
    """The visible scores of an open submission; none while the server is away."""
    from vidscore_client import VidscoreError

    try:
        for update in client.submissions.watch(name, timeout_s=LINE_INTERVAL_S):
            return to_reports(score.report for score in update.scores)
    except VidscoreError:
        pass  # the stream itself waits for the server, and says so in the end
    return []


def _say_waiting(opened: SubmissionStream) -> None:
    waiting = opened.undelivered_frames
    if waiting:
        say(
            f"{counted(waiting, 'frame')} to be made durable; Ctrl-C gives them up",
            err=True,
        )


def _say_offset(count: int) -> None:
    """Write an offset up to which every frame of the stream is durable, as a line of JSON."""
    with suppress(BrokenPipeError):  # frames are delivered whether or not somebody still reads this
        say(json.dumps({"acknowledged_offset": count}))
