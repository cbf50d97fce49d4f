"""Page tokens are read back as written, and nothing else is accepted."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

import pytest

from vidscore_evaluators.errors import InputError
from vidscore_server.api.requests import Time, read_page_token, write_page_token


def asked(token: str) -> SimpleNamespace:
    return SimpleNamespace(page_token=token)


def test_a_token_is_read_as_it_was_written() -> None:
    token = write_page_token("näme", 7)
    assert read_page_token(asked(token), str, int) == ("näme", 7)
    assert read_page_token(asked(""), str, int) is None
    now = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
    assert read_page_token(asked(write_page_token(now, "a")), Time, str) == (now, "a")


@pytest.mark.parametrize(
    "token",
    [
        "x",
        write_page_token("a"),
        write_page_token("a", "b"),
        write_page_token("a", -1),
        write_page_token("a", 1 << 63),
        write_page_token("a\0b", 1),
    ],
)
def test_a_token_that_no_store_could_have_given_is_refused(token: str) -> None:
    with pytest.raises(InputError, match="the token of the previous page"):
        read_page_token(asked(token), str, int)


@pytest.mark.parametrize("time", ["soon", "2026-01-02T03:04:05", 7])
def test_a_token_with_an_invalid_time_is_refused(time: str | int) -> None:
    with pytest.raises(InputError, match="the token of the previous page"):
        read_page_token(asked(write_page_token(time, "a")), Time, str)
