"""A participant receives no planted truth from any RPC under any policy.

Every RPC of the protos has a case here: valid and invalid requests of a participant, a viewer and a
caller without a token. Truth has a domain, a sequence, a label, frame numbers and coordinates that
occur nowhere else.
"""

from __future__ import annotations

import io
import math
import re
import struct
from collections.abc import Callable
from typing import Any

import grpc
import pytest
from google.protobuf import message_factory
from google.protobuf.message import Message
from prometheus_client import generate_latest
from tests.server import scene
from tests.server.domain.hosted import BENCHMARK, Client, Hosted, append, values
from tests.server.domain.streets import BOX, streets
from tests.server.domain.test_board_tiers import settled
from tests.server.domain.test_hidden_truth import log_lines as log_lines  # noqa: PLC0414 - a fixture
from tests.server.domain.test_roles import METHODS

from vidscore_protos.v1 import annotations_pb2, benchmark_pb2, outcomes_pb2
from vidscore_server.domain.access import OPEN_RPCS, ROLES_BY_RPC
from vidscore_server.store.records import Role

pytestmark = pytest.mark.usefixtures("tracer")

DOMAIN, SEQUENCE, LABEL = "zsecretdomain", "zsecretsequence", "zsecretlabel"
NUMBERS = (987654321, 987654322)
"""So long that no measured time contains them among its digits."""
PLACES = ((123.4567, 234.5678, 345.6789, 456.7891), (111.2223, 133.2224, 155.2225, 177.2226))
ONE, TWO, THREE = (f"{BENCHMARK}/submissions/{name}" for name in ("one", "two", "three"))
STREAM = f"{TWO}/streams/default"


def batch(
    domain: str, sequence: str, label: str, numbers: tuple[int, ...], *boxes: tuple[float, ...]
) -> annotations_pb2.AnnotationBatch:
    """Frames with one box each."""
    key = (domain, sequence)
    frames = [(key, number, [box]) for number, box in zip(numbers, boxes, strict=True)]
    return scene.batch(frames, [label] * len(numbers), annotations_pb2.GEOMETRY_BOX)


PLANTED = batch(DOMAIN, SEQUENCE, LABEL, NUMBERS, *PLACES)
OPEN = batch("day", "street", "car", (1, 2), BOX, BOX)
"""Truth that is not secret: what participants know of the benchmark."""

OFF_PX = (3.1357, 4.2468)
OFF_BOX = tuple(edge + OFF_PX[row % 2] for row, edge in enumerate(BOX))
NEAR = batch("day", "street", "car", (1, 2), OFF_BOX, OFF_BOX)
"""Detections that are slightly off; the distance is a secret of the truth."""

HOW_NEAR = (f"{math.hypot(*OFF_PX)}", f"{1.0 / (1.0 + math.hypot(*OFF_PX))}")
"""Their distance from the truth, and their similarity."""

PROBES = (
    batch("day", "street", "car", (3,), BOX),
    batch("day", "road", "Car", (1,), BOX),
    batch("night", "street", "cab", (1,), BOX),
    batch("day", "street", "car", (2**31,), BOX),
    batch("day", "street", "car", (4,), (1.0, 2.0, float("nan"), 4.0)),
)

Case = Callable[[str], list[Message]]
"""Requests of a call, by the type of its requests."""


def _made(rpc: str, **fields: Any) -> Message:
    request = message_factory.GetMessageClass(METHODS[rpc].input_type)
    return request(**fields)


def named(*names: str) -> Case:
    """A call for each name, in every field of the request that names a resource."""

    def make(rpc: str) -> list[Message]:
        fields = METHODS[rpc].input_type.fields_by_name
        field = next((name for name in ("name", "benchmark", "submission") if name in fields), None)
        return [_made(rpc, **({field: name} if field else {})) for name in names]

    return make


def asked(*requests: dict[str, Any]) -> Case:
    """A call for each request."""
    return lambda rpc: [_made(rpc, **fields) for fields in requests]


def _appended(offset: int, probe: annotations_pb2.AnnotationBatch) -> dict[str, Any]:
    """The fields of a request to append."""
    return {field.name: value for field, value in append(STREAM, offset, probe).ListFields()}


NOTHING = asked({})
V1 = "/vidscore.v1."
OF_BENCHMARK, OF_SUBMISSION = named(BENCHMARK, "benchmarks/none"), named(ONE, TWO, f"{ONE}x")
CASES: dict[str, Case] = {
    **{
        f"{V1}EvaluatorService/{name}": NOTHING
        for name in ("ListEvaluators", "GetEvaluator", "ListPresets")
    },
    **{f"{V1}ScoringService/{name}": NOTHING for name in ("Score", "ScoreBatch")},
    **{
        f"{V1}AccessService/{name}": NOTHING
        for name in (
            "CreateToken",
            "ListTokens",
            "RevokeToken",
            "CreateInvitations",
            "ListInvitations",
            "RevokeInvitation",
            "AcceptInvitation",
            "ListAuditRecords",
        )
    },
    **{
        f"{V1}ServerService/{name}": NOTHING
        for name in ("GetServer", "GetQueue", "ExportBackup", "ImportBackup")
    },
    **{f"{V1}TrustService/{name}": OF_BENCHMARK for name in ("ExamineRanking", "TestCriterion")},
    **{
        f"/google.longrunning.Operations/{name}": named("operations/x-1")
        for name in (
            "ListOperations",
            "GetOperation",
            "DeleteOperation",
            "CancelOperation",
            "WaitOperation",
        )
    },
    f"{V1}RankingService/ExamineUpload": NOTHING,
    f"{V1}BenchmarkService/CreateBenchmark": asked({"benchmark_id": "dots"}),
    f"{V1}BenchmarkService/GetBenchmark": OF_BENCHMARK,
    f"{V1}BenchmarkService/ListBenchmarks": asked({}, {"page_token": "WzZd"}),
    f"{V1}BenchmarkService/UpdateBenchmark": NOTHING,
    f"{V1}BenchmarkService/DeleteBenchmark": OF_BENCHMARK,
    f"{V1}BenchmarkService/UploadTruth": NOTHING,
    f"{V1}BenchmarkService/ListTruthRevisions": OF_BENCHMARK,
    f"{V1}BenchmarkService/ReadTruth": asked(
        {"benchmark": BENCHMARK}, {"benchmark": BENCHMARK, "revision": 1, "offset": 1}
    ),
    f"{V1}BenchmarkService/RescoreSubmissions": OF_BENCHMARK,
    f"{V1}BenchmarkService/GetLeaderboard": asked(
        {"benchmark": BENCHMARK},
        {"benchmark": BENCHMARK, "domain": "day"},
        {"benchmark": BENCHMARK, "label": "car"},
        {"benchmark": BENCHMARK, "domain": "none"},
        {"benchmark": BENCHMARK, "label": "none"},
        {"benchmark": BENCHMARK, "evaluator": "map"},
    ),
    f"{V1}BenchmarkService/PublishLeaderboard": OF_BENCHMARK,
    f"{V1}BenchmarkService/GetChecklist": OF_BENCHMARK,
    f"{V1}SubmissionService/CreateSubmission": asked(
        {"benchmark": BENCHMARK, "submission_id": "one"},
        {"benchmark": BENCHMARK, "submission_id": "two"},
    ),
    f"{V1}SubmissionService/OpenStream": asked({"submission": TWO}, {"submission": ONE}),
    f"{V1}SubmissionService/AppendBatch": asked(*(_appended(0, probe) for probe in PROBES)),
    f"{V1}SubmissionService/AppendFrames": asked(*(_appended(1, probe) for probe in PROBES)),
    f"{V1}SubmissionService/CheckDetections": asked(
        {"benchmark": BENCHMARK},
        *({"benchmark": BENCHMARK, "detections": probe} for probe in PROBES),
    ),
    f"{V1}SubmissionService/GetSubmission": OF_SUBMISSION,
    f"{V1}SubmissionService/ListSubmissions": asked(
        {"benchmark": BENCHMARK},
        {"benchmark": BENCHMARK, "team": "blue", "state": "SUBMISSION_STATE_SCORED"},
        {"benchmark": "benchmarks/none"},
    ),
    f"{V1}SubmissionService/ListScores": OF_SUBMISSION,
    f"{V1}SubmissionService/ReadOutcomes": asked(
        *({"submission": name, "evaluator": "tracer"} for name in (ONE, TWO, THREE, f"{ONE}x")),
        {"submission": THREE, "evaluator": "tracer", "offset": 1},
        {"submission": THREE, "evaluator": "tracer", "threshold": 0.5},
        {"submission": THREE, "evaluator": "tracer", "confidence": 0.5},
        {"submission": THREE, "evaluator": "tracer", "sequence": {"sequence": "none"}},
        {"submission": THREE, "evaluator": "tracer", "known_score": f"{THREE}/scores/1"},
        {"submission": THREE, "evaluator": "none"},
        {"submission": THREE},
    ),
    f"{V1}SubmissionService/ReadDetections": OF_SUBMISSION,
    f"{V1}SubmissionService/AnswerFrames": asked(
        *({"submission": name} for name in (ONE, TWO, f"{ONE}x")),
        *({"submission": TWO, "detections": probe} for probe in PROBES),
    ),
    f"{V1}SubmissionService/WatchSubmission": asked(
        {"name": ONE}, {"name": f"{ONE}x"}, {"name": ONE, "window_frames": 2}
    ),
    f"{V1}SubmissionService/SealSubmission": asked({"name": TWO, "expected_frame_count": 99}),
    f"{V1}SubmissionService/CancelSubmission": OF_SUBMISSION,
    f"{V1}SubmissionService/RetrySubmission": OF_SUBMISSION,
    f"{V1}SubmissionService/ChooseSubmission": OF_SUBMISSION,
    f"{V1}SubmissionService/DisqualifySubmission": asked({"name": ONE, "reason": "for fun"}),
    f"{V1}SubmissionService/ReinstateSubmission": OF_SUBMISSION,
}

ALL_PUBLIC = ("sequences", "labels", "frame_counts")
SETTINGS = [
    (visibility, public, outcomes)
    for visibility in ("LADDER", "BOOTSTRAP", "FINAL", "LIVE")
    for public in ((), ("sequences",), ("labels",), ("sequences", "labels"), ALL_PUBLIC)
    for outcomes in ("NONE", "OWN")
    if (visibility != "LIVE" and outcomes == "NONE") or {"sequences", "labels"} <= set(public)
    if outcomes == "NONE" or visibility not in {"LADDER", "BOOTSTRAP"}
]
ALWAYS = {
    ("LADDER", (), "NONE"),
    ("BOOTSTRAP", ("labels",), "NONE"),
    ("FINAL", ("sequences",), "NONE"),
    ("FINAL", ALL_PUBLIC, "OWN"),
    ("LIVE", ("sequences", "labels"), "OWN"),
}
"""Each visibility, each kind of names alone, all and none of them; at night all combinations."""


def test_the_settings_tested_always_cover_every_value() -> None:
    assert set(SETTINGS) > ALWAYS
    assert {visibility for visibility, _, _ in ALWAYS} == {one for one, _, _ in SETTINGS}
    assert {public for _, public, _ in ALWAYS} == {public for _, public, _ in SETTINGS}


def test_every_rpc_has_a_case() -> None:
    assert set(CASES) == set(METHODS) - set(OPEN_RPCS)  # These know nothing of benchmarks.


def test_all_callers_of_an_rpc_except_organisers_are_participants() -> None:
    """A participant, a viewer and a caller without a token make each call; no other role exists."""
    assert set(Role) == {Role.ORGANISER, Role.PARTICIPANT, Role.VIEWER}
    assert set(ROLES_BY_RPC) == set(CASES)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("visibility", "public", "outcomes"),
    [
        pytest.param(*setting, marks=[] if setting in ALWAYS else pytest.mark.nightly)
        for setting in SETTINGS
    ],
)
async def test_nothing_that_a_participant_receives_contains_planted_truth(
    hosted: Hosted,
    log_lines: io.StringIO,
    visibility: str,
    public: tuple[str, ...],
    outcomes: str,
) -> None:
    await _prepare(hosted, visibility, public, outcomes)
    # What the team knows of a live board is in its scores; the search below would find it there.
    scores = "".join(str(score) for score in await hosted.red.scores("one"))
    named_there = [name for name in (DOMAIN, SEQUENCE, LABEL) if name in scores]
    assert named_there == ([DOMAIN, SEQUENCE, LABEL] if visibility == "LIVE" else [])
    forbidden = _forbidden(visibility, public)
    seen = 0
    for client in (hosted.red, hosted.viewer, hosted.nobody):
        for rpc, case in CASES.items():
            for request in case(rpc):
                texts, data = await _received(client, rpc, request)
                seen += len(texts)
                _search(f"{rpc} {request}", texts, data, forbidden)
    assert seen > 3 * len(CASES)
    if outcomes == "OWN":
        [answer] = await hosted.red.outcomes("three", evaluator="tracer")
        assert list(answer.outcomes.outcomes) == [outcomes_pb2.OUTCOME_TRUE_POSITIVE] * 2
    # What operators see contains no name or place of anybody's data, public or not.
    everything = _forbidden("LADDER", ())
    metrics = generate_latest(hosted.server._metrics._registry).decode()
    _search("log and metrics", [log_lines.getvalue(), metrics], [], everything)


@pytest.mark.slow
async def test_the_search_finds_what_an_organiser_may_see(hosted: Hosted) -> None:
    await _prepare(hosted, "LADDER", ())
    rpc = f"{V1}SubmissionService/ListScores"
    [request, *_] = CASES[rpc](rpc)
    texts, data = await _received(hosted.organiser, rpc, request)
    with pytest.raises(AssertionError, match=DOMAIN):
        _search(rpc, texts, data, [DOMAIN])
    rpc = f"{V1}SubmissionService/ReadOutcomes"
    texts, data = await _received(hosted.organiser, rpc, CASES[rpc](rpc)[2])
    for planted in (DOMAIN, LABEL, *HOW_NEAR):
        with pytest.raises(AssertionError, match=re.escape(planted)):
            _search(rpc, [], data, [planted])
    with pytest.raises(AssertionError, match=r"123\.4567"):
        _search("truth", [], [PLANTED.SerializeToString()], ["123.4567"])


async def _prepare(
    hosted: Hosted, visibility: str, public: tuple[str, ...], outcomes: str = "NONE"
) -> None:
    """A benchmark with planted truth, scored submissions of red's, and an open one."""
    message = streets()
    message.specification.evaluators.add(name="tracer")
    message.policy.outcomes = getattr(benchmark_pb2, f"OUTCOMES_SHOWN_{outcomes}")
    message.policy.visibility = getattr(benchmark_pb2, f"VISIBILITY_{visibility}")
    message.policy.minimum_frames = 1
    message.policy.unlimited_submissions = True
    message.policy.public_board_web = True
    message.policy.release_curves = visibility == "FINAL"
    await hosted.organiser.create(message, public=public)
    await hosted.organiser.upload(OPEN, PLANTED)
    await hosted.red.submit(OPEN, "one")
    await hosted.red.ended("one")
    of_f1 = [score.report for score in await hosted.organiser.scores("one")][-1]
    assert values(of_f1)["f1"] == 2 / 3
    await hosted.red.submit(NEAR, "three")
    await hosted.red.ended("three")
    await hosted.blue.submit(NEAR, "four")
    await hosted.blue.ended("four")
    for evaluator in ("f1", "tracer"):  # Tiers are available to every caller.
        for client in (hosted.viewer, hosted.organiser):
            assert {row.tier for row in (await settled(client, evaluator=evaluator)).rows} == {1}
    stream = await hosted.red.submission("two")
    await hosted.red.append(stream, 0, batch("day", "street", "car", (1,), BOX))


def _forbidden(visibility: str, public: tuple[str, ...]) -> list[str]:
    """What no answer may contain: positions never; names unless public, or if reports show all."""
    names = {"sequences": [DOMAIN, SEQUENCE], "labels": [LABEL]}
    found = [*HOW_NEAR, *(f"{number}" for place in PLACES for number in place)]
    for kind, kept in names.items():
        found += [] if kind in public or visibility == "LIVE" else kept
    tells_frames = visibility == "LIVE" or "frame_counts" in public
    return found + ([] if tells_frames else [str(number) for number in NUMBERS])


async def _received(client: Client, rpc: str, request: Message) -> tuple[list[str], list[bytes]]:
    """Every answer, error and piece of metadata of a call, as text and as bytes."""
    method = METHODS[rpc]
    words = {True: "stream", False: "unary"}
    kind = f"{words[bool(method.client_streaming)]}_{words[bool(method.server_streaming)]}"
    response = message_factory.GetMessageClass(method.output_type)
    multi = getattr(client.channel, kind)(
        rpc,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=response.FromString,
    )
    sent = iter([request]) if method.client_streaming else request
    call: Any = multi(sent, metadata=client.metadata, timeout=60)
    answers: list[Message] = []
    try:
        if method.server_streaming:
            async for answer in call:
                answers.append(answer)  # noqa: PERF401 - what came before an error counts
        else:
            answers.append(await call)
    except grpc.aio.AioRpcError:
        pass
    metadata = [*await call.initial_metadata(), *await call.trailing_metadata()]
    pieces = [value if isinstance(value, bytes) else value.encode() for _, value in metadata]
    texts = [await call.details() or "", *map(str, answers)]
    texts += [piece.decode("utf-8", "replace") for piece in pieces]
    return texts, [*pieces, *(answer.SerializeToString() for answer in answers)]


def _search(where: str, texts: list[str], data: list[bytes], forbidden: list[str]) -> None:
    # The duration of a call, and ids, may be any number.
    left_out = r'"duration_ms": [\d.]+|"peer": "[^"]+"|"call_id": "\w+"|(seconds|nanos): \d+'
    for text in texts:
        kept = re.sub(left_out, "", text)
        for planted in forbidden:
            assert planted not in kept, f"{planted} in {where}: {kept[:200]}"
    for planted in forbidden:
        packed = struct.pack("<d", float(planted)) if "." in planted else planted.encode()
        assert not any(packed in piece for piece in data), f"{planted} in the bytes of {where}"
