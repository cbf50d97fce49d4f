"""Recipes of the page on archives whose engines are not installed: their commands run."""

from __future__ import annotations

import ast
import os
import shlex
import subprocess
import sysconfig
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.clients.cli.helpers import run, well
from tests.docs.pages_of import page
from tests.support.object_store import object_store
from tools.docs_pages import Block, blocks

from vidscore_evaluators.remote_files import RemotePath, listed_files, write_file

pytestmark = pytest.mark.slow
BLOCKS = blocks(page("archives.md"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, with the files of the page."""
    for block in BLOCKS:
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def block_with(text: str) -> Block:
    [found] = [block for block in BLOCKS if text in block.text]
    return found


def shell(*command: str, variables: Mapping[str, str]) -> None:
    path = os.pathsep.join([sysconfig.get_path("scripts"), os.environ["PATH"]])
    subprocess.run(command, check=True, env={**os.environ, "PATH": path, **variables})


def wanted(*options: str) -> str:
    sides = ("--truth", "truth.csv", "--detections", "detections.csv")
    return well(run("score", "f1", *sides, *options))


@pytest.mark.usefixtures("folder")
def test_the_slurm_script_makes_a_shard_for_each_number_of_its_array() -> None:
    assert "#SBATCH --array=1-3\n" in Path("shard.sbatch").read_text()
    for number in (1, 2, 3):
        variables = {"SLURM_ARRAY_TASK_ID": str(number), "SLURM_ARRAY_TASK_COUNT": "3"}
        shell("bash", "shard.sbatch", variables=variables)
    files = sorted(map(str, Path("tallies").iterdir()))
    assert well(run("merge", *files)) == wanted()


@pytest.mark.usefixtures("folder")
def test_the_command_of_the_indexed_job_makes_a_shard_for_each_index() -> None:
    job = yaml.safe_load(Path("job.yaml").read_text())
    specification = job["spec"]
    assert (job["kind"], specification["completionMode"]) == ("Job", "Indexed")
    [container] = specification["template"]["spec"]["containers"]
    count = specification["completions"]
    for index in range(count):
        shell(*container["command"], variables={"JOB_COMPLETION_INDEX": str(index)})
    assert well(run("merge", *(f"pod-{index}.tally" for index in range(count)))) == wanted()


@pytest.mark.usefixtures("folder")
def test_the_commands_of_airflow_make_and_merge_shards() -> None:
    tree = ast.parse(block_with("BashOperator").text)
    commands: dict[str, Any] = {
        node.targets[0].id: ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for number in (1, 2, 3):
        shell("bash", "-c", commands["SHARD"], variables={"NUMBER": str(number)})
    shell("bash", "-c", commands["MERGE"], variables={})
    assert Path("scores.json").read_text() == wanted("--format", "json")


@pytest.mark.usefixtures("folder")
def test_the_function_of_spark_makes_a_shard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", sysconfig.get_path("scripts"), prepend=os.pathsep)
    names: dict[str, Any] = {}
    exec(block_with("def score_shard").text, names)
    for number in (1, 2, 3):
        names["score_shard"](number)
    assert well(run("merge", *(f"spark-{number}.tally" for number in (1, 2, 3)))) == wanted()


def test_the_commands_of_an_object_store_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They write at addresses what the same commands write on a disk."""
    with object_store(monkeypatch):
        for name in ("truth.csv", "detections.csv"):
            write_file(RemotePath(f"s3://archive/{name}"), (folder / name).read_bytes())
        for line in block_with("--to parquet").text.splitlines():
            prompt, program, *words = shlex.split(line)
            assert (prompt, program) == ("$", "vidscore")
            well(run(*words))
        files = listed_files(RemotePath("s3://archive"), 100)
        assert files[("f1.txt",)].read().decode() == wanted()
        assert ("systems.parquet",) in files


def test_the_adapters_that_are_not_run_are_valid_programs() -> None:
    for block in BLOCKS:
        if block.language == "python":
            compile(block.text, "archives.md", "exec")
