"""The recorded calls of a release: one of every RPC, in a sensible order.

    python -m tests.server.wire.script

records the version in progress to tests/golden/wire. Recordings of earlier versions stay.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from base64 import b64decode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from google.longrunning import operations_pb2
from google.protobuf.duration_pb2 import Duration
from google.protobuf.field_mask_pb2 import FieldMask
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from tests.server.domain.hosted import BENCHMARK, TRUTH, Hosted, append, dots, end_of, hosting
from tests.server.scene import configuration, points
from tests.server.wire.exchange import Exchange, exchange, places, write
from tests.support.sites import forget_site
from tests.support.tree import ROOT

from vidscore_client import __version__
from vidscore_protos.v1 import access_service_pb2 as access
from vidscore_protos.v1 import backup_pb2, benchmark_pb2, organiser_pb2, token_pb2, trust_pb2
from vidscore_protos.v1 import benchmark_service_pb2 as benchmarks
from vidscore_protos.v1 import evaluator_service_pb2 as evaluators
from vidscore_protos.v1 import ranking_service_pb2 as ranking
from vidscore_protos.v1 import scoring_service_pb2 as scoring
from vidscore_protos.v1 import server_service_pb2 as server
from vidscore_protos.v1 import specification_pb2 as specification
from vidscore_protos.v1 import submission_service_pb2 as submissions
from vidscore_protos.v1 import trust_service_pb2 as trust

WIRE = ROOT / "tests/golden/wire"

SUBMISSION = f"{BENCHMARK}/submissions/one"
STREAM = f"{SUBMISSION}/streams/default"
DETECTIONS = points({1: [(10.0, 20.0), (305.0, 200.0)], 2: [(1.0, 2.0)]})
MORE_DETECTIONS = points({3: [(50.5, 60.5)], 4: []})
WRONG = points({1: [(10.0, 20.0)]})
WRONG.confidences.append(1.5)

RECORDINGS = 8
"""Number of recordings: whether a list is sorted by random names shows only in some of them."""

Answers = dict[str, list[Any]]
"""Responses of the last call of each RPC so far, in their JSON form."""

Requests = list[Message] | Callable[[Answers], list[Message]]


@dataclass(frozen=True)
class Call:
    """One call of the script.

    Attributes:
        service: Full name of the service.
        rpc: Name of the RPC.
        requests: The requests, or a function that makes them from the answers so far.
        caller: Whose token is sent.
        last_only: Whether the number of responses is unknown.
    """

    service: str
    rpc: str
    requests: Requests
    caller: str = "organiser"
    last_only: bool = False

    @property
    def method(self) -> str:
        """Full name of the RPC in a call."""
        return f"/{self.service}/{self.rpc}"


def script() -> list[Call]:
    """Every call."""
    return [
        *_without_a_store(),
        *_benchmark(),
        *_submission(),
        *_rescoring(),
        *_access(),
        *_trust(),
        *_ending(),
        Call(
            "vidscore.v1.EvaluatorService",
            "ListPresets",
            [evaluators.ListPresetsRequest(page_size=1)],
            caller="",
        ),
        *_outcomes(),
        *_organising(),
        *_live(),
    ]


def _without_a_store() -> Iterator[Call]:
    def evaluator(rpc: str, request: Message) -> Call:
        return Call("vidscore.v1.EvaluatorService", rpc, [request], caller="")

    def score(rpc: str, *requests: Message) -> Call:
        return Call("vidscore.v1.ScoringService", rpc, list(requests), caller="")

    yield Call("vidscore.v1.ServerService", "GetServer", [server.GetServerRequest()], caller="")
    yield evaluator("ListEvaluators", evaluators.ListEvaluatorsRequest(page_size=2))
    yield evaluator("GetEvaluator", evaluators.GetEvaluatorRequest(name="evaluators/spotgeo"))
    yield evaluator("GetEvaluator", evaluators.GetEvaluatorRequest(name="evaluators/none"))
    chosen = configuration("spotgeo", tau=7.5, profile="kelvins")
    make = scoring.ScoreRequest
    yield score("Score", make(configuration=chosen), make(truth=TRUTH), make(detections=DETECTIONS))
    for detections in (DETECTIONS, WRONG):
        request = scoring.ScoreBatchRequest(
            configuration=chosen, truth=[TRUTH], detections=[detections]
        )
        yield score("ScoreBatch", request)
    yield Call(
        "vidscore.v1.RankingService", "ExamineUpload", _examined(chosen), caller="", last_only=True
    )


def _examined(chosen: scoring.ScoreConfiguration) -> list[Message]:
    """Two systems, and few draws."""
    configured = ranking.ExaminationConfiguration(
        specification=chosen.specification,
        truth_geometry=chosen.truth_geometry,
        detection_geometry=chosen.detection_geometry,
        systems=["one", "two"],
        questions=trust_pb2.RankingQuestions(draws=5, noise_px=1.0, trials=2, seed=3),
    )
    return [
        ranking.ExamineUploadRequest(configuration=configured),
        ranking.ExamineUploadRequest(truth=TRUTH),
        ranking.ExamineUploadRequest(detections=DETECTIONS),
        ranking.ExamineUploadRequest(detections=TRUTH, system=1),
    ]


def _hosted(rpc: str, *requests: Message, caller: str = "organiser") -> Call:
    return Call("vidscore.v1.BenchmarkService", rpc, list(requests), caller)


def _benchmark() -> Iterator[Call]:
    policy = {"visibility": benchmark_pb2.VISIBILITY_FINAL, "submissions_in_all": 9}
    created = organiser_pb2.CreateBenchmarkRequest(
        benchmark_id="dots", benchmark=dots(**policy), request_id="first"
    )
    yield _hosted("CreateBenchmark", created)
    yield _hosted("GetBenchmark", benchmarks.GetBenchmarkRequest(name=BENCHMARK), caller="red")
    yield _hosted("ListBenchmarks", benchmarks.ListBenchmarksRequest(page_size=5))
    changed = dots(**policy)
    changed.name = BENCHMARK
    changed.specification.title = "More dots"
    update = organiser_pb2.UpdateBenchmarkRequest(
        benchmark=changed, update_mask=FieldMask(paths=["specification"])
    )
    yield _hosted("UpdateBenchmark", update)
    header = organiser_pb2.UploadTruthHeader(
        benchmark=BENCHMARK, complete=True, comment="all of it"
    )
    yield _hosted(
        "UploadTruth",
        organiser_pb2.UploadTruthRequest(header=header),
        organiser_pb2.UploadTruthRequest(truth=TRUTH),
        organiser_pb2.UploadTruthRequest(end=end_of(TRUTH)),
    )
    listed = organiser_pb2.ListTruthRevisionsRequest(benchmark=BENCHMARK)
    yield _hosted("ListTruthRevisions", listed)


def _submitting(rpc: str, *requests: Message, caller: str = "red", last_only: bool = False) -> Call:
    return Call("vidscore.v1.SubmissionService", rpc, list(requests), caller, last_only)


def _created(name: str, caller: str = "red") -> Call:
    request = submissions.CreateSubmissionRequest(
        benchmark=BENCHMARK, submission_id=name, title=name.title(), request_id=name
    )
    return _submitting("CreateSubmission", request, caller=caller)


def _submission() -> Iterator[Call]:
    call = _submitting
    yield _created("given-up")
    given_up = f"{BENCHMARK}/submissions/given-up"
    yield call("CancelSubmission", submissions.CancelSubmissionRequest(name=given_up))
    yield _created("one")
    yield call("OpenStream", submissions.OpenStreamRequest(submission=SUBMISSION))
    first = append(STREAM, 0, DETECTIONS)
    yield call(
        "AppendFrames",
        first,
        append(STREAM, 2, MORE_DETECTIONS),
    )
    # The same batch is acknowledged again, and a gap is refused.
    yield call("AppendBatch", first)
    gap = append(STREAM, 9, points({5: []}))
    yield call("AppendBatch", gap)
    check = submissions.CheckDetectionsRequest(benchmark=BENCHMARK, detections=DETECTIONS)
    yield call("CheckDetections", check)
    yield call("CheckDetections", submissions.CheckDetectionsRequest(benchmark=BENCHMARK))
    yield call("GetSubmission", submissions.GetSubmissionRequest(name=SUBMISSION))
    sealing = submissions.SealSubmissionRequest(name=SUBMISSION, expected_frame_count=4)
    yield call("SealSubmission", sealing)
    watch = submissions.WatchSubmissionRequest(name=SUBMISSION)
    yield call("WatchSubmission", watch, last_only=True)
    yield call("ListSubmissions", submissions.ListSubmissionsRequest(benchmark=BENCHMARK))
    yield call("ListScores", submissions.ListScoresRequest(submission=SUBMISSION))
    again = submissions.RetrySubmissionRequest(name=SUBMISSION, request_id="again")
    yield call("RetrySubmission", again)
    yield call("ChooseSubmission", submissions.ChooseSubmissionRequest(name=SUBMISSION))
    yield from _submission_of_another_team()
    board = benchmarks.GetLeaderboardRequest(benchmark=BENCHMARK)
    yield _hosted("GetLeaderboard", board, caller="viewer")
    yield _hosted("GetChecklist", benchmarks.GetChecklistRequest(benchmark=BENCHMARK), caller="red")


def _submission_of_another_team() -> Iterator[Call]:
    name = f"{BENCHMARK}/submissions/two"
    yield _created("two", caller="blue")
    opening = submissions.OpenStreamRequest(submission=name, stream="night")
    yield _submitting("OpenStream", opening, caller="blue")
    batch = append(f"{name}/streams/night", 0, DETECTIONS)
    yield _submitting("AppendBatch", batch, caller="blue")
    sealing = submissions.SealSubmissionRequest(name=name)
    yield _submitting("SealSubmission", sealing, caller="blue")
    watch = submissions.WatchSubmissionRequest(name=name)
    yield _submitting("WatchSubmission", watch, caller="blue", last_only=True)


def _operation(rpc: str, requests: Requests) -> Call:
    return Call("google.longrunning.Operations", rpc, requests)


def _named(
    rpc: str, make: Callable[..., Message], **more: object
) -> Callable[[Answers], list[Message]]:
    """Requests about the operation that the last call of an RPC has started."""

    def about(answers: Answers) -> list[Message]:
        [began] = answers[rpc]
        return [make(name=began.get("operation") or began["name"], **more)]

    return about


def _rescoring() -> Iterator[Call]:
    began = "RescoreSubmissions"
    request = organiser_pb2.RescoreSubmissionsRequest(benchmark=BENCHMARK, comment="once more")
    yield _hosted(began, request)
    yield _operation(
        "WaitOperation",
        _named(began, operations_pb2.WaitOperationRequest, timeout=Duration(seconds=60)),
    )
    about: dict[str, Callable[..., Message]] = {
        "GetOperation": operations_pb2.GetOperationRequest,
        "CancelOperation": operations_pb2.CancelOperationRequest,
        "DeleteOperation": operations_pb2.DeleteOperationRequest,
    }
    listed = operations_pb2.ListOperationsRequest(name="operations", page_size=5)
    yield _operation("ListOperations", [listed])
    for rpc, make in about.items():
        yield _operation(rpc, _named(began, make))
    publish = organiser_pb2.PublishLeaderboardRequest(benchmark=BENCHMARK, validate_only=True)
    yield _hosted("PublishLeaderboard", publish)


def _access() -> Iterator[Call]:
    def call(rpc: str, requests: Requests) -> Call:
        return Call("vidscore.v1.AccessService", rpc, requests)

    created = access.CreateTokenRequest(
        role=token_pb2.ROLE_PARTICIPANT,
        team="green",
        comment="for a replay",
        lifetime=Duration(seconds=3600),
    )
    yield call("CreateToken", [created])
    yield call("ListTokens", [access.ListTokensRequest(page_size=50)])
    yield call(
        "RevokeToken",
        lambda answers: [
            access.RevokeTokenRequest(name=answers["CreateToken"][0]["token"]["name"])
        ],
    )
    yield call("ListAuditRecords", [access.ListAuditRecordsRequest(page_size=3)])
    filtered = access.ListAuditRecordsRequest(
        benchmark=BENCHMARK, actor="server", action="scored", since=Timestamp(seconds=1)
    )
    yield call("ListAuditRecords", [filtered])


def _trust() -> Iterator[Call]:
    examine = trust.ExamineRankingRequest(benchmark=BENCHMARK, comment="is it settled?")
    ospa = specification.EvaluatorSpec(name="ospa")
    test = trust.TestCriterionRequest(test="multiclass-detection", criteria=[ospa], strata=2)
    for rpc, request in {"ExamineRanking": examine, "TestCriterion": test}.items():
        yield Call("vidscore.v1.TrustService", rpc, [request])
        yield _operation("CancelOperation", _named(rpc, operations_pb2.CancelOperationRequest))


def _ending() -> Iterator[Call]:
    def call(rpc: str, requests: Requests) -> Call:
        return Call("vidscore.v1.ServerService", rpc, requests)

    yield call("ExportBackup", [backup_pb2.ExportBackupRequest(benchmark=BENCHMARK)])
    yield _hosted("DeleteBenchmark", organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK))
    gone = organiser_pb2.DeleteBenchmarkRequest(name=BENCHMARK, force=True)
    yield _hosted("DeleteBenchmark", gone)
    yield call(
        "ImportBackup",
        lambda answers: [
            backup_pb2.ImportBackupRequest(chunk=b64decode(answer["chunk"]))
            for answer in answers["ExportBackup"]
        ],
    )
    yield _hosted("GetLeaderboard", benchmarks.GetLeaderboardRequest(benchmark=BENCHMARK))


def _outcomes() -> Iterator[Call]:
    request = submissions.ReadOutcomesRequest(submission=SUBMISSION, evaluator="spotgeo")
    yield _submitting("ReadOutcomes", request, caller="organiser")
    yield _submitting("ReadOutcomes", request)
    yield _submitting("ReadDetections", submissions.ReadDetectionsRequest(submission=SUBMISSION))


def _organising() -> Iterator[Call]:
    """Further calls of organisers, after everything else."""
    asked = organiser_pb2.ReadTruthRequest(benchmark=BENCHMARK, offset=1)
    yield _hosted("ReadTruth", asked)
    changed = dots(visibility=benchmark_pb2.VISIBILITY_LIVE)
    changed.name = BENCHMARK
    preview = organiser_pb2.UpdateBenchmarkRequest(
        benchmark=changed, update_mask=FieldMask(paths=["policy"]), validate_only=True
    )
    yield _hosted("UpdateBenchmark", preview)
    disqualified = submissions.DisqualifySubmissionRequest(name=SUBMISSION, reason="a test")
    yield _submitting("DisqualifySubmission", disqualified, caller="organiser")
    board = benchmarks.GetLeaderboardRequest(benchmark=BENCHMARK)
    yield _hosted("GetLeaderboard", board, caller="viewer")
    reinstated = submissions.ReinstateSubmissionRequest(name=SUBMISSION)
    yield _submitting("ReinstateSubmission", reinstated, caller="organiser")
    queued = server.GetQueueRequest(states=[submissions.SUBMISSION_STATE_SCORED], page_size=5)
    yield Call("vidscore.v1.ServerService", "GetQueue", [queued])

    def invite(rpc: str, requests: Requests, caller: str = "organiser") -> Call:
        return Call("vidscore.v1.AccessService", rpc, requests, caller)

    teams = access.CreateInvitationsRequest(
        teams=["teal", "pink"],
        comment="for a replay",
        lifetime=Duration(seconds=3600),
        token_lifetime=Duration(seconds=7200),
    )
    yield invite("CreateInvitations", [teams])

    def accepted(answers: Answers) -> list[Message]:
        made = answers["CreateInvitations"][0]["invitations"][0]
        return [access.AcceptInvitationRequest(secret=made["secret"])]

    def revoked(answers: Answers) -> list[Message]:
        made = answers["CreateInvitations"][0]["invitations"][1]
        return [access.RevokeInvitationRequest(name=made["invitation"]["name"])]

    yield invite("AcceptInvitation", accepted, caller="")
    yield invite("RevokeInvitation", revoked)
    yield invite("ListInvitations", [access.ListInvitationsRequest(page_size=5)])


def _live() -> Iterator[Call]:
    """A live benchmark whose clock stands still, so that only its first frame is given out."""
    clock = benchmark_pb2.LiveClock(frame_rate=2.0)
    benchmark = dots()
    benchmark.live.CopyFrom(clock)
    benchmark.specification.sequences.add(name="1", frame_count=2, first_frame=1)
    benchmark.public_names.kinds.extend(
        [benchmark_pb2.NAME_KIND_SEQUENCES, benchmark_pb2.NAME_KIND_FRAME_COUNTS]
    )
    yield _hosted(
        "CreateBenchmark",
        organiser_pb2.CreateBenchmarkRequest(benchmark_id="live-dots", benchmark=benchmark),
    )
    created = submissions.CreateSubmissionRequest(
        benchmark="benchmarks/live-dots", submission_id="one"
    )
    yield _submitting("CreateSubmission", created)
    name = "benchmarks/live-dots/submissions/one"
    begin = submissions.AnswerFramesRequest(submission=name)
    answer = submissions.AnswerFramesRequest(position=0, detections=points({1: [(10.0, 20.0)]}))
    yield _submitting("AnswerFrames", begin, answer, last_only=True)
    early = submissions.AnswerFramesRequest(position=1, detections=points({2: []}))
    yield _submitting("AnswerFrames", begin, early)
    ended = submissions.AnswerFramesRequest(submission=SUBMISSION)
    yield _submitting("AnswerFrames", ended)


async def play(hosted: Hosted) -> list[Exchange]:
    """Make every call of the script."""
    answers: Answers = {}
    made = []
    for call in script():
        requests = call.requests(answers) if callable(call.requests) else call.requests
        data = [request.SerializeToString(deterministic=True) for request in requests]
        done = await exchange(hosted, call.method, call.caller, data, last_only=call.last_only)
        answers[call.rpc] = done.responses
        made.append(done)
    return made


def with_chosen(first: Exchange, others: Sequence[Exchange]) -> Exchange:
    """A recording that marks where the server chooses values, as other recordings show."""
    others_values = [dict(places(other.held_responses)) for other in others]
    chosen = [
        place
        for place, value in places(first.held_responses)
        if any(values.get(place) != value for values in others_values)
    ]
    return replace(first, chosen=chosen)


async def record(folder: Path) -> None:
    """Record the present release."""
    recordings = []
    for _ in range(RECORDINGS):
        forget_site()  # Each with its own secrets, on which digests depend.
        with tempfile.TemporaryDirectory() as site:
            async with hosting(Path(site)) as hosted:
                recordings.append(await play(hosted))
    for number, (first, *others) in enumerate(zip(*recordings, strict=True), start=1):
        name = f"{number:02d}-{first.method.rpartition('/')[2]}.json"
        write(folder / name, with_chosen(first, others))


if __name__ == "__main__":
    target = WIRE / __version__
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    asyncio.run(record(target))
