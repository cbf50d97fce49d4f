"""What `vidscore store copy` does."""

from __future__ import annotations

from contextlib import closing

from vidscore_cli.output import say
from vidscore_cli.progress import ProgressBar
from vidscore_cli.records import write_records
from vidscore_server.store import open_store, shown_location
from vidscore_server.store.dump import copy_store

COLUMNS = ("table", "rows", "digest")


def copy_site(source: str, target: str) -> None:
    """Copy a site, and list what each table holds.

    Raises:
        VidscoreError: If there is no store to copy, one cannot be opened, the target is not
            empty, or the copy differs.
    """
    with (
        closing(open_store(source, must_exist=True)) as opened,
        closing(open_store(target)) as copied,
        ProgressBar() as bar,
    ):
        stages: set[str] = set()

        def show(what: str, done: int, total: int) -> None:
            if what not in stages:
                stages.add(what)
                bar.stage(f"{what} rows")
            if total:
                bar.advance(done, total)

        digests = copy_store(opened, copied, show)
    records = [
        {"table": table, "rows": digest.row_count, "digest": digest.sha256}
        for table, digest in digests.items()
    ]
    write_records(records, COLUMNS, "table", "-")
    say(f"{shown_location(target)} holds what {shown_location(source)} holds", err=True)
