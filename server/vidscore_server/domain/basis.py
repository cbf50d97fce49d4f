"""The basis of scores, which makes them comparable: revision of the truth, and rules.

A score's *basis* is the revision of the truth and, of its evaluator, the version, parameters and
specification. A board shows scores of one basis, which the benchmark's record names. Another one is
*wanted* as soon as a newer revision of the truth is complete, or the rules of the benchmark change;
the board moves to it once every submission is scored under it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime

import msgspec
from msgspec import Struct

from vidscore_server.domain.definition import Definition
from vidscore_server.store import Reader
from vidscore_server.store.records import BenchmarkRecord, SubmissionRecord

MAXIMUM_REVISIONS = 1_000_000

Key = tuple[int, str]
"""Basis of one evaluator's scores: revision of the truth, configuration."""

_Part = tuple[int, int, str]
"""A number or word of a version: its rank, the number, the word."""


class Basis(Struct, frozen=True):
    """The basis of the scores on a board.

    Attributes:
        truth_revision: Revision of the truth.
        configurations: For each evaluator, its version and a digest of parameters and
            specification.
    """

    truth_revision: int
    configurations: Mapping[str, str]

    def key(self, evaluator: str) -> Key | None:
        """Basis of an evaluator's scores; None if the board has none."""
        configuration = self.configurations.get(evaluator)
        return None if configuration is None else (self.truth_revision, configuration)

    def to_json(self) -> str:
        """The basis in its stored form; equal bases give equal strings."""
        return msgspec.json.encode(self, order="sorted").decode()


class BoardState(Struct, frozen=True):
    """The state of a benchmark's board.

    Attributes:
        shown: Basis of its scores; None while nothing is scored.
        wanted: Basis that it is to show; None while nothing is scored.
        waiting: Scored submissions without a score on the wanted basis, in order of sealing.
    """

    shown: Basis | None
    wanted: Basis | None
    waiting: tuple[str, ...]

    def is_under(self, revision: int) -> bool:
        """Whether a revision of the truth is that of the wanted basis."""
        return self.wanted is not None and self.wanted.truth_revision == revision

    @property
    def is_ready(self) -> bool:
        """Whether the board may move."""
        return self.wanted is not None and self.wanted != self.shown and not self.waiting


def shown_basis(record: BenchmarkRecord) -> Basis | None:
    """Basis of the scores on a benchmark's board; None while it has none."""
    return msgspec.json.decode(record.board, type=Basis) if record.board else None


def own_basis(reader: Reader, definition: Definition, record: BenchmarkRecord) -> Basis | None:
    """The newest basis by the rules of this server; None while there is no truth."""
    revision = newest_complete(reader, record) or record.truth_revision
    return Basis(revision, definition.configurations) if revision else None


def wanted_basis(reader: Reader, definition: Definition, record: BenchmarkRecord) -> Basis | None:
    """The basis that the board is to show.

    While no truth is complete, its truth is the newest under which anything was scored. If the
    board shows rules newer than this server's, they stay wanted: another server has them.
    """
    revision = newest_complete(reader, record)
    if not revision:
        revision = reader.newest_scored_truth(record.benchmark)
    if not revision:
        return None
    shown = shown_basis(record)
    if shown is not None and is_newer(shown.configurations, definition.configurations):
        return Basis(revision, shown.configurations)
    return Basis(revision, definition.configurations)


def newest_complete(reader: Reader, record: BenchmarkRecord) -> int:
    """The newest revision of the truth that is complete; 0 for none."""
    newest = reader.truth_revision(record.benchmark, record.truth_revision)
    if newest is None or newest.complete:
        return record.truth_revision
    revisions = reader.truth_revisions(record.benchmark, newest.revision, MAXIMUM_REVISIONS)
    return next((entry.revision for entry in revisions if entry.complete), 0)


def board_state(
    reader: Reader, definition: Definition, record: BenchmarkRecord, wanted: Basis | None = None
) -> BoardState:
    """The state of a benchmark's board.

    Args:
        reader: A state of the store.
        definition: The benchmark.
        record: Its record.
        wanted: The basis to show; None for the one that follows from the benchmark.
    """
    wanted = wanted or wanted_basis(reader, definition, record)
    shown = shown_basis(record)
    if wanted is None or (shown is None and not reader.newest_scored_truth(record.benchmark)):
        return BoardState(shown, None, ())
    return BoardState(shown, wanted, waiting_for(reader, record.benchmark, wanted))


def waiting_for(reader: Reader, benchmark: str, basis: Basis) -> tuple[str, ...]:
    """Scored submissions without a score under a basis, except those that failed for good."""
    bases = {name: (basis.truth_revision, kept) for name, kept in basis.configurations.items()}
    return reader.waiting_names(benchmark, bases, basis.to_json())


def sealing_order(record: SubmissionRecord) -> tuple[datetime, str]:
    """Sort key of submissions by the time of sealing."""
    return (record.seal_time or record.create_time, record.submission)


def version_of(configuration: str) -> str:
    """Version of the evaluator in a configuration: what stands between its name and the digest."""
    return configuration.partition(" ")[2].rpartition(" ")[0]


def is_newer(these: Mapping[str, str], those: Mapping[str, str]) -> bool:
    """Whether an evaluator has a newer version in `these` than in `those`."""
    return any(
        _order(version_of(these[name])) > _order(version_of(those[name]))
        for name in these.keys() & those.keys()
    )


_NUMBER, _OTHER_TEXT = 2, -1
_RANKS = {"dev": -5, "a": -4, "alpha": -4, "b": -3, "beta": -3, "c": -2, "rc": -2, "": 0, "post": 1}
"""Order of what may follow a release; the empty string ends a version."""


def _order(version: str) -> tuple[list[int], list[_Part], list[_Part], str]:
    """Sort key of versions by PEP 440, without epochs; any other text has a place, too.

    Different forms of a version, such as 1.0 and 1.0.0, have an order, on which all servers agree.
    """
    public, _, local = version.lower().partition("+")
    suffix = public.lstrip("0123456789.")
    release = [int(part) for part in public.removesuffix(suffix).split(".") if part]
    while release and not release[-1]:
        release.pop()
    return release, [*_parts(suffix), _part("")], _parts(local), version


def _parts(text: str) -> list[_Part]:
    return [_part(part) for part in re.findall(r"\d+|[^\W\d_]+", text)]


def _part(text: str) -> _Part:
    if text.isdecimal():
        return _NUMBER, int(text), ""
    return _RANKS.get(text, _OTHER_TEXT), 0, text
