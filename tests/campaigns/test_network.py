"""Programs of all six clients submit through faulty networks to a server that is killed meanwhile.

Every client's own conformance runner is used, packaged and installed as for its users.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path
from random import Random

import pytest
from tests.campaigns.network import troubled
from tests.campaigns.network_lives import Life, Reference, digests_of
from tests.campaigns.settings import EFFORT, SEED
from tests.conformance.cases import STREETS
from tests.conformance.comparing import DeviationError, hold
from tests.conformance.runners import Runner, build
from tests.conformance.site import Site, site
from tests.conformance.stage import BENCHMARK
from tools.campaign_record import record
from tools.clients import CLIENTS, LANGUAGES, MissingToolchainError, required

pytestmark = [pytest.mark.campaign, pytest.mark.xdist_group("clients")]

KINDS: Mapping[str, Callable[[Life], None]] = {
    "stream": Life.stream,
    "given-up": Life.given_up,
    "dying": Life.dying,
    "single-calls": Life.by_single_calls,
}
"""The kinds of submissions of each client, slowest first."""

CONCURRENT_LIVES = 8
"""Concurrent lives; most of their time is waiting."""


@pytest.fixture(scope="module")
def runners() -> list[Runner]:
    """The runners of all clients whose toolchain is installed."""
    return list(_runners())


def _runners() -> Iterator[Runner]:
    for language in LANGUAGES:
        try:
            yield build(language)
        except MissingToolchainError as missing:
            if required():
                raise
            print(f"{language} skip: {missing}")


def test_every_client_delivers_each_frame_once_whatever_the_network_does(
    runners: list[Runner], tmp_path: Path
) -> None:
    for seed in range(SEED, SEED + EFFORT):
        began_s = time.monotonic()
        with site(tmp_path / str(seed)) as server:
            tried, findings = _round(server, runners, seed)
            incidents = server.server.incidents()
        record("network", seed, tried, findings, time.monotonic() - began_s)
        assert findings == []
        assert incidents == []
        assert [kind for kind, count in tried.items() if not count] == []


def _round(server: Site, runners: list[Runner], seed: int) -> tuple[Counter[str], list[str]]:
    """Let every client live every kind of life once; returns what was tried, and the failures."""
    reference = _reference(server, runners[0])
    lives = {
        Life(runner, server, reference, kind, Random(f"{seed} {kind} {runner.language}")): live
        for (kind, live), runner in product(KINDS.items(), runners)
    }
    with (
        troubled(server.server, Random(f"{seed} server")) as tried,
        ThreadPoolExecutor(CONCURRENT_LIVES) as living,
    ):
        ended = list(living.map(_finding, lives, lives.values()))
    for life in lives:
        title = CLIENTS[life.language].language
        tried[f"submissions of {title}"] += 1
        tried[f"connections of {title} broken"] += life.broken
        tried["times slow or narrow"] += life.slowed
    return tried, [finding for finding in ended if finding]


def _finding(life: Life, live: Callable[[Life], None]) -> str:
    """Live a life; returns its failure, if any."""
    try:
        live(life)
    except DeviationError as deviation:
        return f"{life.name}: {deviation}"
    return ""


def _reference(server: Site, runner: Runner) -> Reference:
    """Host the benchmark, and submit to it over a network without faults."""
    server.host(BENCHMARK, STREETS)
    result = runner.run(
        "submit",
        address=server.address,
        token=server.token,
        benchmark=BENCHMARK,
        submission="reference",
        frames=STREETS.frames_file,
    ).result()
    hold(result["scores"], "the reference submission has no scores that its team may see")
    return Reference(result["scores"], digests_of(server, "reference"))
