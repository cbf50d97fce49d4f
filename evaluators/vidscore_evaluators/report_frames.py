"""The scores of a report as columns: one row per score, or per domain, label and sequence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from vidscore_evaluators.arrays import AnyArray, IntArray
from vidscore_evaluators.data_frames import Column
from vidscore_evaluators.errors import Fault, ParameterError
from vidscore_evaluators.names import name_advice
from vidscore_evaluators.report import Block, Number, Report
from vidscore_evaluators.report_grids import Key

Form = Literal["wide", "long"]
"""``wide``: one column per measure; ``long``: one row per score."""

_PLACES = ("domain", "label", "sequence")


def report_columns(report: Report, form: str) -> dict[str, Column]:
    """The scores in one of the two forms.

    Raises:
        ParameterError: If the form is neither.
    """
    forms = {"wide": wide_columns, "long": long_columns}
    if form not in forms:
        advice = name_advice(str(form), forms)
        raise ParameterError([Fault(repr(form), "a form", field="form", advice=advice)])
    return forms[form](report)


def wide_columns(report: Report) -> dict[str, Column]:
    """One row per domain, label and sequence, and one column per measure.

    Returns:
        Columns of K rows by name: ``domain``, ``label`` and ``sequence``, null for all; then the
            measures, null if a score is undefined or missing.
    """
    keys: dict[Key, int] = {}
    rows_of = [_rows_of(block, keys) for block in report.scores.blocks]
    found: dict[str, tuple[AnyArray, AnyArray]] = {}
    for block, rows in zip(report.scores.blocks, rows_of, strict=True):
        for measure, numbers in block.measures.items():
            values, missing = _numbers(numbers)
            if measure not in found:
                found[measure] = np.zeros(len(keys), values.dtype), np.ones(len(keys), np.bool_)
            held, absent = found[measure]
            if values.dtype.kind == "f" and held.dtype.kind != "f":
                held = held.astype(np.float64)
            held[rows], absent[rows] = values, missing
            found[measure] = held, absent
    return _places(keys) | {
        # If all values are undefined, a count cannot be told from other figures.
        measure: Column(values.astype(np.float64) if missing.all() else values, missing)
        for measure, (values, missing) in found.items()
    }


def long_columns(report: Report) -> dict[str, Column]:
    """One row per score, in the order of `Report.rows`.

    Returns:
        Columns of N rows by name: ``domain``, ``label`` and ``sequence``, null for all;
            ``measure``; and ``value``, a float, null if undefined.
    """
    rows = report.rows()
    values = np.array([np.nan if row.value is None else row.value for row in rows], dtype=float)
    return {
        **_places(row[:3] for row in rows),
        "measure": _texts([row.measure for row in rows]),
        "value": Column(values, np.isnan(values)),
    }


def _rows_of(block: Block, keys: dict[Key, int]) -> IntArray:
    """(K,) the row of each key of a block; new keys get new rows."""
    count = len(next(iter(block.measures.values()), ()))
    columns = [
        tuple(values) * count if len(values) == 1 else values
        for values in (block.domains, block.classes, block.sequences)
    ]
    rows = [keys.setdefault(key, len(keys)) for key in zip(*columns, strict=True)]
    return np.array(rows, dtype=np.int64)


def _numbers(numbers: Sequence[Number]) -> tuple[AnyArray, AnyArray]:
    """Scores as an array of integers or floats, and a mask of the undefined ones."""
    missing = np.array([number is None for number in numbers], dtype=np.bool_)
    filled = [0 if number is None else number for number in numbers]
    counts = all(isinstance(number, int) and -(2**63) <= number < 2**63 for number in filled)
    return np.array(filled, dtype=np.int64 if counts else np.float64), missing


def _places(keys: Iterable[Key]) -> dict[str, Column]:
    columns = list(zip(*keys, strict=True)) or [(), (), ()]
    return {name: _texts(column) for name, column in zip(_PLACES, columns, strict=True)}


def _texts(values: Sequence[str | None]) -> Column:
    """Strings as indices into a table of them; None is missing."""
    table: dict[str, int] = {}
    places = [-1 if text is None else table.setdefault(text, len(table)) for text in values]
    codes = np.array(places, dtype=np.int32)
    return Column(codes, codes < 0, tuple(table))
