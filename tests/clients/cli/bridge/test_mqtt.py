"""MQTT as the bridge sees it: messages that the broker keeps, and others."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import click
import pytest
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.reasoncodes import ReasonCode

from vidscore_cli.bridge import mqtt
from vidscore_cli.bridge.access import BrokerAccess
from vidscore_cli.bridge.choices import checked_choice
from vidscore_cli.bridge.mqtt import MqttSource, check_address
from vidscore_cli.bridge.running import source_opener
from vidscore_cli.bridge.spool import Spool
from vidscore_evaluators.errors import Fault

ACCESS = BrokerAccess(urlsplit("mqtt://host/cameras/%23"))


class Client:
    """A replacement for the library's client, which would connect."""

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: None


@pytest.fixture(autouse=True)
def client(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mqtt, "Client", lambda *_, **__: Client())


def give(source: MqttSource, *payloads: bytes, qos: int = 0) -> None:
    for number, payload in enumerate(payloads, 1):
        message: Any = SimpleNamespace(mid=number, qos=qos, payload=payload, topic="cameras/north")
        source._on_message(None, None, message)


def taken(source: MqttSource) -> list[bytes]:
    messages = source.read(0.0) or []
    assert {message.topic for message in messages} <= {"cameras/north"}
    return [message.data for message in messages]


def test_messages_that_the_broker_does_not_keep_wait_in_bounded_memory_and_are_counted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mqtt, "MOST_UNKEPT", 3)
    monkeypatch.setattr(mqtt, "MOST_UNKEPT_BYTES", 8)
    source = MqttSource(ACCESS, "bridge")
    source.open(None)
    give(source, b"a", b"b", b"c", b"d")
    give(source, b"kept", qos=1)
    assert taken(source) == [b"a", b"b", b"c", b"kept"]
    assert source.gap == 1
    give(source, b"1234", b"5678", b"9")
    assert taken(source) == [b"1234", b"5678"]
    assert source.gap == 2
    assert capsys.readouterr().err.count("published with QoS 0") == 1


def test_messages_that_the_broker_does_not_keep_wait_in_the_spool_and_survive_the_bridge(
    tmp_path: Path,
) -> None:
    source = MqttSource(ACCESS, "bridge", Spool(tmp_path / "spool", 1 << 16))
    source.open(None)
    give(source, b"a", b"b")
    give(source, b"kept", qos=1)
    first = source.read(0.0) or []
    assert [message.data for message in first] == [b"a", b"b", b"kept"]
    source.acknowledge(first[:1])
    source.close()
    again = MqttSource(ACCESS, "bridge", Spool(tmp_path / "spool", 1 << 16))
    offset = first[0].offset
    assert isinstance(offset, int)
    again.open(offset)
    assert taken(again) == [b"b"]
    give(again, b"c")
    assert taken(again) == [b"c"]
    assert taken(again) == []


def test_messages_over_the_batch_size_leave_the_spool_in_order(tmp_path: Path) -> None:
    source = MqttSource(ACCESS, "bridge", Spool(tmp_path / "spool", 1 << 20))
    source.open(None)
    payloads = [str(number).encode() for number in range(1000)]
    give(source, *payloads)
    found: list[bytes] = []
    while some := taken(source):
        found += some
    assert found == payloads


# --- faults of a subscription, or of the connection to the broker ------------------------------


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mqtt://host/cams/#", "write the wildcard # as %23"),
        ("mqtt://host/cams/#/north", "write the wildcard # as %23"),
        ("mqtt://host/#", "write the wildcard # as %23"),
        ("mqtt://host/a%23b", "found the topic a#b, expected # as its last level"),
        ("mqtt://host/a/%23/b", "expected # as its last level"),
        ("mqtt://host/a/b+/c", "and + alone in its level"),
        ("mqtt://host/a%00b", "expected a topic without the character 0"),
        ("mqtt://host/" + "a" * 65_536, "expected a topic of at most 65535 bytes"),
        ("mqtt://" + "a" * 70 + "/a", "not the name of a host"),
    ],
)
def test_an_invalid_broker_address_is_a_usage_error(url: str, told: str) -> None:
    faults: list[Fault] = []
    choice = checked_choice({"url": url, "schema": "jsonl", "name": "north"}, "", faults)
    assert faults == []
    with pytest.raises(click.UsageError) as refused:
        source_opener(choice)
    assert told in refused.value.message
    assert len(refused.value.message) < 300


@pytest.mark.parametrize("topic", ["%23", "+", "a/+/b/%23", "/a", "$share/g/a", "caf%C3%A9"])
def test_topics_with_wildcards_are_accepted(topic: str) -> None:
    check_address(BrokerAccess(urlsplit(f"mqtt://host/{topic}")))


def test_a_subscription_that_the_broker_denies_ends_the_run() -> None:
    source = MqttSource(ACCESS, "bridge")
    source._on_subscribe(None, None, 1, [ReasonCode(PacketTypes.SUBACK, "Not authorized")], None)
    with pytest.raises(click.ClickException, match=r"the subscription to cameras/# \(Not authoriz"):
        source.read(0.0)


def connected(source: MqttSource) -> None:
    client: Any = Client()
    source._on_connect(client, None, None, ReasonCode(PacketTypes.CONNACK, "Success"), None)


def failed(source: MqttSource) -> None:
    try:
        raise ConnectionRefusedError(111, "Connection refused")
    except OSError:  # As in the library, which calls it there.
        source._on_connect_fail(None, None)


def test_the_absence_of_a_broker_and_its_return_are_each_reported_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = MqttSource(ACCESS, "bridge")
    failed(source)
    failed(source)
    away = "Warning: host: the broker is away (Connection refused); trying again\n"
    assert capsys.readouterr().err == away
    connected(source)
    assert capsys.readouterr().err == "host: the broker is back\n"
    source._on_disconnect(None, None, None, "Unspecified error", None)
    failed(source)
    assert capsys.readouterr().err == away.replace(
        "Connection refused", "the connection has ended: Unspecified error"
    )
    connected(source)
    assert capsys.readouterr().err == "host: the broker is back\n"
    source.close()
    source._on_disconnect(None, None, None, "Normal disconnection", None)
    assert capsys.readouterr().err == ""


def test_a_subscription_without_messages_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Some brokers accept a subscription to topics that the user may not read."""
    monkeypatch.setattr(mqtt, "SILENT_S", 0.0)
    source = MqttSource(ACCESS, "bridge")
    source.read(0.0)
    assert capsys.readouterr().err == ""
    source._on_subscribe(None, None, 1, [ReasonCode(PacketTypes.SUBACK, "Granted QoS 1")], None)
    source.read(0.0)
    source.read(0.0)
    found = capsys.readouterr().err
    assert found.count("cameras/#: no message for") == 1
    assert "may this user read it?" in found
