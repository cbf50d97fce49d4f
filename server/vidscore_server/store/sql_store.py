"""The store: readers on connections of their own, and one writer thread that commits in groups.

Its guarantees, which `tests/server/store/contract.py` checks over every database:

- **Commands.** All writing is done by *commands*: functions that get a `Transaction` and return a
  result. `SqlStore.submit` queues a command and returns a future. One writer thread runs commands
  in the order of the queue, each in its own savepoint, many in one transaction. One wait for the
  disk serves all of them, and none waits for a timer.
- **Isolation.** What a command reads does not change until its writes are durable, however many
  servers write to the store: commands behave as if each ran alone. A command that names its
  submissions, and touches nothing else, may run concurrently with commands on other submissions. If
  several servers share a database, a group of commands first locks all of its submissions, in one
  order, and releases them with the commit: there are no deadlocks, and no command is run again.
- **Durability.** A future is resolved only when the writes of its command are on the disk: they
  then survive the death of the process and of the machine.
- **Atomicity.** A command that raises has no effect; its future carries the error; other commands
  in the queue are not affected. A command that meets `AlreadyExistsError` must raise, too. If the
  commit itself fails, every future of the group carries `StoreError`: either none of the commands
  took effect or, if the store was lost at that very moment, all of them did.
- **Snapshots.** `SqlStore.read` opens a `Reader` over one consistent state; it never waits for the
  writer, nor the writer for it.
- **Keys.** Inserting a key twice raises `AlreadyExistsError`. Getters return None for missing rows,
  mutators raise `NotFoundError`.
- **Loss.** Whatever goes wrong in a command or a commit, the writer continues with the next one. If
  it cannot (the file was deleted), `SqlStore.lost` is resolved, every waiting command fails with
  `StoreLostError`, and no more are accepted. Nothing is acknowledged into a file that does not
  exist.
- **Leases.** Work that one server does at a time is leased by the store's clock, which all servers
  share: a server that dies, or whose clock is wrong, holds no lease for longer.
- **Order.** Every list has a stated order, so that pages join without gaps or repeats.

A store knows no rules, such as whether a submission may be sealed.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, TypeVar

from msgspec import Struct
from sqlalchemy import Connection, Engine, exc
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from vidscore_server.logs import log, log_lasting, places_of
from vidscore_server.runtime import failpoint
from vidscore_server.store.errors import StoreError, StoreFullError, StoreLostError
from vidscore_server.store.reader import Reader
from vidscore_server.store.records import SubmissionKey
from vidscore_server.store.transaction import Transaction

_FULL = ("database or disk is full", "No space left")
_DISK_FULL = "53100"
_BUSY = frozenset({"40001", "40P01", "53300", "55P03", "57014"})
"""Transient SQLSTATEs of PostgreSQL: locks, deadlocks, timeouts, too many connections."""

GONE = "the database does not answer at the moment: try again"
BUSY = "the database was too busy to answer in time: try again"


Result = TypeVar("Result")

MAXIMUM_WAITING_COMMANDS = 10_000
MAXIMUM_GROUP = 1_000
"""Maximum commands per commit: more would delay the first of them."""

READERS_TIMEOUT_S = 30
"""Longest wait of `close` for readers: readers of a cancelled call continue in their threads."""

Lock = Callable[[Connection, Collection[SubmissionKey] | None], None]
"""Locks some submissions against other servers until the commit; everything for None."""

_STOP = None


def lock_nothing(_: Connection, __: Collection[SubmissionKey] | None) -> None:
    """Lock nothing: no other server uses the database."""


class Sharing(Struct, frozen=True):
    """How a database is read and locked.

    Attributes:
        lock: Locks submissions against other servers.
        readers: Engine for reading.
        maximum_group: Maximum commands per commit.
        shared: Whether other servers may use the database.
        state_number: Returns `SqlStore.state_number`; None if the database cannot tell quickly.
    """

    lock: Lock
    readers: Engine
    maximum_group: int
    shared: bool = True
    state_number: Callable[[], int | None] = lambda: None


class _Queued(Struct, frozen=True):
    command: Callable[[Transaction], Any]
    about: Collection[SubmissionKey] | None
    future: Future[Any]


class SqlStore:
    """A store over a database that SQLAlchemy supports; the module lists its guarantees.

    Args:
        engine: Engine for writing, with the schema up to date.
        sharing: How the database is read and locked.
        release: Called once, after the store is closed.
        check: Called after each commit and before it is acknowledged; raises `StoreLostError` if a
            restart would not find the committed data.

    Attributes:
        observer: Called with the future of each command that is queued.
    """

    def __init__(
        self,
        engine: Engine,
        sharing: Sharing,
        release: Callable[[], None] = lambda: None,
        check: Callable[[], None] = lambda: None,
    ) -> None:
        self.observer: Callable[[Future[Any]], None] = lambda _: None
        self._sharing = sharing
        self._engine = engine
        self._check = check
        # SQLAlchemy does not wrap the driver's errors while it prepares a connection.
        self._failures = (SQLAlchemyError, engine.dialect.loaded_dbapi.Error)
        self._release = release
        self._queue: queue.Queue[_Queued | None] = queue.Queue(MAXIMUM_WAITING_COMMANDS)
        self._closed = False
        self._lost: Future[StoreLostError] = Future()
        self._reading = 0
        self._lock = threading.Lock()
        self._read_ended = threading.Condition(self._lock)
        self._connection: Connection | None = None
        self._writer = threading.Thread(target=self._write, name="store-writer", daemon=True)
        self._writer.start()

    @property
    def shared(self) -> bool:
        """Whether other servers may write to it."""
        return self._sharing.shared

    @property
    def lost(self) -> Future[StoreLostError]:
        """Resolved with the reason once nothing more can be written; never by `close`."""
        return self._lost

    def submit(
        self,
        command: Callable[[Transaction], Result],
        about: Collection[SubmissionKey] | None = None,
    ) -> Future[Result]:
        """Queue a command; the future is resolved when its writes are durable.

        Args:
            command: The command.
            about: The only submissions that it touches; None if it may touch anything.

        Raises:
            StoreError: If the store is closed or lost, or too many commands wait.
        """
        future: Future[Result] = Future()
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed")
            if self._lost.done():
                raise self._lost.result()
            try:
                self._queue.put_nowait(_Queued(command, about, future))
            except queue.Full:
                raise StoreError(
                    f"{MAXIMUM_WAITING_COMMANDS} commands wait for the store already"
                ) from None
        self.observer(future)
        return future

    def state_number(self) -> int | None:
        """A number that changes whenever any process commits to the store.

        Data that was read after the number is still valid while the number stays the same. Reading
        the number takes microseconds and never waits.

        Returns:
            The number; None if the store is closed, shared, or busy at the moment.
        """
        return None if self._closed else self._sharing.state_number()

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """Open a consistent state for reading.

        Raises:
            StoreError: If the store is closed.
        """
        with self._lock:
            if self._closed:
                raise StoreError("the store is closed")
            self._reading += 1
        try:
            with self._sharing.readers.connect() as connection, connection.begin():
                yield Reader(connection)
        except self._failures as error:
            raise _store_error(error) from error
        finally:
            with self._lock:
                self._reading -= 1
                self._read_ended.notify_all()

    def close(self) -> None:
        """Run queued commands, wait for readers and release the store; idempotent."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        if not self._lost.done():
            self._queue.put(_STOP)
        self._writer.join()
        with self._lock:
            # A reader that outlives its call still holds a connection.
            self._read_ended.wait_for(lambda: not self._reading, READERS_TIMEOUT_S)
        self._engine.dispose()
        self._sharing.readers.dispose()
        self._release()

    def _write(self) -> None:
        group: list[_Queued] = []
        try:
            running = True
            while running:
                group, running = self._next_group()
                if group:
                    self._commit(group)
        except BaseException as error:  # noqa: BLE001 - fails every waiting command
            self._lose(error, group)
        finally:
            self._leave_connection()

    def _lose(self, error: BaseException, group: list[_Queued]) -> None:
        """Stop writing for good: fail the group and all queued commands, and accept no more."""
        reason = error
        if not isinstance(reason, StoreLostError):
            reason = StoreLostError(f"the store's writer has ended: {type(error).__name__}")
        log(logging.CRITICAL, "store lost", reason=str(reason), places=places_of(error))
        with self._lock:
            self._lost.set_result(reason)
        for queued in group:
            if not queued.future.done():
                queued.future.set_exception(reason)
        while True:
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                return
            if waiting is not _STOP and waiting.future.set_running_or_notify_cancel():
                waiting.future.set_exception(reason)

    def _next_group(self) -> tuple[list[_Queued], bool]:
        """Wait for a command and take all queued ones; also returns whether more may follow."""
        group: list[_Queued] = []
        waiting = self._queue.get()
        while waiting is not _STOP:
            if waiting.future.set_running_or_notify_cancel():
                group.append(waiting)
            if len(group) == self._sharing.maximum_group:
                return group, True
            try:
                waiting = self._queue.get_nowait()
            except queue.Empty:
                return group, True
        return group, False

    def _commit(self, group: list[_Queued]) -> None:
        """Run and commit a group, then resolve its futures.

        Raises:
            StoreLostError: If nothing can be written any more; the futures carry it.
        """
        outcomes: list[tuple[Future[Any], Any, BaseException | None]] = []
        lost: StoreLostError | None = None
        try:
            with self._begun(_all_about(group)) as connection:
                run = _run if len(group) > 1 else _run_alone
                outcomes.extend(
                    (queued.future, *run(connection, queued.command)) for queued in group
                )
                failpoint("before_commit")
            failpoint("after_commit")
            self._check()
        except Exception as error:  # noqa: BLE001 - the next group may succeed
            failure = self._failure(error)
            lost = failure if isinstance(failure, StoreLostError) else None
            outcomes = [(queued.future, None, failure) for queued in group]
        for future, result, failed in outcomes:
            if failed is None:
                future.set_result(result)
            else:
                future.set_exception(failed)
        if lost is not None:
            raise lost

    @contextmanager
    def _begun(self, about: Collection[SubmissionKey] | None) -> Iterator[Connection]:
        """A transaction that holds the locks of a group, and ends with the context.

        Checking each time whether the database was restarted would cost a round trip. Instead, if
        the connection is lost before anything was done, another one is used.
        """
        try:
            try:
                connection = self._begin(about)
            except DBAPIError as error:
                if not error.connection_invalidated:
                    raise
                self._leave_connection(is_lost=True)
                connection = self._begin(about)
            yield connection
            connection.commit()
        except BaseException:
            self._leave_connection()
            raise

    def _begin(self, about: Collection[SubmissionKey] | None) -> Connection:
        # Kept between groups, because acquiring one costs as much as a small command.
        if self._connection is None:
            self._connection = self._engine.connect()
        # Explicit, because prepared statements bypass SQLAlchemy, which would not begin a
        # transaction for them, so that each would commit alone.
        self._connection.begin()
        self._sharing.lock(self._connection, about)
        return self._connection

    def _leave_connection(self, *, is_lost: bool = False) -> None:
        """Use another connection for the next group; uncommitted work of this one is undone.

        Args:
            is_lost: Whether nothing can, or need, be undone any more.
        """
        connection, self._connection = self._connection, None
        if connection is None:
            return
        if is_lost:
            connection.invalidate()
        connection.close()

    def _failure(self, error: Exception) -> StoreError:
        """The error of a group whose commit failed."""
        if isinstance(error, StoreError):
            return error
        if isinstance(error, (*self._failures, OSError)):
            return _store_error(error)
        log(logging.ERROR, "commit failed", places=places_of(error))
        return StoreError(f"unexpected error in the store ({type(error).__name__}): try again")


def _all_about(group: list[_Queued]) -> Collection[SubmissionKey] | None:
    """The only submissions that a group touches; None if it may touch anything."""
    about: set[SubmissionKey] = set()
    for queued in group:
        if queued.about is None:
            return None
        about.update(queued.about)
    return about


def _run(
    connection: Connection, command: Callable[[Transaction], Any]
) -> tuple[Any, BaseException | None]:
    """Run a command in a savepoint: (result, None), or (None, error) with nothing kept."""
    connection.exec_driver_sql("SAVEPOINT command")
    try:
        result = command(Transaction(connection))
    except Exception as error:  # noqa: BLE001 - the future carries it
        found = _failure_of(error)
        connection.exec_driver_sql("ROLLBACK TO SAVEPOINT command")
        connection.exec_driver_sql("RELEASE SAVEPOINT command")
        return None, found
    connection.exec_driver_sql("RELEASE SAVEPOINT command")
    return result, None


def _run_alone(
    connection: Connection, command: Callable[[Transaction], Any]
) -> tuple[Any, BaseException | None]:
    """Run the only command of a transaction, as `_run` does, with two statements fewer."""
    try:
        return command(Transaction(connection)), None
    except Exception as error:  # noqa: BLE001 - the future carries it
        found = _failure_of(error)
        connection.rollback()
        return None, found


def _failure_of(error: Exception) -> BaseException:
    """The error for a command's future; raises the error if the whole group is lost."""
    if _is_lost(error):
        raise error
    return _store_error(error) if isinstance(error, DBAPIError) else error


def _is_lost(error: Exception) -> bool:
    """Whether the connection is gone, and with it the whole group of commands."""
    return isinstance(error, exc.DBAPIError) and (error.connection_invalidated or _is_full(error))


def _store_error(error: BaseException) -> StoreError:
    """A failure of the database or its disk as a `StoreError`, which never quotes stored data."""
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    found = _classified(error, original)
    fields = {"reason": str(found), "state": _state(original)}
    if (
        fields["state"] is None
        and isinstance(error, exc.OperationalError)
        and _is_of_postgresql(original)
    ):
        # The connection was refused or lost; its message, which is libpq's, quotes no data.
        fields["cause"] = " ".join(str(original).split())
    log_lasting(logging.WARNING, "database failed", **fields)
    return found


def _classified(error: BaseException, original: Any) -> StoreError:
    state = _state(original)
    if _is_full(error):
        return StoreFullError("the disk is full: make room, then try again")
    if state in _BUSY or isinstance(error, exc.TimeoutError):
        return StoreError(BUSY)
    if state is None and not _is_of_postgresql(original):
        return StoreError(f"the store failed: {original}")
    if (
        state is None
        or getattr(error, "connection_invalidated", False)
        or state[:2] in {"08", "57"}
    ):
        return StoreError(GONE)
    return StoreError(f"the store failed: {original.diag.message_primary}")


def _is_of_postgresql(original: Any) -> bool:
    """Whether an error is PostgreSQL's driver's."""
    return hasattr(original, "diag")


def _is_full(error: BaseException) -> bool:
    original = error.orig if isinstance(error, exc.DBAPIError) else error
    return _state(original) == _DISK_FULL or any(text in str(error) for text in _FULL)


def _state(original: Any) -> str | None:
    """PostgreSQL's SQLSTATE; None if there is none."""
    state: str | None = getattr(original, "sqlstate", None)
    return state
