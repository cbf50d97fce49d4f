"""Let an asyncio call end with the server's status, which grpc may replace by its own.

If a write fails because the server has just ended the call, grpc reports INTERNAL, "Internal error
from Core" (https://github.com/grpc/grpc/issues/36066). The SDK still reports the server's status;
tests that call without the SDK need this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from grpc.aio import _call


class _OwnStatus:
    """A call that ends with the server's status only; after a failed write, grpc waits for that."""

    def __init__(self, call: Any) -> None:
        self._call = call

    def __getattr__(self, name: str) -> Any:
        return getattr(self._call, name)

    def set_internal_error(self, text: str) -> None:
        """Ignore the error."""


@contextmanager
def servers_own_status() -> Iterator[None]:
    """Make calls in this block end with the status that their server sends."""
    make = _call.Call.__init__

    def make_with_own_status(call: Any, inner: Any, *arguments: Any) -> None:
        make(call, _OwnStatus(inner), *arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_call.Call, "__init__", make_with_own_status)
        yield
