"""What the services of hosted benchmarks share."""

from __future__ import annotations

import hashlib

from google.protobuf.message import Message

from vidscore_server.access.caller import current_caller
from vidscore_server.hosting.requests import Request
from vidscore_server.hosting.site import Site


def request_of(message: Message, action: str, site: Site) -> Request:
    """A message that changes something, as who asks for what, when.

    Args:
        message: The message; its `request_id`, if it has one, makes it safe to repeat.
        action: Name of the RPC.
        site: The server's common ground.
    """
    data = f"{action}\0".encode() + message.SerializeToString(deterministic=True)
    return Request(
        caller=current_caller(),
        action=action,
        time=site.clock(),
        request_id=getattr(message, "request_id", ""),
        digest=hashlib.sha256(data).hexdigest(),
    )
