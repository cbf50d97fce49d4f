"""Work on a store without a server: new tokens, restored backups, deleted teams."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from vidscore_evaluators.errors import InputError
from vidscore_evaluators.names import counted
from vidscore_server.domain.access import new_token, team_faults
from vidscore_server.domain.backups import check_rows, load_backup
from vidscore_server.errors import HasSubmissionsError, NotFoundError
from vidscore_server.runtime import utc_now
from vidscore_server.store import Transaction, open_store, open_store_beside
from vidscore_server.store.backup_file import BackupHeader
from vidscore_server.store.migrations import revisions
from vidscore_server.store.records import AuditRecord, Role


class Initialised(NamedTuple):
    """Result of `vidscore init`.

    Attributes:
        secret: Secret of the token.
        is_first: Whether the store had no token before.
    """

    secret: str
    is_first: bool


def initialise(location: str | Path) -> Initialised:
    """Create the store if it does not exist, and a new organiser's token in it.

    Repeating it makes another token, which restores access when all others are lost. A server may
    own the store meanwhile: it accepts the token at once.

    Args:
        location: The store's file, or the address of its database.

    Raises:
        StoreError: If the store cannot be created there, or a server of another version owns it.
    """
    now = utc_now()
    token = new_token(Role.ORGANISER, "", "made by vidscore init", now)

    def add(transaction: Transaction) -> bool:
        is_first = not transaction.tokens(None, 1)
        transaction.insert_token(token.record)
        resource = f"tokens/{token.record.token}"
        transaction.append_audit(AuditRecord(now, "server", "init", resource))
        return is_first

    store = open_store_beside(str(location))
    try:
        is_first = store.submit(add).result()
    finally:
        store.close()
    return Initialised(token.secret, is_first)


def restore(file: Path, location: str) -> BackupHeader:
    """Restore a backup; nothing is created or changed unless the whole file is sound.

    Args:
        file: The backup.
        location: The store's file, created if missing, or the address of its database.

    Raises:
        BackupError: If the file is damaged, or cannot be restored there.
        NameTakenError: If it is of a benchmark whose name is taken.
        StoreError: If the store cannot be opened or written.
        OSError: If the file cannot be read.
    """
    with file.open("rb") as backup:
        check_rows(backup, revisions()[0])

        def command(transaction: Transaction) -> BackupHeader:
            header = load_backup(transaction, backup)
            resource = f"benchmarks/{header.benchmark}" if header.benchmark else "site"
            transaction.append_audit(AuditRecord(utc_now(), "server", "restore", resource))
            return header

        store = open_store(location)
        try:
            return store.submit(command).result()
        finally:
            store.close()


def delete_team(location: str, team: str, *, force: bool) -> str:
    """Delete a team's submissions, scores, tokens and invitations from a store that no server uses.

    Args:
        location: The store's file, or the address of its database.
        team: The team.
        force: Whether to delete it even if it has submissions.

    Returns:
        What was deleted, in words.

    Raises:
        InputError: If the team cannot have that name.
        NotFoundError: If the store has nothing of the team.
        HasSubmissionsError: If it has submissions and `force` is not set.
        StoreError: If there is no store, a server uses its file, or it cannot be written.
    """
    if faults := team_faults(Role.PARTICIPANT, team):
        raise InputError(faults)

    def command(transaction: Transaction) -> str:
        deleted = transaction.delete_team(team)
        said = ", ".join(counted(count, name[:-1]) for name, count in deleted.items())
        if not any(deleted.values()):
            raise NotFoundError(
                f"there is no token, invitation or submission of a team {team}; `vidscore token "
                "list` and `vidscore submission list` show the names of teams while a server runs"
            )
        if deleted["submissions"] and not force:
            raise HasSubmissionsError(
                f"the team {team} has {counted(deleted['submissions'], 'submission')}; --force "
                "deletes their frames and scores, too, and other teams move up on the leaderboards"
            )
        transaction.append_audit(AuditRecord(utc_now(), "server", "delete-team", "site", said))
        return said

    store = open_store(location, must_exist=True)
    try:
        return store.submit(command).result()
    finally:
        store.close()
