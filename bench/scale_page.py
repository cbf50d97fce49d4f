"""The page about archives of any size: measurements, and an estimate for 10^12 detections."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WANTED = 10**12
MACHINES, PROCESSORS_EACH = 16, 64
PRICE_PER_PROCESSOR_HOUR = 0.05
"""Dollars; an assumption: the approximate price of clouds for a processor of a large machine."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A part of an archive that was scored.

    Attributes:
        detections: Its detections.
        workers: Processes that scored it.
        elapsed_s: Wall time.
        processor_s: Processor seconds of all workers.
        worker_bytes: Memory of the largest process, at its peak.
        size_bytes: Bytes of its files, both sides.
        f1: Its score.
    """

    detections: int
    workers: int
    elapsed_s: float
    processor_s: float
    worker_bytes: int
    size_bytes: int
    f1: float


_PAGE = """# Scale

What it costs to score an archive of any size in [shards](archives.md). `make bench-scale` measures
it on your machine and writes this page; for a short run, use `BENCH_ARGS="--detections 10000000"`.

## Measured

The machine has {processors} processors and had a load average of {load:.1f} over the last minute,
this benchmark included. The archive is in Parquet, one file per sequence of 1,000 frames with 10
objects each. `f1` scores it in worker processes, which share one processor per worker. The time
includes reading, checking and digesting both sides and merging the shards, but not starting the
processes. The shards are the same for every number of workers. Each process opens each file once
to see which sequences it holds, unless folders `sequence=...` say so; each shard then checks the
names and times of all files.

| workers | detections | per second | efficiency | processor time per detection | largest worker |
| --- | --- | --- | --- | --- | --- |
{rows}

Efficiency is the rate per worker divided by that of the fewest workers, on the first {first:,}
detections, which every number of workers scores in turn. Rates are medians over all scored parts.
If other programs run at the same time, they affect rates and efficiency; the processor time is then
more reliable. The two sides take {size:.1f} bytes per detection.

## Inferred

For 10^12 detections, from the processor time per detection of {count} workers:

- **Processor time**: {hours:,.0f} processor hours; at an assumed ${price:g} each, ${cost:,.0f}.
- **Time**: {time_h:,.1f} hours on {machines} machines of {each} processors, if they are as fast as
  these and none waits.
- **Bytes**: {terabytes:,.1f} TB. To keep that cluster busy, storage has to deliver
  {gigabytes:,.2f} GB a second.

None of this was run. It assumes that shards do not wait for each other, which holds because they
share only the files; that no shard opens files that it does not need, as in folders `sequence=...`;
that storage keeps up; and that tallies stay small, as those of `f1` do. Evaluators that keep every
confidence, such as `coco`, merge far more bytes. Replace the speed and the price of a processor by
those of your own cloud.
"""


def page_of(runs: Sequence[Measured], processors: int, load: float) -> str:
    """The page as Markdown.

    Args:
        runs: The measured runs, at least one.
        processors: Number of processors of the machine.
        load: Load average of the machine after the last run.
    """
    by_count = {
        count: [run for run in runs if run.workers == count]
        for count in sorted({run.workers for run in runs})
    }
    fewest, most = min(by_count), max(by_count)
    one = _rate(by_count[fewest][:1]) / fewest
    seconds = _processor_s(by_count[most])
    size = sum(run.size_bytes for run in runs) / sum(run.detections for run in runs)
    hours = WANTED * seconds / 3600
    cluster = MACHINES * PROCESSORS_EACH
    return _PAGE.format(
        processors=processors,
        load=load,
        rows="\n".join(_row(count, own, one) for count, own in by_count.items()),
        size=size,
        first=runs[0].detections,
        count=most,
        hours=hours,
        price=PRICE_PER_PROCESSOR_HOUR,
        cost=hours * PRICE_PER_PROCESSOR_HOUR,
        time_h=hours / cluster,
        machines=MACHINES,
        each=PROCESSORS_EACH,
        terabytes=size * WANTED / 1e12,
        gigabytes=size * cluster / seconds / 1e9,
    )


def _row(count: int, runs: Sequence[Measured], one: float) -> str:
    """A row of the table.

    Args:
        count: Number of workers.
        runs: The parts that they scored; first the part that every number of workers scored.
        one: The rate per worker on that part, with the fewest workers.
    """
    largest = max(run.worker_bytes for run in runs) / 2**20
    return (
        f"| {count} | {sum(run.detections for run in runs):,} | {_rate(runs):,.0f} "
        f"| {_rate(runs[:1]) / count / one:.2f} | {1e6 * _processor_s(runs):.2f} us "
        f"| {largest:,.0f} MiB |"
    )


def _processor_s(runs: Sequence[Measured]) -> float:
    """Processor seconds per detection."""
    return sum(run.processor_s for run in runs) / sum(run.detections for run in runs)


def _rate(runs: Sequence[Measured]) -> float:
    """Detections per second: the median over the parts."""
    return statistics.median(run.detections / run.elapsed_s for run in runs)
