"""GitHub workflows: pinned actions, few rights, no passwords, and releases by `make release`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.tree import ROOT, tracked_files

WORKFLOWS = [path for path in tracked_files() if path.is_relative_to(ROOT / ".github/workflows")]
RELEASE = ROOT / ".github/workflows/release.yml"
JOBS: dict[str, Any] = yaml.safe_load(RELEASE.read_text("utf-8"))["jobs"]


def steps() -> list[dict[str, Any]]:
    return [step for job in JOBS.values() for step in job["steps"]]


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_says_its_version(workflow: Path) -> None:
    uses = re.findall(r"(?m)^.*\buses:.*$", workflow.read_text("utf-8"))
    pinned = re.compile(r"\s*(?:- )?uses: [\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+")
    assert uses
    assert [line for line in uses if not pinned.fullmatch(line)] == []


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_an_action_is_of_one_version_everywhere(workflow: Path) -> None:
    pins = set(re.findall(r"uses: (\S+)@(\S+ # \S+)", workflow.read_text("utf-8")))
    assert len(pins) == len({action for action, _ in pins})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_only_the_rights_that_its_jobs_name(workflow: Path) -> None:
    read = yaml.safe_load(workflow.read_text("utf-8"))
    assert read["permissions"] == {}
    assert all(job["permissions"] for job in read["jobs"].values())


def test_a_release_is_what_make_release_builds() -> None:
    assert {"run": "make release"} in JOBS["build"]["steps"]
    assert "\nrelease: " in (ROOT / "Makefile").read_text("utf-8")
    [distributions, _] = [
        step["with"] for step in JOBS["build"]["steps"] if "upload" in step.get("uses", "")
    ]
    assert distributions == {"name": "dist", "path": "dist/", "if-no-files-found": "error"}


def test_nothing_is_published_before_every_system_has_tried_it() -> None:
    order = ["build", "try", "attest", "publish", "announce"]
    assert list(JOBS) == order
    assert [JOBS[name]["needs"] for name in order[1:]] == order[:-1]


def test_publishing_needs_an_environment_and_no_password() -> None:
    assert JOBS["publish"]["environment"] == "pypi"
    assert JOBS["publish"]["permissions"] == {"id-token": "write"}
    [publish] = [step for step in steps() if "pypi-publish" in step.get("uses", "")]
    assert publish["with"] == {"packages-dir": "dist", "attestations": True}
    assert "secrets." not in RELEASE.read_text("utf-8")


def test_only_the_jobs_that_publish_and_attest_may_request_an_identity_token() -> None:
    may = {name for name, job in JOBS.items() if "id-token" in job["permissions"]}
    assert may == {"attest", "publish"}


def test_no_step_passes_text_from_outside_to_a_shell() -> None:
    assert [step for step in steps() if "${{" in step.get("run", "")] == []


def test_the_programs_that_try_a_wheel_exist() -> None:
    [command] = [step["run"] for step in steps() if "pytest" in step.get("run", "")]
    paths = [word for word in command.split() if word.startswith("tests/")]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    assert len(paths) == 5
