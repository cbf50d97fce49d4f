"""Arguments of the library are checked before anything is read, all of a call at once."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vidscore_evaluators.comparison import compare
from vidscore_evaluators.errors import ParameterError, SpecificationError
from vidscore_evaluators.figures.plots import plot
from vidscore_evaluators.presets import find_preset
from vidscore_evaluators.scorer import Scorer
from vidscore_evaluators.scoring import outcomes, read, score
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.specification import (
    BenchmarkSpec,
    EvaluatorSpec,
    FrameRanges,
    SequenceSpec,
)

Call = Callable[..., Any]

_TRUTH = "sequence,frame,x1,y1,x2,y2\ns,0,10,10,50,50\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A truth file, and a detections file with an invalid row, in the working directory."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(_TRUTH)
    Path("d.csv").write_text(f"{_TRUTH}s,0,oops,10,50,50\n")


def _read(**arguments: Any) -> Any:
    return read("d.csv", **arguments)


def _score(**arguments: Any) -> Any:
    return score(arguments.pop("evaluator", "f1"), "t.csv", "t.csv", **arguments)


def _outcomes(**arguments: Any) -> Any:
    return outcomes(arguments.pop("evaluator", "f1"), "t.csv", "t.csv", **arguments)


def _compare(**arguments: Any) -> Any:
    systems = {"a": "t.csv", "b": "t.csv"}
    return compare(arguments.pop("evaluator", "f1"), "t.csv", systems, **arguments)


def _scorer(**arguments: Any) -> Any:
    return Scorer(arguments.pop("evaluator", "f1"), **arguments)


@pytest.mark.parametrize("call", [_read, _score, _outcomes, _compare])
@pytest.mark.parametrize("found", ["raise", "Refuse", None, ["skip"]])
def test_on_error_accepts_only_refuse_and_skip(call: Call, found: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        call(on_error=found)
    assert str(caught.value) == f"on_error: found {found!r}, expected refuse or skip"


@pytest.mark.parametrize("call", [_score, _outcomes, _compare])
@pytest.mark.parametrize(
    "found",
    [None, [1], 3, b"f1", {"f1"}, EvaluatorSpec(3), EvaluatorSpec("f1", 3)],  # type: ignore[arg-type]
)
def test_an_evaluator_is_a_name_or_a_specification_or_several_of_them(
    call: Call, found: Any
) -> None:
    expected = "the name of an evaluator or preset, an EvaluatorSpec, or a list of these"
    with pytest.raises(ParameterError) as caught:
        call(evaluator=found)
    assert str(caught.value) == f"evaluator: found {found!r}, expected {expected}"


@pytest.mark.parametrize(
    "evaluator", [["f1"], ("f1", EvaluatorSpec("map")), {"f1": 1}.keys(), np.array(["f1"])]
)
def test_several_evaluators_may_be_any_collection_with_an_order(evaluator: Any) -> None:
    assert len(_score(evaluator=evaluator)) == len(evaluator)


_OF_SCORE: list[tuple[str, Any, str]] = [
    ("select", "car", "a Selection"),
    ("format", None, "the name of a format, or auto"),
    ("confidence_scale", 3, "sigmoid, or MIN,MAX as a text"),
    ("specification", 3, "a BenchmarkSpec"),
    ("manifest", 3, "a path"),
]
_OF_WORK: list[tuple[str, Any, str]] = [
    ("workers", 0, "an integer of at least 1"),
    ("workers", 2.5, "an integer of at least 1"),
    ("workers", True, "an integer of at least 1"),
    ("progress", 3, "a function"),
]
_WRONG: list[tuple[Call, str, Any, str]] = [
    *((call, *one) for call in (_score, _outcomes, _compare) for one in _OF_SCORE),
    *((call, *one) for call in (_score, _compare) for one in _OF_WORK),
    (_score, "shards", "3", "an integer from 1 to 65536"),
    (_score, "shards", 0, "an integer from 1 to 65536"),
    (_score, "executor", 3, "an executor of concurrent.futures"),
    (_score, "executor", ThreadPoolExecutor, "an executor of concurrent.futures"),
    (_score, "online", "yes", "True or False"),
    (_read, "side", "x", "truth or detections"),
    (_read, "format", 3, "the name of a format, or auto"),
    (_read, "limits", 3, "ReadLimits"),
    (_read, "image_size", (0, -1), "width and height, integers from 1 to 2147483647"),
    (_read, "image_size", 5, "width and height, integers from 1 to 2147483647"),
    (_read, "image_size", (640.5, 480), "width and height, integers from 1 to 2147483647"),
    (_outcomes, "at_threshold", "x", "a number"),
    (_outcomes, "at_confidence", True, "a number"),
    (_compare, "seed", "x", "an integer of at least 0"),
    (_compare, "seed", -1, "an integer of at least 0"),
    (_compare, "draws", 2.5, "an integer of at least 1"),
    (_compare, "draws", "x", "an integer of at least 1"),
    (_compare, "coverage", "x", "a share between 0 and 1"),
    (_compare, "top", None, "an integer of at least 0"),
]


@pytest.mark.parametrize(("call", "name", "found", "expected"), _WRONG)
def test_an_invalid_argument_is_named_with_the_allowed_values(
    call: Call, name: str, found: Any, expected: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        call(**{name: found})
    assert str(caught.value) == f"{name}: found {found!r}, expected {expected}"


def test_all_invalid_arguments_of_a_call_are_named_at_once() -> None:
    with pytest.raises(ParameterError) as caught:
        _score(evaluator=None, select="car", workers=0, on_error="raise")
    named = [fault.field for fault in caught.value.faults]
    assert named == ["evaluator", "on_error", "select", "workers"]


@pytest.mark.parametrize("path", [None, 3, b"t.csv"])
def test_a_path_is_a_string_or_a_path(path: Any) -> None:
    with pytest.raises(ParameterError, match=r"^path: found .*, expected a path$"):
        read(path)


@pytest.mark.parametrize("systems", [3, "t.csv", [3, 4], [{}, {}], frozenset(["t.csv"])])
def test_systems_are_a_mapping_by_name_or_a_list_of_paths(systems: Any) -> None:
    """The first one is compared with the others, and the order of a set differs from run to run."""
    expected = "detections by name (a dictionary), or a list of paths"
    with pytest.raises(ParameterError) as caught:
        compare("f1", "t.csv", systems)
    assert str(caught.value) == f"systems: found {systems!r}, expected {expected}"


def test_numpy_numbers_are_accepted() -> None:
    assert _score(workers=np.int64(1), online=np.bool_(False)).value("f1") == 1.0
    assert len(_outcomes(at_threshold=np.float32(0.5)).labels) == 2
    found = _compare(draws=np.int32(2), seed=np.uint8(3), coverage=np.float32(0.5))
    assert '"seed": 3' in json.dumps(found.to_dict())
    assert read("t.csv", image_size=np.array([640, 480])).frame_count == 1  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("argument", "found", "expected"),
    [
        ("evaluator", None, "the name of an evaluator or preset, an EvaluatorSpec, or a list"),
        ("evaluator", ["f1"], "one evaluator"),
        ("labels", 3, "a list or a mapping"),
        ("labels", "car", "a list or a mapping"),
        ("sequence", 3, "a text"),
        ("domain", None, "a text"),
        ("specification", 3, "a BenchmarkSpec"),
    ],
)
def test_a_scorer_names_its_invalid_argument(argument: str, found: Any, expected: str) -> None:
    arguments = {"evaluator": "f1", argument: found}
    with pytest.raises(ParameterError) as caught:
        Scorer(**arguments)
    assert str(caught.value).startswith(f"{argument}: found {found!r}, expected {expected}")


@pytest.mark.parametrize("name", ["domains", "sequences", "labels"])
@pytest.mark.parametrize("found", [3, [3], b"car", ["car", None]])
def test_a_selection_names_invalid_names(name: str, found: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Selection(**{name: found})
    assert str(caught.value) == f"{name}: found {found!r}, expected a name or several"


def test_a_selection_names_all_its_faults() -> None:
    with pytest.raises(ParameterError) as caught:
        Selection(labels=3, frames="x", domains=4)  # type: ignore[arg-type]
    assert [fault.field for fault in caught.value.faults] == ["domains", "labels", "frames"]


@pytest.mark.parametrize("reports", [3, [], {"a": 3}])
def test_only_reports_can_be_plotted(reports: Any) -> None:
    with pytest.raises(ParameterError, match=r"^reports: found .*, expected a Report, or Reports"):
        plot(reports, "f1_by_threshold")


@pytest.mark.parametrize("name", [None, 3])
def test_a_preset_must_be_named_by_a_string(name: Any) -> None:
    with pytest.raises(ParameterError, match=r"^name_or_path: found .*, expected a text$"):
        find_preset(name)


@pytest.mark.parametrize("arguments", [{"form": 3}, {"backend": 3}])
def test_a_data_frame_names_its_invalid_argument(arguments: dict[str, Any]) -> None:
    [name] = arguments
    with pytest.raises(ParameterError, match=f"^{name}: found 3, expected "):
        _score().frame(**arguments)


@pytest.mark.parametrize(
    ("wrong", "field", "expected"),
    [
        ({"classes": ("car", "Car")}, "classes", "labels that differ in more than case"),
        ({"classes": "car"}, "classes", "an array"),
        ({"sequences": ("a",)}, "sequences[0]", "an object"),
        ({"sequences": 5}, "sequences", "an array"),
        (
            {"sequences": (SequenceSpec("a"), SequenceSpec("a"))},
            "sequences[1].name",
            "a unique name",
        ),
        (
            {"sequences": (SequenceSpec("a", frame_count="2"),)},  # type: ignore[arg-type]
            "sequences[0].frame_count",
            "an integer from 0 to 9007199254740991",
        ),
        (
            {"sequences": (SequenceSpec("a", dont_care_frames=range(2)),)},  # type: ignore[arg-type]
            "sequences[0].dont_care_frames",
            "an array",
        ),
        (
            {"sequences": (SequenceSpec("a", frame_count=10**12),)},
            "sequences",
            "at most 10000000 frames in total",
        ),
    ],
)
@pytest.mark.parametrize("call", [_score, _outcomes, _compare, _scorer])
def test_a_specification_is_checked_by_the_rules_of_a_manifest(
    call: Call, wrong: dict[str, Any], field: str, expected: str
) -> None:
    """These used to end in Python errors, in requests for 7 TiB, or in scores by other rules."""
    with pytest.raises(SpecificationError) as caught:
        call(specification=BenchmarkSpec(**wrong))
    [fault] = caught.value.faults
    assert (fault.field, fault.expected) == (field, expected)


@pytest.mark.parametrize("frames", [[1], np.array([1]), np.array([[1, 1]])])
def test_a_specification_may_have_lists_and_numpy_values(frames: Any) -> None:
    sequences = [SequenceSpec("a", frame_count=np.int64(3), dont_care_frames=frames)]  # type: ignore[arg-type]
    lists = BenchmarkSpec(sequences=sequences, classes=["car"])  # type: ignore[arg-type]
    plain = BenchmarkSpec(
        sequences=(SequenceSpec("a", frame_count=3, dont_care_frames=FrameRanges(((1, 1),))),),
        classes=("car",),
    )
    assert _score(specification=lists) == _score(specification=plain)
