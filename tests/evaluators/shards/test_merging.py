"""Tally files of one scoring merge; others are refused by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.evaluators.shards.scenes import read_scene, write_scene, write_tallies

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.fingerprint import Fingerprint
from vidscore_evaluators.report import ReportWarning, report_to_json
from vidscore_evaluators.scoring import score
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.merging import TALLIES_PER_SUM, TallySum, merge_files, merge_shards
from vidscore_evaluators.shards.runs import Run
from vidscore_evaluators.shards.tally_files import shard_from_bytes, shard_to_bytes
from vidscore_evaluators.tally import merge_tallies
from vidscore_evaluators.tally_bytes import tally_to_bytes

COUNT = 4


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Tally files of four shards, in their own folder."""
    write_scene(tmp_path)
    return write_tallies(tmp_path, read_scene(tmp_path), COUNT)


def faults_of(files: list[Path]) -> str:
    with pytest.raises(InputError) as raised:
        merge_files(files)
    return "\n".join(str(fault) for fault in raised.value.faults)


def rewrite(file: Path, change: Callable[[Run], Run]) -> None:
    """Write a tally file again, as one of another run."""
    shard = shard_from_bytes(file.read_bytes())
    file.write_bytes(shard_to_bytes(replace(shard, run=change(shard.run))))


def with_judges(run: Run, **values: object) -> Run:
    """The run with changed fields of its evaluators."""
    return replace(run, judges=tuple(replace(judge, **values) for judge in run.judges))


def other(folder: Path, name: str, **scene: object) -> Path:
    """A folder with another scene."""
    path = folder / name
    path.mkdir()
    write_scene(path, **scene)  # type: ignore[arg-type]
    return path


def test_files_in_any_order_give_the_reports_of_score(tmp_path: Path) -> None:
    write_scene(tmp_path)
    evaluators = ["map", "f1", "errors"]
    files = write_tallies(tmp_path, read_scene(tmp_path, *evaluators), 5)
    wanted = score(evaluators, tmp_path / "truth.csv", tmp_path / "detections.csv")
    for order in (files, files[::-1], files[2:] + files[:2]):
        reports = merge_files(order).reports
        assert list(map(report_to_json, reports)) == list(map(report_to_json, wanted))


def test_a_single_shard_is_the_whole(tmp_path: Path) -> None:
    write_scene(tmp_path)
    [file] = write_tallies(tmp_path, read_scene(tmp_path), 1)
    [report] = merge_files([file]).reports
    wanted = score("f1", tmp_path / "truth.csv", tmp_path / "detections.csv")
    assert report_to_json(report) == report_to_json(wanted)


def test_a_missing_shard_is_named(files: list[Path]) -> None:
    assert faults_of(files[:2] + files[3:]) == (
        "found no usable tally file of shard 3/4, expected 4 tally files, one per shard"
    )


def test_many_missing_shards_are_counted(tmp_path: Path) -> None:
    write_scene(tmp_path)
    [first, *_] = write_tallies(tmp_path, read_scene(tmp_path), 20)
    assert "2/20, 3/20" in faults_of([first])
    assert "11/20 and 9 more" in faults_of([first])
    [first, second, *_] = write_tallies(tmp_path, read_scene(tmp_path), 12)
    assert "11/12 and 1 more, expected" in faults_of([first])
    assert "11/12, 12/12, expected" in faults_of([first, second])


def test_a_repeated_shard_is_named_with_both_files(files: list[Path]) -> None:
    copy = files[0].with_name("copy.tally")
    copy.write_bytes(files[0].read_bytes())
    assert faults_of([*files, copy]) == (
        f"{copy}: found shard 1/4, expected it once: {files[0]} is of it, too"
    )


def test_a_file_that_is_named_twice_is_refused_with_all_other_faults(files: list[Path]) -> None:
    twice = f"{files[2]}: found the file twice, expected each once"
    assert faults_of([*files, files[2]]) == twice
    files[1].write_bytes(files[1].read_bytes()[:-1])
    text = faults_of([files[1], files[2], files[2]])
    assert twice in text
    assert f"{files[1]}: this is not a complete tally file" in text
    assert f"no usable tally file of shard 1/{COUNT}, 2/{COUNT}" in text


def test_a_file_of_other_data_is_named_whichever_is_first(
    tmp_path: Path, files: list[Path]
) -> None:
    moved = other(tmp_path, "moved", moved_px=1)
    strange = write_tallies(moved, read_scene(moved), COUNT)[0]
    text = faults_of([strange, *files[1:]])
    assert f"{strange}, digest of the detections: found " in text
    assert "digest of the truth" not in text
    assert str(files[1]) in text
    assert len(text.splitlines()) == 1


def test_a_file_of_other_parameters_is_refused(tmp_path: Path, files: list[Path]) -> None:
    folder = other(tmp_path, "strict")
    strange = write_tallies(folder, read_scene(folder, "f1", threshold=0.25), COUNT)[0]
    text = faults_of([*files[1:], strange])
    assert text == (
        f"{strange}, parameter threshold of f1: found 0.25, expected 0.5, as in {files[1]}"
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("version", "0.0.1"),
        ("specification", {"title": "of another day"}),
        ("preset", "mine"),
        ("selection", {"labels": ["car"]}),
    ],
)
def test_a_file_of_an_evaluator_under_other_rules_is_refused(
    files: list[Path], field: str, value: object
) -> None:
    rewrite(files[2], lambda run: with_judges(run, **{field: value}))
    text = faults_of(files)
    assert text.startswith(f"{files[2]}, {field} of f1: found ")
    assert len(text.splitlines()) == 1


def test_a_file_of_data_read_with_other_warnings_is_refused(files: list[Path]) -> None:
    warnings = (ReportWarning("skipped-rows", "Two rows.", 2),)
    rewrite(files[2], lambda run: replace(run, warnings=warnings))
    assert faults_of(files) == (
        f"{files[2]}, warnings of reading: found 2 x skipped-rows, expected none, as in {files[0]}"
    )


def test_a_file_of_other_evaluators_is_refused(tmp_path: Path, files: list[Path]) -> None:
    folder = other(tmp_path, "others")
    strange = write_tallies(folder, read_scene(folder, "f1", "map"), COUNT)[0]
    assert f"{strange}, evaluators: found f1, map, expected f1, as in {files[1]}" in faults_of(
        [*files[1:], strange]
    )


def test_a_file_of_another_number_of_shards_is_refused(tmp_path: Path, files: list[Path]) -> None:
    """Only this is reported, although it is of other data, too."""
    folder = other(tmp_path, "fewer", moved_px=1)
    strange = write_tallies(folder, read_scene(folder), 3)[0]
    assert faults_of([*files[1:], strange]).splitlines() == [
        f"{strange}: found shard 1/3, expected one of 4 shards, as most are",
        "found no usable tally file of shard 1/4, expected 4 tally files, one per shard",
    ]


@pytest.mark.parametrize(
    ("package", "text"), [("numpy", "numpy 1.0"), ("vidscore", "vidscore 1.0")]
)
def test_files_of_another_version_are_refused(files: list[Path], package: str, text: str) -> None:
    for file in files:
        rewrite(file, lambda run: replace(run, software={**run.software, package: "1.0"}))
    assert f"{files[0]}: found {text}, expected {package} " in faults_of(files)


def test_files_of_another_version_of_an_evaluator_are_refused(files: list[Path]) -> None:
    for file in files:
        rewrite(file, lambda run: with_judges(run, version="0.0.1"))
    assert "found f1 0.0.1, expected f1 " in faults_of(files)


def test_an_evaluator_that_is_not_installed_is_named(files: list[Path]) -> None:
    for file in files:
        rewrite(file, lambda run: with_judges(run, name="nobody"))
    assert "no evaluator is called 'nobody'" in faults_of(files)


def test_shards_that_do_not_add_up_to_the_whole_are_refused(files: list[Path]) -> None:
    for file in files:
        rewrite(file, lambda run: replace(run, truth=str(Fingerprint((1, 2)))))
    assert "expected 00000000000000010000000000000002, that of the whole data" in faults_of(files)


def test_a_file_with_the_tally_of_another_evaluator_is_named(
    tmp_path: Path, files: list[Path]
) -> None:
    forged = shard_from_bytes(files[0].read_bytes())
    [own] = forged.tallies
    [strange] = read_scene(tmp_path, "map").tally(Shard(1, COUNT)).tallies
    for tally in (
        strange,
        dataclasses.replace(strange, evaluator=own.evaluator),
        dataclasses.replace(own, evaluator=strange.evaluator),
    ):
        files[0].write_bytes(shard_to_bytes(replace(forged, tallies=[tally])))
        assert faults_of(files).startswith(f"{files[0]}: its tables are not those of f1 ")


@pytest.mark.parametrize("changed", ["another shard", "other parameters"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, files: list[Path], changed: str
) -> None:
    second = files[1]
    if changed == "other parameters":
        strict = other(tmp_path, "strict")
        second = write_tallies(strict, read_scene(strict, "f1", threshold=0.25), COUNT)[0]
    contents = iter([files[0].read_bytes(), second.read_bytes()])
    sources = {str(file): file.read_bytes for file in files[1:]}
    with pytest.raises(InputError) as raised:
        merge_shards({"first": lambda: next(contents), **sources})
    assert [str(fault) for fault in raised.value.faults] == [
        "first: the file has changed while it was read; score this shard again"
    ]


def test_all_faults_of_files_are_reported_at_once(tmp_path: Path, files: list[Path]) -> None:
    moved = other(tmp_path, "moved", moved_px=1)
    strange = write_tallies(moved, read_scene(moved), COUNT)[1]
    files[3].write_bytes(files[3].read_bytes()[:-1])
    nowhere = tmp_path / "nowhere.tally"
    text = faults_of([files[0], files[2], strange, files[3], nowhere])
    assert f"{files[3]}: this is not a complete tally file: the checksum does not fit" in text
    assert str(nowhere) in text
    assert f"{strange}, digest of the detections" in text
    assert "no usable tally file of shard 4/4" in text


def test_merging_many_tallies_in_a_tree_gives_their_sum(tmp_path: Path) -> None:
    write_scene(tmp_path)
    data = read_scene(tmp_path, "map")
    parts = [data.tally(shard).tallies for shard in Shard.all_of(TALLIES_PER_SUM**2 + 3)]
    added = TallySum()
    for part in parts:
        added.add(part)
    [total] = added.total()
    assert tally_to_bytes(total) == tally_to_bytes(merge_tallies([tally for [tally] in parts]))
