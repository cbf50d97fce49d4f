"""Whoever waits for a submission is told of what this server, or another one, has changed."""

from __future__ import annotations

from collections.abc import Collection

from vidscore_server.domain.context import ChangePoller, Changes
from vidscore_server.domain.names import SubmissionName

ONE, TWO = SubmissionName("b", "one"), SubmissionName("b", "two")


async def test_who_waits_is_told_of_that_submission_alone() -> None:
    changes = Changes()
    one, two = changes.waiter(ONE), changes.waiter(TWO)
    changes.tell(ONE)
    assert one.done()
    assert not two.done()


async def test_what_another_server_has_changed_is_told_when_its_revision_has_moved() -> None:
    changes = Changes()
    revisions = {ONE: 1, TWO: 1}
    asked: list[tuple[SubmissionName, ...]] = []

    async def look(names: Collection[SubmissionName]) -> dict[SubmissionName, int]:
        asked.append(tuple(names))
        return {name: revisions[name] for name in names}

    poller = ChangePoller(changes, look)
    await poller.look()
    assert asked == []
    first = changes.waiter(ONE)
    await poller.look()
    assert first.done()
    one, two = changes.waiter(ONE), changes.waiter(TWO)
    revisions[TWO] = 2
    await poller.look()
    assert two.done()
    assert not one.done()
    revisions[ONE] = 5
    await poller.look()
    assert one.done()
    assert set(asked[-1]) == {ONE}


async def test_a_waiter_that_is_given_back_is_not_asked_for() -> None:
    changes = Changes()
    changes.forget(ONE, changes.waiter(ONE))
    assert changes.waited_for == ()
