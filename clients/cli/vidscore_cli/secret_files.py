"""Where a new secret goes: standard output, or a file that nobody else can read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

SECRET_MODE = 0o600


@contextmanager
def secret_output(secret_file: str | None) -> Iterator[Callable[[str], None]]:
    """What writes the secret, and a newline after it.

    A file is made before anything else is done, so that no secret is made that cannot be kept. It
    is taken away again where no secret comes.

    Args:
        secret_file: Path of a file that must not be there; None for standard output.

    Raises:
        click.BadParameter: If the file is there, or cannot be made.
    """
    if secret_file is None:
        yield click.echo
        return
    descriptor = _made(secret_file)
    try:
        yield lambda secret: _write(descriptor, secret)
    except BaseException:
        Path(secret_file).unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)


def place_of(secret_file: str | None) -> str:
    """Words for people about where the secret is."""
    if secret_file is None:
        return "Its secret, which is shown this once:"
    return f"Its secret is in {secret_file}, which only you can read."


def _made(secret_file: str) -> int:
    try:
        return os.open(secret_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, SECRET_MODE)
    except FileExistsError:
        problem = f"{secret_file} is there already; name a new file"
    except OSError as error:
        problem = f"{secret_file} cannot be made: {error.strerror}"
    raise click.BadParameter(problem, param_hint="--secret-file")


def _write(descriptor: int, secret: str) -> None:
    os.write(descriptor, f"{secret}\n".encode())
    os.fsync(descriptor)
