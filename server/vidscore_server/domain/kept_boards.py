"""Boards that were worked out, kept until something that they are made of has changed.

Each call looks at the store whether a board still holds: scores and submissions with frames are
only added to, and every other change counts a revision up, so that a few sums tell. Servers over
one database need nothing of each other for it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime
from typing import NamedTuple

from vidscore_server.domain.access import Caller
from vidscore_server.domain.definition import Definition
from vidscore_server.domain.leaderboard import Board, RankedEntry, ranked_entries
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord

MAXIMUM_KEPT_ROWS = 200_000
"""Rows of all boards that are kept; the board that nobody has asked for longest goes first."""


class _Key(NamedTuple):
    benchmark: str
    evaluator: str
    domain: str | None
    label: str | None
    whole: bool


class _Kept(NamedTuple):
    stamp: tuple[object, ...]
    rows: list[RankedEntry]


class KeptBoards:
    """The boards that were asked for last.

    Args:
        maximum_rows: Rows that are kept.
    """

    def __init__(self, maximum_rows: int = MAXIMUM_KEPT_ROWS) -> None:
        self._maximum_rows = maximum_rows
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._lock = threading.Lock()

    def entries(
        self,
        reader: Reader,
        definition: Definition,
        record: BenchmarkRecord,
        board: Board,
        caller: Caller,
        now: datetime,
    ) -> list[RankedEntry]:
        """The entries of a board in rank order, as `ranked_entries` gives them.

        Args:
            reader: A state of the store.
            definition: The benchmark.
            record: Its record in that state.
            board: The board.
            caller: The caller.
            now: The time.
        """
        place = (board.benchmark, board.evaluator.name, board.domain, board.label)
        key = _Key(*place, whole=caller.is_organiser)
        portion = definition.board_portion(now)  # another one once the benchmark has closed
        stamp = (record.create_time, record.revision, portion, *reader.board_stamp(board.benchmark))
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept.stamp == stamp:
                self._kept.move_to_end(key)
                return kept.rows
        rows = ranked_entries(reader, definition, board, caller, now)
        with self._lock:
            self._kept[key] = _Kept(stamp, rows)
            self._kept.move_to_end(key)
            while sum(1 + len(one.rows) for one in self._kept.values()) > self._maximum_rows:
                self._kept.popitem(last=False)
        return rows
