"""Rows of reports, computed from tables: scores of everything, of domains, classes and sequences.

A report states the `Scope` of each score: what it covers. A table that is keyed by domain, sequence
and class has the content of every scope. Undefined values stay undefined in means and ratios.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from vidscore_evaluators.arrays import run_starts
from vidscore_evaluators.report import Block, Number
from vidscore_evaluators.scene import Scene
from vidscore_evaluators.tally import Table, build_table, merge_tables


class Figures(NamedTuple):
    """Every measure of one domain, class and sequence; None stands for all of them."""

    domain: str | None
    label: str | None
    sequence: str | None
    values: Mapping[str, Number]


def block_of(figures: Sequence[Figures]) -> Block:
    """Join figures that all have the same measures into one block of a report."""
    names = figures[0].values if figures else ()
    return Block(
        measures={name: [entry.values[name] for entry in figures] for name in names},
        domains=[entry.domain for entry in figures],
        classes=[entry.label for entry in figures],
        sequences=[entry.sequence for entry in figures],
    )


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the defined values; None if there are none."""
    defined = [value for value in values if value is not None]
    return math.fsum(defined) / len(defined) if defined else None


def ratio(part: int, whole: int) -> float | None:
    """Part divided by whole; None if the whole is 0."""
    return part / whole if whole else None


def named(names: Iterable[str]) -> list[str]:
    """Each name once, ascending; rows without a name get no rows of their own in a report."""
    return sorted({name for name in names if name})


def scopes(domains: Iterable[str]) -> list[str | None]:
    """None for all domains together, then each domain that has a name."""
    return [None, *named(domains)]


_LEVELS = ((), ("domain",), ("class",), ("domain", "class"), ("domain", "sequence"))


class Scope(NamedTuple):
    """The data that a score covers; None means all domains, classes or sequences."""

    domain: str | None = None
    label: str | None = None
    sequence: str | None = None


EVERYTHING = Scope()


class Total(NamedTuple):
    """Sums over the rows of a table, by the names of its columns."""

    counts: Mapping[str, int]
    sums: Mapping[str, int]


def blocks_with_class_means(
    figures: Sequence[Figures], means: Mapping[str, str], counted: Collection[Scope]
) -> tuple[Block, Block]:
    """Figures as blocks of a report; those of everything and of domains get means over classes.

    Args:
        figures: The figures.
        means: Name of each mean, and the measure whose mean it is.
        counted: The scopes that are included in means, in general those with truth.

    Returns:
        The figures of everything and of domains, and the others. If nothing has a class, the mean
        is the figure of the single class that everything belongs to.
    """
    classes: dict[str | None, list[Figures]] = {}
    for entry in figures:
        if entry.label is not None and entry.sequence is None:
            classes.setdefault(entry.domain, []).append(entry)
    whole, parts = [], []
    for entry in figures:
        if entry.label is not None or entry.sequence is not None:
            parts.append(entry)
            continue
        of_classes = classes.get(entry.domain) or [entry]
        own = [other.values for other in of_classes if Scope(*other[:3]) in counted]
        class_means = {
            name: mean([_float(values[measure]) for values in own])
            for name, measure in means.items()
        }
        whole.append(entry._replace(values={**entry.values, **class_means}))
    return block_of(whole), block_of(parts)


def _float(number: Number) -> float | None:
    return None if number is None else float(number)


def with_every_sequence(table: Table, scene: Scene) -> Table:
    """Add a row of zeros without a class for each sequence that has evaluated frames.

    Sequences and domains without objects then have rows in a report like all others.

    Args:
        table: Counts by domain, class and maybe sequence.
        scene: The scene that was counted.
    """
    used = scene.frame_sequences[run_starts(scene.frame_sequences)]
    keys = [scene.sequences[row] for row in used.tolist()]
    rows = np.arange(len(keys), dtype=np.int64)
    codes = {
        "domain": rows,
        "sequence": rows + len(keys),
        "class": np.full(len(keys), 2 * len(keys), dtype=np.int64),
    }
    zeros = build_table(
        table.schema,
        [*(key.domain for key in keys), *(key.sequence for key in keys), ""],
        [codes[name] for name in table.schema.texts],
        counts=[np.zeros(len(keys), dtype=np.int64)] * len(table.schema.counts),
    )
    return merge_tables([table, zeros])


def totals_by_scope(table: Table) -> dict[Scope, Total]:
    """Sum a table keyed by domain, sequence and maybe class, for every scope.

    Args:
        table: The table; domains and classes without a name have no scope of their own.

    Returns:
        Everything first, then domains, classes and sequences, each in ascending order.
    """
    return {scope: parts[""] for scope, parts in totals_by_part(table, "").items()}


def totals_by_part(table: Table, part: str) -> dict[Scope, dict[str, Total]]:
    """The same for a table with one more string key; its values are summed separately.

    Args:
        table: The table.
        part: Name of the further string key, which may be the class. If empty, the table has none:
            all of it is one part with an empty name.
    """
    found: dict[Scope, dict[str, Total]] = {EVERYTHING: {} if part else {"": _total(table)}}
    for scope, value, grouped, row in grouped_rows(table, part):
        found.setdefault(scope, {})[value] = _row(grouped, row)
    return found


def grouped_rows(table: Table, part: str = "") -> Iterator[tuple[Scope, str, Table, int]]:
    """Every scope, with the row of a grouped table that has its sums; see `totals_by_part`.

    Yields:
        The scope, the value of the part, a grouped table, and the row in it that holds the sums.
        Without a part, the scope of everything is left out.
    """
    keys = {*table.schema.texts} - {part}
    for level in (level for level in _LEVELS if (level or part) and keys.issuperset(level)):
        grouped = table.grouped(*level, *([part] if part else []))
        columns = {name: grouped.texts(name) for name in level}
        parts = grouped.texts(part) if part else [""] * grouped.row_count
        for row, value in enumerate(parts):
            names = {name: column[row] for name, column in columns.items()}
            if all(names.get(name, "-") for name in _named(level)):
                yield _scope(names), value, grouped, row


def _named(level: tuple[str, ...]) -> tuple[str, ...]:
    """The names that a row with a scope must have: the domain of a sequence may be empty."""
    return tuple(name for name in level if name != "domain" or "sequence" not in level)


def _scope(names: Mapping[str, str]) -> Scope:
    return Scope(
        names.get("domain") or None, names.get("class") or None, names.get("sequence") or None
    )


def _total(table: Table) -> Total:
    counts = table.counts.sum(axis=0).tolist()
    sums = [column.total() for column in table.sums]
    return Total(
        dict(zip(table.schema.counts, counts, strict=True)),
        dict(zip(table.schema.sums, sums, strict=True)),
    )


def _row(table: Table, row: int) -> Total:
    return Total(
        dict(zip(table.schema.counts, table.counts[row].tolist(), strict=True)),
        {name: table.exact_sums(name).integers[row] for name in table.schema.sums},
    )
