"""The location of a store is shown without its password, in every notation."""

from __future__ import annotations

import pytest

from vidscore_server.store import is_address, shown_location


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("site.db", "site.db"),
        ("/var/lib/a@b?c/site.db", "/var/lib/a@b?c/site.db"),
        ("postgresql:///site", "postgresql:///site"),
        ("postgres://me@host/site", "postgresql://host/site"),
        ("postgresql://me:hidden@host:5432/site", "postgresql://host:5432/site"),
        ("postgresql://me:hidden@one,two:1/site?x=y", "postgresql://one,two:1/site"),
        ("postgresql://host?password=hidden", "postgresql://host"),
        ("postgresql://host/site?password=hid@den", "postgresql://"),
        ("postgresql://me:hid?den@host/site", "postgresql://"),
        ("postgresql://me:hid/den@host/site", "postgresql://"),
        ("postgresql://me:hid@den@host/site", "postgresql://"),
    ],
)
def test_only_host_and_database_of_an_address_are_shown(location: str, shown: str) -> None:
    assert shown_location(location) == shown


def test_a_location_with_the_scheme_is_an_address() -> None:
    assert is_address("postgresql://")
    assert is_address("postgres://x")
    assert not is_address("postgresql.db")
    assert not is_address("./postgresql://x")
