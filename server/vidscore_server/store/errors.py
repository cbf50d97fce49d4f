"""What can go wrong in a store."""

from __future__ import annotations

from typing import ClassVar

from vidscore_evaluators.errors import VidscoreError


class StoreError(VidscoreError):
    """The store could not do what it was asked; trying again later may help."""

    reason: ClassVar[str] = "STORE_UNAVAILABLE"
    retry_delay_s: ClassVar[float] = 1.0


class AlreadyExistsError(Exception):
    """What was to be inserted is there."""


class NotFoundError(Exception):
    """What was to be changed is not there."""


class StoreFullError(StoreError):
    """The disk is full; nothing of the command was kept, and what was acknowledged is safe."""

    reason: ClassVar[str] = "STORE_FULL"


class StoreDamagedError(VidscoreError):
    """What the store gives back is not what was put into it; trying again does not help."""

    reason: ClassVar[str] = "STORE_DAMAGED"


class StoreInUseError(StoreError):
    """Another process owns the store."""

    reason: ClassVar[str] = "STORE_IN_USE"


class StoreLostError(StoreError):
    """Nothing can be written any more until the server is started again; the text says why."""

    reason: ClassVar[str] = "STORE_LOST"


class StoreMissingError(StoreError):
    """There is no store where one was expected."""

    reason: ClassVar[str] = "STORE_MISSING"

    @classmethod
    def at(cls, location: str) -> StoreMissingError:
        """Say where, and what to do.

        Args:
            location: The store's place, as it may be shown.
        """
        return cls(
            f"there is no store at {location}: correct the place, or make a store there, with the "
            f"first organiser's token: vidscore init --store {location}"
        )


class StoreNotEmptyError(StoreError):
    """There is something in the store that was to be empty."""

    reason: ClassVar[str] = "STORE_NOT_EMPTY"


class CopyDiffersError(StoreError):
    """What was read back is not what was written."""

    reason: ClassVar[str] = "COPY_DIFFERS"
