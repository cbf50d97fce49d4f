"""Reports and outcomes as data frames have the same content, types and nulls in every library."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vidscore_evaluators.data_frames import Column, data_frame
from vidscore_evaluators.errors import MissingExtraError, ParameterError
from vidscore_evaluators.outcome_table import Outcomes
from vidscore_evaluators.report import Block, Report, Scores

BACKENDS = ("pandas", "polars", "pyarrow")


def report(*blocks: Block) -> Report:
    return Report("toy", "1", {}, "0" * 32, "1" * 32, Scores(blocks))


REPORT = report(
    Block({"hits": (3, 4, None), "f1": (0.5, None, 0.25)}, ("d",), ("car", "bus", None)),
    Block({"mean": (0.125,), "empty": (None,)}),
    Block({"hits": (7,)}, ("d",), ("car",), ("s1",)),
)

WIDE = [
    {"domain": "d", "label": "car", "hits": 3, "f1": 0.5},
    {"domain": "d", "label": "bus", "hits": 4},
    {"domain": "d", "f1": 0.25},
    {"mean": 0.125},
    {"domain": "d", "label": "car", "sequence": "s1", "hits": 7},
]

LONG = [
    {"domain": "d", "label": "car", "measure": "hits", "value": 3.0},
    {"domain": "d", "label": "car", "measure": "f1", "value": 0.5},
    {"domain": "d", "label": "bus", "measure": "hits", "value": 4.0},
    {"domain": "d", "label": "bus", "measure": "f1"},
    {"domain": "d", "measure": "hits"},
    {"domain": "d", "measure": "f1", "value": 0.25},
    {"measure": "mean", "value": 0.125},
    {"measure": "empty"},
    {"domain": "d", "label": "car", "sequence": "s1", "measure": "hits", "value": 7.0},
]


def names(frame: Any) -> list[str]:
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def rows(frame: Any) -> list[dict[str, Any]]:
    """Rows without their nulls."""
    if isinstance(frame, pd.DataFrame):
        found = [dict(row) for row in frame.astype(object).to_dict("records")]
        return [{name: value for name, value in row.items() if not pd.isna(value)} for row in found]
    found = frame.to_dicts() if isinstance(frame, pl.DataFrame) else frame.to_pylist()
    return [{name: value for name, value in row.items() if value is not None} for row in found]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_report_is_a_row_per_place_or_a_row_per_score(backend: Any) -> None:
    wide = REPORT.frame(backend=backend)
    assert names(wide) == ["domain", "label", "sequence", "hits", "f1", "mean", "empty"]
    assert rows(wide) == WIDE
    long = REPORT.frame("long", backend=backend)
    assert names(long) == ["domain", "label", "sequence", "measure", "value"]
    assert rows(long) == LONG


def test_counts_stay_integers_and_texts_are_categories() -> None:
    frame = REPORT.frame()
    assert frame["hits"].dtype == "Int64"
    assert frame["f1"].dtype == np.float64
    assert list(frame["label"].cat.categories) == ["car", "bus"]
    polar = REPORT.frame(backend="polars")
    assert polar.schema["hits"] == pl.Int64
    assert polar.schema["label"] == pl.Enum(["car", "bus"])
    table = REPORT.frame(backend="pyarrow")
    assert table.schema.field("hits").type == pa.int64()
    assert table.schema.field("label").type == pa.dictionary(pa.int32(), pa.string())


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_measure_with_some_fractions_is_a_float_column(backend: Any) -> None:
    mixed = report(Block({"m": (1, 2)}, ("a", "b")), Block({"m": (0.5,)}))
    assert [row["m"] for row in rows(mixed.frame(backend=backend))] == [1.0, 2.0, 0.5]
    huge = report(Block({"m": (2**70,)}))
    assert rows(huge.frame(backend=backend)) == [{"m": 2.0**70}]


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_report_without_scores_is_a_data_frame_without_rows(backend: Any) -> None:
    empty = report()
    assert names(empty.frame(backend=backend)) == ["domain", "label", "sequence"]
    assert rows(empty.frame(backend=backend)) == rows(empty.frame("long", backend=backend)) == []


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_repeated_text_in_a_table_is_one_category(backend: Any) -> None:
    """For example, the domain of two sequences."""
    twice = Column(np.array([0, 1, 2]), texts=("Tower", "Tower", "Heli"))
    frame = data_frame({"domain": twice}, backend)
    assert [row["domain"] for row in rows(frame)] == ["Tower", "Tower", "Heli"]
    if backend == "pandas":
        assert list(frame["domain"].cat.categories) == ["Tower", "Heli"]


def outcomes() -> Outcomes:
    """A missed object without a track, a false positive, and a matched pair."""
    from tests.evaluators.test_outcome_table import table

    return table()


@pytest.mark.parametrize("backend", BACKENDS)
def test_outcomes_have_nulls_for_missing_values(backend: Any) -> None:
    frame = outcomes().frame(backend=backend)
    found = rows(frame)
    assert [row["outcome"] for row in found] == [
        *("true_positive", "false_negative", "true_positive", "false_positive"),
        *("ignored", "ignored"),
    ]
    assert [row.get("confidence") for row in found] == [None, None, 0.25, 1.0, None, 0.5]
    assert [row.get("track") for row in found] == [6, 7, None, None, 5, None]
    assert [row.get("partner") for row in found] == [0, None, 0, None, None, None]
    assert [row.get("distance_px") for row in found] == [0.5, None, 0.5, None, None, None]
    assert [row["id_switch"] for row in found] == [True, False, True, False, False, False]
    assert [row["sequence"] for row in found] == ["s1", "s1", "s1", "s1", "s2", "s2"]
    assert [row["merged"] for row in found] == [0, 0, 1, 1, 0, 1]
    assert "evaluator" not in names(frame)


def test_no_column_of_outcomes_holds_python_objects() -> None:
    assert "object" not in {str(kind) for kind in outcomes().frame().dtypes}
    assert pl.Object not in outcomes().frame(backend="polars").dtypes


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_outcomes_have_all_columns(backend: Any) -> None:
    full = outcomes()
    none = full.take(np.zeros(len(full), dtype=np.bool_))
    assert names(none.frame(backend=backend)) == names(full.frame(backend=backend))
    assert rows(none.frame(backend=backend)) == []


def test_an_unknown_form_or_backend_lists_the_known_ones() -> None:
    with pytest.raises(ParameterError, match=r"'polar'.*did you mean polars"):
        REPORT.frame(backend="polar")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"'tidy'.*there are wide, long"):
        REPORT.frame("tidy")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("backend", "command"),
    [
        ("pandas", "pip install pandas"),
        ("polars", "pip install polars"),
        ("pyarrow", "pip install 'vidscore[parquet]'"),
    ],
)
def test_a_missing_library_is_named_with_the_command_that_installs_it(
    backend: Any, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, backend, None)
    with pytest.raises(MissingExtraError) as caught:
        REPORT.frame(backend=backend)
    assert str(caught.value) == f"Data frames of {backend} need {backend}: {command}"
