"""Callers and tokens: created, hashed, checked."""

from __future__ import annotations

from contextvars import copy_context
from datetime import timedelta

import pytest
from msgspec.structs import replace
from tests.server.store.records import NOON, later

from vidscore_evaluators.errors import InputError
from vidscore_server.domain.access import (
    ANONYMOUS,
    Caller,
    current_caller,
    holds,
    new_token,
    set_caller,
    team_faults,
    token_of,
)
from vidscore_server.store.records import Role


@pytest.mark.parametrize(
    ("caller", "submits_for", "shares_as", "actor"),
    [
        (Caller("a", Role.ORGANISER), "organiser", "organiser", "tokens/a"),
        (Caller("b", Role.PARTICIPANT, "red"), "red", "red", "tokens/b"),
        (Caller("c", Role.VIEWER), "", "tokens/c", "tokens/c"),
        (ANONYMOUS, "", "tokens/", "anonymous"),
    ],
)
def test_a_caller_submits_and_shares_as_its_team_and_acts_as_its_token(
    caller: Caller, submits_for: str, shares_as: str, actor: str
) -> None:
    assert (caller.submits_for, caller.shares_as, caller.actor) == (submits_for, shares_as, actor)
    assert caller.is_organiser is (caller.role is Role.ORGANISER)


def test_a_call_has_its_own_caller() -> None:
    red = Caller("b", Role.PARTICIPANT, "red")

    def call() -> Caller:
        set_caller(red)
        return current_caller()

    assert copy_context().run(call) is red
    assert current_caller() == ANONYMOUS


def test_a_secret_has_256_random_bits_and_is_not_in_the_record() -> None:
    first, second = (new_token(Role.ORGANISER, "", "", NOON) for _ in range(2))
    digits = first.secret.rpartition("_")[2]
    assert len(bytes.fromhex(digits)) == 32
    assert digits not in repr(first.record)
    assert bytes.fromhex(digits) not in first.record.secret_hash
    assert first.secret != second.secret


def test_only_the_exact_secret_names_its_token() -> None:
    token = new_token(Role.ORGANISER, "", "", NOON)
    assert token_of(token.secret) == token.record.token
    for text in ("", "x", token.secret[:-1], token.secret + "0", token.secret.upper()):
        assert token_of(text) is None


def test_only_its_own_secret_is_valid_and_only_during_its_lifetime() -> None:
    token = new_token(Role.PARTICIPANT, "red", "", NOON, timedelta(seconds=60))
    other = new_token(Role.PARTICIPANT, "red", "", NOON)
    forged = f"vidscore_{token.record.token}_{other.secret.rpartition('_')[2]}"
    assert holds(token.record, token.secret, later(59.9))
    assert not holds(token.record, token.secret, later(60))
    assert not holds(token.record, forged, NOON)
    revoked = replace(token.record, revoke_time=NOON)
    assert not holds(revoked, token.secret, NOON)


@pytest.mark.parametrize(
    ("role", "team", "comment", "lifetime_s", "fields"),
    [
        (None, "", "", None, {"role"}),
        (Role.PARTICIPANT, "", "", None, {"team"}),
        (Role.PARTICIPANT, "Red", "", None, {"team"}),
        (Role.PARTICIPANT, "organiser", "", None, {"team"}),
        (Role.VIEWER, "red", "x" * 1001, 0, {"team", "comment", "lifetime"}),
        (Role.VIEWER, "", "", 1e12, {"lifetime"}),
    ],
)
def test_every_fault_of_a_token_is_reported(
    role: Role | None, team: str, comment: str, lifetime_s: float | None, fields: set[str]
) -> None:
    lifetime = None if lifetime_s is None else timedelta(seconds=lifetime_s)
    with pytest.raises(InputError) as caught:
        new_token(role, team, comment, NOON, lifetime)
    assert {fault.field for fault in caught.value.faults} == fields


@pytest.mark.parametrize("role", list(Role))
def test_an_error_quotes_a_bounded_part_of_a_team_name(role: Role) -> None:
    with pytest.raises(InputError) as caught:
        new_token(role, "X" * 100, "", NOON)
    [fault] = caught.value.faults
    assert fault.found == "'" + "X" * 79


@pytest.mark.parametrize("team", ["-x", "Team", "", "a" * 64, "organiser"])
def test_the_rules_for_team_names_are_listed_completely(team: str) -> None:
    """A name that follows all listed rules is accepted."""
    [fault] = team_faults(Role.PARTICIPANT, team)
    assert (
        "lower-case letters, digits and hyphens, no hyphen first, not organiser" in fault.expected
    )
