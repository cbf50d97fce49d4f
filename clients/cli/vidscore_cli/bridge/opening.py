"""From the address of a source to the source."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import click

from vidscore_cli.bridge.choices import SourceChoice
from vidscore_cli.bridge.recordings import RecordingSource, is_recording
from vidscore_cli.bridge.sources import ByteSource, DatagramSource, SocketSource, Source
from vidscore_cli.bridge.spool import Spool
from vidscore_evaluators.feeds import schema_of_name

_MEBIBYTE = 1 << 20


def open_source(choice: SourceChoice, client_id: str) -> Source:
    """The source that was chosen.

    Args:
        choice: Where it is, and how it is read.
        client_id: Under which name a broker knows this bridge.

    Raises:
        click.UsageError: If there is no such kind of source.
    """
    url, schema = choice.url, schema_of_name(choice.schema)
    address = urlsplit(url)
    is_file = address.scheme in {"", "file"} or "://" not in url
    path = address.path if address.scheme == "file" else url
    if is_file and is_recording(Path(path)):
        return RecordingSource(Path(path), choice.topics, schema.message_types)
    if choice.topics:
        raise click.UsageError(f"{url}: topics are chosen only of recordings")
    spool = None
    if choice.spool and (is_file or address.scheme not in {"udp", "mqtt"}):
        raise click.UsageError(f"{url}: what comes from there waits by itself, without a --spool")
    if choice.spool:
        spool = Spool(Path(choice.spool), choice.spool_mebibytes * _MEBIBYTE)
    if is_file:
        return ByteSource(path, schema.framing)
    if address.scheme in {"tcp", "unix"}:
        return SocketSource(address, schema.framing)
    if address.scheme == "udp":
        if spool is None:
            raise click.UsageError(f"{url}: datagrams cannot wait: name a --spool file")
        return DatagramSource(address, spool)
    if address.scheme in {"mqtt", "nats", "kafka"}:
        return _broker(choice, address.scheme, client_id, spool)
    expected = "expected file, tcp, unix, udp, mqtt, nats or kafka"
    raise click.UsageError(f"{url}: found the scheme {address.scheme}, {expected}")


def _broker(choice: SourceChoice, scheme: str, client_id: str, spool: Spool | None) -> Source:
    """The source at a broker, whose library is imported only here."""
    if scheme == "nats":
        from vidscore_cli.bridge.nats import NatsSource

        return NatsSource(choice.access, client_id)
    if scheme == "kafka":
        from vidscore_cli.bridge.kafka import KafkaSource

        return KafkaSource(choice.access, client_id)
    from vidscore_cli.bridge.mqtt import MqttSource

    if "#" in choice.url:  # a wildcard of topics begins a fragment of addresses, even an empty one
        raise click.UsageError(f"{choice.url}: write the wildcard # as %23")
    return MqttSource(choice.access, client_id, spool)
