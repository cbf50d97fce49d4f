"""MQTT as the bridge sees it: messages that the broker keeps, and those that it does not."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest

from vidscore_cli.bridge import mqtt
from vidscore_cli.bridge.access import BrokerAccess
from vidscore_cli.bridge.mqtt import MqttSource
from vidscore_cli.bridge.spool import Spool

ACCESS = BrokerAccess(urlsplit("mqtt://host/cameras/%23"))


class Client:
    """In the place of the library's client, which would connect."""

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
    assert capsys.readouterr().err.count("published with quality 0") == 1


def test_messages_that_the_broker_does_not_keep_wait_in_the_spool_and_outlive_the_bridge(
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


def test_more_than_is_given_at_once_comes_out_of_the_spool_in_order(tmp_path: Path) -> None:
    source = MqttSource(ACCESS, "bridge", Spool(tmp_path / "spool", 1 << 20))
    source.open(None)
    payloads = [str(number).encode() for number in range(1000)]
    give(source, *payloads)
    found: list[bytes] = []
    while some := taken(source):
        found += some
    assert found == payloads
