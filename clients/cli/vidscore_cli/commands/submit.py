"""`vidscore submit`: upload files to a hosted benchmark, and wait for the score."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from vidscore_cli.command_tree import command
from vidscore_cli.failures import InputRefusedError
from vidscore_cli.hosted import (
    ORGANISERS_TEAM,
    benchmark_waits_for,
    evaluator_names,
    format_for,
    look_up,
    quotas_left,
    say_warnings,
    standing,
    submission_waits_for,
    wait_for_score,
    write_outcome,
)
from vidscore_cli.input_paths import InputPath
from vidscore_cli.inputs import check_format_name
from vidscore_cli.options import (
    ANYWHERE,
    all_faults_option,
    confidence_scale_option,
    format_option,
    image_size_option,
    input_format_option,
    output_option,
    server_options,
    strict_option,
    view_options,
)
from vidscore_cli.output import check_output, say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import short_names, within
from vidscore_cli.remote import detection_arity, open_client, to_frames
from vidscore_cli.reporting import Presentation, View, refuse_count, show_source_warnings
from vidscore_cli.sites import ServerChoice
from vidscore_cli.unknown_labels import refuse_unknown_labels
from vidscore_cli.waiting import seal, told_while_waiting
from vidscore_evaluators.names import counted, escape_controls, string_faults
from vidscore_evaluators.remote_files import data_path

if TYPE_CHECKING:
    from vidscore_client import Benchmark, Client, DetectionsCheck, Submission
    from vidscore_evaluators.annotations import Annotations

ANY_FRAME = 1
"""Number of the empty frame to send if frame numbers are unknown; it changes no score."""

_BY_CHANCE = re.compile("s[0-9a-f]{16}")
"""Random names, chosen by the server."""

_LISTS = ("domains", "sequences")


class FileSubmission(Struct, frozen=True):
    """Options of `vidscore submit`, by name."""

    server: ServerChoice
    benchmark: str
    detections: str
    input_format: str
    image_size: tuple[int, int] | None
    confidence_scale: str | None
    name: str | None
    title: str
    seal: bool
    wait: bool
    check: bool
    allow_empty: bool
    allow_unknown_labels: bool
    strict: bool
    format_: str
    output: str
    sequences: bool
    curves: bool


@command(
    "submit",
    examples=(
        "vidscore submit sky --detections detections.json --check",
        "vidscore submit sky --detections detections.json",
        "vidscore submit sky --detections detections.json --name falcon --title 'Falcon 2'",
    ),
)
@click.argument("benchmark", metavar="BENCHMARK")
@click.option(
    "--detections",
    metavar="PATH",
    type=InputPath(),
    required=True,
    help=f"Detections to score: {ANYWHERE}.",
)
@input_format_option()
@image_size_option()
@confidence_scale_option()
@click.option(
    "--name",
    metavar="NAME",
    help="Last part of the submission's name; random by default; the same files find it again.",
)
@click.option("--title", metavar="TEXT", default="", help="Title on the leaderboard.")
@click.option(
    "--seal/--no-seal",
    default=True,
    show_default=True,
    help="Whether these are all detections of the submission.",
)
@click.option(
    "--wait/--no-wait", default=True, show_default=True, help="Whether to wait for the score."
)
@click.option(
    "--check",
    is_flag=True,
    help="Check whether the benchmark would accept these detections, and submit nothing.",
)
@click.option(
    "--allow-empty",
    is_flag=True,
    help="Submit a file without rows: the system found nothing at all.",
)
@click.option(
    "--allow-unknown-labels",
    is_flag=True,
    help="Submit a file without any label of the benchmark: its evaluators ignore labels.",
)
@strict_option("submitted")
@server_options()
@format_option("table", "json", "csv")
@output_option()
@view_options()
@all_faults_option()
def submit(**choices: Any) -> None:
    """Submit detections in files to a hosted benchmark, and wait for the score.

    After an interruption, repeat the command: frames that the server has are not sent again. A
    refused file leaves nothing and uses no quota. The exit code is 5 if the submission fails or is
    cancelled.
    """
    typed = FileSubmission(**choices)
    check_output(typed.output)
    check_format_name(typed.input_format)
    with ProgressBar() as bar, open_client(typed.server) as client:
        bar.stage("reading")
        detections = _read(client, typed)
        bar.stage("checking")
        if not typed.allow_unknown_labels:
            refuse_unknown_labels(client, typed.benchmark, detections, typed.detections)
        if typed.check:
            _check(client, typed, detections)
            return
        if typed.strict:
            _checked(client, typed, detections)
        bar.stage("uploading")
        submission = _upload(client, typed, detections, bar)
        told = submission.warnings
        say_warnings(submission.warnings)
        name, title = short_names(submission.name), submission.title
        if typed.title not in {"", title}:
            say(f"Warning: {name} was begun before and keeps its title {title!r}", err=True)
        if not (typed.seal and typed.wait):
            say(f"{name}: {counted(submission.frame_count, 'frame is', 'frames are')} safe")
            _say(f"waits for {submission_waits_for(submission)}", submission.due_reason)
            return
        submission = wait_for_score(client, submission, bar)
        say_warnings(submission.warnings, told)
        outcome, lines = look_up(client, submission), standing(client, submission)
    view = View(sequences=typed.sequences, curves=typed.curves)
    write_outcome(outcome, Presentation(typed.format_, typed.output, view))
    for line in lines:
        say(line, err=True)


def _read(client: Client, typed: FileSubmission) -> Annotations:
    """The detections of the files, with their frames in a fixed order.

    Raises:
        InputRefusedError: If there is no frame, without ``--allow-empty``.
    """
    from vidscore_evaluators.annotations import Side, with_arity
    from vidscore_evaluators.formats import read_source
    from vidscore_evaluators.preparation import scaled
    from vidscore_evaluators.submitting import (
        rank_by_confidence,
        refuse_image_names,
        submitted_order,
    )

    evaluators = evaluator_names(client, typed.benchmark)
    format_name = format_for(evaluators, typed.input_format)
    path = data_path(typed.detections)
    source = read_source(
        path,
        Side.DETECTIONS,
        format_name=format_name,
        image_size=typed.image_size,
        scaled=typed.confidence_scale is not None,
    )
    refuse_image_names(source)
    ranked = rank_by_confidence(evaluators)
    warnings = show_source_warnings(source, Side.DETECTIONS, ranked=ranked)
    if typed.strict:
        refuse_count(sum(not warning.is_note for warning in warnings), "submitted")
    if source.annotations.frame_count:
        detections = scaled(source, typed.confidence_scale).annotations
        if not detections.object_count:
            arity = detection_arity(client.benchmarks.get(typed.benchmark))
            detections = with_arity(detections, arity)
        return detections.take_frames(submitted_order(detections))
    empty = _empty_frames(client.benchmarks.get(typed.benchmark), typed.detections)
    if not typed.allow_empty:
        raise InputRefusedError(
            f"{typed.detections}: found no row; if the system found nothing at all, say so with "
            "--allow-empty"
        )
    return empty


def _empty_frames(benchmark: Benchmark, file: str) -> Annotations:
    """One empty frame of each video that the specification names, so that each video counts.

    It is the first one if the specification lists the frames, otherwise frame 1.

    Raises:
        InputRefusedError: If the specification names no video.
    """
    import numpy as np

    from vidscore_evaluators.annotations import frame_list
    from vidscore_evaluators.specification import spec_from_dict

    known = {key: benchmark.definition[key] for key in _LISTS if key in benchmark.definition}
    first_frames = {
        sequence.key: sequence.evaluated_frames.ranges[0][0]
        if sequence.evaluated_frames is not None and sequence.evaluated_frames.ranges
        else ANY_FRAME
        for sequence in spec_from_dict(known).sequences
    }
    if not first_frames:
        raise InputRefusedError(
            f"{file}: found no row; the specification of {short_names(benchmark.name)} names no "
            "sequences of which empty frames could be sent, so list the frames without "
            "detections, as JSON lines do, or CSV with empty coordinates"
        )
    keys, numbers = tuple(first_frames), np.array(list(first_frames.values()), dtype=np.int64)
    return frame_list(keys, np.arange(len(keys)), numbers, detection_arity(benchmark))


def _checked(client: Client, typed: FileSubmission, detections: Annotations) -> DetectionsCheck:
    """Let the benchmark check the detections without submitting them; show its warnings.

    Raises:
        WarningsRefusedError: If there are warnings, and ``--strict`` is set.
    """
    from vidscore_client import VidscoreError

    try:
        checked = client.submissions.check(typed.benchmark, [to_frames(detections)])
    except VidscoreError as error:
        error.add_note("Nothing was submitted.")
        raise
    for warning in checked.warnings:
        say(f"Warning: {escape_controls(warning)}", err=True)
    if typed.strict:
        refuse_count(len(checked.warnings), "submitted")
    return checked


def _check(client: Client, typed: FileSubmission, detections: Annotations) -> None:
    """Say whether the benchmark would accept detections."""
    from vidscore_evaluators.errors import InputError

    checked = _checked(client, typed, detections)
    if faults := string_faults(typed.title, "title"):
        raise InputError(faults)
    if typed.name:
        _check_name(client, within(typed.benchmark, typed.name), detections)
    found = client.benchmarks.get(typed.benchmark)
    say(
        f"{found.name} would accept {typed.detections}: {counted(checked.frame_count, 'frame')}, "
        f"{counted(detections.object_count, 'detection')}; nothing was submitted"
    )
    _say(f"submissions left: {quotas_left(found)}", quotas_left(found))
    _say(f"it would wait for {benchmark_waits_for(found)}", benchmark_waits_for(found))


def _check_name(client: Client, name: str, detections: Annotations) -> None:
    """Check that the named submission is new or open, or has the same detections.

    Raises:
        InputRefusedError: If it takes no more frames, and has other detections.
    """
    from vidscore_client import NotFoundError, SubmissionState
    from vidscore_evaluators.submitting import submitted_stream

    with suppress(NotFoundError):
        if client.submissions.get(name).state not in {
            SubmissionState.OPEN,
            SubmissionState.RECEIVING,
        }:
            _sent_before(client, name, submitted_stream(detections), detections.frame_count)


def _say(text: str, wanted: object) -> None:
    """Write a text to standard error, if its part is not empty."""
    if wanted:
        say(text, err=True)


def _upload(
    client: Client,
    typed: FileSubmission,
    detections: Annotations,
    bar: ProgressBar,
) -> Submission:
    from vidscore_client import Delivery, SubmissionEndedError
    from vidscore_evaluators.submitting import submitted_stream

    stream_name = submitted_stream(detections)
    submission = typed.name or _begun_before(client, typed.benchmark, stream_name)
    total = detections.frame_count
    delivery = Delivery(on_acknowledged=lambda count: bar.advance(count, total))
    try:
        stream = client.submit(
            typed.benchmark,
            submission,
            stream=stream_name,
            title=typed.title,
            replay=True,
            delivery=delivery,
        )
    except SubmissionEndedError:
        name = within(typed.benchmark, submission or "")
        return _sent_before(client, name, stream_name, total)
    except _refusals() as error:
        error.add_note("Nothing was submitted.")
        raise
    name = short_names(stream.submission)
    try:
        with stream, told_while_waiting(stream, bar.say):
            stream.send_batch(to_frames(detections))
            if typed.seal:
                return seal(client, stream, bar.say)
            stream.flush()
    except _refusals() as error:
        error.add_note(_what_is_left(client, name, stream_name, error, whole=typed.seal))
        raise
    return client.submissions.get(stream.submission)


def _begun_before(client: Client, benchmark: str, stream_name: str) -> str | None:
    """The team's unnamed submission that has exactly these detections; None if there is none.

    Its stream, which nobody else sees, identifies it. A name derived from the detections would tell
    anyone who guesses them that they were submitted, so the server chooses a random one.
    """
    from vidscore_client import SubmissionState

    token = client.server().token
    team = (token.team if token else "") or ORGANISERS_TEAM
    for found in client.submissions.list(benchmark):
        chosen_by_chance = _BY_CHANCE.fullmatch(found.submission) and found.team == team
        given_up = found.state is SubmissionState.CANCELLED
        if chosen_by_chance and not given_up and found.stream(stream_name) is not None:
            return found.submission
    return None


def _what_is_left(
    client: Client, name: str, stream_name: str, error: Exception, *, whole: bool
) -> str:
    """What a refused upload has left on the server, and advice.

    A submission is cancelled if it has no frames, or nothing but those of a whole upload.

    Args:
        client: The client.
        name: The submission.
        stream_name: The stream of the upload.
        error: Why it was refused.
        whole: Whether the upload was to be the whole submission.
    """
    from vidscore_client import ConflictError, SupersededError, VidscoreError

    if isinstance(error, SupersededError):
        return f"{name} is not cancelled: another program now sends the same files to it."
    try:
        found = client.submissions.get(name)
    except VidscoreError:
        return f"See vidscore submission show {name} for what was stored before."
    if not found.frame_count:
        client.submissions.cancel(name)
        left = "Nothing was submitted and no quota is used"
        is_file = not isinstance(error, ConflictError)
        return f"{left}; correct the file and submit it again." if is_file else f"{left}."
    stream = found.stream(stream_name)
    if whole and stream is not None and stream.next_offset == found.frame_count:
        client.submissions.cancel(name)
        return (
            f"{name} had stored {counted(found.frame_count, 'frame')} before; it is cancelled and "
            "uses no quota. Correct the file and submit it again under another --name."
        )
    return (
        f"{name} has {counted(found.frame_count, 'frame')} and waits for "
        f"{submission_waits_for(found)}. "
        f"Send the rest, or cancel it with vidscore submission cancel {name}"
    )


def _sent_before(client: Client, name: str, stream_name: str, total: int) -> Submission:
    """A submission that takes no more frames, if these are all in it.

    Raises:
        InputRefusedError: If they are not.
    """
    submission = client.submissions.get(name)
    stream = submission.stream(stream_name)
    if stream is None or stream.next_offset != total:
        raise InputRefusedError(
            f"{short_names(submission.name)} is {submission.state} with other detections; "
            "choose another --name for these"
        )
    return submission


def _refusals() -> tuple[type[Exception], ...]:
    """Errors after which the same upload would be refused again."""
    from vidscore_client import ConflictError, InputError, InvalidArgumentError, LimitExceededError

    return (InputError, InvalidArgumentError, LimitExceededError, ConflictError)
