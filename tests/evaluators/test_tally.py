"""Tables and tallies add like dictionaries of keys to numbers, in every order."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.test_exact_sums import fraction_of

from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.fingerprint import Fingerprint
from vidscore_evaluators.tally import (
    Table,
    TableSchema,
    Tally,
    build_table,
    merge_tables,
    merge_tallies,
)
from vidscore_evaluators.tally_bytes import tally_from_bytes, tally_to_bytes

SCHEMA = TableSchema(("sequence", "class"), ("confidence",), ("n", "m"), ("error",))
Row = tuple[str, str, float, int, int, float]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "é"]),
        st.sampled_from(["a", "x"]),
        st.sampled_from([0.0, -0.0, 0.5, 1.0]),
        st.integers(-9, 9),
        st.integers(0, 2**40),
        st.floats(-1e9, 1e9),
    ),
    max_size=12,
)
Plain = dict[tuple[str, str, float], tuple[int, int, Fraction]]


def _table(rows: list[Row]) -> Table:
    words = ["unused", *(row[0] for row in rows), *(row[1] for row in rows)]
    here = np.arange(len(rows), dtype=np.int64)
    numbers = [np.array([row[index] for row in rows], dtype=np.float64) for index in (2, 5)]
    counts = [np.array([row[index] for row in rows], dtype=np.int64) for index in (3, 4)]
    codes = [here + 1, here + 1 + len(rows)]
    return build_table(SCHEMA, words, codes, numbers=numbers[:1], counts=counts, sums=numbers[1:])


def _tally(rows: list[Row], evaluator: str = "e 1") -> Tally:
    return Tally(evaluator, {"t": _table(rows)}, Fingerprint((len(rows), 0)))


def _expected(rows: list[Row]) -> Plain:
    sums: dict[tuple[str, str, float], list[Fraction]] = defaultdict(lambda: [Fraction(0)] * 3)
    for sequence, label, confidence, *values in rows:
        key = (sequence, label, confidence)
        sums[key] = [mine + Fraction(value) for mine, value in zip(sums[key], values, strict=True)]
    return {key: (int(first), int(second), third) for key, (first, second, third) in sums.items()}


def _plain(table: Table) -> Plain:
    keys = zip(
        table.texts("sequence"),
        table.texts("class"),
        table.number("confidence").tolist(),
        strict=True,
    )
    values = zip(
        table.count("n").tolist(),
        table.count("m").tolist(),
        map(fraction_of, table.exact("error")),
        strict=True,
    )
    return dict(zip(keys, values, strict=True))


@given(ROWS)
def test_rows_of_equal_keys_are_added(rows: list[Row]) -> None:
    table = _table(rows)
    assert _plain(table) == _expected(rows)
    assert table.row_count == len(_expected(rows))


def test_any_number_of_rows_with_equal_keys_is_added() -> None:
    random = np.random.default_rng(0)
    drawn = random.integers(0, 40, (3_000, 4)).tolist()
    rows: list[Row] = [(f"s{a}", f"c{b}", c / 8, 1, d, d / 3) for a, b, c, d in drawn]
    table = _table(rows)
    assert _plain(table) == _expected(rows)
    assert list(_plain(table)) == sorted(_expected(rows))


@given(ROWS)
def test_keys_are_unique_and_ascending(rows: list[Row]) -> None:
    keys = list(_plain(_table(rows)))
    assert keys == sorted(set(keys))


@given(ROWS)
def test_the_vocabulary_has_the_used_names_sorted(rows: list[Row]) -> None:
    assert list(_table(rows).vocabulary) == sorted({text for row in rows for text in row[:2]})


@given(ROWS, st.randoms(use_true_random=False))
def test_order_of_the_raw_rows_does_not_matter(rows: list[Row], random: object) -> None:
    mixed = rows.copy()
    random.shuffle(mixed)  # type: ignore[attr-defined]  # a random.Random
    assert tally_to_bytes(_tally(mixed)) == tally_to_bytes(_tally(rows))


@given(st.lists(ROWS, min_size=1, max_size=4))
def test_merging_parts_gives_the_whole(parts: list[list[Row]]) -> None:
    merged = merge_tallies([_tally(rows) for rows in parts])
    assert tally_to_bytes(merged) == tally_to_bytes(_tally([row for rows in parts for row in rows]))


@given(ROWS)
def test_grouping_drops_keys_and_adds_the_rest(rows: list[Row]) -> None:
    grouped = _table(rows).grouped("class")
    expected: dict[str, Fraction] = defaultdict(Fraction)
    for row in rows:
        expected[row[1]] += Fraction(row[5])
    assert dict(
        zip(grouped.texts("class"), map(fraction_of, grouped.exact("error")), strict=True)
    ) == (expected)
    assert grouped.vocabulary == tuple(sorted(expected))


def test_zero_has_no_sign_as_a_key() -> None:
    """0.0 and -0.0 are one key, and it does not matter which came first."""
    rows: list[Row] = [("a", "x", 0.0, 1, 0, 0.0), ("a", "x", -0.0, 1, 0, 0.0)]
    first, second = _tally(rows), _tally(rows[::-1])
    assert first.tables["t"].row_count == 1
    assert tally_to_bytes(first) == tally_to_bytes(second)


def test_a_key_of_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        _table([("a", "x", float("nan"), 1, 0, 0.0)])


def test_codes_are_indices_into_the_vocabulary() -> None:
    table = _table([("b", "a", 0.5, 1, 2, 3.0)])
    assert [table.vocabulary[code] for code in table.codes("sequence")] == ["b"]


def test_booleans_can_be_counted() -> None:
    schema = TableSchema(("s",), (), ("hits",))
    codes = np.zeros(3, dtype=np.int64)
    table = build_table(schema, ["s"], [codes], counts=[np.array([True, False, True])])
    assert table.count("hits").tolist() == [2]


def test_sums_beyond_every_float_are_kept() -> None:
    schema = TableSchema(("s",), sums=("sum",))
    codes = np.zeros(3, dtype=np.int64)
    parts = [build_table(schema, ["s"], [codes], sums=[np.full(3, 1.7e308)]) for _ in range(2)]
    assert merge_tables(parts).exact("sum") == [6 * (int(1.7e308) << 1074)]


def test_tallies_of_other_evaluators_do_not_add() -> None:
    with pytest.raises(TallyError, match=r"e 2.*e 1"):
        _tally([]) + _tally([], "e 2")


def test_tallies_with_other_tables_do_not_add() -> None:
    other = Tally("e 1", {"u": _table([])})
    for pair in ([_tally([]), other], [other, _tally([])]):
        with pytest.raises(TallyError, match="tables"):
            merge_tallies(pair)


def test_tables_with_other_columns_do_not_add() -> None:
    other = build_table(TableSchema(("sequence",)), [], [np.zeros(0, dtype=np.int64)])
    with pytest.raises(TallyError, match="tables"):
        merge_tables([_table([]), other])


def test_a_table_without_keys_is_refused() -> None:
    with pytest.raises(TallyError, match="key"):
        _table([]).grouped()


def test_fingerprints_add_with_the_tables() -> None:
    whole = _tally([("a", "x", 0, 1, 1, 1)]) + _tally([("a", "x", 0, 1, 1, 1)] * 2)
    assert whole.truth == Fingerprint((3, 0))


def test_the_size_counts_every_column() -> None:
    """Two codes, a number and two counts of 8 bytes, and 64 for the sum."""
    rows: list[Row] = [("a", "x", 0.5, 1, 2, 3.0), ("b", "x", 0.5, 1, 2, 3.0)]
    assert _tally(rows[:1]).nbytes == 5 * 8 + 64
    assert _tally(rows).nbytes == 2 * (5 * 8 + 64)
    assert _tally([]).nbytes == 0


def test_the_size_counts_each_sum_and_tables_without_any() -> None:
    keys = [np.arange(3, dtype=np.int64)]
    three = [np.ones(3)] * 3
    summed = build_table(TableSchema(("k",), sums=("a", "b", "c")), "xyz", keys, sums=three)
    counted = build_table(TableSchema(("k",), counts=("n",)), "xyz", keys, counts=[np.arange(3)])
    assert Tally("e 1", {"s": summed}).nbytes == 3 * (8 + 3 * 64)
    assert Tally("e 1", {"n": counted}).nbytes == 3 * (8 + 8)


@given(ROWS.filter(bool), st.lists(st.tuples(st.integers(0, 99), st.floats(-1e9, 1e9))))
def test_several_values_of_a_row_are_added_to_its_key(
    rows: list[Row], values: list[tuple[int, float]]
) -> None:
    """Each value names its row; rows are in any order, and keys may repeat."""
    schema = TableSchema(("sequence", "class"), sums=("error",))
    names = [(sequence, label) for sequence, label, *_ in rows]
    words = [word for pair in names for word in pair]
    of_rows = np.array([row % len(rows) for row, _ in values], dtype=np.int64)
    table = build_table(
        schema,
        words,
        [2 * np.arange(len(rows)), 2 * np.arange(len(rows)) + 1],
        sums=[np.array([value for _, value in values], dtype=np.float64)],
        sum_rows=of_rows,
    )
    expected = dict.fromkeys(names, Fraction(0))
    for row, (_, value) in zip(of_rows.tolist(), values, strict=True):
        expected[names[row]] += Fraction(value)
    keys = zip(table.texts("sequence"), table.texts("class"), strict=True)
    assert dict(zip(keys, map(fraction_of, table.exact("error")), strict=True)) == expected


BOUNDED = TableSchema(("group", "key"), counts=("n",), first=2, within=1)
BOUNDED_ROWS = st.lists(
    st.tuples(st.sampled_from("ab"), st.sampled_from("uvwxyz"), st.integers(0, 9)), max_size=20
)


def _bounded(rows: list[tuple[str, str, int]]) -> Table:
    words = [*(row[0] for row in rows), *(row[1] for row in rows)]
    here = np.arange(len(rows), dtype=np.int64)
    counts = np.array([row[2] for row in rows], dtype=np.int64)
    return build_table(BOUNDED, words, [here, here + len(rows)], counts=[counts])


def _shown(table: Table) -> list[tuple[str, str, int]]:
    columns = (table.texts("group"), table.texts("key"), table.count("n").tolist())
    return list(zip(*columns, strict=True))


@given(st.lists(BOUNDED_ROWS, min_size=1, max_size=4))
def test_a_bounded_table_keeps_the_first_rows_of_each_group_in_any_grouping(
    parts: list[list[tuple[str, str, int]]],
) -> None:
    """Merged parts have the first two keys of each group, with the sums over all parts."""
    sums: dict[tuple[str, str], int] = defaultdict(int)
    for group, key, number in (row for part in parts for row in part):
        sums[group, key] += number
    expected = [
        (group, key, sums[group, key])
        for group in "ab"
        for key in sorted(key for of, key in sums if of == group)[:2]
    ]
    tables = [_bounded(part) for part in parts]
    assert _shown(merge_tables(tables)) == expected
    paired = merge_tables([merge_tables(tables[:2]), *tables[2:]])
    assert _shown(paired) == expected


def test_a_tally_with_a_bounded_table_survives_bytes_and_back() -> None:
    rows = [("a", key, 1) for key in "wvu"]
    tally = Tally("e 1", input_summary={"t": _bounded(rows)})
    read = tally_from_bytes(tally_to_bytes(tally))
    assert _shown(read.input_summary["t"]) == [("a", "u", 1), ("a", "v", 1)]
    assert read.input_summary["t"].schema == BOUNDED


def test_bytes_with_more_rows_than_a_table_keeps_are_refused() -> None:
    """The schema is forged to keep one row, but the table has two."""
    table = _bounded([("a", "u", 1), ("a", "v", 1)])
    forged = replace(table, schema=replace(BOUNDED, first=1))
    with pytest.raises(TallyError, match="more rows than the table keeps"):
        tally_from_bytes(tally_to_bytes(Tally("e 1", {"t": forged})))


def test_a_bounded_table_of_one_group_keeps_its_first_rows() -> None:
    schema = TableSchema(("key",), counts=("n",), first=2)
    table = build_table(
        schema, ["a", "b", "c", "d"], [np.array([3, 2, 1, 0])], counts=[np.array([4, 3, 2, 1])]
    )
    assert table.texts("key") == ["a", "b"]
    assert table.count("n").tolist() == [1, 2]
