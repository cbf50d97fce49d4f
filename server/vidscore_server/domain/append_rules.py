"""Rules of appends to a benchmark: its definition, and the names that it has."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from vidscore_evaluators.annotations import Annotations
from vidscore_evaluators.evaluator import Side
from vidscore_server.domain.benchmarks import Benchmarks, required_benchmark
from vidscore_server.domain.context import Site
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.known_names import (
    KnownNames,
    NameCheck,
    check_names,
    known_names,
    needs_truth,
)
from vidscore_server.domain.names import benchmark_name, name_faults
from vidscore_server.domain.truth import TruthKeeper
from vidscore_server.errors import (
    NotOpenError,
)
from vidscore_server.store.contract import Reader
from vidscore_server.store.records import (
    BenchmarkRecord,
)

KEEP_S = 1.0
"""Time for which a benchmark is not looked up again; a change by this server counts at once."""

MAXIMUM_KEPT = 1_000

_State = tuple[str, str, int]
"""What rules follow from: when a benchmark was created, its definition, its truth's revision."""


@dataclass(frozen=True, eq=False)
class AppendRules:
    """What batches are held to.

    Attributes:
        definition: The benchmark.
        arity: Coordinates that a detection has.
        names: Names that it has, as far as participants may know them.
    """

    definition: Definition
    arity: int
    names: KnownNames


class RuleKeeper:
    """The rules of a site's benchmarks, looked up anew now and then: truth may come meanwhile.

    Args:
        site: The server's common ground.
        benchmarks: Its benchmarks.
        truth: Their truth.
    """

    def __init__(self, site: Site, benchmarks: Benchmarks, truth: TruthKeeper) -> None:
        """Know none yet."""
        self._site = site
        self._benchmarks = benchmarks
        self._truth = truth
        self._kept: dict[str, tuple[float, _State, AppendRules]] = {}

    async def of(self, benchmark: str) -> AppendRules:
        """The rules of a benchmark; the same object as long as nothing has changed.

        Raises:
            NotFoundError: If there is no such benchmark.
            NotOpenError: If nobody has said yet of which shape its detections are.
        """
        kept = self._kept.get(benchmark)
        if kept is not None and time.monotonic() - kept[0] < KEEP_S:
            return kept[2]
        state, rules = await self._site.read(lambda reader: self._look_up(reader, benchmark))
        if len(self._kept) >= MAXIMUM_KEPT:
            self._kept.clear()
        self._kept[benchmark] = (time.monotonic(), state, rules)
        return rules

    def forget(self, benchmark: str) -> None:
        """Look a benchmark up again the next time, because it has changed."""
        kept = self._kept.get(benchmark)
        if kept is not None:
            self._kept[benchmark] = (float("-inf"), *kept[1:])

    def _look_up(self, reader: Reader, benchmark: str) -> tuple[_State, AppendRules]:
        record = required_benchmark(reader, benchmark)
        definition = self._benchmarks.definition(record)
        revision = _complete_revision(reader, record) if needs_truth(definition) else 0
        state = (record.create_time.isoformat(), record.definition, revision)
        kept = self._kept.get(benchmark)
        if kept is not None and kept[1] == state:
            return state, kept[2]
        if definition.detection_arity is None:
            raise NotOpenError(
                f"{benchmark_name(benchmark)} takes no detections yet: it has neither truth nor a "
                "detection_geometry, which say of which shape they are"
            )
        arity, truth = definition.detection_arity, None
        if revision and definition.truth_arity is not None:
            truth = self._truth.load(reader, benchmark, revision, definition.truth_arity)
        return state, AppendRules(definition, arity, known_names(definition, truth))


def _complete_revision(reader: Reader, record: BenchmarkRecord) -> int:
    """The newest revision of a truth if it is complete, otherwise 0."""
    revision = reader.truth_revision(record.benchmark, record.truth_revision)
    return revision.revision if revision is not None and revision.complete else 0


def check_batch(rules: AppendRules, batch: Annotations, source: str) -> NameCheck:
    """Hold detections to everything that a participant may know of their benchmark.

    Args:
        rules: What the benchmark holds them to.
        batch: Whole frames.
        source: Where they stand, for messages.
    """
    names = check_names(rules.names, batch, source)
    faults = dict.fromkeys(
        replace(fault, source=source, field=fault.field or "frame_numbers")
        for evaluator in rules.definition.evaluators
        for fault in evaluator.input_faults(Side.DETECTIONS, batch)
    )
    controls = name_faults(batch, source)
    return NameCheck((*controls, *names.faults, *faults), names.warnings)
