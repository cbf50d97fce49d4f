"""Systems that a server ranks without storing them, by both clients."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import (
    Frames,
    InputError,
    NotFoundError,
    RankingQuestions,
    TrustDocument,
    TrustProgress,
    aio,
    connect,
)


def dots(shift_px: float = 0.0) -> Frames:
    """Two frames of one point each."""
    return Frames(
        sequences=[("", "1")],
        frame_sequences=np.array([0, 0]),
        frame_numbers=np.array([1, 2]),
        frame_starts=np.array([0, 1, 2]),
        coordinates=np.array([[10.0 + shift_px, 20.0], [30.0, 40.0]]),
    )


TRUTH = [dots()]
SYSTEMS = {"off": [dots(4.5)], "exact": [dots()]}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """A server without a store, with one place more than needed.

    It notices the cancellation of a call slightly later than its client.
    """
    with ServerProcess("--workers", "1", "--maximum-trust-analyses", "20") as server:
        yield server.address


def examine(kind: str, address: str, **given: Any) -> TrustDocument:
    """The result of a client of that kind."""

    async def examine_there() -> TrustDocument:
        async with aio.connect(address) as client:
            return await client.trust.examine_upload(**given)

    if kind == "asyncio":
        return asyncio.run(examine_there())
    with connect(address) as client:
        return client.trust.examine_upload(**given)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["synchronous", "asyncio"])
def test_the_system_that_is_off_comes_second(kind: str, address: str) -> None:
    told: list[TrustProgress] = []
    document = examine(
        kind,
        address,
        truth=TRUTH,
        systems=SYSTEMS,
        evaluators=[("spotgeo", {"tau": 5.0})],
        questions=RankingQuestions(draws=0),
        on_progress=told.append,
    )
    assert document["systems"] == ["off", "exact"]
    [ranking] = document["rankings"]
    assert ranking["ranks"] == {"off": 2, "exact": 1}
    assert told


@pytest.mark.parametrize("kind", ["synchronous", "asyncio"])
def test_a_refusal_of_the_server_is_a_typed_error(kind: str, address: str) -> None:
    """Even if it refuses while more is being sent."""
    with pytest.raises(NotFoundError, match="spotgio"):
        examine(kind, address, truth=TRUTH, systems=SYSTEMS, evaluators=["spotgio"])


@pytest.mark.parametrize("kind", ["synchronous", "asyncio"])
@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"truth": []}, "truth"),
        ({"truth": dots()}, "truth"),
        ({"truth": [dots(), "no batch"]}, "truth"),
        ({"systems": {"a": [], "b": []}}, "systems"),
        ({"evaluators": []}, "evaluators"),
        ({"questions": RankingQuestions(draws=1 << 40)}, "draws"),
    ],
)
def test_an_invalid_argument_is_an_input_error(
    kind: str, wrong: dict[str, Any], argument: str, address: str
) -> None:
    given = {"truth": TRUTH, "systems": SYSTEMS, "evaluators": ["spotgeo"], **wrong}
    with pytest.raises(InputError) as caught:
        examine(kind, address, **given)
    assert caught.value.argument == argument
