"""Exit codes distinguish usage errors from errors of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from multiprocessing import active_children
from pathlib import Path

import pytest
from tests.clients.cli.helpers import run

BOXES = "sequence,frame,class,x1,y1,x2,y2"
FILES = ("--truth", "t.csv", "--detections", "d.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text(f"{BOXES}\ns,0,a,1,1,9,9\n")
    Path("d.csv").write_text(f"{BOXES},confidence\ns,0,a,1,1,9,9,0.5\n")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "named"),
    [
        (("score", "f1", *FILES, "--output", ""), "'--output'"),
        (("score", "f1", "--truth", "", "--detections", "d.csv"), "'--truth'"),
        (("render", "f1", *FILES, "--output", ""), "'--output'"),
        (("convert", "t.csv", "", "--to", "jsonl"), "'TARGET'"),
        (("compare", "f1", "--truth", "t.csv", "d.csv", ""), "'[EVALUATOR]... A B [C]...'"),
        (("trust", "ranking", "f1", "--truth", "t.csv", "--system", "d.csv", "--system", "e.csv",
          "--pictures", ""), "'--pictures'"),
        (("validate", ""), "'PATH'"),
        (("serve", "--config", ""), "'--config'"),
    ],
)  # fmt: skip
def test_an_empty_path_is_a_usage_error_wherever_it_is_given(
    command: tuple[str, ...], named: str, folder: Path
) -> None:
    """It would mean the working directory, or give an error that does not name the option."""
    before = sorted(folder.rglob("*"))
    result = run(*command)
    said = f"Invalid value for {named}: an empty name, expected the path of a file or folder\n"
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr
    assert sorted(folder.rglob("*")) == before


def test_a_path_that_would_be_ignored_is_a_usage_error() -> None:
    """Otherwise only the last of two detection files would be scored, silently."""
    result = run("score", "f1", *FILES, "--detections", "e.csv")
    assert result.exit_code == 2
    assert "Invalid value for '--detections': given twice, expected once\n" in result.stderr


def test_a_parameter_with_two_values_is_a_usage_error() -> None:
    result = run("score", "f1", *FILES, "--set", "threshold=0.5", "--set", "f1.threshold=0.7")
    assert result.exit_code == 2
    assert "--set f1.threshold=0.7: threshold is set twice; give it one value\n" in result.stderr


@pytest.mark.parametrize(
    "command",
    [("outcomes",), ("render", "--output", "pictures"), ("view", "--output", "page.html")],
)
def test_an_invalid_threshold_or_confidence_of_outcomes_is_a_usage_error(
    command: tuple[str, ...], folder: Path
) -> None:
    at = ("--at-threshold", "7", "--at-confidence", "nan")
    result = run(command[0], "f1", *FILES, *command[1:], *at)
    assert result.exit_code == 2
    assert "--at-threshold: found 7, expected at most 1\n" in result.stderr
    assert "--at-confidence: found nan, expected a finite number\n" in result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["d.csv", "t.csv"]


def test_a_page_needs_one_evaluator_whose_outcomes_depend_on_the_given_confidence(
    folder: Path,
) -> None:
    """Outcomes of clear do not depend on confidences, and those of f1 do."""
    Path("t.csv").write_text(f"{BOXES},track\ns,0,a,1,1,9,9,1\n")
    Path("d.csv").write_text(f"{BOXES},confidence,track\ns,0,a,1,1,9,9,0.5,1\n")
    options = (*FILES, "--draws", "0", "--at-confidence", "0.3", "--output", "page.html")
    alone = run("view", "clear", *options)
    assert (alone.exit_code, "--at-confidence: found 0.3" in alone.stderr) == (2, True)
    assert not (folder / "page.html").exists()
    result = run("view", "clear", "f1", *options)
    assert (result.exit_code, (folder / "page.html").exists()) == (0, True), result.stderr


@pytest.mark.parametrize("command", [("outcomes",), ("render", "--output", "out")])
def test_an_evaluator_without_outcomes_is_a_usage_error_if_it_was_typed(
    command: tuple[str, ...], folder: Path
) -> None:
    result = run(command[0], "ospa2", *FILES, *command[1:])
    assert (result.exit_code, "ospa2, expected an evaluator that" in result.stderr) == (2, True)
    (folder / "m.toml").write_text('[[evaluators]]\nname = "ospa2"\n')
    assert run(command[0], "--manifest", "m.toml", *FILES, *command[1:]).exit_code == 1


@pytest.mark.parametrize(
    ("name", "said"), [("f9", "no evaluator is called 'f9'"), ("my.toml", "'my.toml' names a file")]
)
def test_a_benchmark_of_an_unknown_evaluator_is_a_usage_error(name: str, said: str) -> None:
    result = run("benchmark", "new", name)
    assert (result.exit_code, said in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--schema", "nvidia"), "--schema: found nvidia, expected the name of a schema"),
        (("--accept", "gapz"), "--accept: found 'gapz', expected the name of a doubt"),
        (("--rate-hz", "0"), "--rate-hz: found 0.0, expected more than 0"),
        (("--size", "10"), "Invalid value for '--size': '10' is not a size like 1920x1080"),
        (("--sequence", "cam"), "--sequence cam: found '', expected the name of a sequence"),
    ],
)
def test_invalid_options_of_a_source_are_a_usage_error(options: tuple[str, ...], said: str) -> None:
    schema = () if options[0] == "--schema" else ("--schema", "jsonl")
    result = run("bridge", "d.jsonl", "--benchmark", "sky", *schema, *options)
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_a_password_in_the_address_of_a_source_is_a_usage_error_and_not_repeated() -> None:
    result = run("bridge", "mqtt://u:pw@h/x", "--schema", "jsonl", "--benchmark", "sky")
    assert result.exit_code == 2
    assert "SOURCE: found a password in an address" in result.stderr
    assert "pw" not in result.stderr


def test_choices_are_laid_out_as_by_click() -> None:
    """Its tabs used to be escaped like those of other texts."""
    result = run("token", "create")
    assert result.exit_code == 2
    assert "Choose from:\n\torganiser,\n\tparticipant,\n\tviewer\n" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("init", "--store", "no/site.db"),
        ("restore", "t.csv", "--store", "no/site.db"),
        ("store", "copy", "site.db", "no/site.db"),
    ],
)
def test_a_store_in_a_missing_folder_is_a_usage_error(
    command: tuple[str, ...], folder: Path
) -> None:
    result = run(*command)
    said = f"there is no folder {folder}/no to write site.db to\n"
    assert (result.exit_code, said in result.stderr) == (2, True), result.stderr


def test_an_invalid_state_is_a_usage_error() -> None:
    result = run("queue", "--state", "nope", "--server", "127.0.0.1:9")
    assert (result.exit_code, "--state: found 'nope', expected" in result.stderr) == (2, True)


def test_hidden_truth_is_not_read_if_its_file_cannot_be_written() -> None:
    result = run("benchmark", "read-truth", "sky", "no/truth.csv", "--server", "127.0.0.1:9")
    assert (result.exit_code, "FILE: there is no folder" in result.stderr) == (2, True)


def test_a_measure_that_is_not_a_dissimilarity_is_a_usage_error() -> None:
    result = run("trust", "consistency", "f1", "--measure", "f2")
    assert result.exit_code == 2
    assert "Invalid value for --measure: found measure f2 of f1, expected one" in result.stderr


def test_an_unreadable_file_is_refused_by_the_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path, *_: object, **__: object) -> bytes:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(os, "access", lambda *_args, **_named: False)
    monkeypatch.setattr(Path, "open", denied)
    result = run("score", "f1", *FILES)
    assert result.exit_code == 1
    assert "d.csv: permission denied" in result.stderr


@pytest.mark.parametrize(
    "command",
    [
        ("validate", "x"),
        ("index", "x"),
        ("bridge", "--sources", "x", "--benchmark", "sky"),
        ("benchmark", "create", "sky", "x"),
        ("benchmark", "update", "sky", "x"),
        ("restore", "x", "--store", "site.db"),
        ("serve", "--config", "x"),
    ],
)
def test_an_unreadable_file_is_a_usage_error_of_no_command(
    command: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader reports what is wrong: here, if the test may read the file, its content."""
    Path("x").write_text("x")
    monkeypatch.setattr(os, "access", lambda path, *_args, **_named: str(path) != "x")
    assert run(*command).exit_code == 1


def test_every_invalid_evaluator_of_a_manifest_is_reported_at_once(folder: Path) -> None:
    names = ("f2x", "f3y")
    text = "".join(f'[[evaluators]]\nname = "{name}"\n' for name in names)
    parameters = "parameters = {thresh = 3}\n"
    (folder / "m.toml").write_text(f'{text}[[evaluators]]\nname = "f1"\n{parameters}')
    result = run("score", "--manifest", "m.toml", *FILES)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: 3 faults:\n")
    for said in ("'f2x'", "'f3y'", "manifest, f1, thresh: unknown parameter"):
        assert said in result.stderr


def test_every_unknown_typed_evaluator_is_reported_at_once() -> None:
    result = run("score", "f2x", "f3y", *FILES)
    assert result.exit_code == 2
    assert "'f2x'" in result.stderr
    assert "'f3y'" in result.stderr


MISSING = {
    "a command of operators": ("sqlalchemy", "server", "init --store site.db"),
    "a page": ("starlette", "web", "view f1 {files}"),
    "a file to read": ("pyarrow", "parquet", "score f1 --truth t.parquet --detections d.csv"),
    "a file to look at": ("pyarrow", "parquet", "validate t.parquet"),
    "a file to write": ("pyarrow", "parquet", "outcomes f1 {files} --output out.parquet"),
    "an address to read": ("fsspec", "s3", "score f1 --truth s3://b/t.csv --detections d.csv"),
    "an address to write": ("fsspec", "s3", "score f1 {files} --output s3://b/out.txt"),
    "a cluster": ("distributed", "dask", "score f1 {files} --dask local"),
    "pictures": ("cv2", "video", "render f1 {files} --output pictures"),
    "pictures on a page": ("cv2", "video", "view f1 {files} --media m --draws 0 --output p.html"),
    "a video of a manifest": ("cv2", "video", "score --manifest video.toml {files}"),
    "a database": ("psycopg", "postgresql", "init --store postgresql://127.0.0.1:9/site"),
    "a site": ("starlette", "web", "serve --store site.db --web 127.0.0.1:0"),
    "a cluster of a server": ("distributed", "dask", "serve --executor tcp://127.0.0.1:9"),
    "a site of the demo": ("starlette", "web", "demo --web"),
}


def _hide(package: str, users: Iterable[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Act as if a package were not installed, and the modules that use it not yet imported."""
    for module in [package, *(name for name in sys.modules if name.startswith(f"{package}."))]:
        monkeypatch.setitem(sys.modules, module, None)
    for module in users:
        monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize(("package", "extra", "command"), MISSING.values(), ids=MISSING)
def test_a_missing_package_is_a_usage_error_of_every_command(
    package: str, extra: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("t.parquet").write_bytes(b"PAR1")
    Path("m").mkdir()
    Path("video.toml").write_text(
        '[[evaluators]]\nname = "f1"\n[[sequences]]\nname = "s"\nvideo = "s.mp4"\n'
    )
    before, running = sorted(Path().iterdir()), active_children()
    users = ("store.postgresql", "hosted_site", "api.http.app")
    _hide(package, [f"vidscore_server.{name}" for name in users], monkeypatch)
    result = run(*command.format(files=" ".join(FILES)).split())
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"pip install 'vidscore[{extra}]'" in result.stderr
    assert sorted(Path().iterdir()) == before
    assert active_children() == running


@pytest.mark.parametrize(
    ("url", "package", "extra"),
    [
        ("kafka://h/x", "confluent_kafka", "kafka"),
        ("nats://h/x", "nats", "nats"),
        ("mqtt://h/x", "paho", "mqtt"),
        ("x.mcap", "mcap", "mcap"),
        ("bag", "mcap", "mcap"),
    ],
)
def test_a_missing_library_of_a_source_is_a_usage_error_before_the_server_is_asked(
    url: str, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _hide(package, [f"vidscore_cli.bridge.{extra}"], monkeypatch)
    Path("bag").mkdir()
    Path("bag/x_0.mcap").write_bytes(b"")
    options = ("--schema", "jsonl", "--benchmark", "sky", "--server", "127.0.0.1:9")
    result = run("bridge", url, *options)
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"pip install 'vidscore[{extra}]'" in result.stderr


WRONG_PARAMETER = '[[evaluators]]\nname = "f1"\nparameters = { threshold = 7 }\n'
NO_EVALUATOR = '[[evaluators]]\nname = "f9"\n'
REPEATED = '[[evaluators]]\nname = "coco-detection"\n[[evaluators]]\nname = "coco"\n'
BLAMED = {
    "a parameter": (2, "f1 --set threshold=7", ""),
    "a parameter of a manifest's": (2, "--set threshold=7", '[[evaluators]]\nname = "f1"\n'),
    "an evaluator": (2, "f9", ""),
    "evaluators that do not match": (2, "coco-detection coco", ""),
    "evaluators of the format of other files": (2, "coco-detection coco --input-format auto", ""),
    "a manifest's parameter": (1, "", WRONG_PARAMETER),
    "a manifest's parameter of what was typed": (1, "f1", WRONG_PARAMETER),
    "a manifest's beside one that is right": (1, "f1 --set cutoff_px=5", WRONG_PARAMETER),
    "a manifest's evaluator": (1, "", NO_EVALUATOR),
    "a manifest's evaluators": (1, "", REPEATED),
}


@pytest.mark.parametrize(("code", "typed", "manifest"), BLAMED.values(), ids=BLAMED)
@pytest.mark.parametrize(
    "command",
    [
        "score --detections d.csv",
        "stream --detections d.csv --full-speed --server {server}",
        "trust ranking --system a=d.csv --system b=d.csv",
        "trust ranking --system a=d.csv --system b=d.csv --server {server}",
    ],
)
def test_typed_values_and_values_of_a_manifest_have_their_own_exit_codes_everywhere(
    command: str, code: int, typed: str, manifest: str, server: str
) -> None:
    Path("m.toml").write_text(manifest)
    words = [*command.format(server=server).split(), "--input-format", "generic-csv"]
    words += typed.split()
    if manifest:
        words += ["--manifest", "m.toml"]
    result = run(*words, "--truth", "t.csv")
    assert result.exit_code == code, result.stderr
