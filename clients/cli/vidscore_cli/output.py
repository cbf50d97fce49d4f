"""Output: text, tables and JSON to standard output or, atomically, to a file."""

from __future__ import annotations

import io
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
from vidscore_evaluators.machine_text import json_text
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
"""Columns of a console that is not a terminal: lines are not wrapped."""

TERMINAL_WIDTH = 80
"""Columns of a terminal of unknown width."""

SECRET_MODE = 0o600

MAXIMUM_NAME_PART = 50
"""Characters of a name that its neighbour's name repeats: up to 200 bytes of the allowed 255."""


def say(text: str, *, err: bool = False) -> None:
    """Write lines for people; control characters are escaped.

    Args:
        text: One or more lines.
        err: Whether they go to standard error.
    """
    with nullcontext() if err else naming_stdout():
        click.echo(escape_controls(text, but="\n"), err=err)


def deliver_json(document: object, output: str) -> None:
    """Write a document as JSON, with control characters escaped.

    Args:
        document: Dictionaries, lists, strings and finite numbers.
        output: Path of the file, or "-".
    """
    text = json_text(document)
    # JSON itself escapes characters below 32; the line ends here are between entries.
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
    """A renderable, indented by two columns."""
    from rich.padding import Padding

    return Padding(part, (0, 0, 0, 2), expand=False)


def headed(heading: str, lines: Iterable[str], style: str = "bold") -> RenderableType:
    """A heading and lines below it, with control characters escaped."""
    from rich.console import Group
    from rich.text import Text

    shown = (indented(Text(escape_controls(line))) for line in lines)
    return Group(Text(escape_controls(heading), style=style), *shown)


def console_on(stream: TextIO) -> Console:
    """A console that prints text unchanged and wraps lines only on a terminal."""
    from rich.console import Console

    width = None if stream.isatty() else UNBOUNDED_WIDTH
    console = Console(file=stream, width=width, markup=False, highlight=False, emoji=False)
    if console.width < 1:  # by a variable COLUMNS=0; nothing would appear
        console.width = TERMINAL_WIDTH
    return console


def drawing_console(stream: TextIO) -> Console | None:
    """A console that can redraw; None if the stream is not such a terminal."""
    if not stream.isatty():
        return None  # what draws takes long to import
    console = console_on(stream)
    return console if console.is_interactive else None


def check_output(output: str, option: str = "--output") -> None:
    """Refuse a path that cannot be written, before any work is done.

    Args:
        output: The path or address.
        option: The option that names it.

    Raises:
        click.BadParameter: If it is a folder, is in a missing folder, or is an input of the
            command.
        OSError: If the path is impossible.
        InputError: If it is an address of an unknown kind of store.
        MissingExtraError: If it is an address, and a package that it needs is not installed.
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
    """Refuse a path that cannot be a regular file on this machine, before any work is done.

    Args:
        output: The path; the file is written completely or not at all, and is for its owner only.
        option: The option that names it.

    Returns:
        Its path.

    Raises:
        click.BadParameter: If it is standard output, an address, a pipe or a device, or if
            `check_output` refuses it.
        OSError: If the path is impossible.
    """
    path = data_path(output)
    if output == STDOUT or isinstance(path, RemotePath):
        raise click.BadParameter(f"{output} is not a file on this machine", param_hint=option)
    check_output(output, option)
    if path.exists() and not path.is_file():
        raise click.BadParameter(f"{output} is not a regular file", param_hint=option)
    return path


def check_folder(output: str, option: str) -> Path:
    """Refuse a path that is not, and cannot become, a folder to write to, before any work is done.

    Args:
        output: An existing or a new folder.
        option: The option that names it.

    Returns:
        Its path.

    Raises:
        click.BadParameter: If it is a file, is in a missing folder, or contains an input of the
            command.
        OSError: If the path is impossible.
    """
    folder = Path(output)
    check_folder_of(folder, option)
    if folder.exists() and not folder.is_dir():
        raise click.BadParameter(f"{folder} is not a folder", param_hint=option)
    refuse_input(output, option)
    return folder


def check_folder_of(path: Path, option: str) -> None:
    """Refuse standard output, and a path in a missing folder, before any work is done.

    Args:
        path: The path.
        option: The option that names it.

    Raises:
        click.BadParameter: If it is standard output, or the folder is missing.
        OSError: If the path is impossible.
    """
    if str(path) == STDOUT:
        said = f"{STDOUT} is standard output; name a file or folder"
        raise click.BadParameter(said, param_hint=option)
    place = led_to(path)
    if not place.parent.is_dir():
        raise click.BadParameter(
            f"there is no folder {place.parent} to write {path.name} to", param_hint=option
        )


def led_to(path: Path) -> Path:
    """The target of a path, with links resolved, whether it exists or not.

    Raises:
        OSError: If there is none: links form a cycle, or a name is too long.
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except OSError as error:
        raise about(path, error) from None
    return Path(os.path.realpath(path))  # before Python 3.13 `resolve` fails in its own way


def neighbour_of(place: Path, suffix: str = ".part") -> Path:
    """A new name beside a file, not longer than file names may be."""
    return place.with_name(f".{place.name[:MAXIMUM_NAME_PART]}.{os.urandom(4).hex()}{suffix}")


def write_atomically(path: DataPath, data: bytes, mode: int = 0o666) -> None:
    """Write a file through a temporary neighbour that replaces it when complete.

    Anything but a regular file (a device, a pipe) cannot be replaced and is written directly; an
    object store shows a file only when it is complete.

    Args:
        path: The file.
        data: Its content.
        mode: Its permissions, reduced by the process's umask.

    Raises:
        OSError: If it cannot be written; the error names the file, not its neighbour.
    """
    with atomic_file(path, mode) as file:
        file.write(data)


@contextmanager
def atomic_file(path: DataPath, mode: int) -> Iterator[BinaryIO]:
    """A file to write, and read, that appears only when it is complete; a failure leaves nothing.

    Anything but a regular file (a device, a pipe) cannot be replaced; it is written directly, and
    cannot be read.

    Args:
        path: The file.
        mode: Its permissions, reduced by the process's umask and by those of the file that it
            replaces.

    Raises:
        OSError: If it cannot be written; the error names the file, not its neighbour.
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
        with removing_at_a_signal(neighbour):
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
    """Give a neighbour the permissions of the file that it replaces, at most `most`."""
    if target.exists():
        with suppress(PermissionError):  # of a file system without permissions
            neighbour.chmod(stat.S_IMODE(target.stat().st_mode) & most)


@contextmanager
def removing_at_a_signal(neighbour: Path) -> Iterator[None]:
    """Remove an unfinished file or folder if a signal ends the process meanwhile."""
    from vidscore_evaluators.runtime import ending_signals  # help has to be quick

    def end(number: int, _frame: FrameType | None) -> None:
        remove(neighbour)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    # Only the main thread can set handlers, and existing handlers stay.
    in_main = threading.current_thread() is threading.main_thread()
    numbers = ending_signals() if in_main else []
    free = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in free:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in free:
            signal.signal(number, signal.SIG_DFL)


def remove(place: Path) -> None:
    """Remove a file or folder, if it exists; failures are ignored."""
    import shutil

    if place.is_dir():
        shutil.rmtree(place, ignore_errors=True)
    else:
        with suppress(OSError):  # a read-only disk reports that first, even for a missing file
            place.unlink()


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """A folder to fill, which replaces a new or empty one when it is complete.

    Raises:
        OSError: If it cannot be written; the error names the folder, not its neighbour.
    """
    whole = led_to(path)
    neighbour = neighbour_of(whole)
    try:
        with removing_at_a_signal(neighbour):
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
