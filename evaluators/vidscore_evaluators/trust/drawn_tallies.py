"""Tallies of draws, from the tallies of the parts that are drawn.

A bootstrap adds thousands of small tallies thousands of times. So the rows of all of them are kept
as one tally, whose tables have the part as their first key, and a draw takes each row as often as
its part is drawn: a few operations on whole columns, however many parts there are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from vidscore_evaluators.arrays import IntArray
from vidscore_evaluators.exact_sums import ExactSums
from vidscore_evaluators.tally import Table, Tally, collect_rows, merge_tables, sorted_vocabulary
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes
from vidscore_evaluators.trust.systems import Drawn

_PART = "part"
"""Name of the key column of parts."""

_SEQUENCE = "sequence"
"""Name of the key column of sequences, in the tables of all evaluators."""


def pack_parts(tallies: Sequence[Tally]) -> bytes:
    """The tallies of S parts, for `DrawnTallies` in any process.

    They lack their input summaries, which are most of a small tally: a draw gives no warnings.

    Args:
        tallies: At least one, all of one evaluator and configuration.
    """
    first = tallies[0]
    tables = {
        name: merge_tables([_of_part(one.tables[name], part) for part, one in enumerate(tallies)])
        for name in first.tables
    }
    return tally_to_bytes(Tally(first.evaluator, tables))


class DrawnTallies:
    """S tallies that are drawn.

    Args:
        packed: The tallies; see `pack_parts`.
        most: Maximum number of times that one of them is drawn.
        drawn: What the parts are: a sequence that is drawn twice counts as two sequences, while
            frames that are drawn twice count twice in their sequence.
        adds_sequences: Whether sequences may be added to one without a name; see `Evaluator`.
    """

    def __init__(self, packed: bytes, most: int, drawn: Drawn, *, adds_sequences: bool) -> None:
        tally = tally_from_bytes(packed)
        self._evaluator = tally.evaluator
        are_added = adds_sequences or drawn is Drawn.FRAMES
        self._rows = {
            name: _AddedRows.of(table, adds_sequences=adds_sequences)
            if are_added
            else _CopiedRows.of(table, most)
            for name, table in tally.tables.items()
        }

    def tally(self, times: IntArray) -> Tally:
        """The tally of a draw.

        Args:
            times: (S,) number of times that each of them is drawn.
        """
        tables = {name: rows.drawn(times) for name, rows in self._rows.items()}
        return Tally(self._evaluator, tables)


class _AddedRows(Struct, frozen=True, eq=False):
    """The R rows of a table of all parts; a part that is drawn twice counts twice.

    Attributes:
        table: The rows without their part as a key, sorted by key; a key may have several.
        parts: (R,) part of each.
    """

    table: Table
    parts: IntArray

    @classmethod
    def of(cls, table: Table, *, adds_sequences: bool) -> _AddedRows:
        own, parts = _without_parts(table)
        words, codes = own.vocabulary, own.text_codes
        if adds_sequences and _SEQUENCE in own.schema.texts:
            words, codes = ("", *words), codes + 1
            codes[:, own.schema.texts.index(_SEQUENCE)] = 0
        words, codes = sorted_vocabulary(words, codes)
        # Sorted once, rows of equal keys stay together in each draw, which is then sorted fast.
        order = np.lexsort([*own.numbers.T[::-1], *codes.T[::-1]])
        ordered = structs.replace(
            own,
            vocabulary=words,
            text_codes=codes[order],
            numbers=own.numbers[order],
            counts=own.counts[order],
            sums=tuple(column.take(order) for column in own.sums),
        )
        return cls(ordered, parts[order])

    def drawn(self, times: IntArray) -> Table:
        """The table of a draw, in which the parts are drawn so many times."""
        own, weights = self.table, times[self.parts]
        rows = weights.nonzero()[0]
        weights = weights[rows]
        return collect_rows(
            own.schema,
            own.vocabulary,
            own.text_codes[rows],
            own.numbers[rows],
            own.counts[rows] * weights[:, None],
            [ExactSums.of_integers(column.integers[rows] * weights) for column in own.sums],
        )


class _CopiedRows(Struct, frozen=True, eq=False):
    """The R rows of a table of all sequences; one that is drawn twice counts as two.

    Attributes:
        table: The rows without their part as a key.
        parts: (R,) sequence of each.
        copies: (R, N) index into the vocabulary of the name that the sequence of a row has in its
            nth copy; None if the table has no sequences.
    """

    table: Table
    parts: IntArray
    copies: IntArray | None

    @classmethod
    def of(cls, table: Table, most: int) -> _CopiedRows:
        own, parts = _without_parts(table)
        if _SEQUENCE not in own.schema.texts:
            return cls(own, parts, None)
        names, rows = np.unique(own.codes(_SEQUENCE), return_inverse=True)
        named = [
            [f"{own.vocabulary[name]} #{number}" for number in range(most)]
            for name in names.tolist()
        ]
        words = tuple(sorted({*own.vocabulary, *(word for row in named for word in row)}))
        position = {word: index for index, word in enumerate(words)}
        moved = np.array([position[word] for word in own.vocabulary], dtype=np.int64)
        codes = np.array([[position[word] for word in row] for row in named], dtype=np.int64)
        return cls(
            structs.replace(own, vocabulary=words, text_codes=moved[own.text_codes]),
            parts,
            codes.reshape(len(named), most)[rows],
        )

    def drawn(self, times: IntArray) -> Table:
        """The table of a draw, in which the sequences are drawn so many times."""
        own, counts = self.table, times[self.parts]
        rows = np.repeat(np.arange(own.row_count), counts)
        codes = own.text_codes[rows]
        if self.copies is not None:
            number = np.arange(len(rows)) - np.repeat(counts.cumsum() - counts, counts)
            codes[:, own.schema.texts.index(_SEQUENCE)] = self.copies[rows, number]
        sums = [column.take(rows) for column in own.sums]
        columns = (own.numbers[rows], own.counts[rows], sums)
        return collect_rows(own.schema, own.vocabulary, codes, *columns)


def _of_part(table: Table, part: int) -> Table:
    """The table of a part, with the part as its first key."""
    name = f"{part:09}"
    schema = table.schema
    schema = structs.replace(schema, texts=(_PART, *schema.texts), within=schema.within + 1)
    none = np.zeros((table.row_count, 1), dtype=np.int64)
    if table.row_count == 0:
        return structs.replace(table, schema=schema, text_codes=np.hstack([none, table.text_codes]))
    words = tuple(sorted({*table.vocabulary, name}))
    position = {word: index for index, word in enumerate(words)}
    codes = np.array([position[word] for word in table.vocabulary])[table.text_codes]
    return structs.replace(
        table,
        schema=schema,
        vocabulary=words,
        text_codes=np.hstack([none + position[name], codes]),
    )


def _without_parts(table: Table) -> tuple[Table, IntArray]:
    """The rows of a table of all parts without their part as a key, and the part of each."""
    parts = np.array(table.texts(_PART), dtype=np.int64)
    schema = table.schema
    schema = structs.replace(schema, texts=schema.texts[1:], within=schema.within - 1)
    return structs.replace(table, schema=schema, text_codes=table.text_codes[:, 1:]), parts
