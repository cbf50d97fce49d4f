"""`vidscore bridge` with brokers that encrypt and authenticate; secrets are never shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from tests.clients.cli.bridge.brokers import Broker
from tests.clients.cli.bridge.guarded_brokers import (
    GUARDED,
    PASSWORD,
    GuardedKafka,
    TokenNats,
    unsecured_token,
)
from tests.clients.cli.bridge.test_bridge import bridging, stopped
from tests.clients.cli.bridge.test_brokers import Feed, hosting
from tests.clients.cli.test_pipe_hosted import Environment, frame_count
from tests.support.varieties import mostly_nightly
from tests.support.waiting import TIMEOUT_S

from vidscore_cli.bridge.choices import read_sources
from vidscore_evaluators.errors import InputError

_NUMBERS = count()


def sources(folder: Path, url: str, *lines: str) -> Path:
    """A file with one source."""
    path = folder / "sources.toml"
    head = ("[[sources]]", f'url = "{url}"', 'schema = "nvidia-json"', 'sequences = {"*"="street"}')
    path.write_text("\n".join([*head, *lines]) + "\n")
    return path


# --- what the file may contain ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "lines", "found"),
    [
        ("mqtt://u:hush@host/a", (), "a password in an address"),
        ("nats://host/a", ('token_env = "NOT_THERE"',), "the variable NOT_THERE, which is not set"),
        ("nats://host/a", ('token_file = "/no/such"',), "/no/such, which cannot be read"),
        ("kafka://u@host/a", ('password_env = "EMPTY"',), "EMPTY, which is empty"),
        ("kafka://host/a", ('password_env = "HUSH"',), "a password without a user"),
        ("mqtt://host/a", ('token_env = "HUSH"',), "a token for MQTT"),
        ("nats://u@host/a", ('token_env = "HUSH"',), "a token together with the user u"),
        (
            "nats://u@host/a",
            ('token_env = "HUSH"', 'password_env = "HUSH"'),
            "together with password_env",
        ),
        ("mqtt://host/a", ('tls_ca = "/no/such"',), "/no/such (No such file or directory)"),
        ("found.jsonl", ('password_env = "HUSH"',), "a source that is not a broker"),
        ("mqtt://[host/a", (), "no address"),
    ],
)
def test_invalid_credentials_are_refused_and_no_secret_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, lines: tuple[str, ...], found: str
) -> None:
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.setenv("HUSH", "hush")
    with pytest.raises(InputError) as caught:
        read_sources(sources(tmp_path, url, *lines))
    assert found in str(caught.value)
    assert "hush" not in str(caught.value)


def test_credentials_are_in_no_text_of_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HUSH", "hush")
    [choice] = read_sources(sources(tmp_path, "nats://u@host/a", 'password_env = "HUSH"'))
    assert choice.access.read_password() == "hush"
    assert "hush" not in repr(choice)


# --- real brokers ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Guarded(Feed):
    """A feed of a broker that admits nobody without a secret."""

    folder: Path

    def told(self, *lines: str, url: str = "") -> tuple[str, ...]:
        """Options of a bridge with its credentials."""
        path = sources(self.folder, url or self.broker.url(self.name), *lines)
        return "--sources", str(path), "--submission", self.name

    def takes(self, options: tuple[str, ...]) -> None:
        with bridging(self.environment, *options) as process:
            self.subscribed()
            self.publish(range(1, 5))
            self.durable(5)
            status, stderr = stopped(process)
            assert status == 0, stderr
            assert PASSWORD not in stderr
        assert frame_count(self.environment, self.name) == (5, "receiving")

    def refused(self, options: tuple[str, ...]) -> str:
        self.publish([0])  # So that there is something to refuse.
        with bridging(self.environment, *options) as process:
            _, stderr = process.communicate(timeout=TIMEOUT_S)
            assert process.returncode == 1
            return stderr.decode()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    with hosting(tmp_path_factory.mktemp("site")) as (_, found):
        yield {**found, "BROKER_PASSWORD": PASSWORD}


@pytest.fixture(scope="module", params=mostly_nightly(GUARDED), ids=[one.kind for one in GUARDED])
def guarded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Broker, Path]]:
    folder = tmp_path_factory.mktemp(request.param.kind)
    broker: Broker = request.param(folder)
    yield broker, folder
    broker.kill()


@pytest.fixture
def feed(guarded: tuple[Broker, Path], environment: Environment, tmp_path: Path) -> Guarded:
    broker, folder = guarded
    (tmp_path / "ca.pem").write_bytes((folder / "ca.pem").read_bytes())
    return Guarded(broker, environment, f"{broker.kind}-{next(_NUMBERS)}", tmp_path)


def authority(feed: Guarded) -> str:
    return f'tls_ca = "{feed.folder}/ca.pem"'


def secret(feed: Guarded, text: str, key: str = "password_file") -> str:
    path = feed.folder / "secret"
    path.write_text(f"{text}\n")
    return f'{key} = "{path}"'


@pytest.mark.slow
def test_a_bridge_authenticates_with_a_password_from_a_file(feed: Guarded) -> None:
    feed.takes(feed.told(authority(feed), secret(feed, PASSWORD)))


@pytest.mark.slow
def test_a_wrong_password_ends_the_run_and_is_not_shown(feed: Guarded) -> None:
    stderr = feed.refused(feed.told(authority(feed), secret(feed, "hush")))
    assert "the broker refuses" in stderr
    assert "hush" not in stderr


@pytest.mark.slow
def test_an_untrusted_broker_certificate_ends_the_run(feed: Guarded) -> None:
    """The broker's authority is not among those of the system."""
    stderr = feed.refused(feed.told('password_env = "BROKER_PASSWORD"'))
    assert "certificate" in stderr


@pytest.mark.nightly
def test_a_bridge_authenticates_to_nats_with_a_token(
    environment: Environment, tmp_path: Path
) -> None:
    broker = TokenNats(tmp_path)
    try:
        feed = Guarded(broker, environment, "token", tmp_path)
        feed.takes(feed.told(authority(feed), 'token_env = "BROKER_PASSWORD"'))
    finally:
        broker.kill()


@pytest.mark.nightly
@pytest.mark.parametrize("guarded", [GuardedKafka], ids=["kafka"], indirect=True)
def test_a_bridge_authenticates_to_kafka_with_a_token(feed: Guarded) -> None:
    assert isinstance(feed.broker, GuardedKafka)
    lines = (authority(feed), secret(feed, unsecured_token(), "token_file"))
    feed.takes(feed.told(*lines, url=feed.broker.token_url(feed.name)))
