"""Hosted benchmarks on the command line, against a real server."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import stat
import subprocess
import tomllib
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import Result
from tests.clients.cli.conftest import spotgeo_entry
from tests.clients.cli.helpers import BINARY, run

from vidscore_cli.command_tree import Command
from vidscore_cli.exit_codes import ExitCode
from vidscore_cli.main import SECTIONS, cli
from vidscore_cli.remote import to_frames
from vidscore_cli.server_process import ServerProcess
from vidscore_client import InputError, connect
from vidscore_evaluators.evaluator import Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_source
from vidscore_evaluators.registry import evaluator_names
from vidscore_server.hosting.definition import definition_from_dict

BENCHMARK = """
title = "Night sky"
truth_geometry = "point"
detection_geometry = "point"

[[evaluators]]
name = "spotgeo"

[policy]
visibility = "final"
"""

Call = Callable[..., Result]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Address of a server that hosts, and its organiser's secret."""
    store = str(tmp_path_factory.mktemp("site") / "site.db")
    secret = run("init", "--store", store).stdout.strip()
    with ServerProcess("--workers", "1", "--store", store) as server:
        yield server.address, secret
    assert server.exit_code == 0


@pytest.fixture
def folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the examples, with a benchmark's file."""
    (data / "benchmark.toml").write_text(BENCHMARK)
    monkeypatch.chdir(data)
    return data


@pytest.fixture
def organiser(site: tuple[str, str]) -> Call:
    """Runs a command as the organiser."""
    address, secret = site
    environment = {"VIDSCORE_SERVER": address, "VIDSCORE_TOKEN": secret}

    def call(*arguments: str) -> Result:
        return run(*arguments, env=environment)

    return call


@pytest.fixture
def falcon(site: tuple[str, str], organiser: Call) -> Call:
    """Runs a command as the team falcon."""
    secret = organiser("token", "create", "performer", "--team", "falcon").stdout.strip()
    environment = {"VIDSCORE_SERVER": site[0], "VIDSCORE_TOKEN": secret}

    def call(*arguments: str) -> Result:
        return run(*arguments, env=environment)

    return call


@pytest.fixture
def hosted(request: pytest.FixtureRequest, folder: Path, organiser: Call) -> str:
    """Name of a benchmark of this test's own, with complete truth."""
    name = f"b{zlib.crc32(request.node.name.encode())}"
    well(organiser("benchmark", "create", name, str(folder / "benchmark.toml")))
    well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--complete"))
    return name


def well(result: Result) -> str:
    """What a command wrote that has succeeded."""
    assert result.exit_code == 0, result.stderr
    text: str = result.stdout
    return text


@pytest.mark.usefixtures("folder")
def test_every_example_of_hosting_runs_in_the_order_of_a_competition(organiser: Call) -> None:
    """Some steps between the examples make what the next ones are about."""
    left = {
        example
        for path in cli.leaves(click.Context(cli))
        for example in examples_of(path)
        if path.split()[0] in SECTIONS["Hosted benchmarks"] or "--benchmark" in example
        if "postgresql://" not in example  # somebody else's database
        if path.split()[0] not in {"login", "logout"}  # at a server of its own: see test_sites
    }

    def examples(*beginnings: str) -> None:
        for beginning in beginnings:
            found = {example for example in left if f"{example} ".startswith(f"{beginning} ")}
            assert found, beginning
            for example in sorted(found):
                result = organiser(*shlex.split(example)[1:])
                assert well(result) + result.stderr
            left.difference_update(found)

    examples("vidscore benchmark new", "vidscore init")
    examples("vidscore benchmark create", "vidscore benchmark show")
    examples("vidscore benchmark update", "vidscore benchmark list", "vidscore benchmark truth")
    well(organiser("benchmark", "truth", "sky", "--truth", "truth.json"))
    examples("vidscore benchmark revisions", "vidscore token create", "vidscore token list")
    for name in ("falcon", "mole"):
        arguments = ("--detections", "detections.json", "--name", name)
        well(organiser("submit", "sky", *arguments, "--no-seal"))
    examples("vidscore submission cancel", "vidscore submission show", "vidscore submission list")
    examples("vidscore submission seal", "vidscore submission watch", "vidscore submission scores")
    examples("vidscore submit", "vidscore leaderboard", "vidscore benchmark rescore")
    examples("vidscore trust ranking")
    examples("vidscore backup", "vidscore audit", "vidscore benchmark delete", "vidscore restore")
    [revoke] = left
    made = json.loads(well(organiser("token", "list", "--format", "json")))[0]["name"]
    assert well(organiser(*shlex.split(revoke)[1:-1], made))


def examples_of(path: str) -> tuple[str, ...]:
    found = cli.find(path)
    assert isinstance(found, Command)
    return found.examples


def test_init_makes_a_further_token_where_the_store_is_there(tmp_path: Path) -> None:
    """Secrets alone go to standard output, so that scripts can take them."""
    store = str(tmp_path / "site.db")
    first, second = (run("init", "--store", store) for _ in range(2))
    assert "is ready" in first.stderr
    assert "has a further organiser's token" in second.stderr
    secrets = {well(result).strip() for result in (first, second)}
    assert len(secrets) == 2
    assert all(secret.startswith("vidscore_") for secret in secrets)


def test_init_makes_a_token_that_a_running_server_takes_at_once(tmp_path: Path) -> None:
    """Several at a time, while the server writes too: nobody fails for another's sake."""
    store = str(tmp_path / "site.db")
    first = well(run("init", "--store", store)).strip()
    with ServerProcess("--workers", "1", "--store", store) as server:

        def call(secret: str, *arguments: str) -> Result:
            token = {"VIDSCORE_SERVER": server.address, "VIDSCORE_TOKEN": secret}
            return run(*arguments, env=token)

        command = [str(BINARY), "init", "--store", store]
        beside = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        for number in range(10):
            well(call(first, "token", "create", "viewer", "--comment", f"made {number}"))
        secrets = [process.communicate(timeout=120)[0].strip() for process in beside]
        assert [process.returncode for process in beside] == [0] * 4
        for secret in secrets:
            listed = json.loads(well(call(secret, "token", "list", "--format", "json")))
            assert len(listed) == 1 + 4 + 10
    assert server.exit_code == 0


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_a_secret_file_is_its_owners_alone_and_holds_the_secret_and_a_newline(
    mask: int, tmp_path: Path
) -> None:
    path = tmp_path / "organiser.secret"
    before = os.umask(mask)
    try:
        result = run("init", "--store", str(tmp_path / "site.db"), "--secret-file", str(path))
    finally:
        os.umask(before)
    assert well(result) == ""
    assert re.fullmatch(r"vidscore_[0-9a-f]{16}_[0-9a-f]{64}\n", path.read_text())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().strip() not in result.stderr


@pytest.mark.parametrize("place", ["there", "missing/folder/secret"])
def test_no_token_is_made_where_its_secret_cannot_be_kept(
    place: str, tmp_path: Path, organiser: Call
) -> None:
    path = tmp_path / place
    (tmp_path / "there").write_text("mine")
    before = well(organiser("token", "list", "--format", "json"))
    result = organiser("token", "create", "viewer", "--secret-file", str(path))
    assert result.exit_code == ExitCode.USAGE
    assert str(path) in result.stderr
    assert well(organiser("token", "list", "--format", "json")) == before
    assert (tmp_path / "there").read_text() == "mine"
    store = tmp_path / "new.db"
    assert run("init", "--store", str(store), "--secret-file", str(path)).exit_code == 2
    assert not store.exists()


def test_a_secret_file_is_taken_away_where_the_server_makes_no_token(
    tmp_path: Path, falcon: Call
) -> None:
    path = tmp_path / "secret"
    result = falcon("token", "create", "viewer", "--secret-file", str(path))
    assert result.exit_code == ExitCode.REFUSED
    assert not path.exists()


def test_without_a_file_the_secret_is_the_last_word_on_standard_output_once(
    organiser: Call,
) -> None:
    result = organiser("token", "create", "viewer")
    assert re.fullmatch(r"vidscore_[0-9a-f]{16}_[0-9a-f]{64}\n", result.stdout)
    assert result.stdout.strip() not in result.stderr


def test_revoke_neither_sends_nor_repeats_a_secret(organiser: Call, site: tuple[str, str]) -> None:
    """No server has to answer for that."""
    secret = well(organiser("token", "create", "viewer")).strip()
    for typed in (secret, f"tokens/{secret}", secret[:40]):
        result = run("token", "revoke", typed, "--server", "127.0.0.1:1")
        assert result.exit_code == ExitCode.USAGE
        assert "this is a secret" in result.stderr
        assert secret[26:40] not in result.stderr
    with connect(site[0], token=site[1]) as client, pytest.raises(InputError, match="a secret"):
        client.tokens.revoke(secret)


@pytest.mark.parametrize("typed", ["team", "comment", "name", "beginning"])
def test_revoke_takes_what_people_can_type(typed: str, organiser: Call) -> None:
    name = f"owl-{typed}"
    created = ("token", "create", "performer", "--team", name, "--comment", f"for {name}")
    secret = well(organiser(*created)).strip()
    token = secret.split("_")[1]
    words = {"team": name, "comment": f"for {name}", "name": token, "beginning": token[:8]}
    assert f"tokens/{token} opens nothing" in well(organiser("token", "revoke", words[typed]))


def test_revoke_asks_which_where_several_tokens_are_meant(organiser: Call) -> None:
    secrets = [well(organiser("token", "create", "performer", "--team", "twins")) for _ in range(2)]
    result = organiser("token", "revoke", "twins")
    assert result.exit_code == ExitCode.INPUT
    assert all(f"tokens/{secret.split('_')[1]}" in result.stderr for secret in secrets)
    assert organiser("token", "revoke", "nobody").exit_code == ExitCode.INPUT


def test_a_template_for_any_evaluator_is_a_benchmark_as_it_stands(
    folder: Path, organiser: Call
) -> None:
    """And one with every line uncommented that has a default is the same benchmark."""
    for name in evaluator_names():
        text = well(run("benchmark", "new", name, "--title", "A 'title'"))
        definition = definition_from_dict(tomllib.loads(text))
        assert [entry.name for entry in definition.specification.evaluators] == [name]
        assert definition.specification.title == "A 'title'"
        policy = text[text.index("[policy]") :]
        said = re.sub(r"(?m)^# (?=[a-z_]+ = )", "", policy)
        assert definition_from_dict({**tomllib.loads(text), **tomllib.loads(said)}) == definition
    written = run("benchmark", "new", "map", "--file", "new.toml")
    assert well(written) == ""
    again = run("benchmark", "new", "map", "--file", "new.toml")
    assert again.exit_code == ExitCode.USAGE
    well(organiser("benchmark", "create", "from-template", str(folder / "new.toml")))


def test_every_fault_of_a_benchmarks_file_is_told_at_once(folder: Path, organiser: Call) -> None:
    (folder / "wrong.toml").write_text(
        BENCHMARK.replace("title", "titel")
        .replace('visibility = "final"', 'visibility = "finale"\nsubmission_per_day = 3')
        .replace('detection_geometry = "point"', 'detection_geometry = "points"')
        + '\n[[sequences]]\nname = "1"\nframecount = 5\n'
    )
    result = organiser("benchmark", "create", "wrong", "wrong.toml")
    assert result.exit_code == ExitCode.INPUT
    told = result.stderr
    assert "titel: found an unknown key, expected one of title, evaluators, domains, " in told
    assert "sequences, truth_geometry, detection_geometry, open_time, close_time, " in told
    assert "public_names, policy; did you mean title?" in told
    assert "policy.visibility: found 'finale'" in told
    assert "policy.submission_per_day" in told
    assert "submissions_per_day" in told
    assert "detection_geometry: found 'points'" in told
    assert "did you mean point?" in told
    assert "sequences[0].framecount" in told
    assert "did you mean frame_count?" in told


def test_shapes_that_the_evaluator_leaves_open_follow_from_the_truth(
    folder: Path, organiser: Call, falcon: Call
) -> None:
    """Until it comes nobody can submit, and nowhere is an unspecified geometry shown."""
    (folder / "open.toml").write_text('title = "Open"\n[[evaluators]]\nname = "f1"\n')
    (folder / "boxes.csv").write_text("sequence,frame,x1,y1,x2,y2\na,1,0,0,9,9\na,2,5,5,9,9\n")
    well(organiser("benchmark", "create", "open", "open.toml"))
    sent = ("submit", "open", "--detections", "boxes.csv")
    early = falcon(*sent)
    assert early.exit_code == ExitCode.INPUT
    assert "takes no detections yet" in early.stderr
    well(organiser("benchmark", "truth", "open", "--truth", "boxes.csv"))
    shown = organiser("benchmark", "show", "open")
    assert "box" in well(shown)
    assert "UNSPECIFIED" not in early.stderr + shown.stdout
    well(falcon(*sent))
    well(organiser("benchmark", "update", "open", "open.toml"))


def test_names_that_a_benchmark_lacks_are_refused_or_warned_of_on_standard_error(
    folder: Path, organiser: Call, falcon: Call
) -> None:
    """`street.mp4` and `Car` in the place of `street` and `car`; right ones say nothing."""
    (folder / "named.toml").write_text('title = "Named"\n[[evaluators]]\nname = "f1"\n')
    rows = "sequence,frame,x1,y1,x2,y2,class\nstreet,1,0,0,9,9,car\n"
    for name, text in {
        "right": rows,
        "sequence": rows.replace("street", "street.mp4"),
        "label": rows.replace("car", "Car"),
    }.items():
        (folder / f"{name}.csv").write_text(text)
    well(organiser("benchmark", "create", "named", "named.toml"))
    well(organiser("benchmark", "truth", "named", "--truth", "right.csv"))
    right = falcon("submit", "named", "--detections", "right.csv")
    assert well(right)
    assert "Warning" not in right.stderr
    refused = falcon("submit", "named", "--detections", "sequence.csv")
    assert refused.exit_code == ExitCode.INPUT
    assert "did you mean street?" in refused.stderr
    sent = ("submit", "named", "--detections", "label.csv", "--name", "label", "--format", "csv")
    doubtful = falcon(*sent)
    assert "Warning" not in well(doubtful)
    assert doubtful.stderr.count("Warning: label 'Car' is not in") == 1
    assert "did you mean car?" in doubtful.stderr
    shown = falcon("submission", "show", "named/label", "--format", "json")
    assert len(json.loads(well(shown))["warnings"]) == 1


def test_truth_is_told_as_it_was_uploaded_and_doubted_where_it_looks_like_detections(
    folder: Path, organiser: Call
) -> None:
    (folder / "named.toml").write_text('title = "Named"\n[[evaluators]]\nname = "f1"\n')
    (folder / "odd.csv").write_text(
        "sequence,frame,x1,y1,x2,y2,class,confidence\n"
        "a,1,0,0,9,9,car,1\na,1,20,20,29,29,car,0.5\nb,7,0,0,9,9,bus,0.25\n"
    )
    well(organiser("benchmark", "create", "odd", "named.toml"))
    result = organiser("benchmark", "truth", "odd", "--truth", "odd.csv", "--incomplete")
    assert well(result).splitlines() == [
        "revision 1 of the truth of odd: 2 frames, not complete yet",
        "uploaded: 3 objects (car 2, bus 1), 2 sequences, 2 frames",
    ]
    assert "2 objects of the ground truth have a confidence below 1" in result.stderr


def test_the_audit_record_is_filtered_by_benchmark_actor_action_and_time(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "mine"))

    def found(*wanted: str) -> list[str]:
        text = well(organiser("audit", *wanted, "--format", "json"))
        return [entry["action"] for entry in json.loads(text)][::-1]

    whole = ["CreateBenchmark", "UploadTruth", "CreateSubmission", "OpenStream",
             "SealSubmission", "scoring_started", "scored"]  # fmt: skip
    assert found("--benchmark", hosted) == whole
    assert found("--benchmark", hosted, "--actor", "server") == ["scoring_started", "scored"]
    assert found("--benchmark", hosted, "--action", "OpenStream") == ["OpenStream"]
    assert found("--benchmark", hosted, "--since", "2020-01-01") == whole
    assert found("--benchmark", hosted, "--until", "2020-01-01T00:00:00+02:00") == []
    tokens = json.loads(well(organiser("token", "list", "--format", "json")))
    [own] = {token["name"] for token in tokens if token["team"] == "falcon"} & {
        entry["actor"]
        for entry in json.loads(well(organiser("audit", "--benchmark", hosted, "--format", "json")))
    }
    assert found("--benchmark", hosted, "--actor", own) == [
        "CreateSubmission", "OpenStream", "SealSubmission",
    ]  # fmt: skip
    assert organiser("audit", "--since", "soon").exit_code == ExitCode.USAGE


def test_a_benchmark_that_is_shown_as_toml_can_be_created_again(
    hosted: str, folder: Path, organiser: Call
) -> None:
    well(organiser("benchmark", "show", hosted, "--format", "toml", "--output", "shown.toml"))
    well(organiser("benchmark", "create", f"{hosted}-again", str(folder / "shown.toml")))
    documents = [
        json.loads(well(organiser("benchmark", "show", name, "--format", "json")))
        for name in (hosted, f"{hosted}-again")
    ]
    assert documents[0]["definition"] == documents[1]["definition"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title = ", "line 1"),
        ('colour = "red"', "colour: found an unknown key"),
        (BENCHMARK + "minimum_frames = 0", "policy.minimum_frames: found 0, expected"),
        (BENCHMARK.replace("spotgeo", "spotgio"), "did you mean spotgeo"),
    ],
)
def test_a_file_that_defines_no_benchmark_is_an_input_error_that_says_where(
    text: str, said: str, folder: Path, organiser: Call
) -> None:
    (folder / "wrong.toml").write_text(text)
    result = organiser("benchmark", "create", "wrong", "wrong.toml")
    assert result.exit_code == ExitCode.INPUT
    assert said in result.stderr


def test_submitted_detections_get_the_scores_of_the_files(hosted: str, falcon: Call) -> None:
    """F1 2/3, MSE 54: what `vidscore score` gives for the same files, released measures alone."""
    sent = ("submit", hosted, "--detections", "detections.json")
    rows = list(csv.DictReader(io.StringIO(well(falcon(*sent, "--format", "csv")))))
    assert {row["measure"]: float(row["value"]) for row in rows} == {"f1": 2 / 3, "mse": 54.0}


def test_the_same_submission_again_sends_nothing_and_shows_the_same(
    hosted: str, falcon: Call
) -> None:
    sent = ("submit", hosted, "--detections", "detections.json", "--format", "json")
    assert well(falcon(*sent)) == well(falcon(*sent))
    listed = json.loads(well(falcon("submission", "list", hosted, "--format", "json")))
    assert [entry["frame_count"] for entry in listed] == [5]


def test_an_interrupted_submission_goes_on_where_it_was(
    hosted: str, folder: Path, site: tuple[str, str], organiser: Call
) -> None:
    annotations = read_source(folder / "detections.json", Side.DETECTIONS).annotations
    stream = f"files-{str(fingerprint(annotations))[:16]}"
    with (
        connect(site[0], token=site[1]) as client,
        client.submit(hosted, "begun", stream=stream) as begun,
    ):
        begun.send_batch(to_frames(annotations).part(0, 2))
    sent = ("submit", hosted, "--detections", "detections.json", "--name", "begun")
    assert "54.0000" in well(organiser(*sent))
    with connect(site[0], token=site[1]) as client:
        assert client.submissions.get(f"{hosted}/begun").frame_count == 5


def test_frames_of_a_file_in_another_order_are_the_same_submission(
    hosted: str, folder: Path, falcon: Call
) -> None:
    entries = json.loads((folder / "detections.json").read_text())
    (folder / "reversed.json").write_text(json.dumps(entries[::-1]))
    well(falcon("submit", hosted, "--detections", "detections.json", "--no-seal"))
    well(falcon("submit", hosted, "--detections", "reversed.json"))
    assert len(json.loads(well(falcon("submission", "list", hosted, "--format", "json")))) == 1


@pytest.mark.parametrize("before", ["--no-seal", "--no-wait"])
def test_other_detections_under_the_same_name_are_refused(
    before: str, hosted: str, falcon: Call
) -> None:
    """Whether the submission still takes frames or not: two files never mix unnoticed."""
    name = ("--name", "mine" + before)
    well(falcon("submit", hosted, "--detections", "detections.json", *name, before))
    result = falcon("submit", hosted, "--detections", "truth.json", *name)
    assert result.exit_code == ExitCode.INPUT


def test_a_submission_of_several_files_is_sealed_once(
    hosted: str, folder: Path, falcon: Call
) -> None:
    second = [spotgeo_entry(frame, (1, 1), sequence=2) for frame in range(1, 6)]
    (folder / "second.json").write_text(json.dumps(second))
    for file in ("detections.json", "second.json"):
        name = ("--name", "parts", "--no-seal")
        well(falcon("submit", hosted, "--detections", file, *name))
    wrong = falcon("submission", "seal", f"{hosted}/parts", "--expected-frames", "9")
    assert wrong.exit_code == ExitCode.INPUT
    assert "10 frames are durable, 9 expected" in wrong.stderr
    well(falcon("submission", "seal", f"{hosted}/parts", "--expected-frames", "10"))
    assert "is scored, 10 frames, spotgeo f1 " in well(
        falcon("submission", "watch", f"{hosted}/parts")
    )


def test_detections_of_another_shape_are_refused(hosted: str, falcon: Call) -> None:
    result = falcon("submit", hosted, "--detections", "detections/")
    assert result.exit_code == ExitCode.INPUT
    assert "coordinates an object, expected 2, as the benchmark has them" in result.stderr


@pytest.mark.parametrize("again", [("submission", "watch"), ("submit",)])
def test_a_cancelled_submission_has_an_exit_code_of_its_own(
    again: tuple[str, ...], hosted: str, falcon: Call
) -> None:
    sent = ("--detections", "detections.json", "--name", "mine")
    well(falcon("submit", hosted, *sent, "--no-seal"))
    assert "is cancelled" in well(falcon("submission", "cancel", f"{hosted}/mine"))
    arguments = (f"{hosted}/mine",) if again[0] == "submission" else (hosted, *sent)
    result = falcon(*again, *arguments)
    assert result.exit_code == ExitCode.NOT_SCORED
    assert "is cancelled" in result.stderr


def test_scores_that_are_not_there_are_said_to_be_so(hosted: str, falcon: Call) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "a", "--no-seal"))
    result = falcon("submission", "scores", f"{hosted}/a")
    assert well(result) == ""
    assert "is receiving" in result.stderr


def test_the_board_ranks_teams_and_hides_the_submissions_of_others(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    """The organiser submits the truth itself."""
    well(falcon("submit", hosted, "--detections", "detections.json", "--title", "Falcon 2"))
    well(organiser("submit", hosted, "--detections", "truth.json"))
    text = well(falcon("leaderboard", hosted, "--format", "csv"))
    first, second = csv.DictReader(io.StringIO(text))
    assert (first["rank"], first["f1"], first["submission"]) == ("1", "1.0", "")
    assert (second["rank"], second["title"], second["mse"]) == ("2", "Falcon 2", "54.0")
    assert second["submission"].startswith(f"benchmarks/{hosted}/submissions/")
    table = well(falcon("leaderboard", hosted))
    assert table.splitlines()[0].split() == [
        "rank", "team", "title", "f1", "mse", "seal_time", "submission",
    ]  # fmt: skip


def test_a_rescoring_lists_what_changed(hosted: str, organiser: Call, falcon: Call) -> None:
    """With the detections themselves as the truth, F1 goes from 2/3 to 1."""
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "mine"))
    nothing = organiser("benchmark", "rescore", hosted)
    assert "no score has changed" in nothing.stderr
    well(organiser("benchmark", "truth", hosted, "--truth", "detections.json", "--complete"))
    text = well(organiser("benchmark", "rescore", hosted, "mine", "--format", "csv"))
    changes = {row["measure"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (float(changes["f1"]["before"]), float(changes["f1"]["after"])) == (2 / 3, 1.0)
    assert changes["f1"]["submission"] == f"benchmarks/{hosted}/submissions/mine"


def test_truth_that_is_merged_keeps_the_other_frames(
    hosted: str, folder: Path, organiser: Call
) -> None:
    (folder / "more.json").write_text(json.dumps([spotgeo_entry(1, (1, 1), sequence=2)]))
    arguments = ("--truth", "more.json", "--merge", "--incomplete", "--comment", "one more")
    text = well(organiser("benchmark", "truth", hosted, *arguments))
    assert "revision 2" in text
    assert "6 frames, not complete yet" in text
    listed = json.loads(well(organiser("benchmark", "revisions", hosted, "--format", "json")))
    assert [(entry["frame_count"], entry["comment"]) for entry in listed] == [
        (6, "one more"),
        (5, ""),
    ]


def test_what_only_an_organiser_may_do_is_refused_with_an_exit_code_of_its_own(
    hosted: str, falcon: Call
) -> None:
    for command in (("audit",), ("token", "list"), ("benchmark", "delete", hosted)):
        result = falcon(*command)
        assert result.exit_code == ExitCode.REFUSED
        assert "the role performer may not" in result.stderr


@pytest.mark.parametrize("token", [None, "nonsense"])
def test_without_a_token_that_holds_nothing_is_shown(
    token: str | None, hosted: str, site: tuple[str, str]
) -> None:
    key = {} if token is None else {"VIDSCORE_TOKEN": token}
    result = run("benchmark", "show", hosted, env={"VIDSCORE_SERVER": site[0], **key})
    assert result.exit_code == ExitCode.REFUSED


def test_a_token_does_not_go_unencrypted_to_another_machine() -> None:
    result = run("benchmark", "list", "--server", "example.invalid:1", "--token", "secret")
    assert result.exit_code == ExitCode.USAGE
    assert "--plaintext-token" in result.stderr
    assert "secret" not in result.stderr.replace("SECRET", "")


def test_what_is_not_there_is_an_input_error(organiser: Call) -> None:
    for command in (("benchmark", "show", "none"), ("submission", "show", "none/none")):
        result = organiser(*command)
        assert result.exit_code == ExitCode.INPUT
        assert "is not there" in result.stderr


def test_a_name_that_is_none_is_told_as_such(organiser: Call) -> None:
    result = organiser("submission", "show", "sky")
    assert result.exit_code == ExitCode.INPUT
    assert "expected a name as {benchmark}/{submission}" in result.stderr
