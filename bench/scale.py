"""Measure the detections per second that many processes score: ``python -m bench.scale``.

An archive in Parquet is made one part at a time, scored in shards and deleted again, so that its
size is limited by time and not by the disk. The first part is scored with every number of workers,
the others only with the largest. Making the parts is not measured.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import vidscore
from bench.scale_page import Measured, page_of
from bench.scenes.archive import DETECTIONS_PER_SEQUENCE, write_sequence
from vidscore_evaluators.runtime import initialize_worker, spawn_context

HERE = Path(__file__).parent
EVALUATOR = "f1"
DETECTIONS = 1_000_000_000
DETECTIONS_PER_PART = 10_000_000
SHARDS_PER_WORKER = 8
"""Multiplied by the largest number of workers: the number of shards of every run."""
MAXIMUM_S = 3_000


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m bench.scale", description=__doc__)
    parser.add_argument("--detections", type=int, default=DETECTIONS, help="size of the archive")
    parser.add_argument("--part", type=int, default=DETECTIONS_PER_PART, help="made at a time")
    parser.add_argument("--workers", type=int, nargs="+", help="by default 1, 2, 4 ... processors")
    parser.add_argument(
        "--maximum-s", type=int, default=MAXIMUM_S, help="begin no further part after this time"
    )
    parser.add_argument("--results", type=Path, default=HERE / "scale.json")
    parser.add_argument("--page", type=Path, help="where the Markdown page goes")
    chosen = parser.parse_args(arguments)
    counts = sorted(chosen.workers or _counts(os.cpu_count() or 1))
    sizes = _sizes(chosen.detections, chosen.part)
    begun_s = time.perf_counter()
    runs: list[Measured] = []
    with tempfile.TemporaryDirectory() as temporary:
        first = 0
        for size in sizes:
            if first and time.perf_counter() - begun_s > chosen.maximum_s:
                print("time is up: the archive ends here", flush=True)
                break
            with _part(Path(temporary), first, size, counts[-1]) as (folder, size_bytes):
                for count in counts if not first else counts[-1:]:
                    shards = SHARDS_PER_WORKER * counts[-1]
                    runs.append(_scored(folder, size, size_bytes, count, shards))
                    print(json.dumps(asdict(runs[-1])), flush=True)
            first += size
    chosen.results.write_text(json.dumps([asdict(run) for run in runs], indent=1) + "\n")
    if chosen.page is not None:
        page = page_of(runs, os.cpu_count() or 1, os.getloadavg()[0])
        chosen.page.write_text(page, encoding="utf-8")
    return 0


def _counts(processors: int) -> Iterator[int]:
    """Powers of two below the number of processors, then that number."""
    count = 1
    while count < processors:
        yield count
        count *= 2
    yield processors


def _sizes(detections: int, part: int) -> list[int]:
    """Number of sequences of each part; only the last one may be smaller."""
    left = max(1, detections // DETECTIONS_PER_SEQUENCE)
    most = max(1, part // DETECTIONS_PER_SEQUENCE)
    return [min(most, left - begin) for begin in range(0, left, most)]


@dataclass(frozen=True, slots=True)
class _Usage:
    """Peak memory and processor time of a worker so far."""

    process_id: int
    peak_bytes: int
    processor_s: float


@contextmanager
def _part(root: Path, first: int, size: int, workers: int) -> Iterator[tuple[Path, int]]:
    """Write both sides of some sequences, and delete them at the end; gives folder and bytes."""
    with tempfile.TemporaryDirectory(dir=root) as name:
        folder = Path(name)
        for side in ("truth", "detections"):
            (folder / side).mkdir()
        with _pool(workers) as pool:
            write = partial(write_sequence, folder)
            yield folder, sum(pool.map(write, range(first, first + size), chunksize=16))


def _scored(folder: Path, sequences: int, size_bytes: int, workers: int, shards: int) -> Measured:
    with _pool(workers) as pool:
        before = _used(pool, workers)  # processes start, and import
        begun_s = time.perf_counter()
        report = vidscore.score(
            EVALUATOR,
            folder / "truth",
            folder / "detections",
            executor=pool,
            shards=shards,
        )
        elapsed_s = time.perf_counter() - begun_s
        after = _used(pool, workers)
    used_s = sum(entry.processor_s for entry in after)
    return Measured(
        detections=sequences * DETECTIONS_PER_SEQUENCE,
        workers=workers,
        elapsed_s=elapsed_s,
        processor_s=used_s - sum(entry.processor_s for entry in before),
        worker_bytes=max(entry.peak_bytes for entry in after),
        size_bytes=size_bytes,
        f1=report.value("f1") or 0.0,
    )


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(
        workers, mp_context=spawn_context(), initializer=_begin_worker, initargs=(workers,)
    ) as pool:
        yield pool


def _begin_worker(workers: int) -> None:
    """Limit a worker to as many processors as there are workers; its threads would use more."""
    initialize_worker()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:workers])


def _used(pool: ProcessPoolExecutor, workers: int) -> list[_Usage]:
    """The usage of each worker; sends tasks until every worker has answered."""
    found: dict[int, _Usage] = {}
    while len(found) < workers:
        found |= {entry.process_id: entry for entry in pool.map(_usage, range(workers))}
    return list(found.values())


def _usage(_: int) -> _Usage:
    import vidscore_evaluators.formats.parquet  # noqa: F401, PLC0415 - load it before the timing

    time.sleep(0.1)  # so that the other workers get a task, too
    used = resource.getrusage(resource.RUSAGE_SELF)
    return _Usage(os.getpid(), used.ru_maxrss * 1024, used.ru_utime + used.ru_stime)


if __name__ == "__main__":
    sys.exit(main())
