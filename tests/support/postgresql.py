"""A PostgreSQL of the tests' own: a cluster in a temporary folder, reached over a socket in it."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.support.requirements import missing

USER = "vidscore"
TIMEOUT_S = 120

FAST = ("fsync=off", "full_page_writes=off")
"""Settings under which a crash of the machine, which no test can cause, would lose data."""

_numbers = count(1)


class Cluster:
    """A database server that a test may stop and start.

    Args:
        folder: Where it keeps everything; its own.
        settings: Settings of PostgreSQL.

    Attributes:
        folder: Where it keeps everything, its socket too.
    """

    def __init__(self, folder: Path, settings: tuple[str, ...] = ()) -> None:
        """Make it; it does not run yet."""
        self.folder = folder
        self._programs = _programs()
        self._user = _unprivileged_user()
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        # An ICU locale orders names by language, as many a site's database does.
        locale = ("--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US", "--no-sync")
        self._run("initdb", f"--username={USER}", "--auth=trust", *locale)
        own = ("listen_addresses=''", f"unix_socket_directories='{folder}'", "shared_buffers=16MB")
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{setting}\n" for setting in (*own, *settings))

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = self.folder / "log"
        self._run("pg_ctl", "start", "--wait", f"--timeout={TIMEOUT_S}", f"--log={log}")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; in the mode ``immediate`` as if it had been killed."""
        self._run("pg_ctl", "stop", "--wait", f"--timeout={TIMEOUT_S}", f"--mode={mode}")

    def start_as_standby(self) -> None:
        """Start it, stopped before, as a standby that can be read alone, until `promote`."""
        signal = self.folder / "data" / "standby.signal"
        signal.touch()
        if self._user is not None:
            os.chown(signal, self._user.pw_uid, self._user.pw_gid)
        self.start()

    def promote(self) -> None:
        """Let a standby be written to; waits until it can be."""
        with self.connect("postgres") as connection:
            done = connection.execute("SELECT pg_promote()").fetchone()
            assert done == (True,)

    def address(self, database: str, **parameters: str) -> str:
        """Address of a database in it."""
        extra = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql://{USER}@/{database}?host={self.folder}{extra}"

    def database(self, options: str = "") -> str:
        """Make a database; gives its address."""
        name = f"site{next(_numbers)}"
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name} {options}".encode())
        return self.address(name)

    def connect(self, database: str) -> psycopg.Connection[Any]:
        """A connection of the test's own; every statement counts at once."""
        return psycopg.connect(self.address(database), autocommit=True)

    def _run(self, program: str, *arguments: str) -> None:
        # By a program of its own, not by `subprocess`: that would fork this process, which gRPC's
        # threads do not always outlive.
        drop = [] if self._user is None else _dropping(self._user)
        command = [*drop, str(self._programs / program), f"--pgdata={self.folder / 'data'}"]
        # Into a file: the server that pg_ctl leaves behind would hold a pipe open for ever.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                [*command, *arguments], stdout=said, stderr=said, cwd=self.folder, timeout=TIMEOUT_S
            )
            said.seek(0)
            assert done.returncode == 0, said.read().decode()


@contextmanager
def running_cluster(*settings: str) -> Iterator[Cluster]:
    """A cluster that runs, and is gone afterwards."""
    # Not pytest's folder: its path is too long for a socket, and closed to other users.
    with tempfile.TemporaryDirectory(prefix="vidscore-pg-") as folder:
        cluster = Cluster(Path(folder), settings)
        cluster.start()
        try:
            yield cluster
        finally:
            cluster.stop("immediate")


def _programs() -> Path:
    """Folder of the newest PostgreSQL of this machine."""
    found = shutil.which("initdb")
    if found is not None:
        return Path(found).resolve().parent
    installed = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"),
        key=lambda path: float(path.parent.parent.name),
    )
    if not installed:
        missing("PostgreSQL's programs are not installed (Debian: postgresql)")
    return installed[-1].parent


def _dropping(user: pwd.struct_passwd) -> list[str]:
    """What runs a command as a user."""
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _unprivileged_user() -> pwd.struct_passwd | None:
    """Who runs it where we are root, which PostgreSQL refuses."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """A cluster for every test of a process; fast, because nothing of it is to outlive a crash."""
    with running_cluster(*FAST) as running:
        yield running


@pytest.fixture
def database(cluster: Cluster) -> str:
    """Address of a database with nothing in it."""
    return cluster.database()
