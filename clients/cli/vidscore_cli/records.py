"""Lists and records as tables, CSV and JSON, with short names: `streets/v1` is a submission."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any

from vidscore_cli.output import check_output, deliver, deliver_json, deliver_table, say
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.names import escape_controls

_FULL = re.compile(
    r"\bbenchmarks/(?P<benchmark>[a-z][a-z0-9-]*)"
    r"(?:/submissions/(?P<submission>[a-z][a-z0-9-]*)(?:/streams/(?P<stream>[a-z][a-z0-9-]*))?)?"
)

Record = Mapping[str, Any]
"""Values by name of their column; the column of a score is its measure."""

NAMES = frozenset({"name", "benchmark", "submission", "resource"})
"""Columns with names of resources, which tables show in short form."""


def short_names(text: str) -> str:
    """Replace every full name of a benchmark, submission or stream by its short form."""
    return _FULL.sub(lambda found: "/".join(filter(None, found.groups())), text)


def within(benchmark: str, submission: str) -> str:
    """Short name of a submission of a benchmark, from its name or the last part of it."""
    if "/" in submission:
        return short_names(submission)
    return f"{short_names(benchmark)}/{submission}"


def write_records(
    records: Sequence[Record],
    columns: Sequence[str],
    format_: str,
    output: str,
    *,
    empty: str = "there is nothing to list",
    leading: int = 1,
) -> None:
    """Write a list; an empty table becomes a line on standard error.

    Args:
        records: Its entries; each has every column.
        columns: Names of the columns, in their order.
        format_: ``table``, ``csv`` or ``json``.
        output: Path of a file, or "-".
        empty: Text for an empty list.
        leading: Number of first columns, which identify an entry: if a table is too wide for the
            terminal, each of its parts has them.
    """
    from vidscore_cli.report_table import RecordsView
    from vidscore_evaluators.report_grids import Grid

    check_output(output)
    if not records:
        say(empty, err=True)
    if format_ == "json":
        entries = [{name: _plain(record[name]) for name in columns} for record in records]
        deliver_json(entries, output)
    elif format_ == "csv":
        rows = ([_plain(record[name]) for name in columns] for record in records)
        deliver(csv_text(columns, rows), output)
    elif records or output != "-":
        lines = [tuple(_in_table(name, record[name]) for name in columns) for record in records]
        headings = tuple(map(escape_controls, columns))  # measures, as the server names them
        deliver_table(RecordsView(Grid("", headings, leading, lines)), output)


_TEXT = "description"
"""The only value of a record that may have several lines: in any other, one could be forged."""


def write_record(record: Record, format_: str, output: str) -> None:
    """Write one record; as a table, one line per value.

    Args:
        record: Its values by name.
        format_: ``table`` or ``json``.
        output: Path of a file, or "-".
    """
    from vidscore_cli.report_table import plain_table

    check_output(output)
    if format_ == "json":
        document = {name: _plain(value) for name, value in record.items()}
        deliver_json(document, output)
        return
    table = plain_table("", "")
    table.show_header = False
    for name, value in record.items():
        lines = "\n" if name == _TEXT else ""
        # A setting is shown as it was set, a score in a list with four decimals.
        text = f"{value:g}" if isinstance(value, float) else _in_table(name, value, but=lines)
        table.add_row(name, text)
    deliver_table(table, output)


def time_text(time: datetime | None) -> str:
    """``2026-11-30 15:36:40 UTC``; empty if there is none."""
    return "" if time is None else time.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def _plain(value: Any) -> Any:
    """A value as CSV and JSON have it; times in ISO 8601."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {name: _plain(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    return value.value if isinstance(value, Enum) else value


def _in_table(column: str, value: Any, but: str = "") -> str:
    text = escape_controls(_for_people(value), but)
    return short_names(text) if column in NAMES else text


def _for_people(value: Any) -> str:
    from vidscore_evaluators.report_grids import format_number

    if isinstance(value, datetime):
        return time_text(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, list | tuple):
        return ", ".join(_for_people(entry) for entry in value)
    return "" if value is None else str(_plain(value))
