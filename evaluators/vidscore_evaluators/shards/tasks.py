"""Shards run by any `concurrent.futures.Executor`: tasks carry paths and return tally bytes.

A task reads its part of both sides itself, wherever it runs. If the formats require reading the
whole, it keeps the data for the next shard of the same scoring in the same process.
"""

from __future__ import annotations

import dataclasses
import os
import pickle
import secrets
import threading
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import CancelledError, Executor, Future, as_completed
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import Struct, field, structs

from vidscore_evaluators.errors import EvaluatorVersionError, Fault, InputError, ParameterError
from vidscore_evaluators.formats import Pair
from vidscore_evaluators.formats._files import STANDARD_INPUT
from vidscore_evaluators.formats.source import ReadLimits, Source, Wanted
from vidscore_evaluators.installed import software_versions
from vidscore_evaluators.preparation import Data, DataChoice, prepare
from vidscore_evaluators.presets import create_evaluators
from vidscore_evaluators.remote_files import (
    DataPath,
    RemotePath,
    data_path,
    listed_files,
    path_text,
)
from vidscore_evaluators.report import Report
from vidscore_evaluators.runtime import Progress
from vidscore_evaluators.shards.dealing import Shard, check_cut
from vidscore_evaluators.shards.merging import Merged, merge_shards
from vidscore_evaluators.shards.readings import wanted_by
from vidscore_evaluators.shards.run_folders import RunFolder, ShardInputs, inputs_of
from vidscore_evaluators.shards.tally_files import shard_to_bytes
from vidscore_evaluators.shards.tallying import CheckedData
from vidscore_evaluators.specification import BenchmarkSpec


class ScoringTask(Struct, frozen=True):
    """A scoring, by the names of its files.

    Attributes:
        specification: The specification, with the evaluators.
        truth: Path of the truth.
        detections: Path of the detections.
        choice: How both are read, and which part is scored.
        folder: The folder that relative paths start from.
        software: Versions that must be installed wherever it runs.
        scoring: Identifies the scoring. A process keeps data for one scoring only, because other
            inputs of a reading may have changed since.
    """

    specification: BenchmarkSpec
    truth: str
    detections: str
    choice: DataChoice
    folder: Path = field(default_factory=Path.cwd)
    software: Mapping[str, str] = field(default_factory=software_versions)
    scoring: str = field(default_factory=lambda: secrets.token_hex(8))

    def __post_init__(self) -> None:
        """Refuse inputs that other processes cannot read.

        Raises:
            ParameterError: If a side is standard input or another pipe.
        """
        for side in ("truth", "detections"):
            path = Path(getattr(self, side))
            if path == STANDARD_INPUT or path.is_fifo():
                found = "standard input" if path == STANDARD_INPUT else "a pipe"
                expected = "a file or a folder, which other processes can read"
                raise ParameterError([Fault(found, expected, source=side)])

    def path_of(self, name: str) -> DataPath:
        """A path as typed, if relative ones start from the same folder here; else absolute."""
        path = data_path(name)
        if isinstance(path, RemotePath) or Path.cwd() == self.folder:
            return path
        return Path(self.folder, path)

    def local_specification(self) -> BenchmarkSpec:
        """The specification, with preset files by paths that are valid here."""
        named = tuple(
            dataclasses.replace(entry, name=str(self.path_of(entry.name)))
            if entry.name.endswith(".toml")
            else entry
            for entry in self.specification.evaluators
        )
        return dataclasses.replace(self.specification, evaluators=named)


def reports_by(
    executor: Executor,
    specification: BenchmarkSpec,
    truth: Data,
    detections: Data,
    choice: DataChoice,
    shards: int,
    progress: Progress | None,
) -> list[Report]:
    """Score with an executor; the arguments are those of `vidscore_evaluators.scoring.score`.

    Raises:
        ParameterError: If a side is not a path, which workers need.
        InputError: As for `score_by`.
    """
    paths = {}
    faults = []
    for name, side in {"truth": truth, "detections": detections}.items():
        if isinstance(side, str | os.PathLike):
            paths[name] = path_text(side)
        else:
            faults.append(Fault(type(side).__name__, "a path, with an executor", field=name))
    if faults:
        raise ParameterError(faults)
    task = ScoringTask(specification, paths["truth"], paths["detections"], choice)
    return score_by(executor, task, shards=shards, progress=progress).reports


def score_shard(task: ScoringTask, shard: Shard, key: str | None = None) -> bytes:
    """Score a shard in the calling process; returns the bytes of its tally file.

    Args:
        task: The scoring.
        shard: The shard.
        key: The digest that its inputs have, if they have been read before.

    Raises:
        EvaluatorVersionError: If the installed versions differ from those of the task.
        InputError: With every fault of the data; or if its inputs have changed.
    """
    data = _data_of(task, shard)
    if key is not None and inputs_of(data, [shard])[0].key != key:
        found, expected = "data that changes", "files that stay as they are while they are scored"
        raise InputError([Fault(found, expected, f"shard {shard}", advice="start again")])
    return shard_to_bytes(data.tally(shard))


def inputs_of_shards(task: ScoringTask, shards: Sequence[Shard]) -> list[ShardInputs]:
    """Read the data and return the inputs of shards: of the first, if each reads its own part.

    Raises:
        EvaluatorVersionError: If the installed versions differ from those of the task.
        InputError: With every fault of the data.
    """
    data = _data_of(task, shards[0])
    return inputs_of(data, shards if data.readings is None else shards[:1])


def score_by(
    executor: Executor,
    task: ScoringTask,
    *,
    shards: int,
    run_folder: Path | None = None,
    progress: Progress | None = None,
) -> Merged:
    """Score with an executor.

    Args:
        executor: The executor of the tasks.
        task: The scoring.
        shards: Number of shards.
        run_folder: Folder in which finished shards are looked up first, and kept.
        progress: Called with (shards done, shards in all); with a run folder, a shard counts twice:
            when its inputs have been read, and when it is done.

    Raises:
        EvaluatorVersionError: If other versions are installed where tasks run.
        InputError: With every fault of the data, or of the returned tallies.
    """
    check_cut(create_evaluators(task.specification, files=True), task.choice.cut_frames)
    wanted = Shard.all_of(shards)
    folder = None
    keys: dict[Shard, str] = {}
    done: dict[Shard, bytes] = {}
    if run_folder is not None:
        folder = RunFolder(run_folder)
        inputs = _all_inputs(executor, task, wanted, progress)
        keys = {shard: one.key for shard, one in inputs.items()}
        done = folder.kept(inputs)
    pending = {
        executor.submit(score_shard, task, shard, keys.get(shard)): shard
        for shard in wanted
        if shard not in done
    }

    def take(shard: Shard, tally: bytes) -> None:
        done[shard] = tally
        if folder is not None:
            folder.keep(keys[shard], tally)

    try:
        _report(progress, len(keys) + len(done), len(keys) + shards)
        for future in as_completed(pending):
            take(pending[future], future.result())
            _report(progress, len(keys) + len(done), len(keys) + shards)
    finally:
        _cancel(pending)
        for future, shard in pending.items():
            if shard not in done:
                # Report the error that ended this run, but keep other shards that have finished.
                with suppress(Exception, CancelledError, TimeoutError):
                    take(shard, future.result(timeout=0))
    return merge_shards({f"shard {shard}": partial(done.__getitem__, shard) for shard in wanted})


def _all_inputs(
    executor: Executor, task: ScoringTask, shards: Sequence[Shard], progress: Progress | None
) -> dict[Shard, ShardInputs]:
    """The inputs of all shards: changes can only be detected in data that was read."""
    found = executor.submit(inputs_of_shards, task, shards).result()
    inputs = dict(zip(shards, found, strict=False))
    rest = shards[len(inputs) :]
    pending = {executor.submit(inputs_of_shards, task, [shard]): shard for shard in rest}
    try:
        for future in as_completed(pending):
            _report(progress, len(inputs), 2 * len(shards))
            [inputs[pending[future]]] = future.result()
    finally:
        _cancel(pending)
    return inputs


def _report(progress: Progress | None, done: int, count: int) -> None:
    if progress is not None:
        progress(done, count)


def _cancel(pending: Iterable[Future[Any]]) -> None:
    for future in pending:
        future.cancel()


_lock = threading.Lock()
_held: dict[bytes, CheckedData] = {}
"""The data that this process read last, by task and state of its files; at most one entry."""


def _checked(task: ScoringTask) -> CheckedData:
    """The data of a task, read and checked; read again only if the files have changed."""
    states = [_state(task.path_of(side)) for side in (task.truth, task.detections)]
    key = pickle.dumps((task, states))
    with _lock:
        if key not in _held:
            _held.clear()
            _held[key] = _read(task)
        return _held[key]


def _data_of(task: ScoringTask, shard: Shard) -> CheckedData:
    """The data that a shard reads: its part, if the formats allow it, or everything."""
    _check_software(task)
    sides = (task.path_of(task.truth), task.path_of(task.detections))
    wanted = wanted_by(shard, task.local_specification(), *sides, task.choice)
    return _checked(task) if wanted is None else _read(task, wanted)


def _check_software(task: ScoringTask) -> None:
    here = software_versions()
    if here != task.software:
        found, wanted = (
            ", ".join(f"{name} {version}" for name, version in versions.items())
            for versions in (here, task.software)
        )
        raise EvaluatorVersionError(f"a worker has {found}; the scoring needs {wanted}")


def _read(task: ScoringTask, wanted: Wanted | None = None) -> CheckedData:
    sides = (task.path_of(task.truth), task.path_of(task.detections))
    part = prepare(task.local_specification(), *sides, task.choice, wanted)
    truth, detections = (
        _named_as(str(data_path(typed)), str(path), source)
        for typed, path, source in (
            (task.truth, sides[0], part.pair.truth),
            (task.detections, sides[1], part.pair.detections),
        )
    )
    return CheckedData.of(structs.replace(part, pair=Pair(truth, detections)), task.choice)


def _named_as(name: str, path: str, source: Source) -> Source:
    """A side whose places and warnings name its files as the caller's own reading would."""
    if name == path:
        return source
    positions = source.positions
    if positions is not None:
        names = tuple(file.replace(path, name, 1) for file in positions.sources)
        positions = structs.replace(positions, sources=names)
    warnings = tuple(
        dataclasses.replace(warning, message=warning.message.replace(path, name))
        for warning in source.warnings
    )
    return structs.replace(source, name=name, positions=positions, warnings=warnings)


def _state(path: DataPath) -> list[tuple[str, int, int | str]]:
    """Size and time of a file, or of all files of a folder; empty if nothing is there."""
    if isinstance(path, RemotePath):
        listed = listed_files(path, ReadLimits().maximum_files).values()
        return sorted((file.shown, file.byte_count, file.state) for file in listed)
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    found = ((str(file), file.stat()) for file in files if file.is_file())
    return [(name, state.st_size, state.st_mtime_ns) for name, state in found]
