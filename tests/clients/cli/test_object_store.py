"""Data at addresses such as `s3://bucket/runs` in commands, with an object store."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.clients.cli.helpers import run, well
from tests.evaluators.shards.scenes import HEADER, write_scene
from tests.support.object_store import (
    bytes_sent,
    fresh_connections,
    object_store,
    refusing_everybody,
)

from vidscore_evaluators.annotations import Side
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.remote_files import RemotePath, listed_files, write_file

ROOT = "s3://archive"
SIDES = ("--truth", f"{ROOT}/truth.csv", "--detections", f"{ROOT}/detections.csv")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An object store with a scene; yields the working directory, which has the same files."""
    folder = tmp_path_factory.mktemp("scene")
    write_scene(folder)
    with pytest.MonkeyPatch.context() as monkeypatch, object_store(monkeypatch):
        monkeypatch.chdir(folder)
        for name in ("truth.csv", "detections.csv"):
            write_file(RemotePath(f"{ROOT}/{name}"), (folder / name).read_bytes())
        yield folder


def here() -> str:
    """The report of the files on disk."""
    sides = ("--truth", "truth.csv", "--detections", "detections.csv")
    return well(run("score", "f1", *sides, "--format", "json"))


def content(address: str) -> bytes:
    return listed_files(RemotePath(address), 10)[()].read()


def refused(*words: str) -> str:
    """The one line that says why a command was refused."""
    result = run(*words)
    assert result.exit_code == 1
    [line] = result.stderr.splitlines()
    return line


@pytest.mark.usefixtures("store")
def test_the_report_equals_that_of_the_same_files_on_disk() -> None:
    assert well(run("score", "f1", *SIDES, "--format", "json")) == here()


@pytest.mark.usefixtures("store")
def test_a_report_is_written_to_an_address() -> None:
    output = f"{ROOT}/reports/f1.json"
    well(run("score", "f1", *SIDES, "--format", "json", "--output", output))
    assert content(output).decode() == here()


@pytest.mark.usefixtures("store")
def test_tally_files_are_written_and_merged_at_addresses() -> None:
    tallies = [f"{ROOT}/tallies/{number}.tally" for number in (1, 2)]
    for number, tally in enumerate(tallies, start=1):
        well(run("score", "f1", *SIDES, "--shard", f"{number}/2", "--tally", tally))
    assert well(run("merge", *reversed(tallies), "--format", "json")) == here()


@pytest.mark.usefixtures("store")
def test_convert_writes_a_file_or_a_folder_that_validate_reads() -> None:
    source = f"{ROOT}/tracks.csv"
    write_file(RemotePath(source), f"{HEADER},track_id\na,1,car,0,0,10,10,1\n".encode())
    for name, target in (("parquet", f"{ROOT}/truth.parquet"), ("motchallenge", f"{ROOT}/mot")):
        well(run("convert", source, target, "--to", name))
        assert name in well(run("validate", target, "--format", "json"))
    again = run("convert", source, f"{ROOT}/mot", "--to", "motchallenge")
    assert again.exit_code == 2
    assert "exists, expected a new folder" in again.stderr


def test_a_pattern_names_systems_and_their_table_is_written(store: Path) -> None:
    for name, moved_px in (("far", 500), ("near", 0)):
        write_scene(store, moved_px=moved_px)
        data = (store / "detections.csv").read_bytes()
        write_file(RemotePath(f"{ROOT}/runs/{name}/found.csv"), data)
    every = (*SIDES[:2], "--detections", f"{ROOT}/runs/*/found.csv")
    table = well(run("score", "f1", *every, "--format", "csv"))
    systems = [row[1] for row in list(csv.reader(io.StringIO(table)))[1:]]
    assert systems == [f"{ROOT}/runs/near/found.csv", f"{ROOT}/runs/far/found.csv"]
    output = f"{ROOT}/runs.parquet"
    well(run("score", "f1", *every, "--format", "parquet", "--output", output))
    assert pq.read_table(io.BytesIO(content(output)))["system"].to_pylist() == systems


@pytest.mark.usefixtures("store")
def test_a_slash_at_the_end_of_a_pattern_asks_for_folders() -> None:
    """So that their table can be written beside them."""
    found = f"{ROOT}/folders/a/found.parquet"
    well(run("convert", SIDES[3], found, "--to", "parquet", "--side", "detections"))
    every = (*SIDES[:2], "--detections", f"{ROOT}/folders/*/", "--format", "csv", "--output")
    output = f"{ROOT}/folders/table.csv"
    for _ in range(2):
        well(run("score", "f1", *every, output))
        systems = [line.split(",")[1] for line in content(output).decode().splitlines()[1:]]
        assert systems == [f"{ROOT}/folders/a"]
    assert f"{found} is, or is part of" in run("score", "f1", *every, found).stderr


@pytest.mark.parametrize("name", ["parquet", "arrow"])
@pytest.mark.usefixtures("store")
def test_only_the_columns_of_a_shards_parts_are_fetched(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight sequences with a group of rows each, one of them in the shard: an eighth, and a little.

    The rest is the file's metadata, and for Arrow also the names in every batch.
    """
    random = np.random.default_rng(3)
    rows = 3_000
    table = pa.table(
        {
            "sequence": np.repeat([f"s{number}" for number in range(8)], rows),
            "frame": np.tile(np.arange(rows), 8),
            **{column: random.random(8 * rows) for column in ("x", "y", "confidence", "a", "b")},
        }
    )
    file = io.BytesIO()
    if name == "parquet":
        pq.write_table(table, file, row_group_size=rows)
    else:
        coded = table.set_column(0, "sequence", table["sequence"].dictionary_encode())
        with pa.ipc.new_file(file, coded.schema) as writer:
            writer.write_table(coded.unify_dictionaries(), max_chunksize=rows)
    path = RemotePath(f"{ROOT}/large.{name}")
    write_file(path, file.getvalue())
    with bytes_sent(monkeypatch) as counts:
        source = read_source(path, Side.DETECTIONS, wanted=lambda key: key.sequence == "s5")
    assert source.annotations.object_count == rows
    size = len(file.getvalue())
    assert size / 8 < sum(counts) < size / 8 + 0.15 * size


@pytest.mark.usefixtures("store")
def test_a_missing_address_is_reported_in_one_line() -> None:
    for place, why in (
        (f"{ROOT}/truht.csv", "file or folder not found"),
        (
            "s3://nowhere/truth.csv",
            "file or folder not found (The specified bucket does not exist)",
        ),
    ):
        said = refused("score", "f1", "--truth", place, *SIDES[2:])
        assert said == f"Error: {place}: {why}"


@pytest.mark.usefixtures("store")
def test_an_address_that_cannot_be_written_is_reported_in_one_line() -> None:
    said = refused("score", "f1", *SIDES, "--output", "s3://nowhere/f1.txt")
    assert said.startswith("Error: s3://nowhere/f1.txt: cannot be written: ")
    assert said.endswith("(The specified bucket does not exist)")


@pytest.mark.usefixtures("store")
def test_a_run_folder_must_be_on_disk() -> None:
    options = ("--dask", "local", "--run-folder", f"{ROOT}/kept")
    result = run("score", "f1", *SIDES, *options)
    assert result.exit_code == 2
    assert "expected a folder on a disk" in result.stderr


@pytest.mark.usefixtures("store")
def test_a_store_that_denies_access_is_reported_with_advice() -> None:
    with refusing_everybody(os.environ["AWS_ENDPOINT_URL"]):
        said = refused("score", "f1", *SIDES[:2], "--detections", "detections.csv")
    assert said.startswith(f"Error: {SIDES[1]}: no permission (")
    assert "AWS_PROFILE" in said


@pytest.mark.usefixtures("store")
def test_a_store_that_cannot_be_reached_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with fresh_connections():
        said = refused("score", "f1", *SIDES[:2], "--detections", "detections.csv")
    assert said.startswith(f"Error: {SIDES[1]}: the store cannot be used (Could not connect to")


def test_the_error_names_the_extra_if_a_package_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    result = run("score", "f1", *SIDES)
    said = "Error: paths such as s3:// need s3fs: pip install 'vidscore[s3]'\n"
    assert (result.exit_code, result.stderr) == (2, said)
