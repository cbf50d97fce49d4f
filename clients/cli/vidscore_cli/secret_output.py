"""Output of a token's secret, which is shown only once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import click

from vidscore_cli.output import SECRET_MODE, STDOUT, check_file, deliver
from vidscore_cli.unwritable import about

ROOM_BYTES = 1 << 16
"""Bytes for secrets that the file takes before there are any, in case the disk is full."""


@contextmanager
def secret_output(secret_file: str | None) -> Iterator[Callable[[str], None]]:
    """A function that writes the secret and a newline.

    The file is created first, with room for the secret, so that no secret is created that cannot be
    stored. It is removed if no secret follows.

    Args:
        secret_file: Path of a file that must not exist; None for standard output.

    Raises:
        click.BadParameter: If the file exists, or the path cannot be a file.
        OSError: If it cannot be written.
    """
    if secret_file is None:
        yield partial(deliver, output=STDOUT)
        return
    path = check_file(secret_file, "--secret-file")
    descriptor = _made(path)
    try:
        _write(descriptor, path, bytes(ROOM_BYTES))
        yield lambda secret: _write(descriptor, path, f"{secret}\n".encode())
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def place_of(secret_file: str | None) -> str:
    """A sentence that says where the secret is."""
    if secret_file is None:
        return "Its secret, which is shown this once:"
    return f"Its secret is in {secret_file}, which only you can read."


def _made(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET_MODE)
    except FileExistsError:
        problem = f"{path} already exists; name a new file"
        raise click.BadParameter(problem, param_hint="--secret-file") from None
    except OSError as error:
        raise about(path, error) from None


def _write(descriptor: int, path: Path, content: bytes) -> None:
    try:
        os.lseek(descriptor, 0, os.SEEK_SET)
        with open(descriptor, "wb", closefd=False) as file:
            file.write(content)
            file.truncate()
        os.fsync(descriptor)
    except OSError as error:
        raise about(path, error) from None
