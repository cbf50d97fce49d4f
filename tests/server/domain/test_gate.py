"""The gate: whom it admits to what, by which token, and which calls end with a token."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest
from msgspec.structs import replace
from tests.server.store.records import NOON, later

from vidscore_server.domain import access
from vidscore_server.domain.access import (
    ANONYMOUS,
    LOOK_INTERVAL_S,
    Caller,
    Gate,
    NewToken,
    RunningTokens,
    Transport,
    new_token,
)
from vidscore_server.errors import PermissionDeniedError, UnauthenticatedError
from vidscore_server.runtime import RunningCall, utc_now
from vidscore_server.store import SqlStore
from vidscore_server.store.records import Role, TokenRecord

SCORE = "/vidscore.v1.ScoringService/Score"
CREATE = "/vidscore.v1.BenchmarkService/CreateBenchmark"
BOARD = "/vidscore.v1.BenchmarkService/GetLeaderboard"
ACCEPT = "/vidscore.v1.AccessService/AcceptInvitation"
SUBMIT = "/vidscore.v1.SubmissionService/CreateSubmission"
UNKNOWN = "/vidscore.v1.BenchmarkService/NobodyKnows"

HERE, ELSEWHERE = Transport(open_to_anyone=True), Transport(open_to_anyone=False)

RED = new_token(Role.PARTICIPANT, "red", "", NOON, timedelta(seconds=60))
VIEWER = new_token(Role.VIEWER, "", "", NOON)
ORGANISER = new_token(Role.ORGANISER, "", "", NOON)
STRANGER = new_token(Role.ORGANISER, "", "", NOON)

AS_RED = Caller(RED.record.token, Role.PARTICIPANT, "red")
AS_VIEWER = Caller(VIEWER.record.token, Role.VIEWER, "")
AS_ORGANISER = Caller(ORGANISER.record.token, Role.ORGANISER, "")


class Kept:
    """A store with tokens only."""

    def __init__(self, *tokens: NewToken) -> None:
        self.records = {token.record.token: token.record for token in tokens}
        self.looked_up: list[str] = []

    @contextmanager
    def read(self) -> Iterator[Kept]:
        yield self

    def token(self, name: str) -> TokenRecord | None:
        self.looked_up.append(name)
        return self.records.get(name)


def gate_of(store: Kept | None, now: datetime = NOON) -> Gate:
    return Gate(cast("SqlStore | None", store), lambda: now)


def bearing(token: NewToken) -> list[tuple[str, str | bytes]]:
    return [("user-agent", "x"), ("authorization", f"Bearer {token.secret}")]


# --- Roles


async def test_on_this_machine_anyone_may_score() -> None:
    gate = Gate(None, utc_now)
    assert (await gate.admit(SCORE, [], HERE)).role is None
    assert (await gate.admit(SCORE, [("authorization", "Bearer x")], HERE)).role is None


@pytest.mark.parametrize("method", [BOARD, ACCEPT])
async def test_public_methods_and_those_with_their_own_secret_need_no_token(method: str) -> None:
    assert await gate_of(Kept()).admit(method, [], ELSEWHERE) == ANONYMOUS


@pytest.mark.parametrize(
    ("method", "open_to_anyone"),
    [(SCORE, False), (CREATE, True), (CREATE, False), (UNKNOWN, True), (UNKNOWN, False)],
)
async def test_callers_from_elsewhere_and_hosted_methods_need_a_token(
    method: str, open_to_anyone: bool
) -> None:
    with pytest.raises(UnauthenticatedError, match="needs a token"):
        await Gate(None, utc_now).admit(method, [], Transport(open_to_anyone))


@pytest.mark.parametrize("transport", [HERE, ELSEWHERE])
@pytest.mark.parametrize(
    ("token", "method", "caller"),
    [
        (VIEWER, SCORE, AS_VIEWER),
        (VIEWER, BOARD, AS_VIEWER),
        (RED, SUBMIT, AS_RED),
        (ORGANISER, SUBMIT, AS_ORGANISER),
        (ORGANISER, CREATE, AS_ORGANISER),
    ],
)
async def test_a_token_is_admitted_to_the_methods_of_its_role(
    token: NewToken, method: str, caller: Caller, transport: Transport
) -> None:
    assert await gate_of(Kept(token)).admit(method, bearing(token), transport) == caller


@pytest.mark.parametrize("transport", [HERE, ELSEWHERE])
@pytest.mark.parametrize(
    ("token", "method", "what", "who"),
    [
        (VIEWER, SUBMIT, "a viewer may not create submission", "an organiser or a participant"),
        (RED, CREATE, "a participant may not create benchmark", "an organiser"),
        (ORGANISER, UNKNOWN, "an organiser may not nobody knows", "nobody"),
    ],
)
async def test_a_caller_of_the_wrong_role_is_told_the_right_roles(
    token: NewToken, method: str, what: str, who: str, transport: Transport
) -> None:
    with pytest.raises(PermissionDeniedError) as caught:
        await gate_of(Kept(token)).admit(method, bearing(token), transport)
    assert str(caught.value) == f"{what}; this needs the token of {who}"


# --- Tokens


@pytest.mark.parametrize("scheme", ["Bearer ", "bearer ", "BEARER  "])
async def test_the_scheme_of_the_token_ignores_case(scheme: str) -> None:
    shown = [("authorization", scheme + RED.secret)]
    assert await gate_of(Kept(RED)).admit(SUBMIT, shown, ELSEWHERE) == AS_RED


@pytest.mark.parametrize(
    "shown",
    [
        RED.secret,
        f"Basic {RED.secret}",
        f"Session {RED.secret}",
        "Bearer ",
        "Bearer x",
        f"Bearer {STRANGER.secret}",
        f"Bearer {RED.secret[:-1]}{'1' if RED.secret[-1] == '0' else '0'}",
    ],
    ids=["no scheme", "basic", "session", "nothing", "no token", "a stranger's", "a guess"],
)
@pytest.mark.parametrize("method", [SUBMIT, BOARD])
async def test_an_invalid_token_is_refused(shown: str, method: str) -> None:
    """Even if no token is needed: a caller that shows one wants to be identified by it."""
    with pytest.raises(UnauthenticatedError, match="unknown, has expired or was revoked"):
        await gate_of(Kept(RED)).admit(method, [("authorization", shown)], HERE)


async def test_an_expired_token_is_refused() -> None:
    with pytest.raises(UnauthenticatedError, match="has expired"):
        await gate_of(Kept(RED), later(60)).admit(SUBMIT, bearing(RED), HERE)


@pytest.mark.parametrize(
    "shown",
    [
        [*bearing(RED), *bearing(RED)],
        [*bearing(RED), *bearing(ORGANISER)],
        [("authorization", b"Bearer x")],
    ],
)
async def test_a_call_has_one_token_and_it_is_text(shown: list[tuple[str, str | bytes]]) -> None:
    with pytest.raises(UnauthenticatedError, match="carries several tokens"):
        await gate_of(Kept(RED, ORGANISER)).admit(SUBMIT, shown, HERE)


async def test_an_unknown_name_is_hashed_as_often_as_a_known_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashed: list[str] = []
    real = access.hash_of

    def hash_of(secret: str) -> bytes:
        hashed.append(secret)
        return real(secret)

    monkeypatch.setattr(access, "hash_of", hash_of)
    forged = RED.secret[:-4] + "beef"
    for secret in (forged, STRANGER.secret):
        shown = [("authorization", f"Bearer {secret}")]
        with pytest.raises(UnauthenticatedError):
            await gate_of(Kept(RED)).admit(SUBMIT, shown, HERE)
    assert hashed == [forged, STRANGER.secret]


async def test_the_token_of_a_caller_is_found() -> None:
    gate = gate_of(Kept(RED))
    assert await gate.token_of(AS_RED) == RED.record
    assert await gate.token_of(AS_VIEWER) is None
    assert await gate.token_of(ANONYMOUS) is None
    assert await Gate(None, utc_now).token_of(AS_RED) is None


# --- Browser sessions


def with_session(token: str | None) -> Transport:
    """An entrance at which the session `one` belongs to a token."""
    return Transport(False, {"one": token}.get)


SESSION: list[tuple[str, str | bytes]] = [("authorization", "Session one")]


async def test_a_session_is_admitted_like_its_token() -> None:
    transport = with_session(RED.record.token)
    gate = gate_of(Kept(RED, VIEWER))
    assert await gate.admit(SUBMIT, SESSION, transport) == AS_RED
    assert await gate.admit(SCORE, bearing(VIEWER), transport) == AS_VIEWER


@pytest.mark.parametrize(
    ("token", "now"),
    [(None, NOON), (STRANGER.record.token, NOON), (RED.record.token, later(60))],
    ids=["no token", "a stranger's", "an ended one"],
)
async def test_a_session_whose_token_is_invalid_has_ended(token: str | None, now: datetime) -> None:
    with pytest.raises(UnauthenticatedError, match="the session has ended"):
        await gate_of(Kept(RED), now).admit(SUBMIT, SESSION, with_session(token))


# --- Caching of tokens


@pytest.mark.parametrize(
    ("first_s", "second_s", "times"), [(100.0, 100.3, 1), (100.0, 100.5, 2), (0.0, 0.4, 2)]
)
async def test_a_token_is_cached_for_a_moment(
    first_s: float, second_s: float, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Kept(RED)
    gate = gate_of(store)
    for now_s in (first_s, second_s):
        monkeypatch.setattr(access, "time", SimpleNamespace(monotonic=lambda now_s=now_s: now_s))
        assert await gate.admit(SUBMIT, bearing(RED), HERE) == AS_RED
    assert len(store.looked_up) == times


async def test_a_token_revoked_at_this_server_ends_at_once() -> None:
    store = Kept(RED)
    gate = gate_of(store)
    await gate.admit(SUBMIT, bearing(RED), HERE)
    store.records[RED.record.token] = replace(RED.record, revoke_time=NOON)
    gate.revoked(RED.record.token)
    gate.revoked(STRANGER.record.token)
    with pytest.raises(UnauthenticatedError):
        await gate.admit(SUBMIT, bearing(RED), HERE)


async def test_the_cache_of_tokens_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(access, "MAXIMUM_KEPT", 2)
    monkeypatch.setattr(access, "KEEP_S", 3600)
    store = Kept(RED, VIEWER, ORGANISER)
    gate = gate_of(store)
    red, viewer, organiser = (token.record.token for token in (RED, VIEWER, ORGANISER))
    for token in (RED, VIEWER, RED, ORGANISER, ORGANISER, RED):
        await gate.admit(SCORE, bearing(token), HERE)
    assert store.looked_up == [red, viewer, organiser, red]


# --- Calls that run under a token


async def run_under(
    running: RunningTokens, caller: Caller, act: Callable[[], Awaitable[None]]
) -> None:
    """A call that does something and would then continue."""
    async with RunningCall() as call:
        with running.using(caller, call):
            await act()
            await asyncio.sleep(1)  # The end of the token cuts this short.


async def _nothing_ends(_: Collection[str]) -> Collection[str]:
    return ()


async def test_only_the_calls_of_a_token_end_with_it() -> None:
    running = RunningTokens(_nothing_ends)

    async def end() -> None:
        running.end(AS_RED.token)

    async with RunningCall() as of_viewer, RunningCall() as of_nobody:
        with running.using(AS_VIEWER, of_viewer), running.using(ANONYMOUS, of_nobody):
            with pytest.raises(UnauthenticatedError, match="the token is no longer valid"):
                await run_under(running, AS_RED, end)
            await asyncio.sleep(0)


async def test_a_token_is_checked_while_a_call_runs_under_it() -> None:
    asked: list[Collection[str]] = []

    async def find_ended(tokens: Collection[str]) -> Collection[str]:
        asked.append(tokens)
        return ()

    running = RunningTokens(find_ended)
    async with RunningCall() as one, RunningCall() as other:
        with running.using(AS_RED, one):
            with running.using(AS_RED, other), running.using(ANONYMOUS, other):
                await running.look()
            assert asked == [(AS_RED.token,)]
            await running.look()
            assert asked == [(AS_RED.token,)] * 2
        await running.look()
    assert asked == [(AS_RED.token,)] * 2


async def test_a_token_revoked_at_this_server_ends_its_calls_at_once() -> None:
    gate = gate_of(Kept(RED))

    async def end() -> None:
        gate.revoked(RED.record.token)

    with pytest.raises(UnauthenticatedError, match="the token is no longer valid"):
        await run_under(gate.running, AS_RED, end)


@pytest.mark.parametrize(
    ("record", "now"),
    [
        (None, NOON),
        (replace(RED.record, revoke_time=NOON), NOON),
        (RED.record, later(60)),
    ],
)
async def test_a_check_ends_the_calls_of_tokens_that_are_no_longer_valid(
    record: TokenRecord | None, now: datetime
) -> None:
    store = Kept(VIEWER)
    if record is not None:
        store.records[record.token] = record
    gate = gate_of(store, now)
    async with RunningCall() as going_on:
        with gate.running.using(AS_VIEWER, going_on):
            with pytest.raises(UnauthenticatedError):
                await run_under(gate.running, AS_RED, gate.running.look)
            await asyncio.sleep(0)


async def test_checking_continues_after_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    slept_s: list[float] = []
    looks: list[Collection[str]] = []

    async def sleep(delay_s: float) -> None:
        slept_s.append(delay_s)
        if len(slept_s) > 3:
            raise asyncio.CancelledError

    async def find_ended(tokens: Collection[str]) -> Collection[str]:
        looks.append(tokens)
        if len(looks) == 3:
            raise asyncio.CancelledError
        raise OSError("the store is away")

    running = RunningTokens(find_ended)
    monkeypatch.setattr(asyncio, "sleep", sleep)
    said: list[str] = []
    monkeypatch.setattr(access, "log_lasting", lambda _, text, **__: said.append(text))
    async with RunningCall() as call:
        with running.using(AS_RED, call), pytest.raises(asyncio.CancelledError):
            await running.keep_looking()
    assert said == ["tokens not looked at"] * 2
    assert (len(looks), slept_s) == (3, [LOOK_INTERVAL_S] * 3)
