"""Tokens of pages come back as they were given, and nothing else passes for one."""

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
def test_what_no_store_can_be_asked_for_is_no_token(token: str) -> None:
    with pytest.raises(InputError, match="a token of the page before"):
        read_page_token(asked(token), str, int)


@pytest.mark.parametrize("time", ["soon", "2026-01-02T03:04:05", 7])
def test_a_time_that_is_none_is_no_token(time: str | int) -> None:
    with pytest.raises(InputError, match="a token of the page before"):
        read_page_token(asked(write_page_token(time, "a")), Time, str)
