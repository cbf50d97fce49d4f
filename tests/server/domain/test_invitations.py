"""Invitations: their secrets, their expiry, and who may accept them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from tests.server.domain.hosted import Hosted, refusal

from vidscore_evaluators.errors import InputError
from vidscore_protos.v1 import access_service_pb2, benchmark_service_pb2, token_pb2
from vidscore_server.domain.access import Gate, Transport, hash_of
from vidscore_server.domain.administration import restore
from vidscore_server.domain.backups import export_backup
from vidscore_server.domain.invitations import (
    MOST_AT_ONCE,
    invitation_of,
    new_invitations,
    why_ended,
)
from vidscore_server.runtime import utc_now
from vidscore_server.store.sqlite import open_sqlite_store

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)


async def _invited(hosted: Hosted, *teams: str, **more: Any) -> list[str]:
    """Secrets of new invitations."""
    request = access_service_pb2.CreateInvitationsRequest(teams=teams, **more)
    organiser = hosted.organiser
    answer = await organiser.access.CreateInvitations(request, metadata=organiser.metadata)
    return [entry.secret for entry in answer.invitations]


async def _accept(hosted: Hosted, secret: str) -> access_service_pb2.AcceptInvitationResponse:
    """Accept an invitation without a token."""
    request = access_service_pb2.AcceptInvitationRequest(secret=secret)
    return await hosted.organiser.access.AcceptInvitation(request)


def test_only_the_hash_of_a_secret_is_stored() -> None:
    [made] = new_invitations(["red"], "", NOW)
    assert made.record.secret_hash == hash_of(made.secret)
    assert made.secret.startswith(f"vidscore_i_{made.record.invitation}_")
    assert made.record.expire_time == NOW + timedelta(days=30)


@pytest.mark.parametrize(
    ("teams", "fields"),
    [
        ([], ["teams"]),
        ([f"t{number}" for number in range(MOST_AT_ONCE + 1)], ["teams"]),
        (["red", "Red", "red", "organiser"], ["teams[1]", "teams[2]", "teams[3]"]),
    ],
)
def test_every_invalid_team_is_named(teams: list[str], fields: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        new_invitations(teams, "", NOW)
    assert [fault.field for fault in caught.value.faults] == fields


@pytest.mark.parametrize("lifetime", [timedelta(0), timedelta(days=-1), timedelta.max])
def test_a_lifetime_ends_after_now_and_before_the_last_representable_time(
    lifetime: timedelta,
) -> None:
    for lifetimes in ((lifetime, None), (None, lifetime)):
        if lifetimes[0] == timedelta(0):
            continue
        with pytest.raises(InputError):
            new_invitations(["red"], "", NOW, *lifetimes)


async def test_accepting_an_invitation_gives_a_participants_token_once(hosted: Hosted) -> None:
    [secret] = await _invited(
        hosted, "green", lifetime=Duration(seconds=60), token_lifetime=Duration(seconds=3600)
    )
    made = await _accept(hosted, secret)
    assert (made.token.role, made.token.team) == (token_pb2.ROLE_PARTICIPANT, "green")
    assert made.token.expire_time.ToDatetime(UTC) == hosted.clock.now + timedelta(hours=1)
    assert made.invitation.token == made.token.name
    listing = benchmark_service_pb2.ListBenchmarksRequest()
    client = hosted.client(made.secret)
    await client.benchmarks.ListBenchmarks(listing, metadata=client.metadata)
    assert (await refusal(_accept(hosted, secret))).reason == "INVITATION_ENDED"


async def test_only_one_of_many_simultaneous_acceptances_gets_the_token(hosted: Hosted) -> None:
    [secret] = await _invited(hosted, "green")
    calls = [_accept(hosted, secret) for _ in range(8)]
    answers = await asyncio.gather(*calls, return_exceptions=True)
    refused = [answer for answer in answers if isinstance(answer, grpc.aio.AioRpcError)]
    assert len(refused) == len(answers) - 1


async def test_an_invitation_can_be_read_without_accepting_it(hosted: Hosted) -> None:
    [secret] = await _invited(hosted, "green")
    request = access_service_pb2.AcceptInvitationRequest(secret=secret, validate_only=True)
    for _ in range(2):
        found = await hosted.organiser.access.AcceptInvitation(request)
        assert (found.invitation.team, found.invitation.open) == ("green", True)
        assert not found.HasField("token")
        assert not found.secret
    assert (await _accept(hosted, secret)).token.team == "green"


async def test_an_accepted_invitation_cannot_be_revoked_but_its_token_can(hosted: Hosted) -> None:
    [secret] = await _invited(hosted, "green")
    made = await _accept(hosted, secret)
    organiser = hosted.organiser
    revoking = access_service_pb2.RevokeInvitationRequest(name=made.invitation.name)
    refused = await refusal(
        organiser.access.RevokeInvitation(revoking, metadata=organiser.metadata)
    )
    assert refused.reason == "INVITATION_ENDED"
    assert made.token.name in refused.message


async def _revoke(hosted: Hosted, name: str) -> access_service_pb2.RevokeInvitationResponse:
    """Revoke an invitation, as the organiser."""
    request = access_service_pb2.RevokeInvitationRequest(name=name)
    organiser = hosted.organiser
    return await organiser.access.RevokeInvitation(request, metadata=organiser.metadata)


async def _audited(hosted: Hosted) -> list[tuple[str, str, str]]:
    """Action, resource and detail of each audit record about invitations, oldest first."""
    organiser = hosted.organiser
    answer = await organiser.access.ListAuditRecords(
        access_service_pb2.ListAuditRecordsRequest(), metadata=organiser.metadata
    )
    return [
        (record.action, record.resource, record.detail)
        for record in reversed(answer.records)
        if "Invitation" in record.action
    ]


async def test_a_revoked_invitation_cannot_be_accepted_and_stays_revoked(hosted: Hosted) -> None:
    [secret] = await _invited(hosted, "green")
    name = f"invitations/{secret.split('_')[2]}"
    first = (await _revoke(hosted, name)).invitation
    assert first.revoke_time.ToDatetime(UTC) == hosted.clock.now
    assert not first.open
    refused = await refusal(_accept(hosted, secret))
    assert (refused.reason, "was revoked" in refused.message) == ("INVITATION_ENDED", True)
    hosted.clock.pass_by(seconds=5)
    assert (await _revoke(hosted, name)).invitation == first
    assert await _audited(hosted) == [
        ("CreateInvitations", name, "team green"),
        ("RevokeInvitation", name, ""),
    ]


async def test_an_unknown_invitation_cannot_be_revoked(hosted: Hosted) -> None:
    name = f"invitations/{'0' * 16}"
    refused = await refusal(_revoke(hosted, name))
    assert (refused.reason, name in refused.message) == ("NOT_FOUND", True)


async def test_the_audit_record_shows_who_accepted(hosted: Hosted) -> None:
    [secret] = await _invited(hosted, "green")
    made = await _accept(hosted, secret)
    name = made.invitation.name
    assert await _audited(hosted) == [
        ("CreateInvitations", name, "team green"),
        ("AcceptInvitation", made.token.name, "team green"),
    ]


@pytest.mark.parametrize(("seconds", "ended"), [(59, ""), (60, "has ended"), (3600, "has ended")])
def test_an_expired_invitation_cannot_be_accepted(seconds: int, ended: str) -> None:
    [made] = new_invitations(["red"], "", NOW, timedelta(seconds=60))
    assert why_ended(made.record, NOW + timedelta(seconds=seconds)) == ended


def test_the_number_of_invitations_per_request_is_limited_as_the_error_says() -> None:
    teams = [f"t{number}" for number in range(MOST_AT_ONCE)]
    assert [made.record.team for made in new_invitations(teams, "", NOW)] == teams


def test_a_token_lifetime_below_a_second_is_a_second() -> None:
    [made] = new_invitations(["red"], "", NOW, token_lifetime=timedelta(milliseconds=10))
    assert made.record.token_lifetime_s == 1


@pytest.mark.parametrize("secret", ["", "x", f"vidscore_i_{'0' * 16}_{'0' * 64}"])
async def test_an_unknown_secret_finds_nothing(hosted: Hosted, secret: str) -> None:
    assert (await refusal(_accept(hosted, secret))).reason == "NOT_FOUND"


async def test_a_link_needs_no_token_from_another_machine() -> None:
    """The secret is enough; other calls that need no role are refused there."""
    gate = Gate(None, utc_now)
    elsewhere = Transport(open_to_anyone=False)
    method = "/vidscore.v1.AccessService/AcceptInvitation"
    assert (await gate.admit(method, (), elsewhere)).role is None
    with pytest.raises(Exception, match="needs a token"):
        await gate.admit("/vidscore.v1.ScoringService/Score", (), elsewhere)


async def test_a_backup_of_the_site_contains_invitations_and_one_of_a_benchmark_does_not(
    hosted: Hosted, tmp_path: Path
) -> None:
    await hosted.organiser.create_benchmark()
    [secret] = await _invited(hosted, "green")
    for benchmark, kept in ((None, 1), ("dots", 0)):
        file, location = tmp_path / f"{kept}.backup", tmp_path / f"{kept}.db"
        file.write_bytes(b"".join(export_backup(hosted.hosting.context.store, benchmark)))
        restore(file, str(location))
        store = open_sqlite_store(location)
        try:
            with store.read() as reader:
                found = reader.invitations(None, 10)
                assert len(found) == kept
                if found:
                    assert invitation_of(reader, secret, NOW) == found[0]
        finally:
            store.close()
