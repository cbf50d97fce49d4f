"""Parquet: everything is read back unchanged, faults are named, hostile files are bounded."""

from __future__ import annotations

import gzip
import io
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.evaluators.formats.helpers import detections_of, objects_of, truth_of, validate_file

from vidscore_evaluators.annotations import ARITIES, Annotations, Side
from vidscore_evaluators.errors import MissingExtraError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import _column_writing, detect_format, read_source
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import ReadLimits, Source, WantedFrames
from vidscore_evaluators.report import report_to_json
from vidscore_evaluators.scoring import score
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.examples import example_count

COLUMNAR = ("parquet", "arrow")
"""Formats that hold the same columns, to the last bit."""

COLUMNS: dict[str, Any] = {
    "sequence": ["a", "a", "b"],
    "frame": [0, 1, 0],
    "class": ["car", None, "bus"],
    "x": [1.0, None, 3.5],
    "y": [3.0, None, 4.0],
    "confidence": [0.5, None, 0.75],
}


def save(path: Path, columns: Any = None, **changed: Any) -> Path:
    """A file of the columns above with some changes; None drops a column."""
    if columns is None:
        columns = {name: one for name, one in (COLUMNS | changed).items() if one is not None}
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(columns if isinstance(columns, pa.Table) else pa.table(columns), path)
    return path


def written(annotations: Annotations, side: Side, format_name: str = "parquet") -> bytes:
    return convert(Source(annotations, "given"), format_name, side).files[""]


def scene(random: np.random.Generator, arity: int) -> Annotations:
    """Frames with every value that frames and objects can have, some with none."""
    names = ["a,b", 'say "x"', "Ünï cödé", "", "=1"]

    def thing() -> Thing:
        return Thing(
            tuple(random.normal(size=arity) * 10.0 ** random.integers(-8, 8)),
            names[random.integers(5)],
            random.normal() * 10.0 ** random.integers(-8, 8),
            int(random.integers(-1, 5)),
            int(random.integers(0, 16)),
            {"area": random.random()} if random.random() < 0.5 else {},
        )

    keys = [("", "one"), ("Tower", "1"), ("Tower", "Ünï")]
    frames = {
        key: {number: [thing() for _ in range(random.integers(0, 3))] for number in range(4)}
        for key in keys
    }
    times = {(key, 2): random.random() * 1e9 for key in keys if random.random() < 0.5}
    made = make_annotations(frames, arity=arity, dont_care=[(keys[1], 2)], times_s=times)
    arrivals = np.where(random.random(made.frame_count) < 0.5, np.nan, random.random() * 100)
    known = None if np.isnan(arrivals).all() else arrivals
    return replace(made, frame_arrivals_s=known)


@pytest.mark.parametrize("format_name", COLUMNAR)
@settings(max_examples=example_count(40), deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from(sorted(ARITIES)))
def test_everything_is_read_back_to_the_last_bit(
    tmp_path_factory: pytest.TempPathFactory, format_name: str, seed: int, arity: int
) -> None:
    """Any numbers and names, flags, times, arrivals, columns, empty and don't-care frames."""
    given_ = scene(np.random.default_rng(seed), arity)
    path = tmp_path_factory.mktemp(format_name) / "written"
    path.write_bytes(written(given_, Side.DETECTIONS, format_name))
    back = detections_of(path).annotations
    assert back.arity == arity
    assert fingerprint(back) == fingerprint(given_)
    assert back.frame_count == given_.frame_count
    expected = given_.frame_arrivals_s
    if expected is None:
        assert back.frame_arrivals_s is None
    else:
        np.testing.assert_array_equal(back.frame_arrivals_s, expected)


@pytest.mark.parametrize("format_name", COLUMNAR)
@pytest.mark.parametrize("arity", sorted(ARITIES))
def test_an_empty_side_is_read_back_with_its_shape(
    tmp_path: Path, arity: int, format_name: str
) -> None:
    path = tmp_path / "a"
    path.write_bytes(written(make_annotations({}, arity=arity), Side.TRUTH, format_name))
    back = truth_of(path).annotations
    assert (back.frame_count, back.object_count, back.arity) == (0, 0, arity)


def test_the_report_equals_that_of_json_lines(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    sides = {side: scene(random, 4) for side in Side}
    texts = []
    for name in ("jsonl", "parquet"):
        paths = []
        for side, annotations in sides.items():
            path = tmp_path / name / f"{side.value}.{name}"
            path.parent.mkdir(exist_ok=True)
            conversion = convert(Source(annotations, "given"), name, side)
            path.write_bytes(conversion.files[""])
            paths.append(path)
        text = report_to_json(score("f1", *paths))
        texts.append(text.replace(str(tmp_path / name), "").replace(f".{name}", ""))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("format_name", COLUMNAR)
def test_equal_annotations_give_equal_bytes(format_name: str) -> None:
    sides = [scene(np.random.default_rng(7), 2) for _ in range(2)]
    first, second = (written(side, Side.TRUTH, format_name) for side in sides)
    assert first == second


def test_large_enough_row_groups_end_with_a_sequence(monkeypatch: pytest.MonkeyPatch) -> None:
    """From three rows on, and at any row with five."""
    monkeypatch.setattr(_column_writing, "SMALL_GROUP_ROWS", 3)
    monkeypatch.setattr(_column_writing, "GROUP_ROWS", 5)
    sizes = {"a": 1, "b": 1, "c": 4, "d": 7, "e": 1}
    frames = {("", name): {n: [(1, 2)] for n in range(size)} for name, size in sizes.items()}
    file = pq.ParquetFile(pa.BufferReader(written(make_annotations(frames), Side.TRUTH)))
    groups = [
        "".join(file.read_row_group(group)["sequence"].to_pylist())
        for group in range(file.num_row_groups)
    ]
    assert groups == ["abccc", "cdddd", "ddd", "e"]


TYPES: dict[str, Callable[[pa.Table], pa.Table]] = {
    "dictionaries": lambda table: table.set_column(
        0, "sequence", table["sequence"].dictionary_encode()
    ),
    "large strings": lambda table: table.set_column(
        0, "sequence", table["sequence"].cast(pa.large_string())
    ),
    "small integers": lambda table: table.set_column(1, "frame", table["frame"].cast(pa.uint8())),
    "integers as floats": lambda table: table.set_column(
        1, "frame", table["frame"].cast(pa.float32())
    ),
    "half precision": lambda table: table.set_column(3, "x", table["x"].cast(pa.float32())),
}


@pytest.mark.parametrize("kind", TYPES)
def test_types_of_other_widths_are_the_same_data(tmp_path: Path, kind: str) -> None:
    plain, other = save(tmp_path / "a"), save(tmp_path / "b", TYPES[kind](pa.table(COLUMNS)))
    sides = [detections_of(path).annotations for path in (plain, other)]
    assert fingerprint(sides[0]) == fingerprint(sides[1])


def test_integers_are_names_too(tmp_path: Path) -> None:
    path = save(tmp_path / "a", sequence=[1, 1, 20], **{"class": [3, None, 4]})
    side = detections_of(path).annotations
    assert [key.sequence for key in side.sequences] == ["1", "20"]
    assert side.labels == ("3", "4")


def test_integers_of_64_bits_are_names_with_their_own_digits(tmp_path: Path) -> None:
    """For example, hashes."""
    sequences = pa.array([2**64 - 1, 2**63, 5], pa.uint64())
    path = save(tmp_path / "a", sequence=sequences)
    names = {key.sequence for key in detections_of(path).annotations.sequences}
    assert names == {"18446744073709551615", "9223372036854775808", "5"}


def test_a_file_is_recognised_by_its_content_and_a_folder_by_its_files(tmp_path: Path) -> None:
    assert detect_format(save(tmp_path / "a.csv")).name == "parquet"
    save(tmp_path / "b" / "x.parquet")
    assert detect_format(tmp_path / "b").name == "parquet"
    save(tmp_path / "c" / "sequence=a" / "part-0.parquet", sequence=None)
    assert detect_format(tmp_path / "c").name == "parquet"
    (tmp_path / "b" / "video.txt").write_text("1,1,1,1,9,9,1,-1,-1,-1\n")
    assert detect_format(tmp_path / "b").name == "motchallenge"


# --- folders ---------------------------------------------------------------------------------


def test_files_of_a_folder_are_one_side(tmp_path: Path) -> None:
    """Rows of one frame may even be in two files."""
    save(tmp_path / "t" / "1.parquet")
    save(tmp_path / "t" / "2.parquet", sequence=["a", "c", "c"], frame=[0, 0, 1])
    (tmp_path / "t" / "_SUCCESS").write_text("")
    source = detections_of(tmp_path / "t")
    side = source.annotations
    assert [key.sequence for key in side.sequences] == ["a", "b", "c"]
    assert side.object_counts.tolist() == [2, 0, 1, 0, 1]
    assert source.warnings == ()
    assert source.place_of(side.sequences[2], 1) == f"{tmp_path}/t/2.parquet, entry 2"


def test_folders_can_give_the_values_of_columns(tmp_path: Path) -> None:
    root = tmp_path / "t" / "domain=Big%20Tower"
    for name, count in (("a", 1), ("b/c", 2)):
        escaped = name.replace("/", "%2F")
        path = root / f"sequence={escaped}" / "part-0.parquet"
        save(path, {"frame": list(range(count)), "x": [1.0] * count, "y": [2.0] * count})
    side = truth_of(tmp_path / "t").annotations
    assert list(side.sequences) == [("Big Tower", "a"), ("Big Tower", "b/c")]
    assert side.object_count == 3


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (["date=1/a.parquet"], "the folder date=1, expected domain=... or sequence=..."),
        (["sequence=a/sequence=b/a.parquet"], "the folder sequence=b, expected"),
        (["sequence=a/a.parquet", "b.parquet"], "files in folders of different columns"),
    ],
)
def test_an_unrecognised_folder_is_named(tmp_path: Path, files: list[str], found: str) -> None:
    for file in files:
        save(tmp_path / "t" / file)
    (fault, *_) = validate_file(tmp_path / "t", format_name="parquet")
    assert found in str(fault)


def test_a_column_may_be_in_the_files_as_well_as_in_their_folders(tmp_path: Path) -> None:
    """As polars writes tables partitioned by columns."""
    for folder, domain in (("Big%20Tower", "Big Tower"), ("__HIVE_DEFAULT_PARTITION__", None)):
        columns = {"domain": pa.array([domain] * 2, pa.string()), "sequence": [1, 1]}
        columns |= {"frame": [0, 1], "x": [1.0] * 2, "y": [2.0] * 2}
        save(tmp_path / "t" / f"domain={folder}" / "sequence=1" / "00000000.parquet", columns)
    side = truth_of(tmp_path / "t").annotations
    assert list(side.sequences) == [("", "1"), ("Big Tower", "1")]
    assert side.object_counts.tolist() == [1, 1, 1, 1]


def test_rows_that_belong_to_another_folder_are_named(tmp_path: Path) -> None:
    columns = {"sequence": ["a", "b"], "frame": [0, 0], "x": [1.0] * 2, "y": [2.0] * 2}
    save(tmp_path / "t" / "sequence=a" / "x.parquet", columns)
    (fault,) = validate_file(tmp_path / "t")
    assert str(fault) == (
        f"{tmp_path}/t/sequence=a/x.parquet, entry 1, column sequence: "
        "found 'b', expected 'a', for which its folder stands"
    )


def test_a_folder_for_a_column_that_folders_cannot_give_is_named(tmp_path: Path) -> None:
    """Otherwise one that looks like a part of a side would be read as all of it."""
    save(tmp_path / "t" / "class=car" / "sequence=a" / "a.parquet")
    (fault,) = validate_file(tmp_path / "t")
    assert "found the folder class=car, expected domain=... or sequence=..." in str(fault)


@pytest.mark.parametrize("statistics", [True, ["frame"], False])
def test_a_sequence_is_found_whatever_statistics_a_file_has(
    tmp_path: Path, statistics: bool | list[str]
) -> None:
    """Each row is a group; the groups of b have statistics, or are read to find out."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table(COLUMNS), path, row_group_size=1, write_statistics=statistics)
    wanted = WantedFrames(10, lambda key, _: key.sequence == "b")
    found = truth_of(path, wanted=wanted).annotations
    assert objects_of(found) == [("b", 0, "bus", (3.5, 4.0), 0.75, -1, 0)]


def test_files_of_other_columns_are_named(tmp_path: Path) -> None:
    save(tmp_path / "t" / "1.parquet")
    save(tmp_path / "t" / "2.parquet", confidence=None)
    (fault,) = validate_file(tmp_path / "t")
    assert fault.source == f"{tmp_path}/t/2.parquet"
    assert "other columns (confidence), expected the columns of" in str(fault)


def test_other_files_are_ignored_with_a_warning(tmp_path: Path) -> None:
    save(tmp_path / "t" / "1.parquet")
    (tmp_path / "t" / "README.md").write_text("hello")
    (warning,) = detections_of(tmp_path / "t").warnings
    assert (warning.code, warning.count) == ("ignored_files", 1)


# --- faults ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changed", "place", "found"),
    [
        ({"frame": [0, None, 0]}, "entry 1, column frame", "nothing"),
        ({"frame": [0, 1.5, 0]}, "entry 1, column frame", "1.5"),
        ({"frame": pa.array([0, 1, 2**64 - 1], pa.uint64())}, "entry 2, column frame", "1844"),
        ({"sequence": ["a", None, "b"]}, "entry 1, column sequence", "nothing"),
        ({"sequence": ["a", "b\n", "b"]}, "entry 1, column sequence", r"'b\n'"),
        ({"x": [1.0, None, float("nan")]}, "entry 2, column x", "NaN"),
        ({"x": [1.0, None, float("inf")]}, "entry 2, column x", "an infinite number"),
        ({"x": [1.0, None, None]}, "entry 2, column x", "nothing"),
        ({"x": [1.0, None, 1e10]}, "entry 2, column x", "10000000000.0"),
        ({"confidence": [0.5, None, None]}, "entry 2, column confidence", "nothing"),
        ({"area": [0.5, None, float("nan")]}, "entry 2, column area", "NaN"),
        ({"score": [0.5, None, float("nan")], "confidence": None}, "entry 2, column score", "NaN"),
        ({"flags": ["no", None, None]}, "entry 0, column flags", "'no'"),
    ],
)
def test_an_invalid_value_is_named_with_file_row_and_column(
    tmp_path: Path, changed: dict[str, Any], place: str, found: str
) -> None:
    path = save(tmp_path / "a.parquet", **changed)
    (fault,) = validate_file(path, side=Side.DETECTIONS)
    assert str(fault).startswith(f"{path}, {place}: found {found}")


def test_text_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    names = pa.array([b"a", b"\xff", b"b"], pa.binary())
    broken = pa.Array.from_buffers(pa.string(), 3, names.buffers())
    path = save(tmp_path / "a.parquet", sequence=broken)
    (fault,) = validate_file(path)
    assert (fault.entry, fault.field) == (1, "column sequence")


@pytest.mark.parametrize(
    ("changed", "column", "expected"),
    [
        ({"x": ["1", "2", "3"]}, "x", "integers or floating-point numbers"),
        ({"frame": ["1", "2", "3"]}, "frame", "integers"),
        ({"sequence": [1.0, 2.0, 3.0]}, "sequence", "strings or integers"),
        ({"area": [[1], [2], [3]]}, "area", "integers or floating-point numbers"),
        ({"class": [True, False, True]}, "class", "strings or integers"),
    ],
)
def test_a_wrong_type_is_named_with_file_and_column(
    tmp_path: Path, changed: dict[str, Any], column: str, expected: str
) -> None:
    path = save(tmp_path / "a.parquet", **changed)
    (fault,) = validate_file(path)
    assert fault.place == f"{path}, column {column}"
    assert fault.expected == f"a column of {expected}"
    assert (fault.advice or "").startswith("cast it")
    assert ("leave it out" in str(fault)) == (column == "area")


def test_columns_have_the_names_of_generic_csv(tmp_path: Path) -> None:
    (fault,) = validate_file(save(tmp_path / "a.parquet", frame=None))
    assert (fault.found, fault.field) == ("missing", "column frame")
    (fault,) = validate_file(save(tmp_path / "b.parquet", Confidence=[1.0, 1.0, 1.0]))
    assert fault.advice == "did you mean confidence?"


def test_rows_with_faults_can_be_left_out(tmp_path: Path) -> None:
    path = save(tmp_path / "a.parquet", x=[1.0, None, float("nan")])
    source = read_source(path, Side.DETECTIONS, on_error="skip")
    assert source.annotations.object_count == 1
    assert [(one.code, one.count) for one in source.warnings] == [("skipped_rows", 1)]


# --- hostile files ---------------------------------------------------------------------------


def test_a_small_file_of_very_many_rows_is_refused_before_it_is_read(tmp_path: Path) -> None:
    count = 3_000_000
    nothing = pa.nulls(count, pa.float64())
    columns = {
        "sequence": pa.array(["a"] * 1).take(pa.array(np.zeros(count, dtype=np.int32))),
        "frame": pa.array(np.zeros(count, dtype=np.int64)),
        "x": nothing,
        "y": nothing,
    }
    path = save(tmp_path / "a.parquet", columns)
    assert path.stat().st_size < 100_000
    limits = ReadLimits(maximum_unpacked_bytes=64 << 20)
    (fault,) = validate_file(path, limits=limits)
    assert fault.found == "3000000 rows of 4 columns, 96000000 bytes"
    assert "shards" in str(fault)


def test_a_damaged_file_is_refused_wherever_the_damage_is(tmp_path: Path) -> None:
    whole = io.BytesIO()
    pq.write_table(pa.table(COLUMNS), whole, compression="none")
    data = whole.getvalue()
    random = np.random.default_rng(1)
    path = tmp_path / "a.parquet"
    for cut in (4, 8, 50, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        (fault,) = validate_file(path)
        assert fault.source == str(path)
    for _ in range(200):
        damaged = bytearray(data)
        for place in random.integers(4, len(data), 3):
            damaged[place] = random.integers(256)
        path.write_bytes(bytes(damaged))
        validate_file(path)  # Any content gives a fault or data, and never another error.


@pytest.mark.parametrize(
    ("data", "broken", "found", "expected"),
    [
        # A run of three texts of number 0 becomes one of number 5, of which there is none.
        (b"\1\6\0", b"\1\6\5", "a Parquet file that cannot be read", "a complete one"),
        # The number of rows, zigzag-encoded, which follows those of the columns.
        (b"\x16\6", b"\x16\5", "-3 rows", "0 or more"),
    ],
)
def test_numbers_that_point_nowhere_are_refused(
    tmp_path: Path, data: bytes, broken: bytes, found: str, expected: str
) -> None:
    whole = io.BytesIO()
    pq.write_table(pa.table(COLUMNS | {"sequence": ["a"] * 3}), whole, compression="none")
    before, _, after = whole.getvalue().rpartition(data)
    path = tmp_path / "a.parquet"
    path.write_bytes(before + broken + after)
    (fault,) = validate_file(path)
    assert fault.found.startswith(found)
    assert (fault.source, fault.expected) == (str(path), expected)


def test_without_pyarrow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save(tmp_path / "a.parquet")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"vidscore\[parquet\]"):
        detections_of(path)


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = save(tmp_path / "t" / "sequence=a" / "x.parquet", sequence=None)
    packed = tmp_path / "t.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.write(path, "sequence=a/x.parquet")
    assert detections_of(packed).annotations.object_count == 2
    zipped = tmp_path / "a.gz"
    zipped.write_bytes(gzip.compress(save(tmp_path / "a").read_bytes()))
    assert detections_of(zipped).annotations.object_count == 2
