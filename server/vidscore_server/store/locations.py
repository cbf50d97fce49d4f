"""Where a store is: a file, or the address of a database."""

from __future__ import annotations

import re

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
