"""The commands of the runner: each does one thing through the SDK, and returns the result."""

from __future__ import annotations

import os
import signal
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from conformance.arguments import batching_of, client_of, delivery_of
from conformance.documents import (
    Frame,
    FramesFile,
    leaderboard_row_document,
    live_document,
    read_frames,
    report_document,
    score_document,
    submission_document,
)
from vidscore_client import Live, ScoreStream, SubmissionStream, __version__

Document = dict[str, Any]


def version(_arguments: Namespace) -> Document:
    """Describe this runner."""
    return {"language": "python", "client_version": __version__}


def evaluators(arguments: Namespace) -> Document:
    """List the evaluators."""
    with client_of(arguments) as client:
        found = client.evaluators()
    return {
        "evaluators": [
            {
                "name": evaluator.name,
                "version": evaluator.version,
                "title": evaluator.title,
                "measures": [measure.name for measure in evaluator.measures],
            }
            for evaluator in found
        ]
    }


def health(arguments: Namespace) -> Document:
    """Ask whether the server accepts calls."""
    with client_of(arguments) as client:
        status = client.health()
    time.sleep(arguments.linger_s)
    return {"status": status.name}


def score(arguments: Namespace) -> Document:
    """Score a file, stateless."""
    file = read_frames(arguments.frames)
    lives: list[Document] = []
    live = None
    if arguments.live_every_frames:
        live = Live(
            every_frames=arguments.live_every_frames,
            on_report=lambda report: lives.append(live_document(report)),
        )
    with (
        client_of(arguments) as client,
        client.score_stream(
            file.evaluators,
            specification=file.specification,
            truth_geometry=file.truth_geometry,
            detection_geometry=file.detection_geometry,
            live=live,
            batching=batching_of(arguments),
            timeout_s=arguments.deadline_s,
        ) as stream,
    ):
        if arguments.cancel_after_frames is not None:
            return _cancel_after(arguments.cancel_after_frames, file, stream)
        for send in _sends(file, stream):
            send()
        reports = stream.finish()
    return {"reports": [report_document(report) for report in reports], "live": lives}


def submit(arguments: Namespace) -> Document:
    """Send the detections of a file to a hosted benchmark."""
    detections = read_frames(arguments.frames).detections
    acknowledged: list[int] = []

    def on_acknowledged(frame_count: int) -> None:
        acknowledged.append(frame_count)
        limit = arguments.die_after_acknowledged
        if limit is not None and frame_count >= limit:
            os.kill(os.getpid(), signal.SIGKILL)

    with (
        client_of(arguments) as client,
        client.submit(
            arguments.benchmark,
            arguments.submission,
            stream=arguments.stream,
            title=arguments.title,
            replay=arguments.replay,
            batching=batching_of(arguments),
            delivery=delivery_of(arguments, on_acknowledged=on_acknowledged),
        ) as stream,
    ):
        for frame in _paced(detections, arguments.rate_hz):
            frame.send_detections(stream)
        if arguments.close:
            stream.close()
            return {"undelivered_frames": stream.undelivered_frames}
        stream.flush()
        ended = _ended(arguments, stream, len(detections))
        return {
            "submission": stream.submission,
            "opened_offset": stream.next_offset,
            "acknowledged": acknowledged,
            "acknowledged_frames": stream.acknowledged_frames,
            "scores": [] if arguments.no_seal else [score_document(s) for s in stream.scores()],
            **ended,
        }


def watch(arguments: Namespace) -> Document:
    """Follow a submission until it has ended, or return its current state."""
    updates: list[Document] = []
    with client_of(arguments) as client:
        for update in client.submissions.watch(arguments.submission):
            submission = update.submission
            updates.append(
                {
                    "state": submission.state.value,
                    "frame_count": submission.frame_count,
                    "revision": submission.revision,
                }
            )
            if not arguments.until_ended:
                break
    return {"updates": updates, "state": updates[-1]["state"]}


def get(arguments: Namespace) -> Document:
    """Show a submission."""
    with client_of(arguments) as client:
        return {"submission": submission_document(client.submissions.get(arguments.submission))}


def cancel(arguments: Namespace) -> Document:
    """Cancel a submission."""
    with client_of(arguments) as client:
        return {"submission": submission_document(client.submissions.cancel(arguments.submission))}


def leaderboard(arguments: Namespace) -> Document:
    """Show the board of a benchmark."""
    with client_of(arguments) as client:
        board = client.benchmarks.leaderboard(arguments.benchmark)
    return {"rows": [leaderboard_row_document(row) for row in board.rows]}


COMMANDS: Mapping[str, Callable[[Namespace], Document]] = {
    command.__name__: command
    for command in (
        version,
        evaluators,
        health,
        score,
        submit,
        watch,
        get,
        cancel,
        leaderboard,
    )
}


def _sends(file: FramesFile, stream: ScoreStream) -> Iterator[Callable[[], None]]:
    """All truth, then all detections, frame by frame."""
    for frame in file.truth:
        yield partial(frame.send_truth, stream)
    for frame in file.detections:
        yield partial(frame.send_detections, stream)


def _cancel_after(frame_count: int, file: FramesFile, stream: ScoreStream) -> Document:
    for _, send in zip(range(frame_count), _sends(file, stream), strict=False):
        send()
    stream.cancel()
    return {"cancelled": True}


def _paced(frames: list[Frame], rate_hz: float | None) -> Iterator[Frame]:
    """The frames, at full speed or at a given rate per second."""
    start_s = time.monotonic()
    for number, frame in enumerate(frames):
        if rate_hz is not None:
            time.sleep(max(0.0, start_s + number / rate_hz - time.monotonic()))
        yield frame


def _ended(arguments: Namespace, stream: SubmissionStream, frame_count: int) -> Document:
    """The state of the submission at the end."""
    with client_of(arguments) as client:
        if arguments.no_seal:
            submission = client.submissions.get(stream.submission)
        else:
            stream.seal(frame_count)
            submission = stream.wait(arguments.wait_s)
    return {
        "state": submission.state.value,
        "state_reason": submission.state_reason,
        "frame_count": submission.frame_count,
    }
