"""The part of `vidscore doctor` that inspects the file of a store."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from stat import S_IRGRP, S_IROTH

from vidscore_cli.diagnosis import (
    GIBIBYTE,
    Passed,
    Status,
    Step,
    StepFailedError,
    diagnose,
    disk_step,
    write_findings,
)
from vidscore_cli.session import ExitCode


def examine_store(location: str, format_: str) -> ExitCode:
    """Inspect a store's file, and print the findings."""
    from vidscore_server.store import is_address
    from vidscore_server.store.errors import StoreError
    from vidscore_server.store.sqlite import inspect_store

    def store() -> Passed:
        if is_address(location):
            advice = (
                "ask a server that uses it: vidscore doctor --server, with an organiser's token"
            )
            return Passed("a database", Status.SKIPPED, advice)
        try:
            state = inspect_store(Path(location))
        except StoreError as error:
            raise StepFailedError(str(error), "", ExitCode.INPUT) from None
        if state.fault:
            advice = "restore a backup into a new store: vidscore restore"
            raise StepFailedError(f"damaged: {state.fault}", advice, ExitCode.INPUT)
        size = f"sqlite, {state.size_bytes / GIBIBYTE:.3f} GiB"
        if state.newer:
            found = f"{size}, tables of revision {state.schema}: written by a newer vidscore"
            raise StepFailedError(found, "upgrade this vidscore", ExitCode.INPUT)
        found = f"{size}, tables of revision {state.schema}"
        if state.schema != state.newest_schema:
            advice = "back it up; the next server brings it up to date"
            return Passed(f"{found}, newest is {state.newest_schema}", Status.WARNING, advice)
        if Path(location).stat().st_mode & (S_IRGRP | S_IROTH):
            advice = f"it holds hidden truth: chmod 600 {location}"
            return Passed(f"{found}; other users may read it", Status.WARNING, advice)
        return Passed(found)

    def disk() -> Passed:
        if is_address(location):
            return Passed("on another machine", Status.SKIPPED)
        folder = Path(location).resolve().parent
        if os.statvfs(folder).f_flag & os.ST_RDONLY:
            advice = "mount it for writing, or copy the store to another disk"
            raise StepFailedError("read-only", advice, ExitCode.INPUT)
        return disk_step(shutil.disk_usage(folder).free)

    return write_findings(diagnose([Step("store", store), Step("disk", disk, ("store",))]), format_)
