"""A table of outcomes has one row per object and detection; files of it are read back."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow.parquet
import pytest
from msgspec.structs import replace

from vidscore_evaluators.alignment import align
from vidscore_evaluators.annotations import Annotations, Side
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.outcome_files import WRITERS
from vidscore_evaluators.outcome_table import (
    NO_PARTNER,
    Outcome,
    OutcomeBuilder,
    Outcomes,
    concatenate_outcomes,
)
from vidscore_evaluators.registry import create_evaluator
from vidscore_evaluators.testing import Thing, make_annotations
from vidscore_evaluators.testing.checks import check_outcomes, check_same_outcomes

S1, S2 = ("d", "s1"), ("d", "s2")
TRUTH = make_annotations(
    {
        S2: {4: [Thing((1, 1), "=cat", track_id=5)]},
        S1: {7: [Thing((2, 2), "dog", track_id=6), Thing((3, 3), "=cat", track_id=7)]},
    }
)
DETECTIONS = make_annotations(
    {
        S1: {7: [Thing((2.5, 2), "dog", 0.25)], 8: [Thing((9, 9), "dog", 1.0)]},
        S2: {4: [Thing((1, 1), "=cat", 0.5)]},
    }
)


def table() -> Outcomes:
    """The dog is found 0.5 px off, one cat is missed, a dog is false, the other cat is ignored."""
    builder = OutcomeBuilder(align(TRUTH, DETECTIONS))
    builder.match(np.array([0]), np.array([0]), distances_px=np.array([0.5]))
    builder.set(Side.TRUTH, np.array([1]), Outcome.FALSE_NEGATIVE)
    builder.set(Side.DETECTIONS, np.array([1]), Outcome.FALSE_POSITIVE)
    builder.share(Side.TRUTH, np.array([1]), 100.0)
    yes, no = np.array([True]), np.array([False])
    builder.break_track(np.array([0]), np.array([0]), switches=yes, fragments=no)
    return builder.build({"merged": {Side.TRUTH: np.zeros(3), Side.DETECTIONS: np.ones(3)}})


def written(suffix: str, *tables: Outcomes) -> bytes:
    file = io.BytesIO()
    with WRITERS[suffix](file) as writer:
        for entry in tables:
            writer.write(entry, "toy")
    return file.getvalue()


ROWS: list[dict[str, Any]] = [
    {"side": side, "sequence": sequence, "frame": frame, "row": row, "label": label} | further
    for side, sequence, frame, row, label, further in (
        ("truth", "s1", 7, 0, "dog", {"outcome": "true_positive", "track": 6, "partner": 0}),
        ("truth", "s1", 7, 1, "=cat", {"outcome": "false_negative", "track": 7, "partner": None}),
        ("detections", "s1", 7, 0, "dog", {"outcome": "true_positive", "confidence": 0.25}),
        ("detections", "s1", 8, 0, "dog", {"outcome": "false_positive", "confidence": 1.0}),
        ("truth", "s2", 4, 0, "=cat", {"outcome": "ignored", "track": 5, "partner": None}),
        ("detections", "s2", 4, 0, "=cat", {"outcome": "ignored", "confidence": 0.5}),
    )
]


def test_each_object_has_a_row_in_its_frame_truth_first() -> None:
    found = table()
    check_outcomes(found, TRUTH, DETECTIONS)
    assert found.frames.tolist() == [7, 7, 7, 8, 4, 4]
    assert found.rows.tolist() == [0, 1, 0, 0, 0, 0]
    assert found.of_side(Side.TRUTH).tolist() == [True, True, False, False, True, False]
    assert found.partners.tolist() == [0, NO_PARTNER, 0, NO_PARTNER, NO_PARTNER, NO_PARTNER]
    assert found.id_switches.tolist() == [True, False, True, False, False, False]
    assert not found.fragmentations.any()
    assert found.columns["merged"].tolist() == [0, 0, 1, 1, 0, 1]
    assert np.isnan(found.confidences).tolist() == [True, True, False, False, True, False]


def test_rows_of_a_label_domain_or_sequence_are_found_by_name() -> None:
    found = table()
    assert found.where(sequence="s1", label="dog").frames.tolist() == [7, 7, 8]
    assert found.where(domain="d").frames.tolist() == found.frames.tolist()
    assert len(found.where(label="bird")) == 0
    assert found.count(Outcome.TRUE_POSITIVE, Side.TRUTH) == 1
    assert found.count(Outcome.FALSE_POSITIVE, Side.TRUTH) == 0
    assert found.nbytes > 6 * 50


def test_parts_with_other_tables_of_names_become_one_table() -> None:
    found = table()
    first = replace(found.where(sequence="s1"), sequence_keys=found.sequence_keys)
    renamed = found.where(sequence="s2")
    assert renamed.frame_counts is not None
    second = replace(
        renamed,
        sequence_keys=found.sequence_keys[::-1],
        sequences=np.zeros_like(renamed.sequences),
        label_names=found.label_names[::-1],
        labels=(1 - renamed.labels).astype(np.int32),
        frame_counts=renamed.frame_counts[::-1],
    )
    check_same_outcomes(concatenate_outcomes([first, second]), found)
    # One by one, with room for more rows than there are.
    check_same_outcomes(concatenate_outcomes(iter([first, second]), len(found) + 3), found)


def test_csv_has_every_column_and_no_formula() -> None:
    text = written(".csv", table()).decode()
    header = text.splitlines()[0].split(",")
    assert header == [
        *("evaluator", "side", "domain", "sequence", "frame", "row", "label", "confidence"),
        *("track", "outcome", "partner", "similarity", "distance_px", "share"),
        *("id_switch", "fragmentation", "merged"),
    ]
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["label"] for row in rows] == ["dog", "'=cat", "dog", "dog", "'=cat", "'=cat"]
    for row, expected in zip(rows, ROWS, strict=True):
        for name in ("side", "sequence", "outcome"):
            assert row[name] == expected[name]
        assert row["confidence"] == str(expected.get("confidence", ""))
        assert row["track"] == str(expected.get("track", ""))
    assert [row["distance_px"] for row in rows] == ["0.5", "", "0.5", "", "", ""]
    assert [row["share"] for row in rows] == ["0.0", "100.0", "0.0", "0.0", "0.0", "0.0"]
    assert [row["id_switch"] for row in rows] == ["true", "false", "true", *["false"] * 3]


def test_json_is_an_array_of_objects_with_nulls() -> None:
    rows = json.loads(written(".json", table()))
    for row, expected in zip(rows, ROWS, strict=True):
        assert {name: row[name] for name in expected} == expected
        assert row["similarity"] is None
    assert [row["id_switch"] for row in rows] == [True, False, True, False, False, False]


def test_parquet_has_the_same_with_texts_as_dictionaries() -> None:
    read = pyarrow.parquet.read_table(io.BytesIO(written(".parquet", table())))
    assert read.column("label").type.value_type == "string"
    for row, expected in zip(read.to_pylist(), ROWS, strict=True):
        assert {name: row[name] for name in expected} == expected
        assert row["similarity"] is None


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_further_column_of_outcomes_is_written_as_words(suffix: str) -> None:
    """The suffix of its name decides; the numbers are those of the outcomes."""
    own = table()
    second = replace(own, columns={"second_outcome": own.outcomes})
    rows = _read(suffix, written(suffix, second))
    assert [row["second_outcome"] for row in rows] == [row["outcome"] for row in ROWS]


@pytest.mark.parametrize("suffix", WRITERS)
def test_tables_are_written_one_after_the_other(suffix: str) -> None:
    first, second = table().where(sequence="s1"), table().where(sequence="s2")
    assert _read(suffix, written(suffix, first, second)) == _read(suffix, written(suffix, table()))


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("rows_at_once", [1, 4])
def test_a_file_is_the_same_however_many_rows_are_written_together(
    monkeypatch: pytest.MonkeyPatch, suffix: str, rows_at_once: int
) -> None:
    whole = _read(suffix, written(suffix, table()))
    monkeypatch.setattr(WRITERS[suffix], "rows_at_once", rows_at_once)
    assert _read(suffix, written(suffix, table())) == whole


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_empty_table_can_be_written(suffix: str) -> None:
    assert _read(suffix, written(suffix, table().where(label="bird"))) == []


def test_numbers_are_read_back_to_the_last_bit() -> None:
    found = table()
    value = math.nextafter(0.1, 1.0)
    exact = replace(found, shares=np.full(len(found), value))
    assert {row["share"] for row in json.loads(written(".json", exact))} == {value}
    [column] = {row["share"] for row in _read(".csv", written(".csv", exact))}
    assert float(column) == value


def _read(suffix: str, data: bytes) -> list[dict[str, Any]]:
    if suffix == ".json":
        rows: list[dict[str, Any]] = json.loads(data)
        return rows
    if suffix == ".csv":
        return list(csv.DictReader(io.StringIO(data.decode())))
    return list(pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist())


@pytest.mark.parametrize("classes", ["separate", "ignore"])
@pytest.mark.parametrize(
    ("names", "parameters"),
    [
        (("clear", "identity", "f1", "errors", "log-amr"), {}),
        (("map", "coco", "hota"), {"thresholds": [0.5]}),
        (("ospa", "emd", "hausdorff"), {"frames": "occupied"}),
    ],
)
def test_figures_of_several_sequences_and_classes_equal_those_of_the_report(
    names: Sequence[str], parameters: dict[str, Any], classes: str
) -> None:
    for name in names:
        check_figures(create_evaluator(name, {**parameters, "classes": classes}))


def check_figures(evaluator: Evaluator[Any]) -> None:
    """Figures of all rows equal the report's overall ones, including those it ranks by."""
    truth, detections = several_streets()
    figures = evaluator.outcome_figures(evaluator.outcomes(align(truth, detections)))
    everything = (None, None, None)
    rows = evaluator.report(evaluator.tally(truth, detections)).rows()
    expected = {row.measure: row.value for row in rows if row[:3] == everything}
    assert set(evaluator.ranking) <= set(figures) & set(expected)
    shared = {measure: value for measure, value in figures.items() if measure in expected}
    assert shared == {measure: expected[measure] for measure in shared}


def several_streets() -> tuple[Annotations, Annotations]:
    """Two sequences of three classes, each found worse than the last, and worse in "t".

    A bus is missing in a frame, three objects are missed, a car changes its track in "t", and a
    frame of each sequence has a false positive.
    """
    truth: dict[tuple[str, str], dict[int, list[Thing]]] = {("", "s"): {}, ("", "t"): {}}
    found: dict[tuple[str, str], dict[int, list[Thing]]] = {("", "s"): {}, ("", "t"): {}}
    missed = {("van", "s", 1), ("van", "t", 0), ("bus", "t", 1)}
    for sequence, frame in [*(("s", frame) for frame in range(4)), ("t", 0), ("t", 1), ("t", 2)]:
        objects, answers = [], []
        for place, label in enumerate(("car", "bus", "van")):
            if (label, frame) == ("bus", 2):
                continue
            x = 50.0 * place
            objects.append(Thing((x, 0, x + 10, 10), label, track_id=place))
            if (label, sequence, frame) in missed:
                continue
            x += place if sequence == "s" else 2 * place
            track = 8 if (label, sequence, frame) == ("car", "t", 2) else 7
            answers.append(Thing((x, 0, x + 10, 10), label, 0.9 - place / 10, track_id=track))
        if frame == 1:
            answers.append(Thing((300, 0, 310, 10), "car", 0.3, track_id=9))
        truth["", sequence][frame], found["", sequence][frame] = objects, answers
    return make_annotations(truth, arity=4), make_annotations(found, arity=4)
