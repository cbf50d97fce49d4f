"""An organiser of a hosted benchmark, who checks the results of submissions."""

from __future__ import annotations

import grpc
from tests.server.domain.hosted import BENCHMARK, dots, end_of
from tests.server.scene import report_bytes

from vidscore_protos.v1 import (
    access_service_pb2,
    access_service_pb2_grpc,
    annotations_pb2,
    benchmark_service_pb2_grpc,
    organiser_pb2,
    submission_service_pb2,
    submission_service_pb2_grpc,
    token_pb2,
)

TIMEOUT_S = 120.0


class Organiser:
    """Calls of an organiser."""

    def __init__(self, channel: grpc.Channel, secret: str) -> None:
        self._metadata = (("authorization", f"Bearer {secret}"),)
        self._benchmarks = benchmark_service_pb2_grpc.BenchmarkServiceStub(channel)
        self._submissions = submission_service_pb2_grpc.SubmissionServiceStub(channel)
        self._access = access_service_pb2_grpc.AccessServiceStub(channel)

    def host(self, truth: annotations_pb2.AnnotationBatch) -> None:
        """Create the benchmark and its truth."""
        self.host_without_truth()
        self.upload(truth)

    def host_without_truth(self) -> None:
        """Create the benchmark."""
        self._benchmarks.CreateBenchmark(
            organiser_pb2.CreateBenchmarkRequest(benchmark_id="dots", benchmark=dots()),
            metadata=self._metadata,
        )

    def upload(self, truth: annotations_pb2.AnnotationBatch) -> None:
        """Add a revision of the truth."""
        header = organiser_pb2.UploadTruthHeader(benchmark=BENCHMARK, complete=True)
        uploads = [
            organiser_pb2.UploadTruthRequest(header=header),
            organiser_pb2.UploadTruthRequest(truth=truth),
            organiser_pb2.UploadTruthRequest(end=end_of(truth)),
        ]
        self._benchmarks.UploadTruth(iter(uploads), metadata=self._metadata)

    def token(self, team: str) -> str:
        role = token_pb2.ROLE_PARTICIPANT
        request = access_service_pb2.CreateTokenRequest(role=role, team=team)
        secret: str = self._access.CreateToken(request, metadata=self._metadata).secret
        return secret

    def submission(self, name: str) -> submission_service_pb2.Submission:
        request = submission_service_pb2.GetSubmissionRequest(name=name)
        return self._submissions.GetSubmission(
            request, metadata=self._metadata, wait_for_ready=True, timeout=TIMEOUT_S
        ).submission

    def wait(self, name: str) -> None:
        """Wait until a submission has ended."""
        request = submission_service_pb2.WatchSubmissionRequest(name=name)
        watch = self._submissions.WatchSubmission(
            request, metadata=self._metadata, timeout=TIMEOUT_S
        )
        *_, last = watch
        assert last.submission.state == submission_service_pb2.SUBMISSION_STATE_SCORED

    def report(self, name: str) -> bytes:
        """The report of its only score."""
        [report] = self.reports(name)
        return report

    def reports(self, name: str) -> list[bytes]:
        """The reports of its scores, newest first."""
        request = submission_service_pb2.ListScoresRequest(submission=name)
        scores = self._submissions.ListScores(request, metadata=self._metadata).scores
        return [report_bytes(score.report) for score in scores]
