"""Arguments of the library are checked before anything is read, all of a call at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vidscore_evaluators.comparison import compare
from vidscore_evaluators.errors import ParameterError
from vidscore_evaluators.scoring import outcomes, read, score

Call = Callable[..., Any]

_TRUTH = "sequence,frame,x1,y1,x2,y2\ns,0,10,10,50,50\n"


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of truth, and one of detections with a broken row, in the working directory."""
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


@pytest.mark.parametrize("call", [_read, _score, _outcomes, _compare])
@pytest.mark.parametrize("found", ["raise", "Refuse", None, ["skip"]])
def test_on_error_is_refuse_or_skip_and_nothing_else(call: Call, found: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        call(on_error=found)
    assert str(caught.value) == f"on_error: found {found!r}, expected refuse or skip"
