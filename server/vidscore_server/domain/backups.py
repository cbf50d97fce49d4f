"""Back up a site or a benchmark, and restore it: whole, or not at all.

A backup holds one consistent state, and is taken while the server runs. A benchmark is restored
beside others; a site is restored only into an empty store. The file's digest detects damage. Rows
are checked as well, because a file may be forged or written by another program, and an unreadable
row would otherwise fail later, on first use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, BinaryIO

import orjson

from vidscore_evaluators.errors import Fault, InputError, VidscoreError
from vidscore_server.domain.appends import read_warnings
from vidscore_server.domain.basis import Basis
from vidscore_server.domain.batches import inflate
from vidscore_server.domain.benchmarks import from_json
from vidscore_server.domain.context import Context, Request
from vidscore_server.domain.leases import Leases
from vidscore_server.domain.live_clock import timeline_from_json
from vidscore_server.domain.loading import Part, hidden_name, in_parts, load_in_parts
from vidscore_server.domain.names import benchmark_name, parse_id
from vidscore_server.domain.release import values_from_json
from vidscore_server.domain.scores import GREATEST_COMPRESSION, report_of
from vidscore_server.domain.tiers import Draws, read_tiers
from vidscore_server.errors import BackupError, NameTakenError, NotFoundError
from vidscore_server.store import Reader, SqlStore, Transaction
from vidscore_server.store.backup_file import BackupHeader, read_header, read_rows, write_backup
from vidscore_server.store.errors import AlreadyExistsError
from vidscore_server.store.records import Role, Row, RowNumbers, SubmissionState
from vidscore_server.version import server_version

LEAST_PAYLOAD_BYTES = 64 << 20
"""Decompressed size that is allowed for every batch: four messages of usual size."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NOT_UNDERSTOOD = (
    ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, VidscoreError,
)  # fmt: skip


def understood(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield the same rows, each after its values are checked.

    Raises:
        BackupError: If a value cannot be read.
    """
    for table, values in rows:
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
        yield table, values


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


def _part(value: bytes | None) -> None:
    if value is not None:
        report_of(value)


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
    ("live_clocks", "schedule"): timeline_from_json,
    ("scores", "values"): values_from_json,
    ("scores", "released"): values_from_json,
    ("scores", "report"): report_of,
    ("scores", "public_values"): values_from_json,
    ("scores", "public_report"): _part,
    ("scores", "private_values"): values_from_json,
    ("scores", "private_report"): _part,
    ("scores", "estimate"): values_from_json,
    ("releases", "values"): values_from_json,
    ("score_draws", "payload"): Draws.from_bytes,
    ("tiers", "document"): read_tiers,
    ("tokens", "role"): Role,
    ("operations", "request"): _document,
    ("operations", "progress"): _document,
    ("operations", "result"): _document,
    ("operations", "error"): _document,
}
"""Checks of columns beyond their types."""


OF_THE_SITE = frozenset({"site", "tokens", "invitations", "operations", "audit", "responses"})
"""Tables that are not in a benchmark's backup; one with tokens would grant access."""


def export_backup(store: SqlStore, benchmark: str | None) -> Generator[bytes, None, None]:
    """Yield the file of a backup in chunks, from one consistent state.

    Args:
        store: The store.
        benchmark: The benchmark; None for the whole site.

    Raises:
        NotFoundError: If there is no such benchmark.
        StoreError: If the store fails.
    """
    with store.read() as reader:
        if benchmark is not None and reader.benchmark(benchmark) is None:
            raise NotFoundError(f"benchmarks/{benchmark} does not exist")
        header = BackupHeader(
            server_version(), reader.schema(), reader.time().isoformat(), benchmark or ""
        )
        yield from write_backup(header, reader.dump(benchmark))


def check_rows(file: BinaryIO, schema: str) -> BackupHeader:
    """Verify a backup and all of its rows before anything is loaded.

    Args:
        file: The backup.
        schema: Revision of the tables of this store.

    Raises:
        BackupError: If it is damaged, or cannot be restored here.
    """
    header = read_header(file)
    refuse_schema(header, schema)
    rows = read_rows(file)
    own = _only_of(header.benchmark, rows) if header.benchmark else rows
    for _ in understood(_in_newest_schema(header.schema, own)):
        pass
    return header


def load_backup(transaction: Transaction, file: BinaryIO) -> BackupHeader:
    """Restore a file whose rows have been verified.

    Raises:
        BackupError: If it cannot be restored here.
        NameTakenError: If a benchmark of that name is there.
    """
    header = read_header(file)
    if not header.benchmark:
        if not transaction.is_empty():
            raise BackupError([Fault("a store that is not empty", "an empty one", field="store")])
        _load(transaction, _in_newest_schema(header.schema, read_rows(file)), {})
        return header
    _refuse_taken(transaction, header.benchmark)
    hidden = hidden_name()
    _load(transaction, _rows_under(hidden, header, file), {})
    _show(transaction, hidden, header.benchmark)
    return header


async def import_benchmark(
    context: Context, leases: Leases, request: Request, file: BinaryIO
) -> str:
    """Restore a benchmark into a running server, a part at a time: whole, or not at all.

    Returns:
        Name of the benchmark.

    Raises:
        BackupError: If the backup is damaged, of a whole site, or of another version.
        NameTakenError: If a benchmark of that name exists, or is created meanwhile.
        StoreError: If the store fails, or does not answer for the duration of a lease.
    """
    schema = await context.read(lambda reader: reader.schema())
    header = await asyncio.to_thread(check_rows, file, schema)
    if not header.benchmark:
        expected = "that of a benchmark: a site is restored with vidscore restore --store"
        raise BackupError([Fault("the backup of a whole site", expected, field="backup")])
    await context.read(lambda reader: _refuse_taken(reader, header.benchmark))

    def parts(hidden: str) -> Iterator[Part]:
        numbers: RowNumbers = {}
        for rows in in_parts(_rows_under(hidden, header, file), _size_of):
            yield partial(_load, rows=rows, numbers=numbers)

    def show_it(transaction: Transaction, hidden: str) -> None:
        _show(transaction, hidden, header.benchmark)
        request.audit(transaction, benchmark_name(header.benchmark))

    await load_in_parts(context, leases, parts, show_it)
    return header.benchmark


def _size_of(row: Row) -> int:
    """Bytes of the texts and payloads of a row."""
    return sum(len(value) for value in row[1].values() if isinstance(value, bytes | str))


def _rows_under(hidden: str, header: BackupHeader, file: BinaryIO) -> Iterator[Row]:
    """The verified rows of a benchmark's backup, under a hidden name."""
    for table, values in _in_newest_schema(header.schema, read_rows(file)):
        yield table, ({**values, "benchmark": hidden} if table == "benchmarks" else values)


def _refuse_taken(reader: Reader, benchmark: str) -> None:
    """Refuse to restore a benchmark over another.

    Raises:
        NameTakenError: If one of that name is there.
    """
    if reader.benchmark(benchmark) is not None:
        raise NameTakenError(f"benchmarks/{benchmark} already exists")


def _show(transaction: Transaction, hidden: str, benchmark: str) -> None:
    """Give a benchmark its name, after it was loaded under a hidden one.

    Raises:
        BackupError: If the backup had no benchmark.
        NameTakenError: If one of that name is there.
    """
    _refuse_taken(transaction, benchmark)
    if transaction.benchmark(hidden) is None:
        raise BackupError([Fault("no such row", "the benchmark itself", field="benchmark")])
    transaction.show_benchmark(hidden, benchmark)


def _load(transaction: Transaction, rows: Iterable[Row], numbers: RowNumbers) -> None:
    """Add rows of a backup; see `Transaction.load`.

    Raises:
        BackupError: If a row does not fit the others.
    """
    try:
        transaction.load(rows, numbers)
    except InputError as error:
        raise BackupError(error.faults) from None
    except (AlreadyExistsError, OverflowError) as error:
        found = "a row twice" if isinstance(error, AlreadyExistsError) else "a number too large"
        raise BackupError([Fault(found, "rows as a store has them", field="backup")]) from None


_ADDED: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "0007": {"detection_batches": {"arrival_time": None}},
    "0008": {"scores": {"outcomes_shown": False}},
    "0009": {
        "scores": {
            "public_values": "",
            "public_report": None,
            "private_values": "",
            "private_report": None,
            "estimate": "",
            "released_step": 0.0,
        },
        "submissions": {"chosen": False},
    },
    "0010": {},  # further tables, as 0013
    "0011": {
        "truth_revisions": {"object_count": None, "sequence_count": None, "label_count": None},
        "submissions": {"disqualification": ""},
    },
    "0012": {},  # an index
    "0013": {},
    "0014": {"streams": {"source_position": ""}},
    "0015": {},  # an index
}
"""Columns that each revision adds to rows, by table, with the values of its migration.

Backups of the revisions before these can be restored. Earlier ones must be restored by their own
version, because their migrations may do more.
"""

_RESTORABLE = frozenset({"0006", *_ADDED})


def _in_newest_schema(schema: str, rows: Iterator[Row]) -> Iterator[Row]:
    added: dict[str, dict[str, Any]] = {}
    for revision, tables in _ADDED.items():
        if revision > schema:
            for table, columns in tables.items():
                added.setdefault(table, {}).update(columns)
    return ((table, {**added.get(table, {}), **values}) for table, values in rows)


def refuse_schema(header: BackupHeader, schema: str) -> None:
    """Refuse a backup whose revision of the tables cannot be restored here.

    Args:
        header: Its header.
        schema: Revision of the tables of this store.

    Raises:
        BackupError: If it is of another revision; the error names the version that can restore it.
    """
    if header.schema != schema and header.schema not in _RESTORABLE:
        found = f"tables of revision {header.schema}, of vidscore {header.version}"
        expected = (
            f"revision {schema}: restore it with vidscore {header.version} into a store of its "
            f"own, which this version ({server_version()}) brings up to date if it is newer"
        )
        raise BackupError([Fault(found, expected, field="backup")])


def _only_of(benchmark: str, rows: Iterator[Row]) -> Iterator[Row]:
    for table, values in rows:
        if table in OF_THE_SITE or values.get("benchmark", benchmark) != benchmark:
            found = f"a row of {table}"
            raise BackupError([Fault(found, f"rows of {benchmark} alone", field="backup")])
        yield table, values
