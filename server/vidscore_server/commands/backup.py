"""`vidscore backup` and `vidscore restore`: a site, or one benchmark, as a file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
from msgspec import structs

from vidscore_cli.command_tree import command
from vidscore_cli.options import server_options
from vidscore_cli.output import atomic_file, check_file, say
from vidscore_cli.remote import open_client
from vidscore_cli.sites import ServerChoice
from vidscore_server.commands.store import check_store

if TYPE_CHECKING:
    from vidscore_server.store.backup_file import BackupHeader

CHUNK_BYTES = 1 << 20

PRIVATE = 0o600
"""Only its owner may read a backup: it holds hidden truth."""


@command(
    "backup",
    examples=("vidscore backup site.backup", "vidscore backup sky.backup --benchmark sky"),
)
@click.argument("file", metavar="FILE", type=click.Path())
@click.option("--benchmark", metavar="NAME", help="Back up only this benchmark.")
@server_options()
def backup(file: str, benchmark: str | None, server: ServerChoice) -> None:
    """Back up a site, or one benchmark, to a file while the server runs.

    The file is a consistent state of everything: benchmarks, truth, submissions and scores; for a
    site also tokens (their hashes) and the audit record. Only its owner may read it. For
    organisers.
    """
    from vidscore_server.store.backup_file import check_backup

    with atomic_file(check_file(file), PRIVATE) as written:
        with open_client(server) as client:
            client.export_backup(written.write, benchmark)
        header = check_backup(written)
        size = written.seek(0, os.SEEK_END)
    say(f"{file} holds {_named(header)} as of {header.time}, {size} bytes")
    say("It holds hidden truth: let nobody else read it.", err=True)


@command(
    "restore",
    examples=(
        "vidscore restore site.backup --store new.db",
        "vidscore restore sky.backup",
    ),
)
@click.argument("file", metavar="FILE", type=click.Path(readable=False))
@click.option(
    "--store",
    metavar="STORE",
    help="Restore into this store, which no server uses: a file, created if it does not "
    "exist, or a postgresql:// address.",
)
@server_options()
def restore(file: str, store: str | None, server: ServerChoice) -> None:
    """Restore a backup: all of it, or nothing if anything is wrong with it.

    A benchmark is restored into a running server, or with --store into a store, beside other
    benchmarks. A site is restored with --store into an empty store only.
    """
    from vidscore_server.domain.administration import restore as restore_backup

    if store is not None:
        check_store(store, "--store")
    with _naming(file):
        if store is not None:
            header = restore_backup(Path(file), store)
        else:
            header = _restore_into_server(file, server)
    say(f"{_named(header)} as of {header.time} is back")


def _restore_into_server(file: str, server: ServerChoice) -> BackupHeader:
    """Add a benchmark from its backup to a running server."""
    from vidscore_server.store.backup_file import check_backup

    with Path(file).open("rb") as backup:
        header = check_backup(backup)
        if not header.benchmark:
            raise click.UsageError(
                "the backup of a whole site is restored into an empty store: name it with --store"
            )
        with open_client(server) as client:
            client.import_backup(_chunks(backup))
    return header


@contextmanager
def _naming(file: str) -> Iterator[None]:
    """Add the file name to errors of reading a backup.

    Raises:
        BackupError: If the backup is faulty.
    """
    from vidscore_server.errors import BackupError

    try:
        yield
    except BackupError as error:
        faults = [structs.replace(fault, source=file, field=None) for fault in error.faults]
        raise BackupError(faults) from None


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _named(header: BackupHeader) -> str:
    return f"benchmarks/{header.benchmark}" if header.benchmark else "the site"
