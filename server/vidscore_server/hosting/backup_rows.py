"""Whether a server understands the rows of a backup: texts that are documents, states, times.

The file's own digest tells damage; here is told what somebody has made on purpose, or another
program has written. What is not understood when it is restored would be a mistake of the server's
own whenever somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from vidscore_evaluators.errors import Fault, VidscoreError
from vidscore_server.domain.appends import read_warnings
from vidscore_server.domain.basis import Basis
from vidscore_server.domain.batches import inflate
from vidscore_server.domain.benchmarks import from_json
from vidscore_server.domain.names import parse_id
from vidscore_server.domain.release import values_from_json
from vidscore_server.domain.scores import GREATEST_COMPRESSION, report_of
from vidscore_server.errors import BackupError
from vidscore_server.store.contract import Row
from vidscore_server.store.records import Role, SubmissionState

LEAST_PAYLOAD_BYTES = 64 << 20
"""Bytes that every batch may have when it is unpacked: four messages of usual size."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_UNDERSTOOD = (
    ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, VidscoreError,
)  # fmt: skip


def understood(rows: Iterator[Row]) -> Iterator[Row]:
    """The same rows, each of them looked at once it was taken, and so is of its table's types.

    Raises:
        BackupError: If one is not what a server has written.
    """
    for table, values in rows:
        yield table, values
        for column, value in values.items():
            look = _LOOKS.get((table, column))
            try:
                if look is not None:
                    look(value)
                elif column == "time" or column.endswith("_time"):
                    _time(value)
            except _NOT_UNDERSTOOD:
                found, place = "what no server writes", f"{table}.{column}"
                fault = Fault(found, "a value of this version of vidscore", field=place)
                raise BackupError([fault]) from None


def _payload(value: bytes) -> None:
    inflate(value, max(LEAST_PAYLOAD_BYTES, GREATEST_COMPRESSION * len(value)))


def _board(value: str) -> None:
    if value:
        basis = Basis(**orjson.loads(value))
        if type(basis.truth_revision) is not int or not all(
            isinstance(text, str) for text in basis.configurations.values()
        ):
            raise ValueError(value)


def _document(value: str | None) -> None:
    if value:
        orjson.loads(value)


def _values(value: str) -> None:
    if not all(
        number is None or isinstance(number, int | float)
        for number in values_from_json(value).values()
    ):
        raise ValueError(value)


def _time(value: int | None) -> None:
    if value is not None:
        _EPOCH + timedelta(microseconds=value)


_LOOKS: Mapping[tuple[str, str], Callable[[Any], object]] = {
    ("benchmarks", "benchmark"): lambda value: parse_id(value, "benchmark"),
    ("benchmarks", "definition"): from_json,
    ("benchmarks", "board"): _board,
    ("truth_batches", "payload"): _payload,
    ("submissions", "submission"): lambda value: parse_id(value, "submission"),
    ("submissions", "state"): SubmissionState,
    ("submissions", "warnings"): read_warnings,
    ("streams", "stream"): lambda value: parse_id(value, "stream"),
    ("detection_batches", "payload"): _payload,
    ("scores", "values"): _values,
    ("scores", "released"): _values,
    ("scores", "report"): report_of,
    ("releases", "values"): _values,
    ("tokens", "role"): Role,
    ("operations", "request"): _document,
    ("operations", "progress"): _document,
    ("operations", "result"): _document,
    ("operations", "error"): _document,
}
"""What each column holds that is more than its type says."""
