"""MQTT: messages that the broker keeps until the frames of them are durable."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import click

from vidscore_cli.bridge.access import BrokerAccess, lasting_tls_error
from vidscore_cli.bridge.sources import MOST_MESSAGES, Message

try:
    from paho.mqtt.client import Client, MQTTMessage, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
except ModuleNotFoundError:
    raise click.UsageError("mqtt needs the extra mqtt: pip install 'vidscore[mqtt]'") from None

PORT = 1883
TLS_PORT = 8883
IN_FLIGHT = 512
"""Most messages that the broker may send before the first of them is acknowledged."""

_QOS = 1
_FOR_EVER = 0xFFFFFFFF
_KEEPALIVE_S = 30


class _Token(NamedTuple):
    """By which a message is acknowledged, over the connection on which it came."""

    connection: int
    number: int


class MqttSource:
    """A subscription of quality 1 whose session the broker keeps while the bridge is away.

    A message is acknowledged once its frames are durable. What the broker then does not know to be
    acknowledged it sends again, after its own restart or the bridge's; such frames are known by
    their numbers.

    Args:
        access: The broker, and a topic that may have wildcards.
        client_id: The session's name with the broker.
    """

    def __init__(self, access: BrokerAccess, client_id: str) -> None:
        self.gap = 0
        self._access = access
        self._topic = access.topic
        address = access.address
        if address.fragment:  # "#" is a wildcard of topics, and begins a fragment of addresses
            raise click.UsageError(f"{address.geturl()}: write the wildcard # as %23")
        if not self._topic:
            raise click.UsageError(f"{address.geturl()}: a topic is missing")
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._connection = 0
        self._refused: str | None = None
        self._client: Any = Client(
            CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5, manual_ack=True
        )
        self._client.on_connect = self._on_connect
        self._client.on_connect_fail = self._on_connect_fail
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message

    def open(self, offset: int | None) -> None:
        """Connect, now or as soon as the broker is there."""
        del offset
        properties: Any = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call] # its own
        properties.SessionExpiryInterval = _FOR_EVER
        properties.ReceiveMaximum = IN_FLIGHT
        access = self._access
        if access.user is not None:
            self._client.username_pw_set(access.user, access.read_password())
        if access.is_encrypted:
            self._client.tls_set_context(access.tls_context())
        self._client.reconnect_delay_set(1, 10)
        self._client.connect_async(
            access.host,
            access.address.port or (TLS_PORT if access.is_encrypted else PORT),
            _KEEPALIVE_S,
            clean_start=False,
            properties=properties,
        )
        self._client.loop_start()

    def _on_connect(self, client: Any, _data: Any, _flags: Any, reason: Any, _: Any) -> None:
        if reason.is_failure:
            self._refused = str(reason)
            return
        client.subscribe(self._topic, qos=_QOS)

    def _on_connect_fail(self, *_: Any) -> None:
        self._refused = lasting_tls_error(sys.exc_info()[1]) or self._refused

    def _on_disconnect(self, *_: Any) -> None:
        with self._lock:
            self._connection += 1

    def _on_message(self, _client: Any, _data: Any, message: MQTTMessage) -> None:
        token = _Token(self._connection, message.mid) if message.qos else None
        self._messages.put(Message(bytes(message.payload), message.topic, None, token))

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages.

        Raises:
            click.ClickException: If the broker refuses the connection.
        """
        if self._refused is not None:
            raise click.ClickException(f"the broker refuses: {self._refused}")
        messages: list[Message] = []
        with suppress(queue.Empty):
            messages.append(self._messages.get(timeout=timeout_s))
            while len(messages) < MOST_MESSAGES:
                messages.append(self._messages.get_nowait())
        return messages

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Let the broker forget messages; those of an earlier connection it sends again anyway."""
        for message in messages:
            token = message.token
            with self._lock:
                if isinstance(token, _Token) and token.connection == self._connection:
                    self._client.ack(token.number, _QOS)

    def close(self) -> None:
        """Leave the broker; it keeps the session."""
        self._client.disconnect()
        self._client.loop_stop()
