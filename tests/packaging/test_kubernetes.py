"""The manifests for Kubernetes are valid for its API, and fit the server and each other.

No cluster runs them here: the schemas of the API, a package of the index, replace one.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.requirements import missing
from tests.support.tree import ROOT

from vidscore_server.settings import ENVIRONMENT_PREFIX, Settings, load_settings

FOLDER = ROOT / "deploy" / "kubernetes"
FILES = sorted(FOLDER.glob("*.yaml"))
VERSIONS = ("1.31", "1.37")
"""The oldest and the newest version that they are checked with."""


def _objects() -> Iterator[tuple[str, dict[str, Any]]]:
    for file in FILES:
        for found in yaml.safe_load_all(file.read_text("utf-8")):
            yield f"{file.stem}/{found['kind']}/{found['metadata']['name']}", found


OBJECTS = dict(_objects())
PODS = {
    name: found["spec"]["template"]
    for name, found in OBJECTS.items()
    if "template" in found["spec"]
}
SECRETS = {"vidscore-database", "vidscore-certificate", "dask-certificate"}
"""Secrets that the operator makes."""


def test_there_are_servers_a_database_dask_and_a_job_of_shards() -> None:
    assert [file.stem for file in FILES] == ["dask", "init", "postgresql", "servers", "shards"]
    assert len(PODS) == 6


@pytest.mark.parametrize("version", VERSIONS)
def test_every_object_is_valid_for_the_api_without_unknown_fields(version: str) -> None:
    try:
        import kubernetes_validate
    except ImportError:
        missing("kubernetes-validate is not installed")
    for found in OBJECTS.values():
        kubernetes_validate.validate(found, version, strict=True)


@pytest.mark.parametrize("name", PODS)
def test_a_pod_is_bounded_and_has_no_unneeded_rights(name: str) -> None:
    pod = PODS[name]["spec"]
    assert pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] is True
    [container] = pod["containers"]
    assert container["resources"]["limits"]["memory"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert container["securityContext"]["allowPrivilegeEscalation"] is False


@pytest.mark.parametrize("name", PODS)
def test_mounts_and_secrets_of_a_pod_exist(name: str) -> None:
    pod = PODS[name]["spec"]
    [container] = pod["containers"]
    volumes = {volume["name"]: volume for volume in pod.get("volumes", [])}
    claimed = OBJECTS[name]["spec"].get("volumeClaimTemplates", [])
    known = {*volumes, *(claim["metadata"]["name"] for claim in claimed)}
    assert {mount["name"] for mount in container.get("volumeMounts", [])} == known
    named = {volume["secret"]["secretName"] for volume in volumes.values() if "secret" in volume}
    named |= {
        entry["valueFrom"]["secretKeyRef"]["name"]
        for entry in container.get("env", [])
        if "valueFrom" in entry
    }
    assert named <= SECRETS
    assert not any("PASSWORD" in entry["name"] for entry in _plain(container))


def test_selectors_match_existing_pods() -> None:
    labels = [pod["metadata"]["labels"] for pod in PODS.values()]
    for name, found in OBJECTS.items():
        selector = found["spec"].get("selector")
        if selector is not None:
            assert selector.get("matchLabels", selector) in labels, name


def test_the_settings_of_the_servers_are_accepted_without_insecure_ones() -> None:
    [container] = PODS["servers/Deployment/vidscore-server"]["spec"]["containers"]
    environment = {entry["name"]: entry["value"] for entry in _plain(container)}
    settings = load_settings(environment=environment)
    assert not settings.insecure_listen
    assert not settings.insecure_executor
    assert settings.address.port == 50051
    service = OBJECTS["dask/Service/dask-scheduler"]
    [port] = service["spec"]["ports"]
    assert settings.executor == f"tls://{service['metadata']['name']}:{port['port']}"
    assert settings.store == "postgresql://vidscore@database/vidscore"
    others = {name for name in environment if not name.startswith(ENVIRONMENT_PREFIX)}
    assert all(name.startswith("DASK_DISTRIBUTED__COMM__TLS__") for name in others)
    grace_s = PODS["servers/Deployment/vidscore-server"]["spec"]["terminationGracePeriodSeconds"]
    assert grace_s > Settings().drain_timeout_s


def test_a_service_of_the_servers_name_adds_no_settings() -> None:
    """Kubernetes would add VIDSCORE_SERVER_PORT for a service "vidscore-server"."""
    assert PODS["servers/Deployment/vidscore-server"]["spec"]["enableServiceLinks"] is False


def test_a_server_that_migrates_the_store_is_given_an_hour() -> None:
    """The liveness probe, which waits for a minute, begins after the startup probe."""
    [container] = PODS["servers/Deployment/vidscore-server"]["spec"]["containers"]
    probe = container["startupProbe"]
    assert probe["tcpSocket"] == container["livenessProbe"]["tcpSocket"]
    assert probe["periodSeconds"] * probe["failureThreshold"] == 3600


def test_the_job_that_makes_a_token_is_neither_repeated_nor_called_with_the_servers() -> None:
    """It is in a file of its own, and no service or deployment selects its pod."""
    assert {name.partition("/")[0] for name in PODS if name.endswith("/vidscore-init")} == {"init"}
    labels = PODS["init/Job/vidscore-init"]["metadata"]["labels"]
    selectors = [found["spec"].get("selector", {}) for found in OBJECTS.values()]
    assert labels not in [selector.get("matchLabels", selector) for selector in selectors]


def test_only_servers_and_the_job_that_creates_the_store_can_reach_the_truth() -> None:
    policy = OBJECTS["postgresql/NetworkPolicy/database"]["spec"]
    [rule] = policy["ingress"]
    [source] = rule["from"]
    [expression] = source["podSelector"]["matchExpressions"]
    assert expression["values"] == ["vidscore-server", "vidscore-init"]
    labels = [PODS[name]["metadata"]["labels"]["app"] for name in PODS if "vidscore-" in name]
    assert set(expression["values"]) <= set(labels)


def test_each_index_of_the_job_is_a_shard() -> None:
    job = OBJECTS["shards/Job/vidscore-shards"]["spec"]
    [container] = job["template"]["spec"]["containers"]
    command = container["command"][-1]
    assert f"--shard $((JOB_COMPLETION_INDEX + 1))/{job['completions']} " in command
    said = [
        subprocess.run(
            ["sh", "-c", command.replace("vidscore", "echo", 1)],
            env={"JOB_COMPLETION_INDEX": str(index)},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for index in (0, job["completions"] - 1)
    ]
    assert "--shard 1/64 --tally tallies/0.tally" in said[0]
    assert "--shard 64/64 --tally tallies/63.tally" in said[1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dask-scheduler", "dask-worker"])
def test_dask_knows_the_options_of_its_programs(name: str) -> None:
    pytest.importorskip("distributed")
    [container] = PODS[f"dask/Deployment/{name}"]["spec"]["containers"]
    _, _, module, *options = container["command"]
    done = subprocess.run(
        [sys.executable, "-m", module, "--help"],
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    flags = [option.partition("=")[0] for option in options if option.startswith("--")]
    assert all(flag in done.stdout for flag in flags)


def test_the_page_names_every_manifest_and_secret() -> None:
    page = Path(ROOT, "docs/deployment.md").read_text("utf-8")
    assert all(f"deploy/kubernetes/{file.name}" in page for file in FILES)
    assert all(secret in page for secret in SECRETS)


def _plain(container: dict[str, Any]) -> list[dict[str, str]]:
    return [entry for entry in container.get("env", []) if "value" in entry]
