"""What `vidscore init`, `vidscore token` and `vidscore audit` do."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.server_choice import ServerChoice
from vidscore_server.access.site import initialise
from vidscore_server.store.locations import is_address, shown_location

DAY_S = 86_400.0
TOKEN_COLUMNS = ("name", "role", "team", "comment", "create_time", "expire_time", "revoke_time")
AUDIT_COLUMNS = ("number", "time", "actor", "action", "resource", "detail")


def make_store(store: str) -> None:
    """Make a store where there is none, and write a new organiser's token.

    Raises:
        VidscoreError: If the store cannot be made, or a server owns it.
    """
    new = not is_address(store) and not Path(store).exists()
    token = initialise(store)
    done = "is ready" if new else "has a further organiser's token"
    click.echo(
        f"The store {shown_location(store)} {done}. Its secret, which is shown this once:", err=True
    )
    click.echo(token.secret)


def create_token(
    server: ServerChoice, role: str, team: str, comment: str, lifetime_days: float | None
) -> None:
    """Create a token and write its secret."""
    lifetime_s = None if lifetime_days is None else lifetime_days * DAY_S
    with open_client(server) as client:
        made = client.tokens.create(role, team=team, comment=comment, lifetime_s=lifetime_s)
    click.echo(f"{made.token.name} is ready. Its secret, which is shown this once:", err=True)
    click.echo(made.secret)


def list_tokens(server: ServerChoice, format_: str, output: str) -> None:
    """List the tokens."""
    with open_client(server) as client:
        found = client.tokens.list()
    write_records([asdict(token) for token in found], TOKEN_COLUMNS, format_, output)


def revoke_token(server: ServerChoice, token: str) -> None:
    """End a token."""
    with open_client(server) as client:
        revoked = client.tokens.revoke(token)
    click.echo(f"{revoked.name} opens nothing any more")


def show_audit(server: ServerChoice, limit: int, format_: str, output: str) -> None:
    """List who did what."""
    with open_client(server) as client:
        found = client.audit(limit)
    write_records([asdict(record) for record in found], AUDIT_COLUMNS, format_, output)
