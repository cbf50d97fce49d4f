"""Output: text, tables and JSON to standard output or, atomically, to a file."""

from __future__ import annotations

import io
import json
import os
import signal
import stat
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, BinaryIO, TextIO

import click

from vidscore_cli.input_paths import refuse_input
from vidscore_cli.unwritable import about, naming_stdout
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.remote_files import (
    DataPath,
    RemotePath,
    check_store,
    data_path,
    write_file,
)

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.padding import Padding


STDOUT = "-"

UNBOUNDED_WIDTH = 10_000
"""Columns of a console that is no terminal: lines are then as long as they are."""

SECRET_MODE = 0o600

MAXIMUM_NAME_PART = 50
"""Characters of a name that stand in that of its neighbour: 200 bytes of the 255 that there are."""


def say(text: str, *, err: bool = False) -> None:
    """Write lines for people; what a terminal would obey in place of showing it is escaped.

    Args:
        text: One or more lines.
        err: Whether they go to standard error.
    """
    with nullcontext() if err else naming_stdout():
        click.echo(escape_controls(text, but="\n"), err=err)


def deliver_json(document: object, output: str) -> None:
    """Write a document as JSON, in which every character that a terminal would obey is escaped.

    Args:
        document: Dictionaries, lists, strings and finite numbers.
        output: Path of the file, or "-".
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    # Below 32 JSON escapes by itself; the ends of lines are those between its entries.
    deliver(escape_controls(text, but="\n", form="\\u{:04x}"), output)


def deliver(text: str, output: str) -> None:
    """Write text, with a newline at its end, to a file or to standard output as UTF-8.

    Args:
        text: The text.
        output: Path of the file, or "-".
    """
    whole = text if text.endswith("\n") else text + "\n"
    if output == STDOUT:
        with naming_stdout():
            click.echo(whole.encode(), nl=False)
    else:
        write_atomically(data_path(output), whole.encode())


def deliver_table(renderable: RenderableType, output: str) -> None:
    """Write something for people to a file or to standard output.

    Args:
        renderable: What to write.
        output: Path of the file, or "-".
    """
    if output == STDOUT and sys.stdout.isatty():
        with naming_stdout():
            console_on(sys.stdout).print(renderable)
    else:
        text = io.StringIO()
        console_on(text).print(renderable)
        deliver(_without_padding(text.getvalue()), output)


def indented(part: RenderableType) -> Padding:
    """Something for people, two columns further right."""
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, 2), expand=False)


def headed(heading: str, lines: Iterable[str], style: str = "bold") -> RenderableType:
    """A heading and lines below it, in which what a terminal would obey is escaped."""
    from rich.console import Group
    from rich.text import Text

    shown = (indented(Text(escape_controls(line))) for line in lines)
    return Group(Text(escape_controls(heading), style=style), *shown)


def console_on(stream: TextIO) -> Console:
    """A console that prints text unchanged and wraps lines only on a terminal."""
    from rich.console import Console

    width = None if stream.isatty() else UNBOUNDED_WIDTH
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False)


def drawing_console(stream: TextIO) -> Console | None:
    """A console that can draw over what it has drawn; None if nobody looks, or it cannot."""
    if not stream.isatty():
        return None  # what draws takes long to import
    console = console_on(stream)
    return console if console.is_interactive else None


def check_output(output: str, option: str = "--output") -> None:
    """Refuse a place that cannot be written before any work is done.

    Args:
        output: The place.
        option: The option that names it.

    Raises:
        click.BadParameter: If it is a folder, lies in a folder that is not there, or is what the
            command reads.
        OSError: If it cannot be.
        InputError: If it is an address of no known kind of store.
        MissingExtraError: If it is an address, and a package that it takes is not installed.
    """
    path = data_path(output)
    if output == STDOUT:
        return
    if isinstance(path, RemotePath):
        check_store(path)
        refuse_input(output, option)
        return
    check_folder_of(path, option)
    if path.is_dir():
        raise click.BadParameter(f"{output} is a folder, expected a file", param_hint=option)
    refuse_input(output, option)


def check_file(output: str, option: str = "FILE") -> Path:
    """Refuse what is no place for a regular file on this machine, before any work is done.

    Args:
        output: The place, for what is written whole or not at all, and is for its owner alone.
        option: The option that names it.

    Returns:
        Its path.

    Raises:
        click.BadParameter: If it is standard output, an address, a pipe or a device, or what
            `check_output` refuses.
        OSError: If it cannot be.
    """
    path = data_path(output)
    if output == STDOUT or isinstance(path, RemotePath):
        raise click.BadParameter(f"{output} is no file on this machine", param_hint=option)
    check_output(output, option)
    if path.exists() and not path.is_file():
        raise click.BadParameter(f"{output} is no regular file", param_hint=option)
    return path


def check_folder(output: str, option: str) -> Path:
    """Refuse what is no folder to write to, and cannot become one, before any work is done.

    Args:
        output: A folder that is there, or a new one.
        option: The option that names it.

    Returns:
        Its path.

    Raises:
        click.BadParameter: If it is a file, lies in a folder that is not there, or holds what the
            command reads.
        OSError: If it cannot be.
    """
    folder = Path(output)
    check_folder_of(folder, option)
    if folder.exists() and not folder.is_dir():
        raise click.BadParameter(f"{folder} is no folder", param_hint=option)
    refuse_input(output, option)
    return folder


def check_folder_of(path: Path, option: str) -> None:
    """Refuse a place in a folder that is not there, before any work is done.

    Args:
        path: The place.
        option: The option that names it.

    Raises:
        click.BadParameter: If the folder is not there.
        OSError: If the place cannot be.
    """
    place = led_to(path)
    if not place.parent.is_dir():
        raise click.BadParameter(
            f"there is no folder {place.parent} to write {path.name} to", param_hint=option
        )


def led_to(path: Path) -> Path:
    """The place that a path, which may be a link, leads to, whether anything is there or not.

    Raises:
        OSError: If there can be none: links lead to each other, or a name is too long.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise about(path, error) from None
    return Path(os.path.realpath(path))  # before Python 3.13 `resolve` fails in its own way


def neighbour_of(place: Path, suffix: str = ".part") -> Path:
    """A new name beside a place, and no longer than names may be."""
    return place.with_name(f".{place.name[:MAXIMUM_NAME_PART]}.{os.urandom(4).hex()}{suffix}")


def write_atomically(path: DataPath, data: bytes, mode: int = 0o666) -> None:
    """Write a file through a neighbour that takes its place when it is whole.

    What is no regular file (a device, a pipe) cannot be replaced and is written as it is; a store
    of objects shows a file when it is whole.

    Args:
        path: The file.
        data: What is to be in it.
        mode: Who may do what with it, but for what the process's mask takes away.

    Raises:
        OSError: If it cannot be written; about the file, not about its neighbour.
    """
    with atomic_file(path, mode) as file:
        file.write(data)


@contextmanager
def atomic_file(path: DataPath, mode: int) -> Iterator[BinaryIO]:
    """A file to write, and read, that takes its place when it is whole; what fails leaves nothing.

    What is no regular file (a device, a pipe) cannot be replaced; it is written as it is, and not
    read.

    Args:
        path: The file.
        mode: Who may do what with it, but for what the process's mask takes away, or what it
            replaces does not allow.

    Raises:
        OSError: If it cannot be written; about the file, not about its neighbour.
    """
    if isinstance(path, RemotePath):
        content = io.BytesIO()
        yield content
        write_file(path, content.getvalue())
        return
    if path.exists() and not path.is_file():
        try:
            # Not resolved: the link of a pipe in /proc leads to no path.
            with path.open("wb") as file:
                yield file
        except OSError as error:
            raise about(path, error) from None
        return
    target = led_to(path)
    neighbour = neighbour_of(target)
    try:
        with removing_at_sigterm(neighbour):
            descriptor = os.open(neighbour, os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
            with os.fdopen(descriptor, "w+b") as file:
                _let_read(neighbour, target, mode)
                yield file
                file.flush()
                os.fsync(file.fileno())
            neighbour.replace(target)
    except OSError as error:
        raise about(path, error) from None
    finally:
        remove(neighbour)


def _let_read(neighbour: Path, target: Path, most: int = 0o777) -> None:
    """Let those read a neighbour who may read what it replaces, but for what nobody may."""
    if target.exists():
        with suppress(PermissionError):  # of a file system that has no such thing
            neighbour.chmod(stat.S_IMODE(target.stat().st_mode) & most)


@contextmanager
def removing_at_sigterm(neighbour: Path) -> Iterator[None]:
    """While a file or folder is being filled: SIGTERM removes it before it ends the process."""

    def end(number: int, _frame: FrameType | None) -> None:
        remove(neighbour)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    # Handlers are for the main thread to set, and where there is one it knows what to do.
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def remove(place: Path) -> None:
    """Remove a file or folder, if it is there; what cannot be removed stays, unsaid."""
    import shutil

    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):  # a read-only disk says so before it says that nothing is there
            place.unlink()


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder to fill that takes the place of a new or empty one when it is whole.

    Args:
        path: The folder.

    Raises:
        OSError: If it cannot be written; about the folder, not about its neighbour.
    """
    whole = led_to(path)
    neighbour = neighbour_of(whole)
    try:
        with removing_at_sigterm(neighbour):
            neighbour.mkdir()
            _let_read(neighbour, whole)
            yield neighbour
            if whole.is_dir():
                whole.rmdir()
            neighbour.rename(whole)
    except OSError as error:
        raise about(path, error) from None
    finally:
        remove(neighbour)


def _without_padding(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.splitlines())
