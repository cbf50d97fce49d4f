"""The rules of a world: its benchmark's policy, its servers' settings and their number."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cache, cached_property
from random import Random
from typing import Any

import orjson
from tests.campaigns.simulation.servers import BENCHMARK
from tests.campaigns.simulation.stores import BEGIN, SharedStore

from vidscore_server.domain.benchmarks import from_json, to_json
from vidscore_server.domain.definition import Definition, definition_from_dict
from vidscore_server.settings import Settings, load_settings
from vidscore_server.store.records import BenchmarkRecord


@dataclass(frozen=True)
class Rules:
    """The rules of a world.

    Attributes:
        server_count: The number of servers.
        settings: Their settings.
        document: The definition of the benchmark, as the store keeps it.
        close_time: When it closes; None for never.
    """

    server_count: int
    settings: Settings
    document: str
    close_time: datetime | None

    @classmethod
    def drawn(cls, chance: Random) -> Rules:
        """Random rules."""
        closes = chance.random() < 0.3
        close_time = BEGIN + timedelta(seconds=chance.randrange(100, 600)) if closes else None
        policy = {
            "quiet_timeout_s": float(chance.choice((60, 120, 300))),
            "quiet_action": chance.choice(("seal", "cancel")),
            "truth_timeout_s": float(chance.choice((60, 300))),
            "submissions_per_day": chance.choice((0, 0, 1, 2)),
            "submissions_in_all": chance.choice((0, 0, 1, 3)),
            "visibility": chance.choice(("ladder", "final")),
            "private_sequences": chance.choice(((), (), ("p",))),
            "rescore": chance.choice(("automatic", "review")),
        }
        settings = replace(
            _settings(),
            scoring_attempts=chance.choice((1, 2)),
            maximum_scorings=chance.choice((1, 2)),
        )
        document = _document(orjson.dumps(policy).decode())
        return cls(chance.choice((1, 2, 2, 3)), settings, document, close_time)

    @cached_property
    def definition(self) -> Definition:
        """The definition of the benchmark."""
        return from_json(self.document)

    def prepare(self, store: SharedStore) -> None:
        """Insert the benchmark into the store."""
        record = BenchmarkRecord(BENCHMARK, self.document, None, self.close_time, BEGIN, BEGIN)
        store.run("nobody", lambda transaction: transaction.insert_benchmark(record))


@cache
def _settings() -> Settings:
    return replace(
        load_settings(), lease_timeout_s=30, heartbeat_interval_s=15, scoring_timeout_s=120
    )


@cache
def _document(policy: str) -> str:
    definition: dict[str, Any] = {
        "evaluators": [{"name": "f1"}],
        "truth_geometry": "box",
        "detection_geometry": "box",
        "public_names": [],
        "policy": {"ladder_step": 0.01, "ranking_measure": "f1", **orjson.loads(policy)},
    }
    return to_json(definition_from_dict(definition))
