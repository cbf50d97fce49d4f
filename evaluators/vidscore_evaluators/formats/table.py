"""Typed columns of the rows of one or more files, and where each row stands.

What every reader of rows produces and every format's rules work on: whole columns, never rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np

from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray

EMPTY = int(np.iinfo(np.int64).min)
"""What an empty field is in a column of whole numbers; in one of numbers it is NaN."""


class Kind(Enum):
    """What the fields of a column are; a field may always be empty."""

    NUMBER = "a finite number"
    WHOLE = "a whole number"
    TEXT = "a text"


@dataclass(frozen=True, eq=False)
class TextColumn:
    """Texts as indices into a table of the different ones.

    Attributes:
        codes: (N,) index into `texts`.
        texts: Different texts, without spaces around them.
    """

    codes: IntArray
    texts: tuple[str, ...]

    def where(self, *wanted: str) -> BoolArray:
        """(N,) whether a row's text is one of `wanted`, which is in lower case, in any case."""
        chosen = np.array([text.casefold() in wanted for text in self.texts], dtype=np.bool_)
        return chosen[self.codes]

    def take(self, rows: AnyArray | slice) -> TextColumn:
        """Keep some rows."""
        return TextColumn(self.codes[rows], self.texts)

    def compact(self) -> TextColumn:
        """Drop the texts that no row has."""
        used = np.bincount(self.codes, minlength=len(self.texts)) > 0
        if used.all():
            return self
        texts = tuple(text for text, keep in zip(self.texts, used.tolist(), strict=True) if keep)
        return TextColumn((np.cumsum(used) - 1)[self.codes], texts)


@dataclass(frozen=True, eq=False)
class Table:
    """N rows as typed columns.

    Attributes:
        numbers: (N,) columns of `Kind.NUMBER`, NaN where a field is empty.
        wholes: (N,) columns of `Kind.WHOLE`, `EMPTY` where a field is empty.
        texts: Columns of `Kind.TEXT`.
        sources: Names of the files.
        source_of_row: (N,) index into `sources`.
        positions: (N,) line, or entry, of each row in its file.
        position_name: ``line`` or ``entry``.
    """

    numbers: Mapping[str, FloatArray]
    wholes: Mapping[str, IntArray]
    texts: Mapping[str, TextColumn]
    sources: tuple[str, ...]
    source_of_row: IntArray
    positions: IntArray
    position_name: Literal["line", "entry"] = "line"

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.positions)

    def take(self, rows: AnyArray) -> Table:
        """Keep some rows.

        Args:
            rows: (N,) boolean mask, or row indices.
        """
        return Table(
            numbers={name: column[rows] for name, column in self.numbers.items()},
            wholes={name: column[rows] for name, column in self.wholes.items()},
            texts={name: column.take(rows) for name, column in self.texts.items()},
            sources=self.sources,
            source_of_row=self.source_of_row[rows],
            positions=self.positions[rows],
            position_name=self.position_name,
        )

    def without(self, rows: BoolArray) -> Table:
        """Drop some rows; the table itself where there are none.

        Args:
            rows: (N,) whether to drop each.
        """
        return self.take(~rows) if rows.any() else self


def concatenate_tables(tables: Sequence[Table]) -> Table:
    """Put the rows of tables of the same columns one after the other; at least one table."""
    if len(tables) == 1:
        return tables[0]
    first = tables[0]
    sources = tuple(dict.fromkeys(source for table in tables for source in table.sources))
    position = {source: index for index, source in enumerate(sources)}
    owners = [
        np.array([position[source] for source in table.sources], dtype=np.int64)[
            table.source_of_row
        ]
        for table in tables
    ]
    return Table(
        numbers={
            name: np.concatenate([table.numbers[name] for table in tables])
            for name in first.numbers
        },
        wholes={
            name: np.concatenate([table.wholes[name] for table in tables]) for name in first.wholes
        },
        texts={
            name: concatenate_texts([table.texts[name] for table in tables]) for name in first.texts
        },
        sources=sources,
        source_of_row=np.concatenate(owners),
        positions=np.concatenate([table.positions for table in tables]),
        position_name=first.position_name,
    )


def concatenate_texts(columns: Sequence[TextColumn]) -> TextColumn:
    """Put text columns one after the other, over one table of texts."""
    table: dict[str, int] = {}
    codes = []
    for column in columns:
        index = [table.setdefault(text, len(table)) for text in column.texts]
        codes.append(np.array(index, dtype=np.int64)[column.codes])
    return TextColumn(np.concatenate(codes), tuple(table))
