"""`vidscore backup` and `vidscore restore`, against real servers."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from click.testing import Result
from tests.clients.cli.helpers import run
from tests.crash.organiser import Organiser
from tests.server.domain.sky import truth
from tests.support.sites import serving

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import connect


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """Address of a server that hosts a benchmark, its organiser's secret, and its store."""
    store = tmp_path_factory.mktemp("site") / "site.db"
    with (
        serving(store) as (server, secret),
        grpc.insecure_channel(server.address) as channel,
    ):
        Organiser(channel, secret).host(truth(10))
        yield server.address, secret, str(store)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def as_organiser(site: tuple[str, str, str], *arguments: str) -> Result:
    return run(*arguments, env={"VIDSCORE_SERVER": site[0], "VIDSCORE_TOKEN": site[1]})


@pytest.mark.slow
def test_a_site_backup_is_private_and_serves_from_a_new_store(
    site: tuple[str, str, str], here: Path
) -> None:
    made = as_organiser(site, "backup", "site.backup")
    assert made.exit_code == 0
    assert "site.backup holds the site as of" in made.stdout
    assert "hidden truth" in made.stderr
    assert stat.S_IMODE((here / "site.backup").stat().st_mode) == 0o600
    assert [path.name for path in here.iterdir()] == ["site.backup"]
    back = run("restore", "site.backup", "--store", "new.db")
    assert (back.exit_code, back.stdout.startswith("the site as of")) == (0, True)
    with (
        ServerProcess("--workers", "1", "--store", "new.db") as server,
        connect(server.address, token=site[1]) as client,
    ):
        assert [found.name for found in client.benchmarks.list()] == ["dots"]


def test_a_benchmark_is_restored_into_the_running_server(
    site: tuple[str, str, str], here: Path
) -> None:
    del here
    assert as_organiser(site, "backup", "dots.backup", "--benchmark", "dots").exit_code == 0
    taken = as_organiser(site, "restore", "dots.backup")
    assert taken.exit_code == 1
    assert "dots already exists" in taken.stderr
    with connect(site[0], token=site[1]) as client:
        client.benchmarks.delete("dots", force=True)
    back = as_organiser(site, "restore", "dots.backup")
    assert (back.exit_code, "benchmarks/dots as of" in back.stdout) == (0, True)
    with connect(site[0], token=site[1]) as client:
        assert client.benchmarks.get("dots").truth_revision == 1


def test_a_damaged_backup_is_reported_in_one_line_and_creates_nothing(
    site: tuple[str, str, str], here: Path
) -> None:
    as_organiser(site, "backup", "site.backup")
    file = here / "site.backup"
    file.write_bytes(file.read_bytes()[:-10])
    back = run("restore", "site.backup", "--store", "new.db")
    assert back.exit_code == 1
    [line] = back.stderr.splitlines()
    assert line == "Error: site.backup: found the end of the file, expected more of the backup"
    assert not (here / "new.db").exists()


def test_another_file_is_named_by_its_first_characters(here: Path) -> None:
    (here / "d.csv").write_bytes(b"sequence,\xff\n" * 9)
    result = run("restore", "d.csv", "--store", "new.db")
    said = r"Error: d.csv: found 'sequence,\xff\nsequenc', expected a file that begins with"
    assert (result.exit_code, result.stderr.startswith(said)) == (1, True), result.stderr
    assert not (here / "new.db").exists()


def test_a_site_backup_is_not_restored_into_a_running_server(
    site: tuple[str, str, str], here: Path
) -> None:
    del here
    as_organiser(site, "backup", "site.backup")
    back = as_organiser(site, "restore", "site.backup")
    assert back.exit_code == 2
    assert "--store" in back.stderr


def test_a_store_in_use_is_left_unchanged(site: tuple[str, str, str], here: Path) -> None:
    del here
    as_organiser(site, "backup", "site.backup")
    back = run("restore", "site.backup", "--store", site[2])
    assert back.exit_code == 1
    assert "Traceback" not in back.stderr


def test_a_refused_backup_leaves_no_file(site: tuple[str, str, str], here: Path) -> None:
    refused = run("backup", "site.backup", "--server", site[0])
    assert refused.exit_code == 4
    missing = as_organiser(site, "backup", "site.backup", "--benchmark", "none")
    assert missing.exit_code == 1
    assert list(here.iterdir()) == []
