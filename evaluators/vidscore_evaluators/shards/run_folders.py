"""Run folder: keeps the tallies of finished shards under digests of their inputs.

A digest covers the evaluators, the installed versions, both sides of the shard, to the bit and in
the order of their rows, and the places of its frames in the files. If none of these has changed,
the tally equals that of the last run. Nothing else is ever looked up, so a folder may serve several
scorings and may be emptied at any time.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from msgspec import Struct, to_builtins

from vidscore_evaluators.annotations import Annotations, SequenceKey
from vidscore_evaluators.arrays import AnyArray
from vidscore_evaluators.errors import TallyError
from vidscore_evaluators.formats.source import Source
from vidscore_evaluators.report import FrameExample
from vidscore_evaluators.shards.dealing import Shard, shard_number, shards_of_frames
from vidscore_evaluators.shards.readings import Readings
from vidscore_evaluators.shards.runs import Run
from vidscore_evaluators.shards.tally_files import shard_from_bytes, shard_to_bytes
from vidscore_evaluators.shards.tallying import CheckedData, Places, ShardTally

_SUFFIX = ".tally"


class ShardInputs(Struct, frozen=True):
    """The inputs of a shard, as they were read now.

    Attributes:
        key: A digest of them.
        run: What it has in common with the other shards.
        places: Places of the frames that warnings of reading cite.
        readings: Results of reading its part; None if it has read the whole data.
    """

    key: str
    run: Run
    places: Places
    readings: Readings | None


def inputs_of(data: CheckedData, shards: Sequence[Shard]) -> list[ShardInputs]:
    """The inputs of some shards.

    Args:
        data: The data; if a shard has read only its part, it is the only one.
        shards: The shards, at least one.
    """
    scoring = to_builtins((data.run.judges, data.run.software))
    common = json.dumps(scoring, sort_keys=True).encode()
    pair = data.part.pair
    of_truth, of_detections = (
        _places(source, shards, data.run.cut_frames) for source in (pair.truth, pair.detections)
    )
    cited = data.cited_places()
    found = []
    for *places, sides in zip(of_truth, of_detections, data.sides_of_each(shards), strict=True):
        digest = hashlib.blake2b(common, digest_size=20)
        for side in sides:
            _add_columns(digest, side)
        for place in places:
            digest.update(place)
        found.append(ShardInputs(digest.hexdigest(), data.run, cited, data.readings))
    return found


def _add_columns(digest: hashlib.blake2b, side: Annotations) -> None:
    """Add a side in its given order.

    A fingerprint ignores the order of objects in a frame, by which criteria may rank, and cannot
    tell a further column's 0 from a missing value.
    """
    texts = [
        [_text(key) for key in side.sequences],
        [_text(label) for label in side.labels],
    ]
    for names, rows in zip(texts, (side.frame_sequences, side.label_indices), strict=True):
        used, places = np.unique(rows, return_inverse=True)
        order = sorted(range(len(used)), key=lambda row: names[used[row]])
        ranks = np.empty(len(used), dtype="<i8")
        ranks[order] = np.arange(len(used))
        _add(digest, "\0".join(names[used[row]] for row in order), ranks[places.reshape(-1)])
    columns = {
        "numbers": side.frame_numbers,
        "frame_flags": side.frame_flags,
        "counts": side.object_counts,
        "coordinates": side.coordinates,
        "confidences": side.confidences,
        "tracks": side.track_ids,
        "flags": side.flags,
        "times": side.frame_times_s,
        "arrivals": side.frame_arrivals_s,
        "masks": None if side.masks is None else side.masks.digests(),
        **{f"column {name}": side.columns[name] for name in sorted(side.columns)},
    }
    for name, column in columns.items():
        if column is not None:
            _add(digest, name, column)


def _text(name: str | SequenceKey) -> str:
    return name if isinstance(name, str) else "\x01".join(name)


def _add(digest: hashlib.blake2b, name: str, column: AnyArray) -> None:
    digest.update(f"{name}\n{column.shape} {column.dtype.str}\n".encode())
    digest.update(np.ascontiguousarray(column).tobytes())


def _places(source: Source, shards: Sequence[Shard], cut_frames: int | None) -> list[bytes]:
    """For each shard, a digest of the places of its frames in the files of a side."""
    numbers = shards_of_frames(source.annotations, shards[0].count, cut_frames)
    order = np.argsort(numbers, kind="stable")
    dealt = numbers[order]
    digests = []
    for shard in shards:
        first, end = np.searchsorted(dealt, (shard.number, shard.number + 1)).tolist()
        digest = hashlib.blake2b(_bytes_of(source.name), digest_size=20)
        if source.positions is not None:
            rows = order[first:end]
            owners = source.positions.source_of_frame[rows]
            used, places = np.unique(owners, return_inverse=True)
            digest.update(_bytes_of("\0".join(source.positions.sources[row] for row in used)))
            digest.update(places.astype("<i8").tobytes())
            digest.update(source.positions.positions[rows].astype("<i8").tobytes())
        digests.append(digest.digest())
    return digests


def _bytes_of(name: str) -> bytes:
    return name.encode(errors="surrogateescape")  # names of files need not be UTF-8


class RunFolder:
    """A folder of finished tallies; created if it does not exist.

    Raises:
        OSError: If it cannot be created.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._naming():
            path.mkdir(parents=True, exist_ok=True)

    def kept(self, inputs: Mapping[Shard, ShardInputs]) -> dict[Shard, bytes]:
        """Tally files of the shards that are kept here, as files of this run.

        Args:
            inputs: The inputs of each shard. A damaged file counts as missing.
        """
        found: dict[Shard, bytes] = {}
        for shard, now in inputs.items():
            try:
                tally = shard_from_bytes(self._file(now.key).read_bytes())
            except (OSError, TallyError):
                continue
            # Places that it cites in other shards may have changed.
            own = {
                example: place
                for example, place in tally.places.items()
                if _shard_of(example, shard.count, now.run.cut_frames) == shard.number
            }
            places = {**own, **now.places}
            found[shard] = shard_to_bytes(
                ShardTally(now.run, shard, tally.tallies, places, now.readings)
            )
        return found

    def keep(self, key: str, tally: bytes) -> None:
        """Keep the tally file of a shard; it is written completely or not at all.

        Args:
            key: The digest of its inputs.
            tally: The file.

        Raises:
            OSError: If it cannot be written.
        """
        neighbour = self._path / f".{key}.{secrets.token_hex(4)}.part"
        with self._naming():
            try:
                with neighbour.open("wb") as file:
                    file.write(tally)
                    file.flush()
                    os.fsync(file.fileno())
                neighbour.replace(self._file(key))
            finally:
                neighbour.unlink(missing_ok=True)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """What cannot be written is told of the folder."""
        try:
            yield
        except OSError as error:
            said = f"cannot be written: {(error.strerror or '').lower()}"
            raise OSError(error.errno, said, str(self._path)) from None

    def _file(self, key: str) -> Path:
        return self._path / f"{key}{_SUFFIX}"


def _shard_of(example: FrameExample, count: int, cut_frames: int | None) -> int:
    part = None if cut_frames is None else example.frame // cut_frames
    return shard_number(example.sequence, count, part)
