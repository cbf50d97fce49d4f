"""Where a store is: a file, or the address of a database."""

from __future__ import annotations

import re
from typing import ClassVar

from vidscore_server.store.contract import StoreError

_ADDRESS = re.compile(r"postgres(?:ql)?://")
_SHOWN = re.compile(
    r"postgres(?:ql)?://(?:[^/?@]*@)?(?P<host>[^/?@]*)(?P<database>/[^?@]*)?(?:\?[^@]*)?"
)


def is_address(location: str) -> bool:
    """Whether it is a database's address, and no file."""
    return _ADDRESS.match(location) is not None


def shown_location(location: str) -> str:
    """A location as it may be shown: of an address the host and the database, nothing secret."""
    if not is_address(location):
        return location
    match = _SHOWN.fullmatch(location)
    return f"postgresql://{match['host']}{match['database'] or ''}" if match else "postgresql://"


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
