"""Merging: the reports of all shards together, or every reason why they cannot be merged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from vidscore_evaluators.errors import Fault, InputError, TallyError
from vidscore_evaluators.evaluator import Evaluator
from vidscore_evaluators.formats._files import read_at
from vidscore_evaluators.formats.source import ReadLimits
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.names import counted, first_of
from vidscore_evaluators.remote_files import DataPath
from vidscore_evaluators.report import FrameExample, Report, with_warnings
from vidscore_evaluators.shards.dealing import Shard
from vidscore_evaluators.shards.readings import faults_between, warnings_of
from vidscore_evaluators.shards.runs import Run
from vidscore_evaluators.shards.tally_files import ShardHeader, header_from_bytes, shard_from_bytes
from vidscore_evaluators.tally import Tally, merge_tallies

TALLIES_PER_SUM = 8
"""Number of tallies that are added at once."""

SHARDS_NAMED = 10
"""Maximum number of missing shards that are named."""

Load = Callable[[], bytes]
"""Reads the bytes of a tally file; raises InputError if that is impossible."""


class Merged(Struct, frozen=True, eq=False):
    """The merged result of all shards of a scoring.

    Attributes:
        evaluators: The evaluators.
        reports: A report for each, equal to that of `vidscore_evaluators.scoring.score`.
        places: Places in the files of the frames that warnings may cite.
    """

    evaluators: Sequence[Evaluator[Any]]
    reports: list[Report]
    places: Mapping[FrameExample, str]

    def place_of(self, example: FrameExample) -> str:
        """File and line, or entry, of the frame that a warning names; empty if unknown."""
        return self.places.get(example, "")


class TallySum:
    """Adds tallies of several evaluators in a tree: each is added to others of its size.

    Adding one after the other would process the whole sum each time.
    """

    def __init__(self) -> None:
        self._levels: list[list[Sequence[Tally]]] = []

    def add(self, tallies: Sequence[Tally]) -> None:
        """Add a tally for each evaluator.

        Raises:
            TallyError: If they do not match earlier ones.
        """
        for level in self._levels:
            level.append(tallies)
            if len(level) < TALLIES_PER_SUM:
                return
            tallies = _added(level)
            level.clear()
        self._levels.append([tallies])

    def total(self) -> Sequence[Tally]:
        """The sum for each evaluator, of at least one tally.

        Raises:
            TallyError: If they do not match.
        """
        return _added([tallies for level in self._levels for tallies in level])


def _added(parts: Sequence[Sequence[Tally]]) -> Sequence[Tally]:
    return [merge_tallies(own) for own in zip(*parts, strict=True)]


def merge_files(paths: Sequence[DataPath]) -> Merged:
    """Merge tally files.

    Args:
        paths: The files of all shards, in any order.

    Raises:
        InputError: With every reason why they do not match: a file that is unreadable, damaged or
            of another scoring, a shard that occurs twice or is missing.
    """

    def loader(path: DataPath) -> Load:
        return lambda: read_at(path, "a tally file", ReadLimits())

    repeated = [
        Fault("the file twice", "each once", str(path))
        for path, count in Counter(paths).items()
        if count > 1
    ]
    return merge_shards({str(path): loader(path) for path in paths}, repeated)


def merge_shards(sources: Mapping[str, Load], known_faults: Sequence[Fault] = ()) -> Merged:
    """Merge the tallies of shards, which are read twice, so that not all are held at once.

    Args:
        sources: By name, a function that reads the bytes of each.
        known_faults: Faults that are reported with those of the files.

    Raises:
        InputError: As for `merge_files`.
    """
    headers, faults = _headers(sources)
    faults = [*known_faults, *faults, *_faults_between(headers)]
    if faults:
        raise InputError(faults)
    ordered = sorted(headers, key=lambda name: headers[name].shard)
    readings = {name: headers[name].readings for name in ordered}
    parts = {name: known for name, known in readings.items() if known is not None}
    faults.extend(faults_between(parts))
    if faults:
        raise InputError(faults)
    run = headers[ordered[0]].run
    evaluators = _evaluators(run, ordered[0])
    tallies = _sum(sources, headers, evaluators)
    warnings = run.warnings
    if run.in_parts:
        warnings = warnings_of(list(parts.values()))
    else:
        _check_whole(run, tallies)
    return Merged(
        evaluators=evaluators,
        reports=[
            with_warnings(evaluator.report(tally), warnings)
            for evaluator, tally in zip(evaluators, tallies, strict=True)
        ],
        places=dict(cited for name in ordered for cited in headers[name].cited),
    )


def _headers(sources: Mapping[str, Load]) -> tuple[dict[str, ShardHeader], list[Fault]]:
    """The header of each file, and faults of unreadable ones; equal runs share one object."""
    headers: dict[str, ShardHeader] = {}
    faults: list[Fault] = []
    kinds: list[Run] = []
    for name, load in sources.items():
        try:
            header = header_from_bytes(load())
        except (InputError, TallyError) as error:
            faults.extend(_faults_of(error, name))
            continue
        known = next((run for run in kinds if not any(run.differences(header.run))), None)
        if known is None:
            kinds.append(header.run)
        else:
            # A specification may be large; only the texts of warnings may differ.
            header = replace(header, run=replace(known, warnings=header.run.warnings))
        headers[name] = header
    return headers, faults


def _faults_of(error: InputError | TallyError, name: str) -> list[Fault]:
    if isinstance(error, InputError):
        return list(error.faults)
    return [Fault(str(error), "", source=name, advice="score this shard again")]


def _faults_between(headers: Mapping[str, ShardHeader]) -> Iterator[Fault]:
    """Why tally files do not match: other scorings, and missing or repeated shards."""
    if not headers:
        return
    [(count, _), *_] = Counter(header.shard.count for header in headers.values()).most_common(1)
    model = _usual(headers)
    owners: dict[Shard, str] = {}
    for name, header in headers.items():
        if header.shard.count != count:
            yield Fault(f"shard {header.shard}", f"one of {count} shards, as most are", name)
            continue
        for what, found, expected in headers[model].run.differences(header.run):
            yield Fault(found, f"{expected}, as in {model}", source=name, field=what)
        owner = owners.setdefault(header.shard, name)
        if owner != name:
            yield Fault(f"shard {header.shard}", f"it once: {owner} is of it, too", source=name)
    missing = [shard for shard in Shard.all_of(count) if shard not in owners]
    if missing:
        names = first_of(list(map(str, missing)), SHARDS_NAMED)
        expected = f"{counted(count, 'tally file')}, one per shard"
        yield Fault(f"no usable tally file of shard {names}", expected)


def _usual(headers: Mapping[str, ShardHeader]) -> str:
    """Name of a file of the most frequent run; of equally frequent ones, the first given."""
    names: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for name, header in headers.items():
        names.setdefault(header.run.compared, []).append(name)
    return max(names.values(), key=len)[0]


def _evaluators(run: Run, name: str) -> list[Evaluator[Any]]:
    """The evaluators of a run.

    Raises:
        InputError: With every reason why one is unavailable here.
    """
    evaluators: list[Evaluator[Any]] = []
    faults: list[Fault] = []
    here = software_versions()
    for software, version in run.software.items():
        if here.get(software) != version:
            expected = f"{software} {here.get(software)}, which is installed here"
            faults.append(Fault(f"{software} {version}", expected, source=name))
    for judge in run.judges:
        try:
            evaluators.append(judge.evaluator())
        except InputError as error:
            faults.extend(Fault(fault.description, "", source=name) for fault in error.faults)
    if faults:
        raise InputError(faults)
    return evaluators


def _sum(
    sources: Mapping[str, Load],
    headers: Mapping[str, ShardHeader],
    evaluators: Sequence[Evaluator[Any]],
) -> Sequence[Tally]:
    """The sum of the tallies for each evaluator.

    Raises:
        InputError: With every file whose tallies cannot be added.
    """
    nothing = [evaluator.identity_tally for evaluator in evaluators]
    added = TallySum()
    faults: list[Fault] = []
    for name, load in sources.items():
        try:
            shard = shard_from_bytes(load())
            if shard.shard != headers[name].shard or any(shard.run.differences(headers[name].run)):
                raise TallyError("the file has changed while it was read")
            for tally, none in zip(shard.tallies, nothing, strict=True):
                _check_tables(tally, none)
            added.add(shard.tallies)
        except (InputError, TallyError) as error:
            faults.extend(_faults_of(error, name))
    if faults:
        raise InputError(faults)
    return added.total()


def _check_tables(tally: Tally, nothing: Tally) -> None:
    """Refuse a tally that is not of an evaluator, given the evaluator's tally of nothing.

    Raises:
        TallyError: If the tally is of another evaluator, or has other tables.
    """
    tables, wanted = (
        {name: table.schema for name, table in [*one.tables.items(), *one.input_summary.items()]}
        for one in (tally, nothing)
    )
    if tally.evaluator != nothing.evaluator or tables != wanted:
        raise TallyError(f"its tables are not those of {nothing.evaluator}")


def _check_whole(run: Run, tallies: Sequence[Tally]) -> None:
    """Refuse shards whose sequences together differ from the data that all of them have read.

    Raises:
        InputError: If digests do not add up.
    """
    faults = [
        Fault(str(found), f"{expected}, that of the whole data", field=f"digests of the {side}")
        for tally in tallies[:1]
        for side, found, expected in (
            ("truth", tally.truth, run.truth),
            ("detections", tally.detections, run.detections),
        )
        if str(found) != expected
    ]
    if faults:
        raise InputError(faults)
