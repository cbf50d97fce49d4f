"""`vidscore bridge` with MQTT, NATS and Kafka, while each of the three processes is killed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from tests.clients.cli.bridge.brokers import BROKERS, Broker
from tests.clients.cli.bridge.test_bridge import bridging, deepstream, stopped
from tests.clients.cli.helpers import run
from tests.clients.cli.test_pipe_hosted import Environment, frame_count, host
from tests.support.varieties import mostly_nightly
from tests.support.waiting import TIMEOUT_S, eventually

from vidscore_cli.demo.network import ServerProcess

pytestmark = pytest.mark.slow

_NUMBERS = count()


@dataclass(frozen=True)
class Feed:
    """A topic of its own at a broker, and the submission it feeds."""

    broker: Broker
    environment: Environment
    name: str

    def __post_init__(self) -> None:
        self.broker.make_topic(self.name)

    @property
    def options(self) -> Sequence[str]:
        url = self.broker.url(self.name)
        source = (url, "--schema", "nvidia-json", "--sequence", "cam=street")
        return (*source, "--submission", self.name)

    def publish(self, numbers: Sequence[int]) -> None:
        messages = [json.dumps(deepstream(number)).encode() for number in numbers]
        self.broker.publish(self.name, messages)

    def durable_frames(self) -> int:
        """Number of durable frames; 0 until the bridge has begun."""
        options = ("--format", "json")
        shown = run("submission", "show", f"street/{self.name}", *options, env=self.environment)
        return 0 if shown.exit_code else int(json.loads(shown.stdout)["frame_count"])

    def durable(self, frames: int) -> None:
        eventually(lambda: self.durable_frames() >= frames)

    def subscribed(self) -> None:
        """Publish the first frame until the bridge has it: MQTT drops it without a subscriber."""

        def arrived() -> bool:
            self.publish([0])
            return self.durable_frames() > 0

        eventually(arrived)

    def ends_with_all(self) -> None:
        assert frame_count(self.environment, self.name) == (20, "receiving")


@contextmanager
def serving(folder: Path, address: str = "127.0.0.1:0") -> Iterator[ServerProcess]:
    options = ("--listen", address, "--workers", "1", "--store", str(folder / "site.db"))
    with ServerProcess(*options) as server:
        yield server


@contextmanager
def hosting(folder: Path) -> Iterator[tuple[ServerProcess, Environment]]:
    """A server with the benchmark street, and the environment that leads commands to it."""
    secret = run("init", "--store", str(folder / "site.db")).stdout.strip()
    environment = {"VIDSCORE_TOKEN": secret, "XDG_CONFIG_HOME": str(folder)}
    with serving(folder) as server:
        environment["VIDSCORE_SERVER"] = server.address
        host(environment, folder, "street")
        yield server, environment


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with hosting(tmp_path_factory.mktemp("site")) as (_, found):
        yield found


@pytest.fixture(
    scope="module", params=mostly_nightly(BROKERS), ids=[broker.kind for broker in BROKERS]
)
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    running: Broker = request.param(tmp_path_factory.mktemp(request.param.kind))
    yield running
    running.kill()


@pytest.fixture
def feed(broker: Broker, environment: Environment) -> Feed:
    return Feed(broker, environment, f"{broker.kind}-{next(_NUMBERS)}")


def test_a_killed_broker_returns_with_the_messages_that_were_not_durable(feed: Feed) -> None:
    with bridging(feed.environment, *feed.options) as process:
        feed.subscribed()
        feed.publish(range(1, 8))
        feed.durable(8)
        feed.broker.kill()
        feed.broker.start()
        feed.publish(range(8, 20))
        feed.durable(20)
        status, stderr = stopped(process)
        assert status == 0, stderr
    feed.ends_with_all()


def test_a_killed_bridge_continues_with_what_the_broker_kept_for_it(feed: Feed) -> None:
    with bridging(feed.environment, *feed.options) as process:
        feed.subscribed()
        feed.publish(range(1, 10))
        feed.durable(5)
        process.kill()
        process.wait(TIMEOUT_S)
    feed.publish(range(10, 20))
    with bridging(feed.environment, *feed.options) as process:
        feed.durable(20)
        status, stderr = stopped(process)
        assert status == 0, stderr
    feed.ends_with_all()


def test_messages_that_the_broker_has_twice_count_once(feed: Feed) -> None:
    """The bridge is killed before it can acknowledge, and all frames are published again."""
    for _ in range(2):
        with bridging(feed.environment, *feed.options) as process:
            feed.subscribed()
            feed.publish(range(20))
            feed.durable(20)
            process.kill()
            process.wait(TIMEOUT_S)
    with bridging(feed.environment, *feed.options) as process:
        assert process.stderr is not None
        assert b"20 frames durable before" in process.stderr.readline()
        feed.publish(range(20))
        status, stderr = stopped(process)
        assert status == 0, stderr
    feed.ends_with_all()


def test_a_killed_server_gets_the_messages_sent_while_it_was_away(
    broker: Broker, tmp_path: Path
) -> None:
    with hosting(tmp_path) as (first, environment):
        feed = Feed(broker, environment, f"{broker.kind}-{next(_NUMBERS)}")
        with bridging(environment, *feed.options) as process:
            feed.subscribed()
            first.kill()
            feed.publish(range(1, 12))
            with serving(tmp_path, first.address):
                feed.publish(range(12, 20))
                feed.durable(20)
                status, stderr = stopped(process)
                assert status == 0, stderr
                feed.ends_with_all()
