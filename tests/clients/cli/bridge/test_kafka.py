"""Kafka as the bridge sees it, with a fake consumer that acts like a broker."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, Uuid

from vidscore_cli.bridge.access import BrokerAccess, Secret
from vidscore_cli.bridge.kafka import MOST_PARTITIONS, KafkaSource
from vidscore_cli.bridge.sources import Message

AWAY = KafkaError(KafkaError._TRANSPORT)


class Given:
    """One message of the consumer: bytes, or an error."""

    def __init__(self, partition: int, offset: int, value: bytes | KafkaError) -> None:
        self._partition, self._offset, self._value = partition, offset, value

    def partition(self) -> int:
        return self._partition

    def offset(self) -> int:
        return self._offset

    def error(self) -> KafkaError | None:
        return self._value if isinstance(self._value, KafkaError) else None

    def value(self) -> bytes | None:
        return None if isinstance(self._value, KafkaError) else self._value


class Consumer:
    """Returns the given messages, and records its calls."""

    def __init__(self, partitions: int, *rounds: list[Given]) -> None:
        self.rounds = list(rounds)
        self.partitions = partitions
        self.listings: list[KafkaError] = []
        self.topic_errors: list[KafkaError] = []
        self.assigned: list[tuple[int, int]] = []
        self.committed: dict[int, int] = {}
        self.configuration: dict[str, object] = {}

    def __call__(self, configuration: dict[str, object]) -> Consumer:
        self.configuration = configuration
        return self

    def list_topics(self, topic: str, timeout: float) -> SimpleNamespace:
        assert timeout > 0
        if self.listings:
            raise KafkaException(self.listings.pop())
        error = self.topic_errors.pop() if self.topic_errors else None
        found = SimpleNamespace(error=error, partitions=dict.fromkeys(range(self.partitions)))
        return SimpleNamespace(topics={topic: found})

    def poll(self, timeout_s: float) -> None:
        del timeout_s

    def assign(self, partitions: list[Any]) -> None:
        self.assigned = [(entry.partition, entry.offset) for entry in partitions]

    def consume(self, most: int, timeout_s: float) -> list[Given]:
        del most, timeout_s
        return self.rounds.pop(0) if self.rounds else []

    def commit(self, *, offsets: list[Any], asynchronous: bool) -> None:
        assert asynchronous
        self.committed = {entry.partition: entry.offset for entry in offsets}


class Admin:
    """Returns the given topic ids in turn, then the last one; 0 like a broker without ids."""

    def __init__(self, *topic_ids: int) -> None:
        self._topic_ids = list(topic_ids)

    def __call__(self, _configuration: dict[str, object]) -> Admin:
        return self

    def describe_topics(self, _topics: Any, *, request_timeout: float) -> dict[str, Future[Any]]:
        assert request_timeout > 0
        answer: Future[Any] = Future()
        topic_id = self._topic_ids.pop(0) if len(self._topic_ids) > 1 else self._topic_ids[0]
        answer.set_result(SimpleNamespace(topic_id=Uuid(0, topic_id)))
        return {"found": answer}


def source(
    consumer: Consumer, url: str = "kafka://host/found", topic_id: int = 0, **more: Any
) -> KafkaSource:
    return KafkaSource(BrokerAccess(urlsplit(url), **more), "bridge", consumer, Admin(topic_id))


def test_partitions_continue_at_their_stored_offsets_and_new_ones_at_the_beginning() -> None:
    consumer = Consumer(3)
    opened = source(consumer)
    opened.open({"0": 7, "2": 5})
    assert opened.read(0.0) == []
    assert consumer.assigned == [(0, 7), (1, OFFSET_BEGINNING), (2, 5)]


def test_each_message_has_the_offsets_of_all_partitions_after_it() -> None:
    consumer = Consumer(2, [Given(0, 7, b"a"), Given(1, 3, b"b"), Given(0, 8, b"c")])
    opened = source(consumer)
    opened.open({"0": 7})
    read = opened.read(0.0) or []
    assert [(message.data, message.offset) for message in read] == [
        (b"a", {"0": 8}),
        (b"b", {"0": 8, "1": 4}),
        (b"c", {"0": 9, "1": 4}),
    ]
    opened.acknowledge(read[:2])
    assert consumer.committed == {0: 8, 1: 4}


def test_a_recreated_topic_is_refused_and_the_same_one_continues() -> None:
    first = source(Consumer(1, [Given(0, 7, b"a")]), topic_id=1)
    first.open({"0": 7})
    [message] = first.read(0.0) or []
    consumer = Consumer(1, [Given(0, 8, b"b")])
    same = source(consumer, topic_id=1)
    same.open(message.offset)  # type: ignore[arg-type]
    assert [found.data for found in same.read(0.0) or []] == [b"b"]
    same.acknowledge([message])
    assert (consumer.assigned, consumer.committed) == ([(0, 8)], {0: 8})
    untold = source(Consumer(1), topic_id=0)
    untold.open(message.offset)  # type: ignore[arg-type]
    assert untold.read(0.0) == []
    anew = source(Consumer(1), topic_id=2)
    anew.open(message.offset)  # type: ignore[arg-type]
    with pytest.raises(click.ClickException, match="found was deleted and created again"):
        anew.read(0.0)


@pytest.mark.parametrize(
    "found", [Given(0, 8, b"b"), Given(0, 8, KafkaError(KafkaError._AUTO_OFFSET_RESET))]
)
def test_a_topic_recreated_during_a_run_is_refused(
    found: Given, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of its messages is returned."""
    monkeypatch.setattr("vidscore_cli.bridge.kafka.TOPIC_LOOK_S", 0.0)
    consumer = Consumer(1, [Given(0, 7, b"a")], [found])
    access = BrokerAccess(urlsplit("kafka://host/found"))
    opened = KafkaSource(access, "bridge", consumer, Admin(1, 1, 2))
    opened.open(None)
    assert [message.data for message in opened.read(0.0) or []] == [b"a"]
    with pytest.raises(click.ClickException, match="found was deleted and created again"):
        opened.read(0.0)


def test_an_absent_broker_is_waited_for_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    consumer = Consumer(1, [Given(0, -1, AWAY), Given(0, 0, b"a")])
    consumer.listings = [AWAY, AWAY]
    opened = source(consumer)
    opened.open(None)
    assert opened.read(0.0) == opened.read(0.0) == []
    away = "Warning: host: the broker is away ({}); trying again\n"
    assert capsys.readouterr().err == away.format(AWAY.str())
    assert opened.read(0.0) == [Message(b"a", "found", {"0": 1}, place="partition 0, offset 0")]
    assert capsys.readouterr().err == "host: the broker is back\n"
    opened._on_error(KafkaError(KafkaError._ALL_BROKERS_DOWN))
    assert capsys.readouterr().err.startswith("Warning: host: the broker is away (")


def test_a_missing_topic_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    consumer = Consumer(1)
    consumer.topic_errors = [KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART)]
    opened = source(consumer)
    opened.open(None)
    assert opened.read(0.0) == []
    assert capsys.readouterr().err.startswith("Warning: host: the topic found is away (")
    assert opened.read(0.0) == []
    assert capsys.readouterr().err == "host: the topic found is back\n"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (KafkaError._AUTO_OFFSET_RESET, "no message where the durable frames end"),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, "the broker refuses"),
    ],
)
def test_an_error_that_waiting_cannot_cure_ends_the_run(code: int, told: str) -> None:
    opened = source(Consumer(1, [Given(0, 5, KafkaError(code))]))
    opened.open({"0": 5})
    with pytest.raises(click.ClickException, match=told):
        opened.read(0.0)


def test_more_partitions_than_a_position_can_hold_are_refused() -> None:
    opened = source(Consumer(MOST_PARTITIONS + 1))
    opened.open(None)
    with pytest.raises(click.ClickException, match="has 257 partitions; at most 256 are read"):
        opened.read(0.0)


@pytest.mark.parametrize(
    ("url", "protocol"),
    [
        ("kafka://host/found", "PLAINTEXT"),
        ("kafka://host/found?tls=1", "SSL"),
        ("kafka://u%40@host:1/found", "SASL_PLAINTEXT"),
        ("kafka://u%40@host:1/found?tls=1", "SASL_SSL"),
    ],
)
def test_the_address_decides_how_the_connection_is_made(
    url: str, protocol: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET", "p@")
    consumer = Consumer(1)
    source(consumer, url, password=Secret("password_env", "SECRET"))
    assert consumer.configuration["security.protocol"] == protocol
    if "SASL" in protocol:
        assert consumer.configuration["sasl.username"] == "u@"
        assert consumer.configuration["sasl.password"] == "p@"
        assert consumer.configuration["bootstrap.servers"] == "host:1"
    else:
        assert consumer.configuration["bootstrap.servers"] == "host:9092"


def test_scram_is_accepted_and_unknown_mechanisms_are_refused() -> None:
    consumer = Consumer(1)
    source(consumer, "kafka://u@host/found?sasl=SCRAM-SHA-512")
    assert consumer.configuration["sasl.mechanism"] == "SCRAM-SHA-512"
    with pytest.raises(click.UsageError, match="found sasl=GSSAPI, expected one of PLAIN"):
        source(consumer, "kafka://u@host/found?sasl=GSSAPI")


def test_a_token_renewed_by_another_program_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "token"
    consumer = Consumer(1)
    source(consumer, token=Secret("token_file", str(file)))
    give: Any = consumer.configuration["oauth_cb"]
    for token in ("first", "second"):
        file.write_text(f"{token}\n")
        assert give("")[0] == token
