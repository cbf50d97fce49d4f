"""Records that tests of stores put in."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from vidscore_server.store.records import (
    AuditRecord,
    BatchRecord,
    BenchmarkRecord,
    OperationRecord,
    ReleaseRecord,
    Role,
    ScoreDrawsRecord,
    ScoreRecord,
    SubmissionRecord,
    SubmissionState,
    TiersRecord,
    TokenRecord,
    TruthRevisionRecord,
)

NOON = datetime(2026, 5, 1, 12, 0, 0, 123456, tzinfo=UTC)


def later(seconds: float) -> datetime:
    return NOON + timedelta(seconds=seconds)


def benchmark(name: str = "b") -> BenchmarkRecord:
    return BenchmarkRecord(name, "{}", None, later(60), NOON, NOON)


def truth_revision(number: int = 1, name: str = "b") -> TruthRevisionRecord:
    return TruthRevisionRecord(name, number, "d" * 32, NOON, 3, True, "first")


def submission(
    name: str = "s",
    team: str = "red",
    created: datetime = NOON,
    state: SubmissionState = SubmissionState.OPEN,
    sealed: datetime | None = None,
    frame_count: int = 0,
) -> SubmissionRecord:
    return SubmissionRecord(
        "b",
        name,
        team,
        "title",
        state,
        "created",
        "",
        created,
        created,
        created,
        sealed,
        frame_count,
    )


def batch(
    offset: int = 0, count: int = 1, stream: str = "default", payload: bytes = b"payload"
) -> BatchRecord:
    return BatchRecord(stream, offset, count, bytes([offset]) * 32, payload, later(offset))


def score(name: str = "s", evaluator: str = "f1", report: bytes = b"report") -> ScoreRecord:
    return ScoreRecord(
        "b", name, 0, evaluator, 1, False, NOON, "f1 1 abc", '{"f1":0.5}', "", report
    )


def release(team: str = "red", values: str = "{}") -> ReleaseRecord:
    return ReleaseRecord("b", "f1", team, "s", values, NOON)


def score_draws(evaluator: str = "f1", payload: bytes = b"draws") -> ScoreDrawsRecord:
    return ScoreDrawsRecord("b", "s", evaluator, 1, "f1 1 abc", payload)


def tiers(revision: int = 1, *, exact: bool = False, document: str = "{}") -> TiersRecord:
    return TiersRecord("b", "f1", revision, exact, document)


def token(name: str = "t", created: datetime = NOON) -> TokenRecord:
    return TokenRecord(name, b"hash", Role.PARTICIPANT, "red", "", created, later(60))


def operation(name: str = "o", *, done: bool = False) -> OperationRecord:
    return OperationRecord(name, "rescore", "{}", NOON, done=done)


def audit(action: str = "act") -> AuditRecord:
    return AuditRecord(NOON, "tokens/t", action, "benchmarks/b", "detail")
