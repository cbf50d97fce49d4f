"""MQTT: the broker keeps messages until their frames are durable."""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar, NamedTuple

import click

from vidscore_cli.bridge.access import Absence, BrokerAccess, lasting_tls_error
from vidscore_cli.bridge.sources import MOST_MESSAGES, Message
from vidscore_cli.bridge.spool import Spool
from vidscore_cli.output import say
from vidscore_evaluators.errors import MissingExtraError

try:
    from paho.mqtt.client import Client, MQTTMessage, MQTTv5
    from paho.mqtt.enums import CallbackAPIVersion
    from paho.mqtt.packettypes import PacketTypes
    from paho.mqtt.properties import Properties
except ModuleNotFoundError:
    raise MissingExtraError("sources at MQTT", "paho-mqtt", "mqtt") from None

PORT = 1883
TLS_PORT = 8883
IN_FLIGHT = 512
"""Maximum number of unacknowledged messages that the broker may send."""

MOST_UNKEPT = 4096
MOST_UNKEPT_BYTES = 64 << 20
"""Maximum messages of QoS 0, and their bytes, that wait in memory if there is no spool."""

SILENT_S = 30.0
"""Time without a message after which the user is told."""

_MOST_TOPIC_BYTES = 65_535
_SHOWN_CHARACTERS = 80
_QOS = 1
_FOR_EVER = 0xFFFFFFFF
_KEEPALIVE_S = 30


class _Token(NamedTuple):
    """Identifies a message for its acknowledgement, on the connection that delivered it."""

    connection: int
    number: int


class MqttSource:
    """A subscription of QoS 1; the broker keeps its session while the bridge is away.

    A message is acknowledged once its frames are durable. After a restart, of the broker or the
    bridge, the broker sends unacknowledged messages again; repeated frames are recognised by their
    numbers.

    The broker sends a message of QoS 0 only once, even if the server is away. Such messages wait in
    the spool or, without a spool, in bounded memory.

    Args:
        access: The broker, and a topic that may have wildcards; `check_address` accepts it.
        client_id: Name of the session at the broker.
        spool: Spool for messages of QoS 0; None for memory.
    """

    offset_type: ClassVar[type] = int

    def __init__(self, access: BrokerAccess, client_id: str, spool: Spool | None = None) -> None:
        self._lost = 0
        self._spool = spool
        self._unkept_bytes = self._unkept = 0
        self._has_warned = self._is_spool_told = False
        self._access = access
        self._topic = access.topic
        self._absence = Absence(access.bare_host)
        self._has_come = False
        self._subscribed_s: float | None = None
        # None stands for messages in the spool, and is in the queue at most once.
        self._messages: queue.SimpleQueue[Message | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._connection = 0
        self._client: Any = Client(
            CallbackAPIVersion.VERSION2, client_id=client_id, protocol=MQTTv5, manual_ack=True
        )
        self._client.on_connect = self._on_connect
        self._client.on_connect_fail = self._on_connect_fail
        self._client.on_disconnect = self._on_disconnect
        self._client.on_subscribe = self._on_subscribe
        self._client.on_message = self._on_message

    @property
    def gap(self) -> int:
        """Number of messages of QoS 0 that were lost for lack of room."""
        return self._lost + (0 if self._spool is None else self._spool.gap)

    def open(self, offset: int | None) -> None:
        """Connect now, or as soon as the broker answers."""
        if self._spool is not None:
            self._spool.open(offset)
            self._tell_spool()
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
            self._absence.refused = str(reason)
            return
        self._absence.end()
        client.subscribe(self._topic, qos=_QOS)

    def _on_subscribe(self, _client: Any, _data: Any, _mid: Any, reasons: Any, _: Any) -> None:
        failed = [str(reason) for reason in reasons if reason.is_failure]
        if failed:
            self._absence.refused = f"the subscription to {self._topic} ({failed[0]})"
        self._subscribed_s = time.monotonic()

    def _on_connect_fail(self, *_: Any) -> None:
        error = sys.exc_info()[1]
        self._absence.refused = lasting_tls_error(error) or self._absence.refused
        self._absence.begin(getattr(error, "strerror", None) or str(error))

    def _on_disconnect(self, _client: Any, _data: Any, _flags: Any, reason: Any, _: Any) -> None:
        with self._lock:
            self._connection += 1
        self._absence.begin(f"the connection has ended: {reason}")

    def _on_message(self, _client: Any, _data: Any, message: MQTTMessage) -> None:
        if message.qos:
            token = _Token(self._connection, message.mid)
            self._messages.put(Message(bytes(message.payload), message.topic, None, token))
        else:
            self._keep(bytes(message.payload), message.topic)

    def _keep(self, data: bytes, topic: str) -> None:
        """Store a message that the broker does not keep."""
        if not self._has_warned:
            self._has_warned = True
            text = "messages are published with QoS 0: the broker keeps none of them for a bridge"
            say(f"Warning: {self._topic}: {text} that is away", err=True)
        if self._spool is not None:
            self._spool.append(topic.encode() + b"\0" + data)
            self._tell_spool()
            return
        with self._lock:
            size = self._unkept_bytes + len(data)
            if self._unkept >= MOST_UNKEPT or size > MOST_UNKEPT_BYTES:
                self._lost += 1
                return
            self._unkept, self._unkept_bytes = self._unkept + 1, size
        self._messages.put(Message(data, topic))

    def _tell_spool(self) -> None:
        with self._lock:
            if self._is_spool_told:
                return
            self._is_spool_told = True
        self._messages.put(None)

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages.

        Raises:
            click.ClickException: If the broker refuses the connection.
        """
        self._absence.check()
        messages: list[Message] = []
        with suppress(queue.Empty):
            self._add(messages, self._messages.get(timeout=timeout_s))
            while len(messages) < MOST_MESSAGES:
                self._add(messages, self._messages.get_nowait())
        self._has_come = self._has_come or bool(messages)
        if not self._has_come and self._subscribed_s is not None:
            self._say_silent(time.monotonic() - self._subscribed_s)
        return messages

    def _say_silent(self, waited_s: float) -> None:
        """Report that no message arrives: some brokers accept subscriptions that they forbid."""
        if waited_s >= SILENT_S:
            self._has_come = True  # reported only once
            text = "does somebody publish to it, and may this user read it?"
            say(f"Warning: {self._topic}: no message for {SILENT_S:g} s; {text}", err=True)

    def _add(self, messages: list[Message], found: Message | None) -> None:
        """Add a message, or those in the spool."""
        if found is not None:
            if found.token is None:
                with self._lock:
                    self._unkept -= 1
                    self._unkept_bytes -= len(found.data)
            messages.append(found)
        elif self._spool is not None:
            with self._lock:
                self._is_spool_told = False
            records = self._spool.read(MOST_MESSAGES, 0.0)
            for record, end in records:
                topic, _, data = record.partition(b"\0")
                messages.append(Message(data, topic.decode(), end))
            if records:  # there may be more
                self._tell_spool()

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Acknowledge messages; those of an earlier connection are sent again anyway."""
        for message in messages:
            token = message.token
            with self._lock:
                if isinstance(token, _Token) and token.connection == self._connection:
                    self._client.ack(token.number, _QOS)
        offsets = [message.offset for message in messages if isinstance(message.offset, int)]
        if self._spool is not None and offsets:
            self._spool.release(offsets[-1])

    def close(self) -> None:
        """Disconnect; the broker keeps the session."""
        self._absence.close()
        self._client.disconnect()
        self._client.loop_stop()
        if self._spool is not None:
            self._spool.close()


def check_address(access: BrokerAccess) -> None:
    """Refuse a topic or host that MQTT cannot express.

    Raises:
        click.UsageError: If the address has such a topic or host.
    """
    topic, host = access.topic, access.host
    found = f"found the topic {topic[:_SHOWN_CHARACTERS]}"
    if len(topic.encode()) > _MOST_TOPIC_BYTES:
        expected = f"expected a topic of at most {_MOST_TOPIC_BYTES} bytes"
        raise click.UsageError(f"{found} and so on, {expected}")
    if "\0" in topic:
        raise click.UsageError(f"{found}, expected a topic without the character 0")
    levels = topic.split("/")
    if any(len(level) > 1 and set("#+") & set(level) for level in levels) or "#" in levels[:-1]:
        expected = "expected # as its last level, if at all, and + alone in its level"
        raise click.UsageError(f"{found}, {expected}")
    try:
        host.encode("idna")
    except UnicodeError as error:
        text = f"found {host[:_SHOWN_CHARACTERS]}, which is not the name of a host ({error})"
        raise click.UsageError(f"{text}, expected one such as broker.example.org") from None
