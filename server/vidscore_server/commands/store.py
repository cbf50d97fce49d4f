"""`vidscore init` and `vidscore store`: create a store, and change one that no server uses."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path

import click

from vidscore_cli.command_tree import CommandTree, Entry, command
from vidscore_cli.options import secret_file_option
from vidscore_cli.output import check_folder_of, say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import write_records
from vidscore_cli.secret_output import place_of, secret_output

HERE = "vidscore_server.commands.store"

SECTIONS = {
    "Stores": {
        "copy": Entry(f"{HERE}:copy"),
        "delete-team": Entry(f"{HERE}:delete_team"),
    }
}

COLUMNS = ("table", "rows", "digest")


@command(
    "init",
    examples=(
        "vidscore init --store site.db",
        "vidscore init --store site.db --secret-file organiser.secret",
        "vidscore init --store postgresql://vidscore@db.example.org/vidscore",
    ),
)
@click.option(
    "--store",
    metavar="STORE",
    required=True,
    help="File of the store, created if it does not exist, or postgresql:// address of "
    "its database.",
)
@secret_file_option()
def init(store: str, secret_file: str | None) -> None:
    """Create a store for hosted benchmarks, and the first organiser's token.

    The token's secret is shown once, on standard output or in a file; the store keeps only its
    hash. Run the command again to create another token, for example if all others are lost. A
    server may be running over the store.
    """
    from vidscore_server.domain.administration import initialise
    from vidscore_server.store import shown_location

    check_store(store, "--store")
    with secret_output(secret_file) as write:
        made = initialise(store)
        done = "is ready" if made.is_first else "has a further organiser's token"
        place = place_of(secret_file)
        say(f"The store {shown_location(store)} {done}. {place}", err=True)
        write(made.secret)


def check_store(location: str, option: str) -> None:
    """Refuse a store's file in a missing folder, before any work is done.

    Raises:
        click.BadParameter: If the folder does not exist.
        OSError: If the path is impossible.
    """
    from vidscore_server.store import is_address

    if not is_address(location):
        check_folder_of(Path(location), option)


@click.group("store", cls=CommandTree, sections=SECTIONS)
def store() -> None:
    """Copy a store, and delete teams, while no server uses it."""


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
    first: what they write in the meantime is not copied. Either everything is copied or nothing.
    """
    from vidscore_server.store import open_store, shown_location
    from vidscore_server.store.dump import copy_store

    if os.path.realpath(source) == os.path.realpath(target):
        raise click.UsageError("FROM and TO are one store: name a new one to copy to")
    check_store(target, "TO")
    with (
        closing(open_store(source, must_exist=True)) as opened,
        closing(open_store(target)) as copied,
        ProgressBar() as bar,
    ):
        stages: set[str] = set()

        def show(what: str, done: int, total: int) -> None:
            if what not in stages:
                stages.add(what)
                bar.stage(f"{what} rows")
            if total:
                bar.advance(done, total)

        digests = copy_store(opened, copied, show)
    records = [
        {"table": table, "rows": digest.row_count, "digest": digest.sha256}
        for table, digest in digests.items()
    ]
    write_records(records, COLUMNS, "table", "-")
    say(f"{shown_location(target)} holds what {shown_location(source)} holds", err=True)


@command(
    "delete-team",
    examples=(
        "vidscore store delete-team site.db falcon",
        "vidscore store delete-team site.db falcon --force",
    ),
)
@click.argument("location", metavar="STORE")
@click.argument("team", metavar="TEAM")
@click.option("--force", is_flag=True, help="Delete it even if it has submissions.")
def delete_team(location: str, team: str, force: bool) -> None:
    """Delete a team with its submissions, scores, tokens and invitations, for all benchmarks.

    STORE is a file, or the postgresql:// address of a database. Stop the servers first. The audit
    record, which is append-only, keeps what the team did.
    """
    from vidscore_server.domain import administration

    said = administration.delete_team(location, team, force=force)
    say(f"{team} is deleted: {said}")
