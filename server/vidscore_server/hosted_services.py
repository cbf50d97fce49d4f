"""The services of a server with a store; `ScoringServer` imports this module only then."""

from __future__ import annotations

import grpc
from google.longrunning import operations_pb2, operations_pb2_grpc

from vidscore_protos.v1 import (
    access_service_pb2,
    access_service_pb2_grpc,
    benchmark_service_pb2,
    benchmark_service_pb2_grpc,
    submission_service_pb2,
    submission_service_pb2_grpc,
    trust_service_pb2,
    trust_service_pb2_grpc,
)
from vidscore_server.api.access import AccessService
from vidscore_server.api.benchmarks import BenchmarkService
from vidscore_server.api.operations import OperationsService
from vidscore_server.api.submissions import SubmissionService
from vidscore_server.api.trust import TrustService
from vidscore_server.domain.access import Gate
from vidscore_server.domain.hosting import Hosting
from vidscore_server.domain.sessions import Sessions

HOSTED_SERVICES = (
    benchmark_service_pb2.DESCRIPTOR.services_by_name["BenchmarkService"].full_name,
    submission_service_pb2.DESCRIPTOR.services_by_name["SubmissionService"].full_name,
    access_service_pb2.DESCRIPTOR.services_by_name["AccessService"].full_name,
    trust_service_pb2.DESCRIPTOR.services_by_name["TrustService"].full_name,
    operations_pb2.DESCRIPTOR.services_by_name["Operations"].full_name,
)


def add_hosted_services(
    server: grpc.aio.Server, hosting: Hosting, sessions: Sessions, gate: Gate
) -> None:
    """Add the services of hosted benchmarks to a server."""
    benchmark_service_pb2_grpc.add_BenchmarkServiceServicer_to_server(
        BenchmarkService(hosting, sessions), server
    )
    submission_service_pb2_grpc.add_SubmissionServiceServicer_to_server(
        SubmissionService(hosting, sessions), server
    )
    trust_service_pb2_grpc.add_TrustServiceServicer_to_server(TrustService(hosting), server)
    operations_pb2_grpc.add_OperationsServicer_to_server(OperationsService(hosting), server)
    access_service_pb2_grpc.add_AccessServiceServicer_to_server(
        AccessService(hosting.context, gate, hosting.invitations), server
    )
