"""Alerts by webhook: a POST of JSON, tried a bounded number of times, in the background."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from http.client import HTTPException
from typing import Any, Self
from urllib.parse import urlsplit

import click

from vidscore_cli.output import say

TIMEOUT_S = 10.0
"""Timeout of one try."""

PAUSES_S = (1.0, 5.0)
"""Pauses before the second try and the third, last one."""

MOST_WAITING = 4
"""Maximum number of waiting alerts; a further one is only reported on standard error."""

_PASSING = frozenset({408, 429, *range(500, 600)})
"""Answers after which another try makes sense."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Treats redirects as errors: nobody has allowed sending alerts elsewhere."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirect."""


def check_url(_ctx: click.Context, _parameter: click.Parameter, url: str | None) -> str | None:
    """Refuse an address that is not one of a web server.

    Raises:
        click.BadParameter: If it is none; it does not repeat the address, which may hold a secret.
    """
    if url is None:
        return None
    try:
        parts = urlsplit(url)
        fits = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits = False
    if not fits or any(sign.isspace() or not sign.isprintable() for sign in url):
        raise click.BadParameter("expected an address that begins with http:// or https://")
    return url


class Webhook:
    """Posts alerts to an address; the end of its block waits for pending ones."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._host = urlsplit(url).hostname
        self._opener = urllib.request.build_opener(_NoRedirects)
        self._posting = ThreadPoolExecutor(max_workers=1, thread_name_prefix="alert")
        self._waiting: list[Future[None]] = []
        self._given_up = threading.Event()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Deliver waiting alerts; after an interrupt, only those already being sent."""
        if kind is not None and not issubclass(kind, Exception):
            self._given_up.set()
        self._posting.shutdown(wait=True, cancel_futures=self._given_up.is_set())

    def post(self, document: Mapping[str, object]) -> None:
        """Post an alert without waiting for it; report it if it cannot be delivered."""
        self._waiting = [one for one in self._waiting if not one.done()]
        if len(self._waiting) >= MOST_WAITING:
            self._say(f"{MOST_WAITING} alerts wait for it already")
            return
        data = json.dumps(document).encode()
        self._waiting.append(self._posting.submit(self._deliver, data))

    def _deliver(self, data: bytes) -> None:
        reason = ""
        for pause_s in (0.0, *PAUSES_S):
            if self._given_up.wait(pause_s):
                break
            reason, again = self._try(data)
            if not reason:
                return
            if not again:
                break
        self._say(reason or "interrupted")

    def _try(self, data: bytes) -> tuple[str, bool]:
        """Why a try has failed, empty if it has not, and whether another makes sense."""
        headers = {"Content-Type": "application/json", "User-Agent": "vidscore"}
        request = urllib.request.Request(  # noqa: S310 - `check_url` has seen to the scheme
            self._url, data, headers, method="POST"
        )
        try:
            with self._opener.open(request, timeout=TIMEOUT_S):
                return "", False
        except urllib.error.HTTPError as error:
            error.close()
            moved = " (redirects are not followed)" if 300 <= error.code < 400 else ""
            return f"it answered {error.code}{moved}", error.code in _PASSING
        except urllib.error.URLError as error:
            return str(error.reason), True
        except (OSError, HTTPException) as error:
            return str(error) or type(error).__name__, True

    def _say(self, reason: str) -> None:
        say(f"Warning: an alert was not delivered to {self._host}: {reason}", err=True)
