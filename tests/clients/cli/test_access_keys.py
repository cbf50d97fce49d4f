"""Tokens and the audit record on the command line: secrets, names, filters."""

from __future__ import annotations

import json
import os
import re
import resource
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import Result
from tests.clients.cli.helpers import BINARY, Call, run, well

from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.session import ExitCode
from vidscore_client import InputError, connect


def test_init_creates_a_further_token_if_the_store_exists(tmp_path: Path) -> None:
    """Only secrets go to standard output, so that scripts can use them."""
    (tmp_path / "site.db").touch()  # An empty file is not a store yet.
    store = str(tmp_path / "site.db")
    first, second = (run("init", "--store", store) for _ in range(2))
    assert "is ready" in first.stderr
    assert "has a further organiser's token" in second.stderr
    secrets = {well(result).strip() for result in (first, second)}
    assert len(secrets) == 2
    assert all(secret.startswith("vidscore_") for secret in secrets)


@pytest.mark.slow
def test_init_creates_a_token_that_a_running_server_accepts_at_once(tmp_path: Path) -> None:
    """Several at a time, while the server writes too: nobody fails because of another."""
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
def test_a_secret_file_is_private_and_has_the_secret_and_a_newline(
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
def test_no_token_is_created_if_its_secret_cannot_be_saved(
    place: str, tmp_path: Path, organiser: Call
) -> None:
    path = tmp_path / place
    (tmp_path / "there").write_text("mine")
    before = well(organiser("token", "list", "--format", "json"))
    result = organiser("token", "create", "viewer", "--secret-file", str(path))
    assert result.exit_code == ExitCode.USAGE
    assert str(path if path.exists() else path.parent) in result.stderr
    assert well(organiser("token", "list", "--format", "json")) == before
    assert (tmp_path / "there").read_text() == "mine"
    store = tmp_path / "new.db"
    assert run("init", "--store", str(store), "--secret-file", str(path)).exit_code == 2
    assert not store.exists()


def test_no_token_is_created_if_the_disk_has_no_room_for_its_secret(
    tmp_path: Path, organiser: Call
) -> None:
    path = tmp_path / "secret"
    before = well(organiser("token", "list", "--format", "json"))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        result = organiser("token", "create", "viewer", "--secret-file", str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (result.exit_code, result.stdout) == (ExitCode.INPUT, "")
    assert f"{path}: cannot be written" in result.stderr
    assert "is ready" not in result.stderr
    assert not path.exists()
    assert well(organiser("token", "list", "--format", "json")) == before


def test_a_secret_file_is_removed_if_the_server_creates_no_token(
    tmp_path: Path, falcon: Call
) -> None:
    path = tmp_path / "secret"
    result = falcon("token", "create", "viewer", "--secret-file", str(path))
    assert result.exit_code == ExitCode.REFUSED
    assert not path.exists()


def test_without_a_file_the_secret_is_printed_last_and_once(organiser: Call) -> None:
    result = organiser("token", "create", "viewer")
    assert re.fullmatch(r"vidscore_[0-9a-f]{16}_[0-9a-f]{64}\n", result.stdout)
    assert result.stdout.strip() not in result.stderr


def test_revoke_neither_sends_nor_repeats_a_secret(organiser: Call, site: tuple[str, str]) -> None:
    """This needs no server."""
    secret = well(organiser("token", "create", "viewer")).strip()
    for typed in (secret, f"tokens/{secret}", secret[:40]):
        result = run("token", "revoke", typed, "--server", "127.0.0.1:1")
        assert result.exit_code == ExitCode.USAGE
        assert "this is a secret" in result.stderr
        assert secret[26:40] not in result.stderr
    with connect(site[0], token=site[1]) as client, pytest.raises(InputError, match="a secret"):
        client.tokens.revoke(secret)


@pytest.mark.parametrize("typed", ["team", "comment", "name", "beginning"])
def test_revoke_accepts_what_people_can_type(typed: str, organiser: Call) -> None:
    name = f"owl-{typed}"
    created = ("token", "create", "participant", "--team", name, "--comment", f"for {name}")
    secret = well(organiser(*created)).strip()
    token = secret.split("_")[1]
    words = {"team": name, "comment": f"for {name}", "name": token, "beginning": token[:8]}
    assert f"tokens/{token} is revoked" in well(organiser("token", "revoke", words[typed]))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("token", "create", "participant"), "a participant needs --team NAME"),
        (("token", "create", "viewer", "--team", "kite"), "other roles have no team"),
        (("invitation", "create", "kite", "--link-base", "example.org"), "does not begin with"),
    ],
)
def test_an_impossible_token_or_link_is_a_usage_error(
    words: tuple[str, ...], said: str, organiser: Call
) -> None:
    result = organiser(*words)
    assert (result.exit_code, result.stdout) == (ExitCode.USAGE, "")
    assert said in result.stderr


def test_the_earlier_name_of_participants_is_still_accepted(organiser: Call) -> None:
    well(organiser("token", "create", "performer", "--team", "eagle"))
    assert "participant" in well(organiser("token", "list"))


def test_revoke_asks_which_one_if_several_tokens_match(organiser: Call) -> None:
    secrets = [
        well(organiser("token", "create", "participant", "--team", "twins")) for _ in range(2)
    ]
    result = organiser("token", "revoke", "twins")
    assert result.exit_code == ExitCode.INPUT
    assert all(f"tokens/{secret.split('_')[1]}" in result.stderr for secret in secrets)
    assert organiser("token", "revoke", "nobody").exit_code == ExitCode.INPUT


def test_the_audit_record_is_filtered_by_benchmark_actor_action_and_time(
    hosted: str, organiser: Call, falcon: Call
) -> None:
    well(falcon("submit", hosted, "--detections", "detections.json", "--name", "mine"))

    def found(*wanted: str) -> list[str]:
        text = well(organiser("audit", *wanted, "--format", "json"))
        return [entry["action"] for entry in json.loads(text)][::-1]

    whole = ["CreateBenchmark", "UploadTruth", "CreateSubmission", "OpenStream",
             "SealSubmission", "scoring_started", "scored", "board moved"]  # fmt: skip
    assert found("--benchmark", hosted) == whole
    assert found("--benchmark", hosted, "--actor", "server") == whole[-3:]
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


def test_an_invitation_creates_a_teams_token_once(organiser: Call, site: tuple[str, str]) -> None:
    base = ("--link-base", "https://scores.example.org/")
    made = organiser("invitation", "create", "wren", "tern", "--lifetime-days", "2", *base)
    lines = [line.split() for line in well(made).splitlines()]
    assert [team for team, _ in lines] == ["wren", "tern"]
    first, second = (link for _, link in lines)
    assert first.startswith("https://scores.example.org/invitations/vidscore_i_")
    accepted = run("invitation", "accept", first, "--server", site[0])
    assert re.fullmatch(r"vidscore_[0-9a-f]{16}_[0-9a-f]{64}\n", accepted.stdout)
    again = run("invitation", "accept", first, "--server", site[0])
    assert again.exit_code == ExitCode.INPUT
    assert "was accepted already" in again.stderr
    name = second.split("_")[2]
    assert "is revoked" in well(organiser("invitation", "revoke", name))
    listed = json.loads(well(organiser("invitation", "list", "--format", "json")))
    states = {entry["team"]: (entry["open"], bool(entry["token"])) for entry in listed}
    assert (states["wren"], states["tern"]) == ((False, True), (False, False))


def test_the_secret_of_an_invitation_is_not_its_name(organiser: Call) -> None:
    [line] = well(organiser("invitation", "create", "rook")).splitlines()
    secret = line.split()[1]
    result = organiser("invitation", "revoke", secret)
    assert result.exit_code != 0
    assert secret[-40:] not in result.stderr
