"""A store with many submissions whose scores differ a little."""

from __future__ import annotations

from datetime import timedelta
from functools import partial
from pathlib import Path

import numpy as np
import orjson
from msgspec import structs

from bench.servers.process import BENCHMARK, STORE, hosting_server
from vidscore_client import connect
from vidscore_client.frames import Frames
from vidscore_server.store import SqlStore, open_store
from vidscore_server.store.records import ScoreRecord, SubmissionRecord
from vidscore_server.store.transaction import Transaction

FIRST = "first"
SUBMISSIONS_PER_TEAM = 5
SEQUENCES, FRAMES_PER_SEQUENCE = 20, 10
ROWS_PER_COMMIT = 500


def crowded_store(folder: Path, count: int) -> dict[str, str]:
    """Make a store with scored submissions; no server uses it afterwards.

    Args:
        folder: Folder of the store.
        count: Number of submissions.

    Returns:
        Tokens by role; the submission `FIRST` is of the participant's team.
    """
    truth = folder / "truth.csv"
    truth.write_text(_truth(), encoding="utf-8")
    with hosting_server(folder, truth) as host:
        submit(host.address, host.secret, FIRST)
    store = open_store(str(folder / STORE))
    try:
        _multiply(store, count)
    finally:
        store.close()
    return {"participant": host.secret, "organiser": host.organiser}


def _truth() -> str:
    """CSV with a point in every frame of every sequence."""
    rows = [
        f"{sequence:02d},{frame},{10 + frame},{20 + sequence}"
        for sequence in range(SEQUENCES)
        for frame in range(FRAMES_PER_SEQUENCE)
    ]
    return "\n".join(["sequence,frame,x,y", *rows]) + "\n"


def submit(address: str, token: str, name: str) -> None:
    """Submit detections that miss every tenth object, and wait for their score."""
    count = SEQUENCES * FRAMES_PER_SEQUENCE
    numbers = np.tile(np.arange(FRAMES_PER_SEQUENCE), SEQUENCES)
    owners = np.repeat(np.arange(SEQUENCES), FRAMES_PER_SEQUENCE)
    found = numbers > 0
    frames = Frames(
        sequences=[("", f"{sequence:02d}") for sequence in range(SEQUENCES)],
        frame_sequences=owners,
        frame_numbers=numbers,
        frame_starts=np.concatenate([[0], np.cumsum(found)]),
        coordinates=np.stack([10.0 + numbers, 20.0 + owners], axis=1)[found],
    )
    with (
        connect(address, token=token) as client,
        client.submit(BENCHMARK, name) as stream,
    ):
        stream.send_batch(frames)
        stream.seal(expected_frame_count=count)
        client.submissions.wait(stream.submission, timeout_s=60)


def _multiply(store: SqlStore, count: int) -> None:
    """Copy the first submission to many teams."""
    with store.read() as reader:
        submission = reader.submission(BENCHMARK, FIRST)
        [score] = reader.scores(BENCHMARK, FIRST, None, 1)
    if submission is None:
        raise RuntimeError("there is no submission to multiply")
    for begin in range(1, count, ROWS_PER_COMMIT):
        numbers = range(begin, min(begin + ROWS_PER_COMMIT, count))
        store.submit(partial(_insert, numbers, submission, score), None).result()


def _insert(
    numbers: range, submission: SubmissionRecord, score: ScoreRecord, transaction: Transaction
) -> None:
    """Insert further submissions, each with a score a little below the one before."""
    for number in numbers:
        name = f"run-{number}"
        values = orjson.dumps(dict.fromkeys(orjson.loads(score.values), 1.0 - number / 20000))
        transaction.insert_submission(
            structs.replace(
                submission,
                submission=name,
                team=f"team-{number // SUBMISSIONS_PER_TEAM}",
                title=f"Run {number}",
                create_time=submission.create_time + timedelta(seconds=number),
                seal_time=submission.state_time + timedelta(seconds=number),
            )
        )
        transaction.insert_score(structs.replace(score, submission=name, values=values.decode()))
