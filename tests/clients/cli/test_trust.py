"""`vidscore trust`: what its commands print, and what they refuse."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.helpers import run

from vidscore_cli.commands.trust_criterion import TESTS
from vidscore_evaluators.trust.sanity import SANITY_TESTS

FIELDS = {"criterion", "base", "setting", "mean", "std", "paper_mean", "paper_std"}


def rows(*arguments: str) -> list[dict[str, Any]]:
    result = run("trust", "criterion", *arguments, "--format", "json")
    assert result.exit_code == 0, result.stderr
    document: list[dict[str, Any]] = json.loads(result.stdout)
    return document


def test_the_choices_are_exactly_the_available_tests() -> None:
    assert tuple(SANITY_TESTS) == TESTS


@pytest.mark.slow
def test_criterion_prints_every_criterion_of_the_paper_with_both_bases() -> None:
    """Rows of thresholds, of the optimum and of the two means, or null if there is none."""
    found = rows("--test", "multiclass-detection", "--strata", "1", "--realisations", "1")
    assert all(set(row) == FIELDS for row in found)
    names = {"f1", "map", "map-optimal", "log-amr", "log-amr-optimal", "ospa", "ospa-c", "emd",
             "hausdorff"}  # fmt: skip
    assert {(row["criterion"], row["base"]) for row in found} == {
        (name, base) for name in names for base in ("iou", "giou")
    }
    for row in found:
        assert 0.0 <= row["mean"] <= 100.0
        swept = row["criterion"] not in {"ospa", "emd", "hausdorff"}
        assert (row["setting"] is not None) == swept
    of_map = [row["setting"] for row in found if (row["criterion"], row["base"]) == ("map", "iou")]
    assert of_map == [*(step / 20 for step in range(21)), "optimum", "m_partial", "m_full"]


def test_criterion_prints_the_same_for_the_same_seed_and_not_for_another() -> None:
    options = ("ospa", "--strata", "2", "--realisations", "1")
    first = rows(*options, "--seed", "5")
    assert rows(*options, "--seed", "5") == first
    assert rows(*options, "--seed", "6") != first


def test_criterion_prints_indicators_on_request() -> None:
    found = rows("map", "--strata", "1", "--realisations", "1", "--indicators")
    assert [row["indicator"] for row in found] == ["R_S", "R_std", "R_Sen"] * 2
    assert found[0]["paper_mean"] == 8.13


def test_criterion_notes_values_of_the_paper_that_no_reading_gives() -> None:
    result = run("trust", "criterion", "ospa", "--test", "singleclass-detection",
                 "--strata", "1", "--realisations", "1")  # fmt: skip
    assert result.exit_code == 0
    assert "single-class rows of the paper come out in no reading" in result.stdout
    assert "1.97 (1.48)" in result.stdout


def test_criterion_can_write_to_a_file(tmp_path: Path) -> None:
    target = tmp_path / "rows.json"
    result = run("trust", "criterion", "ospa", "--test", "figure-3", "--format", "json",
                 "--output", str(target))  # fmt: skip
    assert (result.exit_code, result.stdout) == (0, "")
    assert len(json.loads(target.read_text())) == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("criterion", "ospaa"), "did you mean ospa"),
        (("criterion", "--test", "nothing"), "'nothing' is not one of"),
        (("criterion", "spotgeo", "--set", "tau=0"), "tau"),
        (("criterion", "--set", "tau=5"), "no evaluator"),
        (("consistency", "ospaa"), "did you mean ospa"),
        (("ranking", "spotgeo", "--truth", "t", "--system", "=x"), "expected PATH or NAME=PATH"),
        (("ranking", "spotgeo", "--truth", "t", "--system", "x", "--system", "x"), "already"),
        (("ranking", "spotgeo", "--truth", "t", "--system", "x", "--pictures", "/no/such"),
         "there is no folder /no"),
        (("ranking", "spotgeo", "--truth", "t", "--system", "x", "--pictures", __file__),
         "test_trust.py is not a folder"),
    ],
)  # fmt: skip
def test_an_invalid_command_line_is_a_usage_error(arguments: tuple[str, ...], message: str) -> None:
    result = run("trust", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_a_measure_that_is_not_a_dissimilarity_is_refused_with_those_that_are() -> None:
    result = run("trust", "consistency", "spotgeo", "--measure", "recall")
    assert result.exit_code == 2
    assert "one that is a dissimilarity: f1" in result.stderr


def test_consistency_prints_the_counterexample_of_the_paper() -> None:
    result = run("trust", "consistency", "f1", "--sets", "3")
    assert result.exit_code == 0
    assert "d(x, z) = 1 > d(x, y) + d(y, z) = 0 + 0" in result.stdout
    assert re.search(r"symmetry +none found", result.stdout)


def test_consistency_as_json_has_sets_and_dissimilarities() -> None:
    result = run("trust", "consistency", "clear", "--sets", "3", "--format", "json")
    triangle = json.loads(result.stdout)["counterexamples"]["triangle inequality"]
    assert triangle["dissimilarities"] == {"d(x, z)": 2.0, "d(x, y)": 0.0, "d(y, z)": 0.0}
    assert [len(objects) for objects in triangle["sets"]] == [1, 1, 1]


def test_ranking_examines_systems_and_draws_pictures(data: Path, tmp_path: Path) -> None:
    """Two systems, one perfect, by two evaluators: ranks, distances, a new folder of SVG files."""
    pictures = tmp_path / "pictures"
    result = run(
        "trust", "ranking", "spotgeo", "f1", "--set", "f1.base=euclidean",
        "--truth", str(data / "truth.json"), "--system", str(data / "detections.json"),
        "--system", f"perfect={data / 'truth.json'}", "--noise-px", "1", "--trials", "3",
        "--pictures", str(pictures), "--format", "json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["systems"] == ["detections", "perfect"]
    first, second = document["rankings"]
    assert first["ranks"] == second["ranks"] == {"detections": 2, "perfect": 1}
    assert first["scores"]["f1"]["perfect"] == 1.0
    assert first["bootstrap"] is None  # A single sequence.
    assert first["noise"]["trials"] == 3
    assert document["kendall_distances"] == [[0.0, 0.0], [0.0, 0.0]]
    assert sorted(path.name for path in pictures.iterdir()) == [
        "f1-euclidean-threshold.svg", "spotgeo-epsilon.svg", "spotgeo-tau.svg",
    ]  # fmt: skip


def test_a_warning_about_the_truth_is_printed_once_for_all_systems(tmp_path: Path) -> None:
    rows = "sequence,frame,class,track,x1,y1,x2,y2{}\ns,0,car,1,1,1,9,9{}\n"
    for name, more in (("t", ("", "")), ("d", (",confidence", ",0.5")), ("e", ("", ""))):
        (tmp_path / f"{name}.csv").write_text(rows.format(*more))
    result = run(
        "trust", "ranking", "f1", "--truth", str(tmp_path / "t.csv"), "--draws", "0",
        "--system", str(tmp_path / "d.csv"), "--system", str(tmp_path / "e.csv"), "--trials", "1",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    told = [f"{name}.csv: the column track was read" in result.stderr for name in "tde"]
    assert (told, result.stderr.count("t.csv: the column track was read")) == ([True] * 3, 1)


@pytest.mark.slow
def test_ranking_shows_intervals_and_groups_of_several_sequences(tmp_path: Path) -> None:
    """Two videos; a system and its copy cannot be told apart."""
    sides = tmp_path / "sides.csv"
    sides.write_text("sequence,frame,x1,y1,x2,y2\na,0,1,1,9,9\nb,0,1,1,9,9\n")
    result = run(
        "trust", "ranking", "f1", "--truth", str(sides), "--draws", "30",
        "--system", f"one={sides}", "--system", f"other={sides}",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "95% interval" in result.stdout
    assert re.search(r"one +1 .* a\n *other +1 .* a\n", result.stdout)
    assert "2 sequences are too few to call a system better" in result.stdout


@pytest.mark.slow
def test_ranking_says_why_one_video_in_each_domain_has_no_interval(data: Path) -> None:
    """Neovision2's two videos are of two domains, within which videos are drawn."""
    result = run(
        "trust", "ranking", "neovision2", "--truth", str(data / "truth"), "--draws", "30",
        "--system", f"one={data / 'detections'}", "--system", f"other={data / 'detections'}",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "95% interval" not in result.stdout
    assert "Each domain has only one sequence" in result.stdout


def test_ranking_names_the_place_of_a_fault_in_a_file(data: Path) -> None:
    broken = data / "broken.json"
    broken.write_text('[{"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": []}]')
    result = run(
        "trust", "ranking", "spotgeo", "--truth", str(data / "truth.json"),
        "--system", str(data / "detections.json"), "--system", str(broken),
    )  # fmt: skip
    assert result.exit_code == 1
    assert "broken.json" in result.stderr


def test_ranking_reads_the_truth_once_so_that_it_may_be_a_pipe(data: Path) -> None:
    systems = ("--system", f"a={data / 'detections.json'}", "--system", f"b={data / 'truth.json'}")
    command = ("trust", "ranking", "spotgeo", *systems, "--draws", "0", "--truth")
    text = (data / "truth.json").read_text("utf-8")
    piped = run(*command, "-", input_=text)
    assert piped.exit_code == 0, piped.stderr
    assert piped.stdout == run(*command, str(data / "truth.json")).stdout


def test_one_system_is_too_few_for_a_ranking(data: Path) -> None:
    truth = str(data / "truth.json")
    result = run("trust", "ranking", "spotgeo", "--truth", truth, "--system", truth)
    assert result.exit_code == 2
    assert "at least two systems" in result.stderr


@pytest.mark.usefixtures("counting_plugin")
def test_a_plug_in_is_tested_searched_and_ranked_by_its_declarations(data: Path) -> None:
    """`count_error` of another distribution: its measure, and its grid of confidences."""
    found = rows("count_error", "--strata", "2", "--realisations", "1")
    assert {row["criterion"] for row in found} == {
        "count_error", "count_error by confidence_threshold",
    }  # fmt: skip
    settings = [row["setting"] for row in found]
    assert settings == [None, 0.0, 0.25, 0.5, 0.75, 1.0, "optimum", "m_full"]
    searched = run("trust", "consistency", "count_error", "--sets", "3", "--format", "json")
    laws = json.loads(searched.stdout)["counterexamples"]
    assert laws["identity"]["dissimilarities"] == {"d(x, y)": 0.0}
    assert laws["symmetry"] is None
    assert laws["triangle inequality"] is None
    ranked = run(
        "trust", "ranking", "count_error", "--truth", str(data / "truth.json"), "--format", "json",
        "--system", str(data / "detections.json"), "--system", str(data / "truth.json"),
    )  # fmt: skip
    [ranking] = json.loads(ranked.stdout)["rankings"]
    assert [sweep["parameter"] for sweep in ranking["sweeps"]] == ["confidence_threshold"]
