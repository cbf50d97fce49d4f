"""Files of outcomes, as commands write them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vidscore_cli.output import STDOUT, atomic_file, check_output
from vidscore_cli.unwritable import naming_stdout
from vidscore_evaluators.remote_files import data_path

if TYPE_CHECKING:
    from vidscore_evaluators.outcome_files import OutcomeWriter

SUFFIXES = (".csv", ".parquet", ".json")
"""Suffixes of the files that can be written."""


def check_outcome_output(output: str) -> None:
    """Refuse a file that cannot be written, or has no known suffix.

    Raises:
        click.BadParameter: If it is one.
    """
    check_output(output)
    if output != STDOUT and Path(output).suffix.lower() not in SUFFIXES:
        raise click.BadParameter(
            f"{output} ends in none of {', '.join(SUFFIXES)}", param_hint="--output"
        )


@contextmanager
def open_outcomes(output: str, mode: int = 0o666) -> Iterator[OutcomeWriter]:
    """A writer of a file, which appears only when it is complete, or of standard output.

    Args:
        output: Path of the file, or "-".
        mode: Permissions of the file; see `atomic_file`.
    """
    from vidscore_evaluators.outcome_files import WRITERS

    if output == STDOUT:
        with naming_stdout(), WRITERS[".csv"](sys.stdout.buffer) as writer:
            yield writer
        return
    write = WRITERS[Path(output).suffix.lower()]
    with atomic_file(data_path(output), mode) as file, write(file) as writer:
        yield writer
