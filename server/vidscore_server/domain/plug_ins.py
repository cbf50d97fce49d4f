"""Functions of plug-ins, called while somebody waits: in workers, so that they can be ended.

A function of a plug-in may never return. A worker is then killed and replaced; a thread of the
server would be lost, and the event loop would stop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from vidscore_evaluators.annotations import POINT, Annotations, Side, empty_annotations
from vidscore_evaluators.errors import InputError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.jobs import make_job, run_faults_job, run_report_job
from vidscore_evaluators.registry import is_built_in
from vidscore_evaluators.report import Report
from vidscore_evaluators.tally import Tally
from vidscore_evaluators.tally_bytes import tally_to_bytes
from vidscore_server.domain.batches import has_own_rules, placed_faults
from vidscore_server.errors import WorkFailedError
from vidscore_server.runtime import offload
from vidscore_server.workers import WorkerPool

CHECK_S = 10.0
"""Maximum time for the rules of a plug-in to check a batch, whose sender waits for it."""


async def report_of(workers: WorkerPool, evaluator: Evaluator[Any], tally: Tally | None) -> Report:
    """The report of an evaluator.

    Args:
        workers: The worker processes, which make the reports of plug-ins.
        evaluator: The evaluator.
        tally: Its tally; None for that of no frames.

    Raises:
        VidscoreError: Raised by a built-in evaluator.
        WorkFailedError: If a plug-in ended in an unexpected error.
    """
    if is_built_in(evaluator.name):
        return await asyncio.to_thread(evaluator.report, tally)
    nothing = empty_annotations(POINT)
    data = None if tally is None else await asyncio.to_thread(tally_to_bytes, tally)
    work = partial(run_report_job, tally=data)
    report = await workers.work(make_job(evaluator, nothing, nothing), work)
    return replace(report, preset=evaluator.preset)


async def refuse_by_own_rules(
    workers: WorkerPool,
    evaluators: Sequence[Evaluator[Any]],
    side: Side,
    read: Callable[[], Annotations],
    size: int,
    source: str,
) -> None:
    """Refuse a batch that breaks a rule of a plug-in; those of others are in `rule_faults`.

    Args:
        workers: The worker processes.
        evaluators: The evaluators.
        side: Side of the batch.
        read: Reads the batch.
        size: Frames and coordinates of the batch.
        source: Where it stands, for messages.

    Raises:
        InputError: If the batch cannot be read, or breaks a rule; with every fault.
        LimitError: If it is larger than allowed.
        WorkFailedError: If a check takes longer than `CHECK_S`, or ended in an unexpected error.
    """
    own = [evaluator for evaluator in evaluators if has_own_rules(evaluator)]
    if not own:
        return
    batch = await offload(size, read)
    nothing = empty_annotations(batch.arity)
    sides = (batch, nothing) if side is Side.TRUTH else (nothing, batch)
    faults = []
    for evaluator in own:
        work = partial(run_faults_job, side=side)
        try:
            faults += await workers.work(make_job(evaluator, *sides), work, timeout_s=CHECK_S)
        except TimeoutError:
            place = f"faults of the evaluator {evaluator.name!r}, which took over {CHECK_S:g} s"
            raise WorkFailedError(["TimeoutError", place]) from None
    if faults:
        raise InputError(placed_faults(faults, source))
