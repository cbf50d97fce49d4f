"""An organiser who works while servers die: truth, scores, backups, restored benchmarks."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

import grpc
from tests.crash.checking import SIZES
from tests.crash.organiser import Organiser
from tests.server.domain.sky import truth

from vidscore_client import Client, VidscoreError, connect
from vidscore_server.domain.administration import restore
from vidscore_server.store.backup_file import check_backup

PAUSE_S = 0.2
OTHER = "other"
DEFINITION = {
    "title": "Other",
    "evaluators": [{"name": "spotgeo"}],
    "truth_geometry": "point",
    "detection_geometry": "point",
}
COUNTS = """
SELECT submissions.submission, submissions.frame_count,
       (SELECT sum(next_offset) FROM streams WHERE submission_id = submissions.id)
FROM submissions WHERE submissions.frame_count > 0
"""
PASSING = {"UNAVAILABLE", "DEADLINE_EXCEEDED", "CANCELLED", "RESOURCE_EXHAUSTED"}
"""Codes that a call may get from a server that dies."""


class BusyOrganiser(threading.Thread):
    """An organiser who does one thing after the other, whatever the outcome.

    Args:
        address: Where the server listens.
        secret: An organiser's token.
        folder: Where backups are restored.

    Attributes:
        done: How often each thing succeeded.
        failure: An error that the death of a server does not explain.
    """

    def __init__(self, address: str, secret: str, folder: Path) -> None:
        """Prepare to work; nothing is done before ``start``."""
        super().__init__(name="busy organiser", daemon=True)
        self.done: Counter[str] = Counter()
        self.failure: BaseException | None = None
        self._address = address
        self._secret = secret
        self._folder = folder
        self._chance = Random("organiser")
        self._enough = threading.Event()

    def finish(self) -> None:
        """Begin nothing new, and wait until running work has ended."""
        self._enough.set()
        self.join(600.0)
        assert not self.is_alive(), f"{self.name} does not end"
        if self.failure is not None:
            raise self.failure

    def run(self) -> None:
        """Work until told to stop."""
        works = (self._upload, self._rescore, self._back_up, self._replace)
        try:
            with (
                grpc.insecure_channel(self._address) as channel,
                connect(self._address, token=self._secret) as client,
            ):
                while not self._enough.wait(PAUSE_S):
                    work = self._chance.choice(works)
                    try:
                        work(client, Organiser(channel, self._secret))
                    except VidscoreError as error:
                        if error.code not in PASSING:
                            raise
                    except grpc.RpcError as error:
                        if error.code().name not in PASSING:
                            raise
                    else:
                        self.done[work.__name__.removeprefix("_")] += 1
        except BaseException as failure:  # noqa: BLE001 - told by `finish`
            self.failure = failure

    def _upload(self, _: Client, organiser: Organiser) -> None:
        """Upload another revision of the same truth, so that all scores stay the same."""
        organiser.upload(truth(max(SIZES)))

    def _rescore(self, client: Client, _: Organiser) -> None:
        client.benchmarks.rescore("dots").wait(60.0)

    def _back_up(self, client: Client, _: Organiser) -> None:
        """A backup that succeeds is complete, and is restored to the state of one moment."""
        data = io.BytesIO()
        client.export_backup(data.write)
        data.seek(0)
        check_backup(data)
        file, store = self._folder / "backup", self._folder / "restored.db"
        file.write_bytes(data.getvalue())
        for left in self._folder.glob(f"{store.name}*"):
            left.unlink()
        restore(file, str(store))
        with closing(sqlite3.connect(store)) as connection:
            for submission, frame_count, appended in connection.execute(COUNTS):
                assert frame_count == appended, f"{submission} of a backup"

    def _replace(self, client: Client, _: Organiser) -> None:
        """Delete a benchmark and restore it from its backup; it exists or not, never in part."""
        names = {entry.name.rpartition("/")[2] for entry in client.benchmarks.list()}
        assert names >= {"dots"}
        if OTHER not in names:
            client.benchmarks.create(OTHER, DEFINITION)
        data = io.BytesIO()
        client.export_backup(data.write, OTHER)
        client.benchmarks.delete(OTHER, force=True)
        client.import_backup([data.getvalue()])
        assert client.benchmarks.get(OTHER).name.endswith(OTHER)
