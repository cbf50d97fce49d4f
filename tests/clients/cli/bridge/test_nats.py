"""NATS as the bridge sees it when there is no broker."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from tests.support.ports import free_port

from vidscore_cli.bridge.access import BrokerAccess
from vidscore_cli.bridge.nats import NatsSource


@pytest.mark.slow
def test_an_absent_broker_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    host = f"127.0.0.1:{free_port()}"
    source = NatsSource(BrokerAccess(urlsplit(f"nats://{host}/found")), "bridge")
    source.open(None)
    assert source.read(0.0) == []
    source.close()
    [told] = capsys.readouterr().err.splitlines()
    assert told.startswith(f"Warning: {host}: the broker is away (")
