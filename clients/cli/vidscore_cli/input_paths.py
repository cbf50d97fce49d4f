"""Paths that a command reads, and must not overwrite."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import click

from vidscore_evaluators.remote_files import DataPath, RemotePath, data_path, is_there, path_text


class InputPath(click.Path):
    """A path to read: a file, a folder, a pattern of systems, or NAME=PATH."""

    def __init__(self) -> None:
        """Leave errors about files to the reader: they are not usage errors."""
        super().__init__(readable=False)

    def is_path(self, word: str) -> bool:
        """Whether the typed word is a path."""
        return word != "-"


class EvaluatorPath(InputPath):
    """An evaluator or preset by its name, or a path: the file of a preset, or a system."""

    def is_path(self, word: str) -> bool:
        """Whether the word is a path, not a name: a file called ``f1`` is typed ./f1."""
        from vidscore_evaluators.presets import preset_names
        from vidscore_evaluators.registry import evaluator_names

        return word not in {*evaluator_names(), *preset_names()}

    def is_data(self, word: str) -> bool:
        """Whether the word is a path of data, as of a pattern that the shell has expanded."""
        return os.path.lexists(word) and not word.endswith(".toml") and self.is_path(word)


def refuse_input(output: str, option: str) -> None:
    """Refuse to overwrite an input of the current command.

    Args:
        output: The path or address that it writes to.
        option: The option that names it.

    Raises:
        click.BadParameter: If the command reads it.
        InputError: If that is unknown for an address.
    """
    context = click.get_current_context(silent=True)
    for kind, word in () if context is None else _inputs(context):
        _, path = name_and_path(word)
        if _is_read(data_path(output), path) and kind.is_path(word):
            what = "is what" if path == output else f"is, or is part of, {path}, which"
            said = f"{output} {what} this command reads; name another place to write to"
            raise click.BadParameter(said, param_hint=option)


def _inputs(context: click.Context) -> Iterator[tuple[InputPath, str]]:
    """Every typed path that the command reads."""
    for parameter in context.command.params:
        typed = context.params.get(parameter.name or "")
        if isinstance(parameter.type, InputPath) and typed is not None:
            for word in [typed] if isinstance(typed, str) else typed:
                yield parameter.type, word


def _is_read(target: DataPath, typed: str) -> bool:
    """Whether a target exists and is the typed source, or a part of it."""
    source = data_path(typed)
    if isinstance(target, RemotePath) or isinstance(source, RemotePath):
        if isinstance(target, Path) or isinstance(source, Path):
            return False
        below = f"{source.address}/?*"  # of folders alone, which a slash at the end asks for
        named = below if typed.endswith("/") else source.address
        patterns = (named, f"{glob.escape(source.address)}/*")
        part = any(fnmatchcase(target.address, pattern) for pattern in patterns)
        return target == source or (part and is_there(target))
    # A device or a pipe may be read and written at once.
    if not (target.is_file() or target.is_dir()):
        return False
    # As for systems, an existing path is no pattern, and a final slash means folders.
    found = [source] if _exists(source) else map(Path, glob.glob(path_text(typed)))  # noqa: PTH207
    return any(_holds(path, target) for path in found)


def _holds(source: Path, target: Path) -> bool:
    if source.is_dir() and source.resolve() in target.resolve().parents:
        return True
    return _exists(source) and source.samefile(target)


def name_and_path(word: str) -> tuple[str, str]:
    """The name, empty if there is none, and the path of PATH or NAME=PATH.

    An existing path, or an address, is a path even if it contains ``=``: ``runs/sequence=1``.
    """
    name, _, path = word.partition("=")
    named = path and not _exists(Path(word)) and isinstance(data_path(word), Path)
    return (name, path) if named else ("", word)


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # no path at all, such as a name that is too long
        return False
