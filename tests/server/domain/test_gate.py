"""The gate where there is no store, and where callers come from elsewhere."""

from __future__ import annotations

import pytest

from vidscore_server.domain.access import Gate, Transport
from vidscore_server.errors import UnauthenticatedError
from vidscore_server.runtime import utc_now

SCORE = "/vidscore.v1.ScoringService/Score"
CREATE = "/vidscore.v1.BenchmarkService/CreateBenchmark"


async def test_on_this_machine_anyone_may_score() -> None:
    gate = Gate(None, utc_now)
    here = Transport(open_to_anyone=True)
    assert (await gate.admit(SCORE, [], here)).role is None
    assert (await gate.admit(SCORE, [("authorization", "Bearer x")], here)).role is None


@pytest.mark.parametrize(("method", "open_to_anyone"), [(SCORE, False), (CREATE, True)])
async def test_from_elsewhere_and_for_what_is_hosted_a_token_is_needed(
    method: str, open_to_anyone: bool
) -> None:
    gate = Gate(None, utc_now)
    with pytest.raises(UnauthenticatedError):
        await gate.admit(method, [], Transport(open_to_anyone))
