"""What commands that change something share: the audit record, and requests that come twice."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from vidscore_server.access.caller import Caller
from vidscore_server.access.tokens import is_valid
from vidscore_server.errors import RequestReusedError, UnauthenticatedError
from vidscore_server.hosting.texts import checked_text
from vidscore_server.store import Transaction
from vidscore_server.store.records import AuditRecord

SERVER = "server"
"""Who acts where no token does."""

MAXIMUM_REQUEST_ID_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Request:
    """A request that changes something.

    Attributes:
        caller: Who makes it.
        action: Name of the RPC.
        time: When.
        request_id: Chosen by the client; empty where it does not care.
        digest: Digest of the action and the whole request; the same request has the same.
    """

    caller: Caller
    action: str
    time: datetime
    request_id: str = ""
    digest: str = ""

    def audit(self, transaction: Transaction, resource: str, detail: str = "") -> None:
        """Add to the record of who did what; nothing is done for a token that has ended.

        Raises:
            UnauthenticatedError: If the caller's token has ended since the call was let in.
        """
        if self.caller.token:
            token = transaction.token(self.caller.token)
            if token is None or not is_valid(token, self.time):
                raise UnauthenticatedError("the token has ended")
        record = AuditRecord(self.time, self.caller.actor, self.action, resource, detail)
        transaction.append_audit(record)

    def once(self, transaction: Transaction, make: Callable[[], str]) -> str:
        """Make a resource, or give the name of what the same request made before.

        Args:
            transaction: Where.
            make: Makes it and gives its name.

        Raises:
            InputError: If the request's id is too long.
            RequestReusedError: If another request had that id.
        """
        if not self.request_id:
            return make()
        checked_text(self.request_id, "request_id", MAXIMUM_REQUEST_ID_LENGTH)
        before = transaction.response(self.caller.token, self.request_id)
        if before is None:
            name = make()
            response = name.encode()
            transaction.put_response(
                self.caller.token, self.request_id, self.digest, response, self.time
            )
            return name
        if before[0] != self.digest:
            raise RequestReusedError("another request had this request_id before")
        return before[1].decode()


def audit_server(
    transaction: Transaction, time: datetime, action: str, resource: str, detail: str = ""
) -> None:
    """Add what the server did on its own to the record of who did what."""
    transaction.append_audit(AuditRecord(time, SERVER, action, resource, detail))
