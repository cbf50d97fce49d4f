"""Names of the columns of generic CSV, arrays and data frames: what each holds, and other names.

Sequence, frame and one set of coordinates are required. `ALIASES` are what other tools call columns
of this format. Further columns hold numbers and are kept by name, unless their names are surely
mistyped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from vidscore_evaluators.annotations import BOX, POINT, QUADRILATERAL
from vidscore_evaluators.errors import Fault, InputError
from vidscore_evaluators.formats.fault_list import show_text
from vidscore_evaluators.formats.table import Kind
from vidscore_evaluators.formats.texts import read_number
from vidscore_evaluators.names import closest_name
from vidscore_evaluators.report import ReportWarning

COORDINATES = MappingProxyType(
    {
        POINT: ("x", "y"),
        BOX: ("x1", "y1", "x2", "y2"),
        QUADRILATERAL: ("x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"),
    }
)
"""Names of the coordinates, by how many there are."""

KINDS = MappingProxyType(
    {
        "domain": Kind.TEXT,
        "sequence": Kind.TEXT,
        "frame": Kind.WHOLE,
        "class": Kind.TEXT,
        "confidence": Kind.NUMBER,
        "track_id": Kind.WHOLE,
        "flags": Kind.TEXT,
        **dict.fromkeys((*COORDINATES[POINT], *COORDINATES[QUADRILATERAL]), Kind.NUMBER),
    }
)
"""What the columns of the format hold."""

ALIASES = MappingProxyType(
    {
        **dict.fromkeys(("score", "scores", "conf", "prob", "probability"), "confidence"),
        **dict.fromkeys(("label", "category", "class_id", "class_name"), "class"),
    }
)
"""Columns by their other names."""

REQUIRED = ("sequence", "frame")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_NAME_OF_INDEX = re.compile(r"|Unnamed: [0-9]+(_level_[0-9]+)?")
_MAXIMUM_COLUMNS = 64
_CLOSE = 0.8
_CLOSE_TO_ALIAS = 0.85


@dataclass(frozen=True)
class NamedColumns:
    """Columns as the format names them, in the order in which they came.

    Attributes:
        names: Name of each.
        kinds: What each holds.
        typed: What the file calls those that have another name there.
        notes: A note for each of these.
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]
    typed: dict[str, str]
    notes: tuple[ReportWarning, ...]

    def as_typed(self, fault: Fault) -> Fault:
        """A fault that names its column as the file does."""
        name = (fault.field or "").removeprefix("column ")
        typed = self.typed.get(name)
        return fault if typed is None else replace(fault, field=f"column {typed}")


def named_columns(names: Sequence[str], source: str, line: int | None = None) -> NamedColumns:
    """Find out what the columns of a header are.

    Args:
        names: Their names there.
        source: Name of the file, for messages.
        line: Line of the header, for messages.

    Raises:
        InputError: With every name that is repeated, missing, or surely mistyped.
    """
    if line is not None and any(read_number(name) is not None for name in names):
        advice = "write the names of the columns into the first line"
        raise InputError([Fault("no header", "", source=source, line=line, advice=advice)])
    faults = [*_problems(names)]
    if faults:
        raise InputError([replace(fault, source=source, line=line) for fault in faults])
    plain = tuple(ALIASES.get(name, name) for name in names)
    typed = {ALIASES[name]: name for name in names if name in ALIASES}
    notes = tuple(
        ReportWarning("column_alias", f"{source}: the column {name} was read as {meant}")
        for meant, name in typed.items()
    )
    return NamedColumns(plain, tuple(KINDS.get(name, Kind.NUMBER) for name in plain), typed, notes)


def _problems(names: Sequence[str]) -> Iterator[Fault]:
    yield from _missing(names)
    for name in dict.fromkeys(names):
        yield from _misnamed(name)
    for name in sorted({name for name in names if names.count(name) > 1}):
        yield Fault("a column twice", "each column once", field=_field(name))
    for meant in dict.fromkeys(ALIASES.values()):
        same = [name for name in dict.fromkeys(names) if ALIASES.get(name, name) == meant]
        if len(same) > 1:
            found = f"the columns {' and '.join(same)}, which all mean {meant}"
            yield Fault(found, "", advice="leave one of them")
    if len(names) > _MAXIMUM_COLUMNS:
        yield Fault(f"{len(names)} columns", f"at most {_MAXIMUM_COLUMNS} columns")


def _missing(names: Sequence[str]) -> Iterator[Fault]:
    for name in REQUIRED:
        if name not in names:
            advice = f"the columns {', '.join(REQUIRED)} and coordinates must be there"
            yield Fault("missing", "", field=_field(name), advice=advice)
    present = {name for names_ in COORDINATES.values() for name in names_ if name in names}
    if present not in [set(wanted) for wanted in COORDINATES.values()]:
        listed = ",".join(name for name in names if name in present)
        expected = " or ".join(",".join(wanted) for wanted in COORDINATES.values())
        yield Fault(f"the coordinates {listed}" if listed else "no coordinates", expected)


def _misnamed(name: str) -> Iterator[Fault]:
    if name in KINDS or name in ALIASES:
        return
    field = _field(name)
    meant = _meant(name.strip())
    if _NAME_OF_INDEX.fullmatch(name):
        advice = "where it is the index of a data frame, write with index=False"
        yield Fault("a column without a name", "", field=field, advice=advice)
    elif meant is not None:
        yield Fault("unknown column", "", field=field, advice=f"did you mean {meant}?")
    elif not _NAME.fullmatch(name):
        yield Fault("unknown column", "a name of letters, digits and underscores", field=field)


def _meant(name: str) -> str | None:
    """The column that a name surely stands for, but is not quite."""
    if name.lower() in (*KINDS, *ALIASES):
        return name.lower()
    # Of names of two letters, many are alike.
    known = [entry for entry in KINDS if len(entry) > 2]
    return closest_name(name, known, _CLOSE) or closest_name(name, ALIASES, _CLOSE_TO_ALIAS)


def _field(name: str) -> str:
    return f"column {name or show_text(name)}"
