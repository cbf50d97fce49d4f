"""What a participant can learn about hidden truth: only what the Ladder releases.

Truth has objects at coordinates that occur nowhere else. A participant makes every possible
request, frame by frame, valid and invalid. Then every answer, log line and error is searched for
the coordinates, and answers about frames with truth are compared with answers about frames without.
"""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Awaitable, Iterator
from typing import Any

import grpc
import pytest
from google.longrunning import operations_pb2
from google.protobuf.message import Message
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, append, dots, refusal, values
from tests.server.domain.streets import streets, things
from tests.server.domain.test_trust import document_of, examine, reason_of, waited
from tests.server.scene import points

from vidscore_evaluators.fingerprint import fingerprint
from vidscore_protos.v1 import (
    benchmark_pb2,
    organiser_pb2,
    submission_service_pb2,
)
from vidscore_protos.v1.backup_pb2 import ExportBackupRequest, ImportBackupRequest
from vidscore_protos.v1.benchmark_service_pb2 import GetLeaderboardResponse
from vidscore_protos.v1.server_service_pb2 import GetServerRequest
from vidscore_protos.v1.server_service_pb2_grpc import ServerServiceStub
from vidscore_server.api.batches import read_batch
from vidscore_server.domain.batches import BatchRules
from vidscore_server.logs import LOGGER_NAME, JsonFormatter
from vidscore_server.settings import Settings

pb = submission_service_pb2

PLANTED = (123.4567, 234.5678)
SECRET_TRUTH = points({1: [PLANTED], 2: [], 3: [PLANTED, (345.6789, 111.2223)]}, "with")
FRAMES = range(1, 6)


@pytest.fixture
def log_lines() -> Iterator[io.StringIO]:
    """Everything that the server logs, at every level."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(JsonFormatter())
    logger = logging.getLogger(LOGGER_NAME)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield stream
    logger.removeHandler(handler)
    logger.setLevel(level)


async def _everything_seen(client: Client, submissions: list[str]) -> list[Message]:
    """The answers to all read calls of a participant."""
    seen: list[Message] = [await client.board(), await client.benchmark()]
    server: Any = ServerServiceStub(client.channel)
    seen.append(await server.GetServer(GetServerRequest(), metadata=client.metadata))
    for name in submissions:
        seen.append(await client.get(name))
        seen.extend(await client.scores(name))
    return seen


def _without_names(message: Message) -> str:
    """A message's text without times, names and revisions, which differ from call to call."""
    text = re.sub(r'name: "[^"]*"|title: "[^"]*"|revision: \d+|stream: "[^"]*"', "", str(message))
    return re.sub(r"\w*_time \{[^}]*\}", "", text)


async def test_appends_get_the_same_answers_whether_a_frame_has_truth_or_not(
    hosted: Hosted,
) -> None:
    """If sequences are not public, answers do not show whether a sequence has truth either."""
    await hosted.organiser.create_benchmark(public=[])
    await hosted.organiser.upload(SECRET_TRUTH)
    answers: dict[str, list[object]] = {}
    for sequence in ("with", "without"):
        stream = await hosted.red.submission(sequence)
        answers[sequence] = [
            await hosted.red.append(stream, number - 1, points({number: [(1.0, 2.0)]}, sequence))
            for number in FRAMES
        ]
        answers[sequence].append(
            (await refusal(hosted.red.append(stream, 9, points({1: [PLANTED]}, sequence)))).message
        )
        answers[sequence].append(_without_names(await hosted.red.seal(sequence)))
    assert answers["with"] == answers["without"]


async def test_the_wait_for_incomplete_truth_does_not_show_which_frames_have_truth(
    hosted: Hosted,
) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(SECRET_TRUTH, complete=False)
    found = []
    for sequence in ("with", "without"):
        await hosted.red.submit(points({1: [(1.0, 2.0)]}, sequence), sequence)
        await hosted.hosting.work()
        await hosted.hosting.scheduler.finish()
        found.append(_without_names(await hosted.red.get(sequence)))
    assert found[0] == found[1]
    assert "WAITING_FOR_TRUTH" in found[0]


def _uncounted(board: GetLeaderboardResponse) -> GetLeaderboardResponse:
    """A board without the number of submissions per team, which it shows for all of them."""
    board.submission_count = board.most_submissions = 0
    for row in board.rows:
        row.submission_count = 0
    return board


@pytest.mark.slow
async def test_frame_by_frame_submissions_show_only_improvements_by_a_step(
    hosted: Hosted, log_lines: io.StringIO
) -> None:
    """A one-frame submission on a hit, on a miss and on a frame without truth look alike."""
    await hosted.organiser.create_benchmark(ladder_step=0.5, public=[])
    many = {number: [PLANTED] for number in FRAMES}
    truth = [points(many, f"s{row}") for row in range(8)]
    await hosted.organiser.upload(*truth, SECRET_TRUTH)
    await hosted.red.submit(points({1: []}, "s0"), "base")
    ended = await hosted.red.ended("base")
    found = {"base": _without_names(ended) + _without_names(_uncounted(await hosted.red.board()))}
    [base] = await hosted.red.scores("base")
    probes = {
        "hit": points({1: [PLANTED]}, "with"),
        "miss": points({1: [(600.0, 400.0)]}, "with"),
        "empty": points({2: [(600.0, 400.0)]}, "with"),
        "unlisted": points({5: [(600.0, 400.0)]}, "with"),
        "unknown": points({1: [(600.0, 400.0)]}, "nowhere"),
    }
    for name, probe in probes.items():
        await hosted.red.submit(probe, name)
        ended = await hosted.red.ended(name)
        found[name] = _without_names(ended) + _without_names(_uncounted(await hosted.red.board()))
        assert values((await hosted.red.scores(name))[0].report) == values(base.report)
    assert len(set(found.values())) == 1
    _refuse_planted(log_lines.getvalue())


@pytest.mark.parametrize("visibility", ["LADDER", "FINAL"])
async def test_no_answer_log_line_or_error_contains_or_reveals_truth(
    hosted: Hosted, log_lines: io.StringIO, visibility: str
) -> None:
    kind = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    await hosted.organiser.create_benchmark(visibility=kind)
    await hosted.organiser.upload(SECRET_TRUTH)
    detections = points({1: [(120.0, 230.0)], 2: [], 5: [(9.0, 9.0)]}, "with")
    await hosted.red.submit(detections)
    texts = [str(await hosted.red.ended())]
    texts += [str(message) for message in await _everything_seen(hosted.red, ["one"])]
    parts = [hosted.red.board(domain=""), hosted.red.board(label="")]
    for call in (*parts, *_forbidden(hosted.red)):
        texts.append((await refusal(call)).message)
    texts.append(log_lines.getvalue())
    for text in texts:
        _refuse_planted(text)
    [score] = await hosted.red.scores()
    assert {entry.measure for entry in score.report.scores} == {"f1", "mse"}
    assert not score.report.curves
    assert not score.report.warnings
    assert (score.report.truth_digest, score.report.detections_digest) == ("", "")
    assert score.truth_revision == 0
    assert all(not entry.HasField("sequence") for entry in score.report.scores)


@pytest.mark.parametrize("visibility", ["LADDER", "FINAL"])
async def test_a_participant_sees_no_name_that_is_not_public(
    hosted: Hosted, log_lines: io.StringIO, visibility: str
) -> None:
    """Neither names of the truth nor those of the specification."""
    message = streets(labels=["hiddenlabel", "listedlabel"], sequences={"hiddenstreet": 5})
    message.policy.visibility = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    await hosted.organiser.create(message, public=[])
    await hosted.organiser.upload(things({0: ["hiddenlabel"], 1: ["truthlabel"]}, "hiddenstreet"))
    seen = [
        await hosted.red.append(await hosted.red.submission(), 0, things({0: ["zebra"]}, "road"))
    ]
    await hosted.red.seal()
    texts = [str(message) for message in [*seen, await hosted.red.ended()]]
    texts += [str(message) for message in await _everything_seen(hosted.red, ["one"])]
    for part in ("hiddenlabel", "zebra"):
        texts.append((await refusal(hosted.red.board(label=part))).message)
    for call in (hosted.red.board(domain=""), *_forbidden(hosted.red)):
        texts.append((await refusal(call)).message)
    [score] = await hosted.red.scores()
    assert not any(entry.HasField("label") for entry in score.report.scores)
    for text in (*texts, log_lines.getvalue()):
        for name in ("hiddenlabel", "listedlabel", "truthlabel", "hiddenstreet"):
            assert name not in text
    whole = await hosted.organiser.benchmark()
    assert whole.benchmark.specification == message.specification


@pytest.mark.slow
async def test_only_organisers_may_analyse_trust_and_they_see_ranks_but_no_truth(
    hosted: Hosted, log_lines: io.StringIO
) -> None:
    """With noise on the truth; if the data is unusable, the error does not quote it."""
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(SECRET_TRUTH)
    for name in ("one", "two"):
        await hosted.red.submit(points({1: [(120.0, 230.0)], 2: []}, "with"), name)
        await hosted.red.ended(name)
    for client in (hosted.red, hosted.viewer):
        assert (await refusal(examine(client))).code is grpc.StatusCode.PERMISSION_DENIED
    begun = await examine(hosted.organiser, questions={"noise_px": 2.0, "trials": 3})
    watched = operations_pb2.GetOperationRequest(name=begun.name)
    look = hosted.red.operations.GetOperation(watched, metadata=hosted.red.metadata)
    assert (await refusal(look)).code is grpc.StatusCode.PERMISSION_DENIED
    found = await waited(hosted.organiser, begun.name)
    tracked = [{"name": "clear", "parameters": [{"name": "base", "text": "euclidean"}]}]
    begun = await examine(hosted.organiser, evaluators=tracked)
    failed = await waited(hosted.organiser, begun.name)
    assert reason_of(failed) == "INVALID_INPUT"
    for text in (f"found {document_of(found)}", str(failed), log_lines.getvalue()):
        _refuse_planted(text)


async def test_digests_that_participants_see_cannot_be_computed_from_a_guess(
    hosted: Hosted,
) -> None:
    live = benchmark_pb2.VISIBILITY_LIVE
    await hosted.organiser.create_benchmark(visibility=live)
    await hosted.organiser.upload(SECRET_TRUTH)
    await hosted.red.submit(points({1: []}, "with"))
    await hosted.red.ended()
    plain = str(fingerprint(read_batch(SECRET_TRUTH, "", BatchRules(2, Settings()))))
    shown = "".join(str(message) for message in await _everything_seen(hosted.red, ["one"]))
    assert "truth_digest" in shown
    assert plain not in shown


async def test_participants_do_not_see_which_frames_are_evaluated(hosted: Hosted) -> None:
    message = dots()
    sequence = message.specification.sequences.add(name="with", frame_count=5)
    sequence.frames.ranges.add(first=1, last=3)
    sequence.dont_care_frames.add(first=2, last=2)
    request = organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=message)
    await hosted.organiser.benchmarks.CreateBenchmark(request, metadata=hosted.organiser.metadata)
    await hosted.organiser.upload(SECRET_TRUTH)
    await hosted.red.submit(points({1: []}, "with"))
    await hosted.red.ended()
    for seen in await _everything_seen(hosted.red, ["one"]):
        assert "ranges" not in str(seen)
        assert "dont_care" not in str(seen)
    whole = await hosted.organiser.benchmark()
    assert whole.benchmark.specification == message.specification


@pytest.mark.slow
@pytest.mark.parametrize("visibility", ["LADDER", "FINAL"])
async def test_only_organisers_see_warnings_about_a_submission(
    hosted: Hosted, visibility: str
) -> None:
    """A warning names a frame without truth and says that it has objects: not for participants."""
    wanted = benchmark_pb2.Visibility.Value(f"VISIBILITY_{visibility}")
    await hosted.organiser.create_benchmark(visibility=wanted)
    await hosted.organiser.upload(SECRET_TRUTH)
    await hosted.red.submit(points({4: [(1.0, 2.0)]}, "with"), "beside")
    await hosted.red.submit(points({1: []}, "with"), "empty")
    for name, code in (("beside", "unevaluated_detections"), ("empty", "no_detections")):
        await hosted.red.ended(name)
        [score] = await hosted.organiser.scores(name)
        assert re.findall(r'code: "(\w+)"', str(score)) == [code]
    for seen in await _everything_seen(hosted.red, ["beside", "empty"]):
        assert "warning" not in str(seen)
        assert "unevaluated" not in str(seen)


async def test_a_team_does_not_learn_of_anothers_submissions(hosted: Hosted) -> None:
    await hosted.organiser.create_benchmark()
    await hosted.organiser.upload(SECRET_TRUTH)
    stream = await hosted.red.submission("secret")
    await hosted.red.append(stream, 0, points({1: [(1.0, 2.0)]}, "with"))
    name = f"{BENCHMARK}/submissions/secret"
    blue = hosted.blue
    absent = (await refusal(blue.get("nothing"))).message.replace("nothing", "secret")
    calls: list[Awaitable[Any]] = [
        blue.get("secret"),
        blue.scores("secret"),
        blue.seal("secret"),
        blue.open(name),
        blue.append(stream, 1, points({2: []}, "with")),
        blue.stream([append(stream, 1, points({2: []}, "with"))]),
        blue.ended("secret"),
        blue.submissions.CancelSubmission(
            pb.CancelSubmissionRequest(name=name), metadata=blue.metadata
        ),
    ]
    for call in calls:
        found = await refusal(call)
        assert found.code is grpc.StatusCode.NOT_FOUND
        assert found.message == absent
    listed = await blue.submissions.ListSubmissions(
        pb.ListSubmissionsRequest(benchmark=BENCHMARK), metadata=blue.metadata
    )
    assert not listed.submissions
    await hosted.red.seal("secret")
    await hosted.red.ended("secret")
    [row] = (await blue.board()).rows
    assert (row.team, row.submission) == ("red", "")


def _forbidden(client: Client) -> list[Awaitable[Any]]:
    """Calls of a participant that are refused: invalid, too early, or not allowed."""
    bad = points({1: [(float("nan"), 1.0)]}, "with")
    server: Any = ServerServiceStub(client.channel)
    return [
        server.ExportBackup(ExportBackupRequest(), metadata=client.metadata).read(),
        server.ImportBackup(iter([ImportBackupRequest()]), metadata=client.metadata),
        client.board(evaluator="map"),
        client.append(f"{BENCHMARK}/submissions/one/streams/default", 0, bad),
        client.append(f"{BENCHMARK}/submissions/one/streams/default", 3, points({3: []}, "with")),
        client.seal(frames=99),
        client.upload(points({1: []}, "with")),
        client.benchmarks.ListTruthRevisions(
            organiser_pb2.ListTruthRevisionsRequest(benchmark=BENCHMARK),
            metadata=client.metadata,
        ),
    ]


def _refuse_planted(text: str) -> None:
    # Durations, ports, digests, and ids of calls and tokens may contain such a number by chance.
    text = re.sub(r'"duration_ms": [\d.]+|"peer": "[^"]+"|"call_id": "\w+"', '"left out": 0', text)
    text = re.sub(r'tokens/[0-9a-f]{16}|truth_digest: "\w+"', "", text)
    text = re.sub(r"_time \{[^}]*\}|time \{[^}]*\}", "", text)
    for number in (*PLANTED, 345.6789, 111.2223):
        for digits in (str(number), f"{number:.2f}", str(int(number))):
            assert re.search(rf"(?<![\d.]){re.escape(digits)}(?!\d)", text) is None, digits
    for line in text.splitlines():
        if line.startswith("{"):
            assert json.loads(line)["level"] in {"info", "debug"}
