"""Many systems against one truth: each scored by itself, and one sorted table of all.

A system that cannot be scored is named and left out of the table; the others are still scored, and
the exit code shows that one is missing.
"""

from __future__ import annotations

import glob
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from vidscore_cli.output import deliver, deliver_json, say, write_atomically
from vidscore_cli.session import ExitCode
from vidscore_evaluators.errors import Fault, InputError, VidscoreError
from vidscore_evaluators.machine_text import csv_text
from vidscore_evaluators.names import counted
from vidscore_evaluators.remote_files import RemotePath, data_path, matching, path_text

if TYPE_CHECKING:
    from vidscore_evaluators.evaluator import Evaluator, RankKey
    from vidscore_evaluators.report import Number, Report
    from vidscore_evaluators.report_grids import Grid

PARQUET = "parquet"
"""A format that only the table of many systems has."""

MAXIMUM_SYSTEMS = 10_000
"""Maximum number of systems in a table, whose lines are all in memory."""


def systems_matching(detections: str) -> list[str] | None:
    """Paths of the systems that a pattern names, in order; None if one path is meant.

    Args:
        detections: The typed value; an existing path is never a pattern.

    Raises:
        click.BadParameter: If a pattern names nothing, or too much.
        InputError: If that cannot be known.
    """
    if not glob.has_magic(detections):
        return None
    path = data_path(detections)
    if isinstance(path, RemotePath):
        found = matching(path, folders=detections.endswith("/"))
    elif path.exists():
        return None
    else:
        found = sorted(glob.glob(path_text(detections)))  # noqa: PTH207 - it may begin anywhere
    if not 0 < len(found) <= MAXIMUM_SYSTEMS:
        expected = f"from 1 to {MAXIMUM_SYSTEMS} files or folders of systems"
        said = f"{detections} names {counted(len(found), 'path')}, expected {expected}"
        raise click.BadParameter(said, param_hint="--detections")
    return [path.rstrip("/") for path in found]


class ScoredSystem(Struct, frozen=True):
    """The data of a system for the table; its reports may be many times as large.

    Attributes:
        name: Its path.
        rank_key: Key by which it is ranked.
        scores: Over everything, by the column of the table.
    """

    name: str
    rank_key: RankKey
    scores: Mapping[str, Number]

    @classmethod
    def of(
        cls, name: str, evaluators: Sequence[Evaluator[Any]], reports: Sequence[Report]
    ) -> ScoredSystem:
        """Keep what the table shows of the reports of a system, one per evaluator."""
        from vidscore_evaluators.report import overall_scores

        scores = {
            f"{report.evaluator}.{measure}" if len(evaluators) > 1 else measure: value
            for report in reports
            for measure, value in overall_scores(report).items()
        }
        return cls(name, evaluators[0].rank_key(reports[0]), scores)


def score_each(
    systems: Sequence[str],
    evaluators: Sequence[Evaluator[Any]],
    score: Callable[[str], Sequence[Report]],
    *,
    strict: bool,
) -> list[ScoredSystem]:
    """Score systems one after the other; those that cannot be are named on standard error.

    Args:
        systems: Their paths.
        evaluators: The evaluators, one for each report.
        score: Scores one.
        strict: Whether warnings are errors.
    """
    kept = (_score_one(system, evaluators, score, strict=strict) for system in systems)
    return [system for system in kept if system is not None]


def _score_one(
    system: str,
    evaluators: Sequence[Evaluator[Any]],
    score: Callable[[str], Sequence[Report]],
    *,
    strict: bool,
) -> ScoredSystem | None:
    """Score one, as `score_each` does; its reports, which may hold its columns, end here."""
    try:
        if Path(system).is_fifo():
            raise InputError([Fault("a pipe, which may never end", "a file or folder")])
        reports = score(system)
    except VidscoreError as error:
        say(f"Error: {system} was not scored: {error}", err=True)
        return None
    warnings = {one for report in reports for one in report.warnings if not one.is_note}
    if warnings:
        found = f"{system} has {counted(len(warnings), 'warning')}"
        if strict:
            say(f"Error: {found}, which --strict makes errors; it was left out", err=True)
            return None
        say(f"Warning: {found}; scored alone, it shows them", err=True)
    return ScoredSystem.of(system, evaluators, reports)


def write_systems(
    evaluators: Sequence[Evaluator[Any]],
    scored: Sequence[ScoredSystem],
    missing_count: int,
    form: str,
    output: str,
) -> ExitCode:
    """Write the table of systems, best first by the first evaluator.

    Args:
        evaluators: The evaluators.
        scored: The systems that were scored.
        missing_count: Number of systems that were not scored.
        form: ``table``, ``json``, ``csv``, ``markdown``, ``latex`` or ``parquet``.
        output: Path of a file, or "-".

    Returns:
        What the command exits with.
    """
    from vidscore_cli.report_parts import Words, deliver_parts

    table = SystemTable.of(scored)
    if form == "json":
        deliver_json(list(table.documents()), output)
    elif form == "csv":
        deliver(csv_text(table.headings, table.lines), output)
    elif form == PARQUET:
        write_atomically(data_path(output), table.parquet())
    else:
        best = f"{evaluators[0].name} {evaluators[0].version}"
        heading = f"{counted(len(scored), 'system')}, best first by {best}"
        deliver_parts([Words(heading, heading=True), table.grid()], output, form)
    if missing_count:
        say(f"Error: {counted(missing_count, 'system')} not scored, named above", err=True)
    return ExitCode.INPUT if missing_count else ExitCode.OK


class SystemTable(Struct, frozen=True):
    """One line per system, best first.

    Attributes:
        measures: Scores over everything: the columns after rank and system.
        lines: Rank, name and scores of each system.
    """

    measures: tuple[str, ...]
    lines: list[tuple[Any, ...]]

    @classmethod
    def of(cls, scored: Sequence[ScoredSystem]) -> SystemTable:
        """Rank systems by the first evaluator; equal ones share a rank and are sorted by name."""
        from vidscore_evaluators.trust.systems import ranks_of_keys

        measures = tuple(dict.fromkeys(name for system in scored for name in system.scores))
        keys = [system.rank_key for system in scored]
        ranks = ranks_of_keys(keys).tolist() if keys else []
        lines = [
            (rank, system.name, *(system.scores.get(name) for name in measures))
            for rank, system in zip(ranks, scored, strict=True)
        ]
        return cls(measures, sorted(lines, key=lambda line: line[:2]))

    @property
    def headings(self) -> tuple[str, ...]:
        """Names of the columns."""
        return ("rank", "system", *self.measures)

    def documents(self) -> Iterator[dict[str, Any]]:
        """The lines as objects of JSON."""
        for rank, system, *values in self.lines:
            scores = dict(zip(self.measures, values, strict=True))
            yield {"rank": rank, "system": system, "scores": scores}

    def grid(self) -> Grid:
        """The lines for people."""
        from vidscore_evaluators.names import escape_controls
        from vidscore_evaluators.report_grids import Grid, format_number

        cells = [
            (str(rank), escape_controls(system), *map(format_number, values))
            for rank, system, *values in self.lines
        ]
        return Grid("Over everything", self.headings, leading=2, lines=cells)

    def parquet(self) -> bytes:
        """The lines as a Parquet file; an undefined score is null.

        Raises:
            MissingExtraError: If pyarrow is not installed.
        """
        import numpy as np

        from vidscore_evaluators.data_frames import Column
        from vidscore_evaluators.names import escape_controls
        from vidscore_evaluators.parquet_tables import ParquetTables

        columns = list(zip(*self.lines, strict=True)) or [()] * len(self.headings)
        places = np.arange(len(self.lines))
        file = io.BytesIO()
        tables = ParquetTables(file)
        tables.write(
            {
                "rank": Column(np.array(columns[0], dtype=np.int64)),
                "system": Column(places, texts=tuple(map(escape_controls, columns[1]))),
                **dict(zip(self.measures, map(_column, columns[2:]), strict=True)),
            }
        )
        tables.finish()
        return file.getvalue()


def _column(values: Sequence[Number]) -> Any:
    """Scores as a column, of integers if all are counts."""
    import numpy as np

    from vidscore_evaluators.data_frames import Column

    missing = np.array([value is None for value in values], dtype=np.bool_)
    kind = np.int64 if all(isinstance(value, int | None) for value in values) else np.float64
    known = np.array([0 if value is None else value for value in values], dtype=kind)
    return Column(known, missing)
