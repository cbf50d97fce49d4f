"""The tables of the documentation from the command line: commands and their options.

Shared options are described once: the options of the connection, and optional ones that have the
same row in three or more commands. A command's own table leaves them out; a line below it names
them.
"""

from __future__ import annotations

from collections import Counter
from functools import cache

import click
from tools.docs_pages import code, table

from vidscore_cli.command_tree import ConnectionOption
from vidscore_cli.main import SECTIONS, cli
from vidscore_evaluators.parameters import describe_parameters
from vidscore_server.settings import Settings

HEADER = ("option", "default", "meaning")
SHARED_BY = 3
"""The number of commands from which on an option is described only once."""
REQUIRED = "required"

Row = tuple[str, str, str]


def commands() -> str:
    """Every command, with a link to its heading on the same page."""
    rows = [
        [
            f"[`vidscore {path}`](#vidscore-{path.replace(' ', '-')})",
            _command(path).get_short_help_str(limit=200),
        ]
        for path in _paths()
    ]
    return table(("command", "what it does"), rows)


def command_sections(page: str) -> str:
    """Every command, grouped by the headings of the help, with a link to a page."""
    rows = [
        [heading, ", ".join(_linked(name, page) for name in entries)]
        for heading, entries in SECTIONS.items()
    ]
    return table(("", "commands"), rows)


def _linked(name: str, page: str) -> str:
    """A command or group, with a link to the heading of its first command."""
    first = next(path for path in _paths() if path.split()[0] == name)
    return f"[`{name}`]({page}#vidscore-{first.replace(' ', '-')})"


def options(*names: str) -> str:
    """Arguments and options of a command, without the settings of `serve`.

    Args:
        names: Path of the command, such as ``benchmark``, ``create``; none: `vidscore` itself.
    """
    path = " ".join(names)
    shared = [row for row in _rows(path) if row in _shared()]
    own = [row for row in _rows(path) if row not in shared]
    others = [f"[shared options](#shared-options) {', '.join(map(_short, shared))}"] * bool(shared)
    if any(isinstance(entry, ConnectionOption) for entry in _parameters(path)):
        others.append("[connection options](#connection)")
    parts = [table(HEADER, own)] * bool(own) + [f"Also: {'; '.join(others)}."] * bool(others)
    return "\n\n".join(parts)


def shared_options() -> str:
    """The options that several commands share, except those of the connection."""
    return table(HEADER, _shared())


def connection_options() -> str:
    """How to reach a server."""
    found = (entry for path in _paths() for entry in _parameters(path))
    rows = [_row(entry) for entry in found if isinstance(entry, ConnectionOption)]
    return table(HEADER, dict.fromkeys(rows))


@cache
def _shared() -> tuple[Row, ...]:
    """Rows of options that many commands share; required options stay with their command."""
    counts = Counter(row for path in _paths() for row in _rows(path) if row[0].startswith("`--"))
    return tuple(sorted(row for row, times in counts.items()
                        if times >= SHARED_BY and row[1] != REQUIRED))  # fmt: skip


def _short(row: Row) -> str:
    """An option's name, with its value if several rows have that name."""
    alike = [other for other, _, _ in _shared() if other.split()[0] == row[0].split()[0]]
    return row[0].replace("` `", " ") if len(alike) > 1 else row[0].split()[0]


def _rows(path: str) -> list[Row]:
    """The parameters of a command, except connection options."""
    return [_row(entry) for entry in _parameters(path) if not isinstance(entry, ConnectionOption)]


def _parameters(path: str) -> list[click.Parameter]:
    left_out = {entry.name for entry in describe_parameters(Settings)} if path == "serve" else ()
    return [
        entry
        for entry in _command(path).get_params(click.Context(cli))
        if entry.name not in left_out and "--help" not in entry.opts
    ]


def _paths() -> list[str]:
    return cli.leaves(click.Context(cli))


def _command(path: str) -> click.Command:
    found = cli.find(path)
    if found is None:
        raise ValueError(f"unknown command {path!r}")
    return found


def _row(parameter: click.Parameter) -> Row:
    return _spelling(parameter), _default(parameter), getattr(parameter, "help", None) or ""


def _spelling(parameter: click.Parameter) -> str:
    value = code(parameter.make_metavar(click.Context(cli)).replace(" RANGE", ""))
    if not isinstance(parameter, click.Option):
        return value
    names = ", ".join(code(spelling) for spelling in (*parameter.opts, *parameter.secondary_opts))
    return names if parameter.is_flag else f"{names} {value}{_number_range(parameter.type)}"


def _number_range(kind: object) -> str:
    if not isinstance(kind, click.IntRange | click.FloatRange):
        return ""
    least = "above" if kind.min_open else "from"
    return f" {least} {kind.min:,.12g} to {kind.max:,.12g}"


def _default(parameter: click.Parameter) -> str:
    if parameter.required:
        return REQUIRED
    flag = isinstance(parameter, click.Option) and (parameter.is_flag or parameter.multiple)
    default = parameter.default
    return "" if flag or not isinstance(default, str | int | float) else code(default)
