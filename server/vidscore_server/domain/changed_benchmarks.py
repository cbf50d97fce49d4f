"""Which benchmarks may have background work: those that have changed since they had none."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime

from vidscore_server.domain.leases import LeasedOperations
from vidscore_server.logs import log, places_of
from vidscore_server.store import Reader
from vidscore_server.store.errors import StoreError

Version = tuple[datetime, int]
"""When a benchmark was created, and the revision of its record."""

HasWork = Callable[[Reader, str], bool]


class ChangedBenchmarks:
    """Finds the benchmarks with work of one kind; only changed ones are examined.

    Args:
        work: The work of that kind at this server.
        name_of: Names the work of a benchmark.
        has_work: Whether a benchmark has some.
    """

    def __init__(
        self, work: LeasedOperations, name_of: Callable[[str], str], has_work: HasWork
    ) -> None:
        self._work = work
        self._name_of = name_of
        self._has_work = has_work
        self._settled: dict[str, Version] = {}
        self._found: dict[str, Version] = {}

    def due(self, reader: Reader) -> list[str]:
        """Benchmarks with work that no server does."""
        versions = reader.benchmark_revisions()
        self._settled = {name: at for name, at in self._settled.items() if name in versions}
        changed = [name for name, at in versions.items() if self._settled.get(name) != at]
        if not changed:
            return []
        free = set(self._work.free(reader, map(self._name_of, changed)))
        due = []
        for name in changed:
            if self._name_of(name) in free and self._examine(reader, name):
                due.append(name)
            elif self._name_of(name) in free:
                self._settled[name] = versions[name]
        self._found = {name: versions[name] for name in due}
        return due

    def _examine(self, reader: Reader, name: str) -> bool:
        """Whether a benchmark has work; one that cannot be read has none, and stops no other."""
        try:
            return self._has_work(reader, name)
        except StoreError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the others must go on
            places = places_of(error)
            log(logging.ERROR, "operation failed", name=self._name_of(name), places=places)
            return False

    def give_up(self, benchmark: str) -> None:
        """Leave the work that was found of a benchmark alone until it changes again."""
        if benchmark in self._found:
            self._settled[benchmark] = self._found[benchmark]

    def look_again(self, benchmark: str) -> None:
        """Examine a benchmark once more, although it has not changed."""
        self._settled.pop(benchmark, None)
