"""What deploy/ holds fits the server, itself, and the programs that read it."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.requirements import missing
from tests.support.tree import ROOT

from vidscore_cli.demo.network import ServerProcess
from vidscore_client import Health, UnavailableError, connect
from vidscore_server.settings import ENVIRONMENT_PREFIX, Settings, load_settings

DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SERVERS = {name: service for name, service in SERVICES.items() if name.startswith("server-")}
UNITS = sorted((DEPLOY / "systemd").iterdir())
HAPROXY = (DEPLOY / "haproxy.cfg").read_text("utf-8")
TIMEOUT_S = 60.0

SERVICE_KEYS = {
    "build", "cap_drop", "depends_on", "environment", "healthcheck", "image", "ports", "read_only",
    "restart", "security_opt", "stop_grace_period", "stop_signal", "tmpfs", "volumes",
}  # fmt: skip
"""Of the Compose specification, what the file uses: a mistyped key would be ignored."""


def test_the_compose_file_has_two_servers_a_database_and_a_balancer() -> None:
    assert set(SERVICES) == {"database", "server-1", "server-2", "balancer"}
    assert set(COMPOSE) - {"name", "services", "volumes"} == {"x-server"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_no_unknown_key_and_needs_only_what_is_there(name: str) -> None:
    service = SERVICES[name]
    assert set(service) <= SERVICE_KEYS
    assert set(service.get("depends_on", {})) <= set(SERVICES)
    assert re.fullmatch(r"vidscore|[a-z]+:[\w.-]+", service["image"])
    for volume in service.get("volumes", []):
        source, target, *_ = volume.split(":")
        assert target.startswith("/")
        # Certificates and passwords are the operator's; everything else is in the repository.
        known = source in {"./certificates", *COMPOSE["volumes"]}
        assert known or (DEPLOY / source).is_file(), volume


@pytest.mark.parametrize("name", SERVERS)
def test_the_settings_of_a_server_are_taken_without_insecure_listen(name: str) -> None:
    environment = SERVERS[name]["environment"]
    settings = load_settings(environment=environment)
    assert not settings.insecure_listen
    assert settings.address.port == 50051
    assert settings.store == "postgresql://vidscore@database/vidscore"
    assert environment["PGPASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    grace_s = int(SERVERS[name]["stop_grace_period"].removesuffix("s"))
    assert grace_s > Settings().drain_timeout_s


def test_no_password_stands_in_the_compose_file() -> None:
    passwords = [
        value
        for service in SERVICES.values()
        for key, value in service.get("environment", {}).items()
        if "PASSWORD" in key
    ]
    assert len(passwords) == 3
    assert all(value == "${POSTGRES_PASSWORD:?write it to deploy/.env}" for value in passwords)


def test_the_balancer_knows_exactly_the_servers() -> None:
    found = re.findall(r"^ +server (\S+) (\S+):(\d+)$", HAPROXY, re.MULTILINE)
    assert found == [(name, name, "50051") for name in SERVERS]
    assert SERVICES["balancer"]["ports"] == ["50051:50051"]
    assert re.search(r"^ +bind :50051$", HAPROXY, re.MULTILINE)


@pytest.mark.slow
def test_clients_go_on_over_the_balancer_when_a_server_stops(tmp_path: Path) -> None:
    haproxy = shutil.which("haproxy") or missing("haproxy")
    with (
        ServerProcess("--workers", "1") as one,
        ServerProcess("--workers", "1") as two,
        socket.socket() as holder,
    ):
        # Bound and not listening: the port stays ours until haproxy, which shares it, listens.
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        file = tmp_path / "haproxy.cfg"
        text = HAPROXY.replace("bind :50051", f"bind {address}")
        text = text.replace("server-1:50051", one.address).replace("server-2:50051", two.address)
        file.write_text(text)
        subprocess.run([haproxy, "-c", "-f", file], check=True, capture_output=True)
        balancer = subprocess.Popen([haproxy, "-db", "-f", file], stderr=subprocess.DEVNULL)
        try:
            _serves(address)
            one.kill()
            _serves(address)
        finally:
            balancer.send_signal(signal.SIGTERM)
            balancer.wait(TIMEOUT_S)


def _serves(address: str) -> None:
    """Wait until connections that are new go to a server, several times in a row."""
    deadline_s = time.monotonic() + TIMEOUT_S
    in_a_row = 0
    while in_a_row < 4:
        assert time.monotonic() < deadline_s
        try:
            with connect(address, timeout_s=5.0) as client:
                in_a_row = in_a_row + 1 if client.health() is Health.SERVING else 0
        except UnavailableError:
            in_a_row = 0
            time.sleep(0.1)


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_understands_a_unit(unit: Path, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze") or missing("systemd-analyze")
    for other in UNITS:  # units name each other
        text = other.read_text("utf-8").replace("/opt/vidscore/bin/vidscore", sys.executable)
        (tmp_path / other.name).write_text(text)
    ended = subprocess.run(
        [program, "verify", "--man=no", str(tmp_path / unit.name)], capture_output=True, text=True
    )
    assert (ended.returncode, ended.stderr) == (0, "")


def test_the_unit_of_the_server_names_settings_and_lets_streams_end() -> None:
    text = (DEPLOY / "systemd" / "vidscore.service").read_text("utf-8")
    names = re.findall(rf"^Environment={ENVIRONMENT_PREFIX}(\w+)=", text, re.MULTILINE)
    assert names == ["TLS_CERTIFICATE_FILE", "TLS_KEY_FILE"]
    assert {name.lower() for name in names} <= set(vars(Settings()))
    stop = re.search(r"^TimeoutStopSec=(\d+)s$", text, re.MULTILINE)
    assert stop is not None
    assert int(stop[1]) > Settings().drain_timeout_s


def test_the_backup_keeps_the_newest_fourteen(tmp_path: Path) -> None:
    """The shell commands of the unit, run as they stand."""
    text = (DEPLOY / "systemd" / "vidscore-backup.service").read_text("utf-8")
    make, prune = re.findall(r"^ExecStart=/bin/sh -c '(.+)'$", text, re.MULTILINE)
    assert "vidscore backup --tls" in make
    make = make.replace("%%", "%").replace("/opt/vidscore/bin/vidscore backup --tls", "touch")
    for day in range(10, 31):
        (tmp_path / f"site-202601{day}T000000Z.backup").touch()
    for command in (make, prune):
        subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, check=True)
    kept = sorted(path.name for path in tmp_path.iterdir())
    assert len(kept) == 14
    assert kept[:-1] == [f"site-202601{day}T000000Z.backup" for day in range(18, 31)]
    subprocess.run(["/bin/sh", "-c", prune], cwd=tmp_path, check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == kept
