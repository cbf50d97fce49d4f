"""Files at addresses, in fsspec's object store in the memory of the process."""

from __future__ import annotations

import gzip
import io
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace
from tests.evaluators.shards.scenes import write_scene

from vidscore_evaluators import remote_files
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.formats.convert import convert
from vidscore_evaluators.formats.source import ReadLimits, Source
from vidscore_evaluators.preparation import DataChoice, judged_by
from vidscore_evaluators.remote_files import (
    RemoteFile,
    RemotePath,
    data_path,
    is_there,
    listed_files,
    matching,
    write_file,
    write_files,
)
from vidscore_evaluators.report import report_to_json
from vidscore_evaluators.scoring import read, score
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.merging import merge_shards
from vidscore_evaluators.shards.tally_files import shard_from_bytes
from vidscore_evaluators.shards.tasks import ScoringTask, score_shard

fsspec = pytest.importorskip("fsspec")
ROOT = "memory://archive"


@pytest.fixture(autouse=True)
def store() -> Iterator[None]:
    """An empty store."""
    yield
    fsspec.filesystem("memory").store.clear()
    fsspec.filesystem("memory").pseudo_dirs[:] = [""]


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """A folder with a scene, which is also in the store."""
    write_scene(tmp_path)
    for name in ("truth.csv", "detections.csv"):
        write_file(RemotePath(f"{ROOT}/{name}"), (tmp_path / name).read_bytes())
    return tmp_path


def only(address: str) -> RemoteFile:
    return listed_files(RemotePath(address), 10)[()]


@pytest.mark.parametrize("text", ["s3://bucket", "gs://b/c", "memory://a/b"])
def test_an_address_is_recognised_by_its_scheme(text: str) -> None:
    assert data_path(f"{text}/") == RemotePath(text)
    assert data_path(RemotePath(text)) == RemotePath(text)


@pytest.mark.parametrize("text", ["truth.csv", "a/b", "C://x", "-", "s3:/a", "://a", "s3:"])
def test_everything_else_is_a_path_on_a_disk(text: str) -> None:
    assert data_path(text) == Path(text)


@pytest.mark.parametrize("text", ["s3://", "S3:///", "s3:///key", "https://", "file://", "gs:////"])
def test_an_address_must_name_something(text: str) -> None:
    with pytest.raises(InputError) as caught:
        data_path(text)
    assert str(caught.value) == (
        f"{text}: found an address that names nothing, expected one such as s3://bucket/runs"
    )


def test_an_empty_name_is_not_a_path() -> None:
    """An unset shell variable would otherwise mean the working directory."""
    with pytest.raises(InputError, match="found an empty name, expected the path"):
        data_path("")
    with pytest.raises(InputError, match="found an empty name, expected the path"):
        score("f1", "", "")


def test_a_name_with_a_null_character_is_not_a_path() -> None:
    with pytest.raises(InputError, match=r"found 'a\\x00b', expected the path of a file or folder"):
        score("f1", "a\0b", "c")


def test_packed_files_are_read_at_addresses(scene: Path) -> None:
    data = (scene / "truth.csv").read_bytes()
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("truth.csv", data)
    write_file(RemotePath(f"{ROOT}/truth.csv.gz"), gzip.compress(data))
    write_file(RemotePath(f"{ROOT}/truth.zip"), zipped.getvalue())
    wanted = read(scene / "truth.csv", side="truth")
    for name in ("truth.csv", "truth.csv.gz", "truth.zip"):
        assert read(f"{ROOT}/{name}", side="truth").frame_count == wanted.frame_count


def test_a_file_that_changed_after_it_was_listed_is_refused() -> None:
    for text in (b"longer", b"abc"):
        write_file(RemotePath(f"{ROOT}/a"), b"four")
        listed = only(f"{ROOT}/a")
        write_file(RemotePath(f"{ROOT}/a"), text)
        with pytest.raises(InputError, match="a file that has changed since it was listed with 4"):
            listed.read()


def test_more_files_than_allowed_are_refused() -> None:
    write_files(RemotePath(f"{ROOT}/many"), dict.fromkeys("abc", b"x"))
    with pytest.raises(InputError, match="found 3 files, expected at most maximum_files = 2"):
        listed_files(RemotePath(f"{ROOT}/many"), 2)


def test_a_file_that_is_too_large_is_refused_before_it_is_read(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del scene
    monkeypatch.setattr(RemoteFile, "read", lambda _file, _count=-1: b"sequence,frame")
    with pytest.raises(InputError, match="maximum_file_bytes = 20"):
        read(f"{ROOT}/truth.csv", side="truth", limits=ReadLimits(maximum_file_bytes=20))


def test_a_folder_that_cannot_be_written_completely_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    files = fsspec.filesystem("memory")
    real = type(files).pipe_file

    def full(self: object, path: str, value: bytes, **options: object) -> None:
        if path.endswith("b"):
            raise OSError(28, "no space")
        real(self, path, value, **options)

    monkeypatch.setattr(type(files), "pipe_file", full)
    with pytest.raises(OSError, match=r"cannot be written: .*no space"):
        write_files(RemotePath(f"{ROOT}/new"), {"a": b"1", "b": b"2"})
    assert not is_there(RemotePath(f"{ROOT}/new/a"))


def test_a_pattern_gives_the_matching_names_in_order() -> None:
    write_files(RemotePath(f"{ROOT}/runs"), {"2/f.csv": b"", "1/f.csv": b"", "0": b""})
    found = matching(RemotePath(f"{ROOT}/runs/*/f.csv"))
    assert [name.rpartition("runs/")[2] for name in found] == ["1/f.csv", "2/f.csv"]


def test_an_unknown_or_uninstalled_kind_of_store_is_named() -> None:
    with pytest.raises(InputError, match="expected a kind of store that fsspec knows"):
        read("nothing://a/b", side="truth")
    with pytest.raises(InputError, match="gs:// needs a package that is not installed"):
        read("gs://a/b", side="truth")


def test_shards_read_only_their_files_and_merge_to_the_whole(
    scene: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A MOTChallenge folder has one file per sequence; every file is read by one shard."""
    for side in Side:
        found = read(scene / f"{side.value}.csv", side=side.value)
        tracks = np.arange(found.object_count)
        tracked = replace(found, frame_numbers=found.frame_numbers + 1, track_ids=tracks)
        made = convert(Source(tracked, "given"), "motchallenge", side)
        write_files(RemotePath(f"{ROOT}/{side.value}"), made.files)
    task = ScoringTask(
        judged_by(["f1"], specification=None, manifest=None, parameters={}),
        f"{ROOT}/truth",
        f"{ROOT}/detections",
        DataChoice("motchallenge"),
    )
    opened: list[set[str]] = []
    real = RemoteFile.read

    def noted(file: RemoteFile, count: int = -1) -> bytes:
        opened[-1].add(file.shown)
        return real(file, count)

    monkeypatch.setattr(remote_files.RemoteFile, "read", noted)
    tallies = {}
    for shard in Shard.all_of(2):
        opened.append(set())
        tallies[str(shard)] = score_shard(task, shard)
        assert shard_from_bytes(tallies[str(shard)]).run.in_parts
    assert not opened[0] & opened[1]
    assert all(opened)
    merged = merge_shards({name: partial(tallies.__getitem__, name) for name in tallies})
    whole = score("f1", task.truth, task.detections, format="motchallenge")
    assert [report_to_json(report) for report in merged.reports] == [report_to_json(whole)]
