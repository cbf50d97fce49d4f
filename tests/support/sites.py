"""New sites as copies of one site: creating the tables takes longer than most tests."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import NamedTuple

from vidscore_cli.demo.network import ServerProcess
from vidscore_server.domain.access import NewToken, new_token
from vidscore_server.domain.administration import initialise
from vidscore_server.store import Transaction, open_store_beside
from vidscore_server.store.records import AuditRecord, Role

STORE_MODE = 0o600


class Secrets(NamedTuple):
    """The secrets of a site's callers; red and blue are teams."""

    organiser: str
    red: str
    blue: str
    viewer: str


def new_site(path: Path) -> str:
    """Create a store in a file if it does not exist; returns the organiser's secret.

    All sites that are made so share one organiser's token and one secret of the site.
    """
    if path.exists():
        return initialise(path).secret
    store, secret = _made()
    _write(path, store)
    return secret


def new_site_with_teams(path: Path, now: datetime) -> Secrets:
    """Create a store if it does not exist, with new tokens of every role that an organiser made.

    The newest one has the time `now`. All sites that are made so share their tokens.
    """
    if path.exists():
        return _add_teams(path, now)
    store, secrets = _made_with_teams(now)
    _write(path, store)
    return secrets


@contextmanager
def serving(store: Path, *options: str) -> Iterator[tuple[ServerProcess, str]]:
    """A server of its own process over a new site, and its organiser's secret."""
    secret = new_site(store)
    with ServerProcess("--workers", "1", "--store", str(store), *options) as server:
        yield server, secret


def forget_site() -> None:
    """Create the next site from scratch, with other secrets."""
    _made.cache_clear()
    _made_with_teams.cache_clear()


@cache
def _made() -> tuple[bytes, str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        secret = initialise(path).secret
        return path.read_bytes(), secret


@cache
def _made_with_teams(now: datetime) -> tuple[bytes, Secrets]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "store.db")
        secrets = _add_teams(path, now)
        return path.read_bytes(), secrets


def _add_teams(path: Path, now: datetime) -> Secrets:
    organiser = new_site(path)
    actor = f"tokens/{organiser.split('_')[1]}"
    callers = ((Role.PARTICIPANT, "red"), (Role.PARTICIPANT, "blue"), (Role.VIEWER, ""))
    # At different times: otherwise lists of tokens would be in arbitrary order.
    tokens = [
        new_token(role, team, "", now - timedelta(microseconds=age))
        for age, (role, team) in zip((2, 1, 0), callers, strict=True)
    ]

    def add(transaction: Transaction) -> None:
        for token in tokens:
            _insert(transaction, token, actor)

    store = open_store_beside(str(path))
    try:
        store.submit(add).result()
    finally:
        store.close()
    return Secrets(organiser, *(token.secret for token in tokens))


def _insert(transaction: Transaction, token: NewToken, actor: str) -> None:
    record = token.record
    transaction.insert_token(record)
    resource = f"tokens/{record.token}"
    transaction.append_audit(
        AuditRecord(record.create_time, actor, "CreateToken", resource, record.role.value)
    )


def _write(path: Path, store: bytes) -> None:
    path.touch(STORE_MODE)
    path.write_bytes(store)
