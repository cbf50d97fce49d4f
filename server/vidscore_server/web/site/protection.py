"""Protection of sessions against other sites: cookies, origins, keys of forms, login attempts.

A form is accepted if its Origin header is this site's and its key is right. If a browser sends no
Origin, the key alone decides. Signing in needs no key if the Origin is this site's: there is no
session yet that another site could use.
"""

from __future__ import annotations

import hmac
import re
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from msgspec import Struct, field
from starlette.requests import Request

from vidscore_server.web.site.service import ServiceError

SESSION_COOKIE = "vidscore-session"
FORM_COOKIE = "vidscore-form"
"""Cookie of a visitor without a session, for the key of the sign-in form."""

KEY_FIELD = "csrf"

_FORM_TEXT = re.compile(r"[0-9a-f]{32}")

MOST_TRIES = 5
PAUSE_S = 60.0
MOST_HOSTS = 10_000

MOST_FORMS_OF_HOST = 100
"""Maximum number of incomplete forms of one host; files may take hours to arrive."""


class SiteAddress(Struct, frozen=True):
    """How browsers reach the site.

    Attributes:
        base_url: Address that they use, without a trailing slash; empty if it is the requested one.
        hosts: What the Host header may be; empty for anything.
        secure: Whether the site itself answers over TLS.
    """

    base_url: str = ""
    hosts: frozenset[str] = frozenset()
    secure: bool = False

    @property
    def is_secure(self) -> bool:
        """Whether browsers use TLS, to the site or to a proxy."""
        return self.secure or self.base_url.startswith("https:")

    def origin(self, request: Request) -> str:
        """Scheme, host and port of the site, in the form of an Origin header."""
        if self.base_url:
            parts = urlsplit(self.base_url)
            return f"{parts.scheme}://{parts.netloc}".lower()
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{request.headers.get('host', '')}".lower()

    def takes_host(self, host: str) -> bool:
        """Whether the site accepts a Host header."""
        return not self.hosts or host.lower() in self.hosts


def is_foreign(request: Request, address: SiteAddress) -> bool:
    """Whether a request's headers name another site as its origin."""
    origin = request.headers.get("origin")
    if origin is not None:
        return origin.lower() != address.origin(request)
    return request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}


def has_key(given: object, expected: str) -> bool:
    """Whether a form carries the right key."""
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


def form_text(request: Request) -> str:
    """The text from which form keys are made: the session, or a text from the browser's cookie."""
    session = request.cookies.get(SESSION_COOKIE, "")
    if session:
        return session
    held = request.cookies.get(FORM_COOKIE, "")
    return held if _FORM_TEXT.fullmatch(held) else ""


class Tries(Struct):
    """Limits failed sign-ins per host.

    Attributes:
        clock: Monotonic seconds.
    """

    clock: Callable[[], float] = time.monotonic
    _failed: OrderedDict[str, list[float]] = field(default_factory=OrderedDict)

    def pause_s(self, host: str) -> float:
        """Seconds for which a host must wait; 0 if it may try."""
        recent = self._recent(host)
        return 0.0 if len(recent) < MOST_TRIES else recent[0] + PAUSE_S - self.clock()

    def left(self, host: str) -> int:
        """Number of tries left to a host before a pause."""
        return max(0, MOST_TRIES - len(self._recent(host)))

    def failed(self, host: str) -> None:
        """Record a failed try."""
        self._failed[host] = [*self._recent(host), self.clock()][-MOST_TRIES:]
        self._failed.move_to_end(host)
        while len(self._failed) > MOST_HOSTS:
            self._failed.popitem(last=False)

    def _recent(self, host: str) -> list[float]:
        since = self.clock() - PAUSE_S
        return [at for at in self._failed.get(host, []) if at > since]


class UnfinishedForms(Struct):
    """Bounds the forms in transfer from one host, so that they take few connections."""

    _open: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def one_of(self, host: str) -> Iterator[None]:
        """Count a form during its transfer.

        Raises:
            ServiceError: If the host sends too many.
        """
        if self._open[host] >= MOST_FORMS_OF_HOST:
            raise ServiceError(
                "RESOURCE_EXHAUSTED",
                "FORMS",
                f"{MOST_FORMS_OF_HOST} forms of your machine, or its proxy, are being sent; "
                "try again when they are done.",
            )
        self._open[host] += 1
        try:
            yield
        finally:
            self._open[host] -= 1
            if not self._open[host]:
                del self._open[host]
