"""Scenarios with faults that a real server shows too seldom: a scripted server plays them."""

from __future__ import annotations

from typing import Any

import grpc
from tests.clients.python.fake_submissions import (
    NAME,
    FakeSubmissions,
    frames_of,
    lose_the_connection,
    refuse,
    refusing,
    taking_submissions,
)
from tests.conformance.cases import STREETS, Document
from tests.conformance.comparing import equal, hold
from tests.conformance.runners import Started
from tests.conformance.site import WAIT_S, wait_until
from tests.conformance.stage import Stage, scenario

from vidscore_client import __version__
from vidscore_protos.v1 import submission_service_pb2 as pb

FRAMES = [(entry["sequence"], entry["frame"]) for entry in STREETS.document["detections"]]

SMALL_BATCHES: dict[str, Any] = {
    "batch_frames": 10,
    "retry_initial_s": 0.05,
    "retry_maximum_s": 0.2,
}


@scenario
def acknowledgement_lost(stage: Stage) -> None:
    """Frames that are durable, but not known to be, are neither lost nor stored twice."""
    with taking_submissions() as fake:
        fake.faults.after = [None, lose_the_connection, None, lose_the_connection]
        check_sent(fake, sending(stage, fake).wait().result())


@scenario
def rewind(stage: Stage) -> None:
    """OUT_OF_RANGE from a server that is behind sends the client back to the server's offset."""

    def fall_behind(append: pb.AppendRequest, context: grpc.ServicerContext) -> None:
        with fake.lock:
            del fake.stored[append.offset :]
            del fake.batches[append.offset]
        facts = {"next_offset": str(append.offset)}
        refuse(context, grpc.StatusCode.OUT_OF_RANGE, "OFFSET_GAP", **facts)

    with taking_submissions() as fake:
        fake.faults.after = [None, None, fall_behind, None, fall_behind]
        check_sent(fake, sending(stage, fake).wait().result())


@scenario
def half_a_batch(stage: Stage) -> None:
    """A server that has a part of a batch gets the rest, from its own offset on."""

    def take_half(append: pb.AppendRequest, context: grpc.ServicerContext) -> None:
        with fake.lock:
            fake.stored += frames_of(append.detections)[:5]
        lose_the_connection(append, context)

    with taking_submissions() as fake:
        fake.faults.before = [None, take_half]
        check_sent(fake, sending(stage, fake).wait().result())


@scenario
def silent_server(stage: Stage) -> None:
    """A server that acknowledges nothing for too long counts as a broken connection."""
    with taking_submissions() as fake:
        fake.faults.before = [None, _say_nothing]
        check_sent(fake, sending(stage, fake, acknowledge_timeout_s=0.5).wait().result())


@scenario
def gives_up(stage: Stage) -> None:
    """A client whose server stays away raises the last error when its retry time is over."""
    with taking_submissions() as fake:
        live = sending(stage, fake, give_up_after_s=0.5, rate_hz=50)
        try:
            wait_until(lambda: fake.stored or not live.running, "the first frames")
            fake.stop()
            found = live.wait().refusal("unavailable")
        finally:
            live.end()
    equal(found["error"]["retryable"], True, "retryable")


@scenario
def back_pressure(stage: Stage) -> None:
    """A full queue raises at once, or after the caller's timeout."""
    tight = {"batch_frames": 1, "window_frames": 1, "queue_frames": 3, "acknowledge_timeout_s": 600}
    for policy in ({"policy": "raise"}, {"policy": "block", "block_timeout_s": 0.3}):
        with taking_submissions() as fake:
            fake.go_on.clear()
            error = sending(stage, fake, **{**tight, **policy}).wait().refusal("back_pressure")
            fake.go_on.set()
        equal(error["error"]["reason"], "BACK_PRESSURE", "reason")


@scenario
def server_refuses_for_good(stage: Stage) -> None:
    """An error that no retry cures is raised, and not retried."""
    with taking_submissions() as fake:
        fake.faults.before = [
            None,
            refusing(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED"),
        ]
        error = sending(stage, fake, window_frames=10).wait().refusal("limit_exceeded")["error"]
    equal(error["reason"], "LIMIT_EXCEEDED", "reason")
    equal([offset for offset, _ in fake.offsets], [0, 10], "offsets that were sent")


@scenario
def batch_with_too_many_objects(stage: Stage) -> None:
    """A batch over a limit that counts no frames is halved until the server takes it."""

    def refuse_objects(append: pb.AppendRequest, context: grpc.ServicerContext) -> None:
        if len(frames_of(append.detections)) > 2:
            limit = {"limit": "maximum_batch_objects", "maximum": "5"}
            refuse(context, grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT_EXCEEDED", **limit)

    with taking_submissions() as fake:
        fake.faults.before = [None, *[refuse_objects] * len(FRAMES)]
        sent = sending(stage, fake).wait().result()
        fake.faults.before = []
        check_sent(fake, sent)
    sizes = [count for _, (count, _) in sorted(fake.batches.items())]
    equal(sizes[0], 10, "frames of the first batch")
    equal(set(sizes[1:]) - {1, 2}, set(), "frames of the other batches")
    equal(2 in sizes, True, "whether batches are as large as the server takes")


@scenario
def versions(stage: Stage) -> None:
    """A client sends its version with its calls, and refuses a server of an unsupported version."""
    with taking_submissions() as fake:
        fake.refuse_benchmark = (grpc.StatusCode.FAILED_PRECONDITION, "VERSION_UNSUPPORTED")
        error = sending(stage, fake).wait().refusal("version")["error"]
    equal(fake.metadata.get("vidscore-client-version"), __version__, "vidscore-client-version")
    equal(error["reason"], "VERSION_UNSUPPORTED", "reason")


@scenario
def answer_to_sealing_lost(stage: Stage) -> None:
    """A seal whose answer is lost is repeated; sealing twice changes nothing."""
    with taking_submissions() as fake:
        fake.faults.sealing = [lose_the_connection]
        scored = pb.WatchSubmissionResponse(submission=fake.message())
        scored.submission.state = pb.SUBMISSION_STATE_SCORED
        scored.submission.frame_count = len(FRAMES)
        fake.watch_script = [[scored]]
        found = sending(stage, fake, no_seal=False).wait().result()
    equal([found["state"], found["frame_count"]], ["scored", len(FRAMES)], "state and frames")
    equal(fake.expected, len(FRAMES), "expected frame count")
    equal(fake.faults.sealing, [], "faults that did not happen")


@scenario
def watch_goes_on(stage: Stage) -> None:
    """A watch that breaks continues from its known revision."""

    def at(state: pb.SubmissionState, revision: int) -> pb.WatchSubmissionResponse:
        submission = pb.Submission(name=NAME, state=state, frame_count=3, revision=revision)
        return pb.WatchSubmissionResponse(submission=submission)

    with taking_submissions() as fake:
        fake.watch_script = [
            [at(pb.SUBMISSION_STATE_SEALED, 4), None],
            [at(pb.SUBMISSION_STATE_SCORING, 5), at(pb.SUBMISSION_STATE_SCORED, 6)],
        ]
        asking = {"address": fake.target, "submission": NAME, "until_ended": True, "timeout_s": 60}
        found = stage.runner.run("watch", **asking).result()
    updates = [
        {"state": state, "frame_count": 3, "revision": revision}
        for state, revision in (("sealed", 4), ("scoring", 5), ("scored", 6))
    ]
    equal(found, {"updates": updates, "state": "scored"}, "watch")
    equal(fake.watches, [0, 4], "revisions that were asked from")


def sending(stage: Stage, fake: FakeSubmissions, **more: object) -> Started:
    """Send all frames to the scripted server."""
    options: dict[str, Any] = {
        "address": fake.target,
        "timeout_s": 60,  # A busy machine needs time.
        "no_seal": True,
        **SMALL_BATCHES,
        **more,
    }
    return stage.runner.start(
        "submit",
        benchmark="streets",
        submission="run",
        frames=STREETS.frames_file,
        **options,
    )


def check_sent(fake: FakeSubmissions, result: Document) -> None:
    """Every frame arrived once and in order, and every fault happened."""
    hold(fake.stored == FRAMES, f"{len(fake.stored)} frames are stored, in another order")
    equal(fake.faults.before + fake.faults.after, [], "faults that did not happen")
    equal(result["acknowledged_frames"], len(FRAMES), "acknowledged_frames")
    equal({epoch for _, epoch in fake.offsets}, {1}, "epochs")


def _say_nothing(_append: pb.AppendRequest, context: grpc.ServicerContext) -> None:
    """Hold an append until the client has given up on it; it is not stored."""
    let_go = context.is_active
    wait_until(lambda: not let_go(), f"the end of a call within {WAIT_S:g} s")
    context.abort(grpc.StatusCode.CANCELLED, "let go")
