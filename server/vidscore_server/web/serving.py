"""Serving of pages, and of the viewer: on this machine only, until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import uvicorn

from vidscore_server.errors import ListenError
from vidscore_server.web.app import viewer_app
from vidscore_server.web.view import Links
from vidscore_server.web.viewer import Viewer

LOCALHOST = "127.0.0.1"

SECRET_BYTES = 24

SERVER_OPTIONS: Mapping[str, Any] = MappingProxyType(
    {
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "lifespan": "off",
        "ws": "none",
        "timeout_graceful_shutdown": 1,
    }
)
"""Options of uvicorn for all pages."""


def listening_socket(family: socket.AddressFamily = socket.AF_INET) -> socket.socket:
    """An unbound TCP socket for a server of pages.

    It names its protocol, so that asyncio sends the end of an answer without waiting for the client
    to acknowledge its beginning, which would take 40 ms on a keep-alive connection.
    """
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return listener


def serve_viewer(viewer: Viewer, port: int, opened: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        viewer: The pages.
        port: Port to listen on; 0 for a free one.
        opened: Called with the address of the page once it is served.

    Raises:
        ListenError: If the port is taken, or only administrators may use it.
    """
    secret = secrets.token_urlsafe(SECRET_BYTES)
    with listening_socket() as listener:
        try:
            listener.bind((LOCALHOST, port))
            listener.listen()
        except OSError as error:
            reason = error.strerror or error
            raise ListenError(
                f"cannot listen at port {port}: {reason}; choose another one, or 0 for a free one"
            ) from None
        bound = listener.getsockname()[1]
        hosts = [f"{name}:{bound}" for name in (LOCALHOST, "localhost")]
        own = replace(viewer, links=Links(base=f"/{secret}/"))
        config = uvicorn.Config(viewer_app(own, secret, hosts), **SERVER_OPTIONS)
        opened(f"http://{LOCALHOST}:{bound}/{secret}/")
        uvicorn.Server(config).run(sockets=[listener])
