"""What keeps other sites from using a visitor's session: cookies, origins, keys of forms, tries.

A form is taken where its Origin header is this site's and its key is right. A browser that sends no
Origin is judged by the key alone. Signing in needs no key where the Origin is this site's: there is
no session yet that another site could use.
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
"""Cookie of a visitor without a session, for the key of the form that begins one."""

KEY_FIELD = "csrf"

_FORM_TEXT = re.compile(r"[0-9a-f]{32}")

MOST_TRIES = 5
PAUSE_S = 60.0
MOST_HOSTS = 10_000

MOST_FORMS_OF_HOST = 100
"""Forms of one host that have begun to come and are not whole; files that come take hours."""


class SiteAddress(Struct, frozen=True):
    """How browsers reach the site.

    Attributes:
        base_url: Address that they use, without a slash at its end; empty if it is what they
            ask for.
        hosts: What the Host header may be; empty for anything.
        secure: Whether the site itself answers over TLS.
    """

    base_url: str = ""
    hosts: frozenset[str] = frozenset()
    secure: bool = False

    @property
    def is_secure(self) -> bool:
        """Whether browsers come over TLS, here or at a proxy."""
        return self.secure or self.base_url.startswith("https:")

    def origin(self, request: Request) -> str:
        """Scheme, host and port of the site, as a browser writes them in an Origin header."""
        if self.base_url:
            parts = urlsplit(self.base_url)
            return f"{parts.scheme}://{parts.netloc}".lower()
        scheme = "https" if self.secure else "http"
        return f"{scheme}://{request.headers.get('host', '')}".lower()

    def takes_host(self, host: str) -> bool:
        """Whether the site answers to a Host header."""
        return not self.hosts or host.lower() in self.hosts


def is_foreign(request: Request, address: SiteAddress) -> bool:
    """Whether a request says that it comes from another site."""
    origin = request.headers.get("origin")
    if origin is not None:
        return origin.lower() != address.origin(request)
    return request.headers.get("sec-fetch-site", "same-origin") not in {"same-origin", "none"}


def has_key(given: object, expected: str) -> bool:
    """Whether a form carries its key."""
    return isinstance(given, str) and hmac.compare_digest(given.encode(), expected.encode())


def form_text(request: Request) -> str:
    """The text behind the key of a visitor's forms: its session, or a text of its browser's own."""
    session = request.cookies.get(SESSION_COOKIE, "")
    if session:
        return session
    held = request.cookies.get(FORM_COOKIE, "")
    return held if _FORM_TEXT.fullmatch(held) else ""


class Tries(Struct):
    """Bounds how often each host may fail to sign in.

    Attributes:
        clock: Seconds that only go on.
    """

    clock: Callable[[], float] = time.monotonic
    _failed: OrderedDict[str, list[float]] = field(default_factory=OrderedDict)

    def pause_s(self, host: str) -> float:
        """Time for which a host has to wait; 0 if it may try."""
        recent = self._recent(host)
        return 0.0 if len(recent) < MOST_TRIES else recent[0] + PAUSE_S - self.clock()

    def left(self, host: str) -> int:
        """Tries that are left to a host before a pause."""
        return max(0, MOST_TRIES - len(self._recent(host)))

    def failed(self, host: str) -> None:
        """Note a try that failed."""
        self._failed[host] = [*self._recent(host), self.clock()][-MOST_TRIES:]
        self._failed.move_to_end(host)
        while len(self._failed) > MOST_HOSTS:
            self._failed.popitem(last=False)

    def _recent(self, host: str) -> list[float]:
        since = self.clock() - PAUSE_S
        return [at for at in self._failed.get(host, []) if at > since]


class UnfinishedForms(Struct):
    """Bounds the forms that come at a time from one host, so that they take few connections."""

    _open: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def one_of(self, host: str) -> Iterator[None]:
        """Count a form while it comes.

        Args:
            host: Who sends it.

        Raises:
            ServiceError: If too many come from there.
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
