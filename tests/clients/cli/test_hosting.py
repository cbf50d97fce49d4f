"""Hosted benchmarks on the command line, against a real server."""

from __future__ import annotations

import csv
import io
import json
import shlex
import zlib
from pathlib import Path

import click
import pytest
from tests.clients.cli.conftest import spotgeo_entry
from tests.clients.cli.helpers import BENCHMARK, Call, run, well

from vidscore_cli.command_tree import Command
from vidscore_cli.main import SECTIONS, cli
from vidscore_cli.remote import to_frames
from vidscore_cli.session import ExitCode
from vidscore_client import connect
from vidscore_evaluators.annotations import Side
from vidscore_evaluators.fingerprint import fingerprint
from vidscore_evaluators.formats import read_source


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
def test_every_hosting_example_runs_in_the_order_of_a_competition(organiser: Call) -> None:
    """Some steps between the examples prepare the next ones."""
    left = {
        example
        for path in cli.leaves(click.Context(cli))
        for example in examples_of(path)
        if path.split()[0] in SECTIONS["Hosted benchmarks"] or "--benchmark" in example
        if "postgresql://" not in example  # Somebody else's database.
        if path.split()[0] not in {"login", "logout"}  # At its own server: see test_sites.
        if path != "bridge"  # Its requirements are in test_bridge.
        if path != "submission retry"  # Nothing has failed: see below.
        if path != "submission choose"  # Nothing is private: see below.
        if path not in {"invitation revoke", "invitation accept"}  # See test_access_keys.
        if path != "store delete-team"  # No server may own the store: see test_store.
    }

    def examples(*beginnings: str) -> None:
        for beginning in beginnings:
            found = {example for example in left if f"{example} ".startswith(f"{beginning} ")}
            assert found, beginning
            for example in sorted(found):
                result = organiser(*shlex.split(example)[1:])
                assert well(result) or result.stderr
            left.difference_update(found)

    examples("vidscore benchmark new", "vidscore init")
    examples("vidscore benchmark create", "vidscore benchmark show")
    examples("vidscore benchmark update", "vidscore benchmark list", "vidscore benchmark truth")
    examples("vidscore benchmark checklist")
    well(organiser("benchmark", "truth", "sky", "--truth", "truth.json"))
    examples("vidscore benchmark revisions", "vidscore token create", "vidscore token list")
    examples("vidscore benchmark read-truth", "vidscore invitation create")
    examples("vidscore invitation list")
    for name in ("falcon", "mole"):
        arguments = ("--detections", "detections.json", "--name", name)
        well(organiser("submit", "sky", *arguments, "--no-seal"))
    examples("vidscore submission cancel", "vidscore submission show", "vidscore submission list")
    examples("vidscore submission seal")
    files = ("--truth", "truth.json", "--detections", "detections.json")
    well(run("score", "spotgeo", *files, "--format", "json", "--output", "last.json"))
    examples("vidscore submission watch", "vidscore submission scores")
    examples("vidscore submission outcomes", "vidscore queue")
    examples("vidscore submission disqualify", "vidscore submission reinstate")
    examples("vidscore submit", "vidscore leaderboard", "vidscore benchmark rescore")
    examples("vidscore benchmark publish")
    examples("vidscore trust ranking")
    examples("vidscore backup", "vidscore audit", "vidscore benchmark delete", "vidscore restore")
    [revoke] = left
    made = json.loads(well(organiser("token", "list", "--format", "json")))[0]["name"]
    assert well(organiser(*shlex.split(revoke)[1:-1], made))


def examples_of(path: str) -> tuple[str, ...]:
    found = cli.find(path)
    assert isinstance(found, Command)
    return found.examples


def test_a_benchmark_shown_as_toml_can_be_created_again(
    hosted: str, folder: Path, organiser: Call
) -> None:
    well(organiser("benchmark", "show", hosted, "--format", "toml", "--output", "shown.toml"))
    well(organiser("benchmark", "create", f"{hosted}-again", str(folder / "shown.toml")))
    documents = [
        json.loads(well(organiser("benchmark", "show", name, "--format", "json")))
        for name in (hosted, f"{hosted}-again")
    ]
    assert documents[0]["definition"] == documents[1]["definition"]


def test_submitted_detections_get_the_scores_of_the_files(hosted: str, falcon: Call) -> None:
    """F1 2/3, MSE 54: like `vidscore score`, rounded; only released measures."""
    sent = ("submit", hosted, "--detections", "detections.json")
    rows = list(csv.DictReader(io.StringIO(well(falcon(*sent, "--format", "csv")))))
    assert {row["measure"]: float(row["value"]) for row in rows} == {"f1": 0.67, "mse": 54.0}


def test_repeating_a_submission_sends_nothing_and_shows_the_same(hosted: str, falcon: Call) -> None:
    sent = ("submit", hosted, "--detections", "detections.json", "--format", "json")
    assert well(falcon(*sent)) == well(falcon(*sent))
    listed = json.loads(well(falcon("submission", "list", hosted, "--format", "json")))
    assert [entry["frame_count"] for entry in listed] == [5]


def test_an_interrupted_submission_continues_where_it_stopped(
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


def test_two_teams_with_the_same_file_have_two_submissions_whose_names_reveal_nothing(
    hosted: str, folder: Path, organiser: Call, site: tuple[str, str]
) -> None:
    """A name that depends on the detections would confirm a guess of another team."""
    detections = read_source(folder / "detections.json", Side.DETECTIONS).annotations
    names = []
    for team in ("falcon", "mole", "organiser"):
        token = organiser("token", "create", "participant", "--team", team).stdout.strip()
        environment = {"VIDSCORE_SERVER": site[0], "VIDSCORE_TOKEN": token or site[1]}
        well(run("submit", hosted, "--detections", "detections.json", env=environment))
        listed = run("submission", "list", hosted, "--format", "json", env=environment)
        own = [entry for entry in json.loads(well(listed)) if entry["team"] == team]
        names += [entry["name"].rpartition("/")[2] for entry in own]
    assert len(set(names)) == 3
    assert not any(str(fingerprint(detections))[:8] in name for name in names)


def test_the_same_file_finds_its_submission_with_any_token_of_the_team(
    hosted: str, organiser: Call, site: tuple[str, str]
) -> None:
    for _ in range(2):
        token = organiser("token", "create", "participant", "--team", "falcon").stdout.strip()
        environment = {"VIDSCORE_SERVER": site[0], "VIDSCORE_TOKEN": token}
        well(run("submit", hosted, "--detections", "detections.json", env=environment))
    assert len(json.loads(well(organiser("submission", "list", hosted, "--format", "json")))) == 1


def test_a_file_whose_submission_was_cancelled_is_submitted_again(
    hosted: str, falcon: Call
) -> None:
    sent = ("submit", hosted, "--detections", "detections.json")
    well(falcon(*sent, "--no-seal"))
    [begun] = json.loads(well(falcon("submission", "list", hosted, "--format", "json")))
    well(falcon("submission", "cancel", begun["name"]))
    well(falcon(*sent))
    listed = json.loads(well(falcon("submission", "list", hosted, "--format", "json")))
    assert sorted(entry["state"] for entry in listed) == ["cancelled", "scored"]


def test_the_same_frames_in_another_order_are_the_same_submission(
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
    """Whether or not the submission still takes frames: two files never mix unnoticed."""
    name = ("--name", "mine" + before)
    well(falcon("submit", hosted, "--detections", "detections.json", *name, before))
    result = falcon("submit", hosted, "--detections", "truth.json", *name)
    assert result.exit_code == ExitCode.INPUT


def test_a_submission_of_several_files_is_sealed_once(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    second = [spotgeo_entry(frame, (1, 1), sequence=2) for frame in range(1, 6)]
    (folder / "second.json").write_text(json.dumps(second))
    well(organiser("benchmark", "truth", hosted, "--truth", "second.json", "--merge"))
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
    assert "coordinates per object, expected 2, as in the benchmark" in result.stderr


@pytest.mark.parametrize("again", [("submission", "watch"), ("submit",)])
def test_a_cancelled_submission_has_its_own_exit_code(
    again: tuple[str, ...], hosted: str, falcon: Call
) -> None:
    sent = ("--detections", "detections.json", "--name", "mine")
    well(falcon("submit", hosted, *sent, "--no-seal"))
    assert "is cancelled" in well(falcon("submission", "cancel", f"{hosted}/mine"))
    arguments = (f"{hosted}/mine",) if again[0] == "submission" else (hosted, *sent)
    result = falcon(*again, *arguments)
    assert result.exit_code == ExitCode.NOT_SCORED
    assert "is cancelled" in result.stderr


def test_a_submission_that_waits_for_the_board_to_move_says_so(
    request: pytest.FixtureRequest, folder: Path, organiser: Call, falcon: Call
) -> None:
    """It is scored under the second revision, and an organiser has not published it yet."""
    name = f"b{zlib.crc32(request.node.name.encode())}"
    (folder / "reviewed.toml").write_text(f'{BENCHMARK}rescore = "review"\n')
    well(organiser("benchmark", "create", name, "reviewed.toml"))
    sent = ("submit", name, "--detections", "detections.json")
    for team in (organiser, falcon):
        well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--complete"))
        well(team(*sent, "--name", "first" if team is organiser else "second"))
    told = falcon(*sent, "--name", "second").stderr
    waits = "is scored; it is on the board once the board moves to revision 2 of the truth"
    assert f"{name}/second {waits}" in told


@pytest.mark.slow
def test_a_failed_submission_is_scored_again_on_demand(
    request: pytest.FixtureRequest, folder: Path, organiser: Call, falcon: Call
) -> None:
    """It fails because no truth arrives within a second, and is scored once there is truth."""
    name = f"b{zlib.crc32(request.node.name.encode())}"
    (folder / "benchmark.toml").write_text(f"{BENCHMARK}truth_timeout_s = 1\n")
    well(organiser("benchmark", "create", name, "benchmark.toml"))
    sent = ("submit", name, "--detections", "detections.json", "--name", "falcon")
    failed = falcon(*sent)
    assert failed.exit_code == ExitCode.NOT_SCORED
    assert f"vidscore submission retry {name}/falcon" in failed.stderr
    well(organiser("benchmark", "truth", name, "--truth", "truth.json", "--complete"))
    assert "falcon is sealed" in well(falcon("submission", "retry", f"{name}/falcon"))
    assert "is scored" in well(falcon("submission", "watch", f"{name}/falcon"))
    late = falcon("submission", "retry", f"{name}/falcon")
    assert late.exit_code == ExitCode.INPUT
    assert "only one that has failed is scored again" in late.stderr


@pytest.mark.slow
def test_a_team_chooses_a_submission_if_sequences_are_private(
    request: pytest.FixtureRequest, folder: Path, organiser: Call, falcon: Call
) -> None:
    """Half of four sequences are drawn; the organiser sees which, the team how many."""
    name = f"b{zlib.crc32(request.node.name.encode())}"
    text = f"close_time = 2096-06-01T00:00:00Z\n{BENCHMARK}private_sequences = 0.5\n"
    (folder / "private.toml").write_text(text)
    entries = [spotgeo_entry(1, (10, 10), sequence=number) for number in (1, 2, 3, 4)]
    (folder / "private.json").write_text(json.dumps(entries))
    well(organiser("benchmark", "create", name, str(folder / "private.toml")))
    told = well(organiser("benchmark", "truth", name, "--truth", str(folder / "private.json")))
    assert "scores are released to a step of 0.01" in told
    document = json.loads(well(organiser("benchmark", "show", name, "--format", "json")))
    drawn = document["private_sequences"]
    assert len(drawn) == document["private_sequence_count"] == 2
    assert f"private until the benchmark closes: 2: {', '.join(drawn)}" in told
    assert document["definition"]["policy"]["private_sequences"] == 0.5
    document = json.loads(well(falcon("benchmark", "show", name, "--format", "json")))
    assert (document["private_sequence_count"], document["private_sequences"]) == (2, [])
    for one in ("first", "second", "third"):
        sent = ("submit", name, "--detections", str(folder / "private.json"), "--name", one)
        well(falcon(*sent))
    assert "first counts for the final order" in well(
        falcon("submission", "choose", f"{name}/first")
    )
    well(falcon("submission", "choose", f"{name}/second"))
    private = ("submission", "scores", f"{name}/first", "--private", "--format", "csv")
    assert "f1,1.0" in well(organiser(*private))
    assert "no scores are shown" in falcon(*private).stderr
    third = falcon("submission", "choose", f"{name}/third")
    assert third.exit_code == ExitCode.INPUT
    assert "the team has chosen first, second, and may choose 2" in third.stderr
    undone = well(falcon("submission", "choose", f"{name}/first", "--undo"))
    assert "first is not chosen any more" in undone
    assert json.loads(well(falcon("submission", "show", f"{name}/second", "--format", "json")))[
        "chosen"
    ]


def test_missing_scores_are_reported_as_missing(hosted: str, falcon: Call) -> None:
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
        "rank", "team", "title", "f1", "mse", "truth_revision", "seal_time", "submission",
    ]  # fmt: skip
    assert (first["truth_revision"], first["evaluator_version"]) == ("1", "1.0.0")
    document = json.loads(well(falcon("leaderboard", hosted, "--format", "json")))
    assert [(row["truth_revision"], row["apart"]) for row in document] == [(1, False)] * 2
    assert [(row["tier"], row["first_probability"]) for row in document] == [(None, None)] * 2
    assert "no tiers: fewer than two sequences" in falcon("leaderboard", hosted).stderr
    name = json.loads(well(organiser("leaderboard", hosted, "--format", "json")))[0]["submission"]
    well(organiser("submission", "disqualify", name, "--reason", "by hand"))
    [*_, row] = well(falcon("leaderboard", hosted)).splitlines()
    assert "undefined" not in row  # Scores are compared; an absent rank is left out.
    assert row.split()[0] == "organiser"


def test_a_checklist_is_markdown_and_gives_organisers_advice(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    text = well(organiser("benchmark", "checklist", hosted))
    assert text.splitlines()[0] == f"# Checklist of {hosted}"
    assert "## How does spotgeo rank?\n\nBy f1 (more is better), over all sequences" in text
    assert "**To do:** Set close_time" in text
    shown = well(falcon("benchmark", "checklist", hosted))
    assert [line for line in shown.splitlines() if line.startswith("## ")] == [
        line for line in text.splitlines() if line.startswith("## ")
    ]
    assert "To do" not in shown


def test_a_rescoring_lists_the_changes(hosted: str, organiser: Call, falcon: Call) -> None:
    """With the detections themselves as the truth, F1 goes from 2/3 to 1."""
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "mine"))
    nothing = organiser("benchmark", "rescore", hosted)
    assert "no score has changed" in nothing.stderr
    under_review(hosted, organiser)
    new = organiser("benchmark", "truth", hosted, "--truth", "detections.json", "--complete")
    assert "1 scored submission will be scored again under revision 2" in well(new)
    assert f"vidscore benchmark publish {hosted} then shows what changes" in new.stdout
    text = well(organiser("benchmark", "rescore", hosted, "mine", "--format", "csv"))
    changes = {row["measure"]: row for row in csv.DictReader(io.StringIO(text))}
    assert (float(changes["f1"]["before"]), float(changes["f1"]["after"])) == (2 / 3, 1.0)
    assert changes["f1"]["submission"] == f"benchmarks/{hosted}/submissions/mine"


def under_review(hosted: str, organiser: Call) -> None:
    """Let an organiser publish changes of the board."""
    Path("review.toml").write_text(f'{BENCHMARK}rescore = "review"\n')
    text = well(organiser("benchmark", "update", hosted, "review.toml"))
    assert text == f"{hosted} is changed\n"


@pytest.mark.slow
def test_new_truth_never_puts_scores_of_two_revisions_on_one_board(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    """falcon finds both of two objects and the organiser one; then four more are added.

    By 2 * hits / (objects + detections), falcon has 1 and then 4/8, the organiser 2/3 and then 2/7:
    falcon leads on either truth, but would not on a board that has rescored falcon alone.
    """
    objects = [(100 * number, 100) for number in range(1, 7)]
    for name, count in {"old": 2, "new": 6, "falcon": 2, "other": 1}.items():
        entries = [spotgeo_entry(1, *objects[:count])]
        (folder / f"{name}.json").write_text(json.dumps(entries))
    well(organiser("benchmark", "truth", hosted, "--truth", "old.json", "--complete"))
    well(falcon("submit", hosted, "--detections", "falcon.json", "--name", "falcon"))
    well(organiser("submit", hosted, "--detections", "other.json", "--name", "other"))
    well(organiser("benchmark", "truth", hosted, "--truth", "new.json", "--complete"))
    well(organiser("benchmark", "rescore", hosted, "falcon"))
    boards = {"2": [1.0, 0.67], "3": [0.5, 0.29]}
    revisions = {""}
    while revisions != {"3"}:
        text = well(falcon("leaderboard", hosted, "--format", "csv"))
        shown = list(csv.DictReader(io.StringIO(text)))
        assert [row["team"] for row in shown] == ["falcon", "organiser"]
        revisions = {row["truth_revision"] for row in shown}
        [revision] = revisions
        assert [float(row["f1"]) for row in shown] == pytest.approx(boards[revision])


def test_an_organiser_publishes_reviewed_scores(hosted: str, organiser: Call, falcon: Call) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "mine"))
    under_review(hosted, organiser)
    well(organiser("benchmark", "truth", hosted, "--truth", "detections.json", "--complete"))
    while "still to be scored" in organiser("leaderboard", hosted).stderr:
        pass
    shown = organiser("leaderboard", hosted)
    assert "the board can be moved: vidscore benchmark publish" in shown.stderr
    assert "the board shows revision 1 of the truth until" in shown.stderr
    for extra in (("--check",), ()):
        text = well(organiser("benchmark", "publish", hosted, *extra, "--format", "csv"))
        changes = {row["measure"]: row for row in csv.DictReader(io.StringIO(text))}
        assert (float(changes["f1"]["before"]), float(changes["f1"]["after"])) == (2 / 3, 1.0)
    assert "no score on the board changes" in organiser("benchmark", "publish", hosted).stderr
    [row] = csv.DictReader(io.StringIO(well(falcon("leaderboard", hosted, "--format", "csv"))))
    assert (row["f1"], row["truth_revision"]) == ("1.0", "2")


def test_changed_parameters_are_reported_to_change_the_board_and_a_quota_is_not(
    hosted: str, folder: Path, organiser: Call, falcon: Call
) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json"))
    file = folder / "changed.toml"
    file.write_text(f"{BENCHMARK}submissions_per_day = 7\n")
    assert well(organiser("benchmark", "update", hosted, str(file))) == f"{hosted} is changed\n"
    narrow = 'name = "spotgeo"\nparameters = { tau = 5.0 }'
    file.write_text(BENCHMARK.replace('name = "spotgeo"', narrow))
    text = well(organiser("benchmark", "update", hosted, str(file)))
    assert "1 scored submission will be scored again under the new rules; the board moves" in text


def test_the_states_of_a_submission_are_not_called_revisions(hosted: str, falcon: Call) -> None:
    """Only truth has revisions."""
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "mine"))
    shown = json.loads(well(falcon("submission", "show", f"{hosted}/mine", "--format", "json")))
    assert "revision" not in shown
    assert shown["changes"] > 1


def test_merged_truth_keeps_the_other_frames(hosted: str, folder: Path, organiser: Call) -> None:
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


def test_a_call_reserved_to_organisers_is_refused_with_its_own_exit_code(
    hosted: str, falcon: Call
) -> None:
    for command in (("audit",), ("token", "list"), ("benchmark", "delete", hosted)):
        result = falcon(*command)
        assert result.exit_code == ExitCode.REFUSED
        assert "a participant may not" in result.stderr
        assert "this needs the token of an organiser" in result.stderr


@pytest.mark.parametrize("token", [None, "nonsense"])
def test_without_a_valid_token_nothing_is_shown(
    token: str | None, hosted: str, site: tuple[str, str]
) -> None:
    key = {} if token is None else {"VIDSCORE_TOKEN": token}
    result = run("benchmark", "show", hosted, env={"VIDSCORE_SERVER": site[0], **key})
    assert result.exit_code == ExitCode.REFUSED


def test_a_token_is_never_sent_unencrypted_to_another_machine() -> None:
    result = run("benchmark", "list", "--server", "example.invalid:1", "--token", "secret")
    assert result.exit_code == ExitCode.USAGE
    assert "--plaintext-token" in result.stderr
    assert "secret" not in result.stderr.replace("SECRET", "")


def test_a_missing_resource_is_an_input_error(organiser: Call) -> None:
    for command in (("benchmark", "show", "none"), ("submission", "show", "none/none")):
        result = organiser(*command)
        assert result.exit_code == ExitCode.INPUT
        assert "does not exist" in result.stderr


def test_an_invalid_name_is_reported_as_such(organiser: Call) -> None:
    result = organiser("submission", "show", "sky")
    assert result.exit_code == ExitCode.INPUT
    assert "expected a name like {benchmark}/{submission}" in result.stderr
