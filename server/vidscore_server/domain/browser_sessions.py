"""Sessions of browsers: a signed text that names a token and that no server stores.

A session holds no secret of its token. It ends with the token, since each call looks the token up,
and after `LIFETIME` at the latest. Every server over the same store can read it.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

LIFETIME = timedelta(days=14)
"""Time after which a browser has to sign in again."""

_NONCE_BYTES = 16
_SESSION = re.compile(r"([0-9a-f]{16})\.([0-9]{1,12})\.([0-9a-f]{32})\.([0-9a-f]{64})")


class BrowserSessions:
    """Makes and reads sessions.

    Args:
        secret: The site's secret; sessions are signed with a key derived from it.
        clock: The time.
    """

    def __init__(self, secret: bytes, clock: Callable[[], datetime]) -> None:
        self._key = hmac.digest(secret, b"browser sessions", hashlib.sha256)
        self._clock = clock

    def begin(self, token: str) -> str:
        """A new session.

        Args:
            token: Name of its token.
        """
        end = int((self._clock() + LIFETIME).timestamp())
        text = f"{token}.{end}.{secrets.token_hex(_NONCE_BYTES)}"
        return f"{text}.{self._signature(text)}"

    def token_of(self, session: str) -> str | None:
        """Name of the token of a session; None if its signature is wrong, or it has ended."""
        match = _SESSION.fullmatch(session)
        if match is None:
            return None
        signed, _, signature = session.rpartition(".")
        if not hmac.compare_digest(signature, self._signature(signed)):
            return None
        end = datetime.fromtimestamp(int(match[2]), UTC)
        return match[1] if self._clock() < end else None

    def form_key(self, session: str) -> str:
        """The key that forms of a session carry, so that no other site can send them.

        Args:
            session: The session; of a visitor without one, the text that its browser holds.
        """
        return hmac.new(self._key, b"form " + session.encode(), hashlib.sha256).hexdigest()

    def _signature(self, text: str) -> str:
        return hmac.new(self._key, b"session " + text.encode(), hashlib.sha256).hexdigest()
