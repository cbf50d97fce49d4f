"""Which role may call which RPC: the whole of it, as data.

An RPC that is not in the table is refused to everyone; a test holds the table to the services.
What of an object a caller sees is not said here but in `vidscore_server.hosting.release`.
"""

from __future__ import annotations

from collections.abc import Mapping

from vidscore_server.store.records import Role

Roles = frozenset[Role | None]
"""Roles; None stands for a caller without a token."""

ORGANISERS: Roles = frozenset({Role.ORGANISER})
TEAMS: Roles = frozenset({Role.ORGANISER, Role.PARTICIPANT})
MEMBERS: Roles = frozenset(Role)
ANYONE: Roles = frozenset({*Role, None})
"""Everyone on this machine; from elsewhere a token is needed (see `Gate`)."""

OPEN_RPCS = (
    "/grpc.health.v1.Health/Check",
    "/grpc.health.v1.Health/Watch",
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
)
"""RPCs of gRPC's own services: no token is asked for, nor looked at, wherever a call comes from."""

ROLES_BY_RPC: Mapping[str, Roles] = {
    "/vidscore.v1.EvaluatorService/ListEvaluators": ANYONE,
    "/vidscore.v1.EvaluatorService/GetEvaluator": ANYONE,
    "/vidscore.v1.ScoringService/Score": ANYONE,
    "/vidscore.v1.ScoringService/ScoreBatch": ANYONE,
    "/vidscore.v1.RankingService/ExamineUpload": ANYONE,
    "/vidscore.v1.ServerService/GetServer": ANYONE,
    "/vidscore.v1.ServerService/ExportBackup": ORGANISERS,
    "/vidscore.v1.ServerService/ImportBackup": ORGANISERS,
    "/vidscore.v1.BenchmarkService/CreateBenchmark": ORGANISERS,
    "/vidscore.v1.BenchmarkService/GetBenchmark": MEMBERS,
    "/vidscore.v1.BenchmarkService/ListBenchmarks": MEMBERS,
    "/vidscore.v1.BenchmarkService/UpdateBenchmark": ORGANISERS,
    "/vidscore.v1.BenchmarkService/DeleteBenchmark": ORGANISERS,
    "/vidscore.v1.BenchmarkService/UploadTruth": ORGANISERS,
    "/vidscore.v1.BenchmarkService/ListTruthRevisions": ORGANISERS,
    "/vidscore.v1.BenchmarkService/RescoreSubmissions": ORGANISERS,
    "/vidscore.v1.BenchmarkService/GetLeaderboard": MEMBERS,
    "/vidscore.v1.BenchmarkService/PublishLeaderboard": ORGANISERS,
    "/vidscore.v1.SubmissionService/CreateSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/GetSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/ListSubmissions": TEAMS,
    "/vidscore.v1.SubmissionService/OpenStream": TEAMS,
    "/vidscore.v1.SubmissionService/AppendFrames": TEAMS,
    "/vidscore.v1.SubmissionService/AppendBatch": TEAMS,
    "/vidscore.v1.SubmissionService/CheckDetections": TEAMS,
    "/vidscore.v1.SubmissionService/SealSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/CancelSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/RetrySubmission": TEAMS,
    "/vidscore.v1.SubmissionService/WatchSubmission": TEAMS,
    "/vidscore.v1.SubmissionService/ListScores": TEAMS,
    "/vidscore.v1.AccessService/CreateToken": ORGANISERS,
    "/vidscore.v1.AccessService/ListTokens": ORGANISERS,
    "/vidscore.v1.AccessService/RevokeToken": ORGANISERS,
    "/vidscore.v1.AccessService/ListAuditRecords": ORGANISERS,
    "/vidscore.v1.TrustService/ExamineRanking": ORGANISERS,
    "/vidscore.v1.TrustService/TestCriterion": ORGANISERS,
    "/google.longrunning.Operations/ListOperations": ORGANISERS,
    "/google.longrunning.Operations/GetOperation": ORGANISERS,
    "/google.longrunning.Operations/DeleteOperation": ORGANISERS,
    "/google.longrunning.Operations/CancelOperation": ORGANISERS,
    "/google.longrunning.Operations/WaitOperation": ORGANISERS,
}

OF_SUBMISSIONS = frozenset(
    f"/vidscore.v1.SubmissionService/{name}"
    for name in (
        "GetSubmission",
        "OpenStream",
        "AppendFrames",
        "AppendBatch",
        "SealSubmission",
        "CancelSubmission",
        "RetrySubmission",
        "WatchSubmission",
        "ListScores",
    )
)
"""RPCs about one submission: to a participant of another team it is as if it were not there."""
