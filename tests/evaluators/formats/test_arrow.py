"""Arrow's files and streams have the content of Parquet, and hostile ones are bounded."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather
from tests.evaluators.formats.helpers import detections_of, validate_file
from tests.evaluators.formats.test_parquet import COLUMNS, written

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import _column_writing, detect_format, read_source
from vidscore_evaluators.formats.arrow import ArrowFile
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.testing import make_annotations


def as_file(table: pa.Table, rows: int | None = None, **options: Any) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return file.getvalue()


def as_stream(table: pa.Table, rows: int | None = None) -> bytes:
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)
    return file.getvalue()


def by_polars(table: pa.Table) -> bytes:
    file = io.BytesIO()
    frame: Any = pl.from_arrow(table)
    frame.write_ipc(file)
    return file.getvalue()


def as_feather(table: pa.Table) -> bytes:
    file = io.BytesIO()
    feather.write_feather(table, file)
    return file.getvalue()


WRITERS: dict[str, Callable[[pa.Table], bytes]] = {
    "a file": as_file,
    "batches of a row": lambda table: as_file(table, 1),
    "zstd": lambda table: as_file(table, compression="zstd"),
    "feather": as_feather,
    "polars, whose texts are views": by_polars,
    "a stream": as_stream,
    "a stream of rows": lambda table: as_stream(table, 1),
    "dictionaries": lambda table: as_file(
        table.set_column(0, "sequence", table["sequence"].dictionary_encode())
    ),
    "a stream with a dictionary a batch": lambda table: as_stream(
        pa.concat_tables(
            part.set_column(0, "sequence", part["sequence"].dictionary_encode())
            for part in (table.slice(0, 2), table.slice(2))
        )
    ),
}


@pytest.mark.parametrize("writer", WRITERS)
def test_the_data_is_the_same_whoever_wrote_it_and_in_whatever_form(
    tmp_path: Path, writer: str
) -> None:
    table = pa.table(COLUMNS)
    plain, other = tmp_path / "plain", tmp_path / "other"
    plain.write_bytes(as_file(table))
    other.write_bytes(WRITERS[writer](table))
    assert detect_format(other).name == "arrow"
    sides = [detections_of(path) for path in (plain, other)]
    assert fingerprint(sides[0].annotations) == fingerprint(sides[1].annotations)
    assert sides[0].annotations.object_count == 2
    assert sides[1].place_of(sides[1].annotations.sequences[1], 0) == f"{other}, entry 2"


def test_a_folder_is_recognised_by_its_files_and_its_hive_folders(tmp_path: Path) -> None:
    table = pa.table(COLUMNS)
    for name, suffix in (("a", "arrow"), ("b", "feather")):
        folder = tmp_path / "t" / f"sequence={name}"
        folder.mkdir(parents=True)
        (folder / f"x.{suffix}").write_bytes(as_file(table.drop_columns("sequence").slice(0, 1)))
    assert detect_format(tmp_path / "t").name == "arrow"
    (tmp_path / "t" / "README").write_text("whose they are")
    assert detect_format(tmp_path / "t").name == "arrow"
    side = detections_of(tmp_path / "t").annotations
    assert [key.sequence for key in side.sequences] == ["a", "b"]
    assert side.object_count == 2


@pytest.mark.parametrize("form", [as_file, as_stream])
def test_only_the_batches_of_wanted_sequences_are_read_completely(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: Callable[..., bytes]
) -> None:
    """Names are read in each batch; the others give no fault because they are not checked."""
    path = tmp_path / "a.arrow"
    columns = COLUMNS | {"x": [float("nan"), None, 3.5]}
    path.write_bytes(form(pa.table(columns), 1))
    read: list[tuple[int, tuple[int, ...]]] = []
    batch = ArrowFile.batch

    def noted(self: Any, index: int, fields: tuple[int, ...], row_count: int) -> Any:
        read.append((index, fields))
        return batch(self, index, fields, row_count)

    monkeypatch.setattr(ArrowFile, "batch", noted)
    source = read_source(path, Side.DETECTIONS, wanted=lambda key: key.sequence == "b")
    assert source.annotations.object_count == 1
    assert source.listing is not None
    assert [key.sequence for key in source.listing.sequences] == ["a", "b"]
    if form is as_file:
        assert {index for index, fields in read if len(fields) > 1} == {2}


def test_a_large_enough_batch_ends_with_a_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_column_writing, "SMALL_GROUP_ROWS", 3)
    monkeypatch.setattr(_column_writing, "GROUP_ROWS", 5)
    sizes = {"a": 1, "b": 1, "c": 4, "d": 7, "e": 1}
    frames = {("", name): {n: [(1, 2)] for n in range(size)} for name, size in sizes.items()}
    file = pa.ipc.open_file(pa.BufferReader(written(make_annotations(frames), Side.TRUTH, "arrow")))
    batches = [
        "".join(file.get_batch(index).column("sequence").to_pylist())
        for index in range(file.num_record_batches)
    ]
    assert batches == ["abccc", "cdddd", "ddd", "e"]


@pytest.mark.parametrize(
    ("changed", "place", "found"),
    [
        ({"frame": [0, 1.5, 0]}, "entry 1, column frame", "1.5"),
        ({"sequence": ["a", "b\n", "b"]}, "entry 1, column sequence", r"'b\n'"),
        ({"x": [1.0, None, float("nan")]}, "entry 2, column x", "NaN"),
        ({"x": ["1", "2", "3"]}, "column x", "type string"),
    ],
)
@pytest.mark.parametrize("form", [as_file, as_stream])
def test_a_fault_is_named_with_file_row_and_column(
    tmp_path: Path, form: Callable[..., bytes], changed: dict[str, Any], place: str, found: str
) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(form(pa.table(COLUMNS | changed), 1))
    (fault,) = validate_file(path, side=Side.DETECTIONS)
    assert str(fault).startswith(f"{path}, {place}: found {found}")


def test_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    names = pa.array([b"a", b"\xff", b"b"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 3, names.buffers())
    path = tmp_path / "a.arrow"
    path.write_bytes(as_file(pa.table(COLUMNS | {"sequence": broken})))
    (fault,) = validate_file(path)
    assert (fault.entry, fault.field) == (1, "column sequence")


def test_a_small_file_of_very_many_rows_is_refused(tmp_path: Path) -> None:
    count = 3_000_000
    nothing = pa.nulls(count)
    table = pa.table({"sequence": nothing, "frame": nothing, "x": nothing, "y": nothing})
    path = tmp_path / "a.arrow"
    path.write_bytes(as_file(table))
    assert path.stat().st_size < 100_000
    (fault,) = validate_file(path, limits=ReadLimits(maximum_unpacked_bytes=64 << 20))
    assert fault.found == "3000000 rows of 4 columns, 96000000 bytes"


def test_compressed_data_is_refused_by_its_unpacked_size(tmp_path: Path) -> None:
    """Eight million zeros of eight bytes each, in a file of less than a hundredth of that."""
    zeros = np.zeros(8_000_000)
    path = tmp_path / "a.arrow"
    path.write_bytes(as_file(pa.table({"x": zeros}), compression="zstd"))
    assert path.stat().st_size < 640_000
    (fault,) = validate_file(path, limits=ReadLimits(maximum_unpacked_bytes=32 << 20))
    assert fault.found == "columns of 64000000 bytes"
    exact = validate_file(path, limits=ReadLimits(maximum_unpacked_bytes=64_000_000))
    assert not any(fault.found.startswith("columns of") for fault in exact)
    texts = pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["0" * 1_000_000]))
    path.write_bytes(as_file(pa.table({"x": texts}), compression="zstd"))
    (fault,) = validate_file(path, limits=ReadLimits(maximum_unpacked_bytes=999_999))
    assert fault.found.startswith("columns of 10000")


@pytest.mark.parametrize(
    ("limits", "advice"),
    [
        (
            ReadLimits(maximum_file_bytes=99),
            "divide it: the files of a folder are read as one side",
        ),
        (ReadLimits(maximum_unpacked_bytes=99), "divide it: the files of a folder are read as"),
        (ReadLimits(maximum_files=1), "join files: one may have many sequences"),
    ],
)
def test_what_is_too_large_says_what_to_do(tmp_path: Path, limits: ReadLimits, advice: str) -> None:
    for name in ("a.arrow", "b.arrow"):
        (tmp_path / name).write_bytes(as_file(pa.table(COLUMNS)))
    assert advice in str(validate_file(tmp_path, limits=limits)[0])


@pytest.mark.parametrize(
    ("place", "byte_count"), [(0, 1 << 40), (1 << 40, 24), (-8, 24), (0, -24), (64, 24), (8, 24)]
)
@pytest.mark.parametrize("form", [as_file, as_stream])
def test_a_column_that_goes_beyond_its_batch_is_refused(
    tmp_path: Path, form: Callable[..., bytes], place: int, byte_count: int
) -> None:
    """Three numbers of eight bytes, the only column, are all that its batch has."""
    data = form(pa.table({"x": [1.0, 2.0, 3.0]}))
    buffers = struct.pack("<4q", 0, 0, 0, 24)
    assert data.count(buffers) == 1
    path = tmp_path / "a.arrow"
    path.write_bytes(data.replace(buffers, struct.pack("<4q", 0, 0, place, byte_count)))
    (fault,) = validate_file(path)
    assert "a column that goes beyond its message" in fault.found


@pytest.mark.parametrize(
    ("byte_count", "found"),
    [
        (64 << 20, "a message that goes beyond the file"),
        ((64 << 20) + 1, "a message that says too much of itself"),
    ],
)
def test_what_a_message_says_of_itself_is_bounded(
    tmp_path: Path, byte_count: int, found: str
) -> None:
    data = as_stream(pa.table(COLUMNS))
    path = tmp_path / "a.arrow"
    path.write_bytes(data[:4] + struct.pack("<I", byte_count) + data[8:])
    (fault,) = validate_file(path, format_name="arrow")
    assert found in fault.found


def test_messages_of_an_old_version_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.arrow"
    path.write_bytes(as_file(pa.table(COLUMNS), use_legacy_format=True))
    (fault,) = validate_file(path)
    assert "a message of a version that is not read" in fault.found


@pytest.mark.parametrize("form", [as_file, as_stream, as_feather])
def test_names_may_be_dictionaries_of_integers(
    tmp_path: Path, form: Callable[[pa.Table], bytes]
) -> None:
    """As pandas writes categories that are numbers."""
    numbers = {"sequence": pa.array([7, 7, 2**40]), "class": pa.array([3, None, 4], pa.int8())}
    coded = {name: values.dictionary_encode() for name, values in numbers.items()}
    path = tmp_path / "a.arrow"
    path.write_bytes(form(pa.table(COLUMNS | coded)))
    side = detections_of(path).annotations
    assert [key.sequence for key in side.sequences] == ["1099511627776", "7"]
    assert side.labels == ("3", "4")


@pytest.mark.parametrize("form", [as_file, as_stream])
@pytest.mark.parametrize("packed", [None, "lz4"])
def test_a_damaged_file_is_refused_wherever_the_damage_is(
    tmp_path: Path, form: Callable[..., bytes], packed: str | None
) -> None:
    """Any content gives a fault or data, never another error or an invalid memory access."""
    table = pa.table(COLUMNS | {"class": pa.array(["car", None, "bus"]).dictionary_encode()})
    data = as_file(table, compression=packed) if form is as_file else as_stream(table)
    path = tmp_path / "a.arrow"
    reason = "no end of an Arrow file" if form is as_file else "a message that goes beyond the file"
    for cut in (50, len(data) // 2, len(data) - 16):
        path.write_bytes(data[:cut])
        (fault,) = validate_file(path)
        assert fault.source == str(path)
        assert reason in fault.found
    random = np.random.default_rng(1)
    for _ in range(80):
        damaged = bytearray(data)
        for place in random.integers(8, len(data), 3):
            damaged[place] = random.integers(256)
        path.write_bytes(bytes(damaged))
        validate_file(path)
