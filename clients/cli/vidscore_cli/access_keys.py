"""What `vidscore init`, `vidscore token` and `vidscore audit` do."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

import click

from vidscore_cli.failures import InputRefusedError
from vidscore_cli.output import say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.secret_files import place_of, secret_output
from vidscore_cli.server_choice import ServerChoice
from vidscore_client import AuditFilter, Token
from vidscore_evaluators.names import escape_controls
from vidscore_server.domain.administration import initialise
from vidscore_server.domain.names import SECRET_PREFIX
from vidscore_server.store.locations import is_address, shown_location

DAY_S = 86_400.0
NAMES_BEGIN = "tokens/"
SHORTEST_BEGINNING = 4
"""Digits of a token's name that must be typed at least."""

TOKEN_COLUMNS = ("name", "role", "team", "comment", "create_time", "expire_time", "revoke_time")
AUDIT_COLUMNS = ("number", "time", "actor", "action", "resource", "detail")


@dataclass(frozen=True)
class AuditQuery:
    """What is typed after `vidscore audit`; the names are those of the options."""

    server: ServerChoice
    benchmark: str | None
    actor: str | None
    action: str | None
    since: datetime | None
    until: datetime | None
    limit: int
    format_: str
    output: str


@dataclass(frozen=True)
class NewKey:
    """What is typed after `vidscore token create`; the names are those of the options."""

    server: ServerChoice
    role: str
    team: str
    comment: str
    lifetime_days: float | None
    secret_file: str | None


def make_store(store: str, secret_file: str | None) -> None:
    """Make a store where there is none, and write a new organiser's token.

    Raises:
        VidscoreError: If the store cannot be made.
    """
    new = not is_address(store) and not Path(store).exists()
    with secret_output(secret_file) as write:
        token = initialise(store)
        done = "is ready" if new else "has a further organiser's token"
        place = place_of(secret_file)
        say(f"The store {shown_location(store)} {done}. {place}", err=True)
        write(token.secret)


def create_token(typed: NewKey) -> None:
    """Create a token and write its secret."""
    days = typed.lifetime_days
    with secret_output(typed.secret_file) as write:
        with open_client(typed.server) as client:
            made = client.tokens.create(
                typed.role,
                team=typed.team,
                comment=typed.comment,
                lifetime_s=None if days is None else days * DAY_S,
            )
        say(f"{made.token.name} is ready. {place_of(typed.secret_file)}", err=True)
        write(made.secret)


def list_tokens(server: ServerChoice, format_: str, output: str) -> None:
    """List the tokens."""
    with open_client(server) as client:
        found = client.tokens.list()
    write_records([asdict(token) for token in found], TOKEN_COLUMNS, format_, output)


def revoke_token(server: ServerChoice, token: str) -> None:
    """End a token.

    Raises:
        click.UsageError: If a secret is typed, which is neither sent nor repeated.
        InputRefusedError: If no token, or more than one, is meant.
    """
    if SECRET_PREFIX in token:
        raise click.UsageError(
            "this is a secret, not a name, and was not sent. vidscore token list shows names; this "
            "token's stands between the first two _ of its secret"
        )
    with open_client(server) as client:
        revoked = client.tokens.revoke(_meant(client.tokens.list(), token))
    say(f"{revoked.name} opens nothing any more")


def show_audit(typed: AuditQuery) -> None:
    """List who did what."""
    wanted = AuditFilter(
        typed.benchmark or "", typed.actor or "", typed.action or "", typed.since, typed.until
    )
    with open_client(typed.server) as client:
        found = client.audit(typed.limit, wanted)
    records = [asdict(record) for record in found]
    write_records(records, AUDIT_COLUMNS, typed.format_, typed.output)


def _meant(tokens: list[Token], typed: str) -> str:
    """Name of the one token that is meant: by its name or the beginning of it, team or comment.

    Raises:
        InputRefusedError: If there is none such, or more than one.
    """
    short = typed.removeprefix(NAMES_BEGIN)
    exact = [token.name for token in tokens if token.name == NAMES_BEGIN + short]
    if exact:
        return exact[0]
    found = [
        token
        for token in tokens
        if token.revoke_time is None
        and (
            typed in {token.team, token.comment}
            or (len(short) >= SHORTEST_BEGINNING and token.name.startswith(NAMES_BEGIN + short))
        )
    ]
    if len(found) == 1:
        return found[0].name
    if not found:
        raise InputRefusedError(f"no token that holds is called {typed}; see vidscore token list")
    lines = [
        f"{token.name}  {token.role}  {token.team}  {escape_controls(token.comment)}"
        for token in found
    ]
    raise InputRefusedError(
        "\n  ".join([f"{typed} may mean any of these; name one of them:", *lines])
    )
