"""What a store must satisfy after a power cut: it opens, and has every acknowledged frame once."""

from __future__ import annotations

import hashlib
import json
import shutil
import sqlite3
import zlib
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.power_cuts import Image

from vidscore_server.store.errors import StoreError
from vidscore_server.store.sqlite import open_sqlite_store

STORE = "store.db"

STREAMS = """
SELECT submissions.submission, streams.stream, streams.next_offset, submissions.state,
       submissions.frame_count, streams.id
FROM streams JOIN submissions ON submissions.id = streams.submission_id
"""
FRAMES = """
SELECT submissions.submission, count(*) FROM frames
JOIN sequences ON sequences.id = frames.sequence_id
JOIN submissions ON submissions.id = sequences.submission_id GROUP BY 1
"""
BATCHES = """
SELECT stream_id, first_offset, frame_count, digest, payload FROM detection_batches ORDER BY 1, 2
"""
OPEN = {"open", "receiving"}


@dataclass(frozen=True)
class Acknowledged:
    """Something that the server has acknowledged as durable.

    Attributes:
        submission: Last part of the submission's name.
        stream: The stream; empty if the submission was sealed.
        frame_count: Frames of the stream, or of the sealed submission.
    """

    submission: str
    stream: str
    frame_count: int

    @property
    def text(self) -> str:
        """Its text in a log."""
        return json.dumps([self.submission, self.stream, self.frame_count])

    @classmethod
    def read(cls, text: str) -> Acknowledged:
        """Read it from a log."""
        return cls(*json.loads(text))


def faults_of(image: Image, acknowledged: Iterable[Acknowledged], folder: Path) -> list[str]:
    """The faults of a store's files after a power cut.

    Args:
        image: The files.
        acknowledged: What was acknowledged before.
        folder: Where to put the files; its content is deleted.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, content in image.items():
        (folder / name).write_bytes(content)
    path = folder / STORE
    try:
        open_sqlite_store(path, must_exist=True).close()
        with closing(sqlite3.connect(path)) as connection:
            return [*_broken(connection), *_missing(connection, acknowledged)]
    except (StoreError, sqlite3.Error) as error:
        return [f"the store cannot be read: {error}"]


def _broken(connection: sqlite3.Connection) -> list[str]:
    [[told]] = connection.execute("PRAGMA integrity_check(1)")
    faults = [] if told == "ok" else [f"the integrity check says: {told}"]
    ends: dict[int, int] = {}
    for stream, first, count, digest, payload in connection.execute(BATCHES):
        if first != ends.get(stream, 0):
            faults.append(f"a batch begins at {first}, the one before ends at {ends.get(stream)}")
        if hashlib.sha256(zlib.decompress(payload)).digest() != digest:
            faults.append(f"the batch at {first} is not what was received")
        ends[stream] = first + count
    totals: dict[str, int] = {}
    counts: dict[str, int] = {}
    for submission, name, offset, _, frame_count, stream in connection.execute(STREAMS):
        totals[submission] = totals.get(submission, 0) + offset
        counts[submission] = frame_count
        if ends.get(stream, 0) != offset:
            faults.append(f"{submission}/{name} ends at {offset}, its batches at {ends[stream]}")
    stored = dict(connection.execute(FRAMES))
    faults.extend(
        f"{name} counts {counts[name]} frames, its streams {total}, the store {stored.get(name, 0)}"
        for name, total in totals.items()
        if not counts[name] == total == stored.get(name, 0)
    )
    return faults


def _missing(connection: sqlite3.Connection, acknowledged: Iterable[Acknowledged]) -> list[str]:
    offsets: dict[tuple[str, str], int] = {}
    states: dict[str, tuple[str, int]] = {}
    for submission, stream, offset, state, frame_count, _ in connection.execute(STREAMS):
        offsets[submission, stream] = offset
        states[submission] = state, frame_count
    faults = []
    for told in acknowledged:
        state, total = states.get(told.submission, ("missing", 0))
        if told.stream and offsets.get((told.submission, told.stream), 0) < told.frame_count:
            faults.append(f"{told} is lost")
        if not told.stream and (state in OPEN or total != told.frame_count):
            faults.append(f"{told} is lost: it is {state} with {total} frames")
    return faults
