"""The address at which Prometheus finds the figures."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, start_http_server

from vidscore_server.errors import ListenError
from vidscore_server.settings import ListenAddress


class MetricsEndpoint:
    """Answers HTTP requests in threads of its own.

    Args:
        address: Where to listen; plain HTTP, because the figures are no secret.
        registry: What is shown.

    Attributes:
        address: Where it listens.

    Raises:
        ListenError: If that address cannot be listened at.
    """

    def __init__(self, address: ListenAddress, registry: CollectorRegistry) -> None:
        """Listen."""
        try:
            self._server, self._thread = start_http_server(address.port, address.host, registry)
        except OSError as error:
            raise ListenError(
                f"{address} cannot be listened at for metrics: {error.strerror}"
            ) from None
        self.address = address._replace(port=self._server.server_port)

    def close(self) -> None:
        """Listen no more."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
