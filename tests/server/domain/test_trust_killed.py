"""The real process, killed during an analysis: the next one restarts it, with the same outcome."""

from __future__ import annotations

import json
import time
from pathlib import Path

import grpc
import pytest
from google.longrunning import operations_pb2, operations_pb2_grpc
from tests.server.domain.test_killed import Site
from tests.server.domain.test_trust import document_of

from vidscore_evaluators.specification import EvaluatorSpec
from vidscore_evaluators.trust.analyses import CriterionAnalysis
from vidscore_evaluators.trust.criterion import Plan, chosen_candidates
from vidscore_protos.v1 import specification_pb2, trust_pb2
from vidscore_protos.v1 import trust_service_pb2 as pb
from vidscore_protos.v1.trust_service_pb2_grpc import TrustServiceStub

pytestmark = pytest.mark.slow

TEST = "multiclass-detection"
PLAN = Plan(strata=20, realisations=1, seed=4)
TIMEOUT_S = 180.0


@pytest.mark.nightly
def test_an_analysis_of_a_killed_server_restarts_with_the_same_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed once the analysis reports progress; its lease ends after a second."""
    monkeypatch.setenv("VIDSCORE_SERVER_LEASE_TIMEOUT_S", "1")
    site = Site(tmp_path)
    with site.server() as channel:
        request = pb.TestCriterionRequest(
            test=TEST,
            criteria=[specification_pb2.EvaluatorSpec(name="ospa")],
            strata=PLAN.strata,
            realisations=PLAN.realisations,
            seed=PLAN.seed,
        )
        name = TrustServiceStub(channel).TestCriterion(request, metadata=site.metadata).name
        assert not looked_at(site, channel, name, begun_is_enough=True).done
    with site.server() as channel:
        found = looked_at(site, channel, name, begun_is_enough=False)
    candidates = tuple(chosen_candidates(TEST, [EvaluatorSpec("ospa")]))
    local = CriterionAnalysis(TEST, candidates, PLAN).run()
    assert document_of(found) == json.loads(json.dumps(local))


def looked_at(
    site: Site, channel: grpc.Channel, name: str, *, begun_is_enough: bool
) -> operations_pb2.Operation:
    """The operation, once it has ended or, if that is enough, reports progress."""
    stub = operations_pb2_grpc.OperationsStub(channel)
    give_up_s = time.monotonic() + TIMEOUT_S
    while time.monotonic() < give_up_s:
        request = operations_pb2.GetOperationRequest(name=name)
        found = stub.GetOperation(request, metadata=site.metadata)
        metadata = trust_pb2.TrustMetadata()
        assert found.metadata.Unpack(metadata)
        if found.done or (begun_is_enough and metadata.stage):
            return found
        time.sleep(0.05)
    raise AssertionError("nothing has come of it")
