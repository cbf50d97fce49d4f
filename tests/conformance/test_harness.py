"""The suite notices a client's mistakes."""

from __future__ import annotations

import json
import math
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from tests.conformance import __main__ as harness
from tests.conformance import program_scenarios, scoring_scenarios
from tests.conformance.cases import CASES, EMPTY, POINTS, Document
from tests.conformance.comparing import (
    DeviationError,
    ascending,
    close,
    contains,
    equal,
    same_error,
)
from tests.conformance.runners import Outcome, Runner, build
from tests.conformance.stage import SCENARIOS, name_of
from tools.clients import CLIENTS, LANGUAGES, FailedError, MissingToolchainError

DIFFERENT = [
    (1, 2),
    (0.0, -0.0),
    (0.1 + 0.2, 0.3),
    (1, True),
    (None, 0),
    ("a", "b"),
    ([1], [1, 2]),
    ({"a": 1}, {"a": 1, "b": 2}),
    ({"a": 1, "b": 2}, {"a": 1}),
    ({"a": [{"b": 1}]}, {"a": [{"b": "1"}]}),
]


@pytest.mark.parametrize(("found", "expected"), DIFFERENT)
def test_different_documents_are_distinguished(found: Any, expected: Any) -> None:
    with pytest.raises(DeviationError, match="document"):
        equal(found, expected, "document")


def test_an_integer_is_the_same_number_in_every_json_form() -> None:
    equal({"value": 8}, {"value": 8.0}, "document")


def test_the_place_of_a_difference_is_named() -> None:
    with pytest.raises(DeviationError, match=r"report\.scores\[1\]\.value: 2, not 3"):
        equal({"scores": [{}, {"value": 2}]}, {"scores": [{}, {"value": 3}]}, "report")


def test_golden_figures_may_differ_by_a_last_bit_and_no_more() -> None:
    close([0.1 + 0.2], [0.3], "figures")
    with pytest.raises(DeviationError, match="figures"):
        close([0.3 + 1e-9], [0.3], "figures")


def test_a_document_may_have_more_than_the_required_content() -> None:
    contains({"a": 1, "b": [{"c": 2, "d": 3}]}, {"b": [{"c": 2}]}, "document")
    with pytest.raises(DeviationError, match="'c' is missing"):
        contains({"b": [{"d": 3}]}, {"b": [{"c": 2}]}, "document")


def test_offsets_that_repeat_do_not_ascend() -> None:
    ascending([1, 2, 5], "offsets")
    with pytest.raises(DeviationError, match="offsets do not ascend"):
        ascending([1, 2, 2], "offsets")


def test_errors_may_differ_only_in_what_is_of_one_call() -> None:
    first = {"error": {"kind": "conflict", "metadata": {"call_id": "1", "limit": "2"}}}
    second = {"error": {"kind": "conflict", "metadata": {"call_id": "9", "limit": "2"}}}
    other = {"error": {"kind": "conflict", "metadata": {"call_id": "1", "limit": "3"}}}
    same_error(first, second)
    with pytest.raises(DeviationError, match="limit"):
        same_error(first, other)


def test_another_kind_of_error_is_reported() -> None:
    outcome = Outcome(3, {"error": {"kind": "internal"}}, "")
    with pytest.raises(DeviationError, match="internal, not conflict"):
        outcome.refusal("conflict")


def test_a_command_that_fails_has_no_result() -> None:
    with pytest.raises(DeviationError, match="ended with 1: some trouble"):
        Outcome(1, {"status": "SERVING"}, "some trouble").result()


def test_the_last_line_of_a_runner_is_its_document(tmp_path: Path) -> None:
    runner = _runner(tmp_path, "echo noise; echo trouble >&2; echo '{\"a\": 1}'")
    assert runner.run("health").result() == {"a": 1}


def test_other_output_of_a_runner_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DeviationError, match="printed no JSON object: rubbish"):
        _runner(tmp_path, "echo rubbish").run("health").result()


def test_options_are_passed_as_the_contract_says(tmp_path: Path) -> None:
    runner = _runner(tmp_path, 'printf \'{"given": "%s"}\' "$*"')
    given = runner.run("submit", batch_frames=4, replay=True, unary=False, token=None).result()
    assert given == {"given": "submit --batch-frames 4 --replay"}


class PlayedRunner:
    """Scores by the golden reports, with a change."""

    language = "played"

    def __init__(self, change: Any = None) -> None:
        self._change = change

    def run(self, _command: str, **options: Any) -> Outcome:
        [case] = [case for case in CASES if case.frames_file == options["frames"]]
        document: Document = {"reports": case.golden_reports(), "live": []}
        if self._change is not None:
            document = deepcopy(document)
            self._change(case, document)
        return Outcome(0, json.loads(json.dumps(document)), "")


class PlayedStage:
    """Has what the scenario of scores needs."""

    def __init__(self, runner: PlayedRunner) -> None:
        self.runner = runner
        self.reference = PlayedRunner()

    @property
    def anyone(self) -> dict[str, Any]:
        return {"address": "127.0.0.1:1"}


def _one_bit(case: Any, document: Document) -> None:
    if case is POINTS:
        row = document["reports"][0]["scores"][5]
        row["value"] = math.nextafter(row["value"], 1)


def _undefined_as_zero(case: Any, document: Document) -> None:
    if case is EMPTY:
        for row in document["reports"][0]["scores"]:
            row["value"] = row["value"] or 0


def _without_a_digest(_case: Any, document: Document) -> None:
    del document["reports"][0]["truth_digest"]


@pytest.mark.parametrize("change", [_one_bit, _undefined_as_zero, _without_a_digest])
def test_a_report_that_differs_from_the_python_clients_fails(change: Any) -> None:
    stage: Any = PlayedStage(PlayedRunner(change))
    with pytest.raises(DeviationError):
        scoring_scenarios.score(stage)


def test_a_report_that_equals_the_python_clients_passes() -> None:
    stage: Any = PlayedStage(PlayedRunner())
    scoring_scenarios.score(stage)


def test_the_page_has_a_program_for_every_language_of_the_suite() -> None:
    for language in LANGUAGES:
        others = program_scenarios.other_programs(CLIENTS[language].language)
        assert list(others) == ["point", "quadrilateral"]
        assert language in program_scenarios.FILES


def test_every_scenario_has_its_own_name_that_a_submission_may_have() -> None:
    names = [name_of(scenario) for scenario in SCENARIOS]
    assert len(set(names)) == len(names)
    assert max(len(f"typescript-{name}") for name in names) <= 63


@pytest.mark.parametrize(("required", "failed"), [("1", True), ("0", False)])
def test_a_missing_toolchain_is_named_and_fails_only_if_nothing_may_be_missing(
    monkeypatch: pytest.MonkeyPatch, required: str, failed: bool
) -> None:
    monkeypatch.setenv("VIDSCORE_REQUIRE_ALL", required)
    built: Future[Runner] = Future()
    built.set_exception(MissingToolchainError("no go toolchain"))
    verdict = harness.Verdict("go", built, [], _no_stage)
    assert (verdict.line, verdict.failed) == ("go skip: no go toolchain", failed)


def test_a_client_that_cannot_be_built_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.conformance.runners.check_toolchain", lambda _language: None)
    monkeypatch.setattr("tests.conformance.runners.make", _raising(FailedError("no compiler")))
    with ThreadPoolExecutor(1) as builder:
        verdict = harness.Verdict("go", builder.submit(build, "go"), [], _no_stage)
    assert (verdict.line, verdict.failed) == ("go fail: build: no compiler", True)


def _runner(folder: Path, script: str) -> Runner:
    program = folder / "runner"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    return Runner("shell", program)


def _raising(error: Exception) -> Any:
    def fail(*_arguments: object) -> None:
        raise error

    return fail


def _no_stage(*_arguments: object) -> Any:
    raise AssertionError("no scenario is played")
