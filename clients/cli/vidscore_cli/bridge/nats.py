"""NATS JetStream: a stream keeps messages until their frames are durable."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar

import click

from vidscore_cli.bridge.access import Absence, BrokerAccess, lasting_tls_error
from vidscore_cli.bridge.sources import MOST_MESSAGES, Message
from vidscore_evaluators.errors import MissingExtraError

try:
    import nats
    from nats.errors import Error as NatsError
    from nats.js.api import AckPolicy, ConsumerConfig
    from nats.js.errors import APIError, NotFoundError, ServiceUnavailableError
except ModuleNotFoundError:
    raise MissingExtraError("sources at NATS", "nats-py", "nats") from None

IN_FLIGHT = 1024
"""Maximum number of unacknowledged messages that the broker delivers."""

ACKNOWLEDGE_S = 6.0
"""Time after which the broker delivers a message again, unless progress is reported."""

_PROGRESS_S = ACKNOWLEDGE_S / 3
_PAUSE_S = 1.0
_CLOSE_S = 5.0
_UNFIT = re.compile(r"[^A-Za-z0-9_-]")


class NatsSource:
    """A durable consumer of a stream, which the broker keeps while the bridge is away.

    A message is acknowledged once its frames are durable. Until then progress is reported to the
    broker, however long the server is away. Messages that the broker delivers again after a restart
    are recognised by the numbers of their frames.

    Args:
        access: The broker, and a stream; ``?subject=cameras.*`` selects a part of it.
        durable: Name of the consumer at the broker.
    """

    offset_type: ClassVar[type] = object

    def __init__(self, access: BrokerAccess, durable: str) -> None:
        self.gap = 0
        self._access = access
        self._stream = access.topic
        self._durable = _UNFIT.sub("-", durable)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="bridge-nats", daemon=True
        )
        self._connection: Any = None
        self._subscription: Any = None
        self._progress: Any = None
        self._pending: dict[int, Any] = {}
        self._given = 0
        self._absence = Absence(access.bare_host)

    def open(self, offset: object) -> None:
        """Connect now, or as soon as the broker answers."""
        del offset
        self._thread.start()
        self._progress = asyncio.run_coroutine_threadsafe(self._keep_pending(), self._loop)

    async def _connect(self) -> None:
        """Connect and subscribe.

        Raises:
            click.ClickException: If there is no such stream.
        """
        if self._connection is None:
            access = self._access
            self._connection = await nats.connect(
                f"{'tls' if access.is_encrypted else 'nats'}://{access.bare_host}",
                user=access.user,
                password=access.read_password(),
                token=access.read_token(),
                tls=access.tls_context() if access.is_encrypted else None,
                max_reconnect_attempts=-1,
                reconnect_time_wait=_PAUSE_S,
                error_cb=self._on_error,
                disconnected_cb=self._on_disconnected,
                reconnected_cb=self._on_connected,
            )
        subject = next(iter(self._access.query.get("subject", [])), None)
        try:
            self._subscription = await self._connection.jetstream().pull_subscribe(
                subject or "",
                durable=self._durable,
                stream=self._stream,
                config=ConsumerConfig(
                    ack_policy=AckPolicy.EXPLICIT,
                    ack_wait=ACKNOWLEDGE_S,
                    max_ack_pending=IN_FLIGHT,
                    filter_subject=subject,
                ),
            )
        except NotFoundError:
            found = f"the broker has no stream {self._stream}"
            raise click.ClickException(found) from None

    def read(self, timeout_s: float) -> Sequence[Message] | None:
        """Some messages.

        Raises:
            click.ClickException: If the broker has no such stream, or refuses the connection.
        """
        messages = asyncio.run_coroutine_threadsafe(self._read(timeout_s), self._loop).result()
        self._absence.check()
        return messages

    async def _read(self, timeout_s: float) -> list[Message]:
        try:
            if self._subscription is None:
                await asyncio.wait_for(self._connect(), _CLOSE_S)
                await self._on_connected()
            found = await self._subscription.fetch(MOST_MESSAGES, timeout=timeout_s)
        except TimeoutError:
            if self._subscription is None:
                self._absence.begin(f"no answer within {_CLOSE_S:g} s")
            return []
        except (NatsError, OSError, ServiceUnavailableError) as error:
            self._absence.begin(str(error) or type(error).__name__)
            await asyncio.sleep(timeout_s)  # it is away, or about to come back
            return []
        except APIError as error:
            raise click.ClickException(f"the broker refuses: {error.description}") from None
        messages = []
        for entry in found:
            self._given += 1
            self._pending[self._given] = entry
            messages.append(Message(entry.data, entry.subject, None, self._given))
        return messages

    async def _keep_pending(self) -> None:
        """Report progress for delivered messages whose frames are not durable."""
        while True:
            await asyncio.sleep(_PROGRESS_S)
            for entry in list(self._pending.values()):
                with suppress(NatsError, OSError):
                    await entry.in_progress()

    def acknowledge(self, messages: Sequence[Message]) -> None:
        """Acknowledge messages; the broker delivers others again."""
        tokens = [message.token for message in messages]
        asyncio.run_coroutine_threadsafe(self._acknowledge(tokens), self._loop)

    async def _acknowledge(self, tokens: Sequence[object]) -> None:
        for token in tokens:
            entry = self._pending.pop(token, None)  # type: ignore[call-overload]
            if entry is not None:
                with suppress(NatsError, OSError):
                    await entry.ack()

    def close(self) -> None:
        """Disconnect; the broker keeps the consumer."""
        self._absence.close()
        if not self._thread.is_alive():
            return
        with suppress(Exception):  # the broker may be away
            asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result(_CLOSE_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _on_error(self, error: Exception) -> None:
        if "authorization" in str(error).lower():
            self._absence.refused = str(error)
        self._absence.refused = lasting_tls_error(error) or self._absence.refused
        if isinstance(error, OSError):
            self._absence.begin(error.strerror or str(error))

    async def _on_disconnected(self) -> None:
        self._absence.begin("the connection has ended")

    async def _on_connected(self) -> None:
        self._absence.end()

    async def _leave(self) -> None:
        self._progress.cancel()
        if self._connection is not None:
            await self._connection.flush(1)
            await self._connection.close()
