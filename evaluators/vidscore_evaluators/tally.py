"""Tally: the mergeable result of an evaluator. Tallies add, in any grouping and order.

A tally is a few `Table`s. A row of a table has a key (strings and numbers), integer counts and
exact sums; adding tables adds the rows of equal keys. Rows are always sorted by key, so equal
content is equal bytes. A table keyed by sequence and label grows with the sequences; one that is
also keyed by a confidence grows with the detections.

Sums of floats are exact (`vidscore_evaluators.exact_sums`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import compress
from operator import lt

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators import kernels
from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray, marked, run_starts
from vidscore_evaluators.deferred import Deferred, DeferredField
from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.exact_sums import ExactSums, joined
from vidscore_evaluators.fingerprint import Fingerprint
from vidscore_evaluators.keys import packed_columns, sorted_groups

_ROWS_TO_COMPARE = 1 << 10
"""Number of rows up to which they are sorted by comparing whole keys."""

_ONLY_ROW: IntArray = np.zeros(1, dtype=np.int64)
_ONLY_ROW.flags.writeable = False


class TableSchema(Struct, frozen=True):
    """Names of a table's columns.

    Attributes:
        texts: String key columns, in sort order.
        numbers: Number key columns (binary64), sorted after the strings.
        counts: Integer columns.
        sums: Exact-sum columns.
        first: Number of rows kept, the first in key order; None for all. Bounded tables add like
            others: the first rows of the whole are also among the first of their part.
        within: Number of leading string columns; each group of equal values in these keeps `first`
            rows. 0 for one group.
    """

    texts: tuple[str, ...]
    numbers: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    sums: tuple[str, ...] = ()
    first: int | None = None
    within: int = 0


class Table(Struct, frozen=True, eq=False):
    """K rows in ascending key order, each key once.

    Attributes:
        schema: Names of the columns.
        vocabulary: Strings of the string columns, sorted, each once.
        text_codes: (K, texts) index into `vocabulary`.
        numbers: (K, numbers) number keys.
        counts: (K, counts) integers.
        sums: K exact sums for each sum column.
    """

    schema: TableSchema
    vocabulary: tuple[str, ...]
    text_codes: IntArray
    numbers: FloatArray
    counts: IntArray
    sums: tuple[ExactSums, ...]

    @property
    def row_count(self) -> int:
        """Number of rows K."""
        return len(self.text_codes)

    def texts(self, name: str) -> list[str]:
        """String key column `name`."""
        codes = self.text_codes[:, self.schema.texts.index(name)]
        return list(map(self.vocabulary.__getitem__, codes.tolist()))

    def codes(self, name: str) -> IntArray:
        """(K,) string key column `name` as indices into `vocabulary`."""
        return self.text_codes[:, self.schema.texts.index(name)]

    def number(self, name: str) -> FloatArray:
        """(K,) number key column `name`."""
        return self.numbers[:, self.schema.numbers.index(name)]

    def count(self, name: str) -> IntArray:
        """(K,) integer column `name`."""
        return self.counts[:, self.schema.counts.index(name)]

    def exact(self, name: str) -> list[int]:
        """Exact-sum column `name`, in units of 2**-1074."""
        return self.exact_sums(name).tolist()

    def exact_sums(self, name: str) -> ExactSums:
        """Exact-sum column `name`, in its unmerged form."""
        return self.sums[self.schema.sums.index(name)]

    def grouped(self, *texts: str) -> Table:
        """The same content keyed by fewer string columns (number keys are dropped)."""
        columns = [self.schema.texts.index(name) for name in texts]
        schema = TableSchema(texts, (), self.schema.counts, self.schema.sums)
        return collect_rows(
            schema,
            self.vocabulary,
            self.text_codes[:, columns],
            np.zeros((self.row_count, 0)),
            self.counts,
            self.sums,
        )


def build_table(
    schema: TableSchema,
    vocabulary: Sequence[str],
    text_codes: Sequence[IntArray],
    *,
    numbers: Sequence[FloatArray] = (),
    counts: Sequence[AnyArray] = (),
    sums: Sequence[FloatArray] = (),
    sum_rows: IntArray | None = None,
) -> Table:
    """Make a table out of R raw rows, whose keys may repeat in any order.

    Args:
        schema: Names of the columns.
        vocabulary: Strings that `text_codes` points into; any order, repeats allowed.
        text_codes: One (R,) index array for each string column.
        numbers: One (R,) float array for each number column; no NaN, and -0.0 counts as 0.0.
        counts: One (R,) integer or boolean array for each count column.
        sums: One (S,) finite float array for each sum column; added up without rounding.
        sum_rows: (S,) row that each of these values belongs to; None if each row has one (S = R).

    Returns:
        The table with one row per key.

    Raises:
        ValueError: If a number key is NaN, or a value to sum is not finite.
    """
    row_count = len(text_codes[0])
    if row_count == 0:
        return _table_of_nothing(schema)
    codes = _stack(text_codes, row_count, np.int64)
    words, codes = sorted_vocabulary(tuple(vocabulary), codes)
    number_keys = _stack(numbers, row_count, np.float64)
    number_keys += 0.0  # also clears the sign of zero, so that equal keys have equal bits
    if numbers and np.isnan(number_keys).any():
        raise ValueError("a number key cannot be NaN")
    order, first = _group(codes, number_keys)
    count_rows = _stack(counts, row_count, np.int64).take(order, axis=0)
    kept = order[first]
    table = Table(
        schema=schema,
        vocabulary=words,
        text_codes=codes.take(kept, axis=0),
        numbers=number_keys.take(kept, axis=0),
        counts=_reduce(count_rows, first),
        sums=_summed(sums, sum_rows, order, first),
    )
    return _bounded(table)


def _summed(
    columns: Sequence[FloatArray], rows: IntArray | None, order: IntArray, first: IntArray
) -> tuple[ExactSums, ...]:
    """Exact sums of rows in a given order, in which each key begins at `first`."""
    if not columns:
        return ()
    groups = marked(len(order), first).cumsum() - 1
    if rows is None:
        columns = [values[order] for values in columns]
    else:
        of_rows = np.empty_like(groups)
        of_rows[order] = groups
        groups = of_rows[rows]
    return tuple(map(partial(ExactSums.of, groups=groups, group_count=len(first)), columns))


@lru_cache(maxsize=256)
def _table_of_nothing(schema: TableSchema) -> Table:
    return Table(
        schema=schema,
        vocabulary=(),
        text_codes=np.zeros((0, len(schema.texts)), dtype=np.int64),
        numbers=np.zeros((0, len(schema.numbers))),
        counts=np.zeros((0, len(schema.counts)), dtype=np.int64),
        sums=tuple(ExactSums.of_integers(()) for _ in schema.sums),
    )


def merge_tables(tables: Sequence[Table]) -> Table:
    """Add tables of one schema.

    Raises:
        TallyError: If the schemas differ.
    """
    schema = tables[0].schema
    if any(table.schema != schema for table in tables):
        raise TallyError("tallies with different tables cannot be added")
    if len(tables) == 1:
        return tables[0]
    words = tuple(sorted({word for table in tables for word in table.vocabulary}))
    position = {word: index for index, word in enumerate(words)}
    codes = [
        np.array([position[word] for word in table.vocabulary], dtype=np.int64)[table.text_codes]
        if table.row_count
        else table.text_codes
        for table in tables
    ]
    return collect_rows(
        schema,
        words,
        np.concatenate(codes),
        np.concatenate([table.numbers for table in tables]),
        np.concatenate([table.counts for table in tables]),
        tuple(map(joined, zip(*(table.sums for table in tables), strict=True))),
    )


_NOTHING = Deferred.of(Fingerprint())
_NO_TABLES: Deferred[Mapping[str, Table]] = Deferred.of({})


@dataclass(frozen=True, eq=False)
class Tally:
    """Tables by name, and the fingerprints of what was tallied.

    Attributes:
        evaluator: Name, version and configuration of its evaluator; only equal ones add.
        tables: Tables by name.
        truth: Fingerprint of the truth.
        detections: Fingerprint of the detections.
        input_summary: Summary of both sides by `vidscore_evaluators.plausibility`, the same for
            every evaluator; tables by name.
    """

    evaluator: str
    tables: Mapping[str, Table] = field(default_factory=dict)
    truth: DeferredField[Fingerprint] = DeferredField(_NOTHING)
    detections: DeferredField[Fingerprint] = DeferredField(_NOTHING)
    input_summary: DeferredField[Mapping[str, Table]] = DeferredField(_NO_TABLES)

    def __add__(self, other: Tally) -> Tally:
        """Tally of both contents together."""
        return merge_tallies([self, other])

    @property
    def nbytes(self) -> int:
        """Bytes of all columns together, Python ints counted as 64 bytes each."""
        return sum(
            table.text_codes.nbytes + table.numbers.nbytes + table.counts.nbytes
            + table.row_count * len(table.sums) * 64
            for table in (*self.tables.values(), *self.input_summary.values())
        )  # fmt: skip


def merge_tallies(tallies: Sequence[Tally]) -> Tally:
    """Add many tallies at once, which is cheaper than one by one.

    Args:
        tallies: At least one, all of one evaluator and configuration.

    Raises:
        TallyError: If they are not of one evaluator and configuration.
    """
    first = tallies[0]
    for tally in tallies:
        if tally.evaluator != first.evaluator:
            raise TallyError(f"cannot add a tally of {tally.evaluator} to one of {first.evaluator}")
    if len(tallies) == 1:
        return first
    return Tally(
        evaluator=first.evaluator,
        tables=_merge_by_name([tally.tables for tally in tallies]),
        truth=sum((tally.truth for tally in tallies), Fingerprint()),
        detections=sum((tally.detections for tally in tallies), Fingerprint()),
        input_summary=_merge_by_name([tally.input_summary for tally in tallies]),
    )


def _merge_by_name(parts: Sequence[Mapping[str, Table]]) -> Mapping[str, Table]:
    names = parts[0].keys()
    if any(tables.keys() != names for tables in parts):
        raise TallyError("tallies with different tables cannot be added")
    return {name: merge_tables([tables[name] for tables in parts]) for name in names}


def collect_rows(
    schema: TableSchema,
    words: tuple[str, ...],
    codes: IntArray,
    numbers: FloatArray,
    counts: IntArray,
    sums: Sequence[ExactSums],
) -> Table:
    """Make a table out of R rows of exact sums, whose keys may repeat in any order.

    Args:
        schema: Names of the columns.
        words: Strings that `codes` point into; any order, repeats allowed.
        codes: (R, texts) index into `words`.
        numbers: (R, numbers) number keys.
        counts: (R, counts) integers.
        sums: R exact sums for each sum column.
    """
    words, codes = sorted_vocabulary(words, codes)
    order, first = _group(codes, numbers)
    table = Table(
        schema=schema,
        vocabulary=words,
        text_codes=codes.take(order[first], axis=0),
        numbers=numbers.take(order[first], axis=0),
        counts=_reduce(counts.take(order, axis=0), first),
        sums=tuple(column.added(order, first) for column in sums),
    )
    return _bounded(table)


def _bounded(table: Table) -> Table:
    """The table, cut to the rows that its schema keeps."""
    if table.schema.first is None or table.row_count <= table.schema.first:
        return table
    kept = kept_rows(table)
    if kept.all():
        return table
    words, codes = sorted_vocabulary(table.vocabulary, table.text_codes[kept])
    return replace(
        table,
        vocabulary=words,
        text_codes=codes,
        numbers=table.numbers[kept],
        counts=table.counts[kept],
        sums=tuple(column.take(kept) for column in table.sums),
    )


def kept_rows(table: Table) -> BoolArray:
    """(K,) whether the schema of a table in key order keeps each row."""
    rows = np.arange(table.row_count)
    if table.schema.first is None:
        return rows >= 0
    groups = (
        run_starts(*table.text_codes[:, : table.schema.within].T)
        if table.schema.within
        else rows[:1]
    )
    counts = np.diff(np.append(groups, table.row_count))
    kept: BoolArray = rows - np.repeat(groups, counts) < table.schema.first
    return kept


def sorted_vocabulary(words: tuple[str, ...], codes: IntArray) -> tuple[tuple[str, ...], IntArray]:
    """Drop what no row uses from a vocabulary, sort it, and rewrite the codes.

    Args:
        words: Strings that `codes` point into; any order, repeats allowed.
        codes: Indices into `words`, of any shape.
    """
    times = np.bincount(codes.reshape(-1), minlength=len(words))
    if not times.all():
        used = times > 0
        words, codes = tuple(compress(words, used.tolist())), (used.cumsum() - 1)[codes]
    if all(map(lt, words, words[1:])):
        return words, codes
    kept = tuple(sorted(set(words)))
    position = {word: index for index, word in enumerate(kept)}
    return kept, np.array([position[word] for word in words], dtype=np.int64)[codes]


def _group(codes: IntArray, numbers: FloatArray) -> tuple[IntArray, IntArray]:
    """Order that sorts the keys, and the first sorted row of each key."""
    row_count, code_count = codes.shape
    number_count = numbers.shape[1]
    if code_count + number_count == 0:
        raise TallyError("a table needs a key column")
    if row_count == 1:
        return _ONLY_ROW, _ONLY_ROW
    if row_count > _ROWS_TO_COMPARE:
        # For this many rows, sorting column by column is faster.
        return sorted_groups([*packed_columns(list(codes.T)), *numbers.T])
    scratch, order, first = np.empty((3, row_count), dtype=np.int64)
    keys = (np.ascontiguousarray(codes), code_count, np.ascontiguousarray(numbers), number_count)
    count = kernels.group_rows(*keys, row_count, scratch, order, first)
    return order, first[:count]


def _reduce(rows: AnyArray, first: IntArray) -> AnyArray:
    if len(first) == len(rows):  # every row is the only one of its group
        return rows
    return np.add.reduceat(rows, first, axis=0)


def _stack(columns: Sequence[AnyArray], row_count: int, dtype: type) -> AnyArray:
    stacked: AnyArray = np.empty((row_count, len(columns)), dtype=dtype)
    for index, column in enumerate(columns):
        stacked[:, index] = column
    return stacked
