"""Restore a backup into a store that no server owns: what `vidscore restore --store` does."""

from __future__ import annotations

from pathlib import Path

from vidscore_server.clock import utc_now
from vidscore_server.domain.backups import load_backup
from vidscore_server.store import Transaction, open_store
from vidscore_server.store.backup_file import BackupHeader, check_backup
from vidscore_server.store.records import AuditRecord


def restore(file: Path, location: str) -> BackupHeader:
    """Restore a backup; nothing is made or changed unless the whole file is sound.

    Args:
        file: The backup.
        location: The store's file, made where it is not there, or the address of its database.

    Raises:
        BackupError: If the file is damaged, or cannot be restored there.
        NameTakenError: If it is of a benchmark whose name is taken.
        StoreError: If the store cannot be opened or written.
        OSError: If the file cannot be read.
    """
    with file.open("rb") as backup:
        check_backup(backup)

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
