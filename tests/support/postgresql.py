"""A PostgreSQL for tests: a cluster in a temporary folder, reached over a socket in it."""

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
"""Settings that would lose data if the machine crashed, which no test can cause."""

_numbers = count(1)


class Cluster:
    """A database server that a test may stop and start.

    Args:
        folder: A folder of its own, for all its files.
        settings: Settings of PostgreSQL.

    Attributes:
        folder: Holds all its files, and its socket.
    """

    def __init__(self, folder: Path, settings: tuple[str, ...] = ()) -> None:
        """Create the cluster without starting it."""
        self.folder = folder
        self._programs = _programs()
        self._user = _unprivileged_user()
        if self._user is not None:
            os.chown(folder, self._user.pw_uid, self._user.pw_gid)
        # An ICU locale sorts names by language, as the databases of many sites do.
        locale = ("--encoding=UTF8", "--locale-provider=icu", "--icu-locale=en-US", "--no-sync")
        self._run("initdb", f"--username={USER}", "--auth=trust", *locale)
        own = ("listen_addresses=''", f"unix_socket_directories='{folder}'", "shared_buffers=16MB")
        with (folder / "data" / "postgresql.conf").open("a") as file:
            file.writelines(f"{setting}\n" for setting in (*own, *settings))

    def start(self) -> None:
        """Start it, and wait until it accepts connections."""
        log = self.folder / "log"
        self._run("pg_ctl", "start", "--wait", f"--timeout={TIMEOUT_S}", f"--log={log}")

    def stop(self, mode: str = "fast") -> None:
        """Stop it; the mode ``immediate`` acts like a kill."""
        self._run("pg_ctl", "stop", "--wait", f"--timeout={TIMEOUT_S}", f"--mode={mode}")

    def start_as_standby(self) -> None:
        """Start the stopped cluster as a read-only standby, until `promote`."""
        signal = self.folder / "data" / "standby.signal"
        signal.touch()
        if self._user is not None:
            os.chown(signal, self._user.pw_uid, self._user.pw_gid)
        self.start()

    def promote(self) -> None:
        """Make a standby writable, and wait until it is."""
        with self.connect("postgres") as connection:
            done = connection.execute("SELECT pg_promote()").fetchone()
            assert done == (True,)

    def address(self, database: str, **parameters: str) -> str:
        """Address of a database in it."""
        extra = "".join(f"&{name}={value}" for name, value in parameters.items())
        return f"postgresql://{USER}@/{database}?host={self.folder}{extra}"

    def database(self, options: str = "") -> str:
        """Create a database, and return its address."""
        name = f"site{next(_numbers)}"
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name} {options}".encode())
        return self.address(name)

    def connect(self, database: str) -> psycopg.Connection[Any]:
        """A separate connection for a test; every statement commits at once."""
        return psycopg.connect(self.address(database), autocommit=True)

    def _run(self, program: str, *arguments: str) -> None:
        # In a separate program, not by `subprocess`: that would fork this process, which gRPC's
        # threads do not always survive.
        drop = [] if self._user is None else _dropping(self._user)
        command = [*drop, str(self._programs / program), f"--pgdata={self.folder / 'data'}"]
        # Into a file: the server that pg_ctl starts would keep a pipe open forever.
        with tempfile.TemporaryFile() as said:
            done = subprocess.run(
                [*command, *arguments], stdout=said, stderr=said, cwd=self.folder, timeout=TIMEOUT_S
            )
            said.seek(0)
            assert done.returncode == 0, said.read().decode()


@contextmanager
def running_cluster(*settings: str) -> Iterator[Cluster]:
    """A running cluster that is removed afterwards."""
    # Not in pytest's folder: its path is too long for a socket, and other users cannot read it.
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
    """The command prefix that runs a command as another user."""
    return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]


def _unprivileged_user() -> pwd.struct_passwd | None:
    """The user for the server if we are root, which PostgreSQL refuses."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else None


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One cluster per test process; it is fast because it need not survive a crash."""
    with running_cluster(*FAST) as running:
        yield running


@pytest.fixture
def database(cluster: Cluster) -> str:
    """Address of an empty database."""
    return cluster.database()
