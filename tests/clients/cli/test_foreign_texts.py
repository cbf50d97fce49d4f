"""Foreign text is shown, but no terminal or spreadsheet executes it."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from click.testing import Result
from tests.clients.cli.helpers import BENCHMARK, Call, run, well

from vidscore_cli.demo.network import ServerProcess
from vidscore_cli.session import ExitCode
from vidscore_evaluators.names import holds_controls

PLANTED = "=\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e\u2066x\r\n7  forged\u2028"
"""Writes the clipboard, clears the screen, reverses the text, starts a line; and is a formula."""

SHOWN = "=\\x1b]52;c;aGk=\\x07\\x1b[2J\\x9b31m\\u202e\\u2066x\\x0d\\x0a7  forged\\u2028"

COMMANDS = (
    ("leaderboard", "sky"),
    ("submission", "show", "sky/falcon"),
    ("submission", "list", "sky"),
    ("token", "list"),
    ("audit",),
    ("benchmark", "show", "sky"),
    ("benchmark", "list"),
    ("benchmark", "revisions", "sky"),
)


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    """Runs commands as the organiser of a store in which every free text contains `PLANTED`."""
    folder = tmp_path_factory.mktemp("older")
    store = str(folder / "site.db")
    secret = run("init", "--store", store).stdout.strip()
    (folder / "benchmark.toml").write_text(BENCHMARK)
    entry = {"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[1, 1]]}
    (folder / "data.json").write_text(json.dumps([entry]))
    environment = {"VIDSCORE_TOKEN": secret}

    def call(*arguments: str) -> Result:
        return run(*arguments, env=environment)

    with ServerProcess("--workers", "1", "--store", store) as server:
        environment["VIDSCORE_SERVER"] = server.address
        data = str(folder / "data.json")
        well(call("benchmark", "create", "sky", str(folder / "benchmark.toml")))
        well(call("benchmark", "truth", "sky", "--truth", data, "--complete"))
        well(call("submit", "sky", "--detections", data, "--name", "falcon"))
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute(
            "INSERT INTO tokens SELECT 'fedcba9876543210', secret_hash, role, team, "
            "comment, create_time, expire_time, revoke_time FROM tokens"
        )
        for table, column in (
            ("submissions", "title"),
            ("submissions", "state_message"),
            ("tokens", "comment"),
            ("truth_revisions", "comment"),
            ("audit", "detail"),
        ):
            connection.execute(f"UPDATE {table} SET {column} = ?", (PLANTED,))
        [[definition]] = connection.execute("SELECT definition FROM benchmarks")
        titled = json.dumps({**json.loads(definition), "title": PLANTED})
        connection.execute("UPDATE benchmarks SET definition = ?", (titled,))
    with ServerProcess("--workers", "1", "--store", store) as server:
        environment["VIDSCORE_SERVER"] = server.address
        yield call


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_table_shows_texts_of_an_older_store_within_their_own_lines(
    older: Call, command: tuple[str, ...]
) -> None:
    result = older(*command)
    assert SHOWN in well(result)
    assert not holds_controls((result.stdout + result.stderr).replace("\n", ""))


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_json_shows_texts_exactly_without_control_characters(
    older: Call, command: tuple[str, ...]
) -> None:
    text = well(older(*command, "--format", "json"))
    assert not holds_controls(text.replace("\n", ""))
    assert PLANTED in _leaves(json.loads(text))


@pytest.mark.parametrize("command", [("leaderboard", "sky"), ("submission", "list", "sky")])
def test_no_cell_of_csv_is_a_formula(older: Call, command: tuple[str, ...]) -> None:
    text = well(older(*command, "--format", "csv"))
    assert not holds_controls(text.replace("\n", ""))
    [row] = csv.DictReader(io.StringIO(text))
    assert row["title"] == f"'{SHOWN}"


def test_watching_a_submission_and_errors_show_texts_escaped(older: Call) -> None:
    """For example, an error lists the comments of the tokens that may be meant."""
    assert SHOWN in well(older("submission", "watch", "sky/falcon"))
    refused = older("token", "revoke", PLANTED)
    assert refused.exit_code == ExitCode.INPUT
    assert SHOWN in refused.stderr
    assert not holds_controls(refused.stderr.replace("\n", ""))


@pytest.mark.slow
def test_a_title_with_control_characters_is_refused_with_its_place(
    hosted: str, falcon: Call
) -> None:
    sent = ("submit", hosted, "--detections", "detections.json", "--title", "a\x1b[31m")
    refused = falcon(*sent)
    assert refused.exit_code == ExitCode.INPUT
    assert r"title: found 'a\x1b[31m', expected no control characters" in refused.stderr


def _leaves(document: object) -> list[object]:
    if isinstance(document, dict):
        return [leaf for entry in document.values() for leaf in _leaves(entry)]
    if isinstance(document, list):
        return [leaf for entry in document for leaf in _leaves(entry)]
    return [document]
