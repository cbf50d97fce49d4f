"""Outcomes as named columns, and as files: CSV, JSON and Parquet, written part by part.

In files, a missing value is empty (CSV) or null: the confidence of truth, the track of an object
that has none, the partner of a row without one. Numbers read back exactly.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import IO, Any, ClassVar, Self

import numpy as np

from vidscore_evaluators.annotations import NO_TRACK
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.data_frames import Column
from vidscore_evaluators.machine_text import csv_cell
from vidscore_evaluators.names import escape_controls
from vidscore_evaluators.outcome_table import NO_PARTNER, OUTCOME_SUFFIX, OUTCOMES, SIDES, Outcomes
from vidscore_evaluators.parquet_tables import GROUP_ROWS, ParquetTables

NOTHING = -1
"""Missing value in an evaluator's own integer columns."""

TEXT_ROWS = 1 << 12
"""Number of rows that are converted to text at once: text takes far more memory than columns."""


def named_columns(outcomes: Outcomes) -> dict[str, Column]:
    """The columns of a table of N outcomes, by their names in files, in order."""
    keys = outcomes.sequence_keys
    own = {
        "side": Column(outcomes.sides, texts=SIDES),
        "domain": Column(outcomes.sequences, texts=[key.domain for key in keys]),
        "sequence": Column(outcomes.sequences, texts=[key.sequence for key in keys]),
        "frame": Column(outcomes.frames),
        "row": Column(outcomes.rows),
        "label": Column(outcomes.labels, texts=outcomes.label_names),
        "confidence": _number(outcomes.confidences),
        "track": Column(outcomes.tracks, outcomes.tracks == NO_TRACK),
        "outcome": Column(outcomes.outcomes, texts=OUTCOMES),
        "partner": Column(outcomes.partners, outcomes.partners == NO_PARTNER),
        "similarity": _number(outcomes.similarities),
        "distance_px": _number(outcomes.distances_px),
        "share": _number(outcomes.shares),
        "id_switch": Column(outcomes.id_switches),
        "fragmentation": Column(outcomes.fragmentations),
    }
    return own | {name: _further(name, column) for name, column in outcomes.columns.items()}


def _further(name: str, values: AnyArray) -> Column:
    return Column(values, texts=OUTCOMES) if name.endswith(OUTCOME_SUFFIX) else _number(values)


def _number(values: AnyArray) -> Column:
    if values.dtype.kind == "b":
        return Column(values)
    missing = np.isnan(values) if values.dtype.kind == "f" else values == NOTHING
    return Column(values, missing if missing.any() else None)


class OutcomeWriter(ABC):
    """Writes tables of outcomes to a file, one after the other.

    All tables must have the same columns. Use it as a context manager, which ends the file.

    Attributes:
        rows_at_once: Number of rows that are written together.
    """

    rows_at_once: ClassVar[int] = TEXT_ROWS

    def __init__(self, file: IO[bytes]) -> None:
        """Write to an open file."""
        self._file = file

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the file, unless an exception occurred."""
        if kind is None:
            self.finish()

    def write(self, outcomes: Outcomes, evaluator: str) -> None:
        """Write one table, with the name of its evaluator in the first column."""
        whose = Column(np.zeros(len(outcomes), dtype=np.int8), texts=(evaluator,))
        columns = {"evaluator": whose, **named_columns(outcomes)}
        for start in range(0, max(1, len(outcomes)), self.rows_at_once):
            rows = slice(start, start + self.rows_at_once)
            self._write({name: column.take(rows) for name, column in columns.items()})

    @abstractmethod
    def _write(self, columns: Mapping[str, Column]) -> None:
        """Write some rows."""

    def finish(self) -> None:  # noqa: B027 - not every file has an end
        """Write the end of the file."""


class CsvOutcomes(OutcomeWriter):
    """CSV with a header; no cell runs as a formula in a spreadsheet."""

    _begun = False

    def _write(self, columns: Mapping[str, Column]) -> None:
        if not self._begun:
            self._file.write((",".join(map(csv_cell, columns)) + "\n").encode())
            self._begun = True
        cells = [_strings(column, "", csv_cell) for column in columns.values()]
        lines = "\n".join(map(",".join, zip(*cells, strict=True)))
        self._file.write(f"{lines}\n".encode() if lines else b"")


class JsonOutcomes(OutcomeWriter):
    """A JSON array of one object per row, each on a line of its own."""

    _separator = "[\n"

    def _write(self, columns: Mapping[str, Column]) -> None:
        cells = [
            [f"{json.dumps(name)}:{value}" for value in _strings(column, "null", _json_text)]
            for name, column in columns.items()
        ]
        lines = ["{" + ",".join(row) + "}" for row in zip(*cells, strict=True)]
        if lines:
            self._file.write((self._separator + ",\n".join(lines)).encode())
            self._separator = ",\n"

    def finish(self) -> None:
        """Close the array."""
        self._file.write(b"[]\n" if self._separator == "[\n" else b"\n]\n")


class ParquetOutcomes(OutcomeWriter):
    """Parquet, with strings as dictionaries; needs pyarrow."""

    rows_at_once = GROUP_ROWS

    def __init__(self, file: IO[bytes]) -> None:
        """Import pyarrow, an optional dependency.

        Raises:
            MissingExtraError: If it is not installed.
        """
        super().__init__(file)
        self._tables = ParquetTables(file)

    def _write(self, columns: Mapping[str, Column]) -> None:
        self._tables.write(columns)

    def finish(self) -> None:
        """Write the end of the file."""
        self._tables.finish()


WRITERS: Mapping[str, Callable[[IO[bytes]], OutcomeWriter]] = {
    ".csv": CsvOutcomes,
    ".json": JsonOutcomes,
    ".parquet": ParquetOutcomes,
}
"""Writers by file suffix."""


def _strings(column: Column, nothing: str, quoted: Callable[[str], str]) -> Iterable[str]:
    """(N,) values of a column as they are written in a text file."""
    if column.texts is not None:
        texts = [quoted(str(text)) for text in column.texts]
        return [texts[place] for place in column.values.tolist()]
    write: Callable[[Any], str] = _flag if column.values.dtype.kind == "b" else repr
    values = column.values.tolist()
    if column.missing is None:
        return map(write, values)
    gaps = column.missing.tolist()
    return [nothing if gap else write(value) for value, gap in zip(values, gaps, strict=True)]


def _json_text(text: str) -> str:
    return escape_controls(json.dumps(text, ensure_ascii=False), form="\\u{:04x}")


def _flag(value: bool) -> str:
    return "true" if value else "false"
