"""`vidscore submit`: upload files to a hosted benchmark, and wait for the score."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from vidscore_cli.failures import InputRefusedError
from vidscore_cli.hosted_submissions import refuse_unscored, write_scores
from vidscore_cli.inputs import check_format_name
from vidscore_cli.output import check_output
from vidscore_cli.progress import ProgressBar
from vidscore_cli.remote import open_client, to_frames
from vidscore_cli.report_table import View
from vidscore_cli.reporting import Presentation
from vidscore_cli.server_choice import ServerChoice
from vidscore_cli.warning_lines import show_source_warnings
from vidscore_client import (
    Client,
    Delivery,
    Submission,
    SubmissionEndedError,
    SubmissionUpdate,
)
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.pairing import frame_keys


@dataclass(frozen=True)
class FileSubmission:
    """What is typed after `vidscore submit`; the names are those of the options."""

    server: ServerChoice
    benchmark: str
    detections: str
    input_format: str
    name: str | None
    title: str
    seal: bool
    wait: bool
    format_: str
    output: str
    sequences: bool
    curves: bool


def submit_files(typed: FileSubmission) -> None:
    """Upload detections, seal the submission, wait, and write its scores.

    The same files go into the same stream of the submission, whose frames that are durable
    already are not sent again; so the command goes on where it was interrupted. Other files under
    the same name are refused, because the frames are there already.

    Raises:
        NotScoredError: If the submission fails or is cancelled.
    """
    check_output(typed.output)
    check_format_name(typed.input_format)
    with ProgressBar() as bar, open_client(typed.server) as client:
        bar.stage("reading")
        path = Path(typed.detections)
        source = read_source(path, Side.DETECTIONS, format_name=typed.input_format)
        show_source_warnings(source, Side.DETECTIONS)
        detections = _in_order(source.annotations)
        bar.stage("uploading")
        submission = _upload(client, typed, detections, bar.advance)
        if not (typed.seal and typed.wait):
            click.echo(f"{submission.name}: {submission.frame_count} frames are safe")
            return
        bar.stage("waiting")

        def show(update: SubmissionUpdate) -> None:
            bar.stage(update.submission.state.replace("_", " "))

        submission = client.submissions.wait(submission.name, on_change=show)
        refuse_unscored(submission)
        scores = client.submissions.scores(submission.name)
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_scores(submission, scores, Presentation(typed.format_, typed.output, view))


def _in_order(detections: Annotations) -> Annotations:
    """The frames in one order, however the files had them."""
    keys = frame_keys(detections)
    order = sorted(range(len(keys)), key=keys.__getitem__)
    return detections.take_frames(np.array(order, dtype=np.int64))


def _upload(
    client: Client,
    typed: FileSubmission,
    detections: Annotations,
    advance: Callable[[int, int], None],
) -> Submission:
    stream_name = f"files-{str(fingerprint(detections))[:16]}"
    name = typed.name or stream_name
    total = detections.frame_count
    delivery = Delivery(on_acknowledged=lambda count: advance(count, total))
    try:
        stream = client.submit(
            typed.benchmark,
            name,
            stream=stream_name,
            title=typed.title,
            replay=True,
            delivery=delivery,
        )
    except SubmissionEndedError:
        return _sent_before(client, f"{typed.benchmark}/{name}", stream_name, total)
    with stream:
        stream.send_batch(to_frames(detections))
        if typed.seal:
            return stream.seal()
        stream.flush()
    return client.submissions.get(stream.submission)


def _sent_before(client: Client, name: str, stream_name: str, total: int) -> Submission:
    """A submission that takes no more frames, if these are all in it.

    Raises:
        InputRefusedError: If they are not.
    """
    submission = client.submissions.get(name)
    stream = submission.stream(stream_name)
    if stream is None or stream.next_offset != total:
        raise InputRefusedError(
            f"{submission.name} is {submission.state} with other detections; "
            "choose another --name for these"
        )
    return submission
