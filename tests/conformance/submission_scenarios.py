"""Scenarios of hosted benchmarks in which nothing breaks."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path

from tests.conformance.cases import POINTS, STREETS, Document, frame, thing
from tests.conformance.comparing import ascending, equal, hold, same_error
from tests.conformance.runners import KILLED
from tests.conformance.site import wait_until
from tests.conformance.stage import BENCHMARK, BOARD, SCARCE, Stage, nightly, scenario


@scenario
def submit(stage: Stage) -> None:
    """A submission is durable, sealed and scored, with the scores of every other client."""
    stage.check_scored(stage.runner.run("submit", **stage.submitting).result())


@scenario
def submit_by_single_calls(stage: Stage) -> None:
    """One unary call per batch gives the same scores."""
    options = {**stage.submitting, "unary": True, "batch_frames": 16}
    stage.check_scored(stage.runner.run("submit", **options).result())


@nightly
@scenario
def submit_tiny_batches(stage: Stage) -> None:
    """Batches of one frame, a window of two and a queue of four give the same scores."""
    options = {**stage.submitting, "batch_frames": 1, "window_frames": 2, "queue_frames": 4}
    result = stage.runner.run("submit", **options).result()
    stage.check_scored(result)
    hold(len(result["acknowledged"]) > 1, f"acknowledged at once: {result['acknowledged']}")


@scenario
def process_death(stage: Stage) -> None:
    """A restarted process continues by name where it was, and sends no durable frame twice."""
    # Unacknowledged frames keep the rest waiting, so that there is a rest when it dies.
    pace = {"batch_frames": 5, "window_frames": 5, "rate_hz": 100}
    dying = stage.runner.run("submit", **stage.submitting, **pace, die_after_acknowledged=30)
    hold(dying.code in KILLED, f"ended with {dying.code} in place of dying: {dying.said}")
    hold(stage.frame_count() >= 30, "acknowledged frames are not there")
    again = stage.runner.run("submit", **stage.submitting, replay=True).result()
    stage.check_scored(again, opened_offset=30)


@scenario
def superseded(stage: Stage) -> None:
    """A writer whose stream a newer one opens stops, and says why."""
    pace = {"batch_frames": 2, "batch_interval_s": 0.02, "rate_hz": 20}
    first = stage.runner.start("submit", **stage.submitting, **pace)
    try:
        wait_until(lambda: stage.frame_count() >= 4 or not first.running, "the first frames")
        with stage.team() as client:
            client.submit(BENCHMARK, stage.name).abort()
    except BaseException:
        first.end()
        raise
    error = first.wait().refusal("superseded")["error"]
    equal([error["code"], error["reason"]], ["ABORTED", "EPOCH_STALE"], "code and reason")


@scenario
def quota_exceeded(stage: Stage) -> None:
    """A team whose quota is used up gets the same error as in Python."""
    more = {"benchmark": SCARCE, "frames": POINTS.frames_file}
    _refused_as_in_python(stage, "quota_exceeded", submission="one-more", **more)


@scenario
def refused_append(stage: Stage) -> None:
    """A frame that breaks the rules ends the stream with its violations, as in Python."""
    more = {"frames": _wrong_frames(stage)}
    found = _refused_as_in_python(stage, "invalid_argument", submission="wrong", **more)
    hold(found["error"]["violations"], "no violation is named")


@scenario
def title_after_a_refusal(stage: Stage) -> None:
    """A submission whose frames were first refused has the title of the next attempt."""
    more = {"frames": _wrong_frames(stage), "title": "A mistake"}
    stage.runner.run("submit", **{**stage.submitting, **more}).refusal("invalid_argument")
    again = stage.runner.run("submit", **stage.submitting, title="The system", no_seal=True)
    found = stage.runner.run("get", **stage.at_site, submission=again.result()["submission"])
    equal(found.result()["submission"]["title"], "The system", "title")


@scenario
def submit_after_sealing(stage: Stage) -> None:
    """A sealed submission accepts no more frames, as in Python."""
    _refused_as_in_python(stage, "submission_ended", submission="reference")


@scenario
def no_such_benchmark(stage: Stage) -> None:
    """A missing benchmark is not found, as in Python."""
    _refused_as_in_python(stage, "not_found", submission="one", benchmark="nowhere")


@scenario
def other_submission(stage: Stage) -> None:
    """A name that is no last part of a submission's name is refused as it was given."""
    for name in ("east/first", "benchmarks/streets/submissions/first"):
        options = {**stage.submitting, "submission": name}
        error = stage.runner.run("submit", **options).refusal("input")["error"]
        quoted = error["message"].replace("'", '"')
        expected = f'submission: found "{name}", expected a name like {{submission}}'
        equal(quoted, expected, "message")


@scenario
def get_and_cancel(stage: Stage) -> None:
    """An open submission is shown as it is, and can be cancelled."""
    options = {**stage.submitting, "no_seal": True}
    result = stage.runner.run("submit", **options).result()
    equal(result["state"], "receiving", "state")
    frame_count = result["frame_count"]
    equal(frame_count, len(STREETS.document["detections"]), "frame_count")
    expected = {
        "name": result["submission"],
        "team": "falcon",
        "title": "",
        "state": "receiving",
        "state_reason": "frames_received",
        "frame_count": frame_count,
        "streams": [{"stream": "default", "epoch": 1, "next_offset": frame_count}],
        "warnings": [],
    }
    asking = {**stage.at_site, "submission": result["submission"]}
    equal(stage.runner.run("get", **asking).result(), {"submission": expected}, "get")
    cancelled = stage.runner.run("cancel", **asking).result()
    equal(cancelled["submission"]["state"], "cancelled", "state")
    equal(stage.runner.run("get", **asking).result(), cancelled, "get")


@scenario
def warnings(stage: Stage) -> None:
    """A submission says which of its labels the benchmark does not have, as in Python."""
    document = deepcopy(STREETS.document)
    document["detections"] = [frame("street-0", 0, thing(1.0, 1.0, 9.0, 9.0, label="cra"))]
    frames = stage.reference.write_frames("other-label", document)
    made = stage.runner.run("submit", **{**stage.submitting, "frames": frames}).result()
    asking = {**stage.at_site, "submission": made["submission"]}
    found = stage.runner.run("get", **asking).result()
    equal(found, stage.reference.run("get", **asking).result(), "get")
    hold("cra" in "".join(found["submission"]["warnings"]), "no warning names the label")


@scenario
def watch(stage: Stage) -> None:
    """A watched submission is followed to its end."""
    with stage.team() as client:
        client.submissions.create(BENCHMARK, stage.name)
        asking = {**stage.at_site, "submission": f"benchmarks/{BENCHMARK}/submissions/{stage.name}"}
        watching = stage.runner.start("watch", **asking, until_ended=True)
        client.submissions.cancel(f"{BENCHMARK}/{stage.name}")
    found = watching.wait().result()
    equal(found["state"], "cancelled", "state")
    equal(found["updates"][-1]["state"], "cancelled", "last update")
    ascending([update["revision"] for update in found["updates"]], "revisions")


@scenario
def leaderboard(stage: Stage) -> None:
    """The board has the ranks of equal scores, teams and values, as in Python."""
    options = {**stage.at_site, "benchmark": BOARD}
    found = stage.runner.run("leaderboard", **options).result()["rows"]
    expected = stage.reference.run("leaderboard", **options).result()["rows"]
    equal(found, expected, "rows")
    equal([row["rank"] for row in found], [1, 1], "ranks")


def _wrong_frames(stage: Stage) -> Path:
    """A file of one frame that breaks the rules."""
    document = deepcopy(STREETS.document)
    document["detections"] = document["detections"][:1]
    document["detections"][0]["objects"][0]["confidence"] = 1.5
    return stage.reference.write_frames("wrong", document)


def _refused_as_in_python(stage: Stage, kind: str, **more: object) -> Document:
    options = {**stage.submitting, **more}
    found = stage.runner.run("submit", **options).refusal(kind)
    same_error(found, stage.reference.run("submit", **options).refusal(kind))
    return found
