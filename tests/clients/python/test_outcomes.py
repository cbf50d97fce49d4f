"""Reading outcomes: complete after any break, and every answer of the server is checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import grpc
import numpy as np
import pytest
from tests.clients.python.fake_server import WAIT_S
from tests.clients.python.fake_submissions import NAME, FakeSubmissions
from tests.clients.python.streaming import event_loop
from tests.clients.python.submitting import QUICK

from vidscore_client import (
    ConflictError,
    InputError,
    InternalError,
    Outcomes,
    Retry,
    UnavailableError,
    aio,
    connect,
)
from vidscore_client.outcomes import OUTCOMES, SIDES, decode_outcomes
from vidscore_protos.v1 import annotations_pb2, outcomes_pb2
from vidscore_protos.v1 import submission_service_pb2 as wire

Reading = Callable[..., list[Outcomes]]


def read_with_threads(target: str, **asked: Any) -> list[Outcomes]:
    """With the synchronous client."""
    with connect(target, timeout_s=WAIT_S) as client:
        return list(client.submissions.outcomes("streets/run", **{"retry": QUICK, **asked}))


def read_with_tasks(target: str, **asked: Any) -> list[Outcomes]:
    """With the asyncio client."""

    async def read() -> list[Outcomes]:
        async with aio.connect(target, timeout_s=WAIT_S) as client:
            found = client.submissions.outcomes("streets/run", **{"retry": QUICK, **asked})
            return [part async for part in found]

    with event_loop() as run:
        parts: list[Outcomes] = run(read())
        return parts


@pytest.fixture(params=[read_with_threads, read_with_tasks], ids=["threads", "tasks"])
def reading(request: pytest.FixtureRequest) -> Reading:
    """Either kind of client."""
    chosen: Reading = request.param
    return chosen


def rows(first: int, last: int, score: int = 1) -> wire.ReadOutcomesResponse:
    """Rows of detections, frame by frame, up to a last one."""
    count = last - first
    batch = outcomes_pb2.OutcomeBatch(
        sequences=[annotations_pb2.SequenceKey(domain="day", sequence="a")],
        labels=["car"],
        sides=[outcomes_pb2.OUTCOME_SIDE_DETECTIONS] * count,
        row_sequences=[0] * count,
        frame_numbers=range(first, last),
        places=[0] * count,
        label_indices=[0] * count,
        confidences=[0.5] * count,
        outcomes=[outcomes_pb2.OUTCOME_TRUE_POSITIVE] * count,
    )
    return wire.ReadOutcomesResponse(
        score=f"{NAME}/scores/{score}", evaluator="f1", outcomes=batch, next_offset=last
    )


def test_reading_continues_after_the_last_received_row(
    fake: FakeSubmissions, reading: Reading
) -> None:
    fake.outcome_script = [[rows(0, 2), None], [None], [rows(2, 3), None], [rows(3, 5)]]
    parts = reading(fake.target, evaluator="f1", threshold=0.5)
    assert np.concatenate([part.frame_numbers for part in parts]).tolist() == [0, 1, 2, 3, 4]
    assert [request.offset for request in fake.readings] == [0, 2, 2, 3]
    assert {(request.evaluator, request.threshold) for request in fake.readings} == {("f1", 0.5)}
    assert not any(request.HasField("confidence") for request in fake.readings)
    assert {(part.score, part.evaluator) for part in parts} == {(f"{NAME}/scores/1", "f1")}


def test_rows_of_two_scores_are_never_mixed(fake: FakeSubmissions, reading: Reading) -> None:
    fake.outcome_script = [[rows(0, 2), None], [rows(2, 3, score=2)]]
    with pytest.raises(ConflictError, match="scored again"):
        reading(fake.target)


def test_a_refused_request_is_not_repeated(fake: FakeSubmissions, reading: Reading) -> None:
    fake.outcome_script = [[(grpc.StatusCode.FAILED_PRECONDITION, "NOT_RELEASED")]]
    with pytest.raises(ConflictError) as caught:
        reading(fake.target)
    assert caught.value.reason == "NOT_RELEASED"
    assert len(fake.readings) == 1


def test_a_server_that_never_returns_is_given_up(fake: FakeSubmissions, reading: Reading) -> None:
    fake.outcome_script = [[None] for _ in range(1000)]
    with pytest.raises(UnavailableError):
        reading(fake.target, retry=Retry(initial_s=0.01, maximum_s=0.01, give_up_after_s=0.1))


def test_an_invalid_number_is_refused_locally(fake: FakeSubmissions, reading: Reading) -> None:
    with pytest.raises(InputError, match="threshold"):
        reading(fake.target, threshold="high")
    assert fake.readings == []


# --- decoding ----------------------------------------------------------------------------------


def test_words_equal_those_of_the_wire() -> None:
    sides = outcomes_pb2.OutcomeSide.keys()[1:]
    assert tuple(name.removeprefix("OUTCOME_SIDE_").lower() for name in sides) == SIDES
    names = outcomes_pb2.Outcome.keys()[1:]
    assert tuple(name.removeprefix("OUTCOME_").lower() for name in names) == OUTCOMES


def test_omitted_columns_have_their_default_value() -> None:
    found = decode_outcomes(rows(0, 3))
    assert len(found) == 3
    assert found.sequences == (("day", "a"),)
    assert [OUTCOMES[code] for code in found.outcomes] == ["true_positive"] * 3
    assert [SIDES[code] for code in found.sides] == ["detections"] * 3
    assert found.track_ids.tolist() == found.partners.tolist() == [-1] * 3
    assert np.isnan(found.similarities).all()
    assert np.isnan(found.distances_px).all()
    assert found.shares.tolist() == [0.0] * 3
    assert not found.id_switches.any()
    assert not found.fragmentations.any()
    assert not found.columns


def test_further_columns_keep_their_type() -> None:
    message = rows(0, 1)
    add = message.outcomes.columns.add
    add(name="a", numbers=[0.5])
    add(name="b", integers=[-(2**60)])
    add(name="c", booleans=[True])
    add(name="d", strings=["x"])
    found = decode_outcomes(message).columns
    assert {name: (column.dtype.kind, column.tolist()) for name, column in found.items()} == {
        "a": ("f", [0.5]),
        "b": ("i", [-(2**60)]),
        "c": ("b", [True]),
        "d": ("U", ["x"]),
    }


@pytest.mark.parametrize("field", ["sides", "places", "confidences", "partners"])
def test_columns_of_several_lengths_are_refused(field: str) -> None:
    message = rows(0, 2)
    getattr(message.outcomes, field).append(1)
    with pytest.raises(InternalError, match="different lengths"):
        decode_outcomes(message)


@pytest.mark.parametrize(("field", "wrong"), [("outcomes", 0), ("outcomes", 10), ("sides", 3)])
def test_unknown_values_of_a_newer_server_are_refused(field: str, wrong: int) -> None:
    message = rows(0, 2)
    getattr(message.outcomes, field)[1] = wrong
    with pytest.raises(InternalError, match="does not know"):
        decode_outcomes(message)
