"""What `vidscore backup` and `vidscore restore` do."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from vidscore_cli.output import check_output, say
from vidscore_cli.remote import open_client
from vidscore_cli.server_choice import ServerChoice
from vidscore_server.domain.administration import restore
from vidscore_server.hosting.backup_file import BackupHeader, check_backup

CHUNK_BYTES = 1 << 20
PRIVATE = 0o600
"""Only its owner may read a backup: it holds hidden truth."""


def back_up(server: ServerChoice, benchmark: str | None, file: str) -> None:
    """Write a backup to a file that is whole, and sound, or not there at all."""
    check_output(file)
    target = Path(file).resolve()
    with _private_neighbour(target) as part:
        with part.open("wb") as written, open_client(server) as client:
            client.export_backup(written.write, benchmark)
            written.flush()
            os.fsync(written.fileno())
        with part.open("rb") as backup:
            header = check_backup(backup)
        part.replace(target)
    size = target.stat().st_size
    say(f"{file} holds {_named(header)} as of {header.time}, {size} bytes")
    say("It holds hidden truth: let nobody else read it.", err=True)


def restore_into_store(file: str, store: str) -> None:
    """Restore a backup into a store that no server owns."""
    header = restore(Path(file), store)
    say(f"{_named(header)} as of {header.time} is back")


def restore_into_server(file: str, server: ServerChoice) -> None:
    """Add a benchmark out of its backup to a running server."""
    with Path(file).open("rb") as backup:
        header = check_backup(backup)
        if not header.benchmark:
            raise click.UsageError(
                "the backup of a whole site is restored into an empty store: name it with --store"
            )
        with open_client(server) as client:
            client.import_backup(_chunks(backup))
    say(f"{_named(header)} as of {header.time} is back")


@contextmanager
def _private_neighbour(target: Path) -> Iterator[Path]:
    """A new file beside the target that only its owner may read, gone at the end."""
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}.part")
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    try:
        yield part
    finally:
        part.unlink(missing_ok=True)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    while chunk := file.read(CHUNK_BYTES):
        yield chunk


def _named(header: BackupHeader) -> str:
    return f"benchmarks/{header.benchmark}" if header.benchmark else "the site"
