"""`vidscore token`: tokens of a server."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from vidscore_cli.command_tree import CommandTree, Entry, command
from vidscore_cli.failures import InputRefusedError
from vidscore_cli.options import NumberRange, records_options, secret_file_option, server_options
from vidscore_cli.output import say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.secret_output import place_of, secret_output
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.names import escape_controls

if TYPE_CHECKING:
    from vidscore_client import Token

    _TextChoice = click.Choice[str]
else:  # a generic class since click 8.2
    _TextChoice = click.Choice

DAY_S = 86_400.0

NAMES_BEGIN = "tokens/"

SHORTEST_BEGINNING = 4
"""Minimum number of typed digits of a token's name."""

TOKEN_COLUMNS = ("name", "role", "team", "comment", "create_time", "expire_time", "revoke_time")

SECRET_PREFIX = "vidscore_"  # noqa: S105 - how all of them begin
"""Beginning of every secret."""

HERE = "vidscore_cli.commands.token"

SECTIONS = {
    "Tokens": {
        "create": Entry(f"{HERE}:create"),
        "list": Entry(f"{HERE}:list_"),
        "revoke": Entry(f"{HERE}:revoke"),
    },
}


class _RoleChoice(_TextChoice):
    """The roles; ``performer`` is an earlier name of ``participant`` and still accepted."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert("participant" if value == "performer" else value, param, ctx)


@click.group("token", cls=CommandTree, sections=SECTIONS)
def token() -> None:
    """Create, list and revoke tokens of a server."""


@command(
    "create",
    examples=(
        "vidscore token create participant --team falcon",
        "vidscore token create participant --team mole --secret-file mole.secret",
        "vidscore token create viewer --comment 'for the lab' --lifetime-days 30",
    ),
)
@click.argument("role", type=_RoleChoice(["organiser", "participant", "viewer"]))
@click.option("--team", metavar="NAME", default="", help="Team that the participant belongs to.")
@click.option("--comment", metavar="TEXT", default="", help="Purpose.")
@click.option(
    "--lifetime-days",
    metavar="DAYS",
    type=NumberRange(min=0.0, min_open=True, max=36525.0),
    help="Lifetime; unlimited by default.",
)
@secret_file_option()
@server_options()
def create(
    server: ServerChoice,
    role: str,
    team: str,
    comment: str,
    lifetime_days: float | None,
    secret_file: str | None,
) -> None:
    """Create a token; its secret is shown once, on standard output or in a file."""
    if (role == "participant") != bool(team):
        raise click.UsageError("a participant needs --team NAME, and other roles have no team")
    with secret_output(secret_file) as write:
        with open_client(server) as client:
            made = client.tokens.create(
                role,
                team=team,
                comment=comment,
                lifetime_s=None if lifetime_days is None else lifetime_days * DAY_S,
            )
        say(f"{made.token.name} is ready. {place_of(secret_file)}", err=True)
        write(made.secret)


@command("list", examples=("vidscore token list",))
@server_options()
@records_options()
def list_(server: ServerChoice, format_: str, output: str) -> None:
    """List the tokens, newest first, without their secrets."""
    with open_client(server) as client:
        found = client.tokens.list()
    write_records([asdict(token) for token in found], TOKEN_COLUMNS, format_, output)


@command("revoke", examples=("vidscore token revoke 0123456789abcdef",))
@click.argument("name", metavar="TOKEN")
@server_options()
def revoke(server: ServerChoice, name: str) -> None:
    """Revoke a token with immediate effect.

    TOKEN is its name or the beginning of it, or a team or comment that only one token has; never
    its secret.
    """
    if SECRET_PREFIX in name:
        raise click.UsageError(
            "this is a secret, not a name, and was not sent. vidscore token list shows names; the "
            "name of this token is between the first two _ of its secret"
        )
    with open_client(server) as client:
        revoked = client.tokens.revoke(_meant(client.tokens.list(), name))
    say(f"{revoked.name} is revoked")


def _meant(tokens: list[Token], typed: str) -> str:
    """Name of the only token with this name or beginning of a name, team or comment.

    Raises:
        InputRefusedError: If there is none, or more than one.
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
        raise InputRefusedError(f"no valid token is called {typed}; see vidscore token list")
    lines = [
        f"{token.name}  {token.role}  {token.team}  {escape_controls(token.comment)}"
        for token in found
    ]
    raise InputRefusedError(
        "\n  ".join([f"{typed} may mean any of these; name one of them:", *lines])
    )
