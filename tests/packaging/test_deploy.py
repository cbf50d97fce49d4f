"""The files of deploy/ fit the server, each other, and the programs that read them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.requirements import missing
from tests.support.tree import ROOT

from vidscore_server.settings import ENVIRONMENT_PREFIX, Settings, load_settings

DEPLOY = ROOT / "deploy"
SITE_NAME = "scores.example.org"
BASE_URL = "VIDSCORE_SERVER_WEB_BASE_URL"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text("utf-8"))
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
SERVERS = {name: service for name, service in SERVICES.items() if name.startswith("server-")}
UNITS = sorted((DEPLOY / "systemd").iterdir())
HAPROXY = (DEPLOY / "haproxy.cfg").read_text("utf-8")

SERVICE_KEYS = {
    "build", "cap_drop", "depends_on", "environment", "healthcheck", "image", "ports", "read_only",
    "restart", "security_opt", "stop_grace_period", "stop_signal", "tmpfs", "user", "volumes",
}  # fmt: skip
"""Keys of the Compose specification that the file uses: a mistyped key would be ignored."""


def test_the_compose_file_has_two_servers_a_database_and_a_balancer() -> None:
    assert set(SERVICES) == {"database", "server-1", "server-2", "balancer"}
    assert set(COMPOSE) - {"name", "networks", "services", "volumes"} == {"x-server"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_has_no_unknown_key_and_its_files_exist(name: str) -> None:
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
def test_the_settings_of_a_server_are_accepted_without_insecure_listen(name: str) -> None:
    environment = dict(SERVERS[name]["environment"])
    environment[BASE_URL] = re.sub(r"\$\{SITE_NAME:\?[^}]+\}", SITE_NAME, environment[BASE_URL])
    settings = load_settings(environment=environment)
    assert not settings.insecure_listen
    assert settings.address.port == 50051
    assert settings.store == "postgresql://vidscore@database/vidscore"
    assert settings.web_address == ("0.0.0.0", 8080)
    assert settings.web_base_url == f"https://{SITE_NAME}"
    assert environment["PGPASSWORD"].startswith("${POSTGRES_PASSWORD:?")
    grace_s = int(SERVERS[name]["stop_grace_period"].removesuffix("s"))
    assert grace_s > Settings().drain_timeout_s


def test_the_compose_file_contains_no_password() -> None:
    passwords = [
        value
        for service in SERVICES.values()
        for key, value in service.get("environment", {}).items()
        if "PASSWORD" in key
    ]
    assert len(passwords) == 3
    assert all(value == "${POSTGRES_PASSWORD:?write it to deploy/.env}" for value in passwords)


@pytest.mark.parametrize("secret", ["deploy/.env", "deploy/certificates/server.key"])
def test_git_ignores_the_secrets_of_a_deployment(secret: str) -> None:
    ignored = subprocess.run(["git", "check-ignore", "-q", secret], cwd=ROOT, check=False)
    assert ignored.returncode == 0


def test_the_balancer_knows_exactly_the_servers() -> None:
    found = re.findall(r"^ +server (\S+) (\S+):(\d+)", HAPROXY, re.MULTILINE)
    assert found == [(name, name, port) for port in ("50051", "8080") for name in SERVERS]
    bound = set(re.findall(r"^ +bind :(\d+)", HAPROXY, re.MULTILINE))
    published = dict(port.split(":") for port in SERVICES["balancer"]["ports"])
    assert published == {"50051": "50051", "443": "8443", "80": "8080"}
    assert set(published.values()) == bound


def test_servers_trust_only_the_balancer_for_the_address_of_a_browser() -> None:
    [network] = COMPOSE["networks"]["default"]["ipam"]["config"]
    trusted = {service["environment"]["FORWARDED_ALLOW_IPS"] for service in SERVERS.values()}
    assert trusted == {network["subnet"]}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_accepts_a_unit(unit: Path, tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze") or missing("systemd-analyze")
    for other in UNITS:  # Units name each other.
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
    """The shell commands of the unit, run unchanged."""
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
