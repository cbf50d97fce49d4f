"""Make a store with the first organiser's token: what `vidscore init` does."""

from __future__ import annotations

from pathlib import Path

from vidscore_server.access.tokens import NewToken, new_token
from vidscore_server.clock import utc_now
from vidscore_server.store import Transaction, open_store_beside
from vidscore_server.store.records import AuditRecord, Role

COMMENT = "made by vidscore init"


def initialise(location: str | Path, comment: str = COMMENT) -> NewToken:
    """Make the store where it is not there, and a new organiser's token in it.

    Done again it makes a further token, which is the way back in when all others are lost. A
    server may own the store meanwhile: it knows the token at once.

    Args:
        location: The store's file, or the address of its database.
        comment: What the token is for.

    Raises:
        StoreError: If the store cannot be made there, or a server of another version owns it.
    """
    now = utc_now()
    token = new_token(Role.ORGANISER, "", comment, now)

    def add(transaction: Transaction) -> None:
        transaction.insert_token(token.record)
        resource = f"tokens/{token.record.token}"
        transaction.append_audit(AuditRecord(now, "server", "init", resource))

    store = open_store_beside(str(location))
    try:
        store.submit(add).result()
    finally:
        store.close()
    return token
