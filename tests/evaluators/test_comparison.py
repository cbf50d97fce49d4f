"""Systems in files and arrays are compared in one call."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import vidscore
from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.comparison import compare, system_names
from vidscore_evaluators.errors import InputError, ParameterError
from vidscore_evaluators.remote_files import RemotePath, write_file
from vidscore_evaluators.scoring import score
from vidscore_evaluators.selection import Selection
from vidscore_evaluators.specification import BenchmarkSpec, EvaluatorSpec
from vidscore_evaluators.testing import Thing, make_annotations

HEADER = "sequence,frame,class,x1,y1,x2,y2,confidence\n"


def side(**found: tuple[int, ...]) -> Annotations:
    """A car in some of frames 0 to 3 of the given sequences, and a bus in all of these frames."""
    return make_annotations(
        {
            ("", name): {
                number: [
                    Thing((200.0, 0.0, 210.0, 10.0), "bus"),
                    *[Thing((0.0, 0.0, 10.0, 10.0), "car")] * (number in frames),
                ]
                for number in range(4)
            }
            for name, frames in found.items()
        }
    )


TRUTH = side(one=(0, 1, 2, 3), two=(0, 1, 2, 3), three=(0, 1))
SYSTEMS = {
    "old": side(one=(0,), two=(0, 1), three=(0,)),
    "new": side(one=(0, 1, 2), two=(0, 1, 3), three=(0, 1)),
}


def test_scores_of_a_comparison_equal_those_of_reports() -> None:
    [pair] = compare("f1", TRUTH, SYSTEMS, draws=20).pairs
    reports = [score("f1", TRUTH, detections) for detections in SYSTEMS.values()]
    compared = {(one.domain, one.label, one.measure): one for one in pair.differences}
    for row in reports[0].rows():
        if row.sequence is None:
            of = compared[row.domain, row.label, row.measure]
            place = {"domain": row.domain, "label": row.label}
            assert of.first == row.value
            assert of.second == reports[1].value(row.measure, **place)


def test_a_part_is_compared_as_it_is_scored() -> None:
    chosen = Selection(labels="car", sequences=["one", "two"], frames="0:2")
    one = compare("f1", TRUTH, SYSTEMS, draws=20, select=chosen)
    old = score("f1", TRUTH, SYSTEMS["old"], select=chosen)
    assert one.pairs[0].overall.first == old.value("f1")
    assert one.sequence_count == 2
    assert one.to_dict()["selection"] == old.selection


def test_several_evaluators_give_a_list_and_parameters_are_accepted() -> None:
    evaluators: list[str | EvaluatorSpec] = [EvaluatorSpec("f1", {"threshold": 0.3}), "map"]
    found: Any = compare(evaluators, TRUTH, SYSTEMS, draws=5)
    coarse, fine = found
    assert coarse.to_dict()["parameters"]["threshold"] == 0.3
    assert fine.evaluator.name == "map"
    alone = compare("f1", TRUTH, SYSTEMS, draws=5, threshold=0.3)
    assert alone.to_dict() == coarse.to_dict()
    with pytest.raises(ParameterError, match="parameters for several evaluators"):
        compare(["f1", "map"], TRUTH, SYSTEMS, threshold=0.3)


def test_systems_from_files_get_the_names_of_the_files(tmp_path: Path) -> None:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "cars.csv").write_text(HEADER + "s,0,car,0,0,9,9,1\n")
    (tmp_path / "truth.csv").write_text("sequence,frame,class,x1,y1,x2,y2\ns,0,car,0,0,9,9\n")
    paths = [tmp_path / "old/cars.csv", tmp_path / "new/cars.csv"]
    assert compare("f1", tmp_path / "truth.csv", paths).systems == ("old/cars", "new/cars")


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a.csv", "b.csv"], ["a", "b"]),
        (["x/a.csv", "y/b"], ["a", "b"]),
        (["x/a.csv", "y/a.csv", "y/b.csv"], ["x/a", "y/a", "b"]),
        (["x/1/a.csv", "y/1/a.csv"], ["x/1/a", "y/1/a"]),
        (["/a", "/b/a"], ["a", "b/a"]),
        (["x/a.csv", "x/a.json"], ["x/a.csv", "x/a.json"]),
    ],
)
def test_names_are_as_short_as_they_can_be_and_unique(paths: list[str], names: list[str]) -> None:
    assert system_names([Path(path) for path in paths]) == names


def test_a_repeated_path_is_refused() -> None:
    with pytest.raises(InputError, match=r"a\.csv twice, expected each system once"):
        system_names([Path("a.csv"), Path("./a.csv")])


def test_systems_in_a_list_may_be_addresses_and_other_kinds_of_paths(tmp_path: Path) -> None:
    """``file:///a.csv`` is the path /a.csv, and entries of a folder of bytes are paths of bytes."""
    pytest.importorskip("fsspec")
    (tmp_path / "truth.csv").write_text("sequence,frame,class,x1,y1,x2,y2\ns,0,car,0,0,9,9\n")
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_text(HEADER + "s,0,car,0,0,9,9,1\n")
    write_file(RemotePath("memory://runs/three.csv"), (tmp_path / "one.csv").read_bytes())
    entries: dict[bytes, Any]
    entries = {entry.name: entry for entry in os.scandir(os.fsencode(tmp_path))}
    systems = ["memory://runs/three.csv", f"file://{tmp_path}/one.csv", entries[b"two.csv"]]
    assert compare("f1", entries[b"truth.csv"], systems).systems == ("three", "one", "two")


@pytest.mark.parametrize(
    ("systems", "found"), [({}, "no system"), ({"a": TRUTH}, "1 system"), (["a.csv"], "1 system")]
)
def test_a_single_system_is_refused(
    systems: dict[str, Annotations] | list[str], found: str
) -> None:
    with pytest.raises(InputError, match=f"found {found}, expected at least two to be compared"):
        compare("f1", TRUTH, systems)


@pytest.mark.parametrize(
    ("name", "value"), [("draws", 0), ("coverage", 0.0), ("coverage", 1.0), ("top", -1)]
)
def test_an_invalid_choice_of_draws_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"{name}: found"):
        compare("f1", TRUTH, SYSTEMS, **{name: value})


def test_a_fault_of_a_system_names_its_file(tmp_path: Path) -> None:
    (tmp_path / "truth.csv").write_text("sequence,frame,class,x1,y1,x2,y2\ns,0,car,0,0,9,9\n")
    (tmp_path / "good.csv").write_text(HEADER + "s,0,car,0,0,9,9,1\n")
    (tmp_path / "bad.csv").write_text(HEADER + "s,0,car,0,0,9,9,7\n")
    paths = [tmp_path / "good.csv", tmp_path / "bad.csv"]
    with pytest.raises(InputError, match=r"bad\.csv, line 2"):
        compare("f1", tmp_path / "truth.csv", paths, confidence_extended=True)
    scaled = compare(
        "f1", tmp_path / "truth.csv", paths, confidence_extended=True, confidence_scale="0,7"
    )
    assert scaled.systems == ("good", "bad")


def test_a_specification_is_applied() -> None:
    specification = BenchmarkSpec(classes=("bus",))
    [pair] = compare("f1", TRUTH, SYSTEMS, draws=5, specification=specification).pairs
    assert [one.value for one in pair.labels(5)] == []
    assert pair.overall.first == pair.overall.second == 1.0


def test_the_library_exports_it() -> None:
    assert vidscore.compare is compare
    assert isinstance(compare("f1", TRUTH, SYSTEMS, draws=2), vidscore.Comparison)
