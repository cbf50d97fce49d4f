"""`vidscore login`: keep a server and its token under a name."""

from __future__ import annotations

from typing import Any

import click

from vidscore_cli.command_tree import ActingTree, command
from vidscore_cli.options import connection_options, records_options
from vidscore_cli.server_choice import DEFAULT_ADDRESS

HERE = "vidscore_cli.commands.login"
SECTIONS = {"Sites": {"list": f"{HERE}:list_"}}


@click.group(
    "login",
    cls=ActingTree,
    sections=SECTIONS,
    examples=(
        "vidscore login --server 127.0.0.1:50051",
        "vidscore login --site lab --server scores.example.org:443 --tls --token-file lab.secret",
        "vidscore login --site lab --default",
    ),
    invoke_without_command=True,
)
@click.option(
    "--site",
    metavar="NAME",
    default="default",
    show_default=True,
    help="Name to keep them under.",
)
@click.option(
    "--server",
    metavar="HOST:PORT",
    envvar="VIDSCORE_SERVER",
    help=f"Address of the server. [default: that of the site, else {DEFAULT_ADDRESS}]",
)
@click.option(
    "--token-file",
    metavar="PATH",
    type=click.Path(),
    help="File that the token is read from, or - for standard input; else it is asked for.",
)
@click.option("--default", is_flag=True, help="Mean this site where none is named.")
@connection_options()
@click.pass_context
def login(ctx: click.Context, /, **choices: Any) -> None:
    """Keep a server and its token as a site, for all commands.

    They are kept in ~/.config/vidscore/sites.toml, which only you can read. The first site is the
    default one; --site NAME chooses another. Nothing is kept unless the server takes the token.
    """
    if ctx.invoked_subcommand is None:
        from vidscore_cli.logging_in import Login
        from vidscore_cli.logging_in import login as log_in

        log_in(Login(**choices))


@command("list", examples=("vidscore login list",))
@records_options()
def list_(format_: str, output: str) -> None:
    """List the sites, without their tokens."""
    from vidscore_cli.logging_in import list_sites

    list_sites(format_, output)
