"""Kafka: a topic whose partitions are read from the end of the durable frames."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar

import click

from vidscore_cli.bridge.access import Absence, BrokerAccess
from vidscore_cli.bridge.sources import MOST_MESSAGES, Message
from vidscore_evaluators.errors import MissingExtraError

try:
    from confluent_kafka import (
        OFFSET_BEGINNING,
        Consumer,
        KafkaError,
        KafkaException,
        TopicCollection,
        TopicPartition,
    )
    from confluent_kafka.admin import AdminClient
except ModuleNotFoundError:
    raise MissingExtraError("sources at Kafka", "confluent-kafka", "kafka") from None

PORT = 9092
MOST_PARTITIONS = 256
"""Maximum number of partitions of a topic; every batch stores the offsets of all."""

MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
"""SASL mechanisms with a password."""

TOKEN_S = 300.0
"""Time after which a token is read again, since another program may have renewed it."""

TOPIC_ID = "topic_id"
"""Key of the topic's id, among the offsets of its partitions."""

TOPIC_LOOK_S = 0.25
"""Interval of checks of the topic's id: a topic that is deleted and created again has no messages
for longer."""

_QUEUED_KIBIBYTES = 16_384
_MOST_MESSAGE_BYTES = 1 << 20
_LOOK_S = 2.0


class KafkaSource:
    """All partitions of a topic, assigned, not subscribed.

    The server stores the offsets with the frames. They are also committed to the broker, under the
    bridge's group, for monitoring; the bridge never reads them there. A topic that was deleted and
    created again has another id, and is refused.

    Args:
        access: The broker, and a topic; ``?sasl=SCRAM-SHA-512`` chooses the mechanism of a user.
        group: Name of the group for commits.
        consumer: Creates a consumer from a configuration.
        admin: Creates a client that describes topics from it.
    """

    offset_type: ClassVar[type] = Mapping

    def __init__(
        self,
        access: BrokerAccess,
        group: str,
        consumer: Any = Consumer,
        admin: Any = AdminClient,
    ) -> None:
        self.gap = 0
        self._topic = access.topic
        self._absence = Absence(access.bare_host)
        self._topic_absence = Absence(access.bare_host, f"the topic {self._topic}")
        self._next: dict[str, int] = {}
        self._is_assigned = False
        self._look_due_s = 0.0
        self._topic_id: str | None = None
        configuration = _configuration(access, group)
        self._consumer: Any = consumer(configuration | {"error_cb": self._on_error})
        self._admin: Any = admin(configuration)

    def open(self, offset: Mapping[str, Any] | None) -> None:
        """Continue at the offsets of the partitions; those without one begin at their beginning.

        This happens once the broker answers; until then there is nothing to read.
        """
        position = dict(offset or {})
        self._topic_id = position.pop(TOPIC_ID, None)
        self._next = position

    def _assign(self) -> bool:
        partitions = self._partitions()
        if partitions is None:
            return False
        self._refuse_another_topic()
        self._consumer.assign(
            [
                TopicPartition(self._topic, number, self._next.get(str(number), OFFSET_BEGINNING))
                for number in partitions
            ]
        )
        return True

    def _refuse_another_topic(self) -> None:
        """Ask the broker for the topic's id, and compare it with the stored one.

        Raises:
            click.ClickException: If the topic is not the one that was read before.
        """
        topics = TopicCollection([self._topic])
        try:
            asked = self._admin.describe_topics(topics, request_timeout=_LOOK_S)
            found = asked[self._topic].result(2 * _LOOK_S).topic_id
        except (KafkaException, TimeoutError):
            return
        finally:
            self._look_due_s = time.monotonic() + TOPIC_LOOK_S
        if not (found.get_most_significant_bits() or found.get_least_significant_bits()):
            return  # the broker is too old to have ids of topics
        if self._topic_id not in {None, str(found)}:
            anew = f"{self._topic} was deleted and created again after frames of it became durable"
            raise click.ClickException(f"{anew}; use another submission for its new messages")
        self._topic_id = str(found)

    def _partitions(self) -> list[int] | None:
        """The topic's partitions; None if the broker does not answer."""
        try:
            topic = self._consumer.list_topics(self._topic, timeout=_LOOK_S).topics[self._topic]
        except KafkaException as error:
            self._refuse(error.args[0])
            self._consumer.poll(0)  # runs the callback for errors of the connection
            self._absence.begin(error.args[0].str())
            return None
        self._absence.end()
        if topic.error is not None:
            self._refuse(topic.error)
            self._topic_absence.begin(topic.error.str())
            return None
        self._topic_absence.end()
        if len(topic.partitions) > MOST_PARTITIONS:
            found = f"{self._topic} has {len(topic.partitions)} partitions"
            raise click.ClickException(f"{found}; at most {MOST_PARTITIONS} are read")
        return sorted(topic.partitions)

    def _on_error(self, error: Any) -> None:
        if error.code() in _LASTING:
            self._absence.refused = error.str()
        elif error.code() == KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001 - its public name
            self._absence.begin(error.str())

    def _refuse(self, error: Any) -> None:
        """End the run for an error that waiting does not end.

        Raises:
            click.ClickException: For such an error.
        """
        if error.code() in _PASSING or error.retriable():
            return
        if error.code() == KafkaError._AUTO_OFFSET_RESET:  # noqa: SLF001 - its public name
            self._refuse_another_topic()
            lost = f"{self._topic}: the broker has no message where the durable frames end"
            raise click.ClickException(f"{lost} ({error.str()}): some are lost")
        raise click.ClickException(f"the broker refuses: {error.str()}")

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages.

        Raises:
            click.ClickException: If unread messages are gone, or the broker refuses.
        """
        self._absence.check()
        self._is_assigned = self._is_assigned or self._assign()
        if not self._is_assigned:
            return []
        messages: list[Message] = []
        for found in self._consumer.consume(MOST_MESSAGES, timeout_s):
            if found.error() is not None:
                self._refuse(found.error())
                continue
            self._absence.end()
            number, offset = found.partition(), found.offset()
            self._next[str(number)] = offset + 1
            place = f"partition {number}, offset {offset}"
            messages.append(
                Message(found.value() or b"", self._topic, self._position(), place=place)
            )
        if messages and time.monotonic() >= self._look_due_s:
            self._refuse_another_topic()
        return messages

    def _position(self) -> dict[str, Any]:
        known = {} if self._topic_id is None else {TOPIC_ID: self._topic_id}
        return {**self._next, **known}

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Commit the position at the broker; nothing depends on it."""
        offsets = messages[-1].offset
        assert isinstance(offsets, Mapping)  # noqa: S101 - `read` returned it
        positions = [
            TopicPartition(self._topic, int(number), offset)
            for number, offset in offsets.items()
            if number != TOPIC_ID
        ]
        with suppress(KafkaException, RuntimeError):  # away, or the consumer is closed
            self._consumer.commit(offsets=positions, asynchronous=True)

    def close(self) -> None:
        """Leave the broker."""
        self._absence.close()
        self._consumer.close()


_LASTING = frozenset(
    {
        KafkaError._SSL,  # noqa: SLF001
        KafkaError._AUTHENTICATION,  # noqa: SLF001
    }
)
"""Errors of a connection that last as long as the configuration of broker and bridge."""

_PASSING = frozenset(
    {
        KafkaError._ALL_BROKERS_DOWN,  # noqa: SLF001 - these names are public
        KafkaError._TRANSPORT,  # noqa: SLF001
        KafkaError._TIMED_OUT,  # noqa: SLF001
        KafkaError._RESOLVE,  # noqa: SLF001
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.LEADER_NOT_AVAILABLE,
    }
)
"""Errors that end when the broker is back, or the topic is created."""


def _configuration(access: BrokerAccess, group: str) -> dict[str, object]:
    found: dict[str, object] = {
        "bootstrap.servers": f"{access.host}:{access.address.port or PORT}",
        "group.id": group,
        "enable.auto.commit": False,
        # Lost messages are an error, never skipped silently.
        "auto.offset.reset": "error",
        "queued.max.messages.kbytes": _QUEUED_KIBIBYTES,
        "fetch.message.max.bytes": _MOST_MESSAGE_BYTES,
        "reconnect.backoff.max.ms": 2_000,
        "log_level": 0,
    }
    protocol = "SSL" if access.is_encrypted else "PLAINTEXT"
    if access.tls_ca:
        found["ssl.ca.location"] = access.tls_ca
    if access.user is not None:
        found["sasl.mechanism"] = _mechanism(access)
        found["sasl.username"] = access.user
        found["sasl.password"] = access.read_password() or ""
    elif access.token is not None:
        found["sasl.mechanism"] = "OAUTHBEARER"
        found["oauth_cb"] = partial(_token, access)
    if "sasl.mechanism" in found:
        protocol = "SASL_SSL" if access.is_encrypted else "SASL_PLAINTEXT"
    return found | {"security.protocol": protocol}


def _mechanism(access: BrokerAccess) -> str:
    [mechanism] = access.query.get("sasl", ["PLAIN"])[:1]
    if mechanism not in MECHANISMS:
        expected = f"expected one of {', '.join(MECHANISMS)}"
        raise click.UsageError(f"{access.address.geturl()}: found sasl={mechanism}, {expected}")
    return mechanism


def _token(access: BrokerAccess, _configuration: str) -> tuple[str, float]:
    """The present token, and the time at which to read it again."""
    return access.read_token() or "", time.time() + TOKEN_S
