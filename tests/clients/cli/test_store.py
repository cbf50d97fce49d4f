"""`vidscore store` moves a site from one store to another, and deletes teams."""

from __future__ import annotations

from pathlib import Path

from tests.clients.cli.helpers import run
from tests.server.store import records

from vidscore_cli.session import ExitCode
from vidscore_server.store import open_store


def test_a_site_is_moved_to_postgresql_and_back(tmp_path: Path, database: str) -> None:
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    assert run("init", "--store", first).exit_code == ExitCode.OK
    there = run("store", "copy", first, database)
    assert there.exit_code == ExitCode.OK, there.stderr
    assert "holds what" in there.stderr
    back = run("store", "copy", database, second)
    assert back.exit_code == ExitCode.OK, back.stderr
    assert back.stdout == there.stdout
    tokens = next(line for line in there.stdout.splitlines() if line.startswith("tokens"))
    assert tokens.split()[1] == "1"


def test_init_creates_a_store_in_a_database_and_shows_no_password(database: str) -> None:
    address = database.replace("vidscore@", "vidscore:hidden@")
    made = run("init", "--store", address)
    assert made.exit_code == ExitCode.OK, made.stderr
    assert "The store postgresql:///site" in made.stderr
    assert "hidden" not in made.stderr
    assert made.stdout.startswith("vidscore_")


def test_a_store_that_is_not_empty_is_not_overwritten_by_a_copy(tmp_path: Path) -> None:
    first, second = str(tmp_path / "first.db"), str(tmp_path / "second.db")
    for store in (first, second):
        run("init", "--store", store)
    refused = run("store", "copy", first, second)
    assert refused.exit_code == ExitCode.INPUT
    assert "name a new store" in refused.stderr


def test_a_store_is_not_copied_to_itself(tmp_path: Path) -> None:
    store = str(tmp_path / "first.db")
    run("init", "--store", store)
    refused = run("store", "copy", store, str(tmp_path / "." / "first.db"))
    assert refused.exit_code == ExitCode.USAGE
    assert "FROM and TO are one store" in refused.stderr


def test_a_missing_store_is_not_created_as_the_source_of_a_copy(tmp_path: Path) -> None:
    refused = run("store", "copy", str(tmp_path / "none.db"), str(tmp_path / "new.db"))
    assert refused.exit_code == ExitCode.INPUT
    assert f"there is no store at {tmp_path / 'none.db'}" in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_team_is_deleted_and_a_missing_one_is_refused(tmp_path: Path) -> None:
    path = str(tmp_path / "site.db")
    run("init", "--store", path)
    store = open_store(path)
    store.submit(lambda transaction: transaction.insert_token(records.token())).result(60)
    store.close()
    deleted = run("store", "delete-team", path, "red")
    assert deleted.exit_code == ExitCode.OK, deleted.stderr
    assert deleted.stdout == "red is deleted: 0 submissions, 1 token, 0 invitations\n"
    refused = run("store", "delete-team", path, "red")
    assert refused.exit_code == ExitCode.INPUT
    assert "there is no token, invitation or submission of a team red" in refused.stderr
