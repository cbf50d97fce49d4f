"""Who calls: known once a call has been let in, to whatever the call runs."""

from __future__ import annotations

from contextvars import ContextVar
from dataclasses import dataclass

from vidscore_server.store.records import Role

ORGANISERS_TEAM = "organiser"
"""Team that an organiser submits for; no participant can have it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Who calls.

    Attributes:
        token: Name of the token, empty for a caller without one.
        role: What it may do; None for a caller without a token.
        team: Team that it submits for.
    """

    token: str = ""
    role: Role | None = None
    team: str = ""

    @property
    def is_organiser(self) -> bool:
        """Whether it may see and do everything."""
        return self.role is Role.ORGANISER

    @property
    def submits_for(self) -> str:
        """Team that its submissions are of; empty where it may make none."""
        return ORGANISERS_TEAM if self.is_organiser else self.team

    @property
    def shares_as(self) -> str:
        """Whose share of what is scarce it takes: its team's, or that of all without a token."""
        return self.submits_for or f"tokens/{self.token}"

    @property
    def actor(self) -> str:
        """What the audit record calls it."""
        return f"tokens/{self.token}" if self.token else "anonymous"


ANONYMOUS = Caller()

_current: ContextVar[Caller] = ContextVar("caller", default=ANONYMOUS)


def current_caller() -> Caller:
    """Who makes the call that runs."""
    return _current.get()


def set_caller(caller: Caller) -> None:
    """Note who makes the call that runs."""
    _current.set(caller)
