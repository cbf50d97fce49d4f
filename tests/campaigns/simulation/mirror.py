"""Compares the store in memory with the real one: every call is made on both.

Each call of a command goes to a transaction in memory and to one on SQLite. Both must give the same
answer or raise the same error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, create_engine, event
from sqlalchemy.pool import StaticPool
from tests.campaigns.simulation.memory import State
from tests.campaigns.simulation.memory_writer import MemoryTransaction

from vidscore_server.store.tables import metadata
from vidscore_server.store.transaction import Transaction


class Mirror:
    """A database in memory that mirrors a world's store.

    Attributes:
        calls: The number of calls that were compared.
        differences: The calls with different answers.
    """

    def __init__(self) -> None:
        self.calls = 0
        self.differences: list[str] = []
        engine = create_engine("sqlite://", poolclass=StaticPool)

        @event.listens_for(engine, "connect")
        def _configure(connection: Any, _: object) -> None:
            connection.isolation_level = None
            connection.execute("PRAGMA foreign_keys=ON")

        self._connection = engine.connect()
        metadata.create_all(self._connection)

    def transaction(self, state: State, clock: Callable[[], datetime]) -> Any:
        """A transaction on both."""
        real = _Timed(self._connection, clock)
        return _Both(MemoryTransaction(state, clock), real, self)

    @contextmanager
    def command(self) -> Iterator[None]:
        """A command that raises changes nothing."""
        self._connection.exec_driver_sql("SAVEPOINT command")
        try:
            yield
        except BaseException:
            self._connection.exec_driver_sql("ROLLBACK TO SAVEPOINT command")
            raise
        finally:
            self._connection.exec_driver_sql("RELEASE SAVEPOINT command")

    def close(self) -> None:
        """Delete everything."""
        self._connection.close()


class _Timed(Transaction):
    """The real transaction, with the clock of the world."""

    def __init__(self, connection: Connection, clock: Callable[[], datetime]) -> None:
        super().__init__(connection)
        self._clock = clock

    def time(self) -> datetime:
        """The time of the world."""
        return self._clock()


class _Both:
    """Calls both, and records the differences."""

    def __init__(self, memory: MemoryTransaction, real: Transaction, mirror: Mirror) -> None:
        self._memory = memory
        self._real = real
        self._mirror = mirror

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def ask(*args: Any, **named: Any) -> Any:
            found, raised = _answer(getattr(self._memory, name), args, named)
            expected, expected_error = _answer(getattr(self._real, name), args, named)
            if found != expected or type(raised) is not type(expected_error):
                self._mirror.differences.append(
                    f"{name}{args}: {found} {raised!r}, expected {expected} {expected_error!r}"
                )
            self._mirror.calls += 1
            if raised is not None:
                raise raised
            return found

        return ask


def _answer(
    method: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> tuple[Any, Exception | None]:
    try:
        answer = method(*args, **named)
    except Exception as error:  # noqa: BLE001 - both must raise it
        return None, error
    return (list(answer) if isinstance(answer, Iterator) else answer), None
