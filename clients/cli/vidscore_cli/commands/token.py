"""`vidscore token`: keys to a server."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import CommandTree, command
from vidscore_cli.options import records_options, secret_file_option, server_options
from vidscore_cli.server_choice import ServerChoice

HERE = "vidscore_cli.commands.token"
SECTIONS = {
    "Tokens": {
        "create": f"{HERE}:create",
        "list": f"{HERE}:list_",
        "revoke": f"{HERE}:revoke",
    },
}


class _RoleChoice(click.Choice[str]):
    """The roles; ``performer`` is an earlier name of ``participant`` and still accepted."""

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        return super().convert("participant" if value == "performer" else value, param, ctx)


@click.group("token", cls=CommandTree, sections=SECTIONS)
def token() -> None:
    """Create, list and revoke keys to a server."""


@command(
    "create",
    examples=(
        "vidscore token create participant --team falcon",
        "vidscore token create participant --team mole --secret-file mole.secret",
        "vidscore token create viewer --comment 'for the lab' --lifetime-days 30",
    ),
)
@click.argument("role", type=_RoleChoice(["organiser", "participant", "viewer"]))
@click.option("--team", metavar="NAME", default="", help="Team that a participant submits for.")
@click.option("--comment", metavar="TEXT", default="", help="What it is for.")
@click.option(
    "--lifetime-days",
    metavar="DAYS",
    type=click.FloatRange(min=0.0, min_open=True, max=36525.0),
    help="How long it holds; by default for ever.",
)
@secret_file_option()
@server_options()
def create(**choices: Any) -> None:
    """Create a token; its secret goes to standard output or a file, this once."""
    from vidscore_cli.access_keys import NewKey, create_token

    create_token(NewKey(**choices))


@command("list", examples=("vidscore token list",))
@server_options()
@records_options()
def list_(server: ServerChoice, format_: str, output: str) -> None:
    """List the tokens, newest first, without their secrets."""
    from vidscore_cli.access_keys import list_tokens

    list_tokens(server, format_, output)


@command("revoke", examples=("vidscore token revoke 0123456789abcdef",))
@click.argument("name", metavar="TOKEN")
@server_options()
def revoke(server: ServerChoice, name: str) -> None:
    """End a token at once.

    TOKEN is its name or the beginning of it, or the team or comment that one token alone has;
    never its secret.
    """
    from vidscore_cli.access_keys import revoke_token

    revoke_token(server, name)
