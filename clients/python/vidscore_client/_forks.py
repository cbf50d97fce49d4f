"""Processes that were forked: they have what a stream knows, and no thread that serves it."""

from __future__ import annotations

import os

from vidscore_client.errors import ClosedError


class Home:
    """The process that something with threads of its own was made in."""

    def __init__(self) -> None:
        self._process = os.getpid()

    @property
    def is_here(self) -> bool:
        """Whether it is this one."""
        return os.getpid() == self._process

    def check(self) -> None:
        """Refuse another one; before any lock, which may be held for ever there.

        Raises:
            ClosedError: If this is a process that was forked from it.
        """
        if not self.is_here:
            raise ClosedError(
                f"the stream was opened by process {self._process}, which goes on with it; this "
                f"one, {os.getpid()}, was forked from it and needs a client and a stream of its own"
            )
