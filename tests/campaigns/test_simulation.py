"""No world of servers, teams and organisers breaks a law, whatever goes wrong.

The real rules of appends, leases, quotas, release, re-scoring and quiet times run on a simulated
store, clock and network, all from one seed. A world that breaks a law is shrunk before it is
reported, with the command that replays it.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import closing

import pytest
from tests.campaigns.settings import EFFORT, SEED
from tests.campaigns.simulation.mirror import Mirror
from tests.campaigns.simulation.shrinking import command, shrunk
from tests.campaigns.simulation.world import play
from tools.campaign_record import record

pytestmark = pytest.mark.campaign

WORLDS = 300
"""Worlds of a round, of which there are `EFFORT`."""

PARTS = 2
"""Parts of a round, one per processor."""

MOST_FINDINGS = 3
MIRRORED = 3
LEAST_CALLS = 300


@pytest.mark.parametrize("part", range(PARTS))
def test_no_world_breaks_a_law(part: int) -> None:
    for number in range(EFFORT):
        began_s, seed = time.monotonic(), SEED + number
        began_cpu_s = time.process_time()
        tried, findings = Counter[str](), list[str]()
        for world in range(seed * WORLDS + part, (seed + 1) * WORLDS, PARTS):
            outcome = play(world)
            tried += outcome.counts
            tried["worlds"] += 1
            if outcome.broken:
                smallest = shrunk(outcome)
                findings.append(f"{smallest.broken[0]}: `{command(smallest)}`")
            if len(findings) >= MOST_FINDINGS:
                break
        busy_s = time.process_time() - began_cpu_s
        figures = {"worlds in a minute of a processor": round(60 * tried["worlds"] / busy_s)}
        record("simulation", seed, tried, findings, time.monotonic() - began_s, figures)
        assert findings == []


def test_the_store_in_memory_answers_as_the_real_one() -> None:
    for seed in range(MIRRORED):
        with closing(Mirror()) as mirror:
            assert play(seed, mirror=mirror) == play(seed)
            assert mirror.differences == []
            assert mirror.calls > LEAST_CALLS


def test_a_world_is_the_same_at_every_replay() -> None:
    for seed in range(5):
        assert play(seed) == play(seed)
