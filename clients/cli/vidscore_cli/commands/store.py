"""`vidscore store`: what is done to a store that no server uses."""

from __future__ import annotations

import click

from vidscore_cli.command_tree import CommandTree, command

HERE = "vidscore_cli.commands.store"
SECTIONS = {"Stores": {"copy": f"{HERE}:copy"}}


@click.group("store", cls=CommandTree, sections=SECTIONS)
def store() -> None:
    """Move a site from one store to another."""


@command(
    "copy",
    examples=(
        "vidscore store copy site.db postgresql://vidscore@db.example.org/vidscore",
        "vidscore store copy postgresql://vidscore@db.example.org/vidscore site.db",
    ),
)
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
def copy(source: str, target: str) -> None:
    """Copy a whole site to an empty store, and check it table by table.

    FROM and TO are files of SQLite stores or postgresql:// addresses of databases. Stop the servers
    first: what they write meanwhile is not copied. Either everything is copied or nothing.
    """
    from vidscore_cli.store_copying import copy_site

    copy_site(source, target)
