"""`vidscore doctor` names the step that fails, and what to do."""

from __future__ import annotations

import json
import socket
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from socketserver import BaseRequestHandler, TCPServer
from threading import Thread
from typing import Any

import pytest
from tests.clients.cli.helpers import run
from tests.support.certificates import Authority, make_authority

from vidscore_cli import diagnosis
from vidscore_cli.commands import doctor
from vidscore_cli.demo.network import ServerProcess
from vidscore_client import Client, Health, connect
from vidscore_server.domain.administration import initialise

STEPS = ["address", "connection", "tls", "server", "version", "clock", "token", "store", "disk"]


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority that has signed a server and a client."""
    made = make_authority(tmp_path_factory.mktemp("authority"))
    made.sign("server", "localhost")
    made.sign("client", "client")
    return made


def told(address: str, *options: str, token: str = "") -> tuple[int, dict[str, dict[str, Any]]]:
    """Exit code, and the result of each step."""
    result = run(
        "doctor", "--server", address, "--format", "json", *options, env={"VIDSCORE_TOKEN": token}
    )
    findings = json.loads(result.stdout)
    assert [entry["step"] for entry in findings][: len(STEPS)] == STEPS
    return result.exit_code, {entry["step"]: entry for entry in findings}


def statuses(findings: dict[str, dict[str, Any]]) -> dict[str, str]:
    return {name: finding["status"] for name, finding in findings.items()}


@pytest.mark.slow
def test_an_organiser_of_a_sound_server_sees_that_all_steps_pass(site: tuple[str, str]) -> None:
    code, findings = told(site[0], token=site[1])
    assert code == 0
    found = statuses(findings)
    assert found.pop("disk") in {"ok", "warning"}  # As on this machine.
    assert found.pop("tls") == "skipped"
    assert set(found.values()) == {"ok"}
    assert "organiser" in findings["token"]["found"]
    assert "sqlite" in findings["store"]["found"]


def test_without_a_token_steps_for_organisers_are_left_out(site: tuple[str, str]) -> None:
    code, findings = told(site[0])
    assert code == 0
    skipped = {name for name, status in statuses(findings).items() if status == "skipped"}
    assert skipped == {"tls", "token", "store", "disk"}


def test_a_caller_without_access_to_the_store_learns_that_the_server_does_not_serve(
    site: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Client, "health", lambda _: Health.NOT_SERVING)
    code, findings = told(site[0])
    assert (code, findings["store"]["status"]) == (3, "failed")
    code, findings = told(site[0], token=site[1])
    assert (code, findings["store"]["status"]) == (0, "ok")  # Organisers see the store.


def test_a_token_that_ends_soon_gives_a_warning(site: tuple[str, str]) -> None:
    with connect(site[0], token=site[1]) as client:
        made = client.tokens.create("participant", team="red", lifetime_s=3600)
    code, findings = told(site[0], token=made.secret)
    assert (code, findings["token"]["status"]) == (0, "warning")
    assert "participant of team red" in findings["token"]["found"]


def test_an_invalid_token_fails_only_its_own_step(site: tuple[str, str]) -> None:
    code, findings = told(site[0], token="wrong")
    assert code == 4
    failed = {name for name, status in statuses(findings).items() if status == "failed"}
    assert failed == {"token"}
    assert findings["version"]["status"] == "ok"
    # The command works beside the running server, too.
    assert findings["token"]["advice"].endswith("create one: vidscore init --store FILE")


def test_a_port_without_a_listener_fails_the_connection() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        code, findings = told(f"127.0.0.1:{bound.getsockname()[1]}")
    assert code == 3
    assert "Connection refused" in findings["connection"]["found"]
    assert {findings[name]["status"] for name in STEPS[2:]} == {"skipped"}


class Refusing(BaseRequestHandler):
    """Answers like an HTTP server to a request that is not HTTP."""

    def handle(self) -> None:
        self.request.recv(100)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def test_a_port_that_speaks_http_is_reported_as_such() -> None:
    with TCPServer(("127.0.0.1", 0), Refusing) as site:
        Thread(target=site.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{site.server_address[1]}"
        code, findings = told(address)
        result = run("health", "--server", address)
        site.shutdown()
    assert (code, findings["server"]["found"]) == (3, "this port speaks HTTP, like that of a site")
    assert findings["server"]["advice"] == "name the address of the server's gRPC port"
    assert result.exit_code == 3
    assert "like that of a site; name the address" in result.stderr


@pytest.mark.parametrize("address", ["nowhere.invalid:1", "scores..example:1", "caf\udce9:1"])
def test_an_unknown_host_fails_the_address(address: str) -> None:
    code, findings = told(address)
    assert (code, findings["address"]["status"]) == (3, "failed")
    assert findings["connection"] == {
        "step": "connection", "status": "skipped", "found": "needs address", "advice": "",
    }  # fmt: skip


@pytest.mark.parametrize(
    "address", ["localhost", "localhost:http", ":1", "localhost:70000", "https://localhost:1"]
)
def test_an_invalid_address_is_reported(address: str) -> None:
    code, findings = told(address)
    assert (code, findings["address"]["status"]) == (2, "failed")
    assert "host:port" in findings["address"]["advice"]


def test_a_server_without_tls_fails_the_step_tls(site: tuple[str, str]) -> None:
    code, findings = told(site[0], "--tls", "--timeout", "5")
    assert (code, findings["tls"]["status"]) == (3, "failed")
    assert "omit --tls" in findings["tls"]["advice"]


def tls_options(authority: Authority) -> tuple[str, ...]:
    folder = authority.folder
    return (
        "--workers", "1", "--tls-certificate-file", str(folder / "server.pem"),
        "--tls-key-file", str(folder / "server.key"),
    )  # fmt: skip


def local(server: ServerProcess) -> str:
    return server.address.replace("127.0.0.1", "localhost")


@pytest.mark.slow
def test_a_certificate_is_checked_for_its_expiry(authority: Authority) -> None:
    with ServerProcess(*tls_options(authority)) as server:
        code, findings = told(local(server), "--tls-root", str(authority.roots))
        assert (code, findings["tls"]["status"]) == (0, "warning")  # It expires tomorrow.
        assert "for localhost and ends" in findings["tls"]["found"]
        assert findings["server"]["status"] == "ok"
        code, findings = told(local(server), "--tls")
        assert (code, findings["tls"]["status"]) == (3, "failed")
        assert "--tls-root" in findings["tls"]["advice"]
        code, findings = told(server.address, "--tls-root", str(authority.roots))
        assert (code, findings["tls"]["status"]) == (3, "failed")
        assert "the name that the certificate is for" in findings["tls"]["advice"]


@pytest.mark.slow
def test_every_command_says_what_to_do_about_a_certificate(authority: Authority) -> None:
    with ServerProcess(*tls_options(authority)) as server:
        distrusted = run("health", "--server", local(server), "--tls")
        without = run("health", "--server", local(server))
        root = str(authority.roots)
        misnamed = run("health", "--server", server.address, "--tls-root", root)
    assert distrusted.exit_code == without.exit_code == misnamed.exit_code == 3
    assert "its certificate is not trusted: unable to get local issuer" in distrusted.stderr
    assert "vidscore doctor" in distrusted.stderr
    assert "if the server has a certificate, add --tls or --tls-root" in without.stderr
    assert "its certificate is for another name; vidscore doctor" in misnamed.stderr


@pytest.mark.slow
def test_a_server_that_requires_client_certificates_admits_callers_with_one(
    authority: Authority,
) -> None:
    trusting = ("--tls-client-authorities-file", str(authority.roots))
    own = (
        "--tls-certificate", str(authority.folder / "client.pem"),
        "--tls-key", str(authority.folder / "client.key"),
    )  # fmt: skip
    root = ("--tls-root", str(authority.roots))
    with ServerProcess(*tls_options(authority), *trusting) as server:
        code, findings = told(local(server), *root, "--timeout", "10")
        assert (code, findings["server"]["status"]) == (3, "failed")
        assert "--tls-certificate and --tls-key" in findings["server"]["advice"]
        code, findings = told(local(server), *root, *own)
        assert (code, findings["server"]["status"]) == (0, "ok")
        assert run("health", "--server", local(server), *root, *own).exit_code == 0
        refused = run("health", "--server", local(server), *root)
        assert refused.exit_code == 3
        assert "requires client certificates, add --tls-certificate and --tls-key" in refused.stderr


def test_a_certificate_without_its_key_is_a_usage_error() -> None:
    result = run("health", "--tls-certificate", "client.pem")
    assert result.exit_code == 2
    assert "--tls-key" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--tls-root {}/none.pem", "--tls-root: found {}/none.pem: No such file"),
        ("--tls-root {}/client.key", "--tls-root: found {}/client.key without a certificate"),
        ("--tls-certificate {}/client.pem", "--tls-key: found none"),
        ("--tls-key {}/client.key", "--tls-certificate: found none"),
        ("--tls-certificate {0}/client.pem --tls-key {0}/server.key", "KEY_VALUES_MISMATCH"),
    ],
)
def test_unusable_certificate_files_are_named_and_not_taken_for_a_server_without_tls(
    site: tuple[str, str], authority: Authority, options: str, said: str
) -> None:
    folder = str(authority.folder)
    code, findings = told(site[0], *options.format(folder).split())
    assert (code, findings["tls"]["status"]) == (2, "failed")
    assert said.format(folder) in findings["tls"]["found"]
    assert "name PEM files" in findings["tls"]["advice"]


@pytest.mark.slow
def test_a_certificate_of_another_authority_is_refused(
    authority: Authority, tmp_path: Path
) -> None:
    other = make_authority(tmp_path)
    other.sign("client", "client")
    own = (
        "--tls-certificate", str(tmp_path / "client.pem"),
        "--tls-key", str(tmp_path / "client.key"),
    )  # fmt: skip
    trusting = ("--tls-client-authorities-file", str(authority.roots))
    with ServerProcess(*tls_options(authority), *trusting) as server:
        options = ("--tls-root", str(authority.roots), *own)
        refused = run("health", "--server", local(server), *options)
    assert refused.exit_code == 3
    assert "is the client's certificate valid and signed by its authority?" in refused.stderr


def test_a_clock_difference_is_reported(
    site: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for ahead_s, status, expected in ((0, "ok", 0), (60, "warning", 0), (3600, "failed", 1)):
        monkeypatch.setattr(doctor, "datetime", clock_ahead_by(ahead_s))
        code, findings = told(site[0])
        assert (findings["clock"]["status"], code) == (status, expected)


def clock_ahead_by(ahead_s: int) -> type[datetime]:
    class Ahead(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return super().now(tz) + timedelta(seconds=ahead_s)

    return Ahead


def test_a_nearly_full_disk_is_reported(
    site: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(diagnosis, "FREE_DISK_FAILURE_BYTES", 1 << 60)
    code, findings = told(site[0], token=site[1])
    assert (code, findings["disk"]["status"]) == (1, "failed")
    assert "STORE_FULL" in findings["disk"]["advice"]


def test_the_output_for_people_has_a_line_per_step_and_advice_below(site: tuple[str, str]) -> None:
    result = run("doctor", "--server", site[0], "--tls", "--timeout", "5")
    lines = result.stdout.splitlines()
    assert [line.split()[1] for line in lines if "->" not in line] == STEPS
    assert any(line.startswith("failed   tls") for line in lines)
    assert sum("->" in line for line in lines) == 1


def looked_at(*options: str) -> tuple[int, list[dict[str, str]]]:
    result = run("doctor", "--format", "json", *options)
    return result.exit_code, json.loads(result.stdout)


def test_a_stores_file_is_checked_and_left_unchanged(tmp_path: Path) -> None:
    store = tmp_path / "site.db"
    initialise(store)
    before = store.read_bytes()
    code, [found, disk] = looked_at("--store", str(store))
    assert (code, found["status"]) == (0, "ok")
    assert "tables of revision" in found["found"]
    assert disk["step"] == "disk"
    assert store.read_bytes() == before


def test_a_store_of_a_newer_version_is_reported_as_one_that_cannot_be_opened_here(
    tmp_path: Path,
) -> None:
    store = tmp_path / "site.db"
    initialise(store)
    with closing(sqlite3.connect(store)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    code, [found, _] = looked_at("--store", str(store))
    assert (code, found["status"]) == (1, "failed")
    assert "newer vidscore" in found["found"]
    assert found["advice"] == "upgrade this vidscore"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"no database at all" * 99, "cannot be read: file is not a database: name the store's"),
        (b"", "not a store of vidscore: name the store's file"),
    ],
)
def test_a_file_that_is_not_a_store_is_reported(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    store = tmp_path / "site.db"
    if content is not None:
        store.write_bytes(content)
    code, [found, disk] = looked_at("--store", str(store))
    assert (code, found["status"], disk["status"]) == (1, "failed", "skipped")
    assert message in found["found"]
    assert found["advice"] == ""  # what was found says what to do


def test_a_store_that_others_may_read_is_reported(tmp_path: Path) -> None:
    store = tmp_path / "site.db"
    initialise(store)
    store.chmod(0o644)
    code, [found, _] = looked_at("--store", str(store))
    assert (code, found["status"]) == (0, "warning")
    assert "other users may read it" in found["found"]
    assert f"chmod 600 {store}" in found["advice"]
