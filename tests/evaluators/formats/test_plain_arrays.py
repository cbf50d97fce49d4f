"""Plain arrays mean the same as a file with their columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from vidscore_evaluators.annotations import SequenceKey, Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats.generic import read as read_csv
from vidscore_evaluators.formats.plain_arrays import read_arrays
from vidscore_evaluators.formats.source import ReadLimits


def columns(**changes: Any) -> dict[str, Any]:
    return {"sequence": ["a", "a"], "frame": [0, 1], "x": [1.0, 2.0], "y": [3, 4], **changes}


def found(**changes: Any) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_arrays(columns(**changes), "truth")
    return [str(fault) for fault in caught.value.faults]


def test_arrays_equal_the_file_that_holds_them(tmp_path: Any) -> None:
    path = tmp_path / "a.csv"
    path.write_text("sequence,frame,class,x,y,track_id,area\na,0,Car,1,3,7,\na,1,,,,,\n")
    arrays = {
        "sequence": np.array(["a", "a"]),
        "frame": np.array([0, 1], dtype=np.uint8),
        "class": ["Car", None],
        "x": [1.0, np.nan],
        "y": [3, None],
        "track_id": [7, None],
        "area": [np.nan, np.nan],
    }
    from_file = read_csv(path, Side.TRUTH, ReadLimits()).source.annotations
    assert fingerprint(read_arrays(arrays, "truth").annotations) == fingerprint(from_file)


def test_sequences_may_be_numbered() -> None:
    read = read_arrays(columns(sequence=np.array([7, 8])), "truth").annotations
    assert read.sequences == (SequenceKey("", "7"), SequenceKey("", "8"))


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="numpy 2 introduced it")
def test_names_may_have_numpys_type_of_strings() -> None:
    strings = np.dtypes.StringDType(na_object=None)
    columns = {"frame": [0, 1], "x": [1.0, np.nan], "y": [2.0, np.nan]}
    names = {"sequence": ["a", "ä" * 20], "class": ["car", None]}
    arrays = {name: np.array(values, dtype=strings) for name, values in names.items()}
    found = read_arrays(columns | arrays, "truth").annotations
    assert fingerprint(found) == fingerprint(read_arrays(columns | names, "truth").annotations)


def test_empty_arrays_have_no_frames() -> None:
    empty: dict[str, Any] = {"sequence": [], "frame": [], "x": [], "y": []}
    assert read_arrays(empty, "truth").annotations.frame_count == 0


def test_arrays_of_different_lengths_are_refused() -> None:
    assert found(x=[1.0]) == [
        "truth: found lengths sequence: 2, frame: 2, x: 1, y: 2, expected columns of one length"
    ]


@pytest.mark.parametrize(
    ("name", "values", "what"),
    [
        ("x", ["1", "2"], "values of type <U1"),
        ("x", [True, False], "values of type bool"),
        ("x", [1.0, np.inf], "inf"),
        ("x", [[1.0], [2.0]], "an array of 2 dimensions"),
        ("x", (value for value in (1.0, 2.0)), "generator, expected an array"),
        ("x", None, "NoneType, expected an array"),
        ("x", "12", "str, expected an array"),
        ("x", 1.0, "float, expected an array"),
        ("x", [1.0, {2.0}], "{2.0} in entry 1, expected an array"),
        ("x", [1.0, [2.0]], "[2.0] in entry 1, expected an array"),
        ("x", [10**400, 1.0], "in entry 0, expected an array"),
        ("x", np.array(["1", "one"], dtype=object), "'one' in entry 1, expected an array"),
        ("frame", [0, object], "<class 'object'> in entry 1, expected an array"),
        ("frame", [0.5, 1.0], "a number with a fraction"),
        ("frame", np.array([0, 2**63], dtype=np.uint64), "more than 63 bits"),
        ("sequence", [1.5, 2.5], "neither a string nor an integer"),
        ("sequence", ["a\n", "b"], "the string 'a\\n'"),
        ("sequence", [("a",), "b"], ""),
    ],
)
def test_a_column_of_the_wrong_kind_is_reported_with_its_type(
    name: str, values: Any, what: str
) -> None:
    (text,) = found(**{name: values})
    assert text.startswith(f"truth, column {name}: found ")
    assert what in text


def test_invalid_rows_are_named_by_their_index() -> None:
    assert found(frame=[0, -1], x=[1.0, 2e9]) == [
        f"truth, entry 1, column frame: found -1, expected an integer from 0 to {2**53 - 1}",
        "truth, entry 1, column x: found 2000000000.0, expected a number from -1e+09 to 1e+09",
    ]


def test_missing_columns_are_named() -> None:
    with pytest.raises(InputError, match="column frame: missing; the columns sequence, frame and"):
        read_arrays({"sequence": ["a"], "x": [1], "y": [1]}, "truth")


def test_values_hidden_by_a_numpy_mask_are_missing() -> None:
    hidden = [False, True]
    masked = columns(
        x=np.ma.array([1.0, 2.0], mask=hidden),
        y=np.ma.array([3, 4], mask=hidden),
        area=np.ma.array([9.0, 8.0], mask=[True, False]),
        track_id=np.ma.array([7, 8], mask=hidden),
        **{"class": np.ma.array(["Car", "Van"], mask=hidden)},
    )
    missing = columns(
        x=[1.0, None],
        y=[3, None],
        area=[np.nan, 8.0],
        track_id=[7, None],
        **{"class": ["Car", None]},
    )
    for given in (masked, missing):
        read = read_arrays(given, "truth").annotations
        assert read.object_count == 1
        assert (read.frame_count, read.labels) == (2, ("Car",))
    assert fingerprint(read_arrays(masked, "truth").annotations) == fingerprint(
        read_arrays(missing, "truth").annotations
    )


@pytest.mark.parametrize("missing", [None, np.nan, float("nan")])
def test_a_missing_value_among_texts_is_not_a_text(missing: object) -> None:
    """Numpy would turn it into the text 'nan'."""
    assert found(**{"class": ["Car", missing]}) == [
        "truth, entry 1, column class: found a missing value, expected a class"
    ]


def test_an_integer_among_texts_is_its_digits_and_other_values_are_refused() -> None:
    assert read_arrays(columns(**{"class": ["Car", 1]}), "truth").annotations.labels == ("Car", "1")
    [said] = found(**{"class": ["Car", 1.5]})
    assert "'1.5', which is neither a string nor an integer" in said


def test_hidden_values_are_refused_in_required_columns() -> None:
    hidden = [False, True]
    assert found(x=np.ma.array([1.0, 2.0], mask=hidden)) == found(x=[1.0, None])
    assert found(frame=np.ma.array([0, 1], mask=hidden)) == found(frame=[0, None])
    assert found(**{"class": np.ma.array(["Car", "Van"], mask=hidden)}) == [
        "truth, entry 1, column class: found a missing value, expected a class"
    ]


@pytest.mark.parametrize("mask", [np.ma.nomask, [False, False]])
def test_a_mask_that_hides_nothing_changes_nothing(mask: Any) -> None:
    masked = columns(x=np.ma.array([1.0, 2.0], mask=mask))
    assert fingerprint(read_arrays(masked, "truth").annotations) == fingerprint(
        read_arrays(columns(), "truth").annotations
    )


def test_an_integer_that_a_float_column_with_missing_values_would_round_is_refused() -> None:
    [said] = found(track_id=[2**53 + 1, None])
    assert "found a number with a fraction, or too large" in said
    read_arrays(columns(track_id=[2**53 - 1, None]), "truth")


def test_a_tensor_that_does_not_become_an_array_is_refused_with_its_reason() -> None:
    class WithGradient:
        def __array__(self, *_: object, **__: object) -> np.ndarray[Any, Any]:
            raise RuntimeError("Use tensor.detach().numpy() instead.")

    [fault] = found(x=WithGradient())
    assert fault.startswith("truth, column x: found Use tensor.detach().numpy() instead., expected")
