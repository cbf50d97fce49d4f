"""Real brokers on this machine, which keep their data when they are killed and restarted."""

from __future__ import annotations

import asyncio
import base64
import fcntl
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar

from tests.support.ports import free_port
from tests.support.requirements import missing
from tests.support.tree import ROOT
from tests.support.waiting import eventually

NATS_SERVER = "github.com/nats-io/nats-server/v2@v2.12.12"
KAFKA = "org.apache.kafka:kafka_2.13:4.1.0"
_BUILD = ROOT / "build" / "brokers"
_DOWNLOAD_S = 900


class Broker:
    """A broker in its own folder, which starts when it is created."""

    kind: ClassVar[str]

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.command = self.prepare(folder)
        self.start()

    def prepare(self, folder: Path) -> Sequence[str]:
        """Write its configuration; returns the command that starts it."""
        raise NotImplementedError

    def start(self) -> None:
        quiet = subprocess.DEVNULL
        self._process = subprocess.Popen(self.command, stdout=quiet, stderr=quiet)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def url(self, topic: str) -> str:
        """The URL of a topic for the bridge."""
        raise NotImplementedError

    def make_topic(self, topic: str) -> None:
        """Create what a bridge must find at its start; most brokers create it by themselves."""

    def publish(self, topic: str, messages: Sequence[bytes]) -> None:
        """Publish messages; the broker has them when this returns."""
        eventually(lambda: self.has_published(topic, messages))

    def has_published(self, topic: str, messages: Sequence[bytes]) -> bool:
        """Try to publish; after a failed attempt some messages may be there twice."""
        raise NotImplementedError


class Mosquitto(Broker):
    """MQTT; it saves its sessions on each change."""

    kind = "mqtt"

    def prepare(self, folder: Path) -> Sequence[str]:
        found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
        (folder / "mosquitto.conf").write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {folder}/\nautosave_interval 1\n"
            "autosave_on_changes true\nmax_queued_messages 0\nuser root\n"
        )
        return [found or missing("mosquitto"), "-c", str(folder / "mosquitto.conf")]

    def url(self, topic: str) -> str:
        return f"mqtt://127.0.0.1:{self.port}/{topic}/%23"

    def has_published(self, topic: str, messages: Sequence[bytes]) -> bool:
        from paho.mqtt import publish

        rows: list[Any] = [
            {"topic": f"{topic}/north", "payload": message, "qos": 1} for message in messages
        ]
        with suppress(OSError):
            publish.multiple(rows, hostname="127.0.0.1", port=self.port)
            return True
        return False


class Nats(Broker):
    """JetStream, with a stream for each topic."""

    kind = "nats"

    def prepare(self, folder: Path) -> Sequence[str]:
        self.publisher: dict[str, Any] = {}  # The credentials of the publisher.
        options = ("--jetstream", "--store_dir", str(folder), "--addr", "127.0.0.1")
        return [str(_nats_server()), *options, "--port", str(self.port)]

    def url(self, topic: str) -> str:
        return f"nats://127.0.0.1:{self.port}/{topic}?subject={topic}.*"

    def make_topic(self, topic: str) -> None:
        self.publish(topic, [])  # Which creates its stream.

    def has_published(self, topic: str, messages: Sequence[bytes]) -> bool:
        with suppress(Exception):  # It will be there soon.
            asyncio.run(self._publish(topic, messages))
            return True
        return False

    async def _publish(self, topic: str, messages: Sequence[bytes]) -> None:
        import nats

        address = f"nats://127.0.0.1:{self.port}"
        options: dict[str, Any] = {"allow_reconnect": False, "connect_timeout": 2}
        connection = await nats.connect(address, **options, **self.publisher)
        try:
            stream = connection.jetstream(timeout=2)
            await stream.add_stream(name=topic, subjects=[f"{topic}.*"])
            for message in messages:
                await stream.publish(f"{topic}.north", message)
        finally:
            await connection.close()


class Kafka(Broker):
    """A single node of KRaft, which is its own controller; topics have two partitions."""

    kind = "kafka"

    def prepare(self, folder: Path) -> Sequence[str]:
        self.controller_port = free_port()
        properties = folder / "server.properties"
        properties.write_text(
            "process.roles=broker,controller\nnode.id=1\n"
            f"controller.quorum.voters=1@127.0.0.1:{self.controller_port}\n{self.listeners(folder)}"
            f"controller.listener.names=CONTROLLER\nlog.dirs={folder}/data\nnum.partitions=2\n"
            "offsets.topic.replication.factor=1\noffsets.topic.num.partitions=1\n"
        )
        java = ["java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-cp", f"{_kafka_jars()}/*"]
        identity = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        tool = [*java, "kafka.tools.StorageTool", "format", "-c", str(properties)]
        # A password may begin with a dash, as an option does.
        tool.append(f"--cluster-id={identity}")
        subprocess.run(tool, check=True, capture_output=True)
        return [*java, "kafka.Kafka", str(properties)]

    def listeners(self, folder: Path) -> str:
        """The lines of its configuration that say where and how it listens."""
        del folder
        return (
            f"listeners=PLAINTEXT://127.0.0.1:{self.port},"
            f"CONTROLLER://127.0.0.1:{self.controller_port}\n"
            f"advertised.listeners=PLAINTEXT://127.0.0.1:{self.port}\n"
        )

    def url(self, topic: str) -> str:
        return f"kafka://127.0.0.1:{self.port}/{topic}"

    def has_published(self, topic: str, messages: Sequence[bytes]) -> bool:
        from confluent_kafka import Producer

        producer = Producer(
            {
                "bootstrap.servers": f"127.0.0.1:{self.port}",
                "log_level": 0,
                "message.timeout.ms": 5000,
            }
        )
        failed: list[object] = []

        def delivered(error: object, _message: object) -> None:
            failed.extend([error] if error else [])

        for number, message in enumerate(messages):
            half = int(number >= len(messages) / 2)
            producer.produce(topic, message, partition=half, on_delivery=delivered)
        return not producer.flush(10) and not failed


BROKERS: tuple[type[Broker], ...] = (Mosquitto, Nats, Kafka)


@contextmanager
def _built(name: str) -> Iterator[Path]:
    """A folder below build/, used by one process at a time."""
    _BUILD.mkdir(parents=True, exist_ok=True)
    with (_BUILD / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield _BUILD / name


def _nats_server() -> Path:
    """The NATS server, built from its Go module if necessary."""
    with _built(NATS_SERVER.rpartition("@")[2]) as folder:
        found = folder / "nats-server"
        if not found.exists():
            own = ROOT / "build" / "go-venv" / "bin"
            go = shutil.which("go") or shutil.which("go", path=own) or missing("go")
            environment = {**os.environ, "GOBIN": str(folder), "GOFLAGS": "-mod=mod"}
            _fetch([go, "install", NATS_SERVER], environment)
        return found


def _kafka_jars() -> Path:
    """Kafka's broker and its dependencies, from Maven's repository if they are missing."""
    if shutil.which("java") is None or shutil.which("mvn") is None:
        missing("java and maven")
    with _built(KAFKA.rpartition(":")[2]) as folder:
        project = folder / "pom.xml"
        if not (folder / "complete").exists():
            folder.mkdir(exist_ok=True)
            group, artefact, version = KAFKA.split(":")
            project.write_text(
                '<project xmlns="http://maven.apache.org/POM/4.0.0">'
                "<modelVersion>4.0.0</modelVersion><groupId>vidscore</groupId>"
                "<artifactId>broker</artifactId><version>1</version><dependencies><dependency>"
                f"<groupId>{group}</groupId><artifactId>{artefact}</artifactId>"
                f"<version>{version}</version></dependency></dependencies></project>"
            )
            copy = ["dependency:copy-dependencies", f"-DoutputDirectory={folder}/jars"]
            options = ["--batch-mode", "--quiet", "--file", str(project)]
            repository = f"-Dmaven.repo.local={_BUILD}/repository"
            _fetch(["mvn", *options, repository, *copy], dict(os.environ))
            (folder / "complete").touch()
        return folder / "jars"


def _fetch(command: Sequence[str], environment: dict[str, str]) -> None:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_DOWNLOAD_S, check=False
    )
    if done.returncode:
        missing(f"{command[0]}: {done.stderr[-500:] or done.stdout[-500:]}")
