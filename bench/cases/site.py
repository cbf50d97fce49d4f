"""Pages of a site with 10,000 submissions: the time that a browser waits for their HTML."""

from __future__ import annotations

import http.client
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from bench.case import Case, Size
from bench.measuring import Sample, run_interleaved
from bench.rows import Goal, Row, at_most, not_yet
from bench.servers.crowd import FIRST, crowded_store, submit
from bench.servers.process import BENCHMARK, STORE, Served, serving_store

SUBMISSIONS = 10_000
LIMIT_S = 0.1
WITHIN_LIMIT = at_most(1.0)

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
        token: Token with which it signs in.
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
            RuntimeError: If the status is not 200.
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
        tokens = crowded_store(folder, count)
        with serving_store(folder / STORE, *web) as served:
            yield from _measured(served.site, tokens, count, size.repeats)
            yield from _after_scores(served, tokens, count, size.repeats)


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
    """The first view of the board after a new score, which updates the board."""
    for role, token in tokens.items():
        visitor = _Visitor(served.site, token)
        visitor.open(PAGES["its board"])
        found = []
        for repeat in range(repeats):
            submit(served.address, tokens["participant"], f"{role}-{repeat}")
            begun_s = time.perf_counter()
            visitor.open(PAGES["its board"])
            found.append(time.perf_counter() - begun_s)
        yield _row(count, role, BOARD_WITH_NEW_SCORE, Sample(tuple(found)), not_yet(WITHIN_LIMIT))


def _row(count: int, role: str, name: str, sample: Sample, goal: Goal = WITHIN_LIMIT) -> Row:
    title = f"site, {count:,} submissions, {role}: {name}"
    return Row(title, sample, Sample((LIMIT_S,)), "limit", goal)


CASES = (Case("site", _pages),)
