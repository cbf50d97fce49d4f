"""`vidscore score`, from files to reports."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.helpers import run, run_binary

SPOTGEO_TABLE = """\
spotgeo 1.0.0
default parameters

Over everything
  measure              score
  ──────────────────────────
  true_positives           2
  false_negatives          1
  false_positives          1
  precision           0.6667
  recall              0.6667
  f1                  0.6667
  one_minus_f1        0.3333
  sse               216.0000
  mse                54.0000
"""

NEOVISION2_LINES = """\
  measure                               Helicopter    Tower      all
  ──────────────────────────────────────────────────────────────────
  weighted_mean_nmotda                      0.0000   0.5000   0.3333
"""


def spotgeo(data: Path, *options: str) -> tuple[str, ...]:
    truth, detections = data / "truth.json", data / "detections.json"
    return ("score", "spotgeo", "--truth", str(truth), "--detections", str(detections), *options)


def neovision2(data: Path, *options: str) -> tuple[str, ...]:
    truth, detections = data / "truth", data / "detections"
    return ("score", "neovision2", "--truth", str(truth), "--detections", str(detections), *options)


def score_of(document: dict[str, Any], measure: str, **place: str) -> float | None:
    wanted = {"domain": None, "label": None, "sequence": None, **place, "measure": measure}
    (value,) = [
        entry["value"]
        for entry in document["scores"]
        if {key: entry[key] for key in wanted} == wanted
    ]
    number: float | None = value
    return number


def test_the_table_of_whole_set_measures_equals_the_expected_one(data: Path) -> None:
    done = run_binary(*spotgeo(data))
    assert (done.returncode, done.stdout, done.stderr) == (0, SPOTGEO_TABLE, "")


def test_a_table_of_domains_has_a_column_for_each_and_one_for_all(data: Path) -> None:
    assert NEOVISION2_LINES in run(*neovision2(data)).stdout


def test_json_of_one_evaluator_is_an_object_with_hand_worked_scores(data: Path) -> None:
    document = json.loads(run(*spotgeo(data, "--format", "json")).stdout)
    assert document["evaluator"] == "spotgeo"
    assert score_of(document, "f1") == 2 * 2 / (2 * 2 + 1 + 1)
    assert score_of(document, "mse") == (16 + 100 + 100) / 4
    assert isinstance(score_of(document, "true_positives"), int)


def test_undefined_scores_are_null_and_counts_are_integers_in_json(data: Path) -> None:
    document = json.loads(run(*neovision2(data, "--format", "json")).stdout)
    assert score_of(document, "nmotda", domain="Tower", label="Bus") is None
    assert score_of(document, "nmotda", domain="Tower", label="Car") == 0.5
    assert score_of(document, "false_positives", domain="Tower", label="Car") == 1


def test_json_of_several_evaluators_is_an_array_in_the_typed_order(data: Path) -> None:
    arguments = ("score", "f1", *neovision2(data, "--set", "f1.threshold=0.75")[1:])
    documents = json.loads(run(*arguments, "--format", "json").stdout)
    assert [document["evaluator"] for document in documents] == ["f1", "neovision2"]
    assert documents[0]["parameters"]["threshold"] == 0.75


def test_a_table_of_several_evaluators_shares_the_overall_scores(data: Path) -> None:
    lines = run("score", "f1", *neovision2(data)[1:]).stdout.splitlines()
    first = next(index for index, line in enumerate(lines) if line.startswith("  evaluator"))
    table = lines[first : lines.index("", first)]
    assert table[0].split() == ["evaluator", "measure", "Helicopter", "Tower", "all"]
    assert sum(line.startswith("  f1 ") for line in table) == 1
    assert sum(line.startswith("  neovision2 ") for line in table) == 1


def test_csv_has_a_line_for_each_score_of_the_json(data: Path) -> None:
    document = json.loads(run(*neovision2(data, "--format", "json")).stdout)
    lines = list(csv.DictReader(io.StringIO(run(*neovision2(data, "--format", "csv")).stdout)))
    assert len(lines) == len(document["scores"])
    for line, score in zip(lines, document["scores"], strict=True):
        value = "" if score["value"] is None else str(score["value"])
        assert line == {
            "evaluator": "neovision2",
            "domain": score["domain"] or "",
            "label": score["label"] or "",
            "sequence": score["sequence"] or "",
            "measure": score["measure"],
            "value": value,
        }


def test_a_parameter_that_is_set_changes_the_score_and_is_in_the_report(data: Path) -> None:
    document = json.loads(run(*spotgeo(data, "--set", "tau=3.5", "--format", "json")).stdout)
    assert document["parameters"]["tau"] == 3.5
    assert score_of(document, "true_positives") == 1


def test_the_manifest_gives_evaluator_and_parameters_and_set_overrides_them(
    data: Path, tmp_path: Path
) -> None:
    manifest = tmp_path / "manifest.toml"
    manifest.write_text(
        '[[evaluators]]\nname = "spotgeo"\nparameters = { tau = 3.5, profile = "kelvins" }\n'
    )
    arguments = ("score", "--manifest", str(manifest), *spotgeo(data, "--format", "json")[2:])
    parameters = json.loads(run(*arguments).stdout)["parameters"]
    assert (parameters["tau"], parameters["profile"]) == (3.5, "kelvins")
    parameters = json.loads(run(*arguments, "--set", "spotgeo.tau=7").stdout)["parameters"]
    assert (parameters["tau"], parameters["profile"]) == (7.0, "kelvins")


def test_workers_do_not_change_the_report(data: Path) -> None:
    one, two = (run(*neovision2(data, "--format", "json", "--workers", n)) for n in ("1", "2"))
    assert one.exit_code == two.exit_code == 0
    assert one.stdout == two.stdout


def test_skipped_rows_are_counted_in_a_warning(data: Path) -> None:
    path = data / "detections" / "Tower" / "001.csv"
    path.write_text(path.read_text() + "1,not,a,number\n")
    refused = run(*neovision2(data))
    skipped = run(*neovision2(data, "--on-error", "skip"))
    assert refused.exit_code == 1
    assert skipped.exit_code == 0
    assert "Warning: 1 x" in skipped.stderr
    assert "left out" in skipped.stderr


def test_a_file_with_a_name_in_any_script_is_written_and_read(data: Path) -> None:
    odd = data / "правда 真実.json"
    (data / "truth.json").rename(odd)
    output = data / "レポート.json"
    result = run(
        "score", "spotgeo", "--truth", str(odd), "--detections", str(data / "detections.json"),
        "--format", "json", "--output", str(output),
    )  # fmt: skip
    assert (result.exit_code, result.output) == (0, "")
    assert json.loads(output.read_text(encoding="utf-8"))["evaluator"] == "spotgeo"


def test_nothing_is_written_if_the_input_is_invalid(data: Path) -> None:
    output = data / "report.json"
    (data / "detections.json").write_text("[")
    assert run(*spotgeo(data, "--output", str(output))).exit_code == 1
    assert not output.exists()


def test_a_report_replaces_an_older_one_completely(data: Path) -> None:
    output = data / "report.json"
    output.write_text("x" * 1_000_000)
    assert run(*spotgeo(data, "--format", "json", "--output", str(output))).exit_code == 0
    assert json.loads(output.read_text())["evaluator"] == "spotgeo"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--set", "tau"], "expected NAME=VALUE"),
        (["--set", "taw=1"], "taw: unknown parameter; did you mean tau?"),
        (["--set", "tau=x"], "tau: found 'x', expected a number"),
        (["--set", "tau=-1"], "tau: found '-1', expected more than 0"),
        (["--set", "neovision2.tau=1"], "neovision2 is not being scored"),
        (["--input-format", "xml"], "unknown format 'xml'; there are auto, coco-json"),
        (["--format", "xml"], "'xml' is not one of"),
        (["--workers", "0"], "0 is not in the range"),
        (["--output", "no/such/folder/report.json"], "there is no folder"),
        (["--wrong"], "No such option"),
    ],
)
def test_an_invalid_command_line_is_a_usage_error_that_says_why(
    options: list[str], reason: str, data: Path
) -> None:
    result = run(*spotgeo(data, *options))
    assert (result.exit_code, result.stdout) == (2, "")
    assert reason in result.stderr


def test_an_unknown_typed_evaluator_is_a_usage_error(data: Path) -> None:
    result = run("score", "spotgio", *spotgeo(data)[2:])
    assert result.exit_code == 2
    assert "no evaluator is called 'spotgio'; did you mean spotgeo?" in result.stderr


def test_every_format_is_named_in_the_help() -> None:
    from vidscore_evaluators.formats import FORMATS

    # Long lines are also broken at hyphens.
    text = "".join(run("score", "--help").stdout.split())
    assert all(name in text for name in FORMATS)


ROWS = "sequence,frame,class,x1,y1,x2,y2,confidence\na,0,car,0,0,10,10,{}\na,1,car,0,0,10,10,{}\n"


@pytest.fixture
def logits(tmp_path: Path) -> tuple[str, ...]:
    """Boxes of the truth, and detections with logits."""
    paths = tmp_path / "truth.csv", tmp_path / "found.csv"
    for path, scores in zip(paths, ((1, 1), (7.25, -1.5)), strict=True):
        path.write_text(ROWS.format(*scores), encoding="utf-8")
    return ("--truth", str(paths[0]), "--detections", str(paths[1]))


def test_scores_that_are_not_confidences_are_refused_with_advice(logits: tuple[str, ...]) -> None:
    """The line, the option that helps, and nothing is written."""
    result = run("score", "neovision2", *logits)
    assert (result.exit_code, result.stdout) == (1, "")
    for word in ("found.csv, line 2", "7.25", "and 1 more", "--confidence-scale sigmoid"):
        assert word in result.stderr


@pytest.mark.parametrize("scale", ["sigmoid", "-2,8"])
def test_a_confidence_scale_turns_scores_into_confidences(
    logits: tuple[str, ...], scale: str
) -> None:
    result = run("score", "neovision2", *logits, f"--confidence-scale={scale}", "--format", "json")
    assert result.exit_code == 0
    assert score_of(json.loads(result.stdout), "weighted_mean_nmotda") == 1.0


@pytest.mark.parametrize("scale", ["logit", "5,5", "0,1,2"])
def test_an_invalid_confidence_scale_is_a_usage_error(logits: tuple[str, ...], scale: str) -> None:
    result = run("score", "clear", *logits, "--confidence-scale", scale)
    assert result.exit_code == 2
    assert "expected sigmoid, or MIN,MAX" in result.stderr
