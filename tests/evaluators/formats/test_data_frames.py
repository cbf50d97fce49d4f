"""Data frames of pandas, polars and Arrow mean the same as a file with their columns."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import vidscore
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError, MissingExtraError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.generic import read as read_csv
from vidscore_evaluators.formats.plain_arrays import columns_of, read_arrays
from vidscore_evaluators.formats.source import ReadLimits

COLUMNS: dict[str, list[Any]] = {
    "sequence": ["a", "a", "b"],
    "frame": [0, 1, 0],
    "class": ["Car", None, "Bus"],
    "x": [1.0, None, 3.5],
    "y": [3, None, 4],
    "confidence": [0.5, None, 0.75],
    "track_id": [7, None, None],
}
CSV = """sequence,frame,class,x,y,confidence,track_id
a,0,Car,1,3,0.5,7
a,1,,,,,
b,0,Bus,3.5,4,0.75,
"""


def arrow(dictionaries: bool) -> Any:
    table = pa.table(COLUMNS)
    if not dictionaries:
        return table
    for name in ("sequence", "class"):
        at = table.column_names.index(name)
        table = table.set_column(at, name, table[name].dictionary_encode())
    return table


FRAMES: dict[str, Callable[[], Any]] = {
    "dictionary": lambda: COLUMNS,
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas, nullable": lambda: pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, categories": lambda: pd.DataFrame(COLUMNS).astype({"class": "category"}),
    "polars": lambda: pl.DataFrame(COLUMNS),
    "polars, categories": lambda: pl.DataFrame(COLUMNS).with_columns(
        pl.col("class").cast(pl.Categorical), pl.col("sequence").cast(pl.Enum("ab"))
    ),
    "Arrow table": lambda: arrow(dictionaries=False),
    "Arrow table, dictionaries": lambda: arrow(dictionaries=True),
    "Arrow batch": lambda: arrow(dictionaries=False).to_batches()[0],
}


@pytest.mark.parametrize("kind", FRAMES)
def test_a_data_frame_equals_the_file_that_holds_its_rows(kind: str, tmp_path: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text(CSV)
    from_file = read_csv(path, Side.DETECTIONS, ReadLimits()).source.annotations
    read = read_arrays(columns_of(FRAMES[kind](), "detections"), "detections").annotations
    assert fingerprint(read) == fingerprint(from_file)


@pytest.mark.parametrize("truth", FRAMES)
@pytest.mark.parametrize("detections", ["polars", "Arrow table"])
def test_truth_and_detections_may_be_of_different_libraries(truth: str, detections: str) -> None:
    report = vidscore.score(
        "f1", FRAMES[truth](), FRAMES[detections](), base="euclidean", cutoff_px=1
    )
    assert report.value("f1") == 1.0


def test_faults_of_a_data_frame_name_side_column_and_row() -> None:
    wrong = pl.DataFrame({**COLUMNS, "frame": [0, -1, 0]})
    with pytest.raises(InputError, match="truth, entry 1, column frame: found -1"):
        vidscore.score("f1", wrong, wrong)
    with pytest.raises(InputError, match="truth, column x: found values of type bool"):
        vidscore.score("f1", wrong.with_columns(x=pl.lit(True)), wrong)


def test_a_lazy_data_frame_is_refused_with_what_to_do() -> None:
    with pytest.raises(InputError) as caught:
        columns_of(pl.DataFrame(COLUMNS).lazy(), "truth")
    assert str(caught.value) == (
        "truth: found polars.LazyFrame, expected a computed data frame; call collect() first"
    )


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ([1, 2], "list"),
        (3.0, "float"),
        (None, "NoneType"),
        (dict, "type"),
        (pd.DataFrame(COLUMNS).groupby("sequence"), "pandas.DataFrameGroupBy"),
    ],
)
def test_a_value_without_columns_is_refused(data: Any, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        columns_of(data, "truth")
    assert str(caught.value) == (
        f"truth: found {kind}, expected a path, Annotations, or arrays by column name "
        "(a dictionary, a data frame)"
    )


@pytest.mark.parametrize(
    "data",
    [
        pd.concat([pd.DataFrame(COLUMNS), pd.DataFrame({"x": [1, 2, 3]})], axis=1),
        dict[Any, Any](COLUMNS) | {1: [1, 2, 3], "1": [1, 2, 3]},
        pa.table([[1], [2]], names=["x", "x"]),
    ],
)
def test_columns_of_one_name_are_refused(data: Any) -> None:
    with pytest.raises(InputError, match="found a column twice, expected each column once"):
        columns_of(data, "truth")


@pytest.mark.parametrize("names", [["class"], ["track_id"], ["sequence", "frame"]])
def test_columns_in_the_index_are_refused_because_they_would_be_lost(names: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        columns_of(pd.DataFrame(COLUMNS).set_index(names), "truth")
    assert str(caught.value) == (
        f"truth: found {', '.join(names)} in the index, expected all columns beside it; "
        "call reset_index() first"
    )


def test_an_index_with_other_names_or_of_a_column_that_is_there_is_ignored() -> None:
    frame = pd.DataFrame(COLUMNS)
    for index in (frame.index.rename("row"), pd.Index(COLUMNS["frame"], name="frame")):
        assert list(columns_of(frame.set_axis(index), "truth")) == list(COLUMNS)


def test_integers_of_128_bits_are_read_exactly() -> None:
    """numpy has no such type."""
    wide = pl.DataFrame(COLUMNS).with_columns(pl.col("frame").cast(pl.Int128))
    assert vidscore.score("f1", wide, COLUMNS, base="euclidean", cutoff_px=1).value("f1") == 1.0
    with pytest.raises(InputError, match="truth, column frame: found a number with a fraction, or"):
        vidscore.score("f1", wide.with_columns(frame=pl.col("frame") + 2**70), COLUMNS)


def test_without_narwhals_pandas_is_read_and_others_say_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "narwhals", None)
    assert list(columns_of(FRAMES["pandas"](), "truth")) == list(COLUMNS)
    assert list(columns_of(COLUMNS, "truth")) == list(COLUMNS)
    for kind, name in (("polars", "polars.DataFrame"), ("Arrow table", "pyarrow.Table")):
        with pytest.raises(MissingExtraError) as caught:
            columns_of(FRAMES[kind](), "truth")
        assert str(caught.value) == (
            f"Data frames such as {name} need narwhals: pip install 'vidscore[dataframes]'"
        )
    with pytest.raises(InputError, match="found list, expected a path"):
        columns_of([1, 2], "truth")
