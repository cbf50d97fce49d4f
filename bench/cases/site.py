"""Pages of the site over 10,000 submissions: how long a browser waits for their HTML."""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import numpy as np
import orjson

from bench.case import Case, Size
from bench.measuring import Sample, run_interleaved
from bench.rows import Goal, Row, at_most, not_yet
from bench.servers.process import BENCHMARK, STORE, Served, hosting_server, serving_store
from vidscore_client import connect
from vidscore_client.frames import Frames
from vidscore_server.store import SqlStore, open_store
from vidscore_server.store.records import ScoreRecord, SubmissionRecord
from vidscore_server.store.transaction import Transaction

SUBMISSIONS = 10_000
SUBMISSIONS_PER_TEAM = 5
LIMIT_S = 0.1
WITHIN_LIMIT = at_most(1.0)
FIRST = "first"
SEQUENCES, FRAMES_PER_SEQUENCE = 20, 10
ROWS_PER_COMMIT = 500

PAGES = {
    "the benchmark": f"/benchmarks/{BENCHMARK}",
    "its board": f"/benchmarks/{BENCHMARK}/board",
    "its submissions": f"/benchmarks/{BENCHMARK}/submissions",
    "a submission": f"/benchmarks/{BENCHMARK}/submissions/{FIRST}",
    "its frames, with pictures": (
        f"/benchmarks/{BENCHMARK}/submissions/{FIRST}/frames?accept=yes&sequence=00&frame=1"
    ),
}
PAGES_OF_ORGANISERS = {
    "what waits, runs and failed": "/organise",
    "the benchmark to organise": f"/organise/benchmarks/{BENCHMARK}",
    "its ground truth": f"/organise/benchmarks/{BENCHMARK}/truth",
    "its policy": f"/organise/benchmarks/{BENCHMARK}/policy",
    "its audit": f"/organise/audit?resource=benchmarks/{BENCHMARK}",
}
BOARD_WITH_NEW_SCORE = "its board after a new score"


class _Visitor:
    """A browser that keeps its connection.

    Args:
        site: Address of the site.
        token: What it signs in with.
    """

    def __init__(self, site: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(site).netloc, timeout=120)
        body = urlencode({"token": token})
        headers = {"Origin": site, "Content-Type": "application/x-www-form-urlencoded"}
        self._connection.request("POST", "/sign-in", body, headers)
        answer = self._connection.getresponse()
        answer.read()
        self._cookie = answer.headers["Set-Cookie"].partition(";")[0]

    def open(self, path: str) -> bytes:
        """Open a page.

        Raises:
            RuntimeError: If it does not come.
        """
        self._connection.request("GET", path, headers={"Cookie": self._cookie})
        answer = self._connection.getresponse()
        page = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}")
        return page

    def opening(self, path: str) -> Callable[[], object]:
        """An action that opens a page."""
        return lambda: self.open(path)


def _pages(size: Size) -> Iterator[Row]:
    count = size.of(SUBMISSIONS)
    web = ("--web", "127.0.0.1:0")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        truth = folder / "truth.csv"
        truth.write_text(_truth(), encoding="utf-8")
        with hosting_server(folder, truth, *web) as host:
            _submit(host.address, host.secret, FIRST)
        store = open_store(str(folder / STORE))
        try:
            _multiply(store, count)
        finally:
            store.close()
        with serving_store(folder / STORE, *web) as served:
            tokens = {"participant": host.secret, "organiser": host.organiser}
            yield from _measured(served.site, tokens, count, size.repeats)
            yield from _after_scores(served, tokens, count, size.repeats)


def _truth() -> str:
    """A point in every frame of every sequence."""
    rows = [
        f"{sequence:02d},{frame},{10 + frame},{20 + sequence}"
        for sequence in range(SEQUENCES)
        for frame in range(FRAMES_PER_SEQUENCE)
    ]
    return "\n".join(["sequence,frame,x,y", *rows]) + "\n"


def _submit(address: str, token: str, name: str) -> None:
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
    """Make a crowd of teams out of the one that has submitted."""
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
            replace(
                submission,
                submission=name,
                team=f"team-{number // SUBMISSIONS_PER_TEAM}",
                title=f"Run {number}",
                create_time=submission.create_time + timedelta(seconds=number),
                seal_time=submission.state_time + timedelta(seconds=number),
            )
        )
        transaction.insert_score(replace(score, submission=name, values=values.decode()))


def _measured(site: str, tokens: dict[str, str], count: int, repeats: int) -> Iterator[Row]:
    for role, token in tokens.items():
        visitor = _Visitor(site, token)
        pages = PAGES | (PAGES_OF_ORGANISERS if role == "organiser" else {})
        samples, _ = run_interleaved([visitor.opening(path) for path in pages.values()], repeats)
        for name, sample in zip(pages, samples, strict=True):
            yield _row(count, role, name, sample)


def _after_scores(
    served: Served, tokens: dict[str, str], count: int, repeats: int
) -> Iterator[Row]:
    """The first look at the board after a score: it is brought up to date then."""
    for role, token in tokens.items():
        visitor = _Visitor(served.site, token)
        visitor.open(PAGES["its board"])
        found = []
        for repeat in range(repeats):
            _submit(served.address, tokens["participant"], f"{role}-{repeat}")
            begun_s = time.perf_counter()
            visitor.open(PAGES["its board"])
            found.append(time.perf_counter() - begun_s)
        yield _row(count, role, BOARD_WITH_NEW_SCORE, Sample(tuple(found)), not_yet(WITHIN_LIMIT))


def _row(count: int, role: str, name: str, sample: Sample, goal: Goal = WITHIN_LIMIT) -> Row:
    title = f"site, {count:,} submissions, {role}: {name}"
    return Row(title, sample, Sample((LIMIT_S,)), "limit", goal)


CASES = (Case("site", _pages),)
"""What a case of the suite is."""
