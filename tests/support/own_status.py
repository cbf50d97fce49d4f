"""The status that a server ends an asyncio call with, where grpc puts one of its own in its place.

A write that fails because the server has just ended the call makes grpc say INTERNAL, "Internal
error from Core" (https://github.com/grpc/grpc/issues/36066). The SDK tells the server's status all
the same; tests that call without it need this.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from grpc.aio import _call


class _OwnStatus:
    """A call that leaves its status to the server; after a failed write grpc waits for that."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def set_internal_error(self, text: str) -> None:
        """Do not."""


@contextmanager
def servers_own_status() -> Iterator[None]:
    """Let calls that are made in this block end with the status that their server sends."""
    make = _call.Call.__init__

    def make_with_own_status(call: Any, inner: Any, *arguments: Any) -> None:
        make(call, _OwnStatus(inner), *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_call.Call, "__init__", make_with_own_status)
        yield
