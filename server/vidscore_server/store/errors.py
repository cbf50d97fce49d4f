"""Errors of a store."""

from __future__ import annotations

from typing import ClassVar

from vidscore_evaluators.errors import VidscoreError


class StoreError(VidscoreError):
    """The store failed; a retry later may succeed."""

    reason: ClassVar[str] = "STORE_UNAVAILABLE"
    retry_delay_s: ClassVar[float] = 1.0


class AlreadyExistsError(Exception):
    """The key to be inserted exists."""


class NotFoundError(Exception):
    """The row to be changed does not exist."""


class StoreFullError(StoreError):
    """The disk is full; the command had no effect, and acknowledged data is safe."""

    reason: ClassVar[str] = "STORE_FULL"


class StoreDamagedError(VidscoreError):
    """Stored data is corrupt; a retry does not help."""

    reason: ClassVar[str] = "STORE_DAMAGED"


class StoreInUseError(StoreError):
    """Another process owns the store."""

    reason: ClassVar[str] = "STORE_IN_USE"


class StoreLostError(StoreError):
    """The store takes no more writes until the server is restarted; the message says why."""

    reason: ClassVar[str] = "STORE_LOST"


class StoreMissingError(StoreError):
    """There is no store at the given location."""

    reason: ClassVar[str] = "STORE_MISSING"

    @classmethod
    def at(cls, location: str) -> StoreMissingError:
        """The error for a location, which must not hold secrets."""
        return cls(
            f"there is no store at {location}: correct the place, or create a store there, and "
            f"the first organiser's token: vidscore init --store {location}"
        )


class StoreNotEmptyError(StoreError):
    """The target store is not empty."""

    reason: ClassVar[str] = "STORE_NOT_EMPTY"


class CopyDiffersError(StoreError):
    """A copy has other digests than its source when read back."""

    reason: ClassVar[str] = "COPY_DIFFERS"
