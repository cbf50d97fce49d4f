"""Read well-formed CSV rows as whole arrays; decline, without a word, everything else.

The common case is digits, separators and a few labels, and it needs no Python object a field:
separators are found all at once, and a field of up to eight bytes is one 64-bit word whose digits
are joined by three multiplications. One of up to sixteen bytes is two words, and longer numbers go
through the JSON parser together. Whatever is not plainly well-formed (quotes, blank lines, spaces
in numbers, a wrong count of columns) makes `parse_chunk` answer None, and
`vidscore_evaluators.formats.csv_rows` reads that file with care. Where this module does answer, its
answer equals that one's.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import orjson
from numpy.typing import NDArray

from vidscore_evaluators.arrays import AnyArray, BoolArray, FloatArray, IntArray, expand_runs
from vidscore_evaluators.formats.table import EMPTY, Kind, TextColumn
from vidscore_evaluators.formats.texts import MAXIMUM_TEXT_BYTES, clean_text

Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
JoinedWord = tuple[IntArray, IntArray, Words]
ParsedColumn = FloatArray | IntArray | TextColumn

LONGEST_ROW_BYTES = 100_000
"""Rows that are longer are read with care."""

_WORD = 8
_PADDING = b"\n" * (MAXIMUM_TEXT_BYTES + _WORD)
"""Stands before the first field, so that the words up to its end can be loaded."""

_COMMA, _NEWLINE = ord(","), ord("\n")


def _repeated(byte: int) -> np.uint64:
    return np.uint64(int.from_bytes(bytes([byte]) * _WORD, "little"))


_ZEROS = _repeated(ord("0"))
_HIGH_BITS = _repeated(0x80)
_FIFTH_BITS = _repeated(0x10)
_ABOVE_NINE = _repeated(0x80 - 10)
_POINT = np.uint64(ord(".") ^ ord("0"))
_MINUS = ord("-")
_KEEP = np.array([(1 << 64) - (1 << (64 - 8 * size)) for size in range(9)], dtype=np.uint64)
"""By length of a field: the bytes of the word before its end that belong to it."""
_POWERS = np.array([float(10**places) for places in range(2 * _WORD)])
_LARGEST_EXACT = 2**53
"""A whole number up to which binary64 holds every one."""
_PLACES = np.uint64(0x0807060504030201)
"""Times 256**k, shifted down by 56: 8 - k."""
_ONE, _FOUR, _EIGHT, _NINE, _TOP_BYTE = (np.uint64(number) for number in (1, 4, 8, 9, 56))
_NUMBER_BYTES = np.isin(np.arange(256), list(b"0123456789+-.eE,"))


def parse_chunk(
    rows: bytes | memoryview, kinds: Sequence[Kind | None]
) -> list[ParsedColumn] | None:
    """Read whole rows.

    Args:
        rows: UTF-8 rows that all end in a newline, without quotes and carriage returns.
        kinds: Kind of each column; None for one that is not read.

    Returns:
        The columns that have a kind, in order; None where the rows are not plainly well-formed.
    """
    data = b"".join((_PADDING, rows))
    buffer = np.frombuffer(data, dtype=np.uint8)
    bounds = _field_bounds(buffer, len(kinds))
    if bounds is None:
        return None
    numeric = [index for index, kind in enumerate(kinds) if kind in (Kind.NUMBER, Kind.WHOLE)]
    is_whole = np.array([kinds[index] is Kind.WHOLE for index in numeric], dtype=np.bool_)
    ends = bounds[1:][numeric]
    numbers = _parse_numbers(buffer, ends, ends - bounds[numeric] - 1, is_whole)
    if numbers is None:
        return None
    columns: dict[int, ParsedColumn] = dict(zip(numeric, numbers, strict=True))
    for index, kind in enumerate(kinds):
        if kind is Kind.TEXT:
            texts = _parse_texts(buffer, bounds[index] + 1, bounds[index + 1])
            if texts is None:
                return None
            columns[index] = texts
    return [columns[index] for index in sorted(columns)]


def _field_bounds(buffer: Bytes, column_count: int) -> IntArray | None:
    """(columns + 1, rows) the separators around the fields of each row; None if rows are ragged."""
    is_newline = buffer == _NEWLINE
    is_separator = buffer == _COMMA
    is_separator |= is_newline
    separators = np.flatnonzero(is_separator)[len(_PADDING) - 1 :]
    row_count, rest = divmod(len(separators) - 1, column_count)
    if rest or np.count_nonzero(is_newline) != row_count + len(_PADDING):
        return None
    bounds = np.empty((column_count + 1, row_count), dtype=np.int64)
    bounds[0] = separators[:-1:column_count]
    bounds[1:] = separators[1:].reshape(row_count, column_count).T
    if not is_newline[bounds[-1]].all():
        return None
    if (bounds[-1] - bounds[0]).max(initial=0) > LONGEST_ROW_BYTES:
        return None
    return bounds


def _words_before(buffer: Bytes, ends: IntArray) -> Words:
    """The eight bytes before each position, the last one in the highest bits."""
    windows: Words = np.ndarray((len(buffer) - _WORD + 1,), "<u8", buffer, strides=(1,))
    return windows[ends - _WORD]


# --- numbers ---------------------------------------------------------------------------------


def _parse_numbers(
    buffer: Bytes, ends: IntArray, lengths: IntArray, is_whole: BoolArray
) -> list[ParsedColumn] | None:
    """Columns of numbers and whole numbers out of (columns, rows) fields."""
    flat, unread_rows = _plain_numbers(buffer, ends.reshape(-1), lengths.reshape(-1))
    values = flat.reshape(ends.shape)
    unread: BoolArray = np.zeros(ends.shape, dtype=np.bool_)
    unread.reshape(-1)[unread_rows] = True
    columns: list[ParsedColumn] = []
    for index, whole in enumerate(is_whole.tolist()):
        fields = (buffer, ends[index], lengths[index], unread[index])
        column = (
            _as_wholes(values[index], *fields) if whole else _as_numbers(values[index], *fields)
        )
        if column is None:
            return None
        columns.append(column)
    return columns


def _plain_numbers(buffer: Bytes, ends: IntArray, lengths: IntArray) -> tuple[FloatArray, IntArray]:
    """Fields of digits, with or without a minus and a point.

    Returns:
        The values, NaN for empty fields, and the rows that were not read.
    """
    values, read = _unsigned(buffer, ends, lengths)
    rows = np.flatnonzero(~read)
    if len(rows) == 0:
        return values, rows
    ends, lengths = ends[rows], lengths[rows]
    unread = lengths > 0
    values[rows[~unread]] = np.nan
    signed = np.flatnonzero(buffer[ends - lengths] == _MINUS)
    numbers, read = _unsigned(buffer, ends[signed], lengths[signed] - 1)
    values[rows[signed]] = -numbers
    unread[signed[read]] = False
    return values, rows[unread]


def _unsigned(buffer: Bytes, ends: IntArray, lengths: IntArray) -> tuple[FloatArray, BoolArray]:
    """Fields of up to sixteen bytes without a sign; and which are that indeed.

    Digits and power of ten are exact in binary64, so that their quotient is the nearest number to
    the decimal one.
    """
    joined, places, flaws = _join_word(_words_before(buffer, ends), lengths)
    values = joined.astype(np.float64)
    values /= _POWERS.take(places, mode="clip")
    read = flaws == 0
    read &= lengths > (places != 0)
    wide = np.flatnonzero(lengths > _WORD)
    if len(wide):
        last = joined[wide], places[wide], flaws[wide]
        values[wide], read[wide] = _wide_numbers(buffer, ends[wide], lengths[wide], last)
    return values, read


def _wide_numbers(
    buffer: Bytes, ends: IntArray, lengths: IntArray, last: JoinedWord
) -> tuple[FloatArray, BoolArray]:
    """Fields of nine to sixteen bytes, of whose last eight `_join_word` has made `last`."""
    first, first_places, flaws = _join_word(_words_before(buffer, ends - _WORD), lengths - _WORD)
    in_first = first_places != 0
    # A word with a point has a digit less, and ends with a zero instead.
    mantissas = first * np.where(in_first, 10 ** (_WORD - 1), 10**_WORD) + last[0]
    places = np.where(in_first, first_places + _WORD - 1, last[1])
    read = (flaws | last[2]) == 0
    read &= (lengths <= 2 * _WORD) & (mantissas <= _LARGEST_EXACT)
    read &= ~in_first | (last[1] == 0)
    return mantissas / _POWERS.take(places, mode="clip"), read


def _join_word(words: Words, lengths: IntArray) -> JoinedWord:
    """The last bytes of words, eight at most, as digits with or without a point.

    Returns:
        The number of the digits, by how many places it is too large (0 where there is no point, and
        one more than there are digits after it where there is one), and words that are not zero
        where bytes are something else.
    """
    # Digits become 0 to 9, the point has its fifth bit set, and every other byte is more than 9.
    digits = words ^ _ZEROS
    digits &= _KEEP.take(lengths, mode="clip")
    point = (digits & _FIFTH_BITS) >> _FOUR  # 256**k for a point in byte k, 0 for no point
    digits ^= point * _POINT
    before = point - _ONE
    flaws = _flaws(digits, point, before)
    # The digits after the point move to its place, which leaves a zero after them.
    joined = digits & before
    digits -= joined
    digits >>= _EIGHT
    joined += digits
    # Signed, because numpy before 2 takes no unsigned 64-bit indices.
    places = ((point * _PLACES) >> _TOP_BYTE).view(np.int64)
    return _join_digits(joined), places, flaws


def _flaws(digits: Words, point: Words, before: Words) -> Words:
    """Nonzero where a byte is more than 9, or more than 0 at the point, or points are several."""
    flaws = point * _NINE
    flaws += _ABOVE_NINE
    flaws += digits
    flaws |= digits
    flaws &= _HIGH_BITS
    flaws |= point & before
    return flaws


def _join_digits(digits: Words) -> IntArray:
    """The number of eight digits a word, the first one in the lowest byte.

    Neighbours are joined to pairs, pairs to fours, fours to eight, as is well known from D. Lemire,
    "Quickly parsing eight digits" (2018).
    """
    pairs = digits * np.uint64(10)
    pairs += digits >> _EIGHT
    mask = np.uint64(0x000000FF000000FF)
    high = pairs & mask
    high *= np.uint64(100 + (1_000_000 << 32))
    pairs >>= np.uint64(16)
    pairs &= mask
    pairs *= np.uint64(1 + (10_000 << 32))
    high += pairs
    high >>= np.uint64(32)
    # Signed integers become floats faster, and the number is below 2**27.
    return high.view(np.int64)


def _as_numbers(
    values: FloatArray, buffer: Bytes, ends: IntArray, lengths: IntArray, unread: BoolArray
) -> FloatArray | None:
    """Complete a column of numbers with the fields that are no short ones."""
    rows = np.flatnonzero(unread)
    if len(rows) == 0:
        return values
    numbers = _long_numbers(buffer, ends[rows], lengths[rows])
    if numbers is None or not np.isfinite(numbers).all():
        return None
    values[rows] = numbers
    return values


def _as_wholes(
    values: FloatArray, buffer: Bytes, ends: IntArray, lengths: IntArray, unread: BoolArray
) -> IntArray | None:
    """Whole numbers out of what was read as short numbers, and of the fields that were not."""
    empty = lengths == 0
    values[empty | unread] = 0.0
    wholes = values.astype(np.int64)
    if (wholes != values).any():
        return None
    wholes[empty] = EMPTY
    rows = np.flatnonzero(unread)
    if len(rows):
        numbers = _long_numbers(buffer, ends[rows], lengths[rows])
        if numbers is None or numbers.dtype != np.int64 or (numbers == EMPTY).any():
            return None
        wholes[rows] = numbers
    return wholes


def _long_numbers(buffer: Bytes, ends: IntArray, lengths: IntArray) -> AnyArray | None:
    """Fields of any length through the JSON parser, all at once; None where it declines one."""
    text = buffer[expand_runs(ends - lengths, lengths + 1)]
    text[np.cumsum(lengths + 1) - 1] = _COMMA
    if not _NUMBER_BYTES[text].all():
        return None
    try:
        return np.array(orjson.loads(b"[" + text[:-1].tobytes() + b"]"))
    except (orjson.JSONDecodeError, OverflowError):
        return None


# --- texts -----------------------------------------------------------------------------------


def _parse_texts(buffer: Bytes, starts: IntArray, ends: IntArray) -> TextColumn | None:
    lengths = ends - starts
    longest = int(lengths.max(initial=0))
    if longest > MAXIMUM_TEXT_BYTES:
        return None
    words = [
        _words_before(buffer, ends - _WORD * index)
        & _KEEP.take(lengths - _WORD * index, mode="clip")
        for index in range(max(1, -(-longest // _WORD)))
    ]
    codes, rows = _distinct(words)
    texts = [
        clean_text(buffer[starts[row] : ends[row]].tobytes().decode(errors="surrogateescape"))
        for row in rows.tolist()
    ]
    if None in texts:
        return None
    table = {text: index for index, text in enumerate(dict.fromkeys(texts))}
    if len(table) < len(texts):  # texts that differ in spaces alone
        codes = np.array([table[text] for text in texts], dtype=np.int64)[codes]
    return TextColumn(codes, tuple(text for text in table if text is not None))


def _distinct(words: list[Words]) -> tuple[IntArray, IntArray]:
    """Index the different rows of word columns.

    Returns:
        (N,) index of each row among the different ones, and a row of each.
    """
    mixed = words[0].copy()
    for word in words[1:]:
        mixed = mixed * np.uint64(0x9E3779B97F4A7C15) + word
    slots = ((mixed * np.uint64(0xD1B54A32D192ED03)) >> np.uint64(52)).astype(np.int64)
    owners = np.full(1 << 12, -1, dtype=np.int64)
    owners[slots] = np.arange(len(slots))
    chosen = owners[slots]
    if all(np.array_equal(word[chosen], word) for word in words):
        used = np.flatnonzero(owners >= 0)
        index = np.cumsum(owners >= 0) - 1
        return index[slots], owners[used]
    # Two texts in one slot: many texts, or bad luck.
    _, rows, codes = np.unique(
        np.stack(words, axis=1), axis=0, return_index=True, return_inverse=True
    )
    return codes.reshape(-1).astype(np.int64), rows
