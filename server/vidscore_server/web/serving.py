"""Serving the viewer on this machine alone, until it is interrupted."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from vidscore_server.web.app import viewer_app
from vidscore_server.web.links import Links
from vidscore_server.web.viewer import Viewer

LOCALHOST = "127.0.0.1"

SECRET_BYTES = 24


def serve_viewer(viewer: Viewer, port: int, opened: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM.

    Args:
        viewer: The pages.
        port: Port to listen on; 0 for a free one.
        opened: Called with the address of the page once it can be asked for.

    Raises:
        OSError: If the port is taken.
    """
    secret = secrets.token_urlsafe(SECRET_BYTES)
    # With the protocol said, asyncio sends the end of an answer without waiting for the client to
    # acknowledge its beginning, which takes 40 ms on a connection that is kept.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((LOCALHOST, port))
        listener.listen()
        bound = listener.getsockname()[1]
        hosts = [f"{name}:{bound}" for name in (LOCALHOST, "localhost")]
        own = replace(viewer, links=Links(base=f"/{secret}/"))
        config = uvicorn.Config(
            viewer_app(own, secret, hosts),
            log_config=None,
            access_log=False,
            server_header=False,
            lifespan="off",
            ws="none",
            timeout_graceful_shutdown=1,
        )
        opened(f"http://{LOCALHOST}:{bound}/{secret}/")
        uvicorn.Server(config).run(sockets=[listener])
