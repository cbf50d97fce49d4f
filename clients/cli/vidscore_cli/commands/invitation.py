"""`vidscore invitation`: one link per team, which creates the team's token once."""

from __future__ import annotations

from dataclasses import asdict

import click

from vidscore_cli.command_tree import CommandTree, Entry, command
from vidscore_cli.commands.token import DAY_S
from vidscore_cli.options import NumberRange, records_options, secret_file_option, server_options
from vidscore_cli.output import say
from vidscore_cli.records import write_records
from vidscore_cli.remote import open_client
from vidscore_cli.secret_output import place_of, secret_output
from vidscore_cli.sites import ServerChoice
from vidscore_evaluators.names import counted

COLUMNS = ("name", "team", "comment", "open", "create_time", "expire_time", "accept_time", "token")

HERE = "vidscore_cli.commands.invitation"

SECTIONS = {
    "Invitations": {
        "create": Entry(f"{HERE}:create"),
        "list": Entry(f"{HERE}:list_"),
        "revoke": Entry(f"{HERE}:revoke"),
        "accept": Entry(f"{HERE}:accept"),
    },
}


@click.group("invitation", cls=CommandTree, sections=SECTIONS)
def invitation() -> None:
    """Invite teams by links; list, revoke and accept invitations."""


@command(
    "create",
    examples=(
        "vidscore invitation create falcon mole",
        "vidscore invitation create falcon --link-base https://scores.example.org",
    ),
)
@click.argument("teams", metavar="TEAM...", nargs=-1, required=True)
@click.option("--comment", metavar="TEXT", default="", help="Purpose.")
@click.option(
    "--lifetime-days",
    metavar="DAYS",
    type=NumberRange(min=0.0, min_open=True, max=36525.0),
    default=30.0,
    show_default=True,
    help="Lifetime of the links.",
)
@click.option(
    "--token-lifetime-days",
    metavar="DAYS",
    type=NumberRange(min=0.0, min_open=True, max=36525.0),
    help="Lifetime of the tokens; unlimited by default.",
)
@click.option(
    "--link-base",
    metavar="URL",
    default="",
    help="Address of the site, to write whole links instead of secrets.",
)
@secret_file_option()
@server_options()
def create(
    server: ServerChoice,
    teams: tuple[str, ...],
    comment: str,
    lifetime_days: float,
    token_lifetime_days: float | None,
    link_base: str,
    secret_file: str | None,
) -> None:
    """Invite teams; their links are shown once, on standard output or in a file, a line each."""
    if link_base and not link_base.startswith(("https://", "http://")):
        found = f"{link_base} does not begin with https:// or http://"
        raise click.BadParameter(found, param_hint="--link-base")
    days = token_lifetime_days
    with secret_output(secret_file) as write:
        with open_client(server) as client:
            made = client.invitations.create(
                teams,
                comment=comment,
                lifetime_s=lifetime_days * DAY_S,
                token_lifetime_s=None if days is None else days * DAY_S,
            )
        base = f"{link_base.rstrip('/')}/invitations/" if link_base else ""
        lines = [f"{entry.invitation.team}  {base}{entry.secret}" for entry in made]
        say(f"{counted(len(made), 'team')} invited. {_place_of(secret_file)}", err=True)
        write("\n".join(lines))


def _place_of(secret_file: str | None) -> str:
    if secret_file is None:
        return "Their links, which are shown only once:"
    return f"Their links are in {secret_file}, which only you can read."


@command("list", examples=("vidscore invitation list",))
@server_options()
@records_options()
def list_(server: ServerChoice, format_: str, output: str) -> None:
    """List the invitations, newest first, without their secrets."""
    with open_client(server) as client:
        found = client.invitations.list()
    records = [asdict(entry) for entry in found]
    write_records(records, COLUMNS, format_, output, empty="nobody is invited")


@command("revoke", examples=("vidscore invitation revoke 0123456789abcdef",))
@click.argument("name", metavar="INVITATION")
@server_options()
def revoke(server: ServerChoice, name: str) -> None:
    """Revoke an invitation that was not accepted; its link then no longer works."""
    with open_client(server) as client:
        revoked = client.invitations.revoke(name)
    say(f"{revoked.name} of team {revoked.team} is revoked")


@command("accept", examples=("vidscore invitation accept vidscore_i_0123456789abcdef_...",))
@click.argument("link", metavar="LINK")
@secret_file_option()
@server_options()
def accept(server: ServerChoice, link: str, secret_file: str | None) -> None:
    """Create an invited team's token; its secret is shown once, on standard output or in a file.

    LINK is the whole link, or its last part. The command needs no token, and ends the invitation.
    """
    with secret_output(secret_file) as write:
        with open_client(server) as client:
            made = client.invitations.accept(link)
        say(f"the token of team {made.token.team} is ready. {place_of(secret_file)}", err=True)
        write(made.secret)
