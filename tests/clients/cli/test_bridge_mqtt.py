"""`vidscore bridge` from MQTT: the broker, the bridge and the server are killed, each in turn.

The broker is mosquitto, which saves its sessions on each change.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.clients.cli.helpers import run
from tests.clients.cli.test_bridge import (
    bridging,
    deepstream,
    free_port,
    stopped,
)
from tests.clients.cli.test_pipe_hosted import Environment, frame_count, host
from tests.support.requirements import missing
from tests.support.waiting import TIMEOUT_S, eventually

from vidscore_cli.demo.network import ServerProcess

pytestmark = pytest.mark.slow

TOPIC = "cameras/north"


class Broker:
    """A mosquitto that keeps its sessions in a folder, so that it comes back with them."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._command = [_mosquitto(), "-c", str(folder / "mosquitto.conf")]
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {folder}/\nautosave_interval 1\n"
            "autosave_on_changes true\nmax_queued_messages 0\nuser root\n"
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self._process = subprocess.Popen(
            self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def publish(self, numbers: Sequence[int]) -> None:
        """Publish frames; the broker has them when this returns."""
        from paho.mqtt import publish

        rows: list[Any] = [
            {"topic": TOPIC, "payload": json.dumps(deepstream(number)), "qos": 1}
            for number in numbers
        ]

        def published() -> bool:
            with suppress(OSError):
                publish.multiple(rows, hostname="127.0.0.1", port=self.port)
                return True
            return False

        eventually(published)


def _mosquitto() -> str:
    return (
        shutil.which("mosquitto")
        or shutil.which("mosquitto", path="/usr/sbin")
        or missing("mosquitto")
    )


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    folder = tmp_path / "broker"
    folder.mkdir()
    running = Broker(folder)
    running.start()
    yield running
    running.kill()


@contextmanager
def serving(folder: Path, address: str = "127.0.0.1:0") -> Iterator[ServerProcess]:
    options = ("--listen", address, "--workers", "1", "--store", str(folder / "site.db"))
    with ServerProcess(*options) as server:
        yield server


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    secret = run("init", "--store", str(tmp_path / "site.db")).stdout.strip()
    return {"VIDSCORE_TOKEN": secret, "XDG_CONFIG_HOME": str(tmp_path)}


def options(broker: Broker) -> Sequence[str]:
    url = f"mqtt://127.0.0.1:{broker.port}/cameras/%23"
    return (url, "--schema", "nvidia-json", "--sequence", "cam=street", "--submission", "mqtt")


def durable_frames(environment: Environment) -> int:
    """Frames that are durable; none as long as the bridge has not begun."""
    shown = run("submission", "show", "street/mqtt", "--format", "json", env=environment)
    return 0 if shown.exit_code else int(json.loads(shown.stdout)["frame_count"])


def durable(environment: Environment, count: int) -> None:
    eventually(lambda: durable_frames(environment) >= count)


def subscribed(broker: Broker, environment: Environment) -> None:
    """Publish the first frame until the bridge has it: before it subscribes nobody keeps it."""

    def arrived() -> bool:
        broker.publish([0])
        return durable_frames(environment) > 0

    eventually(arrived)


def test_a_killed_broker_comes_back_with_what_was_not_durable(
    broker: Broker, environment: Environment, tmp_path: Path
) -> None:
    with serving(tmp_path) as server:
        environment["VIDSCORE_SERVER"] = server.address
        host(environment, tmp_path, "street")
        with bridging(environment, *options(broker)) as process:
            subscribed(broker, environment)
            broker.publish(range(1, 8))
            durable(environment, 8)
            broker.kill()
            broker.start()
            broker.publish(range(8, 20))
            durable(environment, 20)
            status, stderr = stopped(process)
            assert status == 0, stderr
        assert frame_count(environment, "mqtt") == (20, "receiving")


def test_a_killed_bridge_goes_on_with_what_the_broker_has_kept_for_it(
    broker: Broker, environment: Environment, tmp_path: Path
) -> None:
    with serving(tmp_path) as server:
        environment["VIDSCORE_SERVER"] = server.address
        host(environment, tmp_path, "street")
        with bridging(environment, *options(broker)) as process:
            subscribed(broker, environment)
            broker.publish(range(1, 10))
            durable(environment, 5)
            process.kill()
            process.wait(TIMEOUT_S)
        broker.publish(range(10, 20))
        with bridging(environment, *options(broker)) as process:
            durable(environment, 20)
            status, stderr = stopped(process)
            assert status == 0, stderr
        assert frame_count(environment, "mqtt") == (20, "receiving")


def test_what_the_broker_sends_again_is_not_counted_twice(
    broker: Broker, environment: Environment, tmp_path: Path
) -> None:
    """The bridge is killed before it can acknowledge: all are sent again, and known again."""
    with serving(tmp_path) as server:
        environment["VIDSCORE_SERVER"] = server.address
        host(environment, tmp_path, "street")
        for _ in range(2):
            with bridging(environment, *options(broker)) as process:
                subscribed(broker, environment)
                broker.publish(range(20))
                durable(environment, 20)
                process.kill()
                process.wait(TIMEOUT_S)
        with bridging(environment, *options(broker)) as process:
            assert process.stderr is not None
            assert b"20 frames durable before" in process.stderr.readline()
            broker.publish(range(20))
            status, stderr = stopped(process)
            assert status == 0, stderr
        assert frame_count(environment, "mqtt") == (20, "receiving")


def test_a_killed_server_gets_what_came_while_it_was_away(
    broker: Broker, environment: Environment, tmp_path: Path
) -> None:
    with serving(tmp_path) as first:
        environment["VIDSCORE_SERVER"] = address = first.address
        host(environment, tmp_path, "street")
        with bridging(environment, *options(broker)) as process:
            subscribed(broker, environment)
            first.kill()
            broker.publish(range(1, 12))
            with serving(tmp_path, address):
                broker.publish(range(12, 20))
                durable(environment, 20)
                status, stderr = stopped(process)
                assert status == 0, stderr
                assert frame_count(environment, "mqtt") == (20, "receiving")
