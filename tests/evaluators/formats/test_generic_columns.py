"""Other tools' names of columns, and numeric labels, have the meaning of those tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.evaluators.formats.helpers import detections_of, truth_of, write

from vidscore_evaluators import score
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.generic import ALIASES
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.report import ReportWarning

ROWS = "a,1,car,0,0,10,10,0.5,3\na,2,bus,0,0,10,10,0.25,4\n"


def csv(**renamed: str) -> str:
    names = ("sequence", "frame", "class", "x1", "y1", "x2", "y2", "confidence", "track_id")
    return ",".join(renamed.get(name, name) for name in names) + "\n" + ROWS


VALUES: Mapping[str, Sequence[Any]] = {
    "confidence": [0.5, 0.25, 1.0],
    "class": ["car", "bus", "car"],
    "track_id": [3, 3, 4],
}
"""Values for each column that has other names."""


def arrays(**changes: Any) -> dict[str, Any]:
    boxes = {"x1": [1.0] * 3, "y1": [2.0] * 3, "x2": [5.0] * 3, "y2": [6.0] * 3}
    return {"sequence": ["a"] * 3, "frame": [0, 1, 2], **boxes, **changes}


def problems(columns: Mapping[str, Any]) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_arrays(columns, "truth")
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize("values", [["a.png"] * 3, [True] * 3, [0.5, np.inf, 1.0]])
def test_a_further_column_that_cannot_be_read_may_be_left_out(
    values: list[Any], tmp_path: Path
) -> None:
    advice = "leave it out if no evaluator needs it"
    [problem] = problems(arrays(path=values))
    assert problem.startswith("truth, column path: found ")
    assert problem.endswith(advice)
    [own] = problems(arrays(score=["a.png"] * 3))
    assert advice not in own
    rows = csv().splitlines()
    path = write(tmp_path / "a.csv", f"{rows[0]},path\n{rows[1]},a.png\n")
    with pytest.raises(InputError, match=f"column path: found 'a.png', .*; {advice}$"):
        detections_of(path)


def test_the_aliases_are_those_of_the_documentation() -> None:
    assert {name for name, meant in ALIASES.items() if meant == "confidence"} == {
        *("score", "scores", "conf", "prob", "probability")
    }
    assert {name for name, meant in ALIASES.items() if meant == "class"} == {
        *("label", "category", "class_id", "class_name")
    }
    assert {name for name, meant in ALIASES.items() if meant == "track_id"} == {
        *("track", "tracker_id", "tracking_id")
    }
    assert set(ALIASES.values()) == {"confidence", "class", "track_id"}


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_read_as_its_column_with_a_note(alias: str, tmp_path: Path) -> None:
    plain = detections_of(write(tmp_path / "plain.csv", csv()))
    path = write(tmp_path / "a.csv", csv(**{ALIASES[alias]: alias}))
    aliased = detections_of(path)
    assert fingerprint(aliased.annotations) == fingerprint(plain.annotations)
    (note,) = aliased.warnings
    message = f"{path}: the column {alias} was read as {ALIASES[alias]}"
    assert note == ReportWarning("column_alias", message)
    assert note.is_note
    assert plain.warnings == ()


@pytest.mark.parametrize("alias", ALIASES)
def test_arrays_have_the_same_aliases(alias: str) -> None:
    meant = ALIASES[alias]
    values = VALUES[meant]
    plain = read_arrays(arrays(**{meant: values}), "truth").annotations
    aliased = read_arrays(arrays(**{alias: values}), "truth")
    assert fingerprint(aliased.annotations) == fingerprint(plain)
    assert [note.is_note for note in aliased.warnings] == [True]


def test_a_report_has_the_notes_of_its_inputs_and_no_other_warnings() -> None:
    report = score("f1", arrays(label=[1, 1, 2]), arrays(score=[0.5] * 3, label=[1, 1, 2]))
    assert [note.message for note in report.warnings if note.is_note] == [
        "truth: the column label was read as class",
        "detections: the column score was read as confidence",
        "detections: the column label was read as class",
    ]
    assert not ReportWarning("skipped_rows", "some").is_note


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("score", "confidence"), "the columns score and confidence, which all mean confidence"),
        (("conf", "prob"), "the columns conf and prob, which all mean confidence"),
        (("label", "class"), "the columns label and class, which all mean class"),
        (("class_id", "class_name"), "the columns class_id and class_name, which all mean class"),
    ],
)
def test_two_names_of_one_column_are_refused_with_both(names: tuple[str, ...], said: str) -> None:
    given = arrays(**{name: [1, 1, 1] for name in names})
    assert problems(given) == [f"truth: {said}; keep only one of them"]


def test_a_fault_names_the_column_as_the_file_does(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", csv(confidence="conf").replace("0.25", "x"))
    with pytest.raises(InputError, match="line 3, column conf: found 'x', expected a finite"):
        detections_of(path)
    path = write(tmp_path / "b.csv", csv(confidence="conf").replace("0.25", "inf"))
    with pytest.raises(InputError, match="line 3, column conf: found 'inf'"):
        detections_of(path)
    assert problems(arrays(score=[np.inf, 0.5, 0.5]))[0].startswith(
        "truth, column score: found inf"
    )


@pytest.mark.parametrize(
    ("name", "advice"),
    [
        ("Confidence", "did you mean confidence?"),
        ("SCORE", "did you mean score?"),
        ("labels", "did you mean label?"),
        ("confidense", "did you mean confidence?"),
        ("Frame ", "did you mean frame?"),
        ("", "if it is the index of a data frame, write with index=False"),
        ("Unnamed: 0", "if it is the index of a data frame, write with index=False"),
    ],
)
def test_a_clearly_mistyped_name_is_refused_with_the_right_one(name: str, advice: str) -> None:
    (said,) = problems(arrays(**{name: [1.0, 2.0, 3.0]}))
    assert said.endswith(f"; {advice}")


@pytest.mark.parametrize("name", ["area", "class_score", "probability_std", "depth"])
def test_other_names_are_columns_of_their_own(name: str) -> None:
    read = read_arrays(arrays(**{name: [1.0, 2.0, 3.0]}), "truth")
    assert list(read.annotations.columns) == [name]


# --- numeric labels --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, 1],
        ["1", "2", "1"],
        ["1", 2, "1"],
        np.array([1, 2, 1], dtype=np.uint8),
        np.array([1.0, 2.0, 1.0]),
        np.array([1, "2", 1.0], dtype=object),
        np.array([np.int64(1), 2.0, " 1 "], dtype=object),
    ],
)
def test_an_integer_is_the_label_of_its_digits(labels: Any) -> None:
    texts = read_arrays(arrays(**{"class": ["1", "2", "1"]}), "truth").annotations
    numbers = read_arrays(arrays(**{"class": labels}), "truth").annotations
    assert fingerprint(numbers) == fingerprint(texts)
    assert score("f1", texts, arrays(label=labels)).value("f1") == 1.0


def test_labels_of_a_file_and_of_arrays_are_the_same(tmp_path: Path) -> None:
    rows = "sequence,frame,class,x1,y1,x2,y2\n" + "".join(
        f"a,{frame},{label},1,2,5,6\n" for frame, label in enumerate("113")
    )
    file = truth_of(write(tmp_path / "a.csv", rows)).annotations
    assert score("f1", file, arrays(class_id=[1, 1, 3])).value("f1") == 1.0


@pytest.mark.parametrize("label", [True, 1.5, b"car", ("car",), np.inf])
def test_only_strings_and_integers_are_labels(label: Any) -> None:
    (said,) = problems(arrays(label=np.array([label, "car", "bus"], dtype=object)))
    assert said.startswith("truth, column label: found ")


@pytest.mark.parametrize(
    "labels",
    [
        ["car", None, float("nan")],
        np.array([1.0, np.nan, np.nan]),
        np.array([1, None, None], dtype=object),
    ],
)
def test_an_object_without_a_class_is_refused_with_its_row(labels: Any) -> None:
    assert problems(arrays(label=labels)) == [
        "truth, entry 1, column label: found a missing value, expected a class",
        "truth, entry 2, column label: found a missing value, expected a class",
    ]


def test_a_row_without_object_needs_no_class() -> None:
    places = {name: [1, None, 1] for name in ("x1", "y1", "x2", "y2")}
    read = read_arrays(arrays(label=["car", None, "car"], **places), "truth")
    assert read.annotations.object_count == 2


def test_a_missing_value_of_pandas_is_missing() -> None:
    class NAType:
        """Like that of pandas, which cannot be compared."""

        def __ne__(self, other: object) -> Any:
            return self

        def __bool__(self) -> bool:
            raise TypeError("boolean value of NA is ambiguous")

        __hash__ = object.__hash__

    labels = np.array(["car", None, "car"], dtype=object)
    labels[1] = NAType()
    assert problems(arrays(label=labels)) == [
        "truth, entry 1, column label: found a missing value, expected a class"
    ]


@pytest.mark.parametrize("name", ["x1", "x", "confidence", "score", "time_s", "Confidence"])
@pytest.mark.parametrize("target", ["generic-csv", "parquet", "arrow"])
def test_numbers_with_the_name_of_a_column_of_the_format_are_refused(
    tmp_path: Path, target: str, name: str
) -> None:
    """JSON lines allow it; here 7.5 would be read as the corner, or the confidence, itself."""
    thing = {"box": [1, 2, 3, 4], "confidence": 0.5, "numbers": {name: 7.5, "area": 4.0}}
    line = json.dumps({"sequence": "a", "frame": 0, "objects": [thing]})
    source = detections_of(write(tmp_path / "found.jsonl", line + "\n"))
    with pytest.raises(InputError) as raised:
        convert(source, target, Side.DETECTIONS)
    [fault] = raised.value.faults
    assert (fault.source, fault.field) == (source.name, f"column {name}")


def test_numbers_with_the_name_of_a_mask_column_are_not_written_to_parquet(tmp_path: Path) -> None:
    thing = {"box": [1, 2, 3, 4], "numbers": {"mask_width": 7.5}}
    line = json.dumps({"sequence": "a", "frame": 0, "objects": [thing]})
    source = detections_of(write(tmp_path / "found.jsonl", line + "\n"))
    assert convert(source, "generic-csv", Side.DETECTIONS).files
    with pytest.raises(InputError, match="column mask_width: found further numbers"):
        convert(source, "parquet", Side.DETECTIONS)
