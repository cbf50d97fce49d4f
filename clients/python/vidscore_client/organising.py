"""Further functions for organisers: invitations, the queue, and previews of policies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from vidscore_client._convert import duration_of, to_dataclass
from vidscore_client._encoding import resource_name
from vidscore_client._transport import Transport, list_pages, run_blocking
from vidscore_client.errors import InputError
from vidscore_client.frames import parse_string
from vidscore_client.hosting import NewToken, Submission, SubmissionState, Token
from vidscore_protos.forms import present
from vidscore_protos.v1 import access_service_pb2 as wire
from vidscore_protos.v1 import organiser_pb2, server_service_pb2
from vidscore_protos.v1 import submission_service_pb2 as submissions_wire

ACCESS = "/vidscore.v1.AccessService/"
GET_QUEUE = "/vidscore.v1.ServerService/GetQueue"


@dataclass(frozen=True)
class Invitation:
    """An invitation of a team, without its secret.

    Attributes:
        name: Full name: ``invitations/{invitation}``.
        team: The team.
        comment: Its purpose.
        create_time: When it was created.
        expire_time: When it ends.
        accept_time: When it was accepted; None if it is not.
        revoke_time: When it was revoked; None if it is not.
        token: Full name of the token from its acceptance; empty for none.
        open: Whether it can be accepted.
    """

    name: str
    team: str
    comment: str
    create_time: datetime | None
    expire_time: datetime | None
    accept_time: datetime | None
    revoke_time: datetime | None
    token: str
    open: bool


@dataclass(frozen=True)
class NewInvitation:
    """A new invitation and its secret, which is returned only once."""

    invitation: Invitation
    secret: str

    def __repr__(self) -> str:
        """The invitation without the secret, because representations end up in logs."""
        return f"NewInvitation(invitation={self.invitation!r})"


@dataclass(frozen=True)
class SeenScores:
    """What a team sees of its scores under one evaluator.

    Attributes:
        submission: Its submission on the board that it sees; empty for none.
        rank: Its rank there; 0 for none.
        values: Its values there by measure; None if one is undefined.
        score_count: Number of scores that it sees in the report of its newest scored submission.
        curve_count: Number of curves that it sees there.
        outcome_submission_count: Number of submissions whose outcomes it may read.
    """

    submission: str
    rank: int
    values: Mapping[str, float | None]
    score_count: int
    curve_count: int
    outcome_submission_count: int


@dataclass(frozen=True)
class TeamView:
    """What a team sees of its scores under an evaluator, before and after a change.

    Attributes:
        team: The team.
        evaluator: Name of the evaluator.
        now: Its current view.
        then: Its view after the change.
    """

    team: str
    evaluator: str
    now: SeenScores
    then: SeenScores


@dataclass(frozen=True)
class Queue:
    """Waiting, running and failed submissions of all benchmarks.

    Attributes:
        submissions: The submissions without their streams, those longest in their state first.
        counts: Number of submissions by state, for states with any.
    """

    submissions: tuple[Submission, ...]
    counts: Mapping[SubmissionState, int]


class AsyncInvitations:
    """Invitations; `AsyncClient.invitations`. See `vidscore_client.Invitations`."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def create(
        self,
        teams: Iterable[str],
        *,
        comment: str = "",
        lifetime_s: float | None = None,
        token_lifetime_s: float | None = None,
    ) -> list[NewInvitation]:
        """Invite teams; see `vidscore_client.Invitations.create`."""
        if isinstance(teams, str):
            raise InputError("teams", "a string", "a list of names")
        request = wire.CreateInvitationsRequest(
            teams=[parse_string(f"teams[{row}]", team) for row, team in enumerate(teams)],
            comment=parse_string("comment", comment),
            lifetime=duration_of("lifetime_s", lifetime_s),
            token_lifetime=duration_of("token_lifetime_s", token_lifetime_s),
        )
        response = await self._transport.unary(
            ACCESS + "CreateInvitations", request, wire.CreateInvitationsResponse
        )
        return [
            NewInvitation(to_dataclass(Invitation, entry.invitation), entry.secret)
            for entry in response.invitations
        ]

    async def list(self) -> list[Invitation]:
        """Every invitation; see `vidscore_client.Invitations.list`."""
        pages = await list_pages(
            self._transport,
            ACCESS + "ListInvitations",
            wire.ListInvitationsRequest(),
            wire.ListInvitationsResponse,
        )
        return [to_dataclass(Invitation, entry) for page in pages for entry in page.invitations]

    async def revoke(self, invitation: str) -> Invitation:
        """End an invitation; see `vidscore_client.Invitations.revoke`."""
        request = wire.RevokeInvitationRequest(
            name=resource_name("invitation", invitation, "invitations")
        )
        response = await self._transport.unary(
            ACCESS + "RevokeInvitation", request, wire.RevokeInvitationResponse
        )
        return to_dataclass(Invitation, response.invitation)

    async def look(self, secret: str) -> Invitation:
        """An invitation by its secret; see `vidscore_client.Invitations.look`."""
        response = await self._accept(secret, validate_only=True)
        return to_dataclass(Invitation, response.invitation)

    async def accept(self, secret: str) -> NewToken:
        """Make the token of an invited team; see `vidscore_client.Invitations.accept`."""
        response = await self._accept(secret, validate_only=False)
        return NewToken(to_dataclass(Token, response.token), response.secret)

    async def _accept(self, secret: str, *, validate_only: bool) -> wire.AcceptInvitationResponse:
        last = parse_string("secret", secret).rstrip("/").rpartition("/")[2]
        request = wire.AcceptInvitationRequest(secret=last, validate_only=validate_only)
        response: wire.AcceptInvitationResponse = await self._transport.unary(
            ACCESS + "AcceptInvitation", request, wire.AcceptInvitationResponse
        )
        return response


class Invitations:
    """Invitations of teams; `vidscore_client.Client.invitations`."""

    def __init__(self, invitations: AsyncInvitations) -> None:
        self._invitations = invitations

    def create(
        self,
        teams: Iterable[str],
        *,
        comment: str = "",
        lifetime_s: float | None = None,
        token_lifetime_s: float | None = None,
    ) -> list[NewInvitation]:
        """Create an invitation for each team; secrets are returned only once. For organisers.

        Args:
            teams: The teams.
            comment: Their purpose; it becomes the comment of the tokens.
            lifetime_s: Seconds for which they can be accepted; None for 30 days.
            token_lifetime_s: Seconds for which the tokens are valid; None for ever.

        Raises:
            InvalidArgumentError: If a name is invalid or repeated.
            VidscoreError: If the call fails.
        """
        return run_blocking(
            self._invitations.create(
                teams, comment=comment, lifetime_s=lifetime_s, token_lifetime_s=token_lifetime_s
            )
        )

    def list(self) -> list[Invitation]:
        """Every invitation, newest first. For organisers.

        Raises:
            VidscoreError: If the call fails.
        """
        return run_blocking(self._invitations.list())

    def revoke(self, invitation: str) -> Invitation:
        """End an invitation that was not accepted. For organisers.

        Args:
            invitation: Its name, not its secret.

        Raises:
            NotFoundError: If there is none of that name.
            VidscoreError: If it was accepted, or the call fails.
        """
        return run_blocking(self._invitations.revoke(invitation))

    def look(self, secret: str) -> Invitation:
        """An open invitation; nothing is changed. It needs no token.

        Args:
            secret: Its secret, or its whole link.

        Raises:
            NotFoundError: If there is none.
            VidscoreError: If it has ended, or the call fails.
        """
        return run_blocking(self._invitations.look(secret))

    def accept(self, secret: str) -> NewToken:
        """Create the token of an invited team, and end the invitation. It needs no token.

        Args:
            secret: Its secret, or its whole link.

        Raises:
            NotFoundError: If there is none.
            VidscoreError: If it has ended, or the call fails.
        """
        return run_blocking(self._invitations.accept(secret))


async def get_queue(transport: Transport, states: Iterable[SubmissionState | str]) -> Queue:
    """The queue, page by page; see `vidscore_client.Client.queue`."""
    request = server_service_pb2.GetQueueRequest(states=[_state(state) for state in states])
    pages = await list_pages(transport, GET_QUEUE, request, server_service_pb2.GetQueueResponse)
    counts = {_state_of(entry.state): entry.count for entry in pages[-1].counts}
    return Queue(
        tuple(to_dataclass(Submission, entry) for page in pages for entry in page.submissions),
        counts,
    )


def _state(state: SubmissionState | str) -> Any:
    try:
        return submissions_wire.SubmissionState.Value(f"SUBMISSION_STATE_{str(state).upper()}")
    except ValueError:
        expected = " or ".join(known.value for known in SubmissionState)
        raise InputError("states", repr(state)[:80], expected) from None


def _state_of(number: int) -> SubmissionState:
    known = submissions_wire.SubmissionState.Name(number) if number in _NUMBERS else ""
    return SubmissionState(known.removeprefix("SUBMISSION_STATE_").lower() or "unknown")


_NUMBERS = frozenset(submissions_wire.SubmissionState.values()) - {0}


def decode_team_view(message: organiser_pb2.TeamView) -> TeamView:
    """A team's view before and after a change."""
    return TeamView(message.team, message.evaluator, _seen(message.now), _seen(message.then))


def _seen(message: organiser_pb2.SeenScores) -> SeenScores:
    values = {entry.measure: present(entry, "value") for entry in message.values}
    return to_dataclass(SeenScores, message, values=values)
