"""Waiting for an operation continues over breaks, and ends with its result."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from vidscore_client import DeadlineError, NotFoundError, Retry, UnavailableError, VidscoreError
from vidscore_client._long_work import AsyncLongWork, LongKind, LongWork, OperationStatus
from vidscore_client._tasks import TaskTransport
from vidscore_client._threads import ThreadTransport

BREAK = UnavailableError("the server is away", code="UNAVAILABLE")
SHORT = Retry(initial_s=0.01, maximum_s=0.01, give_up_after_s=60.0)

Answer = OperationStatus[int, str] | VidscoreError


def status(progress: int, *, done: bool = False) -> OperationStatus[int, str]:
    return OperationStatus("operations/o", progress, done, "counted" if done else None, None)


class Played(LongKind[int, str]):
    """Answers requests one by one, and breaks if an answer is an error."""

    def __init__(self, *answers: Answer) -> None:
        super().__init__("counting", Any, Any, int, str)  # type: ignore[arg-type]
        object.__setattr__(self, "_answers", iter(answers))

    async def get(self, transport: Any, name: str) -> OperationStatus[int, str]:
        del transport, name
        answers: Iterator[Answer] = self._answers  # type: ignore[attr-defined]
        answer = next(answers)
        if isinstance(answer, VidscoreError):
            raise answer
        return answer


def waiting_as(kind: type[ThreadTransport | TaskTransport]) -> Any:
    """The waiting of a transport, without a connection."""
    return SimpleNamespace(
        sleep=partial(kind.sleep, None),  # type: ignore[arg-type]
        call_back=partial(kind.call_back, None),  # type: ignore[arg-type]
    )


def wait(kind: str, *answers: Answer, **options: Any) -> tuple[str, list[int]]:
    """The result of the operation with a client of that kind, and the reported progress."""
    told: list[int] = []
    played = Played(*answers)
    chosen: dict[str, Any] = {"retry": SHORT, "on_progress": told.append, **options}
    if kind == "asyncio":
        work = AsyncLongWork(waiting_as(TaskTransport), played, status(0))
        return asyncio.run(work.wait(**chosen)), told
    work = AsyncLongWork(waiting_as(ThreadTransport), played, status(0))
    return LongWork(work).wait(**chosen), told


both = pytest.mark.parametrize("kind", ["synchronous", "asyncio"])


@pytest.mark.slow
@both
def test_a_break_while_waiting_is_not_an_end(kind: str) -> None:
    answers = (status(1), BREAK, BREAK, status(2), BREAK, status(3, done=True))
    assert wait(kind, *answers) == ("counted", [1, 2, 3])


@both
def test_an_error_that_no_retry_cures_is_raised_at_once(kind: str) -> None:
    gone = NotFoundError("operations/o does not exist", code="NOT_FOUND")
    with pytest.raises(NotFoundError):
        wait(kind, status(1), gone, status(2, done=True))


@both
def test_endless_breaks_are_raised_after_the_retry_limit(kind: str) -> None:
    never = Retry(initial_s=0.01, maximum_s=0.01, give_up_after_s=0.0)
    with pytest.raises(UnavailableError):
        wait(kind, BREAK, BREAK, status(2, done=True), retry=never)


@both
def test_an_operation_that_outlasts_the_timeout_continues(kind: str) -> None:
    with pytest.raises(DeadlineError, match="it continues"):
        wait(kind, *[status(1)] * 100, timeout_s=0.5)
