"""A browser session names its token for two weeks, at every server of the site."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from vidscore_server.domain.browser_sessions import BrowserSessions

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TOKEN = "0123456789abcdef"
SECRET = b"the site's"


def _sessions(now: datetime = NOON, secret: bytes = SECRET) -> BrowserSessions:
    return BrowserSessions(secret, lambda: now)


@pytest.mark.parametrize(
    ("later", "token"),
    [
        (timedelta(0), TOKEN),
        (timedelta(days=14, seconds=-1), TOKEN),
        (timedelta(days=14), None),
        (timedelta(days=400), None),
    ],
)
def test_a_session_ends_after_two_weeks(later: timedelta, token: str | None) -> None:
    session = _sessions().begin(TOKEN)
    assert _sessions(NOON + later).token_of(session) == token


def test_a_session_of_another_site_is_invalid() -> None:
    assert _sessions().token_of(_sessions(secret=b"another").begin(TOKEN)) is None


@pytest.mark.parametrize("part", range(4))
def test_a_changed_session_is_invalid(part: int) -> None:
    """Whichever part changes: its token, its end, its unique part, or the signature."""
    parts = _sessions().begin(TOKEN).split(".")
    parts[part] = ("1" if parts[part][0] != "1" else "2") + parts[part][1:]
    assert _sessions().token_of(".".join(parts)) is None


@pytest.mark.parametrize("text", ["", TOKEN, "....", "x" * 200])
def test_an_invalid_session_names_no_token(text: str) -> None:
    assert _sessions().token_of(text) is None


def test_sessions_of_one_token_differ_and_so_do_their_form_keys() -> None:
    first, second = (_sessions().begin(TOKEN) for _ in range(2))
    assert first != second
    keys = {_sessions().form_key(session) for session in (first, second)}
    assert len(keys) == 2
    assert _sessions(NOON + timedelta(days=1)).form_key(first) in keys
    assert _sessions(secret=b"another").form_key(first) not in keys


def test_the_key_of_a_form_cannot_sign_a_session() -> None:
    """A browser may hold any text, and is given the key of its forms."""
    signed = _sessions().begin(TOKEN).rpartition(".")[0]
    assert _sessions().token_of(f"{signed}.{_sessions().form_key(signed)}") is None
