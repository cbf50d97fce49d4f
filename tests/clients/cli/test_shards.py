"""`vidscore score --shard` and `vidscore merge` write what `vidscore score` writes."""

from __future__ import annotations

import gzip
import zipfile
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run, well

COUNT = 3
DATA = ("--truth", "truth.csv", "--detections", "detections.csv")


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, whose data gives warnings that cite files, lines and frames."""
    truth = ["sequence,frame,class,x1,y1,x2,y2"]
    detections = ["sequence,frame,category,x1,y1,x2,y2,score"]
    for number in range(8):
        for frame in range(6):
            x = 30 * frame
            truth.append(f"s{number},{frame},car,{x},10,{x + 30},40")
            # One frame late, with an unknown label, and in frames that the truth lacks.
            detections.append(f"s{number},{frame + 1},car,{x},10,{x + 30},40,0.5")
            detections.append(f"s{number},{frame},bus,{x},50,{x + 9},70,0.25")
    (tmp_path / "truth.csv").write_text("\n".join(truth) + "\n")
    (tmp_path / "detections.csv").write_text("\n".join(detections) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_tallies(*options: str) -> list[str]:
    files = []
    for number in range(1, COUNT + 1):
        file = f"{number}.tally"
        well(run("score", *options, *DATA, "--shard", f"{number}/{COUNT}", "--tally", file))
        files.append(file)
    return files


@pytest.mark.usefixtures("scene")
def test_merge_writes_the_bytes_of_score_in_every_format_including_warnings() -> None:
    evaluators = ("f1", "map", "--set", "f1.threshold=0.3")
    files = write_tallies(*evaluators)
    warned = ""
    for options in (
        ("--format", "table"),
        ("--format", "table", "--sequences", "--curves"),
        ("--format", "json"),
        ("--format", "csv"),
        ("--format", "markdown"),
        ("--format", "latex"),
    ):
        whole = run("score", *evaluators, *DATA, *options)
        merged = run("merge", *files[::-1], *options)
        assert merged.stdout_bytes == whole.stdout_bytes
        assert merged.stderr == whole.stderr
        warned = merged.stderr
    assert "detections.csv, line " in warned
    assert "was read as" in warned


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize(
    "options",
    [
        ("--sequence", "s1", "--sequence", "s5", "--label", "car"),
        ("--frames", "1:3"),
        ("--manifest", "benchmark.toml"),
        ("--confidence-scale", "0,1"),
    ],
)
def test_a_part_of_the_data_merges_as_it_is_scored(scene: Path, options: tuple[str, ...]) -> None:
    (scene / "benchmark.toml").write_text(
        'classes = ["car"]\n[[sequences]]\nname = "s2"\nframe_count = 9\n'
        '[[sequences]]\nname = "s99"\nframe_count = 4\n'
    )
    files = write_tallies("f1", *options)
    whole = run("score", "f1", *DATA, *options, "--format", "json")
    merged = run("merge", *files, "--format", "json")
    assert (merged.stdout_bytes, merged.stderr) == (whole.stdout_bytes, whole.stderr)


@pytest.mark.usefixtures("scene")
def test_a_shard_reports_what_it_has_scored() -> None:
    outputs = [
        well(run("score", "f1", *DATA, "--shard", f"{number}/2", "--tally", f"{number}.tally"))
        for number in (1, 2)
    ]
    frames = [int(output.rpartition(", ")[2].split()[0]) for output in outputs]
    assert outputs[0] == f"1.tally: shard 1/2, {frames[0]} frames\n"
    assert sum(frames) == 48


@pytest.mark.parametrize("truth", ["truth.csv.gz", "truth.zip", "-"])
def test_a_side_that_is_packed_or_a_pipe_is_read_whole_by_each_shard(
    scene: Path, truth: str
) -> None:
    text = (scene / "truth.csv").read_text()
    (scene / "truth.csv.gz").write_bytes(gzip.compress(text.encode()))
    with zipfile.ZipFile(scene / "truth.zip", "w") as archive:
        archive.writestr("truth.csv", text)
    command = ("score", "f1", "--truth", truth, *DATA[2:])
    for number in ("1", "2"):
        shard = ("--shard", f"{number}/2", "--tally", f"{number}.tally")
        well(run(*command, *shard, input_=text))
    merged = well(run("merge", "1.tally", "2.tally", "--format", "csv"))
    assert merged == well(run("score", "f1", *DATA, "--format", "csv"))


@pytest.mark.usefixtures("scene")
def test_a_tally_without_a_shard_covers_everything() -> None:
    well(run("score", "f1", *DATA, "--tally", "all.tally"))
    assert run("merge", "all.tally").stdout == run("score", "f1", *DATA).stdout


@pytest.mark.usefixtures("scene")
def test_missing_and_truncated_files_are_named_with_exit_code_1() -> None:
    first, second, _ = write_tallies("f1")
    Path(second).write_bytes(Path(second).read_bytes()[:100])
    done = run("merge", first, second)
    assert done.exit_code == 1
    assert "2.tally: this is not a complete tally file: the checksum does not fit" in done.stderr
    assert "no usable tally file of shard 2/3, 3/3" in done.stderr
    assert done.stdout == ""


@pytest.mark.usefixtures("scene")
def test_thresholds_and_strictness_apply_to_merged_scores() -> None:
    files = write_tallies("f1")
    assert run("merge", *files, "--fail-under", "f1=0.99").exit_code == 6
    assert run("merge", *files, "--strict").exit_code == 1


@pytest.mark.usefixtures("scene")
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--shard", "4/3", "--tally", "x"), "shard K of N"),
        (("--shard", "1/3"), "--shard needs --tally"),
        (("--tally", "x", "--format", "json"), "--format can only be used with vidscore merge"),
        (("--tally", "x", "--output", "y"), "--output can only be used with vidscore merge"),
        (
            ("--tally", "x", "--fail-under", "f1=1"),
            "--fail-under can only be used with vidscore merge",
        ),
        (("--tally", "-"), "--tally -: expected a file"),
        (("--tally", "x", "--online"), "--tally and --online exclude each other"),
        (("--tally", "nowhere/x"), "there is no folder"),
        (("--dask", "local", "--tally", "x"), "--tally and --dask exclude each other"),
        (("--dask", "local", "--online"), "--dask and --online exclude each other"),
        (("--dask", "head:8786"), "neither local nor an address"),
        (
            ("--dask", "tcp://head:8786", "--workers", "2"),
            "--workers can only be used with --dask local",
        ),
        (("--run-folder", "runs"), "--run-folder needs --dask"),
        (("--shards", "8"), "--shards needs --dask"),
    ],
)
def test_options_of_shards_that_do_not_go_together_are_a_usage_error(
    options: tuple[str, ...], text: str
) -> None:
    done = run("score", "f1", *DATA, *options)
    assert (done.exit_code, text in done.stderr) == (2, True), done.stderr


@pytest.mark.usefixtures("scene")
def test_a_missing_dask_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    done = run("score", "f1", *DATA, "--dask", "local")
    assert done.exit_code == 2
    assert "pip install 'vidscore[dask]'" in done.stderr
